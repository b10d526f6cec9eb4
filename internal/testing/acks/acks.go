// Package acks reads the logs of the clients that commit rows in the end-to-end tests. Such a client
// prints "at" with the seconds since 1970, and "ack" with the number of the row, once Postgres has
// acknowledged the commit.
package acks

import (
	"strconv"
	"strings"
	"time"
)

// Rows that were acknowledged, by number.
func Rows(log string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.SplitSeq(log, "\n") {
		if id, ok := strings.CutPrefix(line, "ack "); ok {
			out[id] = true
		}
	}
	return out
}

// Pause is the longest time between two rows that were acknowledged, to a tenth of a second. It
// begins with the last row of the second before since, or with the first row of the log where since is zero.
func Pause(log string, since time.Time) time.Duration {
	from := 0.0
	if !since.IsZero() {
		from = float64(since.UnixMilli())/1000 - 1
	}
	last, longest := 0.0, 0.0
	for line := range strings.SplitSeq(log, "\n") {
		text, timed := strings.CutPrefix(line, "at ")
		now, err := strconv.ParseFloat(text, 64)
		if !timed || err != nil || now < from {
			continue
		}
		if last > 0 {
			longest = max(longest, now-last)
		}
		last = now
	}
	return time.Duration(longest * float64(time.Second)).Round(100 * time.Millisecond)
}
