//go:build release || e2einstall

package release_test

import (
	"os"
	"strings"
	"testing"
)

const root = "../.."

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// blocks returns the commands of the section with a heading.
func blocks(t *testing.T, page, heading string) string {
	t.Helper()
	_, section, found := strings.Cut(page, "\n"+heading+"\n")
	if !found {
		t.Fatalf("docs/install.md has no heading %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var out strings.Builder
	inside := false
	for line := range strings.Lines(section) {
		switch {
		case strings.HasPrefix(line, "```sh"):
			inside = true
		case strings.HasPrefix(line, "```"):
			inside = false
		case inside:
			out.WriteString(line)
		}
	}
	if out.Len() == 0 {
		t.Fatalf("the section %q of docs/install.md has no commands", heading)
	}
	return out.String()
}
