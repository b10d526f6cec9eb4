package pgstoragecluster

import (
	"context"
	"reflect"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers/foreign"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.PgStorageCluster{}, observe.ProfileIndex, observe.IndexProfile); err != nil { //nolint:forbidigo // set-up has no context of its own
		return err
	}
	c, err := ctrl.NewControllerManagedBy(mgr).
		Named("pgstoragecluster").
		// Its own status wakes it too. A pass that read the object before the cache had
		// the last status assumed that status was current, and skipped the write.
		For(&v1alpha1.PgStorageCluster{}, builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		Owns(&v1alpha1.PgBenchmark{}).
		Watches(&v1alpha1.PgStorageCluster{}, handler.EnqueueRequestsFromMapFunc(relatives)).
		// The branch that a database is of has the consent to its snapshots.
		Watches(&v1alpha1.PgStorageBranch{}, &handler.EnqueueRequestForObject{}).
		Watches(&v1alpha1.PgStorageProfile{}, handler.EnqueueRequestsFromMapFunc(r.onProfile)).
		Watches(&v1alpha1.PgNodeStorage{}, handler.EnqueueRequestsFromMapFunc(r.onNodeStorage), builder.WithPredicates(volumesChanged())).
		WithOptions(options).
		Build(reconcile.AsReconciler(mgr.GetClient(), r))
	if err != nil {
		return err
	}
	r.Watch = foreign.New(c, foreignWatches(mgr)...).Start
	return nil
}

func (r *Reconciler) onProfile(ctx context.Context, obj client.Object) []reconcile.Request {
	return r.users(ctx, obj.GetName())
}

// onNodeStorage wakes the clusters of the profile whose volumes were read back.
func (r *Reconciler) onNodeStorage(ctx context.Context, obj client.Object) []reconcile.Request {
	return r.users(ctx, obj.GetLabels()[naming.LabelProfile])
}

// volumesChanged passes updates of the fields that a pass reads of volumes and the
// devices below, and of whether they can still be believed.
func volumesChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*v1alpha1.PgNodeStorage)
		after, also := e.ObjectNew.(*v1alpha1.PgNodeStorage)
		return !ok || !also || !reflect.DeepEqual(kinds(before), kinds(after)) || reachable(before) != reachable(after)
	}}
}

func kinds(s *v1alpha1.PgNodeStorage) []any {
	out := make([]any, 0, len(s.Status.Volumes)+3)
	for _, v := range s.Status.Volumes {
		v.Used, v.UsedBySnapshots = nil, nil
		out = append(out, v)
	}
	if s.Status.Memory != nil {
		for _, v := range s.Status.Memory.Volumes {
			v.Used = nil
			out = append(out, v)
		}
	}
	if s.Spec.NetworkDevices == nil {
		return out
	}
	for _, name := range []string{v1alpha1.ConditionDevicesAttached, v1alpha1.ConditionPoolReady} {
		if c := meta.FindStatusCondition(s.Status.Conditions, name); c != nil {
			out = append(out, []string{name, string(c.Status), c.Reason, c.Message})
		}
	}
	for _, d := range s.Status.NetworkDevices {
		out = append(out, []string{d.Server, d.Export, d.State})
	}
	if s.Status.Pool != nil {
		out = append(out, s.Status.Pool.Health)
	}
	return out
}

func reachable(s *v1alpha1.PgNodeStorage) string {
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionNodeReachable); c != nil {
		return c.Message
	}
	return ""
}

func (r *Reconciler) users(ctx context.Context, profile string) []reconcile.Request {
	list := &v1alpha1.PgStorageClusterList{}
	if err := r.List(ctx, list, client.MatchingFields{observe.ProfileIndex: profile}, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	requests := make([]reconcile.Request, 0, len(list.Items))
	for i := range list.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return requests
}

func foreignWatches(mgr ctrl.Manager) []foreign.Watch {
	return []foreign.Watch{{
		Kind:   &cnpgv1.Cluster{},
		Served: func(apis observed.ForeignAPIs) bool { return apis.CNPGInstalled },
		Source: source.Kind(mgr.GetCache(), &cnpgv1.Cluster{}, handler.TypedEnqueueRequestsFromMapFunc(ownerOf[*cnpgv1.Cluster]), consumed()),
	}, {
		Kind:   &cnpgv1.ScheduledBackup{},
		Served: func(apis observed.ForeignAPIs) bool { return apis.CNPGInstalled },
		Source: source.Kind(mgr.GetCache(), &cnpgv1.ScheduledBackup{}, handler.TypedEnqueueRequestsFromMapFunc(ownerOf[*cnpgv1.ScheduledBackup]), respecified()),
	}, {
		Kind:   &monitoringv1.PodMonitor{},
		Served: func(apis observed.ForeignAPIs) bool { return apis.PodMonitors },
		Source: source.Kind(mgr.GetCache(), &monitoringv1.PodMonitor{}, handler.TypedEnqueueRequestsFromMapFunc(ownerOf[*monitoringv1.PodMonitor])),
	}}
}

// ownerOf finds the PgStorageCluster by label: a database has no ownerReference.
func ownerOf[T client.Object](_ context.Context, obj T) []reconcile.Request {
	name := obj.GetLabels()[naming.LabelCluster]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: obj.GetNamespace(), Name: name}}}
}

// consumed passes updates of what a pass reads, and no others: CloudNativePG
// writes its status often.
func consumed() predicate.TypedPredicate[*cnpgv1.Cluster] {
	return predicate.TypedFuncs[*cnpgv1.Cluster]{
		UpdateFunc: func(e event.TypedUpdateEvent[*cnpgv1.Cluster]) bool {
			return !reflect.DeepEqual(reads(e.ObjectOld), reads(e.ObjectNew))
		},
	}
}

// respecified passes updates of what is declared. CloudNativePG writes the times of backups
// into the status.
func respecified() predicate.TypedPredicate[*cnpgv1.ScheduledBackup] {
	return predicate.TypedFuncs[*cnpgv1.ScheduledBackup]{
		UpdateFunc: func(e event.TypedUpdateEvent[*cnpgv1.ScheduledBackup]) bool {
			return e.ObjectOld.Generation != e.ObjectNew.Generation || !reflect.DeepEqual(e.ObjectOld.Labels, e.ObjectNew.Labels) || !reflect.DeepEqual(e.ObjectOld.DeletionTimestamp, e.ObjectNew.DeletionTimestamp)
		},
	}
}

func reads(c *cnpgv1.Cluster) any {
	return []any{
		c.Generation, c.Labels, c.Annotations, c.DeletionTimestamp,
		c.Status.Phase, c.Status.PhaseReason, c.Status.Instances, c.Status.ReadyInstances,
		c.Status.CurrentPrimary, c.Status.TargetPrimary, c.Status.Image, c.Status.Conditions, c.Status.InstancesReportedState, c.Status.Topology.NodesUsed,
		c.Status.InstanceNames, c.Status.LastPromotionToken,
	}
}
