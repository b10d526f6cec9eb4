package benchrun

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/internal/benchrun/machine"
)

// files of the server's machine by path, as a superuser may read them, and the
// directory of its data. Nothing where there is no superuser to ask.
func (d *database) files(ctx context.Context) (texts map[string]string, directory string, err error) {
	if d.checker == nil {
		return nil, "", nil
	}
	texts = map[string]string{}
	err = session(ctx, d.checker, queryTimeout, func(ctx context.Context, c *pgx.Conn) error {
		if err := c.QueryRow(ctx, `SELECT current_setting('data_directory')`).Scan(&directory); err != nil {
			return fmt.Errorf("its data_directory: %w", err)
		}
		for _, path := range machine.Paths() {
			// Each by itself: what one kernel does not let read must not hide the rest.
			var text *string
			err := c.QueryRow(ctx, `SELECT pg_read_file($1, 0, $2, true)`, path, machine.MaxText).Scan(&text)
			switch {
			case c.IsClosed():
				return fmt.Errorf("%s: %w", path, err)
			case err == nil && text != nil:
				texts[path] = *text
			}
		}
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("files of the server: %w", err)
	}
	return texts, directory, nil
}
