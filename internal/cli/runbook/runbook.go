// Package runbook finds the page for a reason of a condition, or for an alert, among
// the runbooks of the documentation.
package runbook

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Site is where the documentation is read, with what a link within it begins with.
const Site = "https://github.com/pgstorage/pgstorage/blob/main/"

// folder of the runbooks within the documentation.
const folder = "docs/runbooks"

// Book is all runbooks.
type Book struct {
	pages map[string]string
	// names of pages by reason or alert, in lower case.
	names map[string]string
	// reasons that a page is for besides its own name, by page.
	also map[string][]string
}

// listed is a line of the list of runbooks: a page, and further reasons it is for.
var (
	listed = regexp.MustCompile(`^- \[(\w+)\]\((\w+)\.md\)(.*)$`)
	reason = regexp.MustCompile(`\b[A-Z][A-Za-z0-9]+\b`)
	quoted = regexp.MustCompile("`[^`]*`")
)

// Open the pages of a folder, and its list, README.md.
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

// index the reasons that the list has beside a page. A page of a reason's own name
// comes first, and so does the line that is above.
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

// Has says whether there is a page for a reason or alert.
func (b *Book) Has(name string) bool { return b.names[strings.ToLower(name)] != "" }

// Link to the page for a reason or alert, as a path of the documentation; empty where
// there is none.
func (b *Book) Link(name string) string {
	page := b.names[strings.ToLower(name)]
	if page == "" {
		return ""
	}
	return path.Join(folder, page+".md")
}

// Page for a reason or alert, in Markdown whose links lead to the documentation's
// site. Upper and lower case are the same.
func (b *Book) Page(name string) (string, error) {
	page := b.names[strings.ToLower(name)]
	if page == "" {
		return "", fmt.Errorf("no runbook for %q%s; kubectl pgstorage runbook lists all. Reasons that resolve by themselves have none: %sdocs/spec says what each means", name, b.hint(name), Site)
	}
	return absolute(b.pages[page]), nil
}

// Entry of the list of runbooks.
type Entry struct {
	Name string   `json:"name"`
	Also []string `json:"also,omitempty"`
	URL  string   `json:"url"`
}

// List all runbooks by name.
func (b *Book) List() []Entry {
	var out []Entry
	for _, name := range slices.Sorted(maps.Keys(b.pages)) {
		out = append(out, Entry{Name: name, Also: b.also[name], URL: Site + path.Join(folder, name+".md")})
	}
	return out
}

// Names that a page can be asked for by, sorted.
func (b *Book) Names() []string {
	var out []string
	for name := range b.pages {
		out = append(out, append(b.also[name], name)...)
	}
	slices.Sort(out)
	return out
}

// hint at names that hold what was asked for.
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

// absolute makes relative links whole: there is no folder here that they start in.
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
