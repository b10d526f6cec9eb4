//go:build e2ezfs

package e2ezfs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/document"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

// The marks of branches.
const (
	// mostStart is the time until a branch is Ready, as a multiple of an empty database's.
	mostStart = 1.5
	// mostOwn is what of the source a branch takes for itself before its first write.
	mostOwn = 0.02
	// leastRate is what of its TPS the source keeps while it is branched.
	leastRate = 0.9
	// quietFor is the time of pgbench before the branch is created.
	quietFor = time.Minute
	// progressSeconds is the time between two lines of pgbench.
	progressSeconds = 2
)

// branchFigures are what branches cost.
type branchFigures struct {
	empty, branch time.Duration
	own, whole    float64
	// full is of a source whose clients never wait, half of one whose clients begin half as many
	// transactions.
	full, half underPgbench
	// lost are the clones that the driver lost track of.
	lost *atomic.Int64
}

// underPgbench is what the source did before the branch, until its snapshots are ready, and until
// the branch is.
type underPgbench struct{ before, copying, starting rate }

// rate of transactions for each second, and of those that pgbench skipped because it was late.
// Where pgbench does not print the second one, it is not a number, which reaches no mark.
type rate struct{ tps, skipped float64 }

// emptyDatabase has the volumes of the source, and no table.
func (f *branchFigures) emptyDatabase(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	empty := database()
	empty.Name, empty.Spec.Storage = "empty", shop.Spec.Storage
	began := time.Now()
	create(t, empty)
	allTrue(t, empty, v1alpha1.ConditionReady)
	f.empty = time.Since(began)
	t.Logf("an empty database was Ready after %s", f.empty.Round(time.Second))
	if err := c.Delete(t.Context(), empty); err != nil {
		t.Fatal(err)
	}
	gone(t, empty)
	// The driver waits 10 s for a clone. A node that destroys volumes meanwhile can need longer.
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(shop), shop); err != nil {
		t.Fatal(err)
	}
	nothingLeft(t, shop)
}

// quietBranch is of a source without clients.
func (f *branchFigures) quietBranch(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	b := branchOf(shop.Name, "quiet")
	began := time.Now()
	create(t, b)
	branched(t, b)
	f.branch = time.Since(began)
	eventually(t, "the space of the branch", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		if b.Status.Space == nil {
			return errors.New("not reported")
		}
		return nil
	})
	f.own = b.Status.Space.AsApproximateFloat64()
	var err error
	if f.whole, err = strconv.ParseFloat(zfsGet(t, volume(t, shop, "Data").Dataset)["referenced"].Value, 64); err != nil {
		t.Fatal(err)
	}
	t.Logf("the branch was Ready after %s, and took %.0f bytes of its own, the source %.0f", f.branch.Round(time.Second), f.own, f.whole)
	removeBranch(t, b)
}

func removeBranch(t *testing.T, b *v1alpha1.PgStorageBranch) {
	t.Helper()
	if err := c.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	branchGone(t, b)
}

// branchedAtFullRate compares the TPS of a source whose clients never wait. Where processors are
// few, each other program takes some of it.
func (f *branchFigures) branchedAtFullRate(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	f.full = branchedUnderPgbench(t, shop, "loaded")
}

// branchedAtHalfRate compares the TPS of a source that has processor time to spare. pgbench skips
// a transaction that would begin 2 s late, so that it catches up on no more than that.
func (f *branchFigures) branchedAtHalfRate(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	f.half = branchedUnderPgbench(t, shop, "half-loaded", "--rate", fmt.Sprintf("%.2f", f.full.before.tps/2), "--latency-limit", "2000")
}

