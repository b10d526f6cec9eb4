package watch

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/pgstorage/pgstorage/internal/site/report"
)

// question has a row as its answer, in the order of the fields of answer. It has functions
// and no operators, all of them qualified, so no search_path changes what it means.
//
// The user of a session has REPLICATION and LOGIN, and no other right. It may call all of
// these functions. pg_stat_wal_receiver hides received_tli from it, so a standby's timeline
// is that of its control file. After the promotion of another server, it enters the new
// timeline there with its next restartpoint, minutes later. On a server that writes, the
// control file is as late, but the name of the WAL file is exact.
//
// A subquery calls pg_is_in_recovery once, because that function is volatile. A promotion
// between two calls would mix the answers of a standby with those of a primary.
const question = `SELECT s.recovers,
	(SELECT c.system_identifier FROM pg_catalog.pg_control_system() AS c),
	CASE WHEN s.recovers THEN
		(SELECT GREATEST(c.timeline_id, r.min_recovery_end_timeline)
			FROM pg_catalog.pg_control_checkpoint() AS c CROSS JOIN pg_catalog.pg_control_recovery() AS r)
		ELSE 0 END,
	CASE WHEN s.recovers THEN '' ELSE pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()) END,
	COALESCE(pg_catalog.current_setting('pgstorage.primary', true), ''),
	COALESCE(pg_catalog.current_setting('pgstorage.topology', true), ''),
	COALESCE(pg_catalog.current_setting('pgstorage.epoch', true), ''),
	pg_catalog.date_part('epoch', pg_catalog.clock_timestamp())
FROM (SELECT pg_catalog.pg_is_in_recovery() AS recovers) AS s`

// answer to the question.
type answer struct {
	recovers bool
	// system is unsigned, in a signed type of SQL.
	system int64
	// timeline of the control file, in recovery alone.
	timeline int64
	// file of WAL that is written; empty in recovery.
	file              string
	primary, topology string
	// epoch in decimal; empty where it is not set.
	epoch string
	// now is the server's clock, in seconds since 1970.
	now float64
}

// fields of the answer, to scan a row into.
func (a *answer) fields() []any {
	return []any{&a.recovers, &a.system, &a.timeline, &a.file, &a.primary, &a.topology, &a.epoch, &a.now}
}

// errNotUnderstood is an answer that no site gives whose server is Postgres and whose
// settings the operator wrote.
var errNotUnderstood = errors.New("the answer has values that are not expected")

// read an answer between two times of the local clock. What a report must not have is an
// error.
func (a *answer) read(name string, before, after time.Time) (report.Member, error) {
	timeline := a.timeline
	if !a.recovers {
		written, err := timelineOf(a.file)
		if err != nil {
			return report.Member{}, err
		}
		timeline = written
	}
	epoch, err := epochOf(a.epoch)
	if err != nil {
		return report.Member{}, err
	}
	skew, err := skewOf(a.now, before, after)
	if err != nil {
		return report.Member{}, err
	}
	m := report.Member{
		Name: name, Asked: before.Unix(), Answered: true, InRecovery: a.recovers,
		System:   strconv.FormatUint(uint64(a.system), 10), //nolint:gosec // G115: the unsigned number that it was
		Timeline: timeline, Primary: a.primary, Epoch: epoch, Topology: a.topology, ClockSkewMilliseconds: skew,
	}
	if err := m.Validate(); err != nil {
		return report.Member{}, fmt.Errorf("%w: %w", errNotUnderstood, err)
	}
	return m, nil
}

const (
	// A WAL file is named by its timeline, and where in it it is, in hexadecimal digits.
	walFileDigits  = 24
	timelineDigits = 8
)

func timelineOf(file string) (int64, error) {
	if len(file) != walFileDigits {
		return 0, fmt.Errorf("%w: the name of a WAL file has %d characters", errNotUnderstood, len(file))
	}
	timeline, err := strconv.ParseUint(file[:timelineDigits], 16, 32)
	if err != nil {
		return 0, fmt.Errorf("%w: the name of a WAL file does not begin with a timeline", errNotUnderstood)
	}
	return int64(timeline), nil
}

func epochOf(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	epoch, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: the epoch is not a number", errNotUnderstood)
	}
	return epoch, nil
}

// skewOf a clock in milliseconds: positive where it is ahead of the local one. It was read
// somewhere between two local times, here taken as the middle.
func skewOf(seconds float64, before, after time.Time) (int64, error) {
	// Not before 1970 or beyond the bound. NaN fails both comparisons.
	if !(seconds >= 0 && seconds*1000 < report.MaxSkew/2) {
		return 0, fmt.Errorf("%w: the clock", errNotUnderstood)
	}
	local := before.Add(after.Sub(before) / 2)
	return int64(math.Round(seconds*1000)) - local.UnixMilli(), nil
}
