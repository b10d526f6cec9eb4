package host

import (
	"context"
	"maps"
	"sync"
	"time"
)

// DryRun reads with the Runner, and gives changes to report instead of making them;
// a change then has no output and no error. What Exec would refuse is refused.
func DryRun(r Runner, report func(argv []string)) Runner {
	return &dryRun{Runner: r, report: report}
}

type dryRun struct {
	Runner
	report func(argv []string)
}

func (d *dryRun) Change(ctx context.Context, program string, args ...string) (Output, error) {
	if err := Check(ctx, true, program, args...); err != nil {
		return Output{}, &Error{Argv: argv(program, args), ExitCode: -1, Err: err}
	}
	d.report(argv(program, args))
	return Output{}, nil
}

// Hook calls Before ahead of each command, and fails with what it returns instead of
// running it: faults in tests, pauses between changes.
type Hook struct {
	Runner
	// Before gets the program and its arguments; it must not keep or change them.
	Before func(argv []string) error
}

// Run calls Before, then the Runner.
func (h *Hook) Run(ctx context.Context, program string, args ...string) (Output, error) {
	if err := h.Before(argv(program, args)); err != nil {
		return Output{}, &Error{Argv: argv(program, args), ExitCode: -1, Err: err}
	}
	return h.Runner.Run(ctx, program, args...)
}

// Change calls Before, then the Runner.
func (h *Hook) Change(ctx context.Context, program string, args ...string) (Output, error) {
	if err := h.Before(argv(program, args)); err != nil {
		return Output{}, &Error{Argv: argv(program, args), ExitCode: -1, Err: err}
	}
	return h.Runner.Change(ctx, program, args...)
}

// Command is what a Counter counts by: a bounded set, for labels of metrics.
type Command struct {
	// Name is the program, with its subcommand where it has one.
	Name string
	// Change or read.
	Change bool
}

// Count of one Command since the Counter was made.
type Count struct {
	Runs, Failures int
	// Time of all runs together.
	Time time.Duration
}

// Counter counts what its Runner is asked to do; see Counting.
type Counter struct {
	runner Runner
	mu     sync.Mutex
	counts map[Command]Count
}

// Counting counts the commands of a Runner. Usable by several goroutines at once.
func Counting(r Runner) *Counter {
	return &Counter{runner: r, counts: map[Command]Count{}}
}

// Run counts a read.
func (c *Counter) Run(ctx context.Context, program string, args ...string) (Output, error) {
	start := time.Now()
	out, err := c.runner.Run(ctx, program, args...)
	c.add(program, args, false, time.Since(start), err)
	return out, err
}

// Change counts a change.
func (c *Counter) Change(ctx context.Context, program string, args ...string) (Output, error) {
	start := time.Now()
	out, err := c.runner.Change(ctx, program, args...)
	c.add(program, args, true, time.Since(start), err)
	return out, err
}

// Counts so far: a copy.
func (c *Counter) Counts() map[Command]Count {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.counts)
}

func (c *Counter) add(program string, args []string, change bool, took time.Duration, err error) {
	name, _ := split(program, args)
	if _, ok := rules[name]; !ok {
		name = "refused"
	}
	key := Command{Name: name, Change: change}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.counts[key]
	n.Runs++
	n.Time += took
	if err != nil {
		n.Failures++
	}
	c.counts[key] = n
}
