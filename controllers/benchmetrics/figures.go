package benchmetrics

import (
	"math"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers/statemetrics"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/internal/operator/cron"
	"github.com/pgstorage/pgstorage/internal/operator/decide/matrices"
)

// Bounds of the series, whatever is stored: they cost memory in every Prometheus.
const (
	mostSchedules  = 100
	mostBenchmarks = 100
	mostVariants   = 64
)

// figures of a schedule, or of a benchmark that no schedule and no matrix made.
type figures struct {
	namespace, schedule, benchmark string
	// regressed and the times are nil where nothing is known.
	regressed     *bool
	success, late *time.Time
	variants      []variant
}

// variant of a matrix, or a count of clients. What was not measured is negative.
type variant struct {
	name       string
	durability v1alpha1.DurabilityTier
	tps, p99   float64
}

// figuresOf all objects at a time, and how many of them are left out to keep bounds.
func figuresOf(schedules []v1alpha1.PgScheduledBenchmark, benchmarks []v1alpha1.PgBenchmark, now time.Time) (all []figures, left int) {
	own, alone := succeeded(benchmarks)
	kept := boundedSchedules(schedules)
	for _, s := range kept {
		all = append(all, ofSchedule(s, own[s.UID], now))
	}
	left = len(schedules) - len(kept) + len(alone)
	for _, b := range statemetrics.InTurns(alone, mostBenchmarks, newestFirst) {
		all = append(all, ofBenchmark(b))
		left--
	}
	return all, left
}

// boundedSchedules are those that have series. Suspended ones have what the others leave.
func boundedSchedules(schedules []v1alpha1.PgScheduledBenchmark) []*v1alpha1.PgScheduledBenchmark {
	var active, suspended []*v1alpha1.PgScheduledBenchmark
	for i := range schedules {
		if s := &schedules[i]; s.Spec.Suspend {
			suspended = append(suspended, s)
		} else {
			active = append(active, s)
		}
	}
	kept := statemetrics.InTurns(active, mostSchedules, statemetrics.AsNamed)
	return append(kept, statemetrics.InTurns(suspended, mostSchedules-len(kept), statemetrics.AsNamed)...)
}

func newestFirst(a, b *v1alpha1.PgBenchmark) int { return ended(b).Compare(ended(a)) }

// succeeded benchmarks: the last of each schedule by its UID, and those that nothing made
// which has their figures.
func succeeded(all []v1alpha1.PgBenchmark) (own map[types.UID]*v1alpha1.PgBenchmark, alone []*v1alpha1.PgBenchmark) {
	own = map[types.UID]*v1alpha1.PgBenchmark{}
	for i := range all {
		b := &all[i]
		if b.Status.Phase != v1alpha1.PhaseSucceeded {
			continue
		}
		maker := metav1.OwnerReference{}
		if owner := metav1.GetControllerOf(b); owner != nil {
			maker = *owner
		}
		switch maker.Kind {
		case "PgScheduledBenchmark":
			if last := own[maker.UID]; last == nil || ended(last).Before(ended(b)) {
				own[maker.UID] = b
			}
		case "PgBenchmark":
			// The matrix has its figures.
		default:
			alone = append(alone, b)
		}
	}
	return own, alone
}

func ended(b *v1alpha1.PgBenchmark) time.Time {
	if b.Status.CompletionTime == nil {
		return time.Time{}
	}
	return b.Status.CompletionTime.Time
}

func ofBenchmark(b *v1alpha1.PgBenchmark) figures {
	f := figures{namespace: b.Namespace, benchmark: b.Name, success: new(ended(b)), variants: variantsOf(b)}
	if c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionNotRegressed); c != nil {
		f.regressed = worse(c.Status)
	}
	return f
}

// ofSchedule has the variants of its last run that succeeded, where that is kept.
func ofSchedule(s *v1alpha1.PgScheduledBenchmark, last *v1alpha1.PgBenchmark, now time.Time) figures {
	f := figures{namespace: s.Namespace, schedule: s.Name, late: lateAt(s, now)}
	if t := s.Status.LastSuccessfulTime; t != nil {
		f.success = new(t.Time)
	}
	if r := s.Status.LastResult; r != nil {
		f.regressed = worse(r.NotRegressed)
	}
	if last != nil {
		f.variants = variantsOf(last)
	}
	return f
}

// worse is nil where the gate has no result.
func worse(notRegressed metav1.ConditionStatus) *bool {
	switch notRegressed {
	case metav1.ConditionTrue:
		return new(false)
	case metav1.ConditionFalse:
		return new(true)
	}
	return nil
}

// lateAt is when a schedule will not have succeeded for twice its interval. It counts
// from the last success, or from when the schedule began or was resumed. A schedule
// that begins no runs is never late.
func lateAt(s *v1alpha1.PgScheduledBenchmark, now time.Time) *time.Time {
	scheduled := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionScheduled)
	if s.Spec.Suspend || scheduled == nil || scheduled.Status != metav1.ConditionTrue {
		return nil
	}
	times, err := cron.Parse(s.Spec.Schedule, s.Spec.TimeZone)
	if err != nil {
		return nil
	}
	from := scheduled.LastTransitionTime.Time
	if t := s.Status.LastSuccessfulTime; t != nil && t.After(from) {
		from = t.Time
	}
	interval := times.Interval(from)
	if interval == 0 {
		interval = times.Interval(now)
	}
	if interval == 0 {
		return nil
	}
	return new(from.Add(2 * interval))
}

func variantsOf(b *v1alpha1.PgBenchmark) []variant {
	var all []variant
	if m := b.Status.Matrix; m != nil {
		for _, v := range m.Variants {
			all = append(all, variant{name: v.Name, durability: v.Durability, tps: number(v.MedianTPS), p99: medianP99(v.Runs)})
		}
	} else if run := b.Status.Run; run != nil {
		for _, r := range run.Results {
			all = append(all, variant{name: "clients=" + strconv.Itoa(int(r.Clients)), durability: b.Status.Durability, tps: number(r.TPS), p99: number(r.LatencyP99)})
		}
	}
	return all[:min(len(all), mostVariants)]
}

// medianP99 returns the median over the runs that count and have one, in milliseconds.
// Without such a run it is negative.
func medianP99(runs []v1alpha1.MatrixRun) float64 {
	var values []float64
	for _, r := range runs {
		if v := number(r.LatencyP99); v >= 0 && matrices.Counts(r) {
			values = append(values, v)
		}
	}
	summary, err := statistics.Summarise(values)
	if err != nil {
		return -1
	}
	return summary.Median
}

// number that the status has as text; negative where it has none.
func number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return -1
	}
	return v
}
