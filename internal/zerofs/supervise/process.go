package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

const (
	// outputTime is how long the output of a process that has ended may still come.
	outputTime = 5 * time.Second
	// bySignal is added to a signal's number where it ended a process, as by a shell.
	bySignal = 128
	// notStarted is the exit code where there was no process, as of a shell.
	notStarted = 127
)

// process of ZeroFS: one life of it.
type process struct {
	cmd       *exec.Cmd
	out, errs *lines
	deaths    *deaths
	diagnosis diagnosis
	// lives until the process has ended.
	lives context.Context
	ended context.CancelFunc
	begun time.Time
	// broken is why the supervisor ends it without a request to stop; nil: it does not.
	broken error
}

// launch ZeroFS. died is called if its database dies.
func (s *Supervisor) launch(ctx context.Context, lock *os.File, died func(*zerofs.Failure)) (*process, error) {
	p := &process{deaths: &deaths{receive: died}, begun: s.Clock.Now()}
	p.out = &lines{to: s.Stdout, hide: s.Secrets, see: p.deaths.line}
	p.errs = &lines{to: s.Stderr, hide: s.Secrets, see: func(text string) { p.diagnosis.line(text); p.deaths.line(text) }}
	// Without the context: that would kill ZeroFS before it has flushed.
	p.cmd = exec.Command(s.Command[0], s.Command[1:]...) //nolint:gosec // the container's command, without a shell
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.WaitDelay = p.out, p.errs, outputTime
	p.cmd.Env = append(os.Environ(), "NO_COLOR=1")
	// ZeroFS shares the lock, which so outlives a supervisor that was killed.
	p.cmd.ExtraFiles = []*os.File{lock}
	if err := p.cmd.Start(); err != nil {
		return nil, &zerofs.Failure{Reason: zerofs.ReasonServerFailed, Message: fmt.Sprintf("start %s: %v", s.Command[0], err)}
	}
	p.lives, p.ended = context.WithCancel(context.WithoutCancel(ctx))
	return p, nil
}

// wait for the end, with all that the process said before it.
func (p *process) wait() (code int) {
	code = exitCode(p.cmd.Wait())
	p.ended()
	_, _ = p.out.Close(), p.errs.Close()
	return code
}

// failure that a process ended by.
func (p *process) failure(code int, hide zerofs.Secrets) *zerofs.Failure {
	if death := p.deaths.failure(); death != nil {
		return death
	}
	if code == 0 {
		return &zerofs.Failure{Reason: zerofs.ReasonServerFailed, Message: "ZeroFS ended without a request to stop"}
	}
	f := p.diagnosis.explain(hide)
	if p.broken != nil && f.Reason == zerofs.ReasonServerFailed {
		f.Message = p.broken.Error() + "; " + f.Message
	}
	return f
}

// exitCode of a process by what Wait said.
func exitCode(err error) int {
	exit, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return 0
	case !ok:
		return 1
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return bySignal + int(status.Signal())
	}
	return exit.ExitCode()
}
