package pgbenchmark

import (
	"context"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	batchv1 "k8s.io/api/batch/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers/foreign"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// SetupWithManager registers the controller. A PgBenchmark's own status wakes
// it, because the runner reports there.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.PgBenchmark{}, observe.BenchmarkIndex, observe.IndexBenchmark); err != nil { //nolint:forbidigo // set-up has no context of its own
		return err
	}
	c, err := ctrl.NewControllerManagedBy(mgr).
		Named("pgbenchmark").
		For(&v1alpha1.PgBenchmark{}).
		Owns(&batchv1.Job{}).
		Owns(&v1alpha1.PgBenchmark{}).
		Owns(&v1alpha1.PgStorageCluster{}).
		Watches(&v1alpha1.PgStorageCluster{}, handler.EnqueueRequestsFromMapFunc(r.onCluster)).
		Watches(&v1alpha1.PgBenchmark{}, handler.EnqueueRequestsFromMapFunc(r.onOther)).
		WithOptions(options).
		Build(reconcile.AsReconciler(mgr.GetClient(), r))
	if err != nil {
		return err
	}
	r.Watch = foreign.New(c, foreignWatches(mgr)...).Start
	return nil
}

// onCluster wakes the benchmarks of a cluster that have not ended, and those of its read
// pools, which need both clusters.
func (r *Reconciler) onCluster(ctx context.Context, obj client.Object) []reconcile.Request {
	cr, ok := obj.(*v1alpha1.PgStorageCluster)
	if !ok {
		return nil
	}
	return append(r.waiting(ctx, cr.Namespace, observe.Disturbed(cr, nil)...), r.matrices(ctx, cr.Namespace, cr.Name)...)
}

// matrices of a cluster that have not ended; they are not in the index.
func (r *Reconciler) matrices(ctx context.Context, namespace, cluster string) []reconcile.Request {
	list := &v1alpha1.PgBenchmarkList{}
	if err := r.List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		b := &list.Items[i]
		if b.Spec.Matrix != nil && b.Spec.Cluster == cluster && b.Status.CompletionTime == nil {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(b)})
		}
	}
	return requests
}

// onOther wakes the benchmarks that wait for their turn when one ends.
func (r *Reconciler) onOther(ctx context.Context, obj client.Object) []reconcile.Request {
	b, ok := obj.(*v1alpha1.PgBenchmark)
	if !ok || b.Status.CompletionTime == nil && b.DeletionTimestamp == nil {
		return nil
	}
	return r.waiting(ctx, b.Namespace, r.disturbed(ctx, b)...)
}

// disturbed names the clusters whose benchmarks may have waited for one.
func (r *Reconciler) disturbed(ctx context.Context, b *v1alpha1.PgBenchmark) []string {
	target, source := &v1alpha1.PgStorageCluster{}, &v1alpha1.PgStorageCluster{}
	key := client.ObjectKey{Namespace: b.Namespace, Name: b.Spec.Cluster}
	if err := r.Get(ctx, key, target); err != nil {
		return []string{b.Spec.Cluster}
	}
	if target.Spec.Follow == nil {
		return observe.Disturbed(target, nil)
	}
	key.Name = target.Spec.Follow.Cluster
	if err := r.Get(ctx, key, source); err != nil {
		return []string{target.Name, key.Name}
	}
	return observe.Disturbed(target, source)
}

// waiting are the benchmarks of these clusters that have not ended.
func (r *Reconciler) waiting(ctx context.Context, namespace string, clusters ...string) []reconcile.Request {
	var requests []reconcile.Request
	for _, cluster := range clusters {
		list := &v1alpha1.PgBenchmarkList{}
		if err := r.List(ctx, list, client.InNamespace(namespace), client.MatchingFields{observe.BenchmarkIndex: cluster}, client.UnsafeDisableDeepCopy); err != nil {
			return nil
		}
		for i := range list.Items {
			if list.Items[i].Status.CompletionTime == nil {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
			}
		}
	}
	return requests
}

func foreignWatches(mgr ctrl.Manager) []foreign.Watch {
	var watches []foreign.Watch
	for _, obj := range []client.Object{&cnpgv1.Database{}, &cnpgv1.DatabaseRole{}} {
		owner := handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &v1alpha1.PgBenchmark{}, handler.OnlyControllerOwner())
		watches = append(watches, foreign.Watch{
			Kind: obj,
			Served: func(apis observed.ForeignAPIs) bool {
				return apis.CNPGInstalled && len(apis.CNPGMissingForBenchmarks) == 0
			},
			Source: source.Kind(mgr.GetCache(), obj, owner),
		})
	}
	return watches
}
