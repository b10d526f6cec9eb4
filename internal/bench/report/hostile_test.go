package report

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"golang.org/x/net/html"

	"github.com/pgstorage/pgstorage/internal/testing/recorded"
)

// hostile names would act as markup, formulas or control sequences if interpreted.
var hostile = []string{
	`<script>alert(1)</script>`,
	`</title></svg><img src=x onerror=alert(1)>`,
	`" onload="alert(1)`,
	`</style><b>`,
	`[click](https://example.com)`,
	`https://example.com`,
	`www.example.com`,
	"a|b`c*d_e",
	`# heading`,
	`1. list`,
	"- item",
	`<!-- comment`,
	"\x1b[2J\x1b]0;title\x07",
	"two\nlines",
	"\u202egnp.exe",
	`&lt;b&gt;`,
	`#1b1f24 style="fill:#1b1f24"`,
	`=HYPERLINK("https://example.com")`,
	`+1+1`,
	`@SUM(A1)`,
	`    indented`,
}

// named is a report whose every text is, or has, a name.
func named(t testing.TB, name string) Report {
	t.Helper()
	in := Input{About: About{Name: name, Facts: []Fact{{name, name}}}, Axes: nil}
	for _, r := range recorded.Matrix(t, "v17") {
		if r.Variant != "Local-1" {
			continue
		}
		other := r
		r.Variant = name
		other.Variant = "other"
		in.Runs = append(in.Runs, r, other)
	}
	failed := in.Runs[0]
	failed.Repeat, failed.Result, failed.Failure = 6, nil, name
	in.Runs = append(in.Runs, failed)
	in.Analysis = mustAnalyse(t, in.Runs)
	in.Layers = map[string][]LayerSummary{name: {{Name: name, Method: name, Time: summary(t, 1, 2, 3)}}}
	return build(t, in)
}

// shape of a page: its elements and their attributes, without the text.
func shape(t testing.TB, page string) []string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var tags []string
	for n := range root.Descendants() {
		if n.Type == html.CommentNode {
			tags = append(tags, "comment")
		}
		if n.Type != html.ElementNode {
			continue
		}
		tag := n.Data
		for _, a := range n.Attr {
			tag += " " + a.Key
		}
		// How many words a chart has room for depends on them.
		tags = append(tags, tag)
	}
	return tags
}

func TestNoNameChangesTheElementsOfThePage(t *testing.T) {
	want := shape(t, write(t, HTML, named(t, "a name"), Options{}))
	for _, name := range hostile {
		if diff := cmp.Diff(want, shape(t, write(t, HTML, named(t, name), Options{}))); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
}

// In Markdown, rendered with GitHub's extensions, there is no link and no markup
// but the report's own.
func TestNoNameIsMarkdown(t *testing.T) {
	render := func(name string) []string {
		var b strings.Builder
		if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(write(t, Markdown, named(t, name), Options{})), &b); err != nil {
			t.Fatal(err)
		}
		return shape(t, b.String())
	}
	want := render("a name")
	for _, name := range hostile {
		if diff := cmp.Diff(want, render(name)); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
}

// The text has neither control characters nor marks that change its direction.
func TestNoNameControlsATerminal(t *testing.T) {
	for _, name := range hostile {
		report := named(t, name)
		for _, form := range []Form{Text, Markdown, CSV, HTML, SVG} {
			for _, r := range write(t, form, report, Options{}) {
				if (r < ' ' && r != '\n') || r == 0x7f || r == 0x202e {
					t.Fatalf("%s of %q has %U", form, name, r)
				}
			}
		}
	}
}

func TestNoNameIsAFormula(t *testing.T) {
	for _, name := range hostile {
		rows, err := csv.NewReader(strings.NewReader(write(t, CSV, named(t, name), Options{}))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			for _, cell := range row {
				if cell != "" && strings.ContainsAny(cell[:1], "=+-@") && strings.Trim(cell, "+-0123456789.e") != "" {
					t.Errorf("%q", cell)
				}
			}
		}
	}
}

func TestPageShowsEveryName(t *testing.T) {
	for _, name := range hostile {
		root, err := html.Parse(strings.NewReader(write(t, HTML, named(t, name), Options{})))
		if err != nil {
			t.Fatal(err)
		}
		shown := false
		for n := range root.Descendants() {
			shown = shown || n.Type == html.TextNode && n.Parent.Data == "h1" && n.Data == "Benchmark "+codes(name)
		}
		if !shown {
			t.Errorf("%q is not the title", name)
		}
	}
}
