package benchmark

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// IsMatrixRun reports whether a benchmark is one run of a matrix.
func IsMatrixRun(b *v1alpha1.PgBenchmark) bool {
	owner := metav1.GetControllerOf(b)
	return owner != nil && owner.Kind == "PgBenchmark"
}

// ListText formats a list of benchmarks, with their ages at now. It adds a warning if the
// list has several durability tiers.
func ListText(in []v1alpha1.PgBenchmark, now time.Time, namespaces bool) string {
	head := []string{"NAME", "CLUSTER", "PHASE", "PERCENT", "RUNS", "TPS", "DURABILITY", "AGE"}
	if namespaces {
		head = append([]string{"NAMESPACE"}, head...)
	}
	rows := [][]string{head}
	tiers := map[v1alpha1.DurabilityTier]bool{}
	for i := range in {
		row := rowOf(&in[i], now)
		if namespaces {
			row = append([]string{in[i].Namespace}, row...)
		}
		rows = append(rows, row)
		if in[i].Status.BestTPS != "" {
			tiers[in[i].Status.Durability] = true
		}
	}
	out := view.Columns(rows...)
	if len(tiers) > 1 {
		out += "Results of different durability tiers are not comparable.\n"
	}
	return out
}

func rowOf(b *v1alpha1.PgBenchmark, now time.Time) []string {
	runs := ""
	if b.Status.Matrix != nil {
		runs = b.Status.Matrix.Progress
	}
	return []string{
		b.Name, view.Or(b.Spec.Cluster), view.Or(b.Status.Phase), strconv.Itoa(int(Percent(b))), view.Or(runs), view.Or(b.Status.BestTPS),
		view.Or(string(b.Status.Durability)), duration.HumanDuration(now.Sub(b.CreationTimestamp.Time)),
	}
}
