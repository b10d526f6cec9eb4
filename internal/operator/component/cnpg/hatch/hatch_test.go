package hatch

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/config/crd"
	"github.com/pgstorage/pgstorage/internal/kube/quantity"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

// leaves of the schema, as patterns.
func leaves(s *structuralschema.Structural, at place, see func(place)) {
	switch {
	case len(s.Properties) > 0:
		for name := range s.Properties {
			p := s.Properties[name]
			leaves(&p, at.child(name), see)
		}
	case s.Items != nil:
		leaves(s.Items, at.item(0), see)
	case s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil:
		leaves(s.AdditionalProperties.Structural, at.key(""), see)
	default:
		see(at)
	}
}

// TestEveryFieldIsReviewed shows the rule of each field of the schema. A field that a new
// version of CloudNativePG brings appears here, to be reviewed.
func TestEveryFieldIsReviewed(t *testing.T) {
	s, err := load()
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	var lines []string
	leaves(s.structural, place{}, func(at place) {
		r, found := find(at.pattern)
		if !found {
			t.Errorf("%s has no rule", at.pattern)
			return
		}
		used[r.path] = true
		checked := ""
		if r.check != nil {
			checked = ", checked"
		}
		lines = append(lines, fmt.Sprintf("%-8s %s (by %s%s)", r.verdict, at.pattern, r.path, checked))
	})
	slices.Sort(lines)
	golden.Text(t, filepath.Join("testdata", "fields.golden.txt"), strings.Join(lines, "\n")+"\n")
	for path, r := range rules {
		if !used[path] && !above(path) {
			t.Errorf("rule %s covers no field", path)
		}
		if r.why == "" {
			t.Errorf("rule %s has no reason", path)
		}
	}
}

// TestTheProfileAcceptsWhatNeedsConsent holds the list in the CRD against the rules.
func TestTheProfileAcceptsWhatNeedsConsent(t *testing.T) {
	content, err := crd.Bases.ReadFile("bases/pgstorage.dev_pgstorageprofiles.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var quoted []string
	for _, f := range Consentable() {
		quoted = append(quoted, "'"+f+"'")
	}
	if want := "[" + strings.Join(quoted, ", ") + "]"; !strings.Contains(strings.Join(strings.Fields(string(content)), " "), want) {
		t.Errorf("the rule of spec.allowedOverrides in the CRD does not have the list %s", want)
	}
}

// TestTheReferenceListsWhatIsNotOpen holds docs/spec against the rules.
func TestTheReferenceListsWhatIsNotOpen(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "..", "docs", "spec", "pgstoragecluster.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Concat(Consentable(), slices.Collect(maps.Keys(Never()))) {
		if !strings.Contains(string(content), "`"+path+"`") {
			t.Errorf("docs/spec/pgstoragecluster.md does not list %s", path)
		}
	}
}

