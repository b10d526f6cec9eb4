package install_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// objects are the objects of an installation by "Kind namespace/name".
type objects map[string]*unstructured.Unstructured

func parse(t *testing.T, manifest string) objects {
	t.Helper()
	found := objects{}
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), 4096)
	for {
		var document runtime.RawExtension
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(document.Raw) == 0 || string(document.Raw) == "null" {
			continue
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(document.Raw); err != nil {
			t.Fatal(err)
		}
		key := fmt.Sprintf("%s %s/%s", object.GetKind(), object.GetNamespace(), object.GetName())
		if found[key] != nil {
			t.Fatalf("%s is rendered twice", key)
		}
		found[key] = object
	}
}

func (o objects) keys() []string { return slices.Sorted(maps.Keys(o)) }

// installed is what the chart renders, without the pods of helm test.
func installed(t *testing.T, args ...string) objects {
	t.Helper()
	out, err := helmTemplate(t, append([]string{"--skip-tests"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, out)
}

// everything are the values of an installation with all that can be installed.
var everything = []string{"--set", "agent.enabled=true,networkPolicy.enabled=true,metrics.serviceMonitor.enabled=true,metrics.prometheusRule.enabled=true,metrics.ceph.serviceMonitor.enabled=true,metrics.ceph.prometheusRule.enabled=true,metrics.benchmarks.prometheusRule.enabled=true,metrics.postgres.prometheusRule.enabled=true,metrics.dashboards.enabled=true,matrixClusters.enabled=true,readPools.enabled=true,sites.enabled=true,branches.enabled=true,memory.enabled=true"}

func readFile(t *testing.T, path ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// into fills a typed object and refuses fields that the type does not have.
func into[T any](t *testing.T, object *unstructured.Unstructured) T {
	t.Helper()
	var typed T
	if object == nil {
		t.Fatalf("no object to read as %T", typed)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &typed, true); err != nil {
		t.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), err)
	}
	return typed
}

// differences lists the paths at which two values differ.
func differences(path string, a, b any) []string {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return []string{path + ": an object on one side only"}
		}
		names := maps.Clone(a)
		maps.Copy(names, b)
		var all []string
		for _, name := range slices.Sorted(maps.Keys(names)) {
			all = append(all, differences(path+"."+name, a[name], b[name])...)
		}
		return all
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return []string{fmt.Sprintf("%s: %v and %v", path, a, b)}
		}
		var all []string
		for i := range a {
			all = append(all, differences(fmt.Sprintf("%s[%d]", path, i), a[i], b[i])...)
		}
		return all
	default:
		if fmt.Sprint(a) != fmt.Sprint(b) {
			return []string{fmt.Sprintf("%s: %v and %v", path, a, b)}
		}
		return nil
	}
}
