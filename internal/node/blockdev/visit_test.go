package blockdev

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

// waiting is a device whose reads or opens wait until it is released.
type waiting struct {
	opens    int
	open     bool
	released chan struct{}
}

func (w *waiting) Open(string) (Content, error) {
	w.opens++
	if w.open {
		<-w.released
	}
	return w, nil
}

func (w *waiting) ReadAt(p []byte, _ int64) (int, error) {
	<-w.released
	return len(p), nil
}

func (w *waiting) Close() error { return nil }

// patient is a client that waits for a device for an instant.
func patient(w *waiting) *Client {
	return &Client{Open: w.Open, Patience: time.Millisecond}
}

// idle waits until no visit of a device is under way.
func (v *visits) idle(device string) {
	for !v.begin(device) {
		runtime.Gosched()
	}
	v.end(device)
}

// The worker that waits for a device may be the only one that can reconnect it.
func TestAReadThatDoesNotEndIsLeftAlone(t *testing.T) {
	const device = "/dev/nbd0"
	w := &waiting{released: make(chan struct{})}
	c := patient(w)
	var s Signatures
	for _, want := range []string{"no answer from ", "an earlier read of "} {
		s = Signatures{Device: device}
		if err := c.content(t.Context(), Device{Size: 1 << 20}, &s); !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(err.Error(), want+device) {
			t.Errorf("error %v, want %s...", err, want)
		}
	}
	for !c.visits.holds(device) { // the patience can end before the device is open
		runtime.Gosched()
	}
	// The read holds the device, which is not a use by another program.
	if used, err := c.InUse(t.Context(), device); used || err != nil || w.opens != 1 {
		t.Errorf("used %v, %v, opened %d times", used, err, w.opens)
	}
	close(w.released)
	c.visits.idle(device)
	c.Patience = 0
	s = Signatures{Device: device}
	if err := c.content(t.Context(), Device{Size: 1 << 20}, &s); err != nil || !s.Blank() {
		t.Errorf("%v, %s", err, s)
	}
}

func TestAnOpenThatDoesNotEndIsLeftAlone(t *testing.T) {
	const device = "/dev/nbd0"
	w := &waiting{open: true, released: make(chan struct{})}
	c := patient(w)
	for range 3 {
		if used, err := c.InUse(t.Context(), device); used || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("used %v, %v", used, err)
		}
	}
	close(w.released)
	c.visits.idle(device)
	c.Patience = 0
	if used, err := c.InUse(t.Context(), device); used || err != nil || w.opens != 2 {
		t.Errorf("used %v, %v, opened %d times", used, err, w.opens)
	}
}

func TestInUse(t *testing.T) {
	for _, c := range []struct {
		open error
		want bool
	}{{nil, false}, {ErrInUse, true}, {errors.New("no such device"), false}} {
		client := &Client{Open: func(string) (Content, error) { return &waiting{}, c.open }}
		if used, err := client.InUse(t.Context(), "/dev/nbd0"); used != c.want || err != nil {
			t.Errorf("%v: used %v, %v", c.open, used, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	w := &waiting{open: true, released: make(chan struct{})}
	defer close(w.released)
	if _, err := patient(w).InUse(ended, "/dev/nbd0"); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}
