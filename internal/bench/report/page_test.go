package report

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func parsed(t testing.TB, r Report) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(write(t, HTML, r, Options{})))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func content(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

func TestPageIsSelfContained(t *testing.T) {
	page := parsed(t, build(t, sample(t, versions...)))
	policy := ""
	for n := range page.Descendants() {
		switch n.Data {
		case "script", "link", "iframe", "img", "object", "embed", "audio", "video", "use", "image", "foreignObject", "base", "a":
			t.Errorf("an element %s", n.Data)
		case "meta":
			if attribute(n, "http-equiv") == "Content-Security-Policy" {
				policy = attribute(n, "content")
			}
		case "style":
			if text := content(n); strings.Contains(text, "url(") || strings.Contains(text, "@import") {
				t.Error("the style refers to something")
			}
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "src" || a.Key == "href" || a.Key != "xmlns" && strings.Contains(a.Val, "://") {
				t.Errorf("%s has %s=%q", n.Data, a.Key, a.Val)
			}
		}
	}
	if policy != "default-src 'none'; style-src 'unsafe-inline'" {
		t.Errorf("policy %q", policy)
	}
}

func TestChartsHaveTextAlternatives(t *testing.T) {
	page := parsed(t, build(t, sample(t, versions...)))
	byID, charts := map[string]*html.Node{}, []*html.Node{}
	for n := range page.Descendants() {
		if id := attribute(n, "id"); id != "" {
			if byID[id] != nil {
				t.Errorf("id %s twice", id)
			}
			byID[id] = n
		}
		if n.Type == html.ElementNode && n.Data == "svg" {
			charts = append(charts, n)
		}
	}
	for _, c := range charts {
		labels := strings.Fields(attribute(c, "aria-labelledby"))
		if attribute(c, "role") != "img" || len(labels) != 2 {
			t.Errorf("a chart without a role or two labels: %v", c.Attr)
			continue
		}
		for i, kind := range []string{"title", "desc"} {
			n := byID[labels[i]]
			if n == nil || n.Parent != c || n.Data != kind || len(content(n)) < 10 {
				t.Errorf("%s of a chart: %v", kind, n)
			}
		}
	}
	// Two figures and their heat maps, a percentile chart in each of two groups,
	// layers of one variant, TPS and latency of each of nine. Each is drawn wide and narrow.
	if want := 2 * (2*(2+2+1) + 1 + 2*9); len(charts) != want {
		t.Errorf("%d charts, want %d", len(charts), want)
	}
}

func TestEveryChartNamesItsTier(t *testing.T) {
	for _, g := range build(t, sample(t, versions...)).Groups {
		charts, err := build(t, sample(t, versions...)).charts(g)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range charts.all() {
			if !strings.HasSuffix(c.Title, "– durability "+string(g.Durability)) {
				t.Errorf("title %q", c.Title)
			}
		}
	}
}

func TestPageAdaptsToColourSchemeAndWidth(t *testing.T) {
	page := write(t, HTML, build(t, sample(t, versions...)), Options{})
	for _, part := range []string{
		`<meta name="viewport" content="width=device-width, initial-scale=1">`, `<meta name="color-scheme" content="light dark">`,
		"@media screen and (prefers-color-scheme: dark)", "@media (max-width: 40rem)", "@page { size: A4;", `<td role="cell" class="numeric figure">`, `<html lang="en">`,
	} {
		if !strings.Contains(page, part) {
			t.Errorf("no %s", part)
		}
	}
}
