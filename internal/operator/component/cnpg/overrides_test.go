package cnpg

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg/hatch"
)

func content() map[string]any {
	return map[string]any{"spec": map[string]any{
		"instances":  int64(3),
		"storage":    map[string]any{"size": "1Gi"},
		"bootstrap":  map[string]any{"initdb": map[string]any{"dataChecksums": true}},
		"postgresql": map[string]any{"parameters": map[string]any{"work_mem": "4MB"}},
	}}
}

func overrides(json string) *v1alpha1.CNPGOverrides {
	return &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(json)}}
}

// setting is that of a PgStorageCluster with defaults.
var setting = hatch.Setting{Database: "app", Owner: "app", Major: 17, PodMonitor: true}

// closed consents to nothing.
var closed = hatch.Consent{Profile: "fast"}

func TestMergeRefuses(t *testing.T) {
	for _, tc := range []struct{ name, json, names string }{
		{"a modelled field", `{"instances": 1}`, "spec.cnpg.spec.instances: not open to overrides: set spec.instances"},
		{"parameters", `{"postgresql": {"parameters": {"fsync": "off"}}}`, "spec.cnpg.spec.postgresql.parameters: "},
		{"null in place of a block", `{"postgresql": null}`, "spec.cnpg.spec.postgresql: null is not a value"},
		{"null above checksums", `{"bootstrap": {"initdb": null}}`, "spec.cnpg.spec.bootstrap.initdb: null is not a value"},
		{"null that would remove our initdb", `{"bootstrap": {"recovery": null}}`, "spec.cnpg.spec.bootstrap.recovery: null is not a value"},
		{"a scalar in place of a block", `{"bootstrap": 1}`, "spec.cnpg.spec.bootstrap: Invalid value: "},
		{"initdb options", `{"bootstrap": {"initdb": {"options": ["--no-data-checksums"]}}}`, "spec.cnpg.spec.bootstrap.initdb.options: "},
		{"two ways to make a database", `{"bootstrap": {"initdb": {"encoding": "UTF8"}, "recovery": {"source": "old"}}}`, "spec.cnpg.spec.bootstrap: a database is made in one way, and these are initdb and recovery; keep one"},
		{"a field that needs consent", `{"priorityClassName": "high"}`, "spec.cnpg.spec.priorityClassName: a high priority evicts pods of other namespaces; remove or correct it, or ask a cluster administrator to add priorityClassName to spec.allowedOverrides of PgStorageProfile fast"},
		{"a wrong type", `{"affinity": {"topologyKey": 7}}`, "spec.cnpg.spec.affinity.topologyKey: Invalid value: "},
		{"no object", `[1]`, "spec.cnpg.spec: not an object"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := content()
			refused := Merge(got, overrides(tc.json), setting, closed)
			if !strings.Contains(strings.Join(refused, "\n"), tc.names) {
				t.Errorf("refused %q, want %q", refused, tc.names)
			}
			if diff := cmp.Diff(content(), got); diff != "" {
				t.Errorf("a refused override changed the Cluster: %s", diff)
			}
		})
	}
}

