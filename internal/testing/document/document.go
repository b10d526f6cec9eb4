// Package document writes what a program measured into a page that people have written.
package document

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Place is the part of a page between two of its lines.
type Place struct{ Begin, End string }

// Write replaces the text of the place. It creates a page that does not exist. It returns
// an error, and changes nothing, if the page lacks the place.
func (p Place) Write(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	before, rest, found := strings.Cut(string(old), p.Begin)
	_, after, ended := strings.Cut(rest, p.End)
	if len(old) > 0 && (!found || !ended) {
		return fmt.Errorf("%s has no line %q followed by %q", path, p.Begin, p.End)
	}
	if len(old) == 0 {
		after = "\n"
	}
	return os.WriteFile(path, []byte(before+p.Begin+"\n"+text+p.End+after), 0o644) //nolint:gosec // G306: a page for everybody
}
