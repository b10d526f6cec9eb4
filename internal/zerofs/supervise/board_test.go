package supervise

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Less than a second is nothing, so that a server at work does not write its status for it.
func TestWaits(t *testing.T) {
	now := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	got := waits(map[string]time.Time{"a": now.Add(-999 * time.Millisecond), "b": now.Add(-2999 * time.Millisecond), "c": now.Add(time.Second)}, now)
	if diff := cmp.Diff(map[string]int64{"b": 2}, got); diff != "" {
		t.Error(diff)
	}
	if got := waits(map[string]time.Time{"a": now}, now); got != nil {
		t.Error(got)
	}
}
