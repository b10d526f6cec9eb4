package reconcile

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pgstorage/pgstorage/test/bench/harness"
)

// The marks that the operator keeps.
const (
	maxWrites      = 8
	maxTotal       = time.Minute
	maxHeap        = 40.0
	maxHeapFurther = 0.03 // for each cluster beyond marked
	marked         = 500  // clusters that maxTotal and maxHeap are for
	maxHeapForeign = 5.0
	mebibyte       = 1 << 20
)

// phase is a part of the measurement: what the manager did in it, how long that
// took, and its live heap afterwards.
type phase struct {
	name     string
	took     time.Duration
	requests tally
	scrapes  int64 // of instances' metrics
	passes   histogram
	heap     float64
}

// figures are everything that was measured.
type figures struct {
	clusters, foreign int
	rest              time.Duration
	heapIdle          float64
	// limit of the manager's memory in bytes, by the chart.
	limit   float64
	hostile []besieged

	create, ready, atRest, withForeign *phase
	times                              []time.Duration // from apply to children, sorted
}

func (f *figures) phases() []*phase { return []*phase{f.create, f.ready, f.atRest, f.withForeign} }

// at is the time that a part q of the clusters does not exceed.
func (f *figures) at(q float64) time.Duration {
	if len(f.times) == 0 {
		return 0
	}
	return f.times[max(0, int(math.Ceil(q*float64(len(f.times))))-1)]
}

func (f *figures) perCluster(n int) float64 { return float64(n) / float64(f.clusters) }

func (f *figures) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		_, _ = fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	row("PgStorageClusters", "%d", f.clusters)
	busiest, most := f.create.requests.busiest()
	row("create: writes of a cluster, mean / max", "%.2f / %d (%s)", f.perCluster(f.create.requests.own()), most, busiest)
	row("create: other writes", "%d", f.create.requests.writes()-f.create.requests.own())
	row("create: apply to children, all clusters", "%.1fs", f.create.took.Seconds())
	row("create: apply to children, p50 / p95 / max", "%.1fs / %.1fs / %.1fs", f.at(0.50).Seconds(), f.at(0.95).Seconds(), f.at(1).Seconds())
	row("ready: healthy instances to Ready, all clusters", "%.1fs", f.ready.took.Seconds())
	for _, p := range f.phases() {
		row(p.name+": passes", "%.0f", p.passes.count())
		if p.passes.count() > 0 {
			row(p.name+": a pass, p50 / p95", "%.1fms / %.1fms", p.passes.quantile(0.50)*1e3, p.passes.quantile(0.95)*1e3)
		}
		row(p.name+": scrapes of instances' metrics", "%d", p.scrapes)
		kinds := p.requests.kinds()
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			row(p.name+": "+kind, "%d, %.2f a cluster", kinds[kind], f.perCluster(kinds[kind]))
		}
	}
	row("live heap, idle", "%.1f MiB", f.heapIdle/mebibyte)
	row("live heap, all clusters", "%.1f MiB, %.1f KiB a cluster", f.atRest.heap/mebibyte, (f.atRest.heap-f.heapIdle)/1024/float64(f.clusters))
	row(fmt.Sprintf("live heap, with 3 x %d foreign objects", f.foreign), "%.1f MiB", f.withForeign.heap/mebibyte)
	for _, b := range f.hostile {
		row(fmt.Sprintf("%d hostile objects: %s", b.objects, b.kind), "%d KiB each, live heap %.1f MiB, peak memory after a restart %.1f MiB", b.bytes/1024, b.heap/mebibyte, b.peak/mebibyte)
	}
	_ = w.Flush()
}

