package schedules

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
	"github.com/pgstorage/pgstorage/internal/operator/decide/matrices"
)

// run of a schedule, and the time that it was made for.
type run struct {
	*v1alpha1.PgBenchmark
	due time.Time
}

// runs of a schedule, the newest first.
type runs []run

func runsOf(s *v1alpha1.PgScheduledBenchmark, all []*v1alpha1.PgBenchmark) runs {
	var own runs
	for _, b := range all {
		if !metav1.IsControlledBy(b, s) {
			continue
		}
		due, err := time.Parse(time.RFC3339, b.Annotations[naming.AnnotationScheduledAt])
		if err != nil {
			// A user removed the annotation.
			due = b.CreationTimestamp.Time
		}
		own = append(own, run{PgBenchmark: b, due: due})
	}
	slices.SortFunc(own, func(a, b run) int { return b.due.Compare(a.due) })
	return own
}

// begun is the latest time that there is a run of.
func (r runs) begun() *metav1.Time {
	if len(r) == 0 {
		return nil
	}
	return timeOf(r[0].due)
}

func (r runs) active() []string {
	var names []string
	for _, b := range r {
		if !benchmarks.Ended(b.PgBenchmark) {
			names = append(names, b.Name)
		}
	}
	slices.Sort(names)
	return names
}

// ended runs, the newest first.
func (r runs) ended() runs {
	return slices.DeleteFunc(slices.Clone(r), func(b run) bool { return !benchmarks.Ended(b.PgBenchmark) })
}

// succeeded is when the last run that did ended.
func (r runs) succeeded() *metav1.Time {
	var last *metav1.Time
	for _, b := range r.ended() {
		if b.Status.Phase == v1alpha1.PhaseSucceeded {
			last = latest(last, b.Status.CompletionTime)
		}
	}
	return last
}

// good reports whether a benchmark may be a baseline: it succeeded without a regression.
func good(b *v1alpha1.PgBenchmark) bool {
	return b.Status.Phase == v1alpha1.PhaseSucceeded && b.DeletionTimestamp == nil && b.Spec.Matrix != nil &&
		!meta.IsStatusConditionFalse(b.Status.Conditions, v1alpha1.ConditionNotRegressed)
}

// baseline returns the run that the next one is compared with, or "". A night with rejected or
// failed runs does not replace a baseline that has all its figures. Otherwise a regression
// would be forgotten.
func baseline(s *v1alpha1.PgScheduledBenchmark, own runs) string {
	switch {
	case s.Spec.Gate == nil:
		return ""
	case s.Spec.Gate.Baseline != "":
		return s.Spec.Gate.Baseline
	}
	best, most := "", -1
	for _, b := range own {
		if !good(b.PgBenchmark) {
			continue
		}
		variants, all := matrices.Comparable(b.Status.Matrix)
		if all {
			return b.Name
		}
		if variants > most {
			best, most = b.Name, variants
		}
	}
	return best
}

// result of the last run that ended.
func (r runs) result() *v1alpha1.ScheduledResult {
	ended := r.ended()
	if len(ended) == 0 {
		return nil
	}
	b := ended[0]
	out := &v1alpha1.ScheduledResult{
		Benchmark: b.Name, Phase: b.Status.Phase, TPS: b.Status.BestTPS, Durability: b.Status.Durability, CompletionTime: b.Status.CompletionTime,
	}
	if c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionNotRegressed); c != nil {
		out.NotRegressed = c.Status
	}
	return out
}

// outcomes of the run that ended last. Without such a run they stay as the status has
// them.
func (r runs) outcomes(s *v1alpha1.PgScheduledBenchmark) outcome.Set {
	ended := r.ended()
	lastRun := func(condition, ofRun string) outcome.Outcome {
		if len(ended) == 0 {
			return reported(condition, meta.FindStatusCondition(s.Status.Conditions, condition))
		}
		return reported(condition, meta.FindStatusCondition(ended[0].Status.Conditions, ofRun))
	}
	out := outcome.NewSet(lastRun(v1alpha1.ConditionLastRunSucceeded, v1alpha1.ConditionComplete))
	if s.Spec.Gate != nil {
		out.Add(lastRun(v1alpha1.ConditionNotRegressed, v1alpha1.ConditionNotRegressed))
	}
	return out
}

// reported is what a condition of a run says, as a condition of its schedule.
func reported(kind string, c *metav1.Condition) outcome.Outcome {
	o := outcome.Outcome{Condition: kind, Kind: outcome.Wait, Reason: v1alpha1.ReasonNotRun, Message: msgNotRun, Informative: true, Unknown: true}
	if c == nil {
		return o
	}
	o.Reason, o.Message, o.Unknown = c.Reason, c.Message, c.Status == metav1.ConditionUnknown
	switch {
	case c.Status == metav1.ConditionTrue:
		o.Kind = outcome.Done
	case c.Reason == v1alpha1.ReasonIntegrityFailed:
		// Damage needs an administrator, whatever else is well.
		o.Kind, o.Informative = outcome.Invalid, false
	}
	return o
}
