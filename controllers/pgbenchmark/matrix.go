package pgbenchmark

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/operator/decide/matrices"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// matrixPass is one reconcile of a benchmark with a matrix.
type matrixPass struct {
	*Reconciler
	b        *v1alpha1.PgBenchmark
	now      metav1.Time
	facts    observed.Matrix
	live     plan.Live
	decision matrices.Decision
	// recorded is the status that was written; nil where none was.
	recorded *v1alpha1.PgBenchmarkStatus
	// failure of a write, which report returns after it emitted the events.
	failure error
}

func (r *Reconciler) matrixPass(b *v1alpha1.PgBenchmark) *matrixPass {
	return &matrixPass{Reconciler: r, b: b, now: metav1.NewTime(r.Clock.Now()).Rfc3339Copy()}
}

func (p *matrixPass) observe(ctx context.Context) (err error) {
	p.facts, p.live, err = p.Readers.Matrix(ctx, p.b)
	return err
}

func (p *matrixPass) build() (err error) {
	p.decision, err = matrices.Decide(p.b, p.facts, p.now)
	return err
}

// apply writes the decision. Where the API server rejects what the next run needs, that
// run has failed, which is another decision.
func (p *matrixPass) apply(ctx context.Context) error {
	if err := apply.AddFinalizer(ctx, p.Client, p.b, naming.BenchmarkFinalizer); err != nil {
		return err
	}
	p.failure = p.write(ctx)
	if p.decision.Begins && apply.Rejected(p.failure) {
		p.facts.Refusal = p.failure.Error()
		if err := p.build(); err != nil {
			return err
		}
		p.failure = p.write(ctx)
	}
	return nil
}

// write writes the status first: it is the record of the runs, and what is created and
// deleted follows from it.
func (p *matrixPass) write(ctx context.Context) error {
	if err := p.record(ctx); err != nil {
		return err
	}
	_, err := apply.Plan(ctx, p.Client, &p.decision.Plan, p.live)
	return err
}

func (p *matrixPass) record(ctx context.Context) error {
	want := p.decision.Status
	want.Conditions = status.Conditions(p.b.Status.Conditions, p.b.Generation, p.now, p.decision.Outcomes)
	have := *p.b.Status.DeepCopy()
	have.Run = nil
	wrote, err := status.ApplyLocked(ctx, p.Client, naming.FieldOwner, p.b, gvk, have, want)
	if wrote {
		p.recorded = &want
	}
	return err
}

// prune deletes the runs and clusters that the matrix no longer needs.
func (p *matrixPass) prune(ctx context.Context) error {
	if p.failure == nil {
		p.failure = p.discard(ctx, p.decision.Benchmarks, p.decision.Clusters)
	}
	return nil
}

// report emits the events of what was recorded.
func (p *matrixPass) report(context.Context) (reconcile.Result, error) {
	if p.recorded != nil {
		p.emitProgress(p.b, p.b.Status, *p.recorded)
	}
	if apply.Outdated(p.failure) {
		return reconcile.Result{RequeueAfter: apply.OutdatedDelay}, nil
	}
	return reconcile.Result{RequeueAfter: p.decision.After}, p.failure
}

// discard deletes runs and clusters of the matrix, each by the UID and version that was
// read.
func (r *Reconciler) discard(ctx context.Context, runs []*v1alpha1.PgBenchmark, clusters []*v1alpha1.PgStorageCluster) error {
	if err := deleteAll(ctx, r, runs); err != nil {
		return err
	}
	return deleteAll(ctx, r, clusters)
}

func deleteAll[T client.Object](ctx context.Context, r *Reconciler, objects []T) error {
	for _, o := range objects {
		if err := r.delete(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// finalize deletes the runs and clusters of a deleted matrix, all at once: CloudNativePG
// releases a benchmark's database when its cluster is deleted.
func (p *matrixPass) finalize(ctx context.Context) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(p.b, naming.BenchmarkFinalizer) {
		return reconcile.Result{}, nil
	}
	runs, clusters := matrices.Own(p.b, p.facts)
	if len(runs)+len(clusters) == 0 {
		return reconcile.Result{}, apply.RemoveFinalizer(ctx, p.Client, p.b, naming.BenchmarkFinalizer)
	}
	var abandoned []*v1alpha1.PgStorageCluster
	if !p.MatrixClusters {
		abandoned, clusters = clusters, nil
	}
	if err := p.discard(ctx, runs, clusters); err != nil {
		return reconcile.Result{}, err
	}
	p.decision = matrices.Deleting(p.b, abandoned)
	p.decision.After = pollInterval
	p.failure = p.record(ctx)
	return p.report(ctx)
}
