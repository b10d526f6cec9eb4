package benchmarks

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// Whole matrix, with a run that was throttled and one that failed.
func Whole(t testing.TB, namespace string) Objects {
	t.Helper()
	runs := Recorded(t)
	for i := range runs {
		switch {
		case runs[i].Variant == "durability=Local clients=4" && runs[i].Repeat == 2:
			runs[i].Facts.Pods = []validity.Pod{{Name: "pgb-tiers-1", Periods: 50, Throttled: 40, ThrottledTime: 2 * time.Second}}
		case runs[i].Variant == "durability=Async clients=1" && runs[i].Repeat == 3:
			runs[i].Failure = "the pool is full"
		}
	}
	return Matrix(t, Tiers(namespace), runs)
}

// HalfWay has two rounds of three variants, and runs to come.
func HalfWay(t testing.TB, namespace string) Objects {
	t.Helper()
	runs := slices.DeleteFunc(Recorded(t), func(r analysis.Trial) bool {
		return r.Repeat > 2 || r.Variant == "durability=Async clients=4"
	})
	return Matrix(t, Tiers(namespace), runs)
}

// Local runs of a single benchmark: 1 and 4 clients, five times.
func Local(t testing.TB) []analysis.Trial {
	t.Helper()
	return slices.DeleteFunc(Recorded(t), func(r analysis.Trial) bool { return r.Tier != v1alpha1.DurabilityLocal })
}

// Formula is a value of a parameter that is a formula, markup, and a control sequence,
// and turns the direction of what follows.
const Formula = "=cmd|' /C calc'!A0</script><script>alert(1)</script>\x1b[31m\u202e"

// Hostile is a matrix with a variant of the value [Formula], and a failure of the same.
func Hostile(t testing.TB, namespace string) Objects {
	t.Helper()
	b := Tiers(namespace)
	b.Spec.Matrix.Durability, b.Spec.Template.Durability = nil, v1alpha1.DurabilityLocal
	b.Spec.Matrix.Parameters = []v1alpha1.ParameterAxis{{Name: "work_mem", Values: []string{"4MB", Formula}}}
	runs := Recorded(t)
	for i := range runs {
		r := &runs[i]
		setting := "4MB"
		if r.Tier == v1alpha1.DurabilityAsync {
			setting = Formula
		}
		_, clients, _ := strings.Cut(r.Variant, " ")
		r.Variant, r.Tier = "work_mem="+setting+" "+clients, v1alpha1.DurabilityLocal
	}
	runs[0].Failure = Formula
	return Matrix(t, b, runs)
}
