package adopt

import (
	"errors"
	"strings"
	"sync"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/config/crd"
	"github.com/pgstorage/pgstorage/internal/cli/admit"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

// schemas are slow to load.
var schemas = sync.OnceValues(func() (*admit.Schemas, error) { return admit.Load(crd.Bases) })

func live(t *testing.T, name string, change func(*cnpgv1.ClusterSpec)) unstructured.Unstructured {
	t.Helper()
	c := &cnpgv1.Cluster{}
	c.SetGroupVersionKind(cnpgv1.SchemeGroupVersion.WithKind("Cluster"))
	c.Namespace, c.Name, c.Spec.Instances, c.Spec.ImageName = "prod", name, 3, "pg.example/postgresql:17.6"
	c.Spec.StorageConfiguration = cnpgv1.StorageConfiguration{Size: "10Gi", StorageClass: new("fast")}
	change(&c.Spec)
	c.Default()
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c)
	if err != nil {
		t.Fatal(err)
	}
	return unstructured.Unstructured{Object: raw}
}

// candidates have one of each outcome.
func candidates(t *testing.T) []*Candidate {
	t.Helper()
	s, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	all := []unstructured.Unstructured{
		live(t, "plain", func(*cnpgv1.ClusterSpec) {}),
		live(t, "changed", func(s *cnpgv1.ClusterSpec) { s.PriorityClassName = "high" }),
		live(t, "unsafe", func(s *cnpgv1.ClusterSpec) {
			s.PostgresConfiguration.Parameters = map[string]string{"fsync": "off", "full_page_writes": "off"}
		}),
		live(t, "silent", func(s *cnpgv1.ClusterSpec) { s.ImageName = "elsewhere.example/pg:17" }),
		live(t, "reserved", func(s *cnpgv1.ClusterSpec) {
			s.StorageConfiguration.StorageClass = new("reviewed")
			s.SchedulerName = "mine"
		}),
	}
	reviewed := v1alpha1.PgStorageProfile{}
	reviewed.Name = "platform"
	reviewed.Spec = v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeExternal, External: &v1alpha1.ExternalProfile{StorageClassName: "reviewed"}}
	out, err := Candidates(t.Context(), Inputs{Schemas: s, Config: clusters.Config{ImageRepository: "pg.example/postgresql"}, Profiles: []v1alpha1.PgStorageProfile{reviewed}}, all, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range out {
		switch {
		case c.Planned == nil || c.Outcome != "":
		case c.Live.GetName() == "silent":
			c.Answer(nil, errors.New("clusters.postgresql.cnpg.io is forbidden"))
		default:
			answer := c.Live.DeepCopy()
			answer.SetLabels(c.Planned.GetLabels())
			answer.SetAnnotations(map[string]string{"pgstorage.dev/intent": "0123456789abcdef"})
			if c.Live.GetName() == "changed" {
				if err := unstructured.SetNestedField(answer.Object, "2GB", "spec", "postgresql", "parameters", "shared_buffers"); err != nil {
					t.Fatal(err)
				}
			}
			c.Answer(answer, nil)
		}
	}
	return out
}

func TestScreensMatchGoldenFiles(t *testing.T) {
	all := candidates(t)
	for _, c := range all {
		golden.Text(t, "testdata/"+c.Live.GetName()+".golden.txt", c.Text(view.Style{}))
	}
	golden.Text(t, "testdata/table.golden.txt", Table(all))
	yaml, err := YAML(all)
	if err != nil {
		t.Fatal(err)
	}
	golden.Text(t, "testdata/objects.golden.yaml", yaml)
}

// TestAProfileIsNotGivenConsentByTheBack shows that an existing profile stays as it is.
func TestAProfileIsNotGivenConsentByTheBack(t *testing.T) {
	for _, c := range candidates(t) {
		if c.Live.GetName() != "reserved" {
			continue
		}
		if c.NewProfile || c.Outcome != Refused || !strings.Contains(strings.Join(c.Refusals, ""), "add schedulerName to spec.allowedOverrides of PgStorageProfile platform") {
			t.Errorf("%s: %q", c.Outcome, c.Refusals)
		}
		return
	}
	t.Error("no such candidate")
}
