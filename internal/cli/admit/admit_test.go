package admit

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/config/crd"
)

// test/plugin checks that admission agrees with an API server.

func schemas(t *testing.T) *Schemas {
	t.Helper()
	s, err := Load(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return o
}

const benchmark = `
apiVersion: pgstorage.dev/v1alpha1
kind: PgBenchmark
metadata: {name: a, namespace: b}
spec: {cluster: c}
status: {phase: Running}
`

func TestAdmitSetsDefaultsAndDropsStatus(t *testing.T) {
	o := object(t, benchmark)
	if err := schemas(t).Admit(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if scale, _, err := unstructured.NestedInt64(o.Object, "spec", "pgbench", "scale"); err != nil || scale != 10 {
		t.Errorf("spec.pgbench.scale is %d, want 10: %v", scale, err)
	}
	if _, has := o.Object["status"]; has {
		t.Error("Admit keeps the status, want it removed")
	}
}

func TestAdmitRejectsWhatTheAPIServerRejects(t *testing.T) {
	s := schemas(t)
	for text, want := range map[string]string{
		strings.Replace(benchmark, "cluster: c", "clutser: c", 1):                                                "unknown field spec.clutser; correct its name",
		strings.Replace(benchmark, "cluster: c", "pgbench: {}", 1):                                               "spec needs either cluster or template",
		strings.Replace(benchmark, "cluster: c", "cluster: c, pgbench: {duration: 1m, transactions: 5}", 1):      "exclude each other",
		strings.Replace(benchmark, "cluster: c", "cluster: c, pgbench: {clients: [4, 4]}", 1):                    "spec.pgbench.clients[1]: Duplicate value: 4",
		strings.Replace(benchmark, ", namespace: b", "", 1):                                                      "metadata.namespace: Required value",
		strings.Replace(benchmark, "PgBenchmark", "PgBench", 1):                                                  `unknown kind "PgBench" in pgstorage.dev/v1alpha1; pgstorage has PgBenchmark, PgNodeStorage, PgScheduledBenchmark, PgStorageBranch, PgStorageCluster, PgStorageProfile`,
		strings.Replace(benchmark, "name: a,", "name: "+strings.Repeat("a", 60)+",", 1):                          "metadata.name must be at most 50 characters",
		strings.Replace(benchmark, "cluster: c", "cluster: c, pgbench: {resources: {requests: {cpu: many}}}", 1): "spec.pgbench.resources.requests.cpu",
	} {
		if err := s.Admit(t.Context(), object(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v\nwant %s", err, want)
		}
	}
}

func TestFieldHasDescriptionAndDefault(t *testing.T) {
	s := schemas(t)
	kind := v1alpha1.GroupVersion.WithKind("PgStorageProfile")
	f, found := s.Field(kind, "spec", "zfsLocalPV", "data", "recordsize")
	if !found || f.Default != "8k" || !strings.Contains(f.Description, "Default: 8k") {
		t.Errorf("%+v", f)
	}
	if f, found := s.Field(kind, "spec", "zfsLocalPV", "pool", "headroomPercent"); !found || f.Default != "20" {
		t.Errorf("%+v", f)
	}
	for _, path := range [][]string{{"spec", "absent"}, {"spec", "zfsLocalPV", "data", "recordsize", "more"}} {
		if f, found := s.Field(kind, path...); found {
			t.Errorf("%v: %+v", path, f)
		}
	}
	if _, found := s.Field(v1alpha1.GroupVersion.WithKind("Other"), "spec"); found {
		t.Error("got a field of an unknown kind, want none")
	}
}

func TestDefinitionsAreSortedByName(t *testing.T) {
	var names []string
	for _, d := range schemas(t).Definitions() {
		names = append(names, d.Name)
	}
	if got := strings.Join(names, " "); got != "pgbenchmarks.pgstorage.dev pgnodestorages.pgstorage.dev pgscheduledbenchmarks.pgstorage.dev pgstoragebranches.pgstorage.dev pgstorageclusters.pgstorage.dev pgstorageprofiles.pgstorage.dev" {
		t.Error(got)
	}
	for kind, want := range map[string]bool{"PgBenchmark": true, "PgStorageProfile": false, "Pod": false} {
		if got := schemas(t).Namespaced(v1alpha1.GroupVersion.WithKind(kind)); got != want {
			t.Errorf("%s: %v", kind, got)
		}
	}
}
