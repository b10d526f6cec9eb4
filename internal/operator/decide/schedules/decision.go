package schedules

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/cron"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Reasons of events.
const (
	EventCreated  = "BenchmarkCreated"
	EventMissed   = v1alpha1.ReasonMissedSchedule
	EventRejected = v1alpha1.ReasonRejected
	EventPruned   = "HistoryPruned"
)

// Decision is what one reconcile of a schedule does, in the order of the fields.
type Decision struct {
	// Create this run, or nil. The status says that it was begun.
	Create *v1alpha1.PgBenchmark
	// Status without conditions, and the Outcomes that these are made of.
	Status   v1alpha1.PgScheduledBenchmarkStatus
	Outcomes outcome.Set
	// Prune these runs of the schedule, which are no longer kept.
	Prune []*v1alpha1.PgBenchmark
	// Events to emit once the status is written.
	Events []outcome.Event
	// After is when to reconcile again. Zero: when a watch reports a change.
	After time.Duration
}

// pass is what one reconcile knows.
type pass struct {
	s        *v1alpha1.PgScheduledBenchmark
	facts    observed.Schedule
	now      time.Time
	own      runs
	decision Decision
}

// Decide returns the decision about a schedule at a time. It does not change its arguments.
func Decide(s *v1alpha1.PgScheduledBenchmark, facts observed.Schedule, now time.Time) Decision {
	p := &pass{s: s, facts: facts, now: now, own: runsOf(s, facts.Benchmarks)}
	p.record()
	times, err := cron.Parse(s.Spec.Schedule, s.Spec.TimeZone)
	switch {
	case err != nil:
		p.invalid(err.Error())
	case times.Next(now).IsZero():
		p.invalid(fmt.Sprintf(msgNoTime, s.Spec.Schedule))
	default:
		p.schedule(times)
	}
	p.decision.Outcomes.Add(p.own.outcomes(s)...)
	p.decision.Prune = p.prunable()
	p.tellRegression()
	return p.decision
}

// record what the runs say, and of what is gone what the status said.
func (p *pass) record() {
	before := p.s.Status
	p.decision.Status = v1alpha1.PgScheduledBenchmarkStatus{
		ObservedGeneration: p.s.Generation,
		Schedule:           before.Schedule,
		LastScheduleTime:   latest(before.LastScheduleTime, p.own.begun()),
		LastSkippedTime:    before.LastSkippedTime,
		LastSuccessfulTime: latest(before.LastSuccessfulTime, p.own.succeeded()),
		LastResult:         before.LastResult,
		Active:             p.own.active(),
		Baseline:           baseline(p.s, p.own),
	}
	if result := p.own.result(); result != nil {
		p.decision.Status.LastResult = result
	}
}

func (p *pass) invalid(message string) {
	p.outcome(outcome.InvalidBecause(v1alpha1.ConditionScheduled, v1alpha1.ReasonInvalidSpec, message))
}

func (p *pass) outcome(o outcome.Outcome) { p.decision.Outcomes.Add(o) }

// informs of a condition that takes no part in Ready.
func (p *pass) informs(o outcome.Outcome) {
	o.Informative = true
	p.outcome(o)
}

// schedule that is valid: begin what is due, and note what comes next.
func (p *pass) schedule(times cron.Times) {
	zoned := p.s.Spec.Schedule + " " + p.s.Spec.TimeZone
	if p.s.Spec.Suspend {
		p.informs(outcome.WaitFor(v1alpha1.ConditionScheduled, v1alpha1.ReasonSuspended, msgSuspended))
		return
	}
	p.outcome(outcome.DoneWith(v1alpha1.ConditionScheduled, v1alpha1.ReasonScheduled, fmt.Sprintf(msgScheduled, p.s.Spec.Schedule, p.s.Spec.TimeZone)))
	if p.resumes(zoned) {
		// What passed before was not asked for.
		p.skip(times.Last(p.since(), p.now))
	}
	p.decision.Status.Schedule = zoned
	p.begin(times)
	next := times.Next(p.now)
	p.decision.Status.NextScheduleTime = timeOf(next)
	p.again(next.Sub(p.now))
}

// resumes says whether the schedule was suspended, invalid or another one before.
func (p *pass) resumes(zoned string) bool {
	if p.s.Status.Schedule != "" && p.s.Status.Schedule != zoned {
		return true
	}
	known := meta.FindStatusCondition(p.s.Status.Conditions, v1alpha1.ConditionScheduled)
	return known != nil && known.Status != metav1.ConditionTrue
}

// since when times count: each is begun or skipped once.
func (p *pass) since() time.Time {
	s := p.decision.Status
	return latest(latest(&p.s.CreationTimestamp, s.LastScheduleTime), s.LastSkippedTime).Time
}

// others that were due before the one that is spoken of.
func others(count int) string {
	switch {
	case count <= 1:
		return ""
	case count > cron.Most:
		return fmt.Sprintf("; more than %d before it are not", cron.Most-1)
	}
	return fmt.Sprintf("; %d before it are not", count-1)
}

func (p *pass) skip(due time.Time) {
	if !due.IsZero() {
		p.decision.Status.LastSkippedTime = timeOf(due)
	}
}

func (p *pass) event(kind, reason, message string) {
	p.decision.Events = append(p.decision.Events, outcome.Event{Type: kind, Reason: reason, Message: message})
}

// tellRegression once for each run.
func (p *pass) tellRegression() {
	now, before := p.decision.Status.LastResult, p.s.Status.LastResult
	if now == nil || now.NotRegressed != metav1.ConditionFalse {
		return
	}
	if before == nil || before.Benchmark != now.Benchmark || before.NotRegressed != now.NotRegressed {
		p.event(corev1.EventTypeWarning, v1alpha1.ReasonRegressed, fmt.Sprintf("PgBenchmark %s is worse than its baseline", now.Benchmark))
	}
}

// again asks for a look after some time, or earlier.
func (p *pass) again(after time.Duration) {
	if p.decision.After == 0 || after < p.decision.After {
		p.decision.After = after
	}
}

// at is a time in words.
func at(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func timeOf(t time.Time) *metav1.Time { return new(metav1.NewTime(t.UTC()).Rfc3339Copy()) }

// latest of two times, of which any may be absent.
func latest(a, b *metav1.Time) *metav1.Time {
	switch {
	case a == nil:
		return b
	case b == nil || b.Before(a):
		return a
	}
	return b
}
