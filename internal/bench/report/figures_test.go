package report

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// expected figures of a variant in each form: means with their intervals, and every
// repeat, counted or not.
func (v Variant) expected(form Form) []string {
	var want []string
	for _, s := range []*statistics.Summary{v.TPS, v.LatencyP99} {
		switch {
		case s == nil:
		case form == CSV:
			want = append(want, exact(s.Mean), exact(s.Median))
		default:
			want = append(want, mean(s, ""))
		}
	}
	if form == SVG {
		return want
	}
	for _, r := range v.Repeats {
		for _, value := range []float64{r.TPS, r.LatencyAverage, r.LatencyP99} {
			switch {
			case value == 0:
			case form == CSV:
				want = append(want, exact(value))
			default:
				want = append(want, number(value))
			}
		}
	}
	for _, p := range v.Percentiles {
		if form == CSV {
			want = append(want, exact(p.Latency.Mean))
		} else {
			want = append(want, mean(&p.Latency, ""))
		}
	}
	for _, l := range v.Layers {
		want = append(want, l.Name)
	}
	return want
}

func TestEveryFigureIsShown(t *testing.T) {
	r := build(t, sample(t, versions...))
	for _, form := range []Form{Text, HTML, SVG, CSV, Markdown} {
		// Line ends, non-breaking spaces, units and escapes are of no interest here.
		got := strings.NewReplacer("\u00a0", " ", "\\", "", " ms [", " [").Replace(write(t, form, r, Options{Width: 400}))
		got = strings.Join(strings.Fields(got), " ")
		figures := 0
		for _, g := range r.Groups {
			for _, v := range g.Variants {
				for _, want := range append(v.expected(form), v.Name) {
					figures++
					if !strings.Contains(got, want) {
						t.Errorf("%s of variant %s: want the figure %q, got none", form, v.Name, want)
					}
				}
			}
		}
		if figures < 20 {
			t.Errorf("%s: the sample has %d figures, want more than 20", form, figures)
		}
	}
}

// sections of the page: its text by the heading of level 2 that it stands below.
func sections(page *html.Node) map[string]string {
	out, heading := map[string]string{}, ""
	for n := range page.Descendants() {
		if n.Type == html.ElementNode && n.Data == "h2" {
			heading = content(n)
		}
		if n.Type == html.TextNode {
			out[heading] += n.Data + "\n"
		}
	}
	return out
}

func TestVariantsStandInTheSectionOfTheirTierOnly(t *testing.T) {
	r := build(t, sample(t, versions...))
	bySection := sections(parsed(t, r))
	// The beginning and the setup stand beside the groups.
	if want := len(r.Groups) + 2; len(bySection) != want {
		t.Errorf("got %d sections, want %d", len(bySection), want)
	}
	for _, g := range r.Groups {
		for _, other := range r.Groups {
			text := bySection[other.title()]
			for _, v := range g.Variants {
				if v.Name == "level" {
					continue // a word of sentences too
				}
				if got, want := strings.Contains(text, v.Name), g.Durability == other.Durability; got != want {
					t.Errorf("section %q names %s of %s: got %v, want %v", other.title(), v.Name, g.Durability, got, want)
				}
			}
		}
	}
}

func TestTablesOfThePageAreRectangular(t *testing.T) {
	tables := 0
	for n := range parsed(t, build(t, sample(t, versions...))).Descendants() {
		if n.Type != html.ElementNode || n.Data != "table" {
			continue
		}
		tables++
		head, caption := 0, ""
		for part := range n.Descendants() {
			switch {
			case part.Type != html.ElementNode:
			case part.Data == "caption":
				caption = content(part)
			case part.Data == "tr":
				cells := 0
				for c := range part.ChildNodes() {
					if c.Data == "th" || c.Data == "td" {
						cells++
					}
				}
				if head == 0 {
					head = cells
				}
				if cells != head {
					t.Errorf("table %q: got a row of %d cells, want %d", caption, cells, head)
				}
			}
		}
		if head == 0 || caption == "" {
			t.Errorf("table %d: got %d columns and the caption %q, want some of both", tables, head, caption)
		}
	}
	if tables == 0 {
		t.Error("got no table")
	}
}

func TestEveryChartOfTheSVGFormNamesItsTier(t *testing.T) {
	r := build(t, sample(t, versions...))
	text := write(t, SVG, r, Options{})
	charts, err := r.allCharts()
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range r.Groups {
		if want := fmt.Sprintf("%s: %s", g.title(), r.verdict(g)); !strings.Contains(text, want) {
			t.Errorf("want %q in the description, got none", want)
		}
		for _, c := range charts[i].all() {
			if !strings.Contains(text, c.Title) {
				t.Errorf("want a chart %q, got none", c.Title)
			}
		}
	}
}
