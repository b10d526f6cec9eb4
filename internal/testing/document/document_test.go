package document

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPlaceReplacesOnlyItsText(t *testing.T) {
	place := Place{Begin: "<!-- a -->", End: "<!-- end of a -->"}
	const whole = "# Title\n\n<!-- a -->\nnew\n<!-- end of a -->\n\nWhy.\n"
	for _, c := range []struct {
		name, old, want string
		good            bool
	}{
		{"in the place of the one before", "# Title\n\n<!-- a -->\nold\n<!-- end of a -->\n\nWhy.\n", whole, true},
		{"in a place that was empty", "# Title\n\n<!-- a -->\n<!-- end of a -->\n\nWhy.\n", whole, true},
		{"a page of its own", "", "<!-- a -->\nnew\n<!-- end of a -->\n", true},
		{"no place", "# Title\n", "# Title\n", false},
		{"no end", "<!-- a -->\nold\n", "<!-- a -->\nold\n", false},
	} {
		path := filepath.Join(t.TempDir(), "page.md")
		if c.old != "" {
			if err := os.WriteFile(path, []byte(c.old), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := place.Write(path, "new\n")
		got, _ := os.ReadFile(path)
		if (err == nil) != c.good || string(got) != c.want {
			t.Errorf("%s: %v\n%s", c.name, err, got)
		}
	}
}