// lines in Go's benchmark format, one for each phase. An operation is a cluster. At rest,
// iterations are seconds, and counts are of all of them.
func (f *figures) lines() string {
	var b strings.Builder
	for _, p := range f.phases() {
		_, _ = fmt.Fprintf(&b, "BenchmarkReconcile/phase=%s/clusters=%d-%d", p.name, f.clusters, runtime.GOMAXPROCS(0))
		if p == f.create || p == f.ready {
			f.perOperation(&b, p)
		} else {
			_, _ = fmt.Fprintf(&b, "\t%d\t%d changes\t%d reads", max(1, int(f.rest.Seconds())), p.requests.changes(), p.requests.reads())
		}
		if p.passes.count() > 0 {
			_, _ = fmt.Fprintf(&b, "\t%.6f p50-pass-sec\t%.6f p95-pass-sec", p.passes.quantile(0.50), p.passes.quantile(0.95))
		}
		_, _ = fmt.Fprintf(&b, "\t%.0f passes\t%d scrapes\t%.0f heap-B\n", p.passes.count(), p.scrapes, p.heap)
	}
	return b.String()
}

func (f *figures) perOperation(out io.Writer, p *phase) {
	_, most := p.requests.busiest()
	_, _ = fmt.Fprintf(out, "\t%d\t%d ns/op\t%.2f writes/op\t%.2f own-writes/op\t%d max-own-writes\t%.2f events/op\t%.2f reads/op",
		f.clusters, p.took.Nanoseconds()/int64(f.clusters), f.perCluster(p.requests.writes()), f.perCluster(p.requests.own()), most,
		f.perCluster(p.requests.kinds()[event]), f.perCluster(p.requests.reads()))
	if p == f.create {
		_, _ = fmt.Fprintf(out, "\t%.3f p50-sec\t%.3f p95-sec\t%.3f max-sec", f.at(0.50).Seconds(), f.at(0.95).Seconds(), f.at(1).Seconds())
	}
}

// further is how many clusters there are beyond those that the marks are for.
func (f *figures) further() int { return max(0, f.clusters-marked) }

// totalBound is maxTotal, and longer in proportion for more clusters than it is for.
func (f *figures) totalBound() time.Duration {
	return maxTotal + maxTotal*time.Duration(f.further())/marked
}

// heapBound in MiB above idle.
func (f *figures) heapBound() float64 { return maxHeap + maxHeapFurther*float64(f.further()) }

// judge compares with the marks. Each says the bound that was applied.
func (f *figures) judge(out io.Writer) error {
	var missed error
	mark := func(holds bool, format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		if !holds {
			missed = errors.Join(missed, errors.New("missed: "+text))
		}
		_, _ = fmt.Fprintf(out, "%s  %s\n", harness.Verdict(holds), text)
	}
	busiest, most := f.create.requests.busiest()
	mark(most > 0 && most <= maxWrites, "at most %d writes for any new cluster: %d for %s, %.2f on the mean", maxWrites, most, busiest, f.perCluster(f.create.requests.own()))
	mark(f.create.took <= f.totalBound(), "%d clusters to all children within %s (%s up to %d clusters, in proportion beyond): %s", f.clusters, f.totalBound(), maxTotal, marked, f.create.took.Round(100*time.Millisecond))
	mark(f.ready.scrapes >= int64(3*f.clusters), "parameters read back from every instance: %d scrapes of %d instances", f.ready.scrapes, 3*(f.clusters+1))
	for _, p := range []*phase{f.atRest, f.withForeign} {
		mark(p.requests.changes() == 0, "no writes at rest (%s): %d", p.name, p.requests.changes())
	}
	above := (f.atRest.heap - f.heapIdle) / mebibyte
	mark(above <= f.heapBound(), "heap at most %.1f MiB above idle with %d clusters (%.0f MiB up to %d clusters, %.2f MiB for each further): %.1f", f.heapBound(), f.clusters, maxHeap, marked, maxHeapFurther, above)
	grown := (f.withForeign.heap - f.atRest.heap) / mebibyte
	mark(math.Abs(grown) <= maxHeapForeign, "heap unchanged by foreign objects within %.0f MiB: %.1f", maxHeapForeign, grown)
	for _, b := range f.hostile {
		mark(b.peak <= f.limit, "peak memory at most %.0f MiB, the chart's limit, after a restart with %d hostile objects at their bounds (%s): %.1f", f.limit/mebibyte, b.objects, b.kind, b.peak/mebibyte)
	}
	return missed
}
