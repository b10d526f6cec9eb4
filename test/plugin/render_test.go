package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"github.com/google/go-cmp/cmp"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/config/crd"
	"github.com/pgstorage/pgstorage/internal/cli/admit"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

const samples = "../../config/samples/"

// documents of our kinds in a file.
func documents(t *testing.T, path string) []*unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []*unstructured.Unstructured
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		raw, err := yaml.YAMLToJSONStrict([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		o := &unstructured.Unstructured{}
		if err := o.UnmarshalJSON(raw); err != nil {
			t.Fatal(err)
		}
		if o.GroupVersionKind().Group == v1alpha1.GroupVersion.Group {
			out = append(out, o)
		}
	}
	return out
}

func TestOfflineDefaultsEqualThoseOfTheAPIServer(t *testing.T) {
	c := apiserver.Client(t, config)
	schemas, err := admit.Load(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(samples + "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, path := range paths {
		if filepath.Base(path) == "kustomization.yaml" {
			continue
		}
		for _, o := range documents(t, path) {
			if o.GroupVersionKind().Group != v1alpha1.GroupVersion.Group {
				continue
			}
			seen++
			theirs, ours := o.DeepCopy(), o.DeepCopy()
			if err := c.Create(t.Context(), theirs, client.DryRunAll); err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if err := schemas.Admit(t.Context(), ours); err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if diff := cmp.Diff(theirs.Object["spec"], ours.Object["spec"]); diff != "" {
				t.Errorf("%s: %s %s (-API server +admit):\n%s", path, o.GetKind(), o.GetName(), diff)
			}
		}
	}
	if seen < 12 {
		t.Errorf("only %d objects", seen)
	}
}

func TestOfflineErrorsEqualThoseOfTheAPIServer(t *testing.T) {
	c := apiserver.Client(t, config)
	schemas, err := admit.Load(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	cluster := func(change func(spec map[string]any)) *unstructured.Unstructured {
		o := documents(t, samples+"cluster-quorum.yaml")[0]
		change(o.Object["spec"].(map[string]any))
		return o
	}
	profile := func(change func(spec map[string]any)) *unstructured.Unstructured {
		o := documents(t, samples+"profile-zfs.yaml")[0]
		change(o.Object["spec"].(map[string]any))
		return o
	}
	named := cluster(func(map[string]any) {})
	named.SetName("Upper.Case")
	for name, o := range map[string]*unstructured.Unstructured{
		"quorum of one": cluster(func(s map[string]any) { s["instances"] = int64(1) }),
		"too many":      cluster(func(s map[string]any) { s["instances"] = int64(99) }),
		"no durability": cluster(func(s map[string]any) { delete(s, "durability") }),
		"another tier":  cluster(func(s map[string]any) { s["durability"] = "Always" }),
		"fsync off": cluster(func(s map[string]any) {
			s["postgres"] = map[string]any{"version": "17", "parameters": map[string]any{"fsync": "off"}}
		}),
		"wrong type":       cluster(func(s map[string]any) { s["profile"] = int64(7) }),
		"several":          cluster(func(s map[string]any) { s["instances"] = int64(1); s["storage"] = map[string]any{"size": "1Mi"} }),
		"name":             named,
		"no selector":      profile(func(s map[string]any) { delete(s, "nodeSelector") }),
		"another member":   profile(func(s map[string]any) { s["external"] = map[string]any{"storageClassName": "a"} }),
		"sync disabled":    profile(func(s map[string]any) { s["zfsLocalPV"].(map[string]any)["data"] = map[string]any{"sync": "disabled"} }),
		"small recordsize": profile(func(s map[string]any) { s["zfsLocalPV"].(map[string]any)["data"] = map[string]any{"recordsize": "4k"} }),
		"a device by sdx": profile(func(s map[string]any) {
			s["zfsLocalPV"].(map[string]any)["pool"] = map[string]any{"name": "tank", "create": map[string]any{"vdevs": []any{map[string]any{"devices": []any{map[string]any{"path": "/dev/sda"}}}}}}
		}),
		"a benchmark twice": {Object: map[string]any{"apiVersion": "pgstorage.dev/v1alpha1", "kind": "PgBenchmark", "metadata": map[string]any{"name": "a", "namespace": "default"}, "spec": map[string]any{"cluster": "b", "pgbench": map[string]any{"duration": "1m", "transactions": int64(5)}}}},
	} {
		t.Run(name, func(t *testing.T) {
			theirs := c.Create(t.Context(), o.DeepCopy(), client.DryRunAll)
			ours := schemas.Admit(t.Context(), o.DeepCopy())
			if theirs == nil || ours == nil {
				t.Fatalf("API server: %v\nadmit: %v", theirs, ours)
			}
			if diff := cmp.Diff(theirs.Error(), ours.Error()); diff != "" {
				t.Errorf("(-API server +admit)\n%s", diff)
			}
		})
	}
}

// The hashes of both intents are equal.
func TestRenderPlansWhatTheManagerApplies(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	namespace(t, c, "plugin-render")
	create(t, c, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "plugin-render"}, Provisioner: "example.com/none"})
	profile := &v1alpha1.PgStorageProfile{ObjectMeta: metav1.ObjectMeta{Name: "plugin-render"}}
	profile.Spec.Type, profile.Spec.External = v1alpha1.ProfileTypeExternal, &v1alpha1.ExternalProfile{StorageClassName: "plugin-render"}
	cr := documents(t, samples+"cluster-quorum.yaml")[0]
	cr.SetNamespace("plugin-render")
	if err := unstructured.SetNestedField(cr.Object, "plugin-render", "spec", "profile"); err != nil {
		t.Fatal(err)
	}
	create(t, c, profile, cr)
	live := &cnpgv1.Cluster{}
	eventually(t, "the CloudNativePG Cluster", func(ctx context.Context) error {
		return c.Get(ctx, client.ObjectKey{Namespace: "plugin-render", Name: cr.GetName()}, live)
	})
	objects := rendered(t, asList(t, c, profile, cr), "--image", "registry.example/pgstorage:test", "--postgres-image-repository", "registry.example/postgresql")
	i := slices.IndexFunc(objects, func(o unstructured.Unstructured) bool { return o.GetKind() == "Cluster" })
	if i < 0 {
		t.Fatalf("no Cluster among %d objects", len(objects))
	}
	if got, want := objects[i].GetAnnotations()[naming.AnnotationIntent], live.Annotations[naming.AnnotationIntent]; got != want || want == "" {
		t.Errorf("the rendered intent is %q, that of the manager %q", got, want)
	}
}

