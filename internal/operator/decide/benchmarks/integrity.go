package benchmarks

import (
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

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
		return outcome.InvalidBecause(c, v1alpha1.ReasonIntegrityFailed, strings.Join(failed, "; ")+msgIntegrityFailed)
	case len(passed) == 0:
		o := outcome.WaitFor(c, v1alpha1.ReasonNotRun, msgNoCheckRun+strings.Join(notRun, "; "))
		o.Unknown, o.Informative = true, true
		return o
	}
	message := "passed: " + strings.Join(passed, ", ")
	if len(notRun) > 0 {
		message += "; not run: " + strings.Join(notRun, ", ")
	}
	return outcome.DoneWith(c, v1alpha1.ReasonVerified, message)
}
