package render

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pgstorage/pgstorage/config/crd"
	"github.com/pgstorage/pgstorage/internal/cli/admit"
	"github.com/pgstorage/pgstorage/internal/cli/input"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

// samples of the repository.
const samples = "../../../config/samples/"

// load loads the schemas once, because compiling the rules is slow.
var load = sync.OnceValues(func() (*admit.Schemas, error) { return admit.Load(crd.Bases) })

func loader(t *testing.T) Loader {
	t.Helper()
	s, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return Loader{Schemas: s, Namespace: "default"}
}

func files(t *testing.T, names ...string) []input.File {
	t.Helper()
	var out []input.File
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, input.File{Name: filepath.Base(name), Content: content})
	}
	return out
}

func assumptions(nodes ...string) Assumptions {
	return Assumptions{
		Nodes:    nodes,
		Config:   clusters.Config{ImageRepository: "registry.example/postgresql", BenchImage: "registry.example/pgstorage:v1"},
		Operator: observed.Operator{Namespace: "pgstorage-system", Image: "registry.example/pgstorage:v1"},
	}
}

func TestPlansMatchGoldenFiles(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files []string
		nodes []string
	}{
		{"external", []string{samples + "profile-standard.yaml", samples + "cluster-demo.yaml"}, nil},
		{"zfs", []string{samples + "profile-zfs.yaml", samples + "cluster-zfs.yaml"}, []string{"node-2", "node-1"}},
		{"zfs-without-nodes", []string{samples + "profile-zfs.yaml"}, nil},
		{"nodes-of-a-file", []string{samples + "profile-zfs.yaml", "testdata/nodes.yaml"}, []string{"node-b"}},
		{"benchmark", []string{samples + "profile-standard.yaml", samples + "cluster-demo.yaml", samples + "benchmark.yaml"}, nil},
		{"backup", []string{samples + "profile-standard.yaml", samples + "cluster-backup.yaml"}, nil},
		{"restored", []string{samples + "cluster-restored.yaml"}, nil},
		{"ceph", []string{samples + "cephrbd-zfs.yaml"}, []string{"node-1"}},
		{"s3nbd", []string{samples + "s3nbd-stripe.yaml"}, []string{"node-1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			documents, err := loader(t).Load(t.Context(), files(t, tc.files...)...)
			if err != nil {
				t.Fatal(err)
			}
			result, err := Build(documents, assumptions(tc.nodes...))
			if err != nil {
				t.Fatal(err)
			}
			text, err := result.YAML()
			if err != nil {
				t.Fatal(err)
			}
			golden.Text(t, "testdata/"+tc.name+".golden.yaml", text)
			if items, ok := result.List()["items"].([]any); !ok || len(items) != strings.Count(text, "\n# stage: ") {
				t.Errorf("%d items and %d stages", len(items), strings.Count(text, "\n# stage: "))
			}
		})
	}
}

func TestEverySampleCanBeRendered(t *testing.T) {
	paths, err := filepath.Glob(samples + "*.yaml")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d samples: %v", len(paths), err)
	}
	profile, demo := samples+"profile-standard.yaml", samples+"cluster-demo.yaml"
	for _, path := range paths {
		if filepath.Base(path) == "kustomization.yaml" {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			names := []string{path}
			for _, base := range []string{profile, demo, samples + "profile-zfs.yaml", samples + "profile-sites.yaml"} {
				if base != path {
					names = append(names, base)
				}
			}
			documents, err := loader(t).Load(t.Context(), files(t, names...)...)
			if err != nil {
				t.Fatal(err)
			}
			result, err := Build(documents, assumptions("node-1"))
			if err != nil || len(result.Plans) < 2 {
				t.Fatalf("%d plans: %v", len(result.Plans), err)
			}
			if of := documents.Benchmarks; strings.HasPrefix(filepath.Base(path), "seeds-") && of[len(of)-1].Spec.Matrix != nil {
				first := result.Plans[len(result.Plans)-1]
				if first.Kind != "PgBenchmark" || len(first.Plan.Objects) != 1 || first.Plan.Objects[0].Content.GetKind() != "PgStorageCluster" {
					t.Errorf("a matrix does not begin with a cluster: %+v", first)
				}
			}
		})
	}
}

const cluster = `apiVersion: pgstorage.dev/v1alpha1
kind: PgStorageCluster
metadata: {name: shop}
spec:
  profile: standard
  postgres: {version: "17"}
  storage: {size: 1Gi}
  resources: {requests: {cpu: "1", memory: 1Gi}}
  durability: Local
`

const standard = `---
apiVersion: pgstorage.dev/v1alpha1
kind: PgStorageProfile
metadata: {name: standard}
spec: {type: External, external: {storageClassName: fast}}
`

