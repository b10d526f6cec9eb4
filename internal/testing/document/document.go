// Package document puts what a program measured into a page that a person wrote.
package document

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Place in a page, between two lines of it.
type Place struct{ Begin, End string }

// Write text in the place of what was there before. A page that is not there yet has
// nothing else. It fails, and changes nothing, if the page has no such place.
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
