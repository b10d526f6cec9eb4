//go:build linux

package s3nbd

import (
	"errors"
	"fmt"
	"io"

	"github.com/pgstorage/pgstorage/test/bench/harness"
)

const (
	// leastGain of TPS by the derived commit_delay, with as many clients as delayed.
	leastGain = 1.5
	// mostReached of the reads reach the store, of the transactions and of the blocks read,
	// in percent.
	mostReached = 1.0
)

// mark with what was measured.
type mark struct {
	what, measured, bound string
	met                   bool
}

func (f figures) all() []mark {
	won := gain(at(f.host, Durable), at(f.host, Undelayed))
	out := []mark{{
		fmt.Sprintf("durable TPS with %d clients, derived commit_delay against commit_delay=0, on the host's processors", delayed),
		harness.Ratio(won), fmt.Sprintf("at least %.1f", leastGain), won != nil && won.Ratio >= leastGain,
	}}
	for _, variant := range []string{inARC, inL2ARC} {
		m := mark{"reads of a repeated read-only pgbench that reach the store, " + variant, "not measured", fmt.Sprintf("under %.0f%%", mostReached), false}
		for _, r := range f.reads {
			if r.variant == variant {
				m.measured = fmt.Sprintf("%.3f%% of the transactions, %.3f%% of the blocks read; worst run %.3f%%, %.3f%%", r.reachedOf.Median, r.reached.Median, r.reachedOf.Max, r.reached.Max)
				m.met = r.reachedOf.Max < mostReached && r.reached.Max < mostReached
			}
		}
		out = append(out, m)
	}
	return out
}

// marks is a table, in Markdown.
func (f figures) marks(out io.Writer) {
	harness.Header(out, "what", "measured", "mark", "")
	for _, m := range f.all() {
		_, _ = fmt.Fprintf(out, "| %s | %s | %s | %s |\n", m.what, m.measured, m.bound, harness.Verdict(m.met))
	}
}

// judge by the marks.
func (f figures) judge() error {
	var missed []error
	for _, m := range f.all() {
		if !m.met {
			missed = append(missed, fmt.Errorf("missed: %s: %s, %s", m.what, m.measured, m.bound))
		}
	}
	return errors.Join(missed...)
}
