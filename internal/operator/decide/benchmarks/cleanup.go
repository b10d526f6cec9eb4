package benchmarks

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// Keeps reports whether the cleanup policy keeps the Job and the database of a benchmark
// that has ended. It keeps nothing of a benchmark that used the space that must stay free.
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

// CleanedUp returns the condition of a benchmark that has ended. waits says what is still
// being deleted, or is "".
func CleanedUp(b *v1alpha1.PgBenchmark, waits string) outcome.Outcome {
	const c = v1alpha1.ConditionCleanedUp
	o := outcome.DoneWith(c, v1alpha1.ReasonCleanedUp, msgCleanedUp)
	switch {
	case waits != "":
		o = Deleting(waits)
	case Keeps(b):
		o = outcome.DoneWith(c, v1alpha1.ReasonKept, fmt.Sprintf(msgKept, b.Spec.Pgbench.Cleanup, msgSuperuserGone))
	}
	o.Informative = true
	return o
}

// Deleting returns CleanedUp of a benchmark that waits for a deletion.
func Deleting(waits string) outcome.Outcome {
	return outcome.WaitFor(v1alpha1.ConditionCleanedUp, v1alpha1.ReasonDeleting, waits)
}

// AccessRemoved reports whether the status shows that everything of the benchmark was
// deleted, so that a reconcile need not delete it by name again.
func AccessRemoved(b *v1alpha1.PgBenchmark) bool {
	c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionCleanedUp)
	return c != nil && c.Status == metav1.ConditionTrue && c.Reason == v1alpha1.ReasonCleanedUp
}

// SuperuserRemoved reports whether the status shows that the superuser of the checks was
// deleted. Versions of the operator that kept it wrote another message.
func SuperuserRemoved(b *v1alpha1.PgBenchmark) bool {
	c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionCleanedUp)
	return AccessRemoved(b) || c != nil && c.Status == metav1.ConditionTrue && strings.Contains(c.Message, msgSuperuserGone)
}
