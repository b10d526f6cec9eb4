package host_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/node/host/hosttest"
)

func replay() *hosttest.Replay {
	return &hosttest.Replay{Answers: map[string]hosttest.Answer{
		"zpool list":               {Stdout: "tank"},
		"zfs version":              {Stderr: "not loaded", Exit: 1},
		"zpool set autotrim=on x":  {Stderr: "no such pool", Exit: 1},
		"zpool set autotrim=on ok": {Stdout: "fine"},
	}}
}

func TestDryRunReadsAndReports(t *testing.T) {
	r := replay()
	var reported []string
	dry := host.DryRun(r, func(argv []string) { reported = append(reported, strings.Join(argv, " ")) })
	if out, err := dry.Run(t.Context(), "zpool", "list"); err != nil || string(out.Stdout) != "tank" {
		t.Errorf("%q, %v", out.Stdout, err)
	}
	if out, err := dry.Change(t.Context(), "zpool", "set", "autotrim=on", "x"); err != nil || len(out.Stdout) > 0 {
		t.Errorf("%q, %v", out.Stdout, err)
	}
	if _, err := dry.Change(t.Context(), "zfs", "destroy", "x"); !errors.Is(err, host.ErrRefused) {
		t.Errorf("%v", err)
	}
	if len(r.Changes()) > 0 || !slices.Equal(reported, []string{"zpool set autotrim=on x"}) {
		t.Errorf("changed %q, reported %q", r.Changes(), reported)
	}
}

func TestHookFailsInstead(t *testing.T) {
	r := replay()
	fault := errors.New("power cut")
	var seen []string
	h := &host.Hook{Runner: r, Before: func(argv []string) error {
		seen = append(seen, argv[0])
		if argv[0] == "zfs" {
			return fault
		}
		return nil
	}}
	for _, call := range []func(context.Context, string, ...string) (host.Output, error){h.Run, h.Change} {
		if _, err := call(t.Context(), "zfs", "version"); !errors.Is(err, fault) {
			t.Errorf("%v", err)
		}
	}
	if _, err := h.Run(t.Context(), "zpool", "list"); err != nil {
		t.Error(err)
	}
	if out, err := h.Change(t.Context(), "zpool", "set", "autotrim=on", "ok"); err != nil || string(out.Stdout) != "fine" {
		t.Errorf("%q, %v", out.Stdout, err)
	}
	if len(seen) != 4 || len(r.Reads()) != 1 || len(r.Changes()) != 1 {
		t.Errorf("seen %q, read %q, changed %q", seen, r.Reads(), r.Changes())
	}
}

func TestCounting(t *testing.T) {
	c := host.Counting(replay())
	for range 2 {
		_, _ = c.Run(t.Context(), "zpool", "list")
	}
	_, _ = c.Run(t.Context(), "zfs", "version")
	_, _ = c.Change(t.Context(), "zpool", "set", "autotrim=on", "x")
	_, _ = c.Change(t.Context(), "zpool", "destroy", "x")
	got := c.Counts()
	for k, v := range got {
		if v.Time < 0 {
			t.Errorf("%v took %s", k, v.Time)
		}
		v.Time = 0
		got[k] = v
	}
	want := map[host.Command]host.Count{
		{Name: "zpool list"}:              {Runs: 2},
		{Name: "zfs version"}:             {Runs: 1, Failures: 1},
		{Name: "zpool set", Change: true}: {Runs: 1, Failures: 1},
		{Name: "refused", Change: true}:   {Runs: 1, Failures: 1},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, wanted %v", got, want)
	}
}

func TestCountingByManyAtOnce(t *testing.T) {
	c := host.Counting(replay())
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { _, _ = c.Run(t.Context(), "zpool", "list") })
		all.Go(func() { _ = c.Counts() })
	}
	all.Wait()
	if n := c.Counts()[host.Command{Name: "zpool list"}]; n.Runs != 20 {
		t.Errorf("%+v", n)
	}
}

func TestErrorWithoutOutput(t *testing.T) {
	err := &host.Error{Argv: []string{"zfs", "version"}, ExitCode: 1, Err: host.ErrStuck}
	if got := err.Error(); got != "zfs version: stuck in the kernel" {
		t.Error(got)
	}
}