// asList is what kubectl get -o yaml prints of objects.
func asList(t *testing.T, c client.Client, objects ...client.Object) string {
	t.Helper()
	items := []any{}
	for _, o := range objects {
		gvk, err := c.GroupVersionKindFor(o)
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), u); err != nil {
			t.Fatal(err)
		}
		items = append(items, u.Object)
	}
	raw, err := yaml.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func rendered(t *testing.T, input string, args ...string) []unstructured.Unstructured {
	t.Helper()
	out, err := pluginWith(t, input, append([]string{"render", "-f", "-", "-o", "json"}, args...)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	list := &unstructured.UnstructuredList{}
	if err := list.UnmarshalJSON([]byte(out)); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func TestRenderNeedsNoAPIServer(t *testing.T) {
	args := []string{"render", "-f", samples + "profile-zfs.yaml", "-f", samples + "cluster-zfs.yaml", "--node", "node-1", "--server", "https://127.0.0.1:1"}
	if out := must(t, args...); !strings.Contains(out, "kind: PgNodeStorage") || !strings.Contains(out, "# assumed: ") {
		t.Errorf("%s", out)
	}
	out, err := plugin(t, "render", "-f", samples+"cluster-zfs.yaml")
	if err == nil || !strings.Contains(err.Error(), "PgStorageProfile zfs-nvme not found in the files") || out != "" {
		t.Errorf("%v %s", err, out)
	}
	for _, name := range []string{"absent.yaml", t.TempDir()} {
		if _, err := plugin(t, "render", "-f", name); err == nil || !strings.HasPrefix(err.Error(), "--filename: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	folder := must(t, "render", "-f", samplesWithout(t), "-o", "json")
	list := struct{ Items []json.RawMessage }{}
	if err := json.Unmarshal([]byte(folder), &list); err != nil || len(list.Items) < 3 {
		t.Errorf("%v: %d items", err, len(list.Items))
	}
}

// samplesWithout skips files without an object: it is a folder of two samples.
func samplesWithout(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"profile-standard.yaml", "cluster-demo.yaml"} {
		content, err := os.ReadFile(samples + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(fmt.Sprintf("%s/%s", folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}
