//go:build linux

// Package ceph measures what the profile CephRBD is worth. It runs in a virtual machine with a
// real Ceph, on one disk whose flush takes a known time. It compares the profile with Ceph on
// ZFS without any settings, and both with ZFS alone. It also counts what each layer writes for
// a transaction.
package ceph

import (
	"context"
	"errors"
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/test/bench/harness"
	"github.com/pgstorage/pgstorage/test/bench/measure"
)

// Benchmark of the profile CephRBD.
var Benchmark = harness.Benchmark{Name: "ceph", Summary: "the profile CephRBD against Ceph's defaults and against ZFS alone", Run: run}

func parse(args []string) (harness.Lab, error) {
	lab := harness.Lab{
		Plan: measure.Plan{
			Serial: "bench", Pool: "bench", Script: pgbench.TPCB, Scale: 10,
			Rounds: 3, Clients: []int{4}, Seconds: 12, WarmUp: 4,
		},
		Flush: 5 * time.Millisecond, ARC: "512Mi", Memory: 8192,
	}
	flags := harness.Flags("ceph")
	lab.Register(flags)
	if err := flags.Parse(args); err != nil {
		return lab, err
	}
	if lab.Plan.Rounds < 1 || lab.Plan.Seconds < 1 || lab.Plan.WarmUp < 1 || lab.Plan.Scale < 1 {
		return lab, errors.New("-rounds, -seconds, -warm-up and -scale are at least 1")
	}
	return lab, nil
}

func run(ctx context.Context, args []string) error {
	lab, err := parse(args)
	if err != nil {
		return err
	}
	m, err := measureAll(ctx, lab)
	if err != nil {
		return err
	}
	return outcome(lab, m).Publish(lab.Out)
}
