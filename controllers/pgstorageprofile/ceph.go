package pgstorageprofile

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd"
)

// +kubebuilder:rbac:groups=ceph.rook.io,resources=cephclusters;cephblockpools,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=persistentvolumes;persistentvolumeclaims,verbs=list;watch
// +kubebuilder:rbac:groups=storage.k8s.io,resources=csidrivers;volumeattachments,verbs=list;watch
// +kubebuilder:rbac:groups=zfs.openebs.io,resources=zfsvolumes,verbs=list;watch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=cephclusters.ceph.rook.io;cephblockpools.ceph.rook.io,verbs=get

// observeCeph reads what a profile of type CephRBD stands on, from the pass on in which
// one is first seen. Where the type is withheld nothing is read or watched, except to
// let a profile go.
func (r *Reconciler) observeCeph(ctx context.Context, work *pass, apis observed.ForeignAPIs) error {
	p := work.profile
	if p.Spec.CephRBD == nil || !r.offers(p.Spec.Type) && p.DeletionTimestamp.IsZero() {
		return nil
	}
	if err := r.Watch(apis); err != nil {
		return fmt.Errorf("watch Ceph clusters: %w", err)
	}
	return r.Readers.CephCluster(ctx, p, &work.facts, work.live)
}

// takeDown does the next step of taking down what a CephRBD profile has in Rook, and
// says whether all are done. The next pass comes with the end of what this one deleted.
func (r *Reconciler) takeDown(ctx context.Context, work *pass) (done bool, err error) {
	if work.profile.Spec.CephRBD == nil {
		return true, nil
	}
	step := cephrbd.Teardown(work.profile, work.facts)
	switch {
	case step.Done():
		return true, nil
	case step.Waits != "":
		_, err := r.wait(ctx, work, step.Reason, step.Waits)
		return false, err
	}
	for _, name := range step.Names {
		if err := r.deleteOwn(ctx, work, step.Kind, name); err != nil {
			return false, err
		}
	}
	_, err = r.wait(ctx, work, v1alpha1.ReasonDeleting, fmt.Sprintf("deletion waits for the end of %s %s", step.Kind, strings.Join(step.Names, ", ")))
	return false, err
}

// deleteOwn deletes an object that was seen and that carries the profile's UID.
func (r *Reconciler) deleteOwn(ctx context.Context, work *pass, kind, name string) error {
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
