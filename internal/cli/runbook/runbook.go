// Package runbook finds the documentation page for a condition reason or an alert.
package runbook

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// Site is the URL that links to the documentation begin with.
const Site = "https://github.com/pgstorage/pgstorage/blob/main/"

// folder is the path of the runbooks in the repository.
const folder = "docs/runbooks"

// Book holds all runbooks.
type Book struct {
	pages map[string]string
	// names of pages by reason or alert in lower case.
	names map[string]string
	// also has the other reasons that a page covers, by page.
	also map[string][]string
}

// Patterns of a line of the list of runbooks: a page, and the other reasons it covers.
var (
	listed = regexp.MustCompile(`^- \[(\w+)\]\((\w+)\.md\)(.*)$`)
	reason = regexp.MustCompile(`\b[A-Z][A-Za-z0-9]+\b`)
	quoted = regexp.MustCompile("`[^`]*`")
)

// Open reads the pages of a folder, and their list in README.md.
func Open(files fs.FS) (*Book, error) {
	b := &Book{pages: map[string]string{}, names: map[string]string{}, also: map[string][]string{}}
	names, err := fs.Glob(files, "*.md")
	if err != nil {
		return nil, fmt.Errorf("list runbooks: %w", err)
	}
	list := ""
	for _, file := range names {
		content, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, fmt.Errorf("read runbook: %w", err)
		}
		if file == "README.md" {
			list = string(content)
			continue
		}
		name := strings.TrimSuffix(file, ".md")
		b.pages[name], b.names[strings.ToLower(name)] = string(content), name
	}
	b.index(list)
	return b, nil
}

// index adds the reasons that the list names beside a page. A page with the name of the
// reason takes precedence, and then the first line.
func (b *Book) index(list string) {
	for line := range strings.Lines(list) {
		found := listed.FindStringSubmatch(strings.TrimSpace(line))
		if found == nil || b.pages[found[2]] == "" {
			continue
		}
		for _, name := range reason.FindAllString(quoted.ReplaceAllString(found[3], ""), -1) {
			key := strings.ToLower(name)
			if b.names[key] != "" {
				continue
			}
			b.names[key] = found[2]
			b.also[found[2]] = append(b.also[found[2]], name)
		}
	}
}

// Has reports whether a reason or alert has a page.
func (b *Book) Has(name string) bool { return b.names[strings.ToLower(name)] != "" }

// Link returns the path of the page for a reason or alert; empty if it has none.
func (b *Book) Link(name string) string {
	page := b.names[strings.ToLower(name)]
	if page == "" {
		return ""
	}
	return path.Join(folder, page+".md")
}

// Page returns the page for a reason or alert, in Markdown with absolute links. It
// ignores case. The error suggests similar names.
func (b *Book) Page(name string) (string, error) {
	page := b.names[strings.ToLower(name)]
	if page == "" {
		return "", fmt.Errorf("no runbook for %q%s; list all with kubectl pgstorage runbook. Reasons that resolve without action have no runbook; %sdocs/spec explains every reason", name, b.hint(name), Site)
	}
	return absolute(b.pages[page]), nil
}

// Entry is a line of the list of runbooks.
type Entry struct {
	Name string   `json:"name"`
	Also []string `json:"also,omitempty"`
	URL  string   `json:"url"`
}

// List returns all runbooks, sorted by name.
func (b *Book) List() []Entry {
	var out []Entry
	for _, name := range slices.Sorted(maps.Keys(b.pages)) {
		out = append(out, Entry{Name: name, Also: b.also[name], URL: Site + path.Join(folder, name+".md")})
	}
	return out
}

// Text formats a list of runbooks as columns.
func Text(entries []Entry) string {
	rows := [][]string{{"NAME", "ALSO COVERS", "LINK"}}
	for _, e := range entries {
		rows = append(rows, []string{e.Name, view.Or(strings.Join(e.Also, ", ")), e.URL})
	}
	return view.Columns(rows...)
}

// Names returns all reasons and alerts that have a page, sorted.
func (b *Book) Names() []string {
	var out []string
	for name := range b.pages {
		out = append(out, append(b.also[name], name)...)
	}
	slices.Sort(out)
	return out
}

// hint suggests names that contain the given one.
func (b *Book) hint(name string) string {
	var near []string
	for _, known := range b.Names() {
		if name != "" && strings.Contains(strings.ToLower(known), strings.ToLower(name)) {
			near = append(near, known)
		}
	}
	if len(near) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(near, ", ") + "?)"
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// absolute makes relative links absolute, because a terminal has no folder to resolve them.
func absolute(text string) string {
	return link.ReplaceAllStringFunc(text, func(found string) string {
		target := found[2 : len(found)-1]
		if strings.Contains(target, "://") || strings.HasPrefix(target, "#") {
			return found
		}
		file, fragment, has := strings.Cut(target, "#")
		whole := Site + path.Join(folder, file)
		if has {
			whole += "#" + fragment
		}
		return "](" + whole + ")"
	})
}
