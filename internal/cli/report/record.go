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

// What is found of a run of which only the status tells.
const (
	checkRecord         = "Record"
	reasonRecordMissing = "RecordMissing"
)

// recordOf a benchmark, or why there is none.
func (g *gathered) recordOf(b *v1alpha1.PgBenchmark) (r record.Record, why string) {
	switch {
	case b == nil:
		return r, "its PgBenchmark, which had the record, is not there or was not read"
	case b.Status.Run == nil || b.Status.Run.Record == "":
		return r, "its runner kept no record"
	case g.records[b.Name] == nil:
		return r, "the ConfigMap of its record is not there or was not read"
	}
	r, err := record.Decode(g.records[b.Name])
	if err != nil {
		return r, "its record is not understood: " + err.Error()
	}
	if r.Attempt != b.Status.Run.Attempt {
		return r, "its record is of another attempt than its status"
	}
	if r.Thinned > 1 {
		g.note("PgBenchmark %s: each of its seconds stands for %d, since its record had no room for all.", b.Name, r.Thinned)
	}
	if r.WithoutLatencies {
		g.note("PgBenchmark %s: its latencies were not kept, since its record had no room for them.", b.Name)
	}
	return r, ""
}

// addLayers of a record to those of a variant.
func (g *gathered) addLayers(variant string, layers []record.Layer) {
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

// add what another record has of the layer.
func (l *layer) add(r record.Layer) {
	l.times = append(l.times, r.Milliseconds...)
	for to, counted := range map[*[]float64]*float64{&l.bytes: r.Bytes, &l.flushes: r.Flushes, &l.requests: r.Requests} {
		if counted != nil {
			*to = append(*to, *counted)
		}
	}
}

// missing record of some runs, and why.
type missing struct {
	why  string
	runs []string
}

// fallBack to what a status says of a run.
func (g *gathered) fallBack(run analysis.Trial, why string) {
	run.Facts.Workload.Writes = g.writes()
	run.Known = append(run.Known, validity.Finding{
		Check: checkRecord, Verdict: validity.Caution, Reason: reasonRecordMissing,
		Message: "only the status tells of this run; its course, percentiles and settings are not known: " + why,
	})
	g.runs = append(g.runs, run)
	at := slices.IndexFunc(g.without, func(m missing) bool { return m.why == why })
	if at < 0 {
		g.without, at = append(g.without, missing{why: why}), len(g.without)
	}
	g.without[at].runs = append(g.without[at].runs, fmt.Sprintf("repeat %d of %s", run.Repeat, run.Variant))
}

// writes says that the workload writes, where that cannot be excluded.
func (g *gathered) writes() bool {
	scripts := []v1alpha1.Script{g.b.Spec.Pgbench.Script}
	if m := g.b.Spec.Matrix; m != nil {
		scripts = append(scripts, m.Scripts...)
	}
	return slices.ContainsFunc(scripts, func(s v1alpha1.Script) bool { return s != v1alpha1.ScriptSelectOnly })
}

// missed notes the runs without a record.
func (g *gathered) missed() {
	const most = 3
	for _, m := range g.without {
		named := strings.Join(m.runs[:min(most, len(m.runs))], "; ")
		if len(m.runs) > most {
			named += fmt.Sprintf("; and %d more", len(m.runs)-most)
		}
		g.note("Of %d run(s) only the status tells (%s): %s.", len(m.runs), named, m.why)
	}
}
