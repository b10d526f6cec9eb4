package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"text/tabwriter"
	"time"
)

// The marks that the operator keeps.
const (
	maxWrites      = 8.0
	maxTotal       = time.Minute
	maxHeap        = 40.0
	maxHeapForeign = 5.0
	mebibyte       = 1 << 20
)

// figures are everything that was measured.
type figures struct {
	clusters, foreign int
	rest              time.Duration

	requests, restRequests, foreignRequests map[string]int
	total                                   time.Duration
	times                                   []time.Duration
	passP50, passP95                        float64
	heapIdle, heap, heapForeign             float64
}

func (f *figures) at(q float64) time.Duration {
	if len(f.times) == 0 {
		return 0
	}
	return f.times[min(len(f.times)-1, int(q*float64(len(f.times))))]
}

func (f *figures) perCluster(n int) float64 { return float64(n) / float64(f.clusters) }

func (f *figures) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		_, _ = fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	row("PgStorageClusters", "%d", f.clusters)
	for _, kind := range slices.Sorted(maps.Keys(f.requests)) {
		row("requests per cluster until children exist: "+kind, "%.2f", f.perCluster(f.requests[kind]))
	}
	row("apply to children exist, all clusters", "%.1fs", f.total.Seconds())
	row("apply to children exist, p50 / p95 / max", "%.1fs / %.1fs / %.1fs", f.at(0.50).Seconds(), f.at(0.95).Seconds(), f.at(1).Seconds())
	row("a pass, p50 / p95", "%.1fms / %.1fms", f.passP50*1e3, f.passP95*1e3)
	row("live heap, idle", "%.1f MiB", f.heapIdle/mebibyte)
	row("live heap, all clusters", "%.1f MiB, %.1f KiB a cluster", f.heap/mebibyte, (f.heap-f.heapIdle)/1024/float64(f.clusters))
	row(fmt.Sprintf("live heap, with 3 x %d foreign objects", f.foreign), "%.1f MiB", f.heapForeign/mebibyte)
	row(fmt.Sprintf("requests in %s at rest", f.rest), "%v", f.restRequests)
	row(fmt.Sprintf("requests in %s at rest, with foreign objects", f.rest), "%v", f.foreignRequests)
	_ = w.Flush()
	_, _ = fmt.Fprintf(out, "\nBenchmarkReconcile/clusters=%d 1 %d ns/op %.2f writes/cluster %.0f B/cluster %d rest-writes/op\n",
		f.clusters, f.total.Nanoseconds(), f.perCluster(writes(f.requests)), (f.heap-f.heapIdle)/float64(f.clusters), atRest(f.restRequests))
}

// judge compares with the marks. That of the total time is for 500 clusters.
func (f *figures) judge(out io.Writer) error {
	var missed error
	mark := func(holds bool, text string) {
		verdict := "PASS"
		if !holds {
			verdict, missed = "FAIL", errors.Join(missed, errors.New(text))
		}
		_, _ = fmt.Fprintf(out, "%s  %s\n", verdict, text)
	}
	mark(f.perCluster(writes(f.requests)) <= maxWrites, fmt.Sprintf("at most %.0f writes per new cluster: %.2f", maxWrites, f.perCluster(writes(f.requests))))
	mark(f.total <= maxTotal || f.clusters > 500, fmt.Sprintf("500 clusters to all children within %s: %d in %s", maxTotal, f.clusters, f.total.Round(100*time.Millisecond)))
	mark(atRest(f.restRequests) == 0, fmt.Sprintf("no writes at rest: %d", atRest(f.restRequests)))
	mark(atRest(f.foreignRequests) == 0, fmt.Sprintf("no writes at rest with foreign objects: %d", atRest(f.foreignRequests)))
	above := (f.heap - f.heapIdle) / mebibyte
	mark(above <= maxHeap || f.clusters > 500, fmt.Sprintf("heap at most %.0f MiB above idle: %.1f", maxHeap, above))
	grown := (f.heapForeign - f.heap) / mebibyte
	mark(math.Abs(grown) <= maxHeapForeign, fmt.Sprintf("heap unchanged by foreign objects within %.0f MiB: %.1f", maxHeapForeign, grown))
	return missed
}
