package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/cli/status"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

func TestStatusAndExplainMatchGoldenFiles(t *testing.T) {
	c := apiserver.Client(t, config)
	namespace(t, c, "prod")
	load(t, c, "testdata/shop.yaml")
	for name, args := range map[string][]string{
		"status":         {"status", "shop", "-n", "prod"},
		"status-profile": {"status", "pgsp/zfs-nvme"},
		"status-node":    {"status", "pgns/zfs-nvme.node-1"},
		"status-list":    {"status", "-n", "prod"},
		"explain":        {"explain", "shop", "-n", "prod"},
		"explain-some":   {"explain", "shop", "work_mem", "compression", "-n", "prod"},
		"explain-one":    {"explain", "shop", "work_mem", "compression", "-n", "prod", "-o", "yaml"},
	} {
		t.Run(name, func(t *testing.T) { golden.Text(t, "testdata/"+name+".golden.txt", must(t, args...)) })
	}
	t.Run("as data", func(t *testing.T) {
		item := status.Tree{}
		if err := json.Unmarshal([]byte(must(t, "status", "shop", "-n", "prod", "-o", "json")), &item); err != nil {
			t.Fatal(err)
		}
		if item.Name != "shop" || item.State != view.Waiting || len(item.Children) != 2 || item.Children[1].Children[1].Reason != "Unschedulable" {
			t.Errorf("%+v", item)
		}
	})
	t.Run("names are completed", func(t *testing.T) {
		for typed, want := range map[string]string{"": "shop\n", "pgsp/": "pgsp/zfs-nvme\n", "pgns/": "pgns/zfs-nvme.node-1\n"} {
			if out := must(t, "__complete", "-n", "prod", "status", typed); !strings.Contains(out, want) {
				t.Errorf("%q: %q", typed, out)
			}
		}
	})
	t.Run("without rights", func(t *testing.T) { withoutRights(t, c) })
}

func TestDocumentationShowsTheGoldenScreens(t *testing.T) {
	page := read(t, "../../docs/plugin.md")
	for _, path := range []string{"testdata/status.golden.txt", "testdata/explain-some.golden.txt", "../../internal/cli/benchmark/testdata/matrix.golden.txt", "../../internal/cli/doctor/testdata/empty.golden.txt"} {
		if !strings.Contains(page, "\n```\n"+read(t, path)+"```\n") {
			t.Errorf("docs/plugin.md does not contain %s as printed", path)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// withoutRights checks that users see what they can read, and what they cannot.
func withoutRights(t *testing.T, c client.Client) {
	t.Helper()
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "viewer"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"pgstorage.dev"}, Resources: []string{"pgstorageclusters"}, Verbs: []string{"get"}}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "viewer"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "viewer"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "bob"}},
	}
	create(t, c, role, binding)
	args := []string{"status", "shop", "-n", "prod", "--as", "bob"}
	eventually(t, "the binding of bob", func(context.Context) error {
		_, err := plugin(t, args...)
		return err
	})
	out := must(t, args...)
	for _, want := range []string{
		"PgStorageProfile zfs-nvme  Unknown (NotRead)",
		"Cluster (CloudNativePG) prod/shop  Unknown (NotRead)",
		"Pods in namespace prod  Unknown (NotRead)",
		`User "bob" cannot list resource "pods"`,
		"DatabaseReady=False",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestStatusRejectsUnknownKindsAndObjects(t *testing.T) {
	for want, args := range map[string][]string{
		"PgStorageCluster absent does not exist in namespace default": {"status", "absent"},
		"PgStorageProfile absent does not exist":                      {"status", "pgsp/absent"},
		"PgNodeStorage absent does not exist":                         {"status", "pgns/absent"},
		"PgBenchmark absent does not exist in namespace default":      {"status", "pgb/absent"},
		`unknown kind "cm"`:                                           {"status", "cm/absent"},
		`"pgsp/" has no object name`:                                  {"status", "pgsp/"},
		`--output: unknown format "table"`:                            {"status", "-o", "table"},
	} {
		if out, err := plugin(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	if _, err := plugin(t, "status", "shop", "--server", "https://127.0.0.1:1"); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("no API server: %v", err)
	}
}
