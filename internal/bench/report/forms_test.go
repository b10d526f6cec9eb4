package report

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/comparison"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

func write(t testing.TB, form Form, r Report, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, form, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Reviewed golden files have the forms that people read as text. TestEveryFigureIsShown and the
// tests beside it check invariants of the other forms.
func TestTextFormsAreAsReviewed(t *testing.T) {
	r := build(t, sample(t, "17"))
	for form, file := range map[Form]string{Text: "report.golden.txt", CSV: "report.golden.csv", Markdown: "report.golden.md"} {
		t.Run(string(form), func(t *testing.T) {
			golden.Text(t, filepath.Join("testdata", file), write(t, form, r, Options{}))
		})
	}
}

func TestJSONIsReadBackUnchanged(t *testing.T) {
	r := build(t, sample(t, versions...))
	again, err := Read(strings.NewReader(write(t, JSON, r, Options{})))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, again, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(comparison.Difference{})); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
}

// Programs and older reports rely on the names of the fields.
func TestJSONFieldsAreAsReviewed(t *testing.T) {
	var plain any
	if err := json.Unmarshal([]byte(write(t, JSON, build(t, sample(t, versions...)), Options{})), &plain); err != nil {
		t.Fatal(err)
	}
	fields := map[string]bool{}
	collectFields(plain, "", fields)
	golden.Text(t, filepath.Join("testdata", "fields.golden.txt"), strings.Join(slices.Sorted(maps.Keys(fields)), "\n")+"\n")
}

// collectFields of JSON as paths with their types, for example "groups[].variants[].name string".
func collectFields(v any, path string, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if strings.HasSuffix(path, ".values") {
				key = "*" // the names of axes
			}
			collectFields(value, strings.TrimPrefix(path+"."+key, "."), into)
		}
	case []any:
		for _, value := range v {
			collectFields(value, path+"[]", into)
		}
	default:
		into[fmt.Sprintf("%s %T", path, v)] = true
	}
}

func TestReadRejectsOtherKindsVersionsAndSizes(t *testing.T) {
	for text, want := range map[string]string{
		`{"kind":"BenchmarkReport","version":2}`: "version 2 is not supported, want 1",
		`{"kind":"List"}`:                        `kind is "List"`,
		`[]`:                                     "read a report",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if _, err := readAtMost(spaces{}, 1000); err == nil || !strings.Contains(err.Error(), "exceeds 1000 bytes") {
		t.Errorf("what never ends: %v", err)
	}
	if _, err := Read(strings.NewReader(`{}`)); !errors.Is(err, ErrNotAReport) {
		t.Error(err)
	}
}

// A file that was edited can lack what the forms show.
func TestReadNamesTheFieldThatIsMissing(t *testing.T) {
	const variant = `"variants":[{"name":"a","tps":{"n":1,"mean":1}}]`
	for group, want := range map[string]string{
		`{"durability":"Local"}`:                                                     "groups[1].variants is empty",
		`{"durability":"Local","variants":[]}`:                                       "groups[1].variants is empty",
		`{` + variant + `,"deltas":[{"rows":[{"name":"a","newSummary":{}}]}]}`:       "groups[1].deltas[0].rows[0].oldSummary is missing",
		`{` + variant + `,"deltas":[{},{"rows":[{"name":"a","oldSummary":{}}]}]}`:    "groups[1].deltas[1].rows[0].newSummary is missing",
		`{` + variant + `,"ranking":[{"variant":"a","rank":-1}]}`:                    "groups[1].ranking[0].rank is -1, want 0 or more",
		`{` + variant + `,"settings":{"variants":["a"],"different":[{"name":"b"}]}}`: "groups[1].settings.different[0].values has 0 values, want 1",
		`{"variants":[{"name":"a","layers":[{"name":"b","over":"b"}]}]}`:             `groups[1].variants[0].layers: layer "b" is above "b"`,
	} {
		text := `{"kind":"BenchmarkReport","version":1,"groups":[{` + variant + `},` + group + `]}`
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", group, err, want)
		}
	}
	whole, err := Read(strings.NewReader(`{"kind":"BenchmarkReport","version":1,"groups":[{` + variant + `,"ranking":[{"variant":"a","rank":1}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range Forms {
		write(t, form, whole, Options{})
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

func TestUnknownFormIsRejected(t *testing.T) {
	err := Write(io.Discard, "pdf", Report{}, Options{})
	if err == nil || err.Error() != `unknown report form "pdf": use one of text, html, svg, json, csv, markdown` {
		t.Error(err)
	}
}

func TestReportWithoutRunsIsWrittenInEveryForm(t *testing.T) {
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

func TestCSVHasEveryRepeatAndInterval(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(write(t, CSV, build(t, sample(t, versions...)), Options{}))).ReadAll()
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

func TestSVGIsXMLWithResolvedReferences(t *testing.T) {
	d := xml.NewDecoder(strings.NewReader(write(t, SVG, build(t, sample(t, versions...)), Options{})))
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

func TestColourIsOptIn(t *testing.T) {
	r := build(t, sample(t, versions...))
	if strings.Contains(write(t, Text, r, Options{}), "\x1b") || !strings.Contains(write(t, Text, r, Options{Colour: true}), "\x1b[1m") {
		t.Error("escape sequences where there should be none, or none where asked for")
	}
}

func TestTextWrapsAtTheWidth(t *testing.T) {
	r := build(t, sample(t, versions...))
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
