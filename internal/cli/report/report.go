package report

import (
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/bench/report"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
)

// Assemble returns the report on a benchmark, single or matrix, complete or not. Of several it
// shows the variants side by side.
func Assemble(benchmarks ...snapshot.Records) (report.Report, error) {
	var inputs []report.Input
	for _, s := range benchmarks {
		in, err := input(s)
		if err != nil {
			return report.Report{}, err
		}
		inputs = append(inputs, in)
	}
	if len(inputs) == 1 {
		return report.Build(inputs[0])
	}
	in, err := report.Together(inputs)
	if err != nil {
		return report.Report{}, err
	}
	return report.Build(in)
}

// input of the report on one benchmark.
func input(s snapshot.Records) (report.Input, error) {
	g := &assembly{b: s.Benchmark, records: s.ByBenchmark, children: s.Runs, layers: map[string][]layer{}}
	for _, u := range s.Unread {
		g.note("Cannot read %s: %s.", u.What, u.Why)
	}
	in := report.Input{About: about(s.Benchmark), Gate: gate(s.Benchmark)}
	var err error
	if s.Benchmark.Spec.Matrix == nil {
		err = g.single(&in)
	} else {
		err = g.matrix(&in)
	}
	if err != nil {
		return report.Input{}, err
	}
	if in.Layers, err = g.summariseLayers(); err != nil {
		return report.Input{}, err
	}
	g.noteMissing()
	in.Runs, in.Notes = g.runs, g.notes
	if in.Analysis, err = analysis.Analyse(g.runs); err != nil {
		return report.Input{}, err
	}
	return in, nil
}

// assembly collects what a report is built from.
type assembly struct {
	b        *v1alpha1.PgBenchmark
	records  map[string]map[string][]byte
	children map[string]*v1alpha1.PgBenchmark

	runs   []analysis.Trial
	layers map[string][]layer
	// missing are the runs without a record, grouped by cause.
	missing []missing
	notes   []string
}

// note adds a note to the report.
func (g *assembly) note(format string, args ...any) {
	g.notes = append(g.notes, fmt.Sprintf(format, args...))
}

// varied returns the settings that a matrix varies: the axes that are Postgres parameters.
func varied(axes []matrix.Axis) map[fingerprint.Group][]string {
	var names []string
	for _, a := range axes {
		names = append(names, a.Name)
	}
	return map[fingerprint.Group][]string{fingerprint.Postgres: names}
}

// layer is a storage layer with the measurements of all records.
type layer struct {
	report.LayerSummary
	times, bytes, flushes, requests []float64
}

// summariseLayers returns the layers by variant, each summarised over its records.
func (g *assembly) summariseLayers() (map[string][]report.LayerSummary, error) {
	out := map[string][]report.LayerSummary{}
	for variant, layers := range g.layers {
		for _, l := range layers {
			if err := l.summarise(); err != nil {
				return nil, fmt.Errorf("layer %s of variant %q: %w", l.Name, variant, err)
			}
			out[variant] = append(out[variant], l.LayerSummary)
		}
	}
	return out, nil
}

// summarise summarises all records, and omits what they did not measure or count.
func (l *layer) summarise() error {
	var time *statistics.Summary
	for _, f := range []struct {
		of []float64
		to **statistics.Summary
	}{{l.times, &time}, {l.bytes, &l.Bytes}, {l.flushes, &l.Flushes}, {l.requests, &l.Requests}} {
		if len(f.of) == 0 {
			continue
		}
		s, err := statistics.Summarise(f.of)
		if err != nil {
			return err
		}
		*f.to = &s
	}
	if time != nil {
		l.Time = *time
	}
	return nil
}
