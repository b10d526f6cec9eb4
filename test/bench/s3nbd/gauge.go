//go:build linux

package s3nbd

import (
	"fmt"
	"strconv"
	"strings"
)

// asPostgres begins a command of the user that owns the database.
const asPostgres = "runuser -u postgres -- env PGHOST=/run/postgresql PGUSER=postgres PGDATABASE=postgres "

// gaugeScript is that of the guest, which has an ARC.
var gaugeScript = gaugeOf(asPostgres, "nbd*", `
	awk '$1 ~ /^(hits|misses|l2_hits|size|l2_asize)$/ { print "arc", $1, $3 }' /proc/spl/kstat/zfs/arcstats;`)

// gaugeOf defines a shell function that prints what is read before and after a run, a line
// each. The lines are those of /proc/stat, the sum of the devices' /sys/block/*/stat, the
// additional ones, and those of Postgres.
func gaugeOf(asPostgres, devices, more string) string {
	return `gauge() {
	head -n1 /proc/stat;
	awk '{ for (i = 1; i <= 17; i++) s[i] += $i } END { printf "disk"; for (i = 1; i <= 17; i++) printf " %.0f", s[i]; print "" }' /sys/block/` + devices + `/stat;` + more + `
	` + asPostgres + `psql -XqAt -F ' ' -c "SELECT 'postgres', wal_sync, wal_sync_time, (SELECT sum(blks_read) FROM pg_stat_database) FROM pg_stat_wal";
}; `
}

// gauge is what it printed.
type gauge struct {
	idle, total int64 // ticks of the processors
	disk        Disk
	arc         map[string]int64
	walSyncs    int64
	walSyncTime float64 // ms
	blocks      int64
}

// sector is the unit of /sys/block/*/stat, whatever the disk has.
const sector = 512

// parseGauge, with the counters of an ARC where there is one.
func parseGauge(text string, arc bool) (gauge, error) {
	g := gauge{arc: map[string]int64{}}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		var err error
		switch words[0] {
		case "cpu":
			err = g.processors(words[1:])
		case "disk":
			err = g.devices(words[1:])
		case "arc":
			if len(words) == 3 {
				g.arc[words[1]], err = strconv.ParseInt(words[2], 10, 64)
			}
		case "postgres":
			_, err = fmt.Sscan(strings.Join(words[1:], " "), &g.walSyncs, &g.walSyncTime, &g.blocks)
		}
		if err != nil {
			return g, fmt.Errorf("%q: %w", line, err)
		}
	}
	if g.total == 0 || arc && len(g.arc) < 5 {
		return g, fmt.Errorf("not all was gauged: %q", text)
	}
	return g, nil
}

// processors is a line of /proc/stat; see proc(5).
func (g *gauge) processors(words []string) error {
	n, err := numbers(words)
	if err != nil || len(n) < 8 {
		return fmt.Errorf("%d numbers: %w", len(n), err)
	}
	g.idle = n[3] + n[4] // with waiting for a disk
	for _, ticks := range n[:8] {
		g.total += ticks
	}
	return nil
}

// devices: Documentation/block/stat.rst of the kernel.
func (g *gauge) devices(words []string) error {
	n, err := numbers(words)
	if err != nil || len(n) < 17 {
		return fmt.Errorf("%d numbers: %w", len(n), err)
	}
	g.disk = Disk{Reads: n[0], ReadBytes: n[2] * sector, Writes: n[4], WriteBytes: n[6] * sector, Flushes: n[15], FlushMillis: n[16]}
	return nil
}

func (g gauge) busySince(then gauge) float64 {
	return 1 - float64(g.idle-then.idle)/float64(max(1, g.total-then.total))
}

func numbers(words []string) ([]int64, error) {
	out := make([]int64, len(words))
	for i, word := range words {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}
