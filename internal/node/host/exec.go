package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

// Defaults of Exec's bounds.
const (
	DefaultTimeout   = 30 * time.Second
	DefaultMaxOutput = 8 << 20
	// MaxStuck commands may wait in the kernel before no more are started.
	MaxStuck = 8

	// closeDelay: after a kill, how long a grandchild may hold the pipes open.
	closeDelay = 5 * time.Second
	// stuckDelay: after a kill, how long the kernel may need to end the command.
	stuckDelay = 10 * time.Second

	// SlowFactor times the time-out is for commands that wait for many devices.
	SlowFactor = 10
)

// environment of every child. The times that a child prints are in UTC: the child reads the
// node's zone, and its parser may have another. By default, udevadm does nothing in what it
// takes for a chroot.
var environment = []string{"LC_ALL=C", "SYSTEMD_IGNORE_CHROOT=1", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TZ=UTC0"}

// slow commands, of which a kill would leave work half done.
var slow = []string{"zpool create", "zpool import", "zpool export"}

// programDirs in the order in which they are searched. The last is NixOS's.
var programDirs = []string{
	"/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin", "/bin", "/run/current-system/sw/bin",
}

// Exec runs commands as children, after Check. The zero value is usable, and may be
// used by several goroutines at once.
type Exec struct {
	// Root is where the node's / is mounted. A child is confined to it, so that it uses the
	// userland of the node's ZFS module. If empty, there is no confinement.
	Root string
	// Timeout of each command; 0 is DefaultTimeout. Ten times as much for creating,
	// importing and exporting pools. The whole process group is killed when it passes, or when the
	// caller's context ends a read; a change is ended by its time-out alone.
	Timeout time.Duration
	// MaxOutput in bytes of stdout, and of stderr; 0 is DefaultMaxOutput.
	MaxOutput int

	stuck atomic.Int32
	// For tests.
	dirs       []string
	stuckAfter time.Duration
	kill       func(pid int) error
}

var _ Runner = (*Exec)(nil)

// Run reads; see Runner. Errors are *Error.
func (e *Exec) Run(ctx context.Context, program string, args ...string) (Output, error) {
	return e.run(ctx, false, program, args)
}

// Change changes the node; see Runner. Errors are *Error.
func (e *Exec) Change(ctx context.Context, program string, args ...string) (Output, error) {
	return e.run(ctx, true, program, args)
}

func (e *Exec) run(ctx context.Context, change bool, program string, args []string) (Output, error) {
	fail := func(err error) (Output, error) {
		return Output{}, &Error{Argv: argv(program, args), ExitCode: -1, Err: err}
	}
	if err := Check(ctx, change, program, args...); err != nil {
		return fail(err)
	}
	if n := e.stuck.Load(); n >= MaxStuck {
		return fail(fmt.Errorf("%w: %d earlier commands, so no more are started", ErrStuck, n))
	}
	path, err := e.find(program)
	if err != nil {
		return fail(err)
	}
	if change {
		// The end of the agent does not interrupt a change; the time-out does.
		ctx = context.WithoutCancel(ctx)
	}
	timeout := e.timeout(program, args)
	ctx, cancelTimeout := context.WithTimeoutCause(ctx, timeout,
		fmt.Errorf("no end within %s: %w", timeout, context.DeadlineExceeded))
	defer cancelTimeout()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	limit := orDefault(e.MaxOutput, DefaultMaxOutput)
	stdout := &bounded{limit: limit, passed: cancel}
	stderr := &bounded{limit: limit, passed: cancel}
	cmd := e.command(ctx, path, args)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := e.wait(ctx, cmd); errors.Is(err, ErrStuck) {
		return fail(err) // the child may still write: its output is not read
	} else if err != nil {
		return Output{}, &Error{
			Argv: argv(program, args), ExitCode: exitCode(err), Stderr: string(stderr.data), Err: cause(ctx, err),
		}
	}
	return Output{Stdout: stdout.data, Stderr: stderr.data}, nil
}

func (e *Exec) timeout(program string, args []string) time.Duration {
	timeout := orDefault(e.Timeout, DefaultTimeout)
	if command, _ := split(program, args); slices.Contains(slow, command) {
		return SlowFactor * timeout
	}
	return timeout
}

func (e *Exec) command(ctx context.Context, path string, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // G204: Check has allowed exactly this
	cmd.Env = slices.Clone(environment)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: e.Root, Setpgid: true}
	cmd.WaitDelay = closeDelay
	cmd.Cancel = func() error {
		if e.kill != nil {
			return e.kill(cmd.Process.Pid)
		}
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return cmd
}

// wait for the command, within a bound: a process that waits for a suspended pool ignores
// SIGKILL, and with it exec.Cmd.Wait would not return.
func (e *Exec) wait(ctx context.Context, cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	var err error
	ended := make(chan struct{})
	go func() {
		err = cmd.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return err
	case <-ctx.Done():
	}
	grace := time.NewTimer(orDefault(e.stuckAfter, stuckDelay))
	defer grace.Stop()
	select {
	case <-ended:
		return err
	case <-grace.C:
		e.stuck.Add(1)
		go func() {
			<-ended
			e.stuck.Add(-1)
		}()
		return fmt.Errorf("%w: %w", ErrStuck, context.Cause(ctx))
	}
}

// find finds the program in the fixed directories below Root. The entry itself may be a link
// that is valid only below Root, so find does not follow it.
func (e *Exec) find(program string) (string, error) {
	dirs := programDirs
	if e.dirs != nil {
		dirs = e.dirs
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, program)
		if info, err := os.Lstat(filepath.Join(e.Root, path)); err == nil && !info.IsDir() {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: %s", ErrNotInstalled, program)
}

// cause is why the command was killed, or what it ended with.
func cause(ctx context.Context, err error) error {
	if killed := context.Cause(ctx); killed != nil {
		return killed
	}
	return err
}

func exitCode(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return -1
}

func orDefault[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}

// bounded keeps at most limit bytes, and ends the command when more come.
type bounded struct {
	data   []byte
	limit  int
	passed context.CancelCauseFunc
}

func (b *bounded) Write(p []byte) (int, error) {
	if len(b.data)+len(p) > b.limit {
		err := fmt.Errorf("%w: more than %d bytes", ErrTooMuchOutput, b.limit)
		b.passed(err)
		return 0, err
	}
	b.data = append(b.data, p...)
	return len(p), nil
}
