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

// Report on a benchmark, single or matrix, as far as it is.
func Report(s snapshot.Measured) (report.Report, error) {
	g := &gathered{b: s.Benchmark, records: s.Records, children: s.Runs, layers: map[string][]layer{}}
	for _, u := range s.Unread {
		g.note("%s could not be read: %s.", u.What, u.Why)
	}
	in := report.Input{About: about(s.Benchmark)}
	var err error
	if s.Benchmark.Spec.Matrix == nil {
		err = g.single(&in)
	} else {
		err = g.matrix(&in)
	}
	if err != nil {
		return report.Report{}, err
	}
	if in.Layers, err = g.summarised(); err != nil {
		return report.Report{}, err
	}
	g.missed()
	in.Runs, in.Notes = g.runs, g.notes
	if in.Analysis, err = analysis.Analyse(g.runs); err != nil {
		return report.Report{}, err
	}
	return report.Build(in)
}

// gathered is what a report is made of, so far.
type gathered struct {
	b        *v1alpha1.PgBenchmark
	records  map[string]map[string][]byte
	children map[string]*v1alpha1.PgBenchmark

	runs   []analysis.Run
	layers map[string][]layer
	// without are runs of which only the status tells, and why, by reason in the
	// order in which they were met.
	without []missing
	notes   []string
}

func (g *gathered) note(format string, args ...any) {
	g.notes = append(g.notes, fmt.Sprintf(format, args...))
}

// varied settings of the server: the axes that are parameters of it.
func varied(axes []matrix.Axis) map[fingerprint.Group][]string {
	var names []string
	for _, a := range axes {
		names = append(names, a.Name)
	}
	return map[fingerprint.Group][]string{fingerprint.Postgres: names}
}

// layer as one record has it, with what all records have measured of it.
type layer struct {
	report.Layer
	times, bytes, flushes, requests []float64
}

// summarised layers by variant.
func (g *gathered) summarised() (map[string][]report.Layer, error) {
	out := map[string][]report.Layer{}
	for variant, layers := range g.layers {
		for _, l := range layers {
			if err := l.summarise(); err != nil {
				return nil, fmt.Errorf("layer %s of variant %q: %w", l.Name, variant, err)
			}
			out[variant] = append(out[variant], l.Layer)
		}
	}
	return out, nil
}

// summarise over all records. What was not measured, or not counted, stays away.
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
