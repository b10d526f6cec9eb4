package supervise

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

const (
	// stillEvery is how often a server that takes long to flush is spoken of.
	stillEvery = 10 * time.Second
	// drain is how long the output of a server that has ended may still come.
	drain = 5 * time.Second
	// bySignal is added to a signal's number where it ended a process, as by a shell.
	bySignal = 128
	// notStarted is the exit code where there was no process, as of a shell.
	notStarted = 127
)

// Supervisor of one server. Each is run once.
type Supervisor struct {
	// Dir of the server's sockets and of its incarnation.
	Dir string
	// Command is the server's program and its arguments.
	Command []string
	// Stdout and Stderr take what the server writes, without Secrets.
	Stdout, Stderr io.Writer
	Secrets        zerofs.Secrets
	// TerminationLog takes why the server failed. Empty: nothing does.
	TerminationLog string
	// Signals to pass on; the first one counts.
	Signals <-chan os.Signal
	Log     *slog.Logger
	Clock   clock.WithTicker
}

// Run the server until it ends, however long that takes: whoever sent the signal
// bounds it. The result is the server's exit code. It is never started again, because
// that is a new incarnation, and the kubelet's to make. It fails if nothing was
// started, or if the end could not be written down, which then counts as unclean.
func (s *Supervisor) Run() (code int, err error) {
	held, err := prepare(s.Dir)
	if err != nil {
		return notStarted, err
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	life, err := s.begin()
	if err != nil {
		return notStarted, err
	}
	diagnosis, deaths := &diagnosis{}, make(deaths, 1)
	out := &lines{to: s.Stdout, hide: s.Secrets, see: deaths.line}
	errs := &lines{to: s.Stderr, hide: s.Secrets, see: func(text string) { diagnosis.line(text); deaths.line(text) }}
	// Without a context: that would kill the server before it has flushed.
	cmd := exec.Command(s.Command[0], s.Command[1:]...) //nolint:gosec // the container's command, without a shell
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, errs, drain
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	// The server shares the lock, which so outlives a supervisor that was killed.
	cmd.ExtraFiles = []*os.File{held}
	if err := cmd.Start(); err != nil {
		failure := &zerofs.Failure{Reason: zerofs.ReasonServerFailed, Message: fmt.Sprintf("start %s: %v", s.Command[0], err)}
		s.report(failure)
		return notStarted, errors.Join(failure, s.end(life, zerofs.StateFailed, notStarted))
	}
	s.Log.Info("server started", "program", s.Command[0], "pid", cmd.Process.Pid, "incarnation", life.ID)
	told, death, err := s.await(cmd, deaths)
	code = exitCode(err)
	err = errors.Join(out.Close(), errs.Close())
	if death == nil {
		death = diagnosis.explain(s.Secrets)
	}
	return code, errors.Join(err, s.conclude(life, told, code, death))
}

// begin a new incarnation: from here on the server counts as unclean until its end
// proves otherwise.
func (s *Supervisor) begin() (zerofs.Incarnation, error) {
	boot, err := bootID()
	if err != nil {
		return zerofs.Incarnation{}, err
	}
	life := zerofs.Incarnation{
		ID: string(uuid.NewUUID()), BootID: boot, StartedAt: s.Clock.Now().UTC(),
		State: zerofs.StateRunning,
	}
	switch last, err := zerofs.ReadIncarnation(s.Dir); {
	case err == nil:
		life.Previous = &zerofs.Previous{ID: last.ID, Clean: last.State == zerofs.StateStopped}
		s.Log.Info("previous server", "incarnation", last.ID, "state", last.State, "clean", life.Previous.Clean)
	case !errors.Is(err, os.ErrNotExist):
		life.Previous = &zerofs.Previous{}
		s.Log.Warn("previous server is not known", "error", err)
	}
	return life, zerofs.WriteIncarnation(s.Dir, life)
}

// await the end of the server, and pass the first signal on. told says that there was
// one before the end. A server whose database died is ended: it would keep its sockets
// open and fail whatever is asked of it, for ever.
func (s *Supervisor) await(cmd *exec.Cmd, deaths deaths) (told bool, death *zerofs.Failure, err error) {
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	still := s.Clock.NewTicker(stillEvery)
	defer still.Stop()
	var since time.Time
	for {
		select {
		case err := <-ended:
			return told, death, err
		case death = <-deaths:
			s.Log.Error("the server's database died; ending the server", "reason", death.Reason)
			if err := cmd.Process.Kill(); err != nil {
				s.Log.Warn("the server cannot be ended", "error", err)
			}
		case signal := <-s.Signals:
			if told {
				s.Log.Info("told again to stop; still waiting for the server", "signal", signal.String())
				continue
			}
			told, since = true, s.Clock.Now()
			s.Log.Info("telling the server to stop; it flushes first", "signal", signal.String())
			if err := cmd.Process.Signal(signal); err != nil {
				s.Log.Warn("the server cannot be told to stop", "error", err)
			}
		case <-still.C():
			if told {
				s.Log.Info("the server still flushes", "for", s.Clock.Since(since).Round(time.Second))
			}
		}
	}
}

// conclude how the server ended. ZeroFS exits with 0 after a signal only if its last
// flush and the closing of its database succeeded (run_server in
// zerofs/src/cli/server.rs of 0.19.1 and 2.3.0).
func (s *Supervisor) conclude(life zerofs.Incarnation, told bool, code int, failure *zerofs.Failure) error {
	if told && code == 0 {
		s.Log.Info("server stopped, and flushed everything")
		return s.end(life, zerofs.StateStopped, code)
	}
	if code == 0 {
		failure = &zerofs.Failure{Reason: zerofs.ReasonServerFailed, Message: "ZeroFS ended without having been told to"}
	}
	s.Log.Error("server failed", "exitCode", code, "told", told, "reason", failure.Reason, "message", failure.Message)
	s.report(failure)
	return s.end(life, zerofs.StateFailed, code)
}

func (s *Supervisor) end(life zerofs.Incarnation, state zerofs.State, code int) error {
	life.State, life.ExitCode = state, &code
	return zerofs.WriteIncarnation(s.Dir, life)
}

// report why the server failed. The log has it too, so that its loss is no failure.
func (s *Supervisor) report(f *zerofs.Failure) {
	if s.TerminationLog == "" {
		return
	}
	if err := f.Report(s.TerminationLog); err != nil {
		s.Log.Warn("the kubelet is not told why", "error", err)
	}
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
