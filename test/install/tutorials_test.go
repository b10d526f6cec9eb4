package install_test

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli"
	"github.com/pgstorage/pgstorage/internal/testing/walkthrough"
)

func tutorials(t *testing.T) []walkthrough.Page {
	t.Helper()
	pages, err := walkthrough.Tutorials()
	if err != nil || len(pages) < 5 {
		t.Fatalf("%d tutorials, %v", len(pages), err)
	}
	return pages
}

// unaccounted lists the blocks of a page that no test runs and that do not name what they need.
func unaccounted(p walkthrough.Page) []string {
	var out []string
	for _, b := range p.Blocks {
		_, known := walkthrough.Needs[b.Needs]
		onKind := b.Needs == "" && (p.Name == walkthrough.External || p.Name == walkthrough.Benchmark)
		hidden := !b.Commands() && strings.Contains("\n"+b.Text, "\n$ ")
		if hidden || b.Commands() && !known && !onKind {
			out = append(out, strings.TrimSpace(b.Text))
		}
	}
	return out
}

// Every block of commands is run on kind by TestTutorials of test/e2e, or names what it needs.
func TestEveryCommandOfATutorialIsRunOrNamesItsNeed(t *testing.T) {
	used := map[string]bool{}
	for _, p := range tutorials(t) {
		for _, text := range unaccounted(p) {
			t.Errorf("%s: put <!-- needs: NAME --> before this block, with a name of walkthrough.Needs:\n%s", p.Name, text)
		}
		for _, b := range p.Blocks {
			used[b.Needs] = true
		}
	}
	for name := range walkthrough.Needs {
		if !used[name] {
			t.Errorf("no tutorial needs %s", name)
		}
	}
}

// What the test above finds.
func TestUnaccountedBlocksAreFound(t *testing.T) {
	for source, want := range map[string]int{
		"```sh\nls\n```\n":                                     1,
		"<!-- needs: registry -->\n```sh\nls\n```\n":           0,
		"<!-- needs: moon -->\n```sh\nls\n```\n":               1,
		"<!-- needs: registry -->\n\ntext\n\n```sh\nls\n```\n": 1,
		"```\n$ ls\n```\n":                                     1,
		"```yaml\na: b\n```\n":                                 0,
	} {
		p, err := walkthrough.Parse("docs/tutorial-new.md", source)
		if err != nil {
			t.Fatal(err)
		}
		if got := unaccounted(p); len(got) != want {
			t.Errorf("%q: %q", source, got)
		}
	}
}

// objects of all tutorials and samples, with the page or file that has them.
func written(t *testing.T) map[string][]*unstructured.Unstructured {
	t.Helper()
	out := map[string][]*unstructured.Unstructured{}
	add := func(name, text string) {
		for _, o := range parse(t, text) {
			out[name] = append(out[name], o)
		}
	}
	for _, p := range tutorials(t) {
		for _, b := range p.Blocks {
			for _, text := range b.Objects() {
				if strings.Contains(text, "apiVersion: ") { // others are parts of an object
					add(p.Name, text)
				}
			}
		}
	}
	files, err := filepath.Glob(root + "/config/samples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := filepath.Base(file); name != "kustomization.yaml" {
			add("config/samples/"+name, readFile(t, "config/samples", name))
		}
	}
	return out
}

// The API server accepts what readers apply.
func TestObjectsOfTutorialsAreValid(t *testing.T) {
	checked := 0
	for name, objects := range written(t) {
		if !strings.HasPrefix(name, "docs/") {
			continue // TestSamplesAreValid
		}
		for _, o := range objects {
			checked++
			noUnknownField(t, o)
			for _, problem := range validate(t, o) {
				t.Errorf("%s: %s %s: %v", name, o.GetKind(), o.GetName(), problem)
			}
		}
	}
	if checked < 6 {
		t.Errorf("only %d objects: is the parser right?", checked)
	}
}

// The offline commands run without a cluster, from the root of the repository.
func TestOfflineCommandsOfTutorialsRun(t *testing.T) {
	t.Chdir(root)
	ran := 0
	for _, p := range tutorials(t) {
		for _, b := range p.Blocks {
			if b.Needs != "offline" {
				continue
			}
			words := strings.Fields(b.Text)
			if len(words) < 3 || words[0] != "kubectl" || words[1] != "pgstorage" {
				t.Fatalf("%s: %s", p.Name, b.Text)
			}
			var out, problems bytes.Buffer
			command := cli.New(genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &problems}, "test")
			command.SetArgs(words[2:])
			if err := command.ExecuteContext(t.Context()); err != nil || out.Len() < 1000 {
				t.Errorf("%s: %s: %v\n%s", p.Name, b.Text, err, problems.String())
			}
			ran++
		}
	}
	if ran < 3 {
		t.Errorf("only %d commands", ran)
	}
}

// A page installs the plugin, or links to its installation, before it uses it.
func TestThePluginIsInstalledBeforeItsUse(t *testing.T) {
	for _, p := range tutorials(t) {
		lines := strings.Split(p.Source, "\n")
		for _, b := range p.Blocks {
			if !b.Commands() || !strings.Contains(b.Text, "kubectl pgstorage") {
				continue
			}
			before := strings.Join(lines[:b.Line], "\n")
			if !strings.Contains(before, "plugin.md#install") && !strings.Contains(before, "krew install") {
				t.Errorf("%s:%d uses the plugin before its installation", p.Name, b.Line)
			}
			break
		}
	}
}

// Commands of Helm on a page keep the values of an earlier installation.
func TestHelmKeepsEarlierValues(t *testing.T) {
	for _, p := range tutorials(t) {
		for _, b := range p.Blocks {
			for _, s := range b.Steps() {
				if b.Commands() && strings.Contains(s.Command, "helm upgrade") && !strings.Contains(s.Command, "--reset-then-reuse-values") {
					t.Errorf("%s:%d resets values: add --reset-then-reuse-values", p.Name, s.Line)
				}
			}
		}
	}
}

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
	}
	var out []string
	for _, o := range objects {
		for path, kind := range map[string]string{
			"spec.gate.baseline": "PgBenchmark", "spec.template.spec.gate.baseline": "PgBenchmark",
			"spec.cluster": "PgStorageCluster", "spec.template.spec.cluster": "PgStorageCluster",
			"spec.profile": "PgStorageProfile", "spec.template.profile": "PgStorageProfile",
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
