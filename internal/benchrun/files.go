package benchrun

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/internal/benchrun/machine"
)

// look at the server's machine as a superuser, who is told the directory of its data.
// Without one nothing is looked at, and the directory is empty.
func (d *database) look(ctx context.Context, read func(ctx context.Context, c *pgx.Conn, directory string) error) (directory string, err error) {
	if d.checker == nil {
		return "", nil
	}
	err = session(ctx, d.checker, queryTimeout, func(ctx context.Context, c *pgx.Conn) error {
		if err := c.QueryRow(ctx, `SELECT current_setting('data_directory')`).Scan(&directory); err != nil {
			return fmt.Errorf("its data_directory: %w", err)
		}
		return read(ctx, c, directory)
	})
	if err != nil {
		return "", fmt.Errorf("files of the server: %w", err)
	}
	return directory, nil
}

// files of the server's machine by path, and the directory of its data.
func (d *database) files(ctx context.Context) (texts map[string]string, directory string, err error) {
	texts = map[string]string{}
	directory, err = d.look(ctx, func(ctx context.Context, c *pgx.Conn, _ string) error {
		return readFiles(ctx, c, machine.Paths(), texts)
	})
	if err != nil || directory == "" {
		return nil, "", err
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

// counted by the kernel of the server's machine, and the directory of its data.
func (d *database) counted(ctx context.Context) (machine.Counted, string, error) {
	texts := map[string]string{}
	directory, err := d.look(ctx, func(ctx context.Context, c *pgx.Conn, directory string) error {
		if err := readFiles(ctx, c, machine.CountedPaths(), texts); err != nil {
			return err
		}
		for _, folder := range machine.ReadCounted(texts).PoolFolders(directory, walDirectory) {
			if err := readDatasets(ctx, c, folder, texts); err != nil {
				return fmt.Errorf("counters of datasets: %w", err)
			}
		}
		return nil
	})
	return machine.ReadCounted(texts), directory, err
}

// readDatasets of a pool, each of which has a file in its folder.
func readDatasets(ctx context.Context, c *pgx.Conn, folder string, into map[string]string) error {
	rows, err := c.Query(ctx, `SELECT $1 || '/' || name FROM pg_ls_dir($1, true, false) AS name WHERE starts_with(name, $2) LIMIT $3`, folder, machine.DatasetFile, mostDatasets)
	if err != nil {
		return err
	}
	paths, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	return readFiles(ctx, c, paths, into)
}
