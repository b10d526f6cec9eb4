//go:build linux

// Package process starts programs for tests: they end with the test's process,
// however it ends.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	// patience bounds how long a killed process may take to end.
	patience = 30 * time.Second
	// pause between two looks at something that sends no event.
	pause = 20 * time.Millisecond
)

// Process is a child that does not outlive us.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // after done
}

// Start starts a child that the kernel kills when we die. The kernel takes the end of the
// thread that started the child for our end, so that thread stays.
func Start(cmd *exec.Cmd) (*Process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	cmd.WaitDelay = patience
	p := &Process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this function
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, <-started
}

// ID is the process id.
func (p *Process) ID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Signal does nothing to a process that has ended.
func (p *Process) Signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// Wait returns how the process ended, within a limit.
func (p *Process) Wait(limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.done:
		return p.err
	case <-timer.C:
		return fmt.Errorf("process %d has not ended within %s", p.ID(), limit)
	}
}

// Kill ends the process at once, if it still runs, even a halted one. The kill itself counts as
// success.
func (p *Process) Kill() error {
	err := p.Signal(syscall.SIGKILL)
	if waited := p.Wait(patience); !errors.As(waited, new(*exec.ExitError)) {
		err = errors.Join(err, waited)
	}
	return err
}

// UntilReady repeats a look until it succeeds. It fails when the process ends or the limit is
// over, with the error of the last look.
func (p *Process) UntilReady(ctx context.Context, limit time.Duration, look func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := look(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("the process has ended: %w", errors.Join(p.err, err))
		case <-ctx.Done():
			return fmt.Errorf("not ready within %s: %w", limit, err)
		case <-time.After(pause):
		}
	}
}

// Output runs one of our scripts and returns what it prints. The script reports its progress on
// standard error.
func Output(ctx context.Context, path string, args ...string) ([]byte, error) {
	out := &bytes.Buffer{}
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // our own script
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	p, err := Start(cmd)
	if err != nil {
		return nil, err
	}
	<-p.Done()
	if p.err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), p.err)
	}
	return out.Bytes(), nil
}
