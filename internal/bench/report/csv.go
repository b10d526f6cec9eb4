package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// columns of the CSV form; those of the axes follow.
var columns = []string{"benchmark", "durability", "kind", "variant", "baseline", "repeat", "counted", "figure", "unit", "value", "lower", "upper", "n", "p", "verdict", "notes"}

// record of the CSV form, one figure.
type record struct {
	kind, variant, baseline, repeat, counted string
	figure, unit, value, lower, upper        string
	n, p, verdict, notes                     string
}

// writeCSV writes one line for each figure.
func writeCSV(w io.Writer, r Report) error {
	c := csv.NewWriter(w)
	head := slices.Clone(columns)
	for _, a := range r.Axes {
		head = append(head, "axis "+a.Name)
	}
	lines := [][]string{head}
	for _, note := range r.caveats() {
		lines = append(lines, r.line(Group{}, nil, record{kind: "note", notes: note}))
	}
	for _, g := range r.Groups {
		for _, v := range g.ordered() {
			for _, rec := range append(v.summaries(), v.repeats()...) {
				lines = append(lines, r.line(g, v.Values, rec))
			}
		}
		for _, rec := range g.differences() {
			lines = append(lines, r.line(g, nil, rec))
		}
	}
	for _, l := range lines {
		for i := range l {
			l[i] = inert(l[i])
		}
	}
	return c.WriteAll(lines)
}

func (r Report) line(g Group, values map[string]string, rec record) []string {
	line := []string{
		r.About.Name, string(g.Durability), rec.kind, rec.variant, rec.baseline, rec.repeat, rec.counted, rec.figure, rec.unit,
		rec.value, rec.lower, rec.upper, rec.n, rec.p, rec.verdict, rec.notes,
	}
	for _, a := range r.Axes {
		line = append(line, values[a.Name])
	}
	return line
}

// inert neutralises text that a spreadsheet would evaluate as a formula
// (https://owasp.org/www-community/attacks/CSV_Injection). Numbers stay unchanged.
func inert(text string) string {
	if text == "" || !strings.ContainsRune("=+-@", rune(text[0])) {
		return text
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text
	}
	return "'" + text
}

// exact figure to six digits; further ones differ between processors.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// summaries of a variant.
func (v Variant) summaries() []record {
	var out []record
	add := func(kind, figure, unit string, value float64, i *statistics.Interval, n int) {
		rec := record{kind: kind, variant: v.Name, figure: figure, unit: unit, value: exact(value), n: strconv.Itoa(n), notes: v.flagged()}
		if i != nil {
			rec.lower, rec.upper = exact(i.Lower), exact(i.Upper)
		}
		out = append(out, rec)
	}
	for _, f := range []struct {
		name, unit string
		*statistics.Summary
	}{{"TPS", "1/s", v.TPS}, {"average latency", "ms", v.LatencyAverage}, {"p99 latency", "ms", v.LatencyP99}} {
		if f.Summary != nil {
			add("mean", f.name, f.unit, f.Mean, f.Interval, f.N)
			add("median", f.name, f.unit, f.Median, f.MedianInterval, f.N)
		}
	}
	for _, p := range v.Percentiles {
		add("mean", "latency at "+exact(p.Percent)+" %", "ms", p.Latency.Mean, p.Latency.Interval, p.Latency.N)
	}
	for _, l := range v.Layers {
		if l.timed() {
			add("mean", "layer "+l.Name, "ms", l.Time.Mean, l.Time.Interval, l.Time.N)
		}
		for _, f := range []struct {
			name, unit string
			*statistics.Summary
		}{{"bytes", "B/tx", l.Bytes}, {"requests", "1/tx", l.Requests}, {"flushes", "1/tx", l.Flushes}} {
			if f.Summary != nil {
				add("mean", "layer "+l.Name+" "+f.name, f.unit, f.Mean, f.Interval, f.N)
			}
		}
	}
	if v.TPS == nil {
		out = append(out, record{kind: "mean", variant: v.Name, figure: "TPS", unit: "1/s", n: "0", notes: v.flagged()})
	}
	return out
}

// repeats returns the figures of each repeat.
func (v Variant) repeats() []record {
	var out []record
	for _, r := range v.Repeats {
		for _, f := range []struct {
			name, unit string
			value      float64
		}{{"TPS", "1/s", r.TPS}, {"average latency", "ms", r.LatencyAverage}, {"p99 latency", "ms", r.LatencyP99}} {
			if f.value == 0 && r.Counted {
				continue
			}
			rec := record{kind: "repeat", variant: v.Name, repeat: strconv.Itoa(r.Number), counted: strconv.FormatBool(r.Counted), figure: f.name, unit: f.unit, notes: r.exclusion()}
			if f.value != 0 {
				rec.value = exact(f.value)
			}
			out = append(out, rec)
		}
	}
	return out
}

// differences of a group, as ratios.
func (g Group) differences() []record {
	var out []record
	for _, d := range g.Differences {
		rec := record{kind: "difference", variant: d.Variant, baseline: d.Baseline, figure: "TPS", unit: "ratio", p: exact(d.P), verdict: string(d.Verdict), notes: d.Message}
		if c := d.Comparison; c != nil {
			rec.value, rec.lower, rec.upper = exact(c.Ratio), exact(c.Interval.Lower), exact(c.Interval.Upper)
		}
		out = append(out, rec)
	}
	return out
}
