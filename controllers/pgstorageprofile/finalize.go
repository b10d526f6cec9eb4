package pgstorageprofile

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// finalize removes the finalizer once nothing uses the profile, and until then reports
// what does. Pools and datasets stay on every node, and data stays in its buckets.
func (r *Reconciler) finalize(ctx context.Context, work *pass) (reconcile.Result, error) {
	if len(work.users) > 0 {
		slices.Sort(work.users)
		return reconcile.Result{}, r.wait(ctx, work, v1alpha1.ReasonInUse, inUse(work.users))
	}
	var err error
	if work.facts.ClassesInUse, err = r.classesInUse(ctx, work); err != nil {
		return reconcile.Result{}, err
	}
	if result, done, err := r.teardown(ctx, work); !done {
		return result, err
	}
	if result, done, err := r.deleteStorages(ctx, work); !done {
		return result, err
	}
	// No agent needs the servers any more. Snapshots do not need their class.
	if err := r.deleteOwn(ctx, work, "DaemonSet", "ConfigMap", "VolumeSnapshotClass", "Job"); err != nil {
		return reconcile.Result{}, err
	}
	if err := r.deleteClasses(ctx, work); err != nil {
		return reconcile.Result{}, err
	}
	return r.release(ctx, work)
}

// release removes the finalizer once the API server has nothing of the profile any more. The
// next pass deletes what the cache did not have yet.
func (r *Reconciler) release(ctx context.Context, work *pass) (reconcile.Result, error) {
	kind, names, err := r.Readers.Leftovers(ctx, work.profile, work.kind, work.facts)
	if err != nil {
		return reconcile.Result{}, err
	}
	if len(names) > 0 {
		return reconcile.Result{RequeueAfter: pollInterval}, r.wait(ctx, work, v1alpha1.ReasonDeleting, objectsEnd(kind, names))
	}
	return reconcile.Result{}, apply.RemoveFinalizer(ctx, r.Client, work.profile, naming.ProfileFinalizer)
}

// teardown performs the next action that the kind asks for, and reports whether none is
// left. The next pass comes when the objects that this one deleted are gone. A pass that
// only waits reads caches.
func (r *Reconciler) teardown(ctx context.Context, work *pass) (result reconcile.Result, done bool, err error) {
	action := nextAction(work.kind, work.profile, work.facts)
	if action.Waits == "" && (!action.Done() || !releasing(work)) {
		if action, err = r.confirm(ctx, work); err != nil {
			return result, false, err
		}
	}
	if action.Done() {
		return result, true, nil
	}
	if action.Unwatched {
		result.RequeueAfter = pollInterval
	}
	if action.Waits != "" {
		return result, false, r.wait(ctx, work, action.Reason, action.Waits)
	}
	for _, name := range action.Names {
		if err := r.deleteNamed(ctx, work, action.Kind, name); err != nil {
			return result, false, err
		}
	}
	return result, false, r.wait(ctx, work, v1alpha1.ReasonDeleting, objectsEnd(action.Kind, action.Names))
}

// confirm returns the next action by what the API server has. A cache that lags may lack the
// newest database, volume or pool, and the action would delete what it needs. It may also lack
// a deletionPolicy that a user has changed to Retain during the deletion.
func (r *Reconciler) confirm(ctx context.Context, work *pass) (profile.Teardown, error) {
	users, err := observe.ClustersOf(ctx, r.Readers.Live, work.profile.Name, client.Limit(1)) // one is enough to wait
	if err != nil {
		return profile.Teardown{}, err
	}
	if len(users) > 0 {
		work.users = users
		return profile.Teardown{Reason: v1alpha1.ReasonInUse, Waits: inUse(users), Unwatched: true}, nil
	}
	newest := &v1alpha1.PgStorageProfile{}
	if err := r.Readers.Live.Get(ctx, client.ObjectKeyFromObject(work.profile), newest); err != nil {
		return profile.Teardown{}, err
	}
	facts, err := r.Readers.Guards(ctx, newest, work.kind, work.facts, work.live)
	if err != nil {
		return profile.Teardown{}, err
	}
	action := nextAction(work.kind, newest, facts)
	action.Unwatched = true // until the cache has what this pass saw
	return action, nil
}

// nextAction that the kind asks for; none where it needs none.
func nextAction(kind profile.Type, p *v1alpha1.PgStorageProfile, facts observed.Profile) profile.Teardown {
	if next := kind.Hooks().Teardown; next != nil {
		return next(p, facts)
	}
	return profile.Teardown{}
}

