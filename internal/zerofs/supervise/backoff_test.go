package supervise

import (
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	delay := backoff.DelayFunc()
	for i, want := range []time.Duration{250, 500, 1000, 2000, 3000, 3000, 3000} {
		if got := delay(); got != want*time.Millisecond {
			t.Errorf("%d: %s, wanted %d ms", i, got, want)
		}
	}
}
