package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/record"
	"github.com/pgstorage/pgstorage/internal/bench/report"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// The finding about a run without a record.
const (
	checkRecord         = "Record"
	reasonRecordMissing = "RecordMissing"
)

// recordOf returns the record of a benchmark, or why it has none.
func (g *assembly) recordOf(b *v1alpha1.PgBenchmark) (r record.Record, why string) {
	switch {
	case b == nil:
		return r, "its PgBenchmark, which owns the record, is missing or unreadable"
	case b.Status.Run == nil || b.Status.Run.Record == "":
		return r, "its runner stored no record"
	case g.records[b.Name] == nil:
		return r, "the ConfigMap of its record is missing or unreadable"
	}
	r, err := record.Decode(g.records[b.Name])
	if err != nil {
		return r, "its record is invalid: " + err.Error()
	}
	if r.Attempt != b.Status.Run.Attempt {
		return r, "its record belongs to another attempt than its status"
	}
	if r.Thinned > 1 {
		g.note("PgBenchmark %s: its record shows one of every %d seconds, because it has no room for all.", b.Name, r.Thinned)
	}
	if r.WithoutLatencies {
		g.note("PgBenchmark %s: its record has no latencies, because it has no room for them.", b.Name)
	}
	return r, ""
}

// addLayers adds the layers of a record to those of a variant.
func (g *assembly) addLayers(variant string, layers []record.Layer) {
	for _, l := range layers {
		if len(l.Milliseconds) == 0 && l.Bytes == nil {
			continue
		}
		known := g.layers[variant]
		at := slices.IndexFunc(known, func(k layer) bool { return k.Name == l.Name })
		if at < 0 {
			known, at = append(known, layer{LayerSummary: report.LayerSummary{Name: l.Name, Method: l.Method, Over: l.Over}}), len(known)
		}
		known[at].add(l)
		g.layers[variant] = known
	}
}

// add adds the measurements of another record.
func (l *layer) add(r record.Layer) {
	l.times = append(l.times, r.Milliseconds...)
	for to, counted := range map[*[]float64]*float64{&l.bytes: r.Bytes, &l.flushes: r.Flushes, &l.requests: r.Requests} {
		if counted != nil {
			*to = append(*to, *counted)
		}
	}
}

// missing is the cause why some runs have no record.
type missing struct {
	why  string
	runs []string
}

// addFromStatus adds a run without a record, with what its status says.
func (g *assembly) addFromStatus(run analysis.Trial, why string) {
	run.Facts.Workload.Writes = g.writes()
	run.Known = append(run.Known, validity.Finding{
		Check: checkRecord, Verdict: validity.Caution, Reason: reasonRecordMissing,
		Message: "only the status describes this run, so its course, percentiles and settings are unknown: " + why,
	})
	g.runs = append(g.runs, run)
	at := slices.IndexFunc(g.missing, func(m missing) bool { return m.why == why })
	if at < 0 {
		g.missing, at = append(g.missing, missing{why: why}), len(g.missing)
	}
	g.missing[at].runs = append(g.missing[at].runs, fmt.Sprintf("repeat %d of %s", run.Repeat, run.Variant))
}

// writes reports whether the workload may write.
func (g *assembly) writes() bool {
	scripts := []v1alpha1.Script{g.b.Spec.Pgbench.Script}
	if m := g.b.Spec.Matrix; m != nil {
		scripts = append(scripts, m.Scripts...)
	}
	return slices.ContainsFunc(scripts, func(s v1alpha1.Script) bool { return s != v1alpha1.ScriptSelectOnly })
}

// noteMissing adds a note about the runs without a record.
func (g *assembly) noteMissing() {
	const most = 3
	for _, m := range g.missing {
		named := strings.Join(m.runs[:min(most, len(m.runs))], "; ")
		if len(m.runs) > most {
			named += fmt.Sprintf("; and %d more", len(m.runs)-most)
		}
		g.note("Only the status describes %d run(s) (%s): %s.", len(m.runs), named, m.why)
	}
}
