package benchrun

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/internal/benchrun/machine"
)

// files of the server's machine by path, as a superuser may read them, and the
// directory of its data. Nothing where there is no superuser to ask.
func (d *database) files(ctx context.Context, paths []string) (texts map[string]string, directory string, err error) {
	if d.checker == nil {
		return nil, "", nil
	}
	texts = map[string]string{}
	err = session(ctx, d.checker, queryTimeout, func(ctx context.Context, c *pgx.Conn) error {
		if err := c.QueryRow(ctx, `SELECT current_setting('data_directory')`).Scan(&directory); err != nil {
			return fmt.Errorf("its data_directory: %w", err)
		}
		return readFiles(ctx, c, paths, texts)
	})
	if err != nil {
		return nil, "", fmt.Errorf("files of the server: %w", err)
	}
	return texts, directory, nil
}

// readFiles each by itself: what one kernel does not let read must not hide the rest.
func readFiles(ctx context.Context, c *pgx.Conn, paths []string, into map[string]string) error {
	for _, path := range paths {
		var text *string
		err := c.QueryRow(ctx, `SELECT pg_read_file($1, 0, $2, true)`, path, machine.MaxText).Scan(&text)
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

// counted by the kernel of the server's machine, and the directory of its data; empty
// where there is no superuser to ask.
func (d *database) counted(ctx context.Context) (machine.Counted, string, error) {
	texts, directory, err := d.files(ctx, machine.CountedPaths())
	if err != nil || directory == "" {
		return machine.Counted{}, "", err
	}
	folders := machine.ReadCounted(texts).PoolFolders(directory, walDirectory)
	if len(folders) == 0 {
		return machine.ReadCounted(texts), directory, nil
	}
	err = session(ctx, d.checker, queryTimeout, func(ctx context.Context, c *pgx.Conn) error {
		for _, folder := range folders {
			if err := readDatasets(ctx, c, folder, texts); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return machine.Counted{}, "", fmt.Errorf("counters of datasets: %w", err)
	}
	return machine.ReadCounted(texts), directory, nil
}

// readDatasets of a pool, each of which has a file in its folder.
func readDatasets(ctx context.Context, c *pgx.Conn, folder string, into map[string]string) error {
	rows, err := c.Query(ctx, `SELECT $1 || '/' || name FROM pg_ls_dir($1, true, false) AS name WHERE name LIKE $2 LIMIT $3`, folder, machine.DatasetFiles, mostDatasets)
	if err != nil {
		return err
	}
	paths, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	return readFiles(ctx, c, paths, into)
}
