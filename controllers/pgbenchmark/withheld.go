package pgbenchmark

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
	"github.com/pgstorage/pgstorage/internal/operator/decide/matrices"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// switchOn says what lets a matrix have clusters of its own.
const switchOn = "start the manager with --feature-gates=MatrixClusters=true and the right to make PgStorageClusters (chart: matrixClusters.enabled=true)"

// withholds says whether a matrix wants clusters of its own that it may not have. One
// that has ended and left none goes on: its gate may have to be decided still. One that
// is deleted does, too.
func (r *Reconciler) withholds(b *v1alpha1.PgBenchmark) bool {
	done := benchmarks.Ended(b) && meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionCleanedUp)
	return b.Spec.Template != nil && b.DeletionTimestamp.IsZero() && !r.MatrixClusters && !done
}

// withheld says so. What was made while it might stays as it is, and is gone on with
// once it may again; a result stands, though its clusters could not be deleted yet.
func (r *Reconciler) withheld(ctx context.Context, b *v1alpha1.PgBenchmark) (reconcile.Result, error) {
	if benchmarks.Ended(b) {
		return reconcile.Result{}, nil
	}
	want := *b.Status.DeepCopy()
	want.Run, want.ObservedGeneration = nil, b.Generation
	if want.Phase == "" {
		want.Phase = v1alpha1.PhasePending
	}
	refused := outcome.InvalidBecause(v1alpha1.ConditionComplete, v1alpha1.ReasonInvalidSpec,
		"spec.template: clusters of a matrix' own are alpha; to try them, "+switchOn+", or name a cluster in spec.cluster")
	return reconcile.Result{}, r.record(ctx, b, matrices.Step{Status: want, Outcomes: []outcome.Outcome{refused}})
}

// abandoned names the clusters of a deleted matrix that the manager may not delete, and
// says what to do, or "".
func (r *Reconciler) abandoned(b *v1alpha1.PgBenchmark, facts observed.Matrix) string {
	_, clusters := matrices.Own(b, facts)
	if r.MatrixClusters || len(clusters) == 0 {
		return ""
	}
	var names []string
	for _, c := range clusters {
		names = append(names, c.Name)
	}
	return fmt.Sprintf("these PgStorageClusters were made for the matrix, and the manager may not delete them: %s; %s, or delete them yourself", strings.Join(names, ", "), switchOn)
}
