package matrices

import (
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// finish a matrix of which no run is left.
func (p *pass) finish() outcome.Set {
	outcomes := outcome.NewSet(p.result(), p.integrity(), p.believable())
	cleaned := outcome.DoneWith(v1alpha1.ConditionCleanedUp, v1alpha1.ReasonCleanedUp, msgCleanedUp)
	if waits := p.settle(); waits != "" {
		cleaned = outcome.WaitFor(v1alpha1.ConditionCleanedUp, v1alpha1.ReasonDeleting, waits)
	} else if kept := p.kept(); kept != "" {
		cleaned = outcome.DoneWith(v1alpha1.ConditionCleanedUp, v1alpha1.ReasonKept, kept)
	}
	cleaned.Informative = true
	outcomes.Add(cleaned)
	if p.b.Spec.Gate != nil {
		outcomes.Add(p.gate())
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
		counts += fmt.Sprintf(msgBudgetSpent, n.Pending, p.b.Spec.Matrix.TotalTimeout)
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
		o := outcome.WaitFor(c, v1alpha1.ReasonNotRun, msgNoCheckRun)
		o.Unknown, o.Informative = true, true
		return o
	}
	return outcome.DoneWith(c, v1alpha1.ReasonVerified, msgIntegrityVerified)
}

func (p *pass) firstFailure() string {
	for _, r := range p.Runs {
		if run, ended := p.ended[r.ID]; ended && run.Outcome == string(matrix.Failed) {
			return fmt.Sprintf("; first %s: %s", r.Variant, run.Message)
		}
	}
	return ""
}
