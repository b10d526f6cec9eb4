package runner

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

// command is one run of a program of Postgres.
type command struct {
	path string
	args []string
	env  []string
	dir  string
	// timeout is when it is stopped; zero is never.
	timeout time.Duration
	// line is called with each line of stderr.
	line func(string)
	// stdout takes what run would return.
	stdout io.Writer
	// ended is called with how it ended, however that was.
	ended func(*os.ProcessState)
}

// program in folder, or, where that is empty, on the PATH.
func program(folder, name string) string {
	if folder == "" {
		return name
	}
	return filepath.Join(folder, name)
}

// run returns stdout. A *programError says how it ended otherwise.
func (c command) run(ctx context.Context) (string, error) {
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("%s did not end within %s", filepath.Base(c.path), c.timeout))
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, c.path, c.args...) //nolint:gosec // pgbench or pg_amcheck, without a shell
	cmd.Dir, cmd.Env = c.dir, c.env
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	if c.stdout != nil {
		cmd.Stdout = c.stdout
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Base(c.path), err)
	}
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("start %s: %w", filepath.Base(c.path), err)
	}
	said := c.follow(stderr)
	err = cmd.Wait()
	if c.ended != nil && cmd.ProcessState != nil {
		c.ended(cmd.ProcessState)
	}
	if err != nil {
		err = c.failed(ctx, err, said)
	}
	return stdout.String(), err
}

// follow reads stderr to its end and keeps the lines worth reporting.
func (c command) follow(stderr io.Reader) []string {
	var said []string
	lines := bufio.NewReader(stderr)
	for {
		text, err := lines.ReadString('\n')
		text = strings.TrimRight(text, "\r\n")
		if text != "" {
			if c.line != nil {
				c.line(text)
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

func (c command) failed(ctx context.Context, err error, said []string) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	p := &programError{program: filepath.Base(c.path), said: said, err: err}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		p.code = exit.ExitCode()
	}
	return p
}

// programError is a program that did not succeed, and what it said.
type programError struct {
	program string
	code    int
	said    []string
	err     error
}

func (e *programError) Error() string {
	if len(e.said) == 0 {
		return fmt.Sprintf("%s: %v", e.program, e.err)
	}
	return fmt.Sprintf("%s: %v: %s", e.program, e.err, strings.Join(e.said, "; "))
}

func (e *programError) Unwrap() error { return e.err }

// environment of a program: ours in the language that the parsers read, and what is set
// on top.
func environment(set ...string) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "LC_") && !strings.HasPrefix(v, "LANG") {
			env = append(env, v)
		}
	}
	return append(append(env, "LC_ALL=C"), set...)
}