func TestMerge(t *testing.T) {
	got := content()
	if refused := Merge(got, overrides(`{"affinity": {"topologyKey": "zone"}, "failoverDelay": 5, "postgresql": {"pg_hba": ["local all all peer"]}}`), setting, closed); len(refused) > 0 {
		t.Fatalf("refused %q", refused)
	}
	want := content()
	spec, _ := want["spec"].(map[string]any)
	spec["affinity"], spec["failoverDelay"] = map[string]any{"topologyKey": "zone"}, int64(5)
	spec["postgresql"] = map[string]any{"parameters": map[string]any{"work_mem": "4MB"}, "pg_hba": []any{"local all all peer"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMergeOfNothing(t *testing.T) {
	for _, json := range []string{``, `{}`, `null`} {
		got := content()
		if refused := Merge(got, overrides(json), setting, closed); len(refused) > 0 {
			t.Errorf("%q: refused %q", json, refused)
		}
		if diff := cmp.Diff(content(), got); diff != "" {
			t.Errorf("%q: %s", json, diff)
		}
	}
}

// TestMergeFromABackup leaves out initdb and keeps the names of database and owner,
// without which CloudNativePG makes no Secret of the owner.
func TestMergeFromABackup(t *testing.T) {
	for way, entry := range map[string]string{"recovery": "bootstrap.recovery", "pg_basebackup": "bootstrap"} {
		got := content()
		spec, _ := got["spec"].(map[string]any)
		spec["bootstrap"] = map[string]any{"initdb": map[string]any{"dataChecksums": true, "database": "store", "owner": "keeper"}}
		if refused := Merge(got, overrides(`{"bootstrap": {"`+way+`": {"source": "old"}}}`), setting, hatch.Consent{Entries: []string{entry}}); len(refused) > 0 {
			t.Fatalf("%s: refused %q", way, refused)
		}
		bootstrap, _, _ := unstructured.NestedMap(got, "spec", "bootstrap")
		want := map[string]any{way: map[string]any{"source": "old", "database": "store", "owner": "keeper"}}
		if diff := cmp.Diff(want, bootstrap); diff != "" {
			t.Errorf("%s: %s", way, diff)
		}
	}
}

func TestMergeOfTheBackupTarget(t *testing.T) {
	fromPrimary := func() map[string]any {
		c := content()
		spec, _ := c["spec"].(map[string]any)
		spec["backup"] = map[string]any{"target": "primary"}
		return c
	}
	for _, tc := range []struct {
		name, json string
		content    func() map[string]any
		refused    bool
		want       string
	}{
		{"from a standby", `{"backup": {"target": "prefer-standby"}}`, fromPrimary, true, "primary"},
		{"null", `{"backup": {"target": null}}`, fromPrimary, true, "primary"},
		{"null above it", `{"backup": null}`, fromPrimary, true, "primary"},
		{"from the primary", `{"backup": {"target": "primary"}}`, fromPrimary, false, "primary"},
		{"another field", `{"backup": {"retentionPolicy": "30d"}}`, fromPrimary, false, "primary"},
		{"where we say nothing", `{"backup": {"target": "prefer-standby"}}`, content, false, "prefer-standby"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := tc.content()
			refused := Merge(got, overrides(tc.json), setting, closed)
			if (len(refused) > 0) != tc.refused {
				t.Fatalf("refused %q", refused)
			}
			if tc.refused && !strings.HasPrefix(refused[len(refused)-1], "spec.cnpg.spec.backup.target: ") {
				t.Errorf("refused %q", refused)
			}
			if target, _, _ := unstructured.NestedString(got, "spec", "backup", "target"); target != tc.want {
				t.Errorf("target %q, want %q", target, tc.want)
			}
		})
	}
}

func TestMergeRefusesWhatIsTooLarge(t *testing.T) {
	for _, raw := range []string{v1alpha1.OverridesTooLarge, `{"description":"` + strings.Repeat("x", v1alpha1.MaxOverridesBytes) + `"}`} {
		refused := Merge(map[string]any{"spec": map[string]any{}}, &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(raw)}}, setting, hatch.Consent{})
		if len(refused) != 1 || !strings.Contains(refused[0], "spec.cnpg.spec: its JSON exceeds 65536 bytes; remove fields") {
			t.Errorf("%.40s...: %q", raw, refused)
		}
	}
}

func TestACatalogueReplacesTheImage(t *testing.T) {
	const catalogue = `{"imageCatalogRef": {"apiGroup": "postgresql.cnpg.io", "kind": "ClusterImageCatalog", "name": "a", "major": 17}}`
	got := content()
	got["spec"].(map[string]any)["imageName"] = "pg:17"
	if refused := Merge(got, overrides(catalogue), setting, closed); len(refused) > 0 || has(got["spec"].(map[string]any), []string{"imageName"}) {
		t.Errorf("refused %q, %v", refused, got)
	}
	image := setting
	image.Image = true
	if refused := strings.Join(Merge(content(), overrides(catalogue), image, closed), ""); !strings.Contains(refused, "spec.postgres.image is set too") {
		t.Errorf("refused %q", refused)
	}
}