// branchedUnderPgbench compares the TPS of the source before and while it is branched.
func branchedUnderPgbench(t *testing.T, shop *v1alpha1.PgStorageCluster, name string, options ...string) (f underPgbench) {
	t.Helper()
	load := application(shop, append([]string{"pgbench", "-n", "-c", "2", "-T", "3600", "-P", strconv.Itoa(progressSeconds), "--progress-timestamp"}, options...)...)
	create(t, load)
	t.Cleanup(func() {
		if err := client.IgnoreNotFound(c.Delete(context.WithoutCancel(t.Context()), load, client.GracePeriodSeconds(0))); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "pgbench to have run for "+quietFor.String(), func(ctx context.Context) error {
		out, err := logs(ctx, load)
		if err != nil {
			return err
		}
		if p := progress(out); len(p) == 0 || time.Since(p[0].at) < quietFor {
			return fmt.Errorf("it printed %d lines of progress", len(p))
		}
		return nil
	})
	b := branchOf(shop.Name, name)
	began := time.Now()
	create(t, b)
	eventually(t, "the snapshots of the branch", func(ctx context.Context) error {
		return c.Get(ctx, client.ObjectKeyFromObject(b), &v1alpha1.PgStorageCluster{})
	})
	copied := time.Now()
	branched(t, b)
	all := progress(must(t)(logs(t.Context(), load)))
	f.before, f.copying, f.starting = mean(all, began.Add(-quietFor), began), mean(all, began, copied), mean(all, copied, time.Now())
	t.Logf("TPS of the source, and skipped: %.1f before, %.1f until the snapshots are ready (%s), %.1f until the branch is (%s)",
		f.before, f.copying, copied.Sub(began).Round(time.Second), f.starting, time.Since(began).Round(time.Second))
	removeBranch(t, b)
	return f
}

// progressed is a line of pgbench about the seconds before a time.
type progressed struct {
	at time.Time
	rate
}

func progress(log string) []progressed {
	var out []progressed
	for line := range strings.Lines(log) {
		var at, tps float64
		if n, err := fmt.Sscanf(line, "progress: %f s, %f tps", &at, &tps); err != nil || n != 2 {
			continue
		}
		rest, _ := strings.CutSuffix(strings.TrimSpace(line), " skipped")
		skipped, err := strconv.ParseFloat(rest[strings.LastIndex(rest, " ")+1:], 64)
		if err != nil {
			skipped = math.NaN()
		}
		out = append(out, progressed{time.UnixMilli(int64(at * 1000)), rate{tps, skipped / progressSeconds}})
	}
	return out
}

// mean from one time to another; 0 where no line is of it.
func mean(all []progressed, from, to time.Time) (of rate) {
	n := 0.0
	for _, p := range all {
		if p.at.After(from) && !p.at.After(to) {
			of.tps += p.tps
			of.skipped += p.skipped
			n++
		}
	}
	if n == 0 {
		return rate{}
	}
	return rate{of.tps / n, of.skipped / n}
}

// publish the figures in docs/benchmarks, and judge them. The full rate on emulated
// processors, which both databases share, is shown and fails no test.
func (f *branchFigures) publish(t *testing.T, _ *v1alpha1.PgStorageCluster) {
	processors, judged := "2 processors", os.Getenv("PGSTORAGE_VM_ACCELERATOR") != "tcg"
	if !judged {
		processors = "2 emulated processors"
	}
	place := document.Place{Begin: "<!-- written by make test-e2e-branches -->", End: "<!-- end of what make test-e2e-branches writes -->"}
	var text strings.Builder
	line := func(what, figure, mark string, reached, fails bool) {
		verdict := "PASS"
		switch {
		case !reached && fails:
			verdict = "MISS"
			t.Errorf("%s: %s (mark: %s)", what, figure, mark)
		case !reached:
			verdict = "MISS, emulated"
			t.Logf("missed on emulated processors: %s: %s (mark: %s)", what, figure, mark)
		}
		_, _ = fmt.Fprintf(&text, "| %s | %s | %s | %s |\n", what, figure, mark, verdict)
	}
	_, _ = fmt.Fprintf(&text, "Date: %s. The source has %.0f MB on its data volume. The machine has %s.\n\n| what | figure | mark | verdict |\n|---|---|---|---|\n",
		time.Now().UTC().Format(time.DateOnly), f.whole/1e6, processors)
	start := f.branch.Seconds() / f.empty.Seconds()
	line("a branch is Ready, beside an empty database", fmt.Sprintf("%.0f s beside %.0f s, %.2f x", f.branch.Seconds(), f.empty.Seconds(), start), fmt.Sprintf("%.1f x", mostStart), start <= mostStart, true)
	line("space of its own, of the source's", fmt.Sprintf("%.1f MB, %.1f%%", f.own/1e6, 100*f.own/f.whole), fmt.Sprintf("%.0f%%", 100*mostOwn), f.own <= mostOwn*f.whole, true)
	kept := func(what string, tps, of float64, fails bool) {
		line(what, fmt.Sprintf("%.1f of %.1f, %.0f%%", tps, of, 100*tps/of), fmt.Sprintf("%.0f%%", 100*leastRate), tps >= leastRate*of, fails)
	}
	half, full := f.half, f.full
	kept("TPS of the source at half of its rate, until the snapshots are ready", half.copying.tps, half.copying.tps+half.copying.skipped, true)
	kept("TPS of the source at half of its rate, until the branch is Ready", half.starting.tps, half.starting.tps+half.starting.skipped, true)
	kept("TPS of the source at its full rate, until the snapshots are ready", full.copying.tps, full.before.tps, judged)
	kept("TPS of the source at its full rate, until the branch is Ready", full.starting.tps, full.before.tps, judged)
	if n := f.lost.Load(); n > 0 {
		_, _ = fmt.Fprintf(&text, "\nzfs-localpv 1.9.3 lost track of clones %d times, and the test did what the [runbook](../runbooks/VolumesPending.md) says.\n", n)
	}
	if err := place.Write(filepath.Join(repository.Root(), "docs", "benchmarks", "branches.md"), text.String()); err != nil {
		t.Error(err)
	}
}
