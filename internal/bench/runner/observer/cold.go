package observer

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/internal/bench/runner/machine"
)

const (
	// evictSince is the first version whose pg_buffercache can empty a buffer.
	evictSince = 170000
	// evictTries: a buffer that a session holds cannot be emptied.
	evictTries = 5
	// mostProbes of the largest file are read to see whether they come from the disk. Each is
	// at least probeDistance from the one before: what the kernel reads ahead of one must not
	// be the next.
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

// ErrKeepsCaches is the refusal to empty the caches of a cluster that others use.
var ErrKeepsCaches = errors.New("caches are emptied only on a temporary cluster of a matrix")

// Chill empties what holds the benchmark's tables in memory, and proves it: a figure must
// not be called cold that is not. The caller's ctx bounds it.
func (o *Observer) Chill(ctx context.Context) error {
	if !o.Cold {
		return ErrKeepsCaches
	}
	return o.session(ctx, func(ctx context.Context, c *pgx.Conn) error {
		if err := canChill(ctx, c); err != nil {
			return err
		}
		for _, step := range []func(context.Context, *pgx.Conn) error{checkpoint, o.emptyBuffers, checkpoint, o.emptyPages, o.proveCold} {
			if err := step(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// canChill says why not, before anything is emptied.
func canChill(ctx context.Context, c *pgx.Conn) error {
	var number int
	var version string
	err := c.QueryRow(ctx, `SELECT pg_catalog.current_setting('server_version_num')::pg_catalog.int4, pg_catalog.current_setting('server_version')`).Scan(&number, &version)
	switch {
	case err != nil:
		return fmt.Errorf("version of the server: %w", err)
	case number < evictSince:
		return fmt.Errorf("needs pg_buffercache_evict of PostgreSQL %d, and the server is %s", evictSince/10000, version)
	}
	directory, err := dataDirectory(ctx, c)
	if err != nil {
		return err
	}
	texts := map[string]string{}
	if err := readFiles(ctx, c, machine.Paths(), texts); err != nil {
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

// checkpoint writes what was changed. Before buffers are emptied, it saves writing them one by
// one; after it, the kernel has flushed what they held.
func checkpoint(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, `CHECKPOINT`)
	return err
}

// firstOfUsers is the first number of an object that does not belong to Postgres itself
// (FirstNormalObjectId in PostgreSQL, src/include/access/transam.h).
const firstOfUsers = 16384

// emptyBuffers empties shared_buffers of the benchmark's database. The view of buffers is of
// all databases, so the session can be in another one. An extension that was not there before
// is gone afterwards.
func (o *Observer) emptyBuffers(ctx context.Context, c *pgx.Conn) (err error) {
	tx, err := c.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Rollback(context.WithoutCancel(ctx))) }()
	schema, err := bufferCache(ctx, tx)
	if err != nil {
		return fmt.Errorf("extension pg_buffercache: %w", err)
	}
	return o.evict(ctx, tx, schema)
}

// bufferCache is the schema of the extension, which is made where there is none.
func bufferCache(ctx context.Context, tx pgx.Tx) (schema string, err error) {
	const find = `SELECT n.nspname::pg_catalog.text FROM pg_catalog.pg_extension AS e JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'pg_buffercache'`
	err = tx.QueryRow(ctx, find).Scan(&schema)
	if !errors.Is(err, pgx.ErrNoRows) {
		return schema, err
	}
	const own = "pgstorage_bench_buffers"
	for _, s := range []string{`CREATE SCHEMA ` + own, `CREATE EXTENSION pg_buffercache WITH SCHEMA ` + own} {
		if _, err := tx.Exec(ctx, s); err != nil {
			return "", err
		}
	}
	return own, nil
}

func (o *Observer) evict(ctx context.Context, tx pgx.Tx, schema string) error {
	in := pgx.Identifier{schema}.Sanitize()
	const database = `(SELECT oid FROM pg_catalog.pg_database WHERE datname = $1)`
	left := 0
	for range evictTries {
		// A page that was changed is written on the way out.
		_, err := tx.Exec(ctx, `SELECT pg_catalog.count(`+in+`.pg_buffercache_evict(bufferid)) FROM `+in+`.pg_buffercache WHERE reldatabase = `+database, o.Database)
		if err != nil {
			return fmt.Errorf("empty shared_buffers: %w", err)
		}
		err = tx.QueryRow(ctx, `SELECT pg_catalog.count(*) FROM `+in+`.pg_buffercache WHERE reldatabase = `+database+` AND relfilenode >= $2`, o.Database, firstOfUsers).Scan(&left)
		if err != nil {
			return fmt.Errorf("read shared_buffers back: %w", err)
		}
		if left == 0 {
			return nil
		}
	}
	return fmt.Errorf("%d pages of tables are in shared_buffers after %d tries: a session reads them", left, evictTries)
}

// folder of the database's files.
func (o *Observer) folder(ctx context.Context, c *pgx.Conn) (folder string, err error) {
	var elsewhere bool
	err = c.QueryRow(ctx, `SELECT pg_catalog.current_setting('data_directory') || '/base/' || d.oid,
		EXISTS (SELECT FROM pg_catalog.pg_tablespace AS t, pg_catalog.pg_tablespace_databases(t.oid) AS has
			WHERE t.spcname <> 'pg_default' AND t.spcname <> 'pg_global' AND has = d.oid)
		FROM pg_catalog.pg_database AS d WHERE d.datname = $1`, o.Database).Scan(&folder, &elsewhere)
	if err != nil {
		return "", fmt.Errorf("files of the database: %w", err)
	}
	if elsewhere || !plainPath.MatchString(folder) {
		return "", fmt.Errorf("tables are in tablespaces, or the path is unusual: %s", folder)
	}
	return folder, nil
}

// emptyPages of the database's files in the kernel's cache. It keeps those that were not
// flushed yet, of which there are none after a checkpoint.
func (o *Observer) emptyPages(ctx context.Context, c *pgx.Conn) error {
	folder, err := o.folder(ctx, c)
	if err != nil {
		return err
	}
	if _, err := c.Exec(ctx, `COPY (SELECT 1 WHERE false) TO PROGRAM '`+dropPages(folder)+`'`); err != nil {
		return fmt.Errorf("empty the page cache with GNU dd: %w", err)
	}
	return nil
}

// dropPages of all files in a folder, by posix_fadvise. GNU dd does that when it reads nothing
// of a file with the flag nocache (GNU coreutils, dd invocation).
func dropPages(folder string) string {
	return `set -e; for f in ` + folder + `/*; do dd if="$f" iflag=nocache count=0 status=none; done`
}

// proveCold reads single pages of the largest file. Each must come from a device, by what the
// kernel has counted for this session's process (proc_pid_io(5), read_bytes).
func (o *Observer) proveCold(ctx context.Context, c *pgx.Conn) error {
	path, size, err := o.largest(ctx, c)
	if err != nil {
		return fmt.Errorf("the largest table: %w", err)
	}
	probes := min(mostProbes, max(1, size/probeDistance))
	for i := range probes {
		before, err := deviceReads(ctx, c)
		if err != nil {
			return err
		}
		offset := i * (size / probes) / pageSize * pageSize
		if _, err := c.Exec(ctx, `SELECT pg_catalog.pg_read_binary_file($1, $2, $3)`, path, offset, pageSize); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		after, err := deviceReads(ctx, c)
		if err != nil {
			return err
		}
		if after == before {
			return fmt.Errorf("page %d of the largest table was read without a device read: it is still in memory", offset/pageSize)
		}
	}
	return nil
}

// largest file of a table or index, or the first gigabyte of it, which is enough.
func (o *Observer) largest(ctx context.Context, c *pgx.Conn) (path string, size int64, err error) {
	folder, err := o.folder(ctx, c)
	if err != nil {
		return "", 0, err
	}
	err = c.QueryRow(ctx, `SELECT $1 || '/' || name, (pg_catalog.pg_stat_file($1 || '/' || name, true)).size AS size
		FROM pg_catalog.pg_ls_dir($1, true, false) AS name
		WHERE CASE WHEN name ~ '^[0-9]{5,18}$' THEN name::pg_catalog.int8 >= $2 END ORDER BY size DESC NULLS LAST LIMIT 1`, folder, firstOfUsers).Scan(&path, &size)
	return path, size, err
}

// deviceReads of this session's process so far, in bytes.
func deviceReads(ctx context.Context, c *pgx.Conn) (int64, error) {
	const file = "/proc/self/io"
	var text string
	if err := c.QueryRow(ctx, `SELECT pg_catalog.pg_read_file($1, 0, $2)`, file, machine.MaxText).Scan(&text); err != nil {
		return 0, fmt.Errorf("the kernel does not report reads from devices: %w", err)
	}
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(line, "read_bytes: "); found {
			return strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no read_bytes", file)
}
