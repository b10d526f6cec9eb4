package observe

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// branchVolumes reads the claims of the branch, and which of its volumes still exist. A Cluster of
// another owner has claims with the same label. Nothing waits for them, unless they were made of
// the snapshots of the branch, which are deleted last.
func (r Readers) branchVolumes(ctx context.Context, b *v1alpha1.PgStorageBranch, facts *observed.Branch, _ plan.Live) error {
	if b.Status.Cluster == "" {
		return nil
	}
	list, err := r.listClaims(ctx, b.Namespace, client.MatchingLabels{naming.LabelCNPGCluster: b.Name})
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for i := range list.Items {
		c := &list.Items[i]
		used[c.Spec.VolumeName] = true
		foreign := controlledBy(c, facts.ForeignDatabase)
		if foreign && !cloneOf(c, b.Status.Snapshots) {
			continue
		}
		facts.Claims = append(facts.Claims, observed.BranchClaim{
			Name: c.Name, Instance: c.Labels[naming.LabelCNPGInstance], Volume: c.Spec.VolumeName, FromSnapshot: fromSnapshot(c), Foreign: foreign,
		})
	}
	if err := r.held(ctx, b, used, facts); err != nil {
		return err
	}
	return r.space(ctx, facts)
}

// held reads which volumes of the branch still exist although no claim uses them, and are to be
// deleted by their driver.
func (r Readers) held(ctx context.Context, b *v1alpha1.PgStorageBranch, used map[string]bool, facts *observed.Branch) error {
	for _, name := range b.Status.Volumes {
		if used[name] {
			continue
		}
		v, err := find(ctx, r.Live, client.ObjectKey{Name: name}, &corev1.PersistentVolume{})
		if err != nil {
			return err
		}
		if v != nil && v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
			facts.Held = append(facts.Held, name)
		}
	}
	return nil
}

// controlledBy says that an object with this UID controls a claim.
func controlledBy(c *corev1.PersistentVolumeClaim, uid string) bool {
	owner := metav1.GetControllerOf(c)
	return owner != nil && string(owner.UID) == uid
}

// fromSnapshot says that a claim was made of a VolumeSnapshot.
func fromSnapshot(c *corev1.PersistentVolumeClaim) bool {
	return c.Spec.DataSource != nil && c.Spec.DataSource.Kind == "VolumeSnapshot"
}

// cloneOf says that a claim was made of these snapshots.
func cloneOf(c *corev1.PersistentVolumeClaim, s *v1alpha1.BranchSnapshots) bool {
	return s != nil && fromSnapshot(c) && (c.Spec.DataSource.Name == s.Data || c.Spec.DataSource.Name == s.WAL)
}
