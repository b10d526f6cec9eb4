package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// grace is how long an interrupted command may take to print its last message. It is
// short because some calls of the client library cannot be cancelled.
const grace = 500 * time.Millisecond

// signalled is the base of the exit code after a signal, as in shells.
const signalled = 128

// Main executes the command in args and returns the exit code. The code is 0 for success, 1
// for an error, or that of a program that the command ran. After a signal it is 128 plus the
// number of the signal. The first signal cancels the command, which then has half a second
// to end; a second one ends it at once.
func Main(streams genericiooptions.IOStreams, version string, args []string, signals <-chan os.Signal) int {
	ctx, cancel := context.WithCancel(context.Background()) //nolint:forbidigo // the root context of the program
	defer cancel()
	c := New(streams, version)
	c.SetArgs(args)
	done := make(chan error, 1)
	go func() { done <- c.ExecuteContext(ctx) }()
	select {
	case err := <-done:
		return exitCode(streams, err)
	case s := <-signals:
		cancel()
		select {
		case err := <-done:
			exitCode(streams, err)
		case <-signals:
		case <-time.After(grace):
		}
		if n, ok := s.(syscall.Signal); ok {
			return signalled + int(n)
		}
		return 1
	}
}

// exitCode prints an error and returns its exit code. It cleans the error, which can have
// text that others wrote into an object.
func exitCode(streams genericiooptions.IOStreams, err error) int {
	if err == nil {
		return 0
	}
	if ran, ok := errors.AsType[*exec.ExitError](err); ok && ran.ExitCode() > 0 {
		return ran.ExitCode() // the program has printed why
	}
	if !errors.Is(err, ErrFindings) {
		_, _ = fmt.Fprintln(streams.ErrOut, "error:", view.CleanLines(err.Error()))
	}
	return 1
}
