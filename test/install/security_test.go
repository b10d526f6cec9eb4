package install_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// namedPackage of a row, and what is named of it until the next package or the end.
	namedPackage = regexp.MustCompile("`((?:api|cmd|controllers|internal|test)(?:/[a-z0-9/-]+)?)`([^`]*)")
	testName     = regexp.MustCompile(`\b(Test[A-Z]\w*|hostileScript)\b`)
	// rowName is that of a row of test/crd, or the words that several begin with and " ...".
	rowName = regexp.MustCompile(`"([^"]+?)( \.\.\.)?"`)
	// rowsOf is a file of test/crd all of whose rows are meant.
	rowsOf = regexp.MustCompile("`test/crd` rows of `(\\w+_test\\.go)`")
)

// Each boundary names the test that holds it, and that test exists.
func TestSecurityNamesTestsThatExist(t *testing.T) {
	found := 0
	for row := range strings.Lines(readFile(t, "docs/security.md")) {
		cells := strings.Split(row, "|")
		if len(cells) != 5 || !strings.Contains(cells[3], "`") {
			continue
		}
		text := rowsOf.ReplaceAllStringFunc(cells[3], func(rows string) string {
			found++
			readFile(t, "test/crd/"+rowsOf.FindStringSubmatch(rows)[1])
			return ""
		})
		var packages []string
		for _, named := range namedPackage.FindAllStringSubmatch(text, -1) {
			packages = append(packages, named[1])
			if named[2] == " and " {
				continue // the tests of both follow
			}
			for _, name := range packages {
				found += namesTests(t, name, named[2])
			}
			packages = nil
		}
	}
	if found < 30 {
		t.Errorf("docs/security.md names %d tests; was its form changed?", found)
	}
}

// namesTests that a package has, by their names or as rows of test/crd, and returns how many.
func namesTests(t *testing.T, folder, text string) int {
	t.Helper()
	source, found := testsOf(t, folder), 0
	for _, name := range testName.FindAllStringSubmatch(text, -1) {
		found++
		if !strings.Contains(source, "func "+name[1]+"(") {
			t.Errorf("docs/security.md names %s of %s, which has no such test", name[1], folder)
		}
	}
	if _, rows, named := strings.Cut(text, " rows "); named && folder == "test/crd" {
		for _, row := range rowName.FindAllStringSubmatch(rows, -1) {
			found++
			end := `"`
			if row[2] != "" {
				end = " "
			}
			if !strings.Contains(source, `("`+row[1]+end) {
				t.Errorf("docs/security.md names the row %s of %s, which has no such row", row[0], folder)
			}
		}
	}
	if found == 0 {
		t.Errorf("docs/security.md names %s without a test of it: %q", folder, text)
	}
	return found
}

// testsOf a package and of those below it.
func testsOf(t *testing.T, folder string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		_, _ = all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
