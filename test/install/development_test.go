package install_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// questions that a newcomer asks, in the order of the table.
var questions = []string{
	"a parameter", "a reason", "an alert", "a column of status", "a profile",
	"a CLI command", "a chart", "an agent command", "a matrix axis", "an e2e step",
}

// section of a page below a heading of the second level.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, text, found := strings.Cut(readFile(t, page), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("%s has no heading %q", page, heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// cells of the rows of a section's table, without its header.
func cells(section string) [][]string {
	var rows [][]string
	for line := range strings.Lines(section) {
		if row, ok := strings.CutPrefix(strings.TrimSpace(line), "| "); ok {
			rows = append(rows, strings.Split(strings.TrimSuffix(row, " |"), " | "))
		}
	}
	return rows[min(1, len(rows)):]
}

var linkedPath = regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`)

func TestNewcomersQuestionsHaveOnePathEach(t *testing.T) {
	var asked []string
	for _, row := range cells(section(t, "docs/development.md", "Where do I add ...")) {
		asked = append(asked, row[0])
		links := linkedPath.FindAllStringSubmatch(row[1], -1)
		if len(links) != 1 {
			t.Errorf("%s has %d paths in %q, want 1", row[0], len(links), row[1])
			continue
		}
		name, to := links[0][1], filepath.Join("docs", links[0][2])
		if name != to {
			t.Errorf("%s names %s, but links %s", row[0], name, to)
		}
		if _, err := os.Stat(filepath.Join(root, to)); err != nil {
			t.Errorf("%s: %v", row[0], err)
		}
	}
	if diff := cmp.Diff(questions, asked); diff != "" {
		t.Errorf("questions, -want +got:\n%s", diff)
	}
}

// The table of houses is the folders of internal.
func TestTableOfHousesIsComplete(t *testing.T) {
	var listed []string
	for _, row := range cells(section(t, "docs/development.md", "Houses")) {
		if link := linkedPath.FindStringSubmatch(row[0]); link != nil {
			listed = append(listed, strings.TrimPrefix(link[2], "../internal/"))
		}
	}
	entries, err := os.ReadDir(filepath.Join(root, "internal"))
	if err != nil {
		t.Fatal(err)
	}
	houses := map[string]bool{}
	for _, e := range entries {
		houses[e.Name()] = true
	}
	want := map[string]bool{}
	for _, name := range listed {
		want[name] = true
	}
	if diff := cmp.Diff(want, houses); diff != "" {
		t.Errorf("houses, -table +internal:\n%s", diff)
	}
}

var function = regexp.MustCompile("`(?:[\\w/]+\\.)?([A-Za-z]\\w*)` in \\[[^\\]]+\\]\\(([^)]+)\\)")

// A function that the life of a reconcile names is in the file or folder that it links.
func TestLifeOfAReconcileNamesFunctionsThatExist(t *testing.T) {
	found := function.FindAllStringSubmatch(section(t, "docs/development.md", "The life of one reconcile"), -1)
	if len(found) < 7 {
		t.Errorf("%d functions are named with their file, want at least 7", len(found))
	}
	for _, f := range found {
		target := filepath.Join(root, "docs", f[2])
		files := []string{target}
		if info, err := os.Stat(target); err == nil && info.IsDir() {
			files, _ = filepath.Glob(filepath.Join(target, "*.go"))
		}
		var source strings.Builder
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Errorf("%s: %v", f[0], err)
			}
			source.Write(content)
		}
		if !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + f[1] + `[\[(]`).MatchString(source.String()) {
			t.Errorf("%s: no function %s in %s", f[0], f[1], f[2])
		}
	}
}
