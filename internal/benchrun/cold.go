package benchrun

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/internal/benchrun/machine"
)

const (
	// evictSince is the first version whose pg_buffercache can empty a buffer.
	evictSince = 17
	// evictTries: a buffer that somebody holds cannot be emptied.
	evictTries = 5
	// mostProbes of the largest table that are read to see whether they come from the
	// disk, each at least probeDistance from the one before: what the kernel reads ahead
	// of one must not be the next.
	mostProbes    = 8
	probeDistance = 2 << 20
	pageSize      = 8 << 10
)

// unemptied says of file systems why what they hold in memory cannot be emptied from
// within the server's pod.
var unemptied = map[string]string{
	"zfs":   "the data is on ZFS, whose ARC cannot be emptied from a pod: leave coldCache out, and take a scale beyond the node's memory",
	"tmpfs": "the data is in memory: leave coldCache out",
}

// plainPath is one that needs no quoting in a shell.
var plainPath = regexp.MustCompile(`^/[A-Za-z0-9_./-]+$`)

// chill empties what holds the benchmark's tables in memory, where that was asked for,
// and proves it: a figure must not be called cold that is not.
func (r *run) chill(ctx context.Context) error {
	if !r.Spec.Pgbench.ColdCache {
		return nil
	}
	r.progress(PhaseRunning, 0, "empties the server's caches")
	err := r.canChill(ctx)
	if err == nil {
		err = session(ctx, r.db.checker, r.tableTimeout(), func(ctx context.Context, c *pgx.Conn) error {
			for _, step := range []func(context.Context, *pgx.Conn) error{checkpoint, emptyBuffers, checkpoint, emptyPages, proveCold} {
				if err := step(ctx, c); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return &Failure{Reason: ReasonCacheNotEmptied, Err: fmt.Errorf("spec.pgbench.coldCache: %w", err)}
	}
	return nil
}

// canChill says why not, before anything is emptied.
func (r *run) canChill(ctx context.Context) error {
	switch {
	case r.db.checker == nil:
		return errors.New("caches are emptied by the superuser of integrity Full")
	case r.server.Major < evictSince:
		return fmt.Errorf("needs pg_buffercache_evict of PostgreSQL %d, and the server is %s", evictSince, r.server.Version)
	}
	texts, directory, err := r.db.files(ctx)
	if err != nil {
		return err
	}
	mount, known := machine.Read(texts).Under(directory)
	if !known {
		return fmt.Errorf("the file system of %s is not known", directory)
	}
	if why := unemptied[mount.Type]; why != "" {
		return errors.New(why)
	}
	return nil
}

// checkpoint writes what was changed: before buffers are emptied, so that they are not
// written one by one, and after it, so that the kernel has flushed what they held.
func checkpoint(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, `CHECKPOINT`)
	return err
}

// emptyBuffers of the database in shared_buffers.
func emptyBuffers(ctx context.Context, c *pgx.Conn) error {
	if _, err := c.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS pg_buffercache`); err != nil {
		return fmt.Errorf("extension pg_buffercache: %w", err)
	}
	left := 0
	for range evictTries {
		// A page that was changed is written on the way out.
		_, err := c.Exec(ctx, `SELECT count(pg_buffercache_evict(bufferid)) FROM pg_buffercache
			WHERE reldatabase = (SELECT oid FROM pg_database WHERE datname = current_database())`)
		if err != nil {
			return fmt.Errorf("empty shared_buffers: %w", err)
		}
		err = c.QueryRow(ctx, `SELECT count(*) FROM pg_buffercache AS b JOIN pg_class AS t ON pg_relation_filenode(t.oid) = b.relfilenode
			WHERE b.reldatabase = (SELECT oid FROM pg_database WHERE datname = current_database()) AND t.oid >= $1`, firstOfUsers).Scan(&left)
		if err != nil {
			return fmt.Errorf("read shared_buffers back: %w", err)
		}
		if left == 0 {
			return nil
		}
	}
	return fmt.Errorf("%d pages of tables are in shared_buffers after %d tries: somebody reads them", left, evictTries)
}

// firstOfUsers is the first number of an object that is not Postgres' own
// (FirstNormalObjectId in PostgreSQL, src/include/access/transam.h).
const firstOfUsers = 16384

// emptyPages of the database's files in the kernel's cache. It keeps those that were not
// flushed yet, of which there are none after a checkpoint.
func emptyPages(ctx context.Context, c *pgx.Conn) error {
	var folder string
	var elsewhere bool
	err := c.QueryRow(ctx, `SELECT current_setting('data_directory') || '/base/' || oid,
		EXISTS (SELECT FROM pg_class WHERE reltablespace <> 0 AND oid >= $1) OR dattablespace <> (SELECT oid FROM pg_tablespace WHERE spcname = 'pg_default')
		FROM pg_database WHERE datname = current_database()`, firstOfUsers).Scan(&folder, &elsewhere)
	if err != nil {
		return fmt.Errorf("files of the database: %w", err)
	}
	if elsewhere || !plainPath.MatchString(folder) {
		return fmt.Errorf("tables are in tablespaces, or the path is unusual: %s", folder)
	}
	if _, err := c.Exec(ctx, `COPY (SELECT 1 WHERE false) TO PROGRAM '`+dropPages(folder)+`'`); err != nil {
		return fmt.Errorf("empty the page cache with GNU dd: %w", err)
	}
	return nil
}

// dropPages of all files in a folder is what GNU dd does when it reads nothing of a
// file with the flag nocache (GNU coreutils, dd invocation), by posix_fadvise.
func dropPages(folder string) string {
	return `set -e; for f in ` + folder + `/*; do dd if="$f" iflag=nocache count=0 status=none; done`
}

// proveCold reads single pages of the largest table: each must come from a device, by
// what the kernel has counted for this session's process (proc_pid_io(5), read_bytes).
func proveCold(ctx context.Context, c *pgx.Conn) error {
	var path string
	var size int64
	err := c.QueryRow(ctx, `SELECT pg_relation_filepath(oid), pg_relation_size(oid) FROM pg_class
		WHERE relkind = 'r' AND oid >= $1 ORDER BY 2 DESC LIMIT 1`, firstOfUsers).Scan(&path, &size)
	if err != nil {
		return fmt.Errorf("the largest table: %w", err)
	}
	// Of a larger table the first file of 1 GiB is enough.
	size = min(size, 1<<30)
	probes := min(mostProbes, max(1, size/probeDistance))
	for i := range probes {
		before, err := deviceReads(ctx, c)
		if err != nil {
			return err
		}
		offset := i * (size / probes) / pageSize * pageSize
		if _, err := c.Exec(ctx, `SELECT pg_read_binary_file($1, $2, $3)`, path, offset, pageSize); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		after, err := deviceReads(ctx, c)
		if err != nil {
			return err
		}
		if after == before {
			return fmt.Errorf("page %d of the largest table was read and did not come from a device: it is still in memory", offset/pageSize)
		}
	}
	return nil
}

// deviceReads of this session's process so far, in bytes.
func deviceReads(ctx context.Context, c *pgx.Conn) (int64, error) {
	const file = "/proc/self/io"
	var text string
	if err := c.QueryRow(ctx, `SELECT pg_read_file($1, 0, $2)`, file, machine.MaxText).Scan(&text); err != nil {
		return 0, fmt.Errorf("the kernel does not tell what was read from devices: %w", err)
	}
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(line, "read_bytes: "); found {
			return strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no read_bytes", file)
}
