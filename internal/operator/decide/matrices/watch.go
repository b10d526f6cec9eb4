package matrices

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// watch the run that is under way.
func (p *pass) watch(r matrix.PlannedRun) (outcome.Set, error) {
	p.makeCurrent(r)
	if err := p.want(r.Target); err != nil {
		return nil, err
	}
	run := p.runs[r.ID]
	phase := run.Status.Phase
	switch {
	case run.DeletionTimestamp != nil:
		return progressing(v1alpha1.ReasonPreparing, fmt.Sprintf(msgRunDeleted, p.where(r), run.Name)), nil
	case phase == "":
		phase = "not begun"
	}
	if begun, counts := p.waitsSince(run); counts {
		if left := begun.Add(p.timeout()).Sub(p.now.Time); left > 0 {
			p.again(left)
		} else if err := p.fail(r.ID, v1alpha1.ReasonTargetNotReady, fmt.Sprintf(msgNoJob, p.timeout(), readiness(run.Status.Conditions))); err != nil {
			return nil, err
		}
	}
	return progressing(v1alpha1.ReasonRunning, p.where(r)+": "+phase), nil
}

// waitsSince says since when a run has waited for its Job, if that time counts. A run
// that waits behind another benchmark is not late.
func (p *pass) waitsSince(run *v1alpha1.PgBenchmark) (time.Time, bool) {
	if run.Status.Job != "" {
		return time.Time{}, false
	}
	begun := p.current.Since.Time
	target := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionTargetReady)
	switch {
	case target == nil:
	case target.Reason == v1alpha1.ReasonWaitingForTurn:
		return time.Time{}, false
	case target.LastTransitionTime.After(begun):
		begun = target.LastTransitionTime.Time
	}
	return begun, true
}

// makeCurrent notes which run is waited for, and since when.
func (p *pass) makeCurrent(r matrix.PlannedRun) {
	c := &v1alpha1.CurrentRun{Variant: r.Variant, Repeat: int32(r.Repeat), Cluster: p.cluster(r.Target), Since: p.now} //nolint:gosec // G115: repeats are from 1 to 20
	if m := p.b.Status.Matrix; m != nil && m.Current != nil && m.Current.Variant == c.Variant && m.Current.Repeat == c.Repeat {
		c.Since = m.Current.Since
	}
	p.current = c
}

func ready(c *v1alpha1.PgStorageCluster) bool {
	found := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
	return c.DeletionTimestamp == nil && found != nil && found.Status == metav1.ConditionTrue && found.ObservedGeneration == c.Generation
}

func stalled(c *v1alpha1.PgStorageCluster) bool {
	found := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionStalled)
	return c.DeletionTimestamp == nil && found != nil && found.Status == metav1.ConditionTrue && found.ObservedGeneration == c.Generation
}

// readiness is what the condition Ready says.
func readiness(conditions []metav1.Condition) string {
	if c := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady); c != nil {
		return c.Reason + ": " + c.Message
	}
	return msgNotReconciled
}