func TestInvalidObjectsAreRejected(t *testing.T) {
	for _, tc := range []struct{ name, content, want string }{
		{"no profile", cluster, "PgStorageCluster default/shop: spec.profile: PgStorageProfile standard not found in the files"},
		{"unsafe by admission", strings.Replace(cluster, `version: "17"`, `version: "17", parameters: {fsync: "off"}`, 1), "spec.postgres.parameters[fsync] must stay on"},
		{"quorum of one", strings.Replace(cluster, "Local", "Quorum", 1), "Quorum needs spec.instances of at least 2"},
		{"unknown field", strings.Replace(cluster, "durability", "tier", 1), "unknown field spec.tier; correct its name"},
		{"required field", strings.Replace(cluster, "  durability: Local\n", "", 1), "spec.durability: Required value"},
		{"unknown parameter", strings.Replace(cluster, `version: "17"`, `version: "17", parameters: {work_memm: 1MB}`, 1) + standard, "PgStorageCluster default/shop: InvalidParameters: spec.postgres.parameters[work_memm]: PostgreSQL 17 has no such parameter; did you mean work_mem?"},
		{"override", cluster + "  cnpg: {spec: {instances: 3}}\n" + standard, "OverrideRefused"},
		{"override without consent", cluster + "  cnpg: {spec: {priorityClassName: high}}\n" + standard, "OverrideRefused: spec.cnpg.spec.priorityClassName: "},
		{"unknown field of an override", cluster + "  cnpg: {spec: {affinity: {toplogyKey: zone}}}\n" + standard, "spec.cnpg.spec.affinity.toplogyKey: CloudNativePG has no such field"},
		{"choice of an override", cluster + "  cnpg: {spec: {primaryUpdateMethod: now}}\n" + standard, `spec.cnpg.spec.primaryUpdateMethod: Unsupported value: "now"`},
		{"rule of an override", cluster + "  cnpg: {spec: {bootstrap: {initdb: {icuLocale: de}}}}\n" + standard, "icuLocale is only available when localeProvider is set to `icu`"},
		{"twice", "kind: a\nkind: b\n", `key "kind" already set`},
		{"no kind", "spec: {}\n", "Object 'Kind' is missing"},
		{"nothing", "# only a comment\n", "no PgStorageProfile, PgStorageCluster or PgBenchmark"},
		{"another kind", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n", "no PgStorageProfile, PgStorageCluster or PgBenchmark"},
		{"another version", "apiVersion: pgstorage.dev/v2\nkind: PgStorageCluster\nmetadata: {name: a}\n", `unknown kind "PgStorageCluster" in pgstorage.dev/v2`},
		{"another group", strings.Replace(cluster, "pgstorage.dev", "pgstorage.io", 1) + standard, `a.yaml: document 1, at line 1: PgStorageCluster shop: unknown apiVersion "pgstorage.io/v1alpha1"`},
		{"no apiVersion", "kind: PgStorageCluster\nmetadata: {name: a}\n---\n" + cluster + standard, "PgStorageCluster a: apiVersion is missing"},
		{"another kind without apiVersion", "kind: Secret\nmetadata: {name: a}\n---\n" + cluster + standard, "Secret a: apiVersion is missing"},
		{"small letters", strings.Replace(cluster, "PgStorageCluster", "pgstoragecluster", 1), `unknown kind "pgstoragecluster"`},
		{"a list", "- a\n- b\n", "a.yaml: document 1, at line 1: not an object"},
		{"a text", "just words\n---\n" + cluster + standard, "not an object"},
		{"two of one name", cluster + standard + "---\n" + cluster, "a.yaml: document 3, at line 16: duplicate PgStorageCluster default/shop, also in a.yaml: document 1, at line 1;"},
		{"two of one name in a list", "apiVersion: v1\nkind: List\nitems: [" + one + ", " + one + "]\n", "a.yaml: document 1, at line 1, item 2: duplicate PgStorageProfile one, also in a.yaml: document 1, at line 1, item 1"},
		{"two nodes", node + "---\n" + node + standard, "duplicate Node node-1, also in a.yaml: document 1"},
		{"benchmark of nothing", "apiVersion: pgstorage.dev/v1alpha1\nkind: PgBenchmark\nmetadata: {name: a}\nspec: {cluster: b}\n", "spec.cluster: PgStorageCluster b in namespace default not found in the files"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			documents, err := loader(t).Load(t.Context(), input.File{Name: "a.yaml", Content: []byte(tc.content)})
			if err == nil {
				_, err = Build(documents, assumptions())
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v\nwant %s", err, tc.want)
			}
		})
	}
}

