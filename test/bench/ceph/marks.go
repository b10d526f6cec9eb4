//go:build linux

package ceph

import (
	"errors"
	"fmt"
	"io"

	"github.com/pgstorage/pgstorage/test/bench/ceph/cell"
	"github.com/pgstorage/pgstorage/test/bench/harness"
)

// leastRatio is what the profile must be worth against the default, at equal durability.
const leastRatio = 1.5

func (l line) fast() bool { return l.ratio(cell.Ours, cell.Default) >= leastRatio }

// marks is a table, in Markdown.
func (f figures) marks(out io.Writer) {
	harness.Header(out, "commit", "clients", "TPS, ours / default", "by rounds, with its 95% interval", "mark", "", "bytes on the disk per transaction, ours / default")
	for _, l := range f.lines {
		last := len(layers) - 1
		_, _ = fmt.Fprintf(out, "| %s | %d | %.2f | %s | %.1f | %s | %.2f |\n", l.Commit(), l.Clients, l.ratio(cell.Ours, cell.Default),
			harness.Ratio(harness.Gain(l.Tier(), l.sides[cell.Ours].rounds, l.sides[cell.Default].rounds)), leastRatio, harness.Verdict(l.fast()),
			l.sides[cell.Ours].written[last].Median/max(1, l.sides[cell.Default].written[last].Median))
	}
}

// judge each line by the mark. A line that was not measured misses it.
func (f figures) judge() error {
	var missed []error
	if len(f.lines) == 0 {
		missed = append(missed, errors.New("missed: nothing was measured"))
	}
	for _, l := range f.lines {
		if !l.fast() {
			missed = append(missed, fmt.Errorf("missed: %s, %d clients: %.2f x the default's TPS, at least %.1f", l.Commit(), l.Clients, l.ratio(cell.Ours, cell.Default), leastRatio))
		}
	}
	return errors.Join(missed...)
}
