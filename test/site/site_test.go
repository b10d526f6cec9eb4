//go:build site

// Package site checks the documentation site that make site builds into the folder
// PGSTORAGE_SITE. Its links resolve, it shows the pages as GitHub does, and it needs nothing
// from elsewhere.
package site

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	gmhtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"
)

const repository = "../.."

// site is a folder of files, and the documents among them.
type site struct {
	files     fs.FS
	documents map[string]document
}

// document is a page: its elements, and the anchors that links can lead to.
type document struct {
	root    *html.Node
	anchors map[string]bool
}

func open(t *testing.T) site {
	t.Helper()
	s, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// load reads the site once for all tests.
var load = sync.OnceValues(func() (site, error) {
	folder := os.Getenv("PGSTORAGE_SITE")
	if folder == "" {
		return site{}, errors.New("PGSTORAGE_SITE is not set; run make test-site")
	}
	s := site{os.DirFS(folder), map[string]document{}}
	err := fs.WalkDir(s.files, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".html" {
			return err
		}
		content, err := fs.ReadFile(s.files, name)
		if err == nil {
			s.documents[name], err = read(content)
		}
		return err
	})
	if err == nil && len(s.documents) < 100 {
		err = fmt.Errorf("%d pages in %s", len(s.documents), folder)
	}
	return s, err
})

func read(content []byte) (document, error) {
	root, err := html.Parse(bytes.NewReader(content))
	if err != nil {
		return document{}, fmt.Errorf("parse: %w", err)
	}
	d := document{root, map[string]bool{"": true}}
	for n := range elements(root) {
		if id := attribute(n, "id"); id != "" {
			d.anchors[id] = true
		}
	}
	return d, nil
}

