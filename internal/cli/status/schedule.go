package status

import (
	"fmt"
	"time"

	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
)

// Schedule returns the tree of a PgScheduledBenchmark with its retained PgBenchmarks.
func (b Builder) Schedule(s snapshot.Schedule) Tree {
	p := s.Schedule
	i := b.own("PgScheduledBenchmark", p, p.Status.ObservedGeneration, p.Status.Conditions)
	i.Details = append(i.Details, fmt.Sprintf("%s in %s", p.Spec.Schedule, p.Spec.TimeZone))
	if p.Spec.Suspend {
		i.Details = append(i.Details, "suspended")
	}
	if next := p.Status.NextScheduleTime; next != nil {
		i.Details = append(i.Details, "next "+next.UTC().Format(time.RFC3339))
	}
	if p.Status.Baseline != "" {
		i.Details = append(i.Details, "baseline "+p.Status.Baseline)
	}
	for n := range s.Benchmarks {
		i.Children = append(i.Children, b.benchmark(&s.Benchmarks[n]))
	}
	i.Children = append(i.Children, unread(s.Unread)...)
	return i
}
