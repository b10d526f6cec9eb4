package install_test

import (
	"bytes"
	"path/filepath"
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
		onKind := b.Needs == "" && slices.Contains([]string{walkthrough.External, walkthrough.Benchmark, walkthrough.ReadPools, walkthrough.Memory, walkthrough.Sites, walkthrough.Backup}, p.Name)
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
			if o.GroupVersionKind().Group != v1alpha1.GroupVersion.Group {
				continue
			}
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
