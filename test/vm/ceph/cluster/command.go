//go:build linux

package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// commandTime bounds a command, on an emulated processor.
	commandTime = 4 * time.Minute
	// killTime is how long a command may take to die: one that waits for a disk does not.
	killTime = 10 * time.Second
	// pause between two looks at something that sends no event.
	pause = 500 * time.Millisecond
)

var errStuck = errors.New("it has neither ended in its time nor could it be killed")

// run runs a program and returns its standard output.
func run(ctx context.Context, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	var out, problems bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &out, &problems
	line, begin := strings.Join(cmd.Args, " "), time.Now()
	err := finish(ctx, cmd)
	if errors.Is(err, errStuck) { // and may still print
		return "", fmt.Errorf("%s: %w", line, err)
	}
	printStep(line, begin, out.String()+problems.String())
	if err != nil {
		err = fmt.Errorf("%s: %w: %s%s", line, err, &problems, &out)
	}
	return out.String(), err
}

// finish waits for a command, and leaves one that hangs in the kernel.
func finish(ctx context.Context, cmd *exec.Cmd) error {
	ended := make(chan error, 1)
	go func() { ended <- cmd.Run() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return errors.Join(err, ctx.Err())
	case <-time.After(killTime):
		return errStuck
	}
}

// printStep prints a line to the console.
func printStep(line string, begin time.Time, printed string) {
	fmt.Printf("%5.1f s  $ %s\n", time.Since(begin).Seconds(), line)
	for text := range strings.Lines(printed) {
		fmt.Println("         " + strings.TrimRight(text, "\n"))
	}
}

// all runs commands one after the other.
func all(ctx context.Context, commands ...[]string) error {
	for _, command := range commands {
		if _, err := run(ctx, command[0], command[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// until repeats a question until its limit.
func until(ctx context.Context, what string, limit time.Duration, there func() (bool, error)) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, pause, limit, true, func(context.Context) (bool, error) {
		var found bool
		if found, last = there(); errors.Is(last, errDead) {
			return false, last
		}
		return found, nil
	})
	if wait.Interrupted(err) {
		return errors.Join(fmt.Errorf("%s: not within %s", what, limit), last, ctx.Err())
	}
	return err
}
