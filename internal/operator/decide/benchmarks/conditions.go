package benchmarks

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Outcomes returns TargetReady and Complete of a benchmark that has not ended.
func (d *Benchmark) Outcomes(b *v1alpha1.PgBenchmark, facts observed.Benchmark) outcome.Set {
	return outcome.NewSet(d.Target, d.completion(b, facts))
}

func (d *Benchmark) completion(b *v1alpha1.PgBenchmark, facts observed.Benchmark) outcome.Outcome {
	const c = v1alpha1.ConditionComplete
	if o := d.Target; o.Kind != outcome.Done {
		o.Condition = c
		return o
	}
	if facts.Job != nil {
		return Completion(b, facts)
	}
	if gate, held := d.Plan.GateOf(plan.StageBenchmark); held {
		return outcome.WaitFor(c, v1alpha1.ReasonPreparing, gate.Message)
	}
	return outcome.WaitFor(c, v1alpha1.ReasonPreparing, msgJobCreating)
}

// Started returns the outcomes of a benchmark whose Job exists, or existed. The first time
// that it is Complete they have what the checks found, too.
func Started(b *v1alpha1.PgBenchmark, facts observed.Benchmark) outcome.Set {
	complete := Completion(b, facts)
	out := outcome.NewSet(outcome.DoneWith(v1alpha1.ConditionTargetReady, v1alpha1.ReasonReady, msgStarted), complete)
	if complete.Kind == outcome.Done {
		out.Add(Integrity(b), Believable(b))
	}
	return out
}

// Finished returns the outcomes of a benchmark that has ended, apart from CleanedUp.
func Finished(b *v1alpha1.PgBenchmark, facts observed.Benchmark) outcome.Set {
	out := outcome.NewSet(Completion(b, facts), Integrity(b), Believable(b))
	out.Add(Layers(b)...)
	return out
}

// Rejected returns Complete of a benchmark whose objects the API server rejects.
func Rejected(err error) outcome.Outcome {
	return outcome.WaitFor(v1alpha1.ConditionComplete, v1alpha1.ReasonRejected, fmt.Sprintf(msgRejected, err))
}

// Completion is what the runner and its Job say of a started benchmark. What
// they said of one that has ended stands, though its Job is gone.
func Completion(b *v1alpha1.PgBenchmark, facts observed.Benchmark) outcome.Outcome {
	const c = v1alpha1.ConditionComplete
	if o, ended := stored(b); ended {
		return o
	}
	run := b.Status.Run
	if run != nil && run.Phase == v1alpha1.PhaseSucceeded {
		message := fmt.Sprintf("%s TPS at best, durability %s", bestTPS(run), verified(b.Status.Durability, run.Durability))
		if run.Durability == v1alpha1.DurabilityUnverified {
			message += ": " + run.DurabilityNote
		}
		return outcome.DoneWith(c, v1alpha1.ReasonSucceeded, message)
	}
	if run != nil && run.Phase == v1alpha1.PhaseFailed {
		reason := run.Reason
		if reason == "" {
			reason = v1alpha1.ReasonFailed
		}
		return outcome.InvalidBecause(c, reason, "the benchmark failed: "+run.Message+"; create another PgBenchmark to run it again")
	}
	return unreported(b, facts)
}

// stored is the Complete condition of a benchmark that has ended.
func stored(b *v1alpha1.PgBenchmark) (outcome.Outcome, bool) {
	known := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionComplete)
	if known == nil || !Ended(b) {
		return outcome.Outcome{}, false
	}
	if b.Status.Phase == v1alpha1.PhaseSucceeded {
		return outcome.DoneWith(known.Type, known.Reason, known.Message), true
	}
	return outcome.InvalidBecause(known.Type, known.Reason, known.Message), true
}
