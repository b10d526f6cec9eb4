package matrices

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
)

// finish a matrix of which no run is left.
func (p *pass) finish() []outcome.Outcome {
	outcomes := []outcome.Outcome{p.result(), p.integrity(), p.believable()}
	cleaned := outcome.DoneWith(v1alpha1.ConditionCleanedUp, v1alpha1.ReasonCleanedUp, "nothing is left of what the runs were measured on")
	if waits := p.settle(); waits != "" {
		cleaned = outcome.WaitFor(v1alpha1.ConditionCleanedUp, v1alpha1.ReasonDeleting, waits)
	} else if kept := p.kept(); kept != "" {
		cleaned = outcome.DoneWith(v1alpha1.ConditionCleanedUp, v1alpha1.ReasonKept, kept)
	}
	cleaned.Informative = true
	outcomes = append(outcomes, cleaned)
	if p.b.Spec.Gate != nil {
		outcomes = append(outcomes, p.gate())
	}
	return outcomes
}

// result of all runs. Variants that failed are results; only a matrix without any
// figure has failed.
func (p *pass) result() outcome.Outcome {
	const c = v1alpha1.ConditionComplete
	n := p.progress
	counts := fmt.Sprintf("%d runs of %d variants: %d succeeded, %d failed, %d skipped", len(p.Runs), len(p.Variants), n.Succeeded, n.Failed, n.Skipped)
	if n.Stop == matrix.BudgetSpent {
		counts += fmt.Sprintf(", %d not begun, since the next round would not end within spec.matrix.totalTimeout of %s", n.Pending, p.b.Spec.Matrix.TotalTimeout)
	}
	switch {
	case n.Succeeded == 0:
		return outcome.InvalidBecause(c, v1alpha1.ReasonFailed, counts+p.firstFailure()+"; create another PgBenchmark to run it again")
	case n.Stop == matrix.BudgetSpent:
		return outcome.DoneWith(c, v1alpha1.ReasonBudgetSpent, counts)
	}
	return outcome.DoneWith(c, v1alpha1.ReasonSucceeded, counts)
}

// integrity of what the runs that succeeded or failed were measured on.
func (p *pass) integrity() outcome.Outcome {
	const c = v1alpha1.ConditionIntegrityVerified
	for _, r := range p.Runs {
		if run := p.ended[r.ID]; run.Reason == v1alpha1.ReasonIntegrityFailed {
			return outcome.InvalidBecause(c, v1alpha1.ReasonIntegrityFailed, fmt.Sprintf("%s on PgStorageCluster %s: %s", p.where(r), p.cluster(r.Target), run.Message))
		}
	}
	if p.progress.Succeeded == 0 {
		o := outcome.WaitFor(c, v1alpha1.ReasonNotRun, "no run came to its checks")
		o.Unknown, o.Informative = true, true
		return o
	}
	return outcome.DoneWith(c, v1alpha1.ReasonVerified, "no check after a run failed; which were run is in status.run.integrity of each run's PgBenchmark")
}

func (p *pass) firstFailure() string {
	for _, r := range p.Runs {
		if run, ended := p.ended[r.ID]; ended && run.Outcome == string(matrix.Failed) {
			return fmt.Sprintf("; first %s: %s", r.Variant, run.Message)
		}
	}
	return ""
}

// settle what has ended: runs that were given up and clusters that no run needs any
// more are deleted. It says what is waited for, or "": what is being removed would
// disturb the next run.
func (p *pass) settle() string {
	if waits := p.settleRuns(); waits != "" {
		return waits
	}
	return p.settleClusters()
}

func (p *pass) settleRuns() string {
	waits := ""
	for _, r := range p.Runs {
		run := p.runs[r.ID]
		if _, ended := p.ended[r.ID]; run == nil || !ended {
			continue
		}
		if !benchmarks.Ended(run) {
			p.step.Benchmarks = append(p.step.Benchmarks, run)
		}
		if left := p.leftover(r.ID, run); left != "" {
			waits = left
		}
	}
	return waits
}

func (p *pass) settleClusters() string {
	waits := ""
	for _, target := range p.order() {
		cluster := p.clusters[target]
		if cluster == nil || p.progress.Left[target] > 0 || p.keeps(target) {
			continue
		}
		p.step.Clusters = append(p.step.Clusters, cluster)
		waits = fmt.Sprintf("waits until PgStorageCluster %s, which was measured to the end, is gone", cluster.Name)
	}
	return waits
}

// leftover of a run that was recorded, or "". It is not waited for without end.
func (p *pass) leftover(id matrix.ID, run *v1alpha1.PgBenchmark) string {
	gone := benchmarks.Ended(run) && run.DeletionTimestamp == nil && meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionCleanedUp)
	recorded := p.ended[id].CompletionTime
	if gone || recorded == nil {
		return ""
	}
	left := recorded.Add(p.timeout()).Sub(p.now.Time)
	if left <= 0 {
		return ""
	}
	p.again(left)
	return fmt.Sprintf("waits until what PgBenchmark %s made is gone", run.Name)
}

// keeps says whether the cluster of a target stays: by the cleanup policy, and always
// where a check found damage, which is evidence.
func (p *pass) keeps(target string) bool {
	failed, damaged := false, false
	for id, run := range p.ended {
		if p.targets[id.Variant] == target {
			failed = failed || run.Outcome == string(matrix.Failed)
			damaged = damaged || run.Reason == v1alpha1.ReasonIntegrityFailed
		}
	}
	switch p.b.Spec.Pgbench.Cleanup {
	case v1alpha1.CleanupNever:
		return true
	case v1alpha1.CleanupOnSuccess:
		return failed
	}
	return damaged
}

// kept says what stays of an ended matrix, and why, or "".
func (p *pass) kept() string {
	var names []string
	for _, target := range p.order() {
		if cluster := p.clusters[target]; cluster != nil && p.keeps(target) {
			names = append(names, cluster.Name)
		}
	}
	switch {
	case len(names) > 0:
		return fmt.Sprintf("these PgStorageClusters stay until this PgBenchmark is deleted, because of spec.pgbench.cleanup or of damage that was found: %s", strings.Join(names, ", "))
	case p.b.Spec.Pgbench.Cleanup == v1alpha1.CleanupNever, p.b.Spec.Pgbench.Cleanup == v1alpha1.CleanupOnSuccess && p.progress.Failed > 0:
		return fmt.Sprintf("spec.pgbench.cleanup is %s: what it keeps of the runs stays until they are deleted", p.b.Spec.Pgbench.Cleanup)
	}
	return ""
}
