package acks

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const log = `fail 1
at 100.0
ack 2
at 104.5
ack 3
at what
at 106.25
ack 5
fail 6
at 107.25
ack 7
done`

func TestRows(t *testing.T) {
	if diff := cmp.Diff(map[string]bool{"2": true, "3": true, "5": true, "7": true}, Rows(log)); diff != "" {
		t.Error(diff)
	}
}

func TestPause(t *testing.T) {
	for name, tc := range map[string]struct {
		since time.Time
		want  time.Duration
	}{
		"of all rows":                     {want: 4500 * time.Millisecond},
		"since a row and a second before": {time.Unix(105, 500e6), 1800 * time.Millisecond},
		"since the second-last row":       {time.Unix(107, 0), time.Second},
		"after all rows":                  {since: time.Unix(200, 0)},
	} {
		if got := Pause(log, tc.since); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