const (
	one  = "{apiVersion: pgstorage.dev/v1alpha1, kind: PgStorageProfile, metadata: {name: one}, spec: {type: External, external: {storageClassName: fast}}}"
	node = "apiVersion: v1\nkind: Node\nmetadata: {name: node-1}\n"
)

func TestDuplicatesAreRejectedWithBothPlaces(t *testing.T) {
	other := strings.Replace(cluster, "{name: shop}", "{name: shop, namespace: other}", 1)
	a, b := input.File{Name: "a.yaml", Content: []byte(cluster + standard)}, input.File{Name: "b.yaml", Content: []byte("---\n" + cluster)}
	if _, err := loader(t).Load(t.Context(), a, b); err == nil || !strings.HasPrefix(err.Error(), "b.yaml: document 1, at line 2: ") || !strings.Contains(err.Error(), "PgStorageCluster default/shop, also in a.yaml: document 1, at line 1;") {
		t.Error(err)
	}
	b.Content = []byte(other)
	if documents, err := loader(t).Load(t.Context(), a, b); err != nil || len(documents.Clusters) != 2 {
		t.Errorf("two namespaces: %v", err)
	}
}

// kubectl does the same with --namespace.
func TestObjectsOfAnotherNamespaceAreRejected(t *testing.T) {
	l := loader(t)
	l.Enforced = true
	f := input.File{Name: "a.yaml", Content: []byte(strings.Replace(cluster, "{name: shop}", "{name: shop, namespace: other}", 1) + standard)}
	if _, err := l.Load(t.Context(), f); err == nil || !strings.Contains(err.Error(), "metadata.namespace is other, but --namespace is default") {
		t.Error(err)
	}
	l.Namespace = "other"
	if _, err := l.Load(t.Context(), f); err != nil {
		t.Error(err)
	}
}

func TestDocumentsAreReadInEveryLineEnding(t *testing.T) {
	for name, content := range map[string]string{
		"CRLF": strings.ReplaceAll(cluster+standard, "\n", "\r\n"), "CR": strings.ReplaceAll(cluster+standard, "\n", "\r"), "mark": "\ufeff" + cluster + standard,
	} {
		text, err := input.Text([]byte(content))
		if err != nil {
			t.Fatal(err)
		}
		documents, err := loader(t).Load(t.Context(), input.File{Name: name, Content: text})
		if err != nil || len(documents.Clusters) != 1 || len(documents.Profiles) != 1 {
			t.Errorf("%s: %d clusters, %d profiles, %v", name, len(documents.Clusters), len(documents.Profiles), err)
		}
	}
}

func TestMetadataWithoutEffectIsAWarning(t *testing.T) {
	content := strings.Replace(cluster, "{name: shop}", `{name: shop, labels: {team: a}, annotations: {cnpg.io/hibernation: "on", cnpg.io/podPatch: "[]", example.com/a: b}}`, 1) + standard
	documents, err := loader(t).Load(t.Context(), input.File{Name: "a.yaml", Content: []byte(content)})
	if err != nil {
		t.Fatal(err)
	}
	result, err := Build(documents, assumptions())
	if err != nil {
		t.Fatal(err)
	}
	text, err := result.YAML()
	for _, want := range []string{
		"    cnpg.io/hibernation: \"on\"\n",
		"# warning: PgStorageCluster default/shop: metadata.annotations[cnpg.io/podPatch] does not reach the CloudNativePG Cluster: it can give the pods any right\n",
		"# warning: PgStorageCluster default/shop: the operator does not copy annotation example.com/a, label team to the CloudNativePG Cluster\n",
	} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%v: no %q in\n%s", err, want, text)
		}
	}
	if strings.Contains(text, "podPatch: ") {
		t.Errorf("podPatch is in the plan:\n%s", text)
	}
}

// kubectl get -o yaml prints such lists.
func TestListsAreReadWithoutStatus(t *testing.T) {
	indented := strings.ReplaceAll(strings.TrimPrefix(standard, "---\n"), "\n", "\n  ")
	list := "apiVersion: v1\nkind: List\nitems:\n- " + strings.TrimRight(indented, " ") + "  status: {conditions: [{type: Ready, status: \"False\", reason: No, message: no, lastTransitionTime: \"2026-01-01T00:00:00Z\"}]}\n"
	documents, err := loader(t).Load(t.Context(), input.File{Name: "list.yaml", Content: []byte(list)}, input.File{Name: "a.yaml", Content: []byte(cluster)})
	if err != nil {
		t.Fatal(err)
	}
	result, err := Build(documents, assumptions())
	if err != nil || len(result.Plans) != 2 || len(documents.Profiles[0].Status.Conditions) != 0 {
		t.Errorf("%+v %v", result, err)
	}
	if gates := result.Plans[1].Plan.Gates; len(gates) != 0 {
		t.Errorf("held: %+v", gates)
	}
}
