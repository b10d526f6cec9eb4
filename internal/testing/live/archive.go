package live

import "fmt"

// Archived returns an error while the primary has not archived a WAL file.
func Archived(file string, psql func(sql string) (string, error)) error {
	last, err := psql("SELECT last_archived_wal FROM pg_stat_archiver")
	if err != nil {
		return err
	}
	if last < file {
		return fmt.Errorf("the last file in the archive is %q", last)
	}
	return nil
}
