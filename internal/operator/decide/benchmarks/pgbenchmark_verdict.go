package benchmarks

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Outcomes are the conditions of a benchmark that has not been cleaned up yet.
func (d *Benchmark) Outcomes(b *v1alpha1.PgBenchmark, facts observed.Benchmark) []outcome.Outcome {
	return []outcome.Outcome{d.Target, d.completion(b, facts)}
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
	return outcome.WaitFor(c, v1alpha1.ReasonPreparing, "the Job is being created")
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

// unreported is what the Job says of a benchmark whose runner has not ended.
func unreported(b *v1alpha1.PgBenchmark, facts observed.Benchmark) outcome.Outcome {
	const c = v1alpha1.ConditionComplete
	run := b.Status.Run
	if why := jobFailed(facts.Job); why != "" {
		return outcome.InvalidBecause(c, v1alpha1.ReasonFailed, fmt.Sprintf("Job %s failed without a result: %s; see kubectl -n %s logs job/%s, and create another PgBenchmark to run it again", facts.Job.Name, why, b.Namespace, facts.Job.Name))
	}
	if facts.Job == nil && b.Status.Job != "" {
		return outcome.InvalidBecause(c, v1alpha1.ReasonFailed, fmt.Sprintf("Job %s was deleted before it had a result; create another PgBenchmark to run it again", b.Status.Job))
	}
	if jobComplete(facts.Job) {
		return outcome.InvalidBecause(c, v1alpha1.ReasonFailed, fmt.Sprintf("Job %s ended and its result never arrived; see kubectl -n %s logs job/%s", facts.Job.Name, b.Namespace, facts.Job.Name))
	}
	if run == nil || run.Phase == "" {
		return outcome.WaitFor(c, v1alpha1.ReasonPreparing, fmt.Sprintf("waits for the runner's pod to start; see kubectl -n %s describe job %s", b.Namespace, facts.Job.Name))
	}
	return outcome.WaitFor(c, run.Phase, fmt.Sprintf("%s: %s", run.Phase, run.Message))
}

// Integrity is what the checks after the run found.
func Integrity(b *v1alpha1.PgBenchmark) outcome.Outcome {
	const c = v1alpha1.ConditionIntegrityVerified
	var passed, failed, notRun []string
	if b.Status.Run != nil {
		for _, check := range b.Status.Run.Integrity {
			switch check.Result {
			case "Passed":
				passed = append(passed, check.Name)
			case "Failed":
				failed = append(failed, check.Name+": "+check.Message)
			default:
				notRun = append(notRun, check.Name+": "+check.Message)
			}
		}
	}
	switch {
	case len(failed) > 0:
		return outcome.InvalidBecause(c, v1alpha1.ReasonIntegrityFailed, strings.Join(failed, "; ")+"; keep the cluster's volumes and look into the storage")
	case len(passed) == 0:
		o := outcome.WaitFor(c, v1alpha1.ReasonNotRun, "no check was run: "+strings.Join(notRun, "; "))
		o.Unknown, o.Informative = true, true
		return o
	}
	message := "passed: " + strings.Join(passed, ", ")
	if len(notRun) > 0 {
		message += "; not run: " + strings.Join(notRun, ", ")
	}
	return outcome.DoneWith(c, v1alpha1.ReasonVerified, message)
}

// Keeps says whether the cleanup policy leaves the Job and the database of an
// ended benchmark. One that took the space that must stay free leaves nothing.
func Keeps(b *v1alpha1.PgBenchmark) bool {
	if run := b.Status.Run; run != nil && run.Reason == v1alpha1.ReasonFreeSpaceLow {
		return false
	}
	switch b.Spec.Pgbench.Cleanup {
	case v1alpha1.CleanupNever:
		return true
	case v1alpha1.CleanupOnSuccess:
		return b.Status.Phase != v1alpha1.PhaseSucceeded
	}
	return false
}

// BenchmarkStatus is the status of a benchmark without conditions and without
// run, which the runner writes.
func Status(b *v1alpha1.PgBenchmark, facts observed.Benchmark, completion outcome.Outcome, now metav1.Time) v1alpha1.PgBenchmarkStatus {
	s := v1alpha1.PgBenchmarkStatus{
		ObservedGeneration: b.Generation,
		Job:                b.Status.Job,
		Durability:         b.Status.Durability,
		CompletionTime:     b.Status.CompletionTime,
		Phase:              phase(b, facts, completion),
	}
	if facts.Job != nil {
		s.Job = facts.Job.Name
	}
	if s.Durability == "" && facts.Target != nil {
		s.Durability = facts.Target.Spec.Durability
	}
	if b.Status.Run != nil {
		s.BestTPS = bestTPS(b.Status.Run)
		s.Durability = verified(s.Durability, b.Status.Run.Durability)
	}
	if s.CompletionTime == nil && (s.Phase == v1alpha1.PhaseSucceeded || s.Phase == v1alpha1.PhaseFailed) {
		s.CompletionTime = &now
	}
	return s
}

// verified is the tier of a benchmark: what its cluster states, unless the runner could
// not verify it. A runner can only lower it.
func verified(stated, run v1alpha1.DurabilityTier) v1alpha1.DurabilityTier {
	if run == v1alpha1.DurabilityUnverified {
		return run
	}
	return stated
}

func phase(b *v1alpha1.PgBenchmark, facts observed.Benchmark, completion outcome.Outcome) string {
	switch {
	case Ended(b):
		return b.Status.Phase
	case completion.Kind == outcome.Done:
		return v1alpha1.PhaseSucceeded
	case completion.Kind == outcome.Invalid:
		return v1alpha1.PhaseFailed
	case b.Status.Run != nil && b.Status.Run.Phase != "":
		return b.Status.Run.Phase
	case facts.Role != nil || facts.Job != nil:
		return v1alpha1.PhasePreparing
	}
	return v1alpha1.PhasePending
}

// bestTPS is the highest median over the client counts.
func bestTPS(run *v1alpha1.BenchmarkRun) string {
	best, highest := "", -1.0
	for _, r := range run.Results {
		if v, err := strconv.ParseFloat(r.TPS, 64); err == nil && v > highest {
			best, highest = r.TPS, v
		}
	}
	return best
}
