//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/status"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// artefacts is the folder of what people look at.
func artefacts(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(os.Getenv("PGSTORAGE_ARTEFACTS"), "e2e")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	return folder
}

// plugin as it is shipped, which must succeed. What it shows to people is kept for them,
// by the words before the first flag.
func plugin(t *testing.T, namespace string, args ...string) string {
	t.Helper()
	out, err := command(t.Context(), os.Getenv("PGSTORAGE_PLUGIN"), append(args, "-n", namespace)...)
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if slices.Contains(args, "json") {
		return out
	}
	words := args
	if flag := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") }); flag > 0 {
		words = args[:flag]
	}
	name := "plugin-" + strings.ReplaceAll(strings.Join(words, "-"), "/", "-") + ".txt"
	if err := os.WriteFile(filepath.Join(artefacts(t), name), []byte(out+"\n"), 0o600); err != nil {
		t.Error(err)
	}
	return out
}

// says holds output against what must be in it.
func says(t *testing.T, out string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// pluginOnDatabase runs the plugin's commands as a user would.
func pluginOnDatabase(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	ns, primary := shop.Namespace, shop.Status.Database.Primary
	says(t, plugin(t, ns, "status", shop.Name),
		"PgStorageCluster "+ns+"/"+shop.Name+"  Ready", "StorageReady=True", "DatabaseReady=True",
		"PgStorageProfile "+profileName+"  Ready", "StorageClass standard",
		"Cluster (CloudNativePG) "+ns+"/"+shop.Name+"  Ready", "Pod "+primary+"  Ready  primary", "PersistentVolumeClaim "+primary+"  Ready")
	whole := status.Tree{}
	if err := json.Unmarshal([]byte(plugin(t, ns, "status", shop.Name, "-o", "json")), &whole); err != nil || whole.State != view.Ready || len(whole.Children) < 2 {
		t.Errorf("status -o json: %v: %+v", err, whole)
	}
	says(t, plugin(t, ns, "explain", shop.Name, "shared_buffers", "synchronous_commit"), "NAME", "VALUE", "SOURCE", "REASON", "shared_buffers", "synchronous_commit")
	says(t, plugin(t, ns, "doctor"), "OK       CloudNativePG", "OK       "+operatorNamespace+"/pgstorage-manager", "0 failures")
	says(t, plugin(t, ns, "runbook", "ParametersDiffer"), "ParametersDiffer")
	rendersTheSame(t, shop)
	says(t, plugin(t, ns, "bench", "start", shop.Name, "--name", "by-hand", "--scale", "1", "--clients", "1,2", "--duration", "2s", "--warm-up", "0s", "--repeats", "1", "--integrity", "Basic", "--follow", "--timeout", "3m"),
		"pgbenchmark.pgstorage.dev/by-hand created", "100%", "Succeeded", "Local", "TPS")
	says(t, plugin(t, ns, "bench", "list", shop.Name), "by-hand", "Succeeded", "Local")
	says(t, plugin(t, ns, "bench", "result", "by-hand", "--statements"), "TPS", "Local", "UPDATE pgbench_accounts")
	says(t, plugin(t, ns, "report", "by-hand"), "Durability Local", "TPS")
}

// rendersTheSame offline from what is applied as the manager has made.
func rendersTheSame(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	t.Helper()
	var files []string
	for _, object := range []string{"pgsp/" + profileName, "pgsc/" + shop.Name} {
		text, err := command(t.Context(), "kubectl", "get", object, "-n", shop.Namespace, "-o", "yaml")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "object.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, "-f", path)
	}
	args := append([]string{"render", "-o", "json", "--postgres-image-repository", postgres, "--image", image}, files...)
	list := struct{ Items []cnpgv1.Cluster }{}
	if err := json.Unmarshal([]byte(plugin(t, shop.Namespace, args...)), &list); err != nil {
		t.Fatal(err)
	}
	live := &cnpgv1.Cluster{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(shop), live); err != nil {
		t.Fatal(err)
	}
	for _, made := range list.Items {
		if made.Kind != "Cluster" {
			continue
		}
		if got, want := made.Annotations[naming.AnnotationIntent], live.Annotations[naming.AnnotationIntent]; got != want || got == "" {
			t.Errorf("rendered as %q, applied as %q", got, want)
		}
		return
	}
	t.Errorf("no Cluster of CloudNativePG among %d objects", len(list.Items))
}
