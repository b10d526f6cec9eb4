//go:build linux

package vm

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"testing"
	"testing/synctest"
	"time"
)

func feed(t *testing.T, c *console, pieces ...string) {
	t.Helper()
	for _, piece := range pieces {
		if n, err := c.Write([]byte(piece)); err != nil || n != len(piece) {
			t.Fatalf("Write(%q) = %d, %v", piece, n, err)
		}
	}
}

func TestConsoleRelaysWholeLines(t *testing.T) {
	to := &bytes.Buffer{}
	c := newConsole(to)
	feed(t, c, "boo", "ted\r", "\nsecond\nthi")
	if got, want := to.String(), "booted\nsecond\n"; got != want {
		t.Errorf("relayed %q, want %q", got, want)
	}
	if got, want := c.tail(), "booted\nsecond\nthi"; got != want {
		t.Errorf("tail %q, want %q", got, want)
	}
}

func TestConsoleWaitFor(t *testing.T) {
	tests := map[string]struct {
		before, after []string
		ended         bool
		want          string
		wantErr       bool
	}{
		"a line from before":        {before: []string{"a\nready 1\nready 2\n"}, want: "ready 1"},
		"a line in pieces":          {after: []string{"rea", "dy 3", "\n"}, want: "ready 3"},
		"the last line of the dead": {before: []string{"ready 4\n"}, ended: true, want: "ready 4"},
		"no line of the dead":       {before: []string{"other\n"}, ended: true, wantErr: true},
		"a line that is not whole":  {before: []string{"ready"}, ended: true, wantErr: true},
		"never":                     {before: []string{"other\n"}, wantErr: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newConsole(&bytes.Buffer{})
				feed(t, c, test.before...)
				ended := make(chan struct{})
				if test.ended {
					close(ended)
				}
				go func() {
					for _, piece := range test.after {
						_, _ = c.Write([]byte(piece))
					}
				}()
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // of the bubble's clock
				defer cancel()
				got, err := c.waitFor(ctx, ended, "ready")
				if got != test.want || (err != nil) != test.wantErr {
					t.Errorf("waitFor = %q, %v", got, err)
				}
				synctest.Wait()
			})
		})
	}
}

func TestConsoleWaitForSaysWhyTheMachineEnded(t *testing.T) {
	reason := errors.New("reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if _, err := newConsole(&bytes.Buffer{}).waitFor(ctx, nil, "x"); !errors.Is(err, reason) {
		t.Errorf("error %v", err)
	}
}

func TestConsoleLastMatch(t *testing.T) {
	c := newConsole(&bytes.Buffer{})
	feed(t, c, "exit 1\nexit 2\nend\n")
	if got := c.lastMatch(regexp.MustCompile(`^exit (\d)$`)); len(got) != 2 || got[1] != "2" {
		t.Errorf("lastMatch = %q", got)
	}
	if got := c.lastMatch(regexp.MustCompile(`^none$`)); got != nil {
		t.Errorf("lastMatch = %q, want none", got)
	}
}
