//go:build linux

package hosttime

import (
	"testing"
	"time"
)

func TestElsewhereIsTheShareOfOtherPrograms(t *testing.T) {
	for name, tc := range map[string]struct {
		busy, own time.Duration
		want      float64
	}{
		"others":             {6 * time.Second, 4 * time.Second, 0.2},
		"nobody else":        {4 * time.Second, 4 * time.Second, 0},
		"own, counted finer": {4 * time.Second, 4*time.Second + time.Millisecond, 0},
		"idle":               {0, 0, 0},
	} {
		then := Spent{all: time.Second, busy: time.Second, own: time.Second}
		now := Spent{all: then.all + 10*time.Second, busy: then.busy + tc.busy, own: then.own + tc.own}
		if got := now.Elsewhere(then); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestHostSpendsTime(t *testing.T) {
	then, err := Now()
	if err != nil || then.all <= 0 || then.busy <= 0 || then.all < then.busy {
		t.Errorf("%+v, %v", then, err)
	}
}
