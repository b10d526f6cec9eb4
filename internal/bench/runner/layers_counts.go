package runner

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/commitcost"
	"github.com/pgstorage/pgstorage/internal/bench/record"
	"github.com/pgstorage/pgstorage/internal/bench/runner/machine"
)

// tally of what had reached each layer at one moment.
type tally map[string]counted

// counted at a layer since some time before: by what, and what to know of it, in words.
type counted struct {
	method, note string
	machine.Written
}

// use adds up what reached a layer in several runs.
type use struct {
	method, note             string
	bytes, requests, flushes float64
	// transactions that bytes and requests are of, and flushes.
	transactions, flushed int64
}

func (u *use) add(before, after counted, transactions int64) {
	// Statistics that were reset meanwhile count from zero again.
	if after.Bytes < before.Bytes || after.Requests < before.Requests || after.method != before.method {
		return
	}
	u.method, u.note = after.method, after.note
	u.bytes += after.Bytes - before.Bytes
	u.requests += after.Requests - before.Requests
	u.transactions += transactions
	if before.Flushes != nil && after.Flushes != nil && *after.Flushes >= *before.Flushes {
		u.flushes += *after.Flushes - *before.Flushes
		u.flushed += transactions
	}
}

// each is what one transaction wrote; nil where it was not counted.
func each(total float64, transactions int64) *float64 {
	if transactions == 0 {
		return nil
	}
	per := total / float64(transactions)
	return &per
}

// counting counts what reaches the layers meanwhile.
func (l *layering) counting(once func(context.Context) (time.Duration, error)) func(context.Context) (time.Duration, error) {
	return func(ctx context.Context) (time.Duration, error) {
		before := l.tally(ctx)
		committed := l.committed
		took, err := once(ctx)
		if err != nil {
			return 0, err
		}
		after := l.tally(ctx)
		for name, was := range before {
			if is, known := after[name]; known {
				u := l.uses[name]
				u.add(was, is, l.committed-committed)
				l.uses[name] = u
			}
		}
		return took, nil
	}
}

// tally of all layers that can count. It skips the others and logs them.
func (l *layering) tally(ctx context.Context) tally {
	out := tally{}
	wal, err := l.written(ctx)
	if err != nil {
		l.Log.Warn("WAL was not counted", "error", err)
	} else {
		out[v1alpha1.LayerWALFlush] = counted{Written: wal}
	}
	kernel, directory, err := l.counted(ctx)
	if err != nil {
		l.Log.Warn("what the kernel counts was not read", "error", err)
	}
	if directory != "" {
		out.add(kernel, directory)
	}
	return out
}

// add what the kernel counts below the server's directory, and below its WAL where
// that has a volume of its own.
func (t tally) add(kernel machine.Counted, directory string) {
	source, w, ok := kernel.At(directory)
	if wal, ofWAL, found := kernel.At(walDirectory); found && wal != source {
		if ok {
			t[v1alpha1.LayerDataDevice] = byKernel(source, w)
		}
		source, w, ok = wal, ofWAL, true
	}
	if ok {
		t[v1alpha1.LayerDevice] = byKernel(source, w)
	}
	if source, w, ok := kernel.Own(directory); ok {
		t[v1alpha1.LayerContainer] = counted{"counted by the container's cgroup: " + source, "of the server's container alone; pages that a checkpoint writes later are not in it", w}
	}
	if n, w := kernel.Network(); n > 0 {
		t[v1alpha1.LayerNetworkDevices] = byKernel(fmt.Sprintf("%d devices of nbd of the node", n), w)
	}
}

func byKernel(source string, w machine.Written) counted {
	return counted{"counted by the kernel: " + source, "what others write there meanwhile is in it; pages that a checkpoint writes later are not", w}
}

// countedOnly are the layers without a time of their own, as far as they were counted.
func (l *layering) countedOnly() []commitcost.Measurement {
	if l.Observer == nil {
		return []commitcost.Measurement{{Layer: record.Layer{Name: v1alpha1.LayerDevice}, Note: "spec.pgbench.integrity is Basic: only a superuser may look at what the server's kernel counts"}}
	}
	var out []commitcost.Measurement
	for _, name := range commitcost.Counted() {
		u, known := l.uses[name]
		if !known || u.transactions == 0 {
			continue
		}
		out = append(out, commitcost.Measurement{Layer: record.Layer{
			Name: name, Method: u.method,
			Bytes: each(u.bytes, u.transactions), Requests: each(u.requests, u.transactions), Flushes: each(u.flushes, u.flushed),
		}, Note: u.note})
	}
	return out
}

// flushesUntil is the last version whose pg_stat_wal counts writes and flushes.
const flushesUntil = 17

// written to the WAL by the whole server since its statistics began. It waits until the
// sessions of pgbench are gone: they report their counts at their end.
func (l *layering) written(ctx context.Context) (w machine.Written, err error) {
	query := `SELECT wal_bytes::float8, wal_write::float8, CASE WHEN current_setting('wal_sync_method') IN ('fdatasync', 'fsync', 'fsync_writethrough') THEN wal_sync::float8 END FROM pg_stat_wal`
	if l.server.Major > flushesUntil {
		query = `SELECT (SELECT wal_bytes FROM pg_stat_wal)::float8, coalesce(sum(writes), 0)::float8, CASE WHEN current_setting('wal_sync_method') IN ('fdatasync', 'fsync', 'fsync_writethrough') THEN sum(fsyncs)::float8 END
			FROM pg_stat_io WHERE object = 'wal'`
	}
	err = session(ctx, l.db.config, queryTimeout, func(ctx context.Context, c *pgx.Conn) error {
		err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			var others int
			err := c.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`).Scan(&others)
			return others == 0, err
		})
		if err != nil {
			return err
		}
		return c.QueryRow(ctx, query).Scan(&w.Bytes, &w.Requests, &w.Flushes)
	})
	return w, err
}
