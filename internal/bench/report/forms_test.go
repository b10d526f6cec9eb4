package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/internal/bench/analysis"
)

var update = flag.Bool("update", false, "write the golden files anew")

func write(t testing.TB, form Form, r Report, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, form, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Recorded runs are shown as people have seen them to be right.
func TestForms(t *testing.T) {
	r := build(t, sample(t))
	for form, file := range map[Form]string{
		Text: "report.golden.txt", HTML: "report.golden.html", SVG: "report.golden.svg",
		JSON: "report.golden.json", CSV: "report.golden.csv", Markdown: "report.golden.md",
	} {
		t.Run(string(form), func(t *testing.T) {
			got := write(t, form, r, Options{})
			if form == JSON {
				got = sixDigits(t, got)
			}
			golden(t, "testdata/"+file, got)
		})
	}
	if len(Forms) != 6 {
		t.Error("a form has no golden file")
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); if that is meant: go test with -update\n%s", path, diff)
	}
}

// sixDigits of the numbers in JSON: further ones differ between processors.
func sixDigits(t *testing.T, text string) string {
	t.Helper()
	var plain any
	if err := json.Unmarshal([]byte(text), &plain); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", " ")
	if err := e.Encode(rounded(plain)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func rounded(v any) any {
	switch v := v.(type) {
	case float64:
		if v != 0 {
			unit := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(v))))
			return math.Round(v*unit) / unit
		}
	case map[string]any:
		for key := range v {
			v[key] = rounded(v[key])
		}
	case []any:
		for i := range v {
			v[i] = rounded(v[i])
		}
	}
	return v
}

// What JSON holds is the report: read again, it is shown as before.
func TestReadAgain(t *testing.T) {
	r := build(t, sample(t))
	again, err := Read(strings.NewReader(write(t, JSON, r, Options{})))
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range Forms {
		if diff := cmp.Diff(write(t, form, r, Options{}), write(t, form, again, Options{})); diff != "" {
			t.Errorf("%s: %s", form, diff)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"kind":"BenchmarkReport","version":2}`: "version 2, and this program reads 1",
		`{"kind":"List"}`:                        `its kind is "List"`,
		`[]`:                                     "read a report",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if _, err := readAtMost(spaces{}, 1000); err == nil || !strings.Contains(err.Error(), "larger than 1000 bytes") {
		t.Errorf("what never ends: %v", err)
	}
	if _, err := Read(strings.NewReader(`{}`)); !errors.Is(err, ErrNotAReport) {
		t.Error(err)
	}
}

// spaces without end.
type spaces struct{}

func (spaces) Read(into []byte) (int, error) {
	for i := range into {
		into[i] = ' '
	}
	return len(into), nil
}

func TestUnknownForm(t *testing.T) {
	err := Write(io.Discard, "pdf", Report{}, Options{})
	if err == nil || err.Error() != `a report has no form "pdf": use one of text, html, svg, json, csv, markdown` {
		t.Error(err)
	}
}

// A report of nothing is a report.
func TestNothing(t *testing.T) {
	r := build(t, Input{About: About{Name: "x"}})
	for _, form := range Forms {
		write(t, form, r, Options{})
	}
	failed := build(t, Input{Analysis: mustAnalyse(t, []analysis.Trial{{Variant: "a", Repeat: 1, Tier: "Local", Failure: "no space"}})})
	for _, form := range Forms {
		if got := write(t, form, failed, Options{}); form != SVG && !strings.Contains(got, "no space") {
			t.Errorf("%s says nothing of the failure:\n%s", form, got)
		}
	}
}

func mustAnalyse(t testing.TB, runs []analysis.Trial) analysis.Analysis {
	t.Helper()
	a, err := analysis.Analyse(runs)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The CSV form is read by others.
func TestCSVIsWhole(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(write(t, CSV, build(t, sample(t)), Options{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	repeats, means := 0, 0
	for _, row := range rows[1:] {
		of := func(name string) string { return row[column[name]] }
		if of("kind") == "note" && of("notes") != "" {
			continue
		}
		if of("durability") == "" || of("kind") == "" {
			t.Errorf("without tier or kind: %q", row)
		}
		switch {
		case of("kind") == "repeat" && of("figure") == "TPS":
			repeats++
		case of("kind") == "mean" && of("n") != "1" && of("n") != "0":
			means++
			if of("lower") == "" || of("upper") == "" {
				t.Errorf("a mean without an interval: %q", row)
			}
		}
	}
	if repeats != 41 || means == 0 {
		t.Errorf("%d repeats, %d means", repeats, means)
	}
}

// The SVG form is XML, whose references lead somewhere.
func TestSVGIsXML(t *testing.T) {
	d := xml.NewDecoder(strings.NewReader(write(t, SVG, build(t, sample(t)), Options{})))
	ids, labels := map[string]bool{}, []string{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range start.Attr {
			switch a.Name.Local {
			case "id":
				if ids[a.Value] {
					t.Errorf("id %s twice", a.Value)
				}
				ids[a.Value] = true
			case "aria-labelledby":
				labels = append(labels, strings.Fields(a.Value)...)
			case "href", "src":
				t.Errorf("a reference in %v", start)
			}
		}
	}
	for _, l := range labels {
		if !ids[l] {
			t.Errorf("nothing has the id %s", l)
		}
	}
	if len(labels) == 0 {
		t.Error("no chart")
	}
}

// Colour is for terminals that were asked for.
func TestColour(t *testing.T) {
	r := build(t, sample(t))
	if strings.Contains(write(t, Text, r, Options{}), "\x1b") || !strings.Contains(write(t, Text, r, Options{Colour: true}), "\x1b[1m") {
		t.Error("escape sequences where there should be none, or none where asked for")
	}
}

// Paragraphs are kept to the width, and wide tables become records.
func TestWidth(t *testing.T) {
	r := build(t, sample(t))
	narrow, wide := write(t, Text, r, Options{Width: 60}), write(t, Text, r, Options{Width: 300})
	for line := range strings.Lines(narrow) {
		if n := len([]rune(strings.TrimSpace(line))); n > 84 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	if !strings.Contains(wide, "rank  TPS, mean") || !strings.Contains(narrow, "  TPS, mean") {
		t.Error("tables do not follow the width")
	}
}
