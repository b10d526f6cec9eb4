//go:build linux

package zfs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/comparison"
	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/report"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/bench/zfs/cell"
)

// bytesWritten for each transaction, checkpoint included.
var bytesWritten = comparison.Figure{Name: "bytes written per transaction", Unit: "B", LowerIsBetter: true}

// matrixOf is the matrix as the operator's own analysis has it.
type matrixOf struct {
	runs     []analysis.Trial
	analysis analysis.Analysis
	// groups of what is compared within a tier.
	groups []group
}

// group of one tier: the variants in the plan's order, and how each differs from the
// profile.
type group struct {
	durable    bool
	variants   []analysis.Variant
	tps, bytes map[string]comparison.Difference
	// written are the bytes of each variant's repeats that count, by repeat.
	written map[string]map[int]float64
}

// analyse the turns.
func (m *measured) analyse(o options) (matrixOf, error) {
	var x matrixOf
	for _, c := range m.turns {
		r, err := m.run(o, c)
		if err != nil {
			return x, err
		}
		x.runs = append(x.runs, r)
	}
	var err error
	if x.analysis, err = analysis.Analyse(x.runs); err != nil {
		return x, err
	}
	for _, durable := range []bool{true, false} {
		g, err := x.group(m.turns, durable)
		if err != nil {
			return x, err
		}
		x.groups = append(x.groups, g)
	}
	return x, nil
}

// run as it was observed.
func (m *measured) run(o options, c cell.Cell) (analysis.Trial, error) {
	r := analysis.Trial{
		Variant: name(c.Configuration, c.Durable), Repeat: c.Round, Tier: harness.Group{Durable: c.Durable}.Tier(),
		Result: c.Result, Latencies: c.Latencies, Settings: fingerprint.Settings{},
	}
	if r.Result == nil {
		return r, fmt.Errorf("a turn of %s has no result", c.Configuration)
	}
	for i, tps := range c.Rates {
		r.Seconds = append(r.Seconds, pgbench.Progress{At: time.Duration(i+1) * time.Second, TPS: tps})
	}
	for property, value := range m.facts.Properties[c.Configuration] {
		r.Settings.Set(fingerprint.Storage, property, value)
	}
	for parameter, value := range m.facts.Parameters[c.Configuration] {
		r.Settings.Set(fingerprint.Postgres, parameter, value)
	}
	r.Settings.Set(fingerprint.Postgres, "synchronous_commit", map[bool]string{true: "on", false: "off"}[c.Durable])
	r.Settings.Set(fingerprint.Versions, "postgres", m.facts.Postgres)
	r.Settings.Set(fingerprint.Versions, "zfs", m.facts.ZFS)
	r.Settings.Set(fingerprint.Kernel, "release", m.facts.Kernel)
	r.Facts.Workload.Writes = true
	if c.Running.Flushes > 0 {
		r.Facts.Flush = &validity.Flush{
			Measured: time.Duration(c.Running.FlushMillis) * time.Millisecond / time.Duration(c.Running.Flushes),
			// The guest has a clock of its own.
			Floor: o.Flush * 9 / 10, Source: "the disk of this benchmark",
		}
	}
	var err error
	r.Facts.Dataset, err = m.dataset(o, c.Configuration)
	return r, err
}

// dataset against what can keep it in memory; nil where that has no bound.
func (m *measured) dataset(o options, variant string) (*validity.Dataset, error) {
	pages, err := strconv.ParseInt(m.facts.Parameters[variant]["shared_buffers"], 10, 64)
	if err != nil || o.ARC == "" {
		return nil, err
	}
	arc, err := resource.ParseQuantity(o.ARC)
	const page = 8192 // in which pg_settings has it
	return &validity.Dataset{Size: m.facts.DatabaseBytes, SharedBuffers: pages * page, Cache: arc.Value(), CacheIsARC: true}, err
}

