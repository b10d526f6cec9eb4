//go:build guest

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/test/benchzfs/cell"
)

// gauge is everything that is read before and after a run.
type gauge struct {
	disk           cell.Counters
	cpu            cpu
	wal, fullPages int64
}

const walCounters = `SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint, (SELECT wal_fpi FROM pg_stat_wal)::bigint`

func (b bench) gauge(ctx context.Context, conn *pgx.Conn) (gauge, error) {
	var g gauge
	if err := conn.QueryRow(ctx, walCounters).Scan(&g.wal, &g.fullPages); err != nil {
		return g, err
	}
	var err error
	if g.disk, err = counters(b.plan.Serial); err != nil {
		return g, err
	}
	g.cpu, err = processors()
	return g, err
}

// sector is the unit of /sys/block/*/stat, whatever the disk has.
const sector = 512

// counters of a disk: Documentation/block/stat.rst of the kernel.
func counters(serial string) (cell.Counters, error) {
	device, err := filepath.EvalSymlinks("/dev/disk/by-id/virtio-" + serial)
	if err != nil {
		return cell.Counters{}, err
	}
	text, err := os.ReadFile(filepath.Join("/sys/block", filepath.Base(device), "stat"))
	if err != nil {
		return cell.Counters{}, err
	}
	n, err := numbers(strings.Fields(string(text)))
	if err != nil || len(n) < 17 {
		return cell.Counters{}, fmt.Errorf("%s's stat is %q: %w", device, text, err)
	}
	return cell.Counters{ReadBytes: n[2] * sector, Writes: n[4], WriteBytes: n[6] * sector, Flushes: n[15], FlushMillis: n[16]}, nil
}

// cpu is time in ticks.
type cpu struct{ idle, total int64 }

func (c cpu) busySince(then cpu) float64 {
	return 1 - float64(c.idle-then.idle)/float64(c.total-then.total)
}

func processors() (cpu, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return cpu{}, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	n, err := numbers(strings.Fields(line)[1:])
	if err != nil || len(n) < 8 {
		return cpu{}, fmt.Errorf("/proc/stat begins with %q: %w", line, err)
	}
	c := cpu{idle: n[3] + n[4]} // with waiting for a disk
	for _, ticks := range n[:8] {
		c.total += ticks
	}
	return c, nil
}

func numbers(fields []string) ([]int64, error) {
	out := make([]int64, len(fields))
	for i, field := range fields {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}
