// Package hosttest answers the commands of internal/node/host with recorded outputs.
package hosttest

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/pgstorage/pgstorage/internal/node/host"
)

// Replay is a host.Runner that answers from Answers and keeps what it was asked. It
// refuses what host.Exec would refuse. Usable by several goroutines at once.
type Replay struct {
	// Answers by command line, its words joined by one space. Change gives an empty
	// answer where there is none; Run fails.
	Answers map[string]Answer

	mu      sync.Mutex
	reads   []string
	changes []string
}

// Answer to one command.
type Answer struct {
	Stdout, Stderr string
	// Exit code; not zero is an error.
	Exit int
}

// ErrNoAnswer says that nothing was recorded for the command.
var ErrNoAnswer = errors.New("no answer recorded")

var errExit = errors.New("exit status")

// Run answers a read.
func (r *Replay) Run(ctx context.Context, program string, args ...string) (host.Output, error) {
	return r.answer(ctx, false, &r.reads, program, args)
}

// Change answers a change.
func (r *Replay) Change(ctx context.Context, program string, args ...string) (host.Output, error) {
	return r.answer(ctx, true, &r.changes, program, args)
}

// Reads returns the reads so far, oldest first.
func (r *Replay) Reads() []string { return r.copied(&r.reads) }

// Changes returns the changes so far, oldest first.
func (r *Replay) Changes() []string { return r.copied(&r.changes) }

func (r *Replay) copied(from *[]string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), *from...)
}

func (r *Replay) answer(
	ctx context.Context, change bool, seen *[]string, program string, args []string,
) (host.Output, error) {
	argv := append([]string{program}, args...)
	fail := &host.Error{Argv: argv, ExitCode: -1}
	if fail.Err = ctx.Err(); fail.Err != nil {
		return host.Output{}, fail
	}
	if fail.Err = host.Check(ctx, change, program, args...); fail.Err != nil {
		return host.Output{}, fail
	}
	line := strings.Join(argv, " ")
	r.mu.Lock()
	defer r.mu.Unlock()
	*seen = append(*seen, line)
	a, ok := r.Answers[line]
	switch {
	case !ok && !change:
		fail.Err = ErrNoAnswer
		return host.Output{}, fail
	case a.Exit != 0:
		fail.ExitCode, fail.Stderr, fail.Err = a.Exit, a.Stderr, errExit
		return host.Output{Stdout: []byte(a.Stdout), Stderr: []byte(a.Stderr)}, fail
	}
	return host.Output{Stdout: []byte(a.Stdout), Stderr: []byte(a.Stderr)}, nil
}
