package restorecheck

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// position is which database a server has, and how far its WAL was restored.
type position struct {
	system  string
	version int
	// wal is the file that the restore reached, without its timeline.
	wal string
}

// positionOf a server that ended its recovery. The history of its timeline has where that
// was.
func positionOf(ctx context.Context, config *pgx.ConnConfig) (position, error) {
	var p position
	var segment int64
	var history string
	err := session(ctx, config, func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, `SELECT s.system_identifier::pg_catalog.text, pg_catalog.current_setting('server_version_num')::pg_catalog.int4,
			(SELECT w.setting::pg_catalog.int8 FROM pg_catalog.pg_settings AS w WHERE w.name = 'wal_segment_size'),
			(SELECT pg_catalog.pg_read_file('pg_wal/' || f.name) FROM pg_catalog.pg_ls_waldir() AS f
				WHERE f.name LIKE '%.history' ORDER BY f.name DESC LIMIT 1)
			FROM pg_catalog.pg_control_system() AS s`).Scan(&p.system, &p.version, &segment, &history)
	})
	if err != nil {
		return p, fmt.Errorf("read where the restore ended: %w", err)
	}
	p.wal, err = fileOf(history, segment)
	return p, err
}

// fileOf the position at which the last timeline of a history began, without the timeline in
// its name. Each line has a timeline, where it was left, and why
// (PostgreSQL, src/backend/access/transam/timeline.c).
func fileOf(history string, segment int64) (string, error) {
	at, err := switchpoint(history)
	if err != nil {
		return "", err
	}
	if segment <= 0 {
		return "", fmt.Errorf("wal_segment_size is %d", segment)
	}
	if at > 0 {
		at-- // a switch ends a file, and the position is the first byte of the next
	}
	size := uint64(segment)
	number, each := at/size, (uint64(1)<<32)/size
	return fmt.Sprintf("%08X%08X", number/each, number%each), nil
}

func switchpoint(history string) (uint64, error) {
	last := ""
	for line := range strings.Lines(history) {
		if fields := strings.Fields(line); len(fields) >= 2 && !strings.HasPrefix(fields[0], "#") {
			last = fields[1]
		}
	}
	high, low, found := strings.Cut(last, "/")
	if !found {
		return 0, errors.New("the history of the timeline has no position")
	}
	h, err := strconv.ParseUint(high, 16, 32)
	if err != nil {
		return 0, fmt.Errorf("history of the timeline: %w", err)
	}
	l, err := strconv.ParseUint(low, 16, 32)
	if err != nil {
		return 0, fmt.Errorf("history of the timeline: %w", err)
	}
	return h<<32 | l, nil
}
