package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/commitcost"
	"github.com/pgstorage/pgstorage/internal/bench/durability"
	"github.com/pgstorage/pgstorage/internal/bench/record"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// layering measures the layers of the storage.
type layering struct {
	*execution
	spec *spec.Layers
	// volumes by fio, then the rest, from the lowest up.
	volumes                 []commitcost.Measurement
	fsync, unlogged, logged commitcost.Measurement
	// fsyncMethod is the server's wal_sync_method.
	fsyncMethod string
	// tests that were begun, and transactions that were committed.
	tests     int
	committed int64
	// uses of the layers that can count, by name.
	uses map[string]use
}

// measureLayers runs first, before anything else fills the caches. A layer that cannot be
// measured has a Note; only the end of ctx is an error.
func (r *execution) measureLayers(ctx context.Context) error {
	if r.Spec.Layers == nil {
		return nil
	}
	l := &layering{execution: r, spec: r.Spec.Layers, uses: map[string]use{}}
	l.begin(ctx)
	l.readFio()
	made := l.makeTables(ctx)
	for repeat := range int(l.spec.Repeats) {
		l.measure(ctx, &l.fsync, repeat, l.testFsync)
		if made {
			l.measure(ctx, &l.unlogged, repeat, l.transactions(unloggedSchema))
			l.measure(ctx, &l.logged, repeat, l.counting(l.transactions(loggedSchema)))
		}
	}
	l.dropTables(ctx)
	if ctx.Err() != nil {
		return fmt.Errorf("layers of the storage: %w", context.Cause(ctx))
	}
	l.publishLayers(ctx)
	return nil
}

// firstPhase is the phase in which a benchmark starts.
func (r *execution) firstPhase() string {
	if r.Spec.Layers != nil {
		return PhaseMeasuringLayers
	}
	return PhaseInitialising
}

// begin sets the name of each layer, and the Note of those that cannot be measured.
func (l *layering) begin(ctx context.Context) {
	l.fsync.Name, l.unlogged.Name, l.logged.Name = v1alpha1.LayerWALFlush, v1alpha1.LayerUnlogged, v1alpha1.LayerLogged
	if len(l.spec.Scratch) == 0 {
		l.volumes = []commitcost.Measurement{{Layer: record.Layer{Name: v1alpha1.LayerVolume}, Note: l.spec.NoScratch}}
		l.fsync.Note = l.spec.NoScratch
	} else {
		l.describeFlush(ctx)
	}
	if durability.Tier(l.Spec.Durability).Flushes() {
		l.logged.Over = v1alpha1.LayerWALFlush
	}
}

// describeFlush by the method that the server flushes its WAL with.
func (l *layering) describeFlush(ctx context.Context) {
	var method string
	err := session(ctx, l.db.config, queryTimeout, func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, `SELECT current_setting('wal_sync_method')`).Scan(&method)
	})
	if err != nil {
		l.fsync.Note = fmt.Sprintf("wal_sync_method of the server: %v", err)
		return
	}
	l.fsyncMethod = method
	l.fsync.Over = l.spec.Scratch[0].Layer
	l.fsync.Method = fmt.Sprintf("pg_test_fsync, writes of 8 kB by %s, StorageClass %s", method, l.spec.Scratch[0].StorageClass)
}

// measure one more repeat of a layer, unless one failed: fewer repeats than requested
// must not look like all of them.
func (l *layering) measure(ctx context.Context, layer *commitcost.Measurement, repeat int, once func(context.Context) (time.Duration, error)) {
	l.tests++
	l.progress(PhaseMeasuringLayers, float64(l.tests)/float64(3*int(l.spec.Repeats)+1), fmt.Sprintf("%s, repeat %d of %d", layer.Name, repeat+1, l.spec.Repeats))
	if ctx.Err() != nil || layer.Note != "" {
		return
	}
	took, err := once(ctx)
	if err != nil {
		layer.Milliseconds, layer.Note = nil, fmt.Sprintf("repeat %d: %v", repeat+1, err)
		l.Log.Warn("layer was not measured", "layer", layer.Name, "repeat", repeat+1, "error", err)
		return
	}
	layer.Milliseconds = append(layer.Milliseconds, milliseconds(took))
	l.Log.Info("layer", "layer", layer.Name, "repeat", repeat+1, "took", took)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// publishLayers writes the layers to status and record.
func (l *layering) publishLayers(ctx context.Context) {
	wal := l.uses[v1alpha1.LayerWALFlush]
	l.fsync.Bytes, l.fsync.Requests, l.fsync.Flushes = each(wal.bytes, wal.transactions), each(wal.requests, wal.transactions), each(wal.flushes, wal.flushed)
	if l.fsync.Bytes != nil && l.fsync.Note == "" {
		l.fsync.Note = "counts of a transaction cover the whole server, including other sessions"
	}
	all := slices.Concat(l.volumes, l.countedOnly(), []commitcost.Measurement{l.fsync, l.unlogged, l.logged})
	l.report.Layers = commitcost.Status(all)
	l.report.LayersVerdict = commitcost.Attribution(all, int(l.Spec.Pgbench.Clients[0]))
	l.record.Layers = commitcost.Record(all)
	if s, err := statistics.Summarise(l.fsync.Milliseconds); err == nil {
		// Which device it is, and what that could do at best, a pod cannot know.
		l.flush = &validity.Flush{Measured: time.Duration(s.Median * float64(time.Millisecond))}
	}
	l.keep(ctx)
	l.publish(*l.report.DeepCopy())
}
