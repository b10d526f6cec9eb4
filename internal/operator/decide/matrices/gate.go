package matrices

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/comparison"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
)

// baselinePoll is how often a matrix that has ended looks for a missing baseline.
const baselinePoll = 30 * time.Second

// gate compares the result of a matrix with its baseline. A result is final, even if the
// baseline changes or is deleted.
func (p *pass) gate() outcome.Outcome {
	const c = v1alpha1.ConditionNotRegressed
	if known := meta.FindStatusCondition(p.b.Status.Conditions, c); known != nil && Decided(known.Reason) {
		return gateOutcome(known.Status, known.Reason, known.Message)
	}
	name := p.b.Spec.Gate.Baseline
	var baseline *v1alpha1.PgBenchmark
	for _, b := range p.facts.Benchmarks {
		if b.Name == name {
			baseline = b
		}
	}
	switch {
	case baseline == nil:
		p.again(baselinePoll)
		return gateOutcome(metav1.ConditionUnknown, v1alpha1.ReasonBaselineNotFound, fmt.Sprintf(msgBaselineNotFound, name, p.b.Namespace, p.b.Namespace))
	case baseline.Spec.Matrix == nil:
		return gateOutcome(metav1.ConditionUnknown, v1alpha1.ReasonNotComparable, fmt.Sprintf(msgBaselineNoMatrix, name))
	case !benchmarks.Ended(baseline) || baseline.Status.Matrix == nil:
		p.again(baselinePoll)
		return gateOutcome(metav1.ConditionUnknown, v1alpha1.ReasonBaselineNotComplete, fmt.Sprintf(msgBaselineNotEnded, name))
	}
	return p.against(baseline)
}

// Decided says whether a reason of the condition NotRegressed is an end: the baseline is
// no longer read.
func Decided(reason string) bool {
	return reason == v1alpha1.ReasonRegressed || reason == v1alpha1.ReasonNotRegressed || reason == v1alpha1.ReasonNotComparable
}

// against a baseline that has ended.
func (p *pass) against(baseline *v1alpha1.PgBenchmark) outcome.Outcome {
	incomparable := func(err error) outcome.Outcome {
		return gateOutcome(metav1.ConditionUnknown, v1alpha1.ReasonNotComparable, err.Error())
	}
	var own []v1alpha1.VariantStatus
	for _, v := range p.Variants {
		s, err := p.variant(v.Name)
		if err != nil {
			return incomparable(err)
		}
		own = append(own, s)
	}
	now, err := resultsOf(own)
	if err != nil {
		return incomparable(err)
	}
	before, err := resultsOf(baseline.Status.Matrix.Variants)
	if err != nil {
		return incomparable(err)
	}
	o := judge(p.b.Spec.Gate, comparison.Between(comparison.TPS, baseline.Name, before, now))
	o.Message += settingsDiffer(baseline.Status.Matrix.Variants, own)
	return o
}

// judge differences by the gate: one regression is enough. Without a comparison a
// variant does not count as unchanged.
func judge(g *v1alpha1.BenchmarkGate, differences []comparison.Difference) outcome.Outcome {
	share, confidence := float64(g.Threshold)/100, float64(g.Confidence)/100
	var worse, unknown []string
	excluded, compared := 0, testable(differences)
	for _, d := range differences {
		switch {
		case d.Verdict == comparison.NotComparable:
			unknown = append(unknown, d.Message)
		case d.BeyondAt(share, confidence, compared):
			worse = append(worse, d.Message)
		case d.ExcludesAt(share, confidence, compared):
			excluded++
		}
	}
	bound := fmt.Sprintf(msgBound, g.Threshold, g.Confidence)
	switch {
	case len(worse) > 0:
		return gateOutcome(metav1.ConditionFalse, v1alpha1.ReasonRegressed, fmt.Sprintf(msgRegressed, len(worse), len(differences), g.Baseline, bound, strings.Join(worse, "; ")))
	case len(unknown) > 0 || len(differences) == 0:
		return gateOutcome(metav1.ConditionUnknown, v1alpha1.ReasonNotComparable, fmt.Sprintf(msgNotComparable, len(unknown), len(differences), g.Baseline, strings.Join(unknown, "; ")))
	}
	return gateOutcome(metav1.ConditionTrue, v1alpha1.ReasonNotRegressed, fmt.Sprintf(msgNotRegressed, g.Baseline, bound, excluded, len(differences)))
}

// testable is how many of the differences were tested: the confidence is of all together.
func testable(differences []comparison.Difference) int {
	n := 0
	for _, d := range differences {
		if d.Verdict != comparison.NotComparable {
			n++
		}
	}
	return n
}

// settingsDiffer names variants that ran with other settings than in the baseline.
func settingsDiffer(before, now []v1alpha1.VariantStatus) string {
	old := map[string]string{}
	for _, v := range before {
		old[v.Name] = v.Fingerprint
	}
	var names []string
	for _, v := range now {
		if f := old[v.Name]; f != "" && v.Fingerprint != "" && f != v.Fingerprint {
			names = append(names, v.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return msgSettingsDiffer + strings.Join(names, "; ")
}

// gateOutcome takes no part in Ready: a regression is a result.
func gateOutcome(status metav1.ConditionStatus, reason, message string) outcome.Outcome {
	o := outcome.InvalidBecause(v1alpha1.ConditionNotRegressed, reason, message)
	if status == metav1.ConditionTrue {
		o.Kind = outcome.Done
	}
	o.Informative, o.Unknown = true, status == metav1.ConditionUnknown
	return o
}
