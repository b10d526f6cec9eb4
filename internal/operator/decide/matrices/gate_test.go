package matrices

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/comparison"
)

// measured is a matrix that has ended, with a factor to what its variants yield.
func measured(t *testing.T, name string, factor float64, change func(*v1alpha1.PgBenchmarkSpec)) *world {
	t.Helper()
	b := twoByTwo(change)
	b.Name = name
	w := newWorld(t, b)
	w.tps = func(variant string, repeat int) float64 {
		return factor * float64(100*len(variant)) * (1 + float64(repeat*repeat%7)/1000)
	}
	return w
}

func TestGate(t *testing.T) {
	gated := func(threshold, confidence int32) func(*v1alpha1.PgBenchmarkSpec) {
		return func(s *v1alpha1.PgBenchmarkSpec) {
			s.Gate = &v1alpha1.BenchmarkGate{Baseline: "before", Threshold: threshold, Confidence: confidence}
		}
	}
	baseline := measured(t, "before", 1, nil)
	baseline.toTheEnd()
	for name, test := range map[string]struct {
		factor   float64
		change   func(*v1alpha1.PgBenchmarkSpec)
		baseline func() *v1alpha1.PgBenchmark
		status   metav1.ConditionStatus
		reason   string
		says     string
	}{
		"the same":           {1, gated(5, 95), nil, metav1.ConditionTrue, v1alpha1.ReasonNotRegressed, "excluded for 4 of 4 variants"},
		"worse":              {0.9, gated(5, 95), nil, metav1.ConditionFalse, v1alpha1.ReasonRegressed, "4 of 4 variants are worse than before by 5% or more"},
		"worse, less":        {0.97, gated(5, 95), nil, metav1.ConditionTrue, v1alpha1.ReasonNotRegressed, "excluded for 4 of 4 variants"},
		"about as much":      {0.9501, gated(5, 99), nil, metav1.ConditionTrue, v1alpha1.ReasonNotRegressed, "excluded for 0 of 4 variants"},
		"better":             {1.2, gated(1, 80), nil, metav1.ConditionTrue, v1alpha1.ReasonNotRegressed, "excluded"},
		"no baseline":        {1, gated(5, 95), func() *v1alpha1.PgBenchmark { return nil }, metav1.ConditionUnknown, v1alpha1.ReasonBaselineNotFound, "PgBenchmark before does not exist"},
		"single baseline":    {1, gated(5, 95), single, metav1.ConditionUnknown, v1alpha1.ReasonNotComparable, "has no matrix"},
		"running baseline":   {1, gated(5, 95), running, metav1.ConditionUnknown, v1alpha1.ReasonBaselineNotComplete, "has not ended"},
		"variants of others": {1, func(s *v1alpha1.PgBenchmarkSpec) { gated(5, 95)(s); s.Pgbench.Clients = []int32{1} }, nil, metav1.ConditionUnknown, v1alpha1.ReasonNotComparable, "2 of 4 variants cannot be compared with before: "},
	} {
		t.Run(name, func(t *testing.T) {
			w := measured(t, "now", test.factor, test.change)
			before := baseline.b
			if test.baseline != nil {
				before = test.baseline()
			}
			if before != nil {
				w.facts.Benchmarks = append(w.facts.Benchmarks, before)
			}
			w.toTheEnd()
			c := w.condition(v1alpha1.ConditionNotRegressed)
			if c.Status != test.status || c.Reason != test.reason || !strings.Contains(c.Message, test.says) {
				t.Errorf("%+v", c)
			}
			if ready := w.condition(v1alpha1.ConditionReady); ready.Status != metav1.ConditionTrue {
				t.Errorf("a gate takes part in Ready: %+v", ready)
			}
		})
	}
}