func (r *Reconciler) wait(ctx context.Context, work *pass, reason, message string) error {
	return r.report(ctx, work, profile.Keep(work.profile, outcome.WaitFor(v1alpha1.ConditionStorageReady, reason, message)))
}

// deleteStorages deletes the PgNodeStorages, and reports whether the API server has none any
// more. Servers must not end while an agent has their devices in a pool.
func (r *Reconciler) deleteStorages(ctx context.Context, work *pass) (result reconcile.Result, done bool, err error) {
	var nodes []string
	for _, s := range work.facts.Storages {
		gone, err := r.Readers.NodeGone(ctx, s.Spec.NodeName)
		if err != nil {
			return result, false, err
		}
		if err := r.deleteStorage(ctx, s, gone); err != nil {
			return result, false, err
		}
		nodes = append(nodes, s.Spec.NodeName)
	}
	if len(nodes) > 0 {
		return result, false, r.wait(ctx, work, v1alpha1.ReasonDeleting, agentsRelease(nodes))
	}
	names, err := r.Readers.StoragesLeft(ctx, work.profile, work.kind)
	if err != nil || len(names) == 0 {
		return result, err == nil, err
	}
	result.RequeueAfter = pollInterval
	return result, false, r.wait(ctx, work, v1alpha1.ReasonDeleting, objectsEnd("PgNodeStorage", names))
}

// releasing reports whether all that is left to do before the next deletion is to wait
// for agents.
func releasing(work *pass) bool {
	return len(work.facts.Storages) > 0 && !slices.ContainsFunc(work.facts.Storages, func(s *v1alpha1.PgNodeStorage) bool { return s.DeletionTimestamp.IsZero() })
}

// deleteStorage deletes a PgNodeStorage. Where the node itself is gone, no agent can
// remove the finalizer, and the manager does.
func (r *Reconciler) deleteStorage(ctx context.Context, s *v1alpha1.PgNodeStorage, nodeGone bool) error {
	if s.DeletionTimestamp.IsZero() {
		if err := apply.Delete(ctx, r.Client, s); err != nil {
			return err
		}
	}
	if !nodeGone {
		return nil
	}
	return apply.RemoveFinalizer(ctx, r.Client, s, naming.NodeStorageFinalizer)
}

// classesInUse are the profile's classes that PersistentVolumes have.
func (r *Reconciler) classesInUse(ctx context.Context, work *pass) ([]string, error) {
	var out []string
	for _, name := range work.kind.Classes(work.profile) {
		used, err := r.Readers.VolumesOfClass(ctx, name)
		if err != nil {
			return nil, err
		}
		if used {
			out = append(out, name)
		}
	}
	return out, nil
}

// deleteClasses deletes the classes that the profile created, except those that a volume
// still has: it could not grow without.
func (r *Reconciler) deleteClasses(ctx context.Context, work *pass) error {
	for name, class := range work.facts.Classes {
		switch {
		case class.Labels[naming.LabelOwnerUID] != string(work.profile.UID):
			continue
		case slices.Contains(work.facts.ClassesInUse, name):
			r.Events.Eventf(work.profile, class, corev1.EventTypeNormal, "StorageClassRetained", "Delete", "volumes of StorageClass %s exist and need it to grow: it stays; delete it with them", name)
			continue
		}
		if err := apply.Delete(ctx, r.Client, class); err != nil {
			return err
		}
	}
	return nil
}

// deleteOwn deletes the observed objects of these kinds that carry the profile's UID.
func (r *Reconciler) deleteOwn(ctx context.Context, work *pass, kinds ...string) error {
	for key := range work.live {
		if !slices.Contains(kinds, key.Kind) {
			continue
		}
		if err := r.deleteNamed(ctx, work, key.Kind, key.Name); err != nil {
			return err
		}
	}
	return nil
}

// deleteNamed deletes an observed object that carries the profile's UID.
func (r *Reconciler) deleteNamed(ctx context.Context, work *pass, kind, name string) error {
	for key, seen := range work.live {
		obj, ok := seen.(client.Object)
		if !ok || key.Kind != kind || key.Name != name || obj.GetLabels()[naming.LabelOwnerUID] != string(work.profile.UID) {
			continue
		}
		if err := apply.Delete(ctx, r.Client, obj); err != nil {
			return err
		}
	}
	return nil
}
