package observer

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/internal/bench/runner/machine"
)

// walDirectory is where CloudNativePG mounts a volume of its own for the WAL.
const walDirectory = "/var/lib/postgresql/wal"

// Files of the server's machine.
type Files struct {
	// Texts by path.
	Texts map[string]string `json:"texts"`
	// Directory of the server's data.
	Directory string `json:"directory"`
}

// Standbys of the server: the sync_state of each.
func (o *Observer) Standbys(ctx context.Context) (states []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	err = o.session(ctx, func(ctx context.Context, c *pgx.Conn) error {
		rows, err := c.Query(ctx, `SELECT coalesce(sync_state, '') FROM pg_catalog.pg_stat_replication ORDER BY 1`)
		if err != nil {
			return err
		}
		states, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return states, err
}

// Look reads the files about the server's pod and node.
func (o *Observer) Look(ctx context.Context) (Files, error) {
	return o.read(ctx, func(ctx context.Context, c *pgx.Conn, f Files) error {
		return readFiles(ctx, c, machine.Paths(), f.Texts)
	})
}

// Counted are the files in which the server's kernel counts what is written.
func (o *Observer) Counted(ctx context.Context) (Files, error) {
	return o.read(ctx, func(ctx context.Context, c *pgx.Conn, f Files) error {
		if err := readFiles(ctx, c, machine.CountedPaths(), f.Texts); err != nil {
			return err
		}
		for _, folder := range machine.ReadCounted(f.Texts).PoolFolders(f.Directory, walDirectory) {
			if err := readDatasets(ctx, c, folder, f.Texts); err != nil {
				return fmt.Errorf("counters of datasets: %w", err)
			}
		}
		return nil
	})
}

func (o *Observer) read(ctx context.Context, use func(context.Context, *pgx.Conn, Files) error) (Files, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	f := Files{Texts: map[string]string{}}
	err := o.session(ctx, func(ctx context.Context, c *pgx.Conn) (err error) {
		if f.Directory, err = dataDirectory(ctx, c); err != nil {
			return err
		}
		return use(ctx, c, f)
	})
	if err != nil {
		return Files{}, fmt.Errorf("files of the server: %w", err)
	}
	return f, nil
}

func dataDirectory(ctx context.Context, c *pgx.Conn) (directory string, err error) {
	if err := c.QueryRow(ctx, `SELECT pg_catalog.current_setting('data_directory')`).Scan(&directory); err != nil {
		return "", fmt.Errorf("its data_directory: %w", err)
	}
	return directory, nil
}

// readFiles reads each file on its own: one that a kernel does not let read must not hide the
// rest.
func readFiles(ctx context.Context, c *pgx.Conn, paths []string, into map[string]string) error {
	for _, path := range paths {
		var text *string
		err := c.QueryRow(ctx, `SELECT pg_catalog.pg_read_file($1, 0, $2, true)`, path, machine.MaxText).Scan(&text)
		switch {
		case c.IsClosed():
			return fmt.Errorf("%s: %w", path, err)
		case err == nil && text != nil:
			into[path] = *text
		}
	}
	return nil
}

// mostDatasets of a pool that are looked through for those of the server.
const mostDatasets = 5000

// readDatasets of a pool, each of which has a file in its folder.
func readDatasets(ctx context.Context, c *pgx.Conn, folder string, into map[string]string) error {
	rows, err := c.Query(ctx, `SELECT $1 || '/' || name FROM pg_catalog.pg_ls_dir($1, true, false) AS name WHERE pg_catalog.starts_with(name, $2) LIMIT $3`,
		folder, machine.DatasetFile, mostDatasets)
	if err != nil {
		return err
	}
	paths, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	return readFiles(ctx, c, paths, into)
}
