package benchmarks

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// jobFailed returns why a Job failed, or "".
func jobFailed(job *batchv1.Job) string {
	if job == nil {
		return ""
	}
	for _, c := range job.Status.Conditions {
		if c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue {
			return c.Reason + ": " + c.Message
		}
	}
	return ""
}

func jobComplete(job *batchv1.Job) bool {
	if job == nil {
		return false
	}
	for _, c := range job.Status.Conditions {
		if c.Type == batchv1.JobComplete && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// unreported is what the Job says of a benchmark whose runner has not ended.
func unreported(b *v1alpha1.PgBenchmark, facts observed.Benchmark) outcome.Outcome {
	const c = v1alpha1.ConditionComplete
	run := b.Status.Run
	if why := jobFailed(facts.Job); why != "" {
		return outcome.InvalidBecause(c, v1alpha1.ReasonFailed, fmt.Sprintf(msgJobFailed, facts.Job.Name, why, b.Namespace, facts.Job.Name))
	}
	if facts.Job == nil && b.Status.Job != "" {
		return outcome.InvalidBecause(c, v1alpha1.ReasonFailed, fmt.Sprintf(msgJobDeleted, b.Status.Job))
	}
	if jobComplete(facts.Job) {
		return outcome.InvalidBecause(c, v1alpha1.ReasonFailed, fmt.Sprintf(msgResultLost, facts.Job.Name, b.Namespace, facts.Job.Name))
	}
	if run == nil || run.Phase == "" {
		return outcome.WaitFor(c, v1alpha1.ReasonPreparing, fmt.Sprintf(msgPodNotStarted, b.Namespace, facts.Job.Name))
	}
	return outcome.WaitFor(c, run.Phase, fmt.Sprintf("%s: %s", run.Phase, run.Message))
}
