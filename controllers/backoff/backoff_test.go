package backoff

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestLimiter(t *testing.T) {
	l, failing := Limiter(time.Second), reconcile.Request{}
	var last time.Duration
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 120, 120} {
		if last = l.When(failing); last != want*time.Second {
			t.Errorf("%s, want %s", last, want*time.Second)
		}
	}
	if last != Longest {
		t.Errorf("the longest is %s, want %s", last, Longest)
	}
	l.Forget(failing)
	if got := l.When(failing); got != time.Second {
		t.Errorf("%s after a success, want 1s", got)
	}
}
