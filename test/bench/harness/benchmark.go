//go:build linux

// Package harness is what the programs that measure for docs/benchmarks have in
// common: how they are called, how a guest of theirs is built, booted and listened to,
// and how what was measured is written down.
package harness

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

// Main runs a program with its arguments until it has measured or is told to stop. It
// exits with 1 after an error, and a mark that was missed is one.
func Main(run func(ctx context.Context, args []string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Clients is a flag: numbers of clients of at least 1, with commas between them.
type Clients []int

// String of the flag.
func (c *Clients) String() string {
	var words []string
	for _, n := range *c {
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, ",")
}

// Set the flag.
func (c *Clients) Set(text string) error {
	var all []int
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is not a number of clients", word)
		}
		all = append(all, n)
	}
	*c = all
	return nil
}

// Verdict on a mark.
func Verdict(met bool) string {
	if met {
		return "PASS"
	}
	return "MISS"
}
