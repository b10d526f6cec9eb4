package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Runner runs a program with arguments; nothing is expanded or interpreted.
type Runner interface {
	// Run reads. What may change the node is refused.
	Run(ctx context.Context, program string, args ...string) (Output, error)
	// Change changes the node; a dry run only reports it.
	Change(ctx context.Context, program string, args ...string) (Output, error)
}

// Output of a command that ended well.
type Output struct {
	Stdout, Stderr []byte
}

// Causes that an Error wraps.
var (
	// ErrRefused: the command is not one that pgstorage runs. It was not started.
	ErrRefused = errors.New("refused")
	// ErrNotInstalled: the node does not have the program.
	ErrNotInstalled = errors.New("program is not installed on the node")
	// ErrTooMuchOutput: the output passed its bound and the command was killed.
	ErrTooMuchOutput = errors.New("too much output")
	// ErrStuck: the command outlived SIGKILL, so it waits inside the kernel, as on
	// a suspended pool. Also what further commands get once too many are stuck.
	ErrStuck = errors.New("stuck in the kernel")
)

// Error is a command that was refused, did not start, or did not end well.
type Error struct {
	// Argv is the program and its arguments.
	Argv []string
	// ExitCode is what the program returned, or -1 where it was killed or did not start.
	ExitCode int
	// Stderr is what the program said, bounded as all output.
	Stderr string
	// Err is the cause: one of those above, a context's error, or os/exec's.
	Err error
}

const (
	// messageLines of stderr are shown in an error.
	messageLines = 3
	// messageWords of the command are shown: a search for pools names all devices of a node,
	// and what the program said follows the command.
	messageWords = 32
)

func (e *Error) Error() string {
	said := make([]string, 0, messageLines)
	for line := range strings.Lines(e.Stderr) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if len(said) == messageLines {
			said = append(said, "...")
			break
		}
		said = append(said, line)
	}
	command := strings.Join(shortened(e.Argv), " ")
	if len(said) == 0 {
		return fmt.Sprintf("%s: %v", command, e.Err)
	}
	return fmt.Sprintf("%s: %v: %s", command, e.Err, strings.Join(said, "; "))
}

// shortened is a command without the middle of a long list of arguments.
func shortened(argv []string) []string {
	if len(argv) <= messageWords {
		return argv
	}
	return append(slices.Clone(argv[:messageWords-2]), "...", argv[len(argv)-1])
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

func argv(program string, args []string) []string {
	return append([]string{program}, args...)
}
