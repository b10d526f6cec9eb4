package hosttest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/node/host/hosttest"
)

func TestReplay(t *testing.T) {
	r := &hosttest.Replay{Answers: map[string]hosttest.Answer{
		"zpool list":  {Stdout: "tank", Stderr: "aside"},
		"zfs version": {Stdout: "zfs-2.2.0", Stderr: "not loaded", Exit: 1},
	}}
	out, err := r.Run(t.Context(), "zpool", "list")
	if err != nil || string(out.Stdout) != "tank" || string(out.Stderr) != "aside" {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := r.Run(t.Context(), "lsblk"); !errors.Is(err, hosttest.ErrNoAnswer) {
		t.Errorf("%v", err)
	}
	if _, err := r.Change(t.Context(), "zfs", "set", "atime=off", "x"); err != nil {
		t.Errorf("%v", err)
	}
	if _, err := r.Change(t.Context(), "zfs", "destroy", "x"); !errors.Is(err, host.ErrRefused) {
		t.Errorf("%v", err)
	}
	if _, err := r.Run(t.Context(), "zfs", "set", "atime=off", "x"); !errors.Is(err, host.ErrRefused) {
		t.Errorf("a change as a read: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Run(ctx, "zpool", "list"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	out, err = r.Run(t.Context(), "zfs", "version")
	failed, ok := errors.AsType[*host.Error](err)
	if !ok || failed.ExitCode != 1 || failed.Stderr != "not loaded" || string(out.Stdout) != "zfs-2.2.0" {
		t.Errorf("%q, %v", out, err)
	}
	if len(r.Reads()) != 3 || len(r.Changes()) != 1 { // what was refused or cancelled did not run
		t.Errorf("read %q, changed %q", r.Reads(), r.Changes())
	}
}

func TestReplayByManyAtOnce(t *testing.T) {
	r := &hosttest.Replay{}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if _, err := r.Change(t.Context(), "zfs", "set", fmt.Sprintf("quota=%d", i), "tank"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(r.Changes()) != 20 {
		t.Errorf("%q", r.Changes())
	}
}
