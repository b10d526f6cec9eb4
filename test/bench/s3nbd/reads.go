//go:build linux

package s3nbd

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/testing/s3"
)

// Variants of the caches that reads are measured with.
const (
	// inARC has an ARC that is larger than the database.
	inARC = "ARC"
	// outOfARC is for comparison: what a small ARC lacks is read from the devices.
	outOfARC = "small ARC"
	// inL2ARC is the same small ARC with an L2ARC.
	inL2ARC = "small ARC and L2ARC"
)

// readers is the number of clients that only read.
const readers = 4

// feed has the L2ARC take in seconds what it takes hours to see: the limits of its
// feed are lifted, until it has stopped growing.
const feed = `cd /sys/module/zfs/parameters; before="$(cat l2arc_write_max) $(cat l2arc_headroom) $(cat l2arc_noprefetch)";
	echo 134217728 >l2arc_write_max; echo 0 >l2arc_headroom; echo 0 >l2arc_noprefetch;
	size() { awk '$1 == "l2_size" { print $3 }' /proc/spl/kstat/zfs/arcstats; };
	was=-1; for i in $(seq 20); do now=$(size); if [ $now -gt 0 ] && [ $now = $was ]; then break; fi; was=$now; sleep 2; done;
	set -- $before; echo $1 >l2arc_write_max; echo $2 >l2arc_headroom; echo $3 >l2arc_noprefetch`

// readAll measures reads with each variant of the caches.
func (b *bench) readAll(ctx context.Context) error {
	if b.options.reads == 0 {
		return nil
	}
	b.quiet(ctx)
	b.store.Fail(s3.Fault{Latency: b.latency})
	if err := b.readRuns(ctx, inARC); err != nil {
		return err
	}
	if err := b.declareStorage(ctx, func(s *v1alpha1.PgNodeStorage) error { return setARC(s, b.smallARC) }); err != nil {
		return err
	}
	if err := b.readRuns(ctx, outOfARC); err != nil {
		return err
	}
	// The ARC is as large as before until the L2ARC has taken what is in it.
	err := b.declareStorage(ctx, func(s *v1alpha1.PgNodeStorage) error {
		s.Spec.NetworkDevices.Caches = []v1alpha1.ZFSDevice{{Path: "/dev/disk/by-id/virtio-" + cacheDisk}}
		return setARC(s, b.arc)
	})
	if err != nil {
		return err
	}
	if err := b.prewarm(ctx); err != nil {
		return err
	}
	if _, err := b.guest.sh(ctx, feed); err != nil {
		return err
	}
	if err := b.declareStorage(ctx, func(s *v1alpha1.PgNodeStorage) error { return setARC(s, b.smallARC) }); err != nil {
		return err
	}
	if err := b.readRuns(ctx, inL2ARC); err != nil {
		return err
	}
	err = b.declareStorage(ctx, func(s *v1alpha1.PgNodeStorage) error {
		s.Spec.NetworkDevices.Caches = nil
		return setARC(s, b.arc)
	})
	if err != nil {
		return err
	}
	return b.prewarm(ctx)
}

// quiet waits until ZeroFS has compacted what the database was filled with: until few
// requests come for a while, or for long enough.
func (b *bench) quiet(ctx context.Context) {
	const few, while, enough = 10, 3 * time.Second, time.Minute
	for begin := time.Now(); time.Since(begin) < enough; {
		b.store.ResetCounts()
		select {
		case <-ctx.Done():
			return
		case <-time.After(while):
		}
		if b.store.Counts().Total().Requests < few {
			return
		}
	}
}

func setARC(s *v1alpha1.PgNodeStorage, size string) error {
	quantity, err := resource.ParseQuantity(size)
	s.Spec.ARCMax = &quantity
	return err
}

// readRuns repeats a run that only reads, after one that is not measured.
func (b *bench) readRuns(ctx context.Context, variant string) error {
	for run := range b.options.reads + 1 {
		r := Read{Variant: variant, Run: run}
		if err := b.read(ctx, &r); err != nil {
			return err
		}
		fmt.Printf("%-20s run %d  %6.0f TPS, %d blocks, ARC %.1f%%, L2ARC %.1f%%, devices %.2f%%, store %.3f%% (%d GETs in all); ARC %d MB, L2ARC %d MB, busy %.0f%%\n",
			variant, run, r.TPS, r.Blocks, r.share(r.Blocks-r.Misses), r.share(r.Hits2), r.share(r.DeviceReads), r.share(r.reached()), r.Gets, r.ARCBytes/1e6, r.L2Bytes/1e6, r.Busy*100)
		if run > 0 {
			b.measured.reads = append(b.measured.reads, r)
		}
	}
	return nil
}

// reached is how many reads can have reached the store. Reads without a device read did not,
// and the other GETs are of ZeroFS's own compactions.
func (r Read) reached() int64 { return min(r.Gets, r.DeviceReads) }

// share of the blocks that Postgres read, in percent.
func (r Read) share(n int64) float64 { return 100 * float64(n) / float64(max(1, r.Blocks)) }

func (b *bench) read(ctx context.Context, r *Read) error {
	args, err := pgbench.RunOptions{
		Scripts: []pgbench.WeightedScript{{Builtin: pgbench.SelectOnly}},
		Clients: readers, Jobs: 2, Duration: time.Duration(b.seconds) * time.Second, Protocol: pgbench.Prepared, NoVacuum: true,
	}.Args()
	if err != nil {
		return err
	}
	b.store.ResetCounts()
	text, err := b.guest.sh(ctx, gaugeScript+"gauge; echo %%; "+asPostgres+"pgbench "+strings.Join(args, " ")+"; echo %%; gauge")
	if err != nil {
		return err
	}
	gets := b.store.ResetCounts().Sum(func(o s3.Outcome) bool { return o.Method == http.MethodGet && kind(o) == http.MethodGet })
	part := strings.Split(text, "%%\n")
	if len(part) != 3 {
		return fmt.Errorf("a run has printed %q", text)
	}
	before, err := parseGauge(part[0], true)
	if err != nil {
		return err
	}
	result, err := pgbench.Parse(strings.NewReader(part[1]))
	if err != nil {
		return fmt.Errorf("%w: %s", err, part[1])
	}
	after, err := parseGauge(part[2], true)
	if err != nil {
		return err
	}
	since := func(name string) int64 { return after.arc[name] - before.arc[name] }
	r.TPS, r.Transactions, r.Blocks = result.TPS, result.Transactions, after.blocks-before.blocks
	r.Hits, r.Misses, r.Hits2 = since("hits"), since("misses"), since("l2_hits")
	r.DeviceReads, r.Gets, r.Received = after.disk.Since(before.disk).Reads, int64(gets.Requests), gets.Down
	r.Busy, r.ARCBytes, r.L2Bytes = after.busySince(before), after.arc["size"], after.arc["l2_asize"]
	return nil
}
