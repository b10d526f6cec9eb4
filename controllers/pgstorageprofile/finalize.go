package pgstorageprofile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// finalize lets a profile go once nothing uses it, and says what does until then.
// Pools and datasets stay as they are on every node, and data in its buckets.
func (r *Reconciler) finalize(ctx context.Context, work *pass) (reconcile.Result, error) {
	if len(work.users) > 0 {
		slices.Sort(work.users)
		return r.wait(ctx, work, v1alpha1.ReasonInUse, "deletion waits for the PgStorageClusters that use this profile: "+strings.Join(work.users, ", "))
	}
	if held, err := r.carries(ctx, work); held || err != nil {
		return reconcile.Result{RequeueAfter: recheck}, err
	}
	if done, err := r.takeDown(ctx, work); !done {
		return reconcile.Result{}, err
	}
	var nodes []string
	for _, s := range work.facts.Storages {
		if err := r.letGo(ctx, s); err != nil {
			return reconcile.Result{}, err
		}
		nodes = append(nodes, s.Spec.NodeName)
	}
	if len(nodes) > 0 {
		return r.wait(ctx, work, v1alpha1.ReasonDeleting, "deletion waits for the agents of these nodes to let go of their pools, which stay: "+strings.Join(nodes, ", "))
	}
	if err := r.deleteServers(ctx, work); err != nil {
		return reconcile.Result{}, err
	}
	if err := r.deleteClasses(ctx, work); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, apply.RemoveFinalizer(ctx, r.Client, work.profile, naming.ProfileFinalizer)
}

// carries says whether the servers of a profile of type S3NBD carry volumes still: a
// database that its PgStorageCluster has left behind needs them.
func (r *Reconciler) carries(ctx context.Context, work *pass) (bool, error) {
	if work.profile.Spec.Type != v1alpha1.ProfileTypeS3NBD {
		return false, nil
	}
	inUse, err := r.classesInUse(ctx, work)
	if err != nil || len(inUse) == 0 {
		return false, err
	}
	_, err = r.wait(ctx, work, v1alpha1.ReasonInUse, "deletion waits for the volumes of these StorageClasses, whose pools this profile's servers carry: "+strings.Join(inUse, ", ")+"; delete them, or what they belong to, once nothing of it is needed")
	return true, err
}

func (r *Reconciler) wait(ctx context.Context, work *pass, reason, message string) (reconcile.Result, error) {
	waits := outcome.WaitFor(v1alpha1.ConditionStorageReady, reason, message)
	return reconcile.Result{}, r.report(ctx, work, profile.Kept(work.profile, waits))
}

// letGo deletes a PgNodeStorage. Where the node itself is gone, no agent can
// remove the finalizer, and the manager does.
func (r *Reconciler) letGo(ctx context.Context, s *v1alpha1.PgNodeStorage) error {
	err := r.Get(ctx, client.ObjectKey{Name: s.Spec.NodeName}, &corev1.Node{})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read Node %s: %w", s.Spec.NodeName, err)
	}
	if s.DeletionTimestamp.IsZero() {
		if err := apply.Delete(ctx, r.Client, s); err != nil {
			return err
		}
	}
	if err == nil {
		return nil
	}
	return apply.RemoveFinalizer(ctx, r.Client, s, naming.NodeStorageFinalizer)
}

// classesInUse are the profile's classes that volumes belong to.
func (r *Reconciler) classesInUse(ctx context.Context, work *pass) ([]string, error) {
	var out []string
	for _, name := range work.kind.Classes(work.profile) {
		inUse, err := r.Readers.VolumesOfClass(ctx, name)
		if err != nil {
			return nil, err
		}
		if inUse {
			out = append(out, name)
		}
	}
	return out, nil
}

// deleteClasses deletes the classes that the profile made, except where a volume
// still belongs to one: it could not grow without.
func (r *Reconciler) deleteClasses(ctx context.Context, work *pass) error {
	for name, class := range work.facts.Classes {
		if class.Labels[naming.LabelOwnerUID] != string(work.profile.UID) {
			continue
		}
		inUse, err := r.Readers.VolumesOfClass(ctx, name)
		if err != nil {
			return err
		}
		if inUse {
			r.Events.Eventf(work.profile, class, corev1.EventTypeNormal, "StorageClassRetained", "Delete", "volumes of StorageClass %s exist and need it to grow: it stays; delete it with them", name)
			continue
		}
		if err := apply.Delete(ctx, r.Client, class); err != nil {
			return err
		}
	}
	return r.deleteSnapshotClass(ctx, work)
}

// deleteServers, which no pool stands on any more: every agent has let go. What is in
// the buckets stays.
func (r *Reconciler) deleteServers(ctx context.Context, work *pass) error {
	for key, seen := range work.live {
		obj, ok := seen.(client.Object)
		if key.Kind != "DaemonSet" && key.Kind != "ConfigMap" || !ok || obj.GetLabels()[naming.LabelOwnerUID] != string(work.profile.UID) {
			continue
		}
		if err := apply.Delete(ctx, r.Client, obj); err != nil {
			return err
		}
	}
	return nil
}

// deleteSnapshotClass is without conditions: snapshots do not need their class.
func (r *Reconciler) deleteSnapshotClass(ctx context.Context, work *pass) error {
	for key, seen := range work.live {
		obj, ok := seen.(client.Object)
		if key.Kind != "VolumeSnapshotClass" || !ok || obj.GetLabels()[naming.LabelOwnerUID] != string(work.profile.UID) {
			continue
		}
		if err := apply.Delete(ctx, r.Client, obj); err != nil {
			return err
		}
	}
	return nil
}
