//go:build e2ezfs

package e2ezfs

import (
	"context"
	"errors"
	"fmt"
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
)

// branchFigures are what branches cost.
type branchFigures struct {
	empty, branch time.Duration
	own, whole    float64
	// TPS of the source before the branch, until its snapshots are ready, and until the
	// branch is.
	before, copying, starting float64
	// lost are the clones that the driver lost track of.
	lost *atomic.Int64
}

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

// branchedUnderPgbench compares the TPS of the source before and while it is branched.
func (f *branchFigures) branchedUnderPgbench(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	load := application(shop, "pgbench", "-n", "-c", "2", "-T", "3600", "-P", "2", "--progress-timestamp")
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
		if r := rates(out); len(r) == 0 || time.Since(r[0].at) < quietFor {
			return fmt.Errorf("it printed %d rates", len(r))
		}
		return nil
	})
	b := branchOf(shop.Name, "loaded")
	began := time.Now()
	create(t, b)
	eventually(t, "the snapshots of the branch", func(ctx context.Context) error {
		return c.Get(ctx, client.ObjectKeyFromObject(b), &v1alpha1.PgStorageCluster{})
	})
	copied := time.Now()
	branched(t, b)
	all := rates(must(t)(logs(t.Context(), load)))
	f.before, f.copying, f.starting = mean(all, began.Add(-quietFor), began), mean(all, began, copied), mean(all, copied, time.Now())
	t.Logf("TPS of the source: %.1f before, %.1f until the snapshots are ready (%s), %.1f until the branch is (%s)",
		f.before, f.copying, copied.Sub(began).Round(time.Second), f.starting, time.Since(began).Round(time.Second))
	removeBranch(t, b)
}

// rate is what pgbench reports of the seconds before a time.
type rate struct {
	at  time.Time
	tps float64
}

func rates(log string) []rate {
	var out []rate
	for line := range strings.Lines(log) {
		var at, tps float64
		if n, err := fmt.Sscanf(line, "progress: %f s, %f tps", &at, &tps); err == nil && n == 2 {
			out = append(out, rate{time.UnixMilli(int64(at * 1000)), tps})
		}
	}
	return out
}

// mean TPS from one time to another; 0 where no rate is of it.
func mean(all []rate, from, to time.Time) float64 {
	sum, n := 0.0, 0
	for _, r := range all {
		if r.at.After(from) && !r.at.After(to) {
			sum += r.tps
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// publish the figures in docs/benchmarks, and judge them. A rate on emulated processors, which
// both databases share, is shown and fails no test.
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
	line("TPS of the source until the snapshots are ready", fmt.Sprintf("%.1f of %.1f, %.0f%%", f.copying, f.before, 100*f.copying/f.before), fmt.Sprintf("%.0f%%", 100*leastRate), f.copying >= leastRate*f.before, judged)
	line("TPS of the source until the branch is Ready", fmt.Sprintf("%.1f of %.1f, %.0f%%", f.starting, f.before, 100*f.starting/f.before), fmt.Sprintf("%.0f%%", 100*leastRate), f.starting >= leastRate*f.before, judged)
	if n := f.lost.Load(); n > 0 {
		_, _ = fmt.Fprintf(&text, "\nzfs-localpv 1.9.3 lost track of clones %d times, and the test did what the [runbook](../runbooks/VolumesPending.md) says.\n", n)
	}
	if err := place.Write(filepath.Join(repository.Root(), "docs", "benchmarks", "branches.md"), text.String()); err != nil {
		t.Error(err)
	}
}
