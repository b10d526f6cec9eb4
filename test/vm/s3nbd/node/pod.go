//go:build guest

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/process" //nolint:depguard // the node of a test
	"github.com/pgstorage/pgstorage/internal/zerofs"
	"github.com/pgstorage/pgstorage/test/vm/s3nbd/job"
)

const (
	// patience with a step, on an emulated processor.
	patience = 4 * time.Minute
	// pause between two looks at something that sends no event.
	pause = 100 * time.Millisecond
)

var errNotRunning = errors.New("its server does not run")

// pod of a server, as the kubelet runs it.
type pod struct {
	job.Server
	process *process.Process
}

func (p *pod) log() string            { return "/run/" + p.Name + ".log" }
func (p *pod) terminationLog() string { return "/run/" + p.Name + ".termination" }
func (p *pod) environment() []string  { return append(os.Environ(), p.Environment...) }
func (p *pod) running() bool          { return p.process != nil && ended(p.process) == nil }
func ended(p *process.Process) error {
	select {
	case <-p.Done():
		return errors.New("it has ended")
	default:
		return nil
	}
}

// serve starts the container. The supervisor is the first process of a namespace, and all
// processes in it end with the supervisor.
func (p *pod) serve() error {
	if err := errors.Join(p.writeFiles(), os.MkdirAll(p.Directory, 0o700), os.MkdirAll(p.Cache, 0o755)); err != nil {
		return err
	}
	log, err := os.OpenFile(p.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // the child has its own copy
	args := append([]string{p.Run[1], "--termination-log=" + p.terminationLog()}, p.Run[2:]...)
	cmd := exec.Command(p.Run[0], args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = p.environment(), log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	p.process, err = process.Start(cmd)
	return err
}

func (p *pod) writeFiles() error {
	for path, text := range p.Files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	return os.WriteFile(p.terminationLog(), nil, 0o600)
}

// stop stops the container cleanly, as where the pod is deleted.
func (p *pod) stop() (string, error) {
	if !p.running() {
		return "", errNotRunning
	}
	begin := time.Now()
	if err := p.process.Signal(syscall.SIGTERM); err != nil {
		return "", err
	}
	err := p.process.Wait(patience)
	life, _ := zerofs.ReadIncarnation(p.Directory)
	return fmt.Sprintf("%s after %.1f s, %v", life.State, time.Since(begin).Seconds(), err), nil
}

// kill kills the container with all its processes.
func (p *pod) kill() error {
	if !p.running() {
		return errNotRunning
	}
	return p.process.Kill()
}

// signal ZeroFS itself, the child of the supervisor.
func (p *pod) signal(name string) (string, error) {
	if !p.running() {
		return "", errNotRunning
	}
	number := map[string]syscall.Signal{"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM}[name]
	child, err := p.child()
	if err != nil {
		return "", err
	}
	return strconv.Itoa(child), syscall.Kill(child, number)
}

func (p *pod) child() (int, error) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.process.ID()))
	for _, path := range tasks {
		text, err := os.ReadFile(path)
		if fields := strings.Fields(string(text)); err == nil && len(fields) > 0 {
			return strconv.Atoi(fields[0])
		}
	}
	return 0, errors.New("ZeroFS does not run")
}

// preflight says why the store cannot be used, if so.
func (p *pod) preflight(ctx context.Context) (string, error) {
	if err := p.writeFiles(); err != nil {
		return "", err
	}
	args := append([]string{p.Preflight[1], "--termination-log=" + p.terminationLog(), "--patience=5s"}, p.Preflight[2:]...)
	cmd := exec.CommandContext(ctx, p.Preflight[0], args...)
	cmd.Env = p.environment()
	out, err := cmd.CombinedOutput()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return p.why()
}

// fails waits for a server that cannot come up, and returns the reason: from its exit, or from
// its phase where it keeps trying.
func (p *pod) fails() (string, error) {
	defer func() { _ = p.process.Kill() }()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if why, err := p.why(); why != "" || err != nil {
			return why, err
		}
		if s, err := p.status(); err == nil && s.Reason != "" {
			return s.Reason + ": " + s.Message, nil
		}
		if p.process.Wait(pause) == nil || !p.running() {
			return p.why()
		}
	}
	return "", errors.New("it does not fail")
}

// why is the reason for the end of a container, as the kubelet reads it; empty means a clean
// end.
func (p *pod) why() (string, error) {
	text, err := os.ReadFile(p.terminationLog())
	if f := zerofs.ParseFailure(string(text)); f != nil {
		return f.Error(), err
	}
	return string(text), err
}

func (p *pod) status() (zerofs.ServerStatus, error) {
	var s zerofs.ServerStatus
	text, err := os.ReadFile(filepath.Join(p.Directory, zerofs.StatusFile))
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(text, &s)
}

// phase waits until the server is in a phase, for so many seconds.
func (p *pod) phase(want, seconds string) (string, error) {
	limit, err := time.ParseDuration(seconds + "s")
	if err != nil {
		return "", err
	}
	var s zerofs.ServerStatus
	for begin := time.Now(); time.Since(begin) < limit; {
		if s, err = p.status(); err == nil && string(s.Phase) == want {
			return fmt.Sprintf("after %.1f s, %d restarts, %s", time.Since(begin).Seconds(), s.Restarts, s.Message), nil
		}
		if p.process.Wait(pause) == nil {
			break
		}
	}
	return "", fmt.Errorf("it never was %s but %+v, %w", want, s, err)
}
