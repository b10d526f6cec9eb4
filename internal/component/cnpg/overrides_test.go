package cnpg

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

func content() map[string]any {
	return map[string]any{"spec": map[string]any{
		"instances":  int64(3),
		"bootstrap":  map[string]any{"initdb": map[string]any{"dataChecksums": true}},
		"postgresql": map[string]any{"parameters": map[string]any{"work_mem": "4MB"}},
	}}
}

func overrides(json string) *v1alpha1.CNPGOverrides {
	return &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(json)}}
}

func TestMergeRefuses(t *testing.T) {
	for _, tc := range []struct{ name, json, names string }{
		{"a modelled field", `{"instances": 1}`, "spec.cnpg.spec.instances: "},
		{"parameters", `{"postgresql": {"parameters": {"fsync": "off"}}}`, "spec.cnpg.spec.postgresql.parameters: "},
		{"null in place of a block", `{"postgresql": null}`, "spec.cnpg.spec.postgresql.parameters: "},
		{"null above checksums", `{"bootstrap": {"initdb": null}}`, "spec.cnpg.spec.bootstrap.initdb.dataChecksums: "},
		{"a scalar in place of a block", `{"bootstrap": 1}`, "spec.cnpg.spec.bootstrap.initdb.dataChecksums: "},
		{"initdb options", `{"bootstrap": {"initdb": {"options": ["--no-data-checksums"]}}}`, "spec.cnpg.spec.bootstrap.initdb.options: "},
		{"no object", `[1]`, "spec.cnpg.spec: not an object"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := content()
			refused := Merge(got, overrides(tc.json))
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
	if refused := Merge(got, overrides(`{"affinity": {"topologyKey": "zone"}, "postgresql": {"pg_hba": ["local all all peer"]}}`)); len(refused) > 0 {
		t.Fatalf("refused %q", refused)
	}
	want := content()
	spec, _ := want["spec"].(map[string]any)
	spec["affinity"] = map[string]any{"topologyKey": "zone"}
	spec["postgresql"] = map[string]any{"parameters": map[string]any{"work_mem": "4MB"}, "pg_hba": []any{"local all all peer"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMergeFromABackupLeavesOutInitdb(t *testing.T) {
	got := content()
	if refused := Merge(got, overrides(`{"bootstrap": {"recovery": {"source": "old"}}}`)); len(refused) > 0 {
		t.Fatalf("refused %q", refused)
	}
	spec, _ := got["spec"].(map[string]any)
	want := map[string]any{"recovery": map[string]any{"source": "old"}}
	if diff := cmp.Diff(want, spec["bootstrap"]); diff != "" {
		t.Error(diff)
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
			refused := Merge(got, overrides(tc.json))
			if (len(refused) > 0) != tc.refused {
				t.Fatalf("refused %q", refused)
			}
			if tc.refused && !strings.HasPrefix(refused[0], "spec.cnpg.spec.backup.target: ") {
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
		refused := Merge(map[string]any{"spec": map[string]any{}}, &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(raw)}})
		if len(refused) != 1 || !strings.Contains(refused[0], "spec.cnpg.spec: its JSON exceeds 65536 bytes; remove fields") {
			t.Errorf("%.40s...: %q", raw, refused)
		}
	}
}