// The confidence of a gate holds over all variants. Here 40 are worse by a little less than
// the threshold. With intervals that are right for one variant each, chance alone shows one or
// more beyond it in most nights. The same holds for what is excluded.
func TestConfidenceHoldsOverAllVariants(t *testing.T) {
	const nights, variants, repeats = 100, 40, 5
	noise := rand.New(rand.NewPCG(1, 2))
	samples := func(mean float64) []comparison.Sample {
		var out []comparison.Sample
		for v := range variants {
			s := comparison.Sample{Variant: strconv.Itoa(v), Tier: v1alpha1.DurabilityLocal, Values: map[int]float64{}}
			for r := range repeats {
				s.Values[r+1] = mean * math.Exp(0.01*noise.NormFloat64())
			}
			out = append(out, s)
		}
		return out
	}
	gate := &v1alpha1.BenchmarkGate{Baseline: "before", Threshold: 5, Confidence: 95}
	regressed, excluded := 0, 0
	for range nights {
		if o := judge(gate, comparison.Between(comparison.TPS, "before", samples(1000), samples(950.5))); o.Reason == v1alpha1.ReasonRegressed {
			regressed++
		}
		o := judge(gate, comparison.Between(comparison.TPS, "before", samples(1000), samples(949.5)))
		if o.Reason == v1alpha1.ReasonNotRegressed && !strings.Contains(o.Message, "excluded for 0 of 40") {
			excluded++
		}
	}
	if most := nights * 5 / 100; regressed > most || excluded > most {
		t.Errorf("of %d nights, %d regressed by less than the threshold, and %d excluded a regression that was there; want at most %d", nights, regressed, excluded, most)
	}
}

func single() *v1alpha1.PgBenchmark {
	return &v1alpha1.PgBenchmark{ObjectMeta: metav1.ObjectMeta{Name: "before"}, Status: v1alpha1.PgBenchmarkStatus{Phase: "Succeeded"}}
}

func running() *v1alpha1.PgBenchmark {
	b := twoByTwo(nil)
	b.Name = "before"
	return b
}

// What a gate found stands, whatever becomes of the baseline; what it waits for is
// looked for again.
func TestGateStands(t *testing.T) {
	w := measured(t, "now", 1, func(s *v1alpha1.PgBenchmarkSpec) {
		s.Gate = &v1alpha1.BenchmarkGate{Baseline: "before", Threshold: 5, Confidence: 95}
	})
	w.toTheEnd()
	if step := w.next(); step.After != baselinePoll {
		t.Errorf("looks again after %v", step.After)
	}
	baseline := measured(t, "before", 2, nil)
	baseline.toTheEnd()
	w.facts.Benchmarks = append(w.facts.Benchmarks, baseline.b)
	w.take(w.next(), 3)
	if c := w.condition(v1alpha1.ConditionNotRegressed); c.Reason != v1alpha1.ReasonRegressed {
		t.Errorf("%+v", c)
	}
	w.facts.Benchmarks = nil
	w.take(w.next(), 3)
	if c := w.condition(v1alpha1.ConditionNotRegressed); c.Reason != v1alpha1.ReasonRegressed || w.next().After != 0 {
		t.Errorf("%+v", c)
	}
}

func TestGateTellsOfOtherSettings(t *testing.T) {
	baseline := measured(t, "before", 1, nil)
	baseline.toTheEnd()
	baseline.b.Status.Matrix.Variants[0].Fingerprint = "another"
	w := measured(t, "now", 1, func(s *v1alpha1.PgBenchmarkSpec) {
		s.Gate = &v1alpha1.BenchmarkGate{Baseline: "before", Threshold: 5, Confidence: 95}
	})
	w.facts.Benchmarks = append(w.facts.Benchmarks, baseline.b)
	w.toTheEnd()
	c := meta.FindStatusCondition(w.b.Status.Conditions, v1alpha1.ConditionNotRegressed)
	if c == nil || !strings.HasSuffix(c.Message, msgSettingsDiffer+"durability=Local clients=1") {
		t.Errorf("%+v", c)
	}
}