// elements below a node.
func elements(root *html.Node) func(func(*html.Node) bool) {
	return func(yield func(*html.Node) bool) {
		for n := range root.Descendants() {
			if n.Type == html.ElementNode && !yield(n) {
				return
			}
		}
	}
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// broken says what is wrong with a link of a page to the site, or nothing.
func (s site) broken(from, link string) string {
	to, err := url.Parse(link)
	if err != nil {
		return err.Error()
	}
	if to.Scheme != "" || to.Host != "" {
		return "" // elsewhere
	}
	target := from
	if to.Path != "" {
		target = path.Join(path.Dir(from), to.Path)
	}
	// The page of errors is shown at any path, so its links begin at the root.
	target = strings.TrimPrefix(target, "/")
	if absolute, is := strings.CutPrefix(to.Path, "/"); is {
		target = absolute
	}
	if target == "" || strings.HasSuffix(to.Path, "/") {
		target = path.Join(target, "index.html")
	}
	info, err := fs.Stat(s.files, target)
	if err != nil || info.IsDir() {
		return "there is no file " + target
	}
	if d, isPage := s.documents[target]; isPage && !d.anchors[to.Fragment] {
		return "there is no anchor " + to.Fragment
	}
	return ""
}

func TestLinksResolve(t *testing.T) {
	s, followed := open(t), 0
	for name, d := range s.documents {
		for n := range elements(d.root) {
			for _, key := range []string{"href", "src"} {
				link := attribute(n, key)
				if link == "" {
					continue
				}
				followed++
				if finding := s.broken(name, link); finding != "" {
					t.Errorf("%s links %s: %s", name, link, finding)
				}
			}
		}
	}
	if followed < 5000 {
		t.Errorf("only %d links were found", followed)
	}
	for link, want := range map[string]string{
		"install.html": "", "#absent": "there is no anchor absent", "absent.html": "there is no file absent.html",
		"install.html#absent": "there is no anchor absent", "images": "there is no file images", "runbooks/": "", "https://example.com/": "",
	} {
		if got := s.broken("index.html", link); got != want {
			t.Errorf("%s: %q, want %q", link, got, want)
		}
	}
}

// own repository, whose links are those that lead out of docs/.
var own = regexp.MustCompile(`^https://github\.com/pgstorage/pgstorage/(blob|tree)/main/([^#?]+)`)

// Links that lead to the repository name files that it has.
func TestLinksToTheRepositoryResolve(t *testing.T) {
	seen := 0
	for name, d := range open(t).documents {
		for n := range elements(d.root) {
			found := own.FindStringSubmatch(attribute(n, "href"))
			if found == nil {
				continue
			}
			seen++
			info, err := os.Stat(filepath.Join(repository, found[2]))
			if err != nil || info.IsDir() != (found[1] == "tree") {
				t.Errorf("%s links %s, which is not in the repository", name, found[0])
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d links to the repository were found", seen)
	}
}

// fetched returns what a browser fetches for an element without a click.
func fetched(n *html.Node) []string {
	switch n.Data {
	case "a", "area", "base":
		return nil
	case "link":
		if rel := attribute(n, "rel"); rel == "canonical" || rel == "next" || rel == "prev" {
			return nil
		}
		return []string{attribute(n, "href")}
	}
	return []string{attribute(n, "src"), attribute(n, "srcset"), attribute(n, "data"), attribute(n, "poster")}
}

// elsewhere is a URL of another host, in HTML or in a style.
var elsewhere = regexp.MustCompile(`^\s*(?:https?:)?//|(?:url\(|@import)\s*["']?\s*(?:https?:)?//`)

func TestPagesNeedNothingFromElsewhere(t *testing.T) {
	s := open(t)
	for name, d := range s.documents {
		for n := range elements(d.root) {
			for _, link := range fetched(n) {
				if elsewhere.MatchString(link) {
					t.Errorf("%s: <%s> fetches %s", name, n.Data, link)
				}
			}
		}
	}
	styles, err := fs.Glob(s.files, "assets/*/*.css")
	if err != nil || len(styles) == 0 {
		t.Fatalf("no style sheets: %v", err)
	}
	for _, name := range styles {
		content, err := fs.ReadFile(s.files, name)
		if err != nil {
			t.Fatal(err)
		}
		if found := elsewhere.Find(content); found != nil {
			t.Errorf("%s fetches %s", name, found)
		}
	}
	for link, want := range map[string]bool{"https://a.b/c.js": true, "//a.b/c.js": true, "assets/a.js": false, "a{background:url(https://a.b/c)}": true, "@import '//a.b/c'": true} {
		if elsewhere.MatchString(link) != want {
			t.Errorf("%s: want %v", link, want)
		}
	}
}

// counted are the elements by which a page that is shown otherwise than on GitHub is found.
var counted = []string{"h1", "h2", "h3", "h4", "table", "tr", "td", "ul", "ol", "li", "pre", "img", "details", "strong"}

// count elements of an article. Highlighted code has markup of its own.
func count(root *html.Node) map[string]int {
	found := map[string]int{}
	for n := range elements(root) {
		if slices.Contains(counted, n.Data) {
			found[n.Data]++
		}
	}
	return found
}

func article(d document) *html.Node {
	for n := range elements(d.root) {
		if n.Data == "article" {
			return n
		}
	}
	return d.root
}

func TestPagesLookAsOnGitHub(t *testing.T) {
	s := open(t)
	github := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(gmhtml.WithUnsafe()))
	sources := map[string]string{"index.html": "README.md"}
	err := fs.WalkDir(os.DirFS(repository), "docs", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".md" && name != "docs/README.md" {
			shown := strings.TrimSuffix(strings.TrimPrefix(name, "docs/"), ".md") + ".html"
			sources[strings.Replace(shown, "README.html", "index.html", 1)] = name
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for shown, source := range sources {
		content, err := os.ReadFile(filepath.Join(repository, source))
		if err != nil {
			t.Fatal(err)
		}
		var rendered bytes.Buffer
		if err := github.Convert(content, &rendered); err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		want, err := read(rendered.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		got, has := s.documents[shown]
		if !has {
			t.Errorf("%s is not on the site", source)
			continue
		}
		if a, b := count(want.root), count(article(got)); !maps.Equal(a, b) {
			t.Errorf("%s has %v on GitHub and %v on the site", source, a, b)
		}
	}
}

// The search finds each page by its title.
func TestSearchHasEveryPage(t *testing.T) {
	s := open(t)
	content, err := fs.ReadFile(s.files, "search/search_index.json")
	if err != nil {
		t.Fatal(err)
	}
	var index struct {
		Docs []struct{ Location, Title string } `json:"docs"`
	}
	if err := json.Unmarshal(content, &index); err != nil {
		t.Fatal(err)
	}
	titles := map[string]string{}
	for _, d := range index.Docs {
		titles[d.Location] = d.Title
	}
	for name := range s.documents {
		if name != "404.html" && titles[name] == "" {
			t.Errorf("the search does not have %s", name)
		}
	}
}
