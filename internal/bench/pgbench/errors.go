package pgbench

import (
	"errors"
	"fmt"
)

// ErrNoReport is the error of output without a report: pgbench stopped before
// the run, and stderr says why.
var ErrNoReport = errors.New("pgbench printed no report")

// LineError is a line that begins as one of pgbench's and does not match to its end.
type LineError struct {
	// Line is the number of the line, from 1.
	Line int
	Text string
	// Err says what was expected.
	Err error
}

func (e *LineError) Error() string {
	const enough = 120
	text := e.Text
	if len(text) > enough {
		text = text[:enough] + "..."
	}
	return fmt.Sprintf("line %d %q: %v", e.Line, text, e.Err)
}

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }
