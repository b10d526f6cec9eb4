package pgbenchmark

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
	"github.com/pgstorage/pgstorage/internal/operator/decide/matrices"
)

// withholds reports whether a matrix needs temporary clusters that this manager may not
// create. It does not withhold a matrix that has ended and left no cluster, because its
// gate may still be open. It does not withhold a deleted one either.
func (r *Reconciler) withholds(b *v1alpha1.PgBenchmark) bool {
	done := benchmarks.Ended(b) && meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionCleanedUp)
	return b.Spec.Matrix != nil && b.Spec.Template != nil && b.DeletionTimestamp.IsZero() && !r.MatrixClusters && !done
}

// withheld reports that the matrix is withheld. The result of one that has ended stays,
// even if its clusters could not be deleted.
func (r *Reconciler) withheld(ctx context.Context, b *v1alpha1.PgBenchmark) (reconcile.Result, error) {
	if benchmarks.Ended(b) {
		return reconcile.Result{}, nil
	}
	p := r.matrixPass(b)
	p.decision = matrices.Withheld(b)
	p.failure = p.record(ctx)
	return p.report(ctx)
}
