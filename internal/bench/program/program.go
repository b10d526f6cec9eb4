// Package program runs the programs of Postgres and fio, and keeps what they said when they failed.
package program

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
)

// grace limits how long a program may take to stop after the signal.
const grace = 5 * time.Second

// tail is how many lines of stderr an error keeps.
const tail = 6

// Command is one run of a program of Postgres.
type Command struct {
	Path string
	Args []string
	Env  []string
	Dir  string
	// Timeout is when it is stopped; zero is never.
	Timeout time.Duration
	// Line is called with each line of stderr.
	Line func(string)
	// Stdout takes what Run would return.
	Stdout io.Writer
	// Ended is called with how it ended, however that was.
	Ended func(*os.ProcessState)
}

// In is the program of a folder, or, where that is empty, on the PATH.
func In(folder, name string) string {
	if folder == "" {
		return name
	}
	return filepath.Join(folder, name)
}

// Run returns stdout. A *Error says how it ended otherwise.
func (c Command) Run(ctx context.Context) (string, error) {
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, fmt.Errorf("%s did not end within %s", filepath.Base(c.Path), c.Timeout))
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, c.Path, c.Args...) //nolint:gosec // pgbench or pg_amcheck, without a shell
	cmd.Dir, cmd.Env = c.Dir, c.Env
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Base(c.Path), err)
	}
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("start %s: %w", filepath.Base(c.Path), err)
	}
	said := c.follow(stderr)
	err = cmd.Wait()
	if c.Ended != nil && cmd.ProcessState != nil {
		c.Ended(cmd.ProcessState)
	}
	if err != nil {
		err = c.failed(ctx, err, said)
	}
	return stdout.String(), err
}

// follow reads stderr to its end and keeps the lines worth reporting.
func (c Command) follow(stderr io.Reader) []string {
	var said []string
	lines := bufio.NewReader(stderr)
	for {
		text, err := lines.ReadString('\n')
		text = strings.TrimRight(text, "\r\n")
		if text != "" {
			if c.Line != nil {
				c.Line(text)
			}
			said = keep(said, text)
		}
		if err != nil {
			return said
		}
	}
}

// keep the errors of pgbench, and otherwise the last lines.
func keep(said []string, text string) []string {
	if _, ok := pgbench.ParseProgress(text); ok {
		return said
	}
	if _, ok := pgbench.ParseInitProgress(text); ok {
		return said
	}
	if len(said) < tail {
		return append(said, text)
	}
	return append(said[1:], text)
}

func (c Command) failed(ctx context.Context, err error, said []string) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	p := &Error{Program: filepath.Base(c.Path), Said: said, Err: err}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		p.Code = exit.ExitCode()
	}
	return p
}

// Error is a program that did not succeed, and what it said.
type Error struct {
	Program string
	Code    int
	Said    []string
	Err     error
}

func (e *Error) Error() string {
	if len(e.Said) == 0 {
		return fmt.Sprintf("%s: %v", e.Program, e.Err)
	}
	return fmt.Sprintf("%s: %v: %s", e.Program, e.Err, strings.Join(e.Said, "; "))
}

func (e *Error) Unwrap() error { return e.Err }

// Environment of a program: ours in the language that the parsers read, and what is set
// on top.
func Environment(set ...string) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "LC_") && !strings.HasPrefix(v, "LANG") {
			env = append(env, v)
		}
	}
	return append(append(env, "LC_ALL=C"), set...)
}
