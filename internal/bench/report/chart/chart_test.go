package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// samples of every kind of chart.
func samples(t testing.TB, name string) []Chart {
	t.Helper()
	var all []Chart
	add := func(c Chart, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	rows := []Row{
		{Name: name, Note: name, Mean: new(10.0), Interval: &Range{-1, 12}, Values: []float64{8, 12}, Rejected: []float64{30}, Below: 4},
		{Name: "failed"},
		{Name: "alone", Mean: new(3.0), Values: []float64{3}},
	}
	add(Intervals("title", "text", Axis{Label: "TPS"}, rows))
	add(Bars("title", "text", "ms", rows))
	var curves []Curve
	for range MostCurves {
		curves = append(curves, Curve{
			Name: name, Count: 1000, Points: []Point{{0, 0.5}, {50, 1}, {99, 20}, {100, 90}},
			Intervals: []PercentInterval{{50, 1, Range{-3, 4}}},
		})
	}
	add(Percentiles("title", "text", curves))
	add(Percentiles("title", "text", []Curve{{Name: "flat", Count: 3, Points: []Point{{0, 5}, {100, 6}}}}))
	add(OverTime("title", "text", Axis{Label: "TPS"}, []Line{
		{Name: name, Points: []Point{{1, 5}, {2, 7}}, Events: []Event{{1, 1.5, "A", name}, {1.2, 1.4, "B", name}, {1.5, 1.5, "C", name}, {1.9, 2.5, "D", name}}},
		{Name: name, Points: []Point{{1, 0}, {2, 1}}, Rejected: true}, {},
	}))
	add(OverTime("title", "text", Axis{Label: "TPS"}, nil))
	add(HeatMap("title", "text", Grid{
		ColumnAxis: name, RowAxis: name, Columns: []string{name, "b", "c", "d", "e"}, Rows: []string{"x", name},
		Cells: [][]Cell{
			{{new(1.0), []string{"one", name}}, {new(2.0), nil}, {nil, []string{"failed"}}, {new(3.0), nil}, {new(4.0), nil}},
			{{new(5.0), nil}, {new(6.0), nil}, {new(7.0), nil}, {new(8.0), nil}, {new(9.0), []string{"nine"}}},
		},
	}))
	add(HeatMap("title", "text", Grid{Columns: []string{"a"}, Rows: []string{"b"}, Cells: [][]Cell{{{new(7.0), []string{"7"}}}}}))
	return all
}

// elements of a document, each with its attributes.
func elements(t testing.TB, document string) []xml.StartElement {
	t.Helper()
	// An element of a page has two roots.
	d := xml.NewDecoder(strings.NewReader("<root>" + document + "</root>"))
	var all []xml.StartElement
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, document)
		}
		if start, ok := token.(xml.StartElement); ok {
			all = append(all, start.Copy())
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// Every mark has a colour that a dark page changes, or is part of a heat map.
func TestColoursFollowThePage(t *testing.T) {
	pinned := map[string]bool{"none": true, hex(onLight.light): true, hex(onDark.light): true}
	for _, c := range samples(t, "name") {
		heat := 0
		for _, e := range elements(t, c.Element("x")) {
			fill, stroke, class := attribute(e, "fill"), attribute(e, "stroke"), attribute(e, "class")
			switch e.Name.Local {
			case "text":
				if fill == "" || !pinned[fill] && !strings.Contains(class, "fill-") {
					t.Errorf("a text in %q of class %q", fill, class)
				}
			case "path":
				if stroke != "" && !strings.Contains(class, "stroke-") {
					t.Errorf("a line in %q of class %q", stroke, class)
				}
				if stroke == "" && fill == "" {
					t.Error("a shape without a colour")
				}
				if stroke == "" && !strings.Contains(class, "fill-") {
					heat++
				}
			}
			if attribute(e, "style") != "" {
				t.Errorf("a style that no style sheet can overrule: %v", e.Attr)
			}
		}
		if heat > 0 && !strings.Contains(c.wide.body, ">worse<") {
			t.Errorf("%d shapes keep their colour", heat)
		}
	}
}

// Every cell of a heat map is drawn.
func TestHeatMapIsWhole(t *testing.T) {
	// Every cell has a border, also one without a value.
	for cells, c := range map[int]Chart{10: samples(t, "name")[6], 1: samples(t, "name")[7]} {
		for _, d := range []drawing{c.wide, c.narrow} {
			if n := strings.Count(d.body, `class="stroke-rule"`); n != cells {
				t.Errorf("%d cells, want %d", n, cells)
			}
		}
	}
	if _, err := HeatMap("", "", Grid{Columns: []string{"a"}, Rows: []string{"b"}, Cells: [][]Cell{{{}}}}); !errors.Is(err, errNoCells) {
		t.Error(err)
	}
}

// No name changes what a chart is made of.
func TestNoNameIsMarkup(t *testing.T) {
	shape := func(name string) []string {
		var tags []string
		for _, e := range elements(t, Document(name, []string{name}, samples(t, name))) {
			if e.Name.Local != "text" {
				tags = append(tags, e.Name.Local)
			}
		}
		return tags
	}
	want := shape("name")
	for _, name := range []string{`<script>`, `</text></svg>`, `" onload="x`, `style="fill:#000000"`, `&amp;`, `]]>`, `#1b1f24`, strings.Repeat("long ", 50)} {
		if diff := cmp.Diff(want, shape(name)); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
	if c := samples(t, "#1B1F24 1.2345")[0]; !strings.Contains(c.wide.body, ">#1B1F24 1.2345<") {
		t.Error("a name was taken for a colour or a number of the drawing")
	}
}

// What lies outside of a chart is not seen.
func TestNothingIsCutOff(t *testing.T) {
	for _, c := range samples(t, "a name that is far too long to be shown in a chart of a telephone's width, and goes on") {
		for class, drawn := range map[string]drawing{"wide": c.wide, "narrow": c.narrow} {
			for _, e := range elements(t, c.svg("x", class, drawn, drawn.width)) {
				for _, p := range coordinates(t, attribute(e, "d")) {
					if p.X < -1 || p.X > float64(drawn.width)+1 || p.Y < -1 || p.Y > float64(drawn.height)+1 {
						t.Errorf("%q, %s: %v is outside of %v x %v", c.Title, class, p, drawn.width, drawn.height)
					}
				}
			}
		}
	}
}

func coordinates(t testing.TB, path string) []Point {
	t.Helper()
	var all []Point
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return r == 'M' || r == 'L' || r == 'Z' }) {
		if strings.Contains(part, "A") {
			// Where an arc begins is enough.
			part, _, _ = strings.Cut(part, "A")
		}
		x, y, ok := strings.Cut(part, ",")
		if !ok {
			continue
		}
		all = append(all, Point{parse(t, x), parse(t, y)})
	}
	return all
}

