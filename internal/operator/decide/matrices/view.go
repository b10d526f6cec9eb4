package matrices

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// mostOfMessage of a failed run that the status keeps.
const mostOfMessage = 200

// view of what exists of a design.
type view struct {
	// runs and clusters, by target, that belong to the matrix.
	runs     map[matrix.ID]*v1alpha1.PgBenchmark
	clusters map[string]*v1alpha1.PgStorageCluster
	// strangers have a name that the matrix would give, and another owner.
	strangers map[string]bool
}

// look at what is there. What is ours has our name and our owner reference: neither
// alone is enough to be deleted by.
func (d *design) look(facts observed.Matrix) view {
	v := view{runs: map[matrix.ID]*v1alpha1.PgBenchmark{}, clusters: map[string]*v1alpha1.PgStorageCluster{}, strangers: map[string]bool{}}
	runs, targets := map[string]matrix.ID{}, map[string]string{}
	for _, r := range d.Runs {
		runs[d.run(r.ID)] = r.ID
	}
	for target, name := range d.made {
		targets[name] = target
	}
	for _, run := range facts.Benchmarks {
		if id, named := runs[run.Name]; named && d.owns(run, v) {
			v.runs[id] = run
		}
	}
	for _, cluster := range facts.Clusters {
		if target, named := targets[cluster.Name]; named && d.owns(cluster, v) {
			v.clusters[target] = cluster
		}
	}
	return v
}

// owns says whether an object with one of our names is ours, and notes it as a
// stranger where it is not.
func (d *design) owns(obj metav1.Object, v view) bool {
	own := metav1.IsControlledBy(obj, d.b)
	if !own {
		v.strangers[obj.GetName()] = true
	}
	return own
}

// records of the runs that have ended: those of the status stay, and those that only
// their PgBenchmark reports are added.
func (p *pass) records() map[matrix.ID]v1alpha1.MatrixRun {
	all := map[matrix.ID]v1alpha1.MatrixRun{}
	if m := p.b.Status.Matrix; m != nil {
		for _, v := range m.Variants {
			for _, run := range v.Runs {
				all[matrix.ID{Variant: v.Name, Repeat: int(run.Repeat)}] = run
			}
		}
	}
	for id, run := range p.runs {
		if _, recorded := all[id]; !recorded && benchmarks.Ended(run) {
			all[id] = recordOf(run, id.Repeat, p.tier(id.Variant), p.now)
		}
	}
	return all
}

// recordOf a run that has ended. A figure of another tier than the variant's is of
// another variant, and none of this one.
func recordOf(run *v1alpha1.PgBenchmark, repeat int, tier v1alpha1.DurabilityTier, now metav1.Time) v1alpha1.MatrixRun {
	if run.Status.CompletionTime != nil {
		now = *run.Status.CompletionTime
	}
	record := recordOfPhase(run, repeat, now)
	if record.Outcome == string(matrix.Succeeded) && run.Status.Durability != tier {
		record = failure(repeat, v1alpha1.ReasonDurabilityDiffers, fmt.Sprintf("it was measured with durability %s, and its variant is of %s%s", run.Status.Durability, tier, unverified(run)), now)
	}
	record.Benchmark = run.Name
	return record
}

// unverified says why the tier of a run is not known.
func unverified(run *v1alpha1.PgBenchmark) string {
	if run.Status.Durability != v1alpha1.DurabilityUnverified || run.Status.Run == nil {
		return ""
	}
	return "; " + run.Status.Run.DurabilityNote
}

func recordOfPhase(run *v1alpha1.PgBenchmark, repeat int, now metav1.Time) v1alpha1.MatrixRun {
	if run.Status.Phase == v1alpha1.PhaseSucceeded && run.Status.Run != nil && len(run.Status.Run.Results) > 0 {
		result := run.Status.Run.Results[0]
		record := v1alpha1.MatrixRun{
			Repeat: int32(repeat), Outcome: string(matrix.Succeeded), //nolint:gosec // G115: repeats are from 1 to 20
			TPS: result.TPS, LatencyAverage: result.LatencyAverage, LatencyP99: result.LatencyP99, CompletionTime: &now,
		}
		record.Rejected, record.Findings = findings(result)
		return record
	}
	reason, message := v1alpha1.ReasonFailed, "it ended without a result"
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionComplete); c != nil && c.Status != metav1.ConditionTrue {
		reason, message = c.Reason, c.Message
	}
	return failure(repeat, reason, message, now)
}

func failure(repeat int, reason, message string, now metav1.Time) v1alpha1.MatrixRun {
	return v1alpha1.MatrixRun{
		Repeat: int32(repeat), Outcome: string(matrix.Failed), Reason: reason, //nolint:gosec // G115: repeats are from 1 to 20
		Message: excerpt.Truncate(message, mostOfMessage), CompletionTime: &now,
	}
}