// app is what a PgStorageCluster says elsewhere.
var app = Setting{Database: "app", Owner: "app", Major: 17, Volumes: map[string]Volume{"storage": {Class: "fast", Size: "1Gi"}}}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestReview(t *testing.T) {
	for _, tc := range []struct {
		name, spec string
		entries    []string
		want       string // "" is accepted
	}{
		{"nothing", `{}`, nil, ""},
		{"empty objects", `{affinity: {}, managed: {roles: [], services: {additional: []}}, postgresql: {}, bootstrap: {initdb: {}}, backup: {}}`, nil, ""},
		{"an empty object that replaces defaults", `{securityContext: {}}`, nil, "spec.cnpg.spec.securityContext: it decides"},
		{"placement", `{affinity: {tolerations: [{key: purpose, operator: Equal, value: database, effect: NoSchedule}], nodeSelector: {a.b/c: d}}}`, nil, ""},
		{"rules that ask", `{postgresql: {pg_hba: [hostssl app all all cert, host all all all md5, "host all app,me 10.0.0.0 255.0.0.0 scram-sha-256", "hostssl all all 10.0.0.0/8 scram-sha-256 clientcert=verify-full", local all all peer, "hostssl mydb myuser ${podselector:app-pods} scram-sha-256"]}}`, nil, ""},
		{"a rule that asks nothing", `{postgresql: {pg_hba: [host all all 10.0.0.0/8 trust]}}`, nil, "spec.cnpg.spec.postgresql.pg_hba[0]: "},
		{"a rule with a map", `{postgresql: {pg_hba: [hostssl all all all cert map=x]}}`, nil, "spec.cnpg.spec.postgresql.pg_hba[0]: "},
		{"a mask in place of the method", `{postgresql: {pg_hba: [host all all all 255.0.0.0 trust]}}`, nil, "spec.cnpg.spec.postgresql.pg_hba[0]: "},
		{"no rule at all", `{postgresql: {pg_hba: [" "]}}`, nil, "spec.cnpg.spec.postgresql.pg_hba[0]: "},
		{"a rule by consent", `{postgresql: {pg_hba: [host all all 10.0.0.0/8 trust]}}`, []string{"postgresql.pg_hba"}, ""},
		{"false needs no consent", `{managed: {roles: [{name: a, superuser: false, createrole: false, replication: false, bypassrls: false}]}, enableSuperuserAccess: false, monitoring: {disableDefaultQueries: false}}`, nil, ""},
		{"membership in the owner and each other", `{managed: {roles: [{name: a, inRoles: [app, b, pg_monitor]}, {name: b}]}}`, nil, ""},
		{"membership in an unknown role", `{managed: {roles: [{name: a, inRoles: [dba]}]}}`, nil, "spec.cnpg.spec.managed.roles[0].inRoles[0]: "},
		{"consent to the field", `{priorityClassName: high}`, []string{"priorityClassName"}, ""},
		{"consent to a field above", `{securityContext: {seccompProfile: {type: Localhost}}}`, []string{"securityContext"}, ""},
		{"consent to a field far above", `{postgresql: {ldap: {server: a}}}`, []string{"postgresql"}, ""},
		{"consent to a field in a list", `{managed: {roles: [{name: a, superuser: true}]}}`, []string{"managed.roles.superuser"}, ""},
		{"consent to a field beside", `{securityContext: {privileged: true, seccompProfile: {type: Localhost}}}`, []string{"securityContext.seccompProfile"}, "spec.cnpg.spec.securityContext.privileged: "},
		{"consent to the beginning of a name", `{serviceAccountName: a}`, []string{"serviceAccount"}, "ask a cluster administrator to add serviceAccountName to spec.allowedOverrides of PgStorageProfile fast"},
		{"consent to keys of a map", `{inheritedMetadata: {annotations: {a.b/c: d}}}`, []string{"inheritedMetadata.annotations"}, ""},
		{"what no consent opens", `{storage: {size: 1Gi}, postgresql: {parameters: {fsync: "off"}}}`, []string{"storage", "postgresql"}, "spec.cnpg.spec.postgresql.parameters: not open to overrides: set spec.postgres.parameters, which are checked\nspec.cnpg.spec.storage.size: not open to overrides: set spec.storage.size"},
		{"null by consent", `{securityContext: null}`, []string{"securityContext"}, "spec.cnpg.spec.securityContext: null is not a value; remove the field"},
		{"an unknown field by consent", `{securityContext: {privilegd: true}}`, []string{"securityContext"}, "spec.cnpg.spec.securityContext.privilegd: CloudNativePG has no such field"},
		{"other case", `{Affinity: {}}`, nil, "spec.cnpg.spec.Affinity: CloudNativePG has no such field"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := strings.Join(Review(parse(t, tc.spec), app, Consent{Profile: "fast", Entries: tc.entries}), "\n")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("refused %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestManyRefusalsAreCounted(t *testing.T) {
	plugins := strings.Repeat("{name: a}, ", 20)
	got := Review(parse(t, `{plugins: [`+plugins+`]}`), app, Consent{})
	if len(got) != most+1 || got[most] != "and 10 more" {
		t.Errorf("%d: %s", len(got), got)
	}
}

func TestValidate(t *testing.T) {
	base := func() map[string]any {
		return map[string]any{"instances": int64(1), "storage": map[string]any{"size": "1Gi"}}
	}
	if got := Validate(base()); len(got) > 0 {
		t.Errorf("refused %s", got)
	}
	for _, tc := range []struct {
		name  string
		field string
		value any
		want  string
	}{
		{"type", "logLevel", int64(7), "spec.cnpg.spec.logLevel: Invalid value: "},
		{"choice", "logLevel", "loud", `spec.cnpg.spec.logLevel: Unsupported value: "loud"`},
		{"required", "externalClusters", []any{map[string]any{}}, "spec.cnpg.spec.externalClusters[0].name: Required value"},
		{"rule", "bootstrap", map[string]any{"initdb": map[string]any{"icuLocale": "de"}}, "icuLocale is only available when localeProvider is set to `icu`"},
		{"a scalar in place of an object", "bootstrap", int64(1), "spec.cnpg.spec.bootstrap: Invalid value: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			spec := base()
			spec[tc.field] = tc.value
			if got := strings.Join(Validate(spec), "\n"); !strings.Contains(got, tc.want) {
				t.Errorf("%q, want %s", got, tc.want)
			}
		})
	}
}

// TestSchemaIsThatOfTheModule fails when go.mod has another version of CloudNativePG than
// the schema is from.
func TestSchemaIsThatOfTheModule(t *testing.T) {
	definition := moduleFile(t, "config", "crd", "bases", "postgresql.cnpg.io_clusters.yaml")
	versions, _, err := unstructured.NestedSlice(parse(t, definition), "spec", "versions")
	if err != nil {
		t.Fatal(err)
	}
	version, _ := versions[0].(map[string]any)
	want, _, err := unstructured.NestedMap(version, "schema", "openAPIV3Schema", "properties", "spec")
	if err != nil {
		t.Fatal(err)
	}
	undescribed(want)
	if diff := cmp.Diff(want, parse(t, string(document))); diff != "" {
		t.Errorf("run make generate: %s", diff)
	}
}

// undescribed removes the descriptions, which are text where a field of that name has a
// schema, and bounds quantities.
func undescribed(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, isText := v["description"].(string); isText {
			delete(v, "description")
		}
		if v["pattern"] == quantity.Unbounded {
			v["pattern"] = quantity.Pattern
		}
		for _, child := range v {
			undescribed(child)
		}
	case []any:
		for _, child := range v {
			undescribed(child)
		}
	}
}

// moduleFile of CloudNativePG's Go module.
func moduleFile(t *testing.T, path ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(append([]string{moduleDir(t)}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func moduleDir(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/cloudnative-pg/cloudnative-pg").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
