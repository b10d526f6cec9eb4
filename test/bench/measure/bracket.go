//go:build linux

package measure

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/test/vm/postgres/server"
)

// Bracket measures a run between two checkpoints, so that the run begins with every page
// clean and ends with every page written.
type Bracket[G any] struct {
	// Pool that is synced after each checkpoint.
	Pool string
	// WarmUp is the seconds of load before the run: other databases' turns have replaced
	// what the caches held.
	WarmUp int
	// Gauge reads all counters.
	Gauge func(context.Context, *pgx.Conn) (G, error)
}

// Readings of the gauge around a run.
type Readings[G any] struct {
	// Before the first transaction, After the last one, and Settled once a checkpoint and
	// a sync of the pool have written what it left.
	Before, After, Settled G
	SettleSeconds          float64
}

// Measure warms up with the load, settles, and reads the gauge around the run.
func (b Bracket[G]) Measure(ctx context.Context, load Load, run func(context.Context) error) (r Readings[G], err error) {
	conn, err := pgx.Connect(ctx, server.DSN+" port="+load.Port)
	if err != nil {
		return r, err
	}
	defer conn.Close(ctx) //nolint:errcheck // its work is done
	load.Seconds = b.WarmUp
	if _, err := load.Run(ctx); err != nil {
		return r, err
	}
	if err := b.settle(ctx, conn); err != nil {
		return r, err
	}
	if r.Before, err = b.Gauge(ctx, conn); err != nil {
		return r, err
	}
	if err := run(ctx); err != nil {
		return r, err
	}
	if r.After, err = b.Gauge(ctx, conn); err != nil {
		return r, err
	}
	begin := time.Now()
	if err := b.settle(ctx, conn); err != nil {
		return r, err
	}
	r.SettleSeconds = time.Since(begin).Seconds()
	r.Settled, err = b.Gauge(ctx, conn)
	return r, err
}

func (b Bracket[G]) settle(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, "CHECKPOINT"); err != nil {
		return err
	}
	_, err := server.Run(ctx, "zpool", "sync", b.Pool)
	return err
}

// Disk has the counters of a virtual machine's disk, by its serial.
func Disk(serial string) (Counters, error) {
	return Device("/dev/disk/by-id/virtio-" + serial)
}
