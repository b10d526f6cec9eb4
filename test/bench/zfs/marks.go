//go:build linux

package zfs

import (
	"errors"
	"fmt"
	"io"

	"github.com/pgstorage/pgstorage/test/bench/harness"
)

// What the profile must be worth, against the defaults.
const (
	leastDurable = 1.3
	leastRelaxed = 2.0
	leastSaved   = 0.40 // of the bytes written per transaction
)

func (l line) ratio() float64 { return l.ours.tps.Median / l.other.tps.Median }

func (l line) saved() float64 { return 1 - l.ours.bytes.Median/l.other.bytes.Median }

func (l line) leastRatio() float64 {
	if l.Durable {
		return leastDurable
	}
	return leastRelaxed
}

func (l line) fast() bool { return l.ratio() >= l.leastRatio() }

func (l line) sparing() bool { return l.saved() >= leastSaved }

// marks is a table, in Markdown.
func (f figures) marks(out io.Writer) {
	harness.Header(out, "commit", "clients", "TPS, ours / default", "by rounds, with its 95% interval", "mark", "", "bytes written per transaction, fewer by", "mark", "", "TPS with the checkpoint, ours / default", "TPS, ours / default that is durable")
	for _, l := range f.lines {
		_, _ = fmt.Fprintf(out, "| %s | %d | %.2f | %s | %.1f | %s | %.0f%% | %.0f%% | %s | %.2f | %.2f |\n",
			l.Commit(), l.Clients, l.ratio(), harness.Ratio(harness.Gain(l.Tier(), l.ours.rounds, l.other.rounds)), l.leastRatio(), harness.Verdict(l.fast()), l.saved()*100, leastSaved*100, harness.Verdict(l.sparing()),
			l.ours.sustained.Median/l.other.sustained.Median,
			l.ours.tps.Median/f.durable(l.Clients).other.tps.Median)
	}
}

// judge each line by the marks; a mark is met when each of its lines meets it.
func (f figures) judge() error {
	var missed []error
	for _, l := range f.lines {
		if !l.fast() {
			missed = append(missed, fmt.Errorf("missed: %s, %d clients: %.2f x the default's TPS, at least %.1f", l.Commit(), l.Clients, l.ratio(), l.leastRatio()))
		}
		if !l.sparing() {
			missed = append(missed, fmt.Errorf("missed: %s, %d clients: %.0f%% fewer bytes written per transaction, at least %.0f%%", l.Commit(), l.Clients, l.saved()*100, leastSaved*100))
		}
	}
	return errors.Join(missed...)
}

// durable is the line of this many clients whose commits wait.
func (f figures) durable(clients int) line {
	for _, l := range f.lines {
		if l.Durable && l.Clients == clients {
			return l
		}
	}
	return line{}
}
