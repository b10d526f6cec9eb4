// Package pgnodestorage is the agent's controller: it reconciles the
// PgNodeStorages of its own node, and no others.
package pgnodestorage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/node/agent"
	"github.com/pgstorage/pgstorage/internal/node/decide"
	"github.com/pgstorage/pgstorage/internal/node/tmpfs"
)

// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgnodestorages,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgnodestorages/status,verbs=patch
// Events of a PgNodeStorage, which has no namespace, are in the namespace default.
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch,namespace=default

const (
	// again is when a change is read back.
	again = 100 * time.Millisecond
	// soon is when devices that requests wait for are looked at again.
	soon = 5 * time.Second
	// retry is when what the node refused is tried again.
	retry = time.Minute
)

// Reconciler reconciles the PgNodeStorages of one node.
type Reconciler struct {
	client.Client
	Node     *agent.Node
	NodeName string
	// Resync is how often a node that is as declared is read again.
	Resync time.Duration
	Clock  clock.PassiveClock
	Events events.EventRecorder
	// Observe gets what each pass has read, for metrics; of one that could not read,
	// the conditions that say so.
	Observe func(s *v1alpha1.PgNodeStorage, r agent.PassResult)
	// Forget is called with a PgNodeStorage that is gone.
	Forget func(name string)
}

// SetupWithManager registers the controller. One worker: commands on one pool are
// not made to race.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	options.MaxConcurrentReconciles = 1
	r.Node.Declared = r.declared
	return ctrl.NewControllerManagedBy(mgr).
		Named("pgnodestorage").
		For(&v1alpha1.PgNodeStorage{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(options).
		WatchesRawSource(source.Func((&servers{client: mgr.GetClient(), mark: r.Node.ServersDigest, clock: clock.RealClock{}}).start)).
		Complete(reconcile.AsReconciler(mgr.GetClient(), r))
}

// declared are the PgNodeStorages of the cache.
func (r *Reconciler) declared(ctx context.Context) ([]v1alpha1.PgNodeStorage, error) {
	list := &v1alpha1.PgNodeStorageList{}
	err := r.List(ctx, list, client.UnsafeDisableDeepCopy)
	return list.Items, err
}

// Reconcile one PgNodeStorage.
func (r *Reconciler) Reconcile(ctx context.Context, s *v1alpha1.PgNodeStorage) (reconcile.Result, error) {
	if s.Spec.NodeName != r.NodeName {
		return reconcile.Result{}, nil
	}
	if !s.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, r.letGo(ctx, s)
	}
	if err := apply.AddFinalizer(ctx, r.Client, s, naming.NodeStorageFinalizer); err != nil {
		return reconcile.Result{}, err
	}
	result, passErr := r.Node.Pass(ctx, s)
	if passErr != nil {
		// What was read last stays, with a condition that says that it is old.
		result.Status = *s.Status.DeepCopy()
		result.Status.ObservedGeneration = s.Generation
		if n := result.Seen.Network; n != nil { // it is known without ZFS
			result.Status.NetworkDevices, result.Status.Servers = decide.ObservedDevices(s, n), decide.ObservedServers(s, n)
		}
	}
	if result.Restarting {
		r.Events.Eventf(s, nil, corev1.EventTypeWarning, "NodeRestarting", "Restart", "%s", result.Outcomes[0].Message)
	}
	r.Observe(s, result)
	if err := r.report(ctx, s, result); err != nil {
		return reconcile.Result{}, err
	}
	if passErr != nil {
		return reconcile.Result{}, passErr // again after the limiter's delay
	}
	return reconcile.Result{RequeueAfter: r.next(result)}, nil
}

func (r *Reconciler) next(result agent.PassResult) time.Duration {
	for _, o := range result.Outcomes {
		// An informative one, as of a cache that cannot be read, slows down nothing else.
		if !o.Informative && (o.Reason == v1alpha1.ReasonPropertyRefused || o.Reason == v1alpha1.ReasonHostCommandFailed) {
			return retry
		}
	}
	if result.Changed {
		return again
	}
	switch {
	case result.Restarting:
		return decide.RestartDelay
	case result.Soon:
		return min(soon, r.Resync)
	}
	return r.Resync
}

func (r *Reconciler) report(ctx context.Context, s *v1alpha1.PgNodeStorage, result agent.PassResult) error {
	want := result.Status
	want.Conditions = status.Conditions(s.Status.Conditions, s.Generation, metav1.NewTime(r.Clock.Now()), result.Outcomes)
	before := s.Status
	before.Conditions = own(before.Conditions)
	if _, err := status.Apply(ctx, r.Client, naming.AgentFieldOwner, s, v1alpha1.GroupVersion.WithKind("PgNodeStorage"), before, want); err != nil {
		return err
	}
	r.tell(s, result)
	return nil
}

// Each action is announced by an event when it starts.
var told = []string{v1alpha1.ReasonCreatingPool, v1alpha1.ReasonImportingPool, v1alpha1.ReasonExporting, v1alpha1.ReasonReturning}

// own conditions, without the one that the manager writes. The agent must not apply it,
// and ignores its changes.
func own(conditions []metav1.Condition) []metav1.Condition {
	return slices.DeleteFunc(slices.Clone(conditions), func(c metav1.Condition) bool { return c.Type == v1alpha1.ConditionNodeReachable })
}

// report the repairs, once the status that shows them is stored.
func (r *Reconciler) tell(s *v1alpha1.PgNodeStorage, result agent.PassResult) {
	if len(result.Drift) > 0 {
		r.Events.Eventf(s, nil, corev1.EventTypeWarning, "DriftRepaired", "Set", "%s", "changed by hand, and set again: "+strings.Join(result.Drift, "; "))
	}
	for _, o := range result.Outcomes {
		if slices.Contains(told, o.Reason) {
			r.Events.Eventf(s, nil, corev1.EventTypeNormal, o.Reason, "Change", "%s", o.Message)
		}
	}
}

// letGo removes the finalizer. A pool on disks, its datasets and their properties stay
// as they are. One on network devices is released first, and is waited for. So are volumes in
// memory, which are unmounted. A limit on the ARC holds until the module is loaded again.
func (r *Reconciler) letGo(ctx context.Context, s *v1alpha1.PgNodeStorage) error {
	if err := r.Node.Release(ctx, s); err != nil {
		switch {
		case errors.Is(err, agent.ErrNotReleased):
			r.Events.Eventf(s, nil, corev1.EventTypeWarning, "PoolNotReleased", "Release", "%s", err.Error())
		case errors.Is(err, tmpfs.ErrInUse):
			r.Events.Eventf(s, nil, corev1.EventTypeWarning, "VolumesNotReleased", "Release", "%s", err.Error())
		}
		return fmt.Errorf("let go of the storage of %s: %w", s.Name, err)
	}
	if err := apply.RemoveFinalizer(ctx, r.Client, s, naming.NodeStorageFinalizer); err != nil {
		return fmt.Errorf("let go of %s: %w", s.Name, err)
	}
	r.Forget(s.Name)
	return nil
}
