//go:build guest

package main

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	writers = 4
	// insert is one transaction of its own: acknowledged means committed.
	insert = `INSERT INTO ledger VALUES ($1::bigint, md5($1::bigint::text))`
	// reconnect is how long a client waits for a Postgres that is away.
	reconnect = 200 * time.Millisecond
)

// clients write a row after the other.
type clients struct {
	host *host
	// gate is locked where none may write.
	gate sync.RWMutex
	last atomic.Int64
	// first id that may be used.
	first int64
	// mark of the host's that was there when a transaction began.
	mark   atomic.Int64
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

// load begins, until stop.
func (c *clients) load(ctx context.Context) error {
	err := withConn(ctx, func(conn *pgx.Conn) error {
		var highest int64
		err := conn.QueryRow(ctx, "SELECT coalesce(max(id), 0) FROM ledger").Scan(&highest)
		// An id whose fate is not known is not used again.
		c.last.Store(max(highest, c.last.Load(), c.first))
		return err
	})
	if err != nil {
		return err
	}
	ctx, c.cancel = context.WithCancel(ctx)
	for range writers {
		c.ended.Go(func() { c.write(ctx) })
	}
	return nil
}

func (c *clients) stop() {
	if c.cancel != nil {
		c.cancel()
	}
	c.ended.Wait()
	c.cancel = nil
}

func (c *clients) remember(mark string) error {
	n, err := strconv.ParseInt(mark, 10, 64)
	c.mark.Store(n)
	return err
}

// write until the end of ctx, over as many connections as it takes.
func (c *clients) write(ctx context.Context) {
	for ctx.Err() == nil {
		err := withConn(ctx, func(conn *pgx.Conn) error {
			for ctx.Err() == nil {
				if err := c.one(ctx, conn); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(reconnect):
		}
	}
}

func (c *clients) one(ctx context.Context, conn *pgx.Conn) error {
	c.gate.RLock()
	defer c.gate.RUnlock()
	id, mark := c.last.Add(1), c.mark.Load()
	if _, err := conn.Exec(ctx, insert, id); err != nil {
		return err
	}
	c.host.send("ack %d %d", id, mark)
	return nil
}
