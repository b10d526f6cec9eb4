package matrices

import (
	"fmt"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
)

// decide what is next, and what the conditions say.
func (p *pass) decide() (outcome.Set, error) {
	switch {
	case p.progress.Stop != "":
		return p.finish(), nil
	case p.progress.Current != nil:
		return p.watch(*p.progress.Current)
	}
	return p.begin(*p.progress.Next)
}

// progressing are the outcomes of a matrix that has not ended.
func progressing(reason, message string) outcome.Set {
	return outcome.NewSet(
		outcome.DoneWith(v1alpha1.ConditionTargetReady, v1alpha1.ReasonReady, msgProceeding),
		outcome.WaitFor(v1alpha1.ConditionComplete, reason, message),
	)
}

// waiting are the outcomes while the cluster that spec.cluster names cannot be
// measured.
func waiting(reason, message string) outcome.Set {
	return outcome.NewSet(
		outcome.WaitFor(v1alpha1.ConditionTargetReady, reason, message),
		outcome.WaitFor(v1alpha1.ConditionComplete, reason, message),
	)
}

// where a run is, for messages.
func (p *pass) where(r matrix.PlannedRun) string {
	return fmt.Sprintf("round %d of %d, %s", r.Repeat, p.b.Spec.Matrix.Repeats, r.Variant)
}

// begin the next run, once nothing of the one before can disturb it.
func (p *pass) begin(r matrix.PlannedRun) (outcome.Set, error) {
	if p.facts.Refusal != "" {
		message := msgRunRejected + p.facts.Refusal
		return progressing(v1alpha1.ReasonPreparing, p.where(r)+": "+message), p.fail(r.ID, v1alpha1.ReasonRejected, message)
	}
	p.decision.Begins = true
	if waits := p.settle(); waits != "" {
		return progressing(v1alpha1.ReasonPreparing, p.where(r)+": "+waits), nil
	}
	if left := p.rest(); left > 0 {
		p.again(left)
		return progressing(v1alpha1.ReasonResting, fmt.Sprintf(msgResting, p.where(r), p.b.Spec.Matrix.Rest)), nil
	}
	p.makeCurrent(r)
	if p.b.Spec.Template == nil {
		return p.onGiven(r)
	}
	return p.onOwn(r)
}

// rest that is left after the run that ended last; none before the first.
func (p *pass) rest() time.Duration {
	var last time.Time
	for _, run := range p.ended {
		if t := run.CompletionTime; t != nil && t.After(last) {
			last = t.Time
		}
	}
	if last.IsZero() {
		return 0
	}
	return last.Add(period(p.b.Spec.Matrix.Rest)).Sub(p.now.Time)
}

// onGiven begins a run on the cluster that spec.cluster names.
func (p *pass) onGiven(r matrix.PlannedRun) (outcome.Set, error) {
	var cluster *v1alpha1.PgStorageCluster
	for _, c := range p.facts.Clusters {
		if c.Name == p.b.Spec.Cluster {
			cluster = c
		}
	}
	switch {
	case cluster == nil:
		return waiting(v1alpha1.ReasonClusterNotFound, fmt.Sprintf(msgTargetNotFound, p.b.Spec.Cluster, p.b.Namespace, p.b.Namespace)), nil
	case !benchmarks.Admits(cluster, p.b):
		return waiting(v1alpha1.ReasonConsentRequired, benchmarks.NeedsConsent(p.b.Namespace, cluster.Name)), nil
	case !ready(cluster):
		return waiting(v1alpha1.ReasonTargetNotReady, fmt.Sprintf(msgTargetNotReady, cluster.Name)), nil
	}
	return p.start(r)
}

// onOwn begins a run on the cluster of its target, which is made where there is none.
func (p *pass) onOwn(r matrix.PlannedRun) (outcome.Set, error) {
	name := p.cluster(r.Target)
	if p.strangers[name] {
		return p.lose(r, v1alpha1.ReasonClusterNotOwned, fmt.Sprintf(msgClusterForeign, name))
	}
	if err := p.want(r.Target); err != nil {
		return nil, err
	}
	cluster := p.clusters[r.Target]
	left := p.current.Since.Add(p.timeout()).Sub(p.now.Time)
	switch {
	case cluster == nil:
		p.again(max(left, time.Second))
		return progressing(v1alpha1.ReasonPreparing, fmt.Sprintf(msgClusterCreating, p.where(r), name)), nil
	case ready(cluster):
		return p.start(r)
	case stalled(cluster):
		return p.lose(r, v1alpha1.ReasonTargetNotReady, fmt.Sprintf("PgStorageCluster %s: %s", name, readiness(cluster.Status.Conditions)))
	case left <= 0:
		return p.lose(r, v1alpha1.ReasonTargetNotReady, fmt.Sprintf(msgClusterLate, name, p.timeout(), readiness(cluster.Status.Conditions)))
	}
	p.again(left)
	return progressing(v1alpha1.ReasonPreparing, fmt.Sprintf(msgClusterNotReady, p.where(r), name)), nil
}

// lose a run that cannot be begun.
func (p *pass) lose(r matrix.PlannedRun, reason, message string) (outcome.Set, error) {
	return progressing(v1alpha1.ReasonPreparing, p.where(r)+" has failed: "+message), p.fail(r.ID, reason, message)
}

// start a run.
func (p *pass) start(r matrix.PlannedRun) (outcome.Set, error) {
	if name := p.run(r.ID); p.strangers[name] {
		return p.lose(r, v1alpha1.ReasonRejected, fmt.Sprintf(msgRunForeign, name))
	}
	o, err := p.runObject(r)
	if err != nil {
		return nil, err
	}
	p.decision.Plan.Add(o)
	return progressing(v1alpha1.ReasonRunning, p.where(r)+": begins"), nil
}

// want the cluster of a target as it is declared.
func (p *pass) want(target string) error {
	if p.b.Spec.Template == nil || p.clusters[target] != nil && p.clusters[target].DeletionTimestamp != nil {
		return nil
	}
	o, err := p.clusterObject(target)
	if err == nil {
		p.decision.Plan.Add(o)
	}
	return err
}