// group of a tier. Whatever rejects a repeat's rate rejects its bytes.
func (x matrixOf) group(turns []cell.Cell, durable bool) (group, error) {
	g := group{durable: durable, written: map[string]map[int]float64{}}
	var tps, written []comparison.Sample
	for _, planned := range variants {
		at := slices.IndexFunc(x.analysis.Variants, func(v analysis.Variant) bool { return v.Name == name(planned.Name, durable) })
		if at < 0 {
			return g, fmt.Errorf("variant %q was not measured", name(planned.Name, durable))
		}
		v := x.analysis.Variants[at]
		g.variants = append(g.variants, v)
		rates, bytes := map[int]float64{}, map[int]float64{}
		for _, repeat := range v.Repeats {
			if !repeat.Counted {
				continue
			}
			rates[repeat.Repeat] = repeat.TPS
			for _, c := range turns {
				if c.Configuration == planned.Name && c.Durable == durable && c.Round == repeat.Repeat {
					bytes[repeat.Repeat] = c.PerTransaction(c.Settled.WriteBytes)
				}
			}
		}
		g.written[v.Name] = bytes
		tps = append(tps, comparison.Sample{Variant: v.Name, Tier: harness.Group{Durable: durable}.Tier(), Values: rates})
		written = append(written, comparison.Sample{Variant: v.Name, Tier: harness.Group{Durable: durable}.Tier(), Values: bytes})
	}
	var err error
	if g.tps, err = againstProfile(comparison.TPS, tps, durable); err != nil {
		return g, err
	}
	g.bytes, err = againstProfile(bytesWritten, written, durable)
	return g, err
}

// againstProfile compares every variant of a tier with the profile.
func againstProfile(figure comparison.Figure, results []comparison.Sample, durable bool) (map[string]comparison.Difference, error) {
	groups, err := comparison.ByTier(figure, results)
	if err != nil || len(groups) != 1 {
		return nil, errors.Join(errors.New("no repeat of any variant counts"), err)
	}
	differences, err := groups[0].Against(name(theProfile, durable))
	if err != nil {
		return nil, err
	}
	byName := map[string]comparison.Difference{}
	for _, d := range differences {
		byName[d.Variant] = d
	}
	return byName, nil
}

// publishMatrix prints the analysis of the matrix and writes it down.
func (m *measured) publishMatrix(o options) error {
	x, err := m.analyse(o)
	if err != nil {
		return err
	}
	whole, err := x.whole(o, m)
	if err != nil {
		return err
	}
	if o.html != "" {
		if err := saveReport(o.html, report.HTML, whole); err != nil {
			return err
		}
	}
	return harness.Outcome{
		Report: matrixReport(o, m, x), Page: "zfs.md", Place: matrixPlace,
		Files: func(folder string) error {
			return saveReport(filepath.Join(folder, "zfs-matrix.svg"), report.SVG, overview(whole))
		},
	}.Publish(o.Out)
}

// whole report, as kubectl pgstorage shows one.
func (x matrixOf) whole(o options, m *measured) (report.Report, error) {
	fact := func(name, format string, args ...any) report.Fact {
		return report.Fact{Name: name, Value: fmt.Sprintf(format, args...)}
	}
	return report.Build(report.Input{
		About: report.About{Name: "bench-zfs/matrix", Facts: []report.Fact{
			fact("Script", "%s, scale %d, %d clients", o.Plan.Script, o.Plan.Scale, o.matrix.Clients),
			fact("Runs", "%d s each after %d s of load, order by lot with seed %d", o.Plan.Seconds, o.Plan.WarmUp, o.seed),
			fact("Disk", "a flush takes %s, writes %s", o.Flush, o.limit()),
			fact("Machine", "%s, 2 virtual processors, %d MiB, ARC at most %s", m.Processor(), o.Memory, o.ARC),
			fact("Other programs", "%.0f%% of the host's processors", m.Elsewhere*100),
		}},
		Analysis: x.analysis, Runs: x.runs, Varied: varied,
	})
}

// overview has the intervals of all variants, without single runs.
func overview(r report.Report) report.Report {
	r.Groups = slices.Clone(r.Groups)
	for i := range r.Groups {
		r.Groups[i].Variants = slices.Clone(r.Groups[i].Variants)
		for j := range r.Groups[i].Variants {
			v := &r.Groups[i].Variants[j]
			v.Curve, v.Repeats = nil, slices.Clone(v.Repeats)
			for k := range v.Repeats {
				v.Repeats[k].Seconds = nil
			}
		}
	}
	return r
}

func saveReport(path string, form report.Form, r report.Report) error {
	var b bytes.Buffer
	if err := report.Write(&b, form, r, report.Options{}); err != nil {
		return err
	}
	fmt.Printf("%s: %d kB\n", path, b.Len()/1e3)
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, b.Bytes(), 0o644))
}

// short name of a variant within its group.
func (g group) short(variant string) string {
	return strings.TrimSuffix(variant, name("", g.durable))
}
