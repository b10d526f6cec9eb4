package benchmarks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/commitcost"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// Layers returns LayersMeasured, or nothing without spec.layers. It does not count for
// Ready: a benchmark whose layers were not measured still has its figures.
func Layers(b *v1alpha1.PgBenchmark) outcome.Set {
	const c = v1alpha1.ConditionLayersMeasured
	if b.Spec.Layers == nil {
		return nil
	}
	var missing []string
	verdict := ""
	if run := b.Status.Run; run != nil {
		verdict = run.LayersVerdict
		for _, l := range run.Layers {
			if l.Milliseconds == "" && !slices.Contains(commitcost.Counted(), l.Name) {
				missing = append(missing, fmt.Sprintf("%s: %s", l.Name, l.Note))
			}
		}
		if len(run.Layers) == 0 {
			missing = append(missing, msgLayersNotReached)
		}
	} else {
		missing = append(missing, msgRunnerSilent)
	}
	o := outcome.DoneWith(c, v1alpha1.ReasonMeasured, verdict)
	if len(missing) > 0 {
		o = outcome.WaitFor(c, v1alpha1.ReasonLayersNotMeasured, "not measured: "+strings.Join(missing, "; "))
	}
	o.Informative = true
	return outcome.NewSet(o)
}
