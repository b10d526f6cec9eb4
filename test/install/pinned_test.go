package install_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// rolling reports whether the tag of an image can move to another version.
func rolling(image string) bool {
	if strings.Contains(image, "@sha256:") {
		return false
	}
	_, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	return !regexp.MustCompile(`^v?\d+\.\d+(\.\d+)?(-|$)`).MatchString(tag)
}

// Images and versions of samples and tutorials are exact.
func TestSamplesPinVersions(t *testing.T) {
	// The demo runs on images that are built where no registry answers, with the major as tag.
	onlyMajor := []string{"config/samples/cluster-demo.yaml"}
	images := 0
	for name, objects := range written(t) {
		for _, o := range objects {
			walkFields(o.Object, func(key string, value any) {
				text, ok := value.(string)
				switch {
				case !ok:
				case key == "image" || strings.HasSuffix(key, "Image"):
					images++
					if rolling(text) {
						t.Errorf("%s: image %s is not exact", name, text)
					}
				case key == "version" && !slices.Contains(onlyMajor, name) && !strings.Contains(text, "."):
					t.Errorf("%s: version %s takes the newest image whenever a pod starts; name a minor version", name, text)
				}
			})
		}
	}
	if images < 4 {
		t.Errorf("only %d images", images)
	}
	for image, want := range map[string]bool{"a/b": true, "a/b:latest": true, "a/b:17": true, "host:5000/b": true, "a/b:17-trixie": true, "a/b:17.6": false, "a/b:v20.2.4": false, "a/b@sha256:00": false} {
		if rolling(image) != want {
			t.Errorf("rolling(%s) is %v", image, !want)
		}
	}
}

// walkFields calls visit with each field of an object that is neither a map nor a list.
func walkFields(node any, visit func(key string, value any)) {
	switch n := node.(type) {
	case map[string]any:
		for key, value := range n {
			visit(key, value)
			walkFields(value, visit)
		}
	case []any:
		for _, value := range n {
			walkFields(value, visit)
		}
	}
}

// ZeroFS in samples is the version that the tests run.
func TestSamplesUseTheTestedZeroFS(t *testing.T) {
	tested := regexp.MustCompile(`(?m)^ZEROFS_VERSION=(\S+)$`).FindStringSubmatch(readFile(t, "hack/versions.env"))[1]
	found := 0
	for name, objects := range written(t) {
		for _, o := range objects {
			if o.GetKind() != "PgStorageProfile" {
				continue
			}
			server := into[v1alpha1.PgStorageProfile](t, o).Spec.S3NBD
			if server == nil {
				continue
			}
			found++
			_, tag, _ := strings.Cut(server.ZeroFS.Image, ":")
			if tag != tested || !strings.HasPrefix(tested, string(server.ZeroFS.Family)+".") {
				t.Errorf("%s: image %s of family %s; the tests run %s", name, server.ZeroFS.Image, server.ZeroFS.Family, tested)
			}
		}
	}
	if found < 3 {
		t.Errorf("only %d profiles", found)
	}
}

// dangling lists what objects name and none of them is.
func dangling(t *testing.T, objects []*unstructured.Unstructured) []string {
	t.Helper()
	have := map[string]bool{}
	for _, o := range objects {
		have[o.GetKind()+"/"+o.GetName()] = true
		// The operator creates the PgStorageClusters of branches and read pools.
		if o.GetKind() == "PgStorageBranch" {
			have["PgStorageCluster/"+o.GetName()] = true
		}
		if o.GetKind() != "PgStorageCluster" {
			continue
		}
		for _, pool := range into[v1alpha1.PgStorageCluster](t, o).Spec.ReadPools {
			have["PgStorageCluster/"+naming.ReadPool(o.GetName(), pool.Name)] = true
		}
	}
	var out []string
	for _, o := range objects {
		for path, kind := range map[string]string{
			"spec.gate.baseline": "PgBenchmark", "spec.template.spec.gate.baseline": "PgBenchmark",
			"spec.cluster": "PgStorageCluster", "spec.template.spec.cluster": "PgStorageCluster",
			"spec.source.cluster": "PgStorageCluster",
			"spec.profile":        "PgStorageProfile", "spec.template.profile": "PgStorageProfile",
		} {
			name, found, err := unstructured.NestedString(o.Object, strings.Split(path, ".")...)
			if err == nil && found && !have[kind+"/"+name] {
				out = append(out, o.GetKind()+"/"+o.GetName()+" names "+kind+" "+name)
			}
		}
	}
	return out
}

// Every baseline, cluster and profile that a sample or a tutorial names is created by one.
func TestWhatSamplesNameIsCreated(t *testing.T) {
	var samples, pages []*unstructured.Unstructured
	for name, objects := range written(t) {
		if strings.HasPrefix(name, "docs/") {
			pages = append(pages, objects...)
			continue
		}
		samples = append(samples, objects...)
	}
	for _, text := range append(dangling(t, samples), dangling(t, pages)...) {
		t.Errorf("%s, which nothing creates", text)
	}
	wrong := `{apiVersion: pgstorage.dev/v1alpha1, kind: PgBenchmark, metadata: {name: a}, spec: {cluster: b, gate: {baseline: nightly}}}`
	for _, o := range parse(t, wrong) {
		if got := dangling(t, []*unstructured.Unstructured{o}); len(got) != 2 {
			t.Errorf("found %q", got)
		}
	}
}
