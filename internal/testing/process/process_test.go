//go:build linux

package process

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func start(t *testing.T, script string) *Process {
	t.Helper()
	p, err := Start(exec.CommandContext(t.Context(), "sh", "-c", script))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	return p
}

func TestKillEndsAHaltedProcess(t *testing.T) {
	p := start(t, "exec sleep 1000")
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
	if err := p.Kill(); err != nil {
		t.Errorf("again: %v", err)
	}
	if err := p.Signal(syscall.SIGCONT); err != nil {
		t.Errorf("signal to one that has ended: %v", err)
	}
}

// The process has ended, and its parent has not read the exit code yet.
func TestSignalOfAnEndedProcessIsNoError(t *testing.T) {
	p := &Process{cmd: exec.CommandContext(t.Context(), "true"), done: make(chan struct{})}
	if err := p.cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

func TestWaitReturnsTheExitCode(t *testing.T) {
	var exit *exec.ExitError
	if err := start(t, "exit 3").Wait(patience); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("exit 3: %v", err)
	}
	if err := start(t, "exit 0").Wait(patience); err != nil {
		t.Errorf("exit 0: %v", err)
	}
	if err := start(t, "exec sleep 1000").Wait(time.Millisecond); err == nil {
		t.Error("no error of one that goes on")
	}
}

func TestUntilReadyEndsWithTheProcess(t *testing.T) {
	never := errors.New("not yet")
	p := start(t, "exec sleep 1000")
	looks := 0
	if err := p.UntilReady(t.Context(), patience, func(context.Context) error {
		if looks++; looks < 3 {
			return never
		}
		return nil
	}); err != nil || looks != 3 {
		t.Errorf("%d looks, %v", looks, err)
	}
	no := func(context.Context) error { return never }
	if err := p.UntilReady(t.Context(), time.Millisecond, no); !errors.Is(err, never) {
		t.Errorf("too late: %v", err)
	}
	err := start(t, "exit 3").UntilReady(t.Context(), patience, no)
	if !errors.Is(err, never) || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("ended: %v", err)
	}
}
