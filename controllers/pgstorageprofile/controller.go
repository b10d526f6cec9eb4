// Package pgstorageprofile reconciles PgStorageProfiles: it checks that what a
// profile needs exists, and holds a profile while clusters use it.
package pgstorageprofile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/apply"
	"github.com/pgstorage/pgstorage/internal/naming"
	"github.com/pgstorage/pgstorage/internal/observe"
	"github.com/pgstorage/pgstorage/internal/profile/catalog"
	"github.com/pgstorage/pgstorage/internal/state"
	"github.com/pgstorage/pgstorage/internal/status"
)

// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgstorageprofiles,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgstorageprofiles/status,verbs=patch
// +kubebuilder:rbac:groups=storage.k8s.io,resources=storageclasses,verbs=get;list;watch

// Reconciler reconciles PgStorageProfiles.
type Reconciler struct {
	client.Client
	Clock clock.PassiveClock
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("pgstorageprofile").
		For(&v1alpha1.PgStorageProfile{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&storagev1.StorageClass{}, handler.EnqueueRequestsFromMapFunc(r.all)).
		Watches(&v1alpha1.PgStorageCluster{}, handler.EnqueueRequestsFromMapFunc(used), builder.WithPredicates(usageChanged())).
		WithOptions(options).
		Complete(reconcile.AsReconciler(mgr.GetClient(), r))
}

// usageChanged sees clusters come and go; which profile they use is immutable.
func usageChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
}

func (r *Reconciler) all(ctx context.Context, _ client.Object) []reconcile.Request {
	list := &v1alpha1.PgStorageProfileList{}
	if err := r.List(ctx, list); err != nil {
		return nil
	}
	requests := make([]reconcile.Request, 0, len(list.Items))
	for i := range list.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return requests
}

func used(_ context.Context, obj client.Object) []reconcile.Request {
	cluster, ok := obj.(*v1alpha1.PgStorageCluster)
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: cluster.Spec.Profile}}}
}

// Reconcile one profile.
func (r *Reconciler) Reconcile(ctx context.Context, p *v1alpha1.PgStorageProfile) (reconcile.Result, error) {
	users, err := observe.ClustersOf(ctx, r.Client, p.Name)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !p.DeletionTimestamp.IsZero() {
		return r.finalize(ctx, p, users)
	}
	if err := apply.Hold(ctx, r.Client, p, naming.ProfileFinalizer); err != nil {
		return reconcile.Result{}, err
	}
	kind, err := catalog.For(p.Spec.Type)
	if err != nil {
		return reconcile.Result{}, r.report(ctx, p, users, nil, state.InvalidBecause(v1alpha1.ConditionStorageReady, v1alpha1.ReasonInvalidSpec, err.Error()))
	}
	volumes := kind.Volumes(p.Spec)
	classes, missing, err := observe.StorageClasses(ctx, r.Client, volumes.StorageClass, volumes.WALStorageClass)
	if err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, r.report(ctx, p, users, classes, verdict(missing))
}

func verdict(missing []string) state.Outcome {
	if len(missing) == 0 {
		return state.DoneWith(v1alpha1.ConditionStorageReady, v1alpha1.ReasonStorageClassFound, "every StorageClass of the profile exists")
	}
	return state.WaitFor(v1alpha1.ConditionStorageReady, v1alpha1.ReasonStorageClassNotFound, fmt.Sprintf("StorageClass %s does not exist; create it, or make a profile that names one of kubectl get storageclass", strings.Join(missing, ", ")))
}

func (r *Reconciler) report(ctx context.Context, p *v1alpha1.PgStorageProfile, users []string, classes []v1alpha1.ObservedStorageClass, outcome state.Outcome) error {
	count := int32(len(users)) //nolint:gosec // a cluster cannot hold 2^31 objects
	want := v1alpha1.PgStorageProfileStatus{
		ObservedGeneration: p.Generation,
		StorageClasses:     classes,
		Clusters:           &count,
		Conditions:         status.Conditions(p.Status.Conditions, p.Generation, metav1.NewTime(r.Clock.Now()), []state.Outcome{outcome}),
	}
	_, err := status.Apply(ctx, r.Client, p, v1alpha1.GroupVersion.WithKind("PgStorageProfile"), p.Status, want)
	return err
}

// finalize lets a profile go once nothing uses it, and says what does until then.
func (r *Reconciler) finalize(ctx context.Context, p *v1alpha1.PgStorageProfile, users []string) (reconcile.Result, error) {
	if len(users) > 0 {
		slices.Sort(users)
		message := fmt.Sprintf("deletion waits for the PgStorageClusters that use this profile: %s", strings.Join(users, ", "))
		return reconcile.Result{}, r.report(ctx, p, users, p.Status.StorageClasses, state.WaitFor(v1alpha1.ConditionStorageReady, v1alpha1.ReasonInUse, message))
	}
	return reconcile.Result{}, apply.Release(ctx, r.Client, p, naming.ProfileFinalizer)
}
