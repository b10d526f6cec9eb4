package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// grace is how long a command that was interrupted may take to say what goes on
// without it. Some calls of the client library cannot be cancelled, so it is short.
const grace = 500 * time.Millisecond

// signalled is the base of the exit code of a program that a signal ended, as shells
// report it.
const signalled = 128

// Run executes the command of args and returns the exit code: 0, 1 for an error, or
// 128 and the number of the signal that ended it. The first signal cancels the
// command and ends the program within grace; a second one ends it at once.
func Run(streams genericiooptions.IOStreams, version string, args []string, signals <-chan os.Signal) int {
	ctx, cancel := context.WithCancel(context.Background()) //nolint:forbidigo // the program's own
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

// exitCode of an error, which is printed.
func exitCode(streams genericiooptions.IOStreams, err error) int {
	if err == nil {
		return 0
	}
	if !errors.Is(err, ErrFindings) {
		_, _ = fmt.Fprintln(streams.ErrOut, "error:", err)
	}
	return 1
}