// Thinned out, a line keeps its first stall and its peak.
func TestThin(t *testing.T) {
	points := make([]Point, 10000)
	for i := range points {
		points[i] = Point{float64(i), 100}
	}
	points[1234].Y, points[7777].Y = 0, 500
	kept := thin(points, mostPoints)
	if len(kept) > mostPoints {
		t.Errorf("%d points", len(kept))
	}
	least, most, last := math.Inf(1), 0.0, -1.0
	for _, p := range kept {
		least, most = math.Min(least, p.Y), math.Max(most, p.Y)
		if p.X <= last {
			t.Errorf("%v is not after %v", p.X, last)
		}
		last = p.X
	}
	if least != 0 || most != 500 {
		t.Errorf("from %v to %v", least, most)
	}
	if got := thin(points[:5], 5); len(got) != 5 {
		t.Errorf("%d of few", len(got))
	}
}

func TestNines(t *testing.T) {
	for percent, want := range map[float64]float64{0: 0, 90: 1, 99: 2, 99.9: 3, 100: 4} {
		if got := nines(percent, 10000); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v %%: %v", percent, got)
		}
	}
}

func TestLogTicks(t *testing.T) {
	labels := func(r Range) string {
		var all []string
		for _, tick := range logTicks(r) {
			if tick.Label != "" {
				all = append(all, tick.Label)
			}
		}
		return strings.Join(all, " ")
	}
	if got := labels(Range{0.8, 110}); got != "1 2 5 10 20 50 100" {
		t.Error(got)
	}
	if got := labels(Range{0.01, 1000}); got != "0.01 0.1 1 10 100 1000" {
		t.Error(got)
	}
}

func TestFit(t *testing.T) {
	style := textStyle(textSize, ink)
	long := strings.Repeat("abc ", 100)
	if got := fit(long, style, 100); style.Width(got) > 100 || !strings.Contains(got, "…") || !strings.HasSuffix(got, "c ") || len(got) < 10 {
		t.Errorf("%q", got)
	}
	if got := fit("short", style, 100); got != "short" {
		t.Error(got)
	}
	for _, line := range wrap(long, style, 100) {
		if style.Width(line) > 100 {
			t.Errorf("%q", line)
		}
	}
	if got := strings.Join(wrap("a  b\nc", style, 100), "|"); got != "a b c" {
		t.Error(got)
	}
}

func TestRefuses(t *testing.T) {
	if _, err := Percentiles("", "", make([]Curve, MostCurves+1)); err == nil {
		t.Error("more curves than can be told apart")
	}
	if _, err := Intervals("", "", Axis{}, []Row{{Mean: new(math.NaN())}}); err == nil {
		t.Error("a mean that is no number")
	}
	if _, err := OverTime("", "", Axis{}, []Line{{Points: []Point{{1, math.Inf(1)}}}}); err == nil {
		t.Error("an infinite rate")
	}
}
