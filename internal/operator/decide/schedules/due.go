package schedules

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/cron"
)

// begin the run that is due. Of several only the latest is made up.
func (p *pass) begin(times cron.Times) {
	since := p.since()
	due := times.Last(since, p.now)
	switch {
	case due.IsZero():
		p.onTime(since)
	case p.tooLate(due):
		p.miss(due, times.Count(since, due))
	case len(p.own.active()) > 0:
		p.informs(outcome.WaitFor(v1alpha1.ConditionOnTime, v1alpha1.ReasonPreviousRunning,
			fmt.Sprintf(msgPreviousRunning, at(due), p.own.active()[0])))
		if deadline := p.deadline(); deadline > 0 {
			p.again(due.Add(deadline).Sub(p.now) + time.Second)
		}
	case p.facts.Refusal != "":
		p.refuse(due)
	default:
		p.create(due, times.Count(since, due))
	}
}

// onTime with nothing due; the last missed time is reported until the next run begins.
func (p *pass) onTime(since time.Time) {
	known := meta.FindStatusCondition(p.s.Status.Conditions, v1alpha1.ConditionOnTime)
	skipped := p.decision.Status.LastSkippedTime
	if known != nil && skipped != nil && skipped.Time.Equal(since) {
		switch known.Reason {
		case v1alpha1.ReasonMissedSchedule:
			p.informs(outcome.WaitFor(known.Type, known.Reason, known.Message))
			return
		case v1alpha1.ReasonRejected:
			p.outcome(outcome.InvalidBecause(known.Type, known.Reason, known.Message))
			return
		}
	}
	p.informs(outcome.DoneWith(v1alpha1.ConditionOnTime, v1alpha1.ReasonOnTime, msgOnTime))
}

func (p *pass) deadline() time.Duration {
	if p.s.Spec.StartingDeadlineSeconds == nil {
		return 0
	}
	return time.Duration(*p.s.Spec.StartingDeadlineSeconds) * time.Second
}

func (p *pass) tooLate(due time.Time) bool {
	return p.deadline() > 0 && p.now.Sub(due) > p.deadline()
}

func (p *pass) miss(due time.Time, count int) {
	p.skip(due)
	message := fmt.Sprintf(msgMissed, at(due), *p.s.Spec.StartingDeadlineSeconds, others(count))
	p.informs(outcome.WaitFor(v1alpha1.ConditionOnTime, v1alpha1.ReasonMissedSchedule, message))
	p.event(corev1.EventTypeWarning, EventMissed, message)
}

func (p *pass) refuse(due time.Time) {
	p.skip(due)
	message := fmt.Sprintf(msgRejected, at(due), p.facts.Refusal)
	p.outcome(outcome.InvalidBecause(v1alpha1.ConditionOnTime, v1alpha1.ReasonRejected, message))
	p.event(corev1.EventTypeWarning, EventRejected, message)
}

func (p *pass) create(due time.Time, count int) {
	b := benchmark(p.s, due, p.decision.Status.Baseline)
	p.decision.Create = b
	p.decision.Status.LastScheduleTime = timeOf(due)
	p.decision.Status.Active = []string{b.Name}
	p.informs(outcome.DoneWith(v1alpha1.ConditionOnTime, v1alpha1.ReasonOnTime, msgOnTime))
	p.event(corev1.EventTypeNormal, EventCreated, fmt.Sprintf("PgBenchmark %s for %s", b.Name, at(due)))
	if count > 1 {
		p.event(corev1.EventTypeWarning, EventMissed, fmt.Sprintf("the run due at %s is made up%s", at(due), others(count)))
	}
}
