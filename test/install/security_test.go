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
	// namedTests of a row: a package, and tests until the next package or the end.
	namedTests = regexp.MustCompile("`((?:api|cmd|controllers|internal|test)/[a-z0-9/-]+)`([^`]*)")
	testName   = regexp.MustCompile(`\b(Test[A-Z]\w*|hostileScript)(\*?)`)
)

// Each boundary names the test that holds it, and that test exists.
func TestSecurityNamesTestsThatExist(t *testing.T) {
	found := 0
	for row := range strings.Lines(readFile(t, "docs/security.md")) {
		cells := strings.Split(row, "|")
		if len(cells) != 5 || !strings.Contains(cells[3], "`") {
			continue
		}
		for _, named := range namedTests.FindAllStringSubmatch(cells[3], -1) {
			source := testsOf(t, named[1])
			for _, name := range testName.FindAllStringSubmatch(named[2], -1) {
				found++
				if !strings.Contains(source, "func "+name[1]+"(") {
					t.Errorf("docs/security.md names %s of %s, which has no such test", name[1], named[1])
				}
			}
		}
	}
	if found < 30 {
		t.Errorf("docs/security.md names %d tests; was its form changed?", found)
	}
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
