// Package benchmark formats PgBenchmarks for the bench commands: progress, results and
// lists. It is pure.
package benchmark

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
)

// barWidth in characters leaves room for phase and message in a terminal of 80.
const barWidth = 24

// Percent returns the progress of a benchmark, 0 to 100.
func Percent(b *v1alpha1.PgBenchmark) int32 {
	switch {
	case b.Status.Phase == v1alpha1.PhaseSucceeded:
		return 100
	case b.Status.Matrix != nil:
		return b.Status.Matrix.Percent
	case b.Status.Run == nil:
		return 0
	}
	return b.Status.Run.Percent
}

// Line returns the progress of a benchmark on one line.
func Line(b *v1alpha1.PgBenchmark) string {
	phase := b.Status.Phase
	if phase == "" {
		phase = v1alpha1.PhasePending
	}
	out := fmt.Sprintf("%3d%%  %s", Percent(b), phase)
	if message := activity(b); message != "" {
		out += "  " + message
	}
	return view.Clean(out)
}

// BarLine returns a bar and [Line], truncated to a width in characters; 0 does not truncate.
func BarLine(b *v1alpha1.PgBenchmark, width int) string {
	line := []rune(view.Bar(Percent(b), barWidth) + " " + Line(b))
	if width > 0 && len(line) > width {
		line = append(line[:width-1], '…')
	}
	return string(line)
}

// activity returns what a benchmark does or waits for, without its phase.
func activity(b *v1alpha1.PgBenchmark) string {
	c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionComplete)
	if c == nil {
		return "Waiting for the manager; check it with kubectl pgstorage doctor"
	}
	return strings.TrimPrefix(c.Message, b.Status.Phase+": ")
}

// Ended reports whether a benchmark has ended. The error is the failure; nil is success.
func Ended(b *v1alpha1.PgBenchmark) (bool, error) {
	if !benchmarks.Ended(b) {
		return false, nil
	}
	if b.Status.Phase == v1alpha1.PhaseSucceeded {
		return true, nil
	}
	reason := v1alpha1.ReasonFailed
	if c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionComplete); c != nil {
		reason = c.Reason
	}
	return true, errors.New(view.Clean(fmt.Sprintf("PgBenchmark %s: %s: %s", b.Name, reason, activity(b))))
}
