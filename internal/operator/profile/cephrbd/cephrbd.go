// Package cephrbd is block devices of a Ceph cluster that Rook runs. It creates the
// zvols or volumes of the OSDs, the CephCluster, a pool for images, and a StorageClass.
// Each follows once the layer below it is ready. It deletes nothing because health
// changed: a gate only delays writes.
package cephrbd

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// Type is CephRBD.
type Type struct{}

// Name is CephRBD.
func (Type) Name() v1alpha1.ProfileType { return v1alpha1.ProfileTypeCephRBD }

// Classes that the profile creates or uses, that of its volumes first.
func (Type) Classes(p *v1alpha1.PgStorageProfile) []string {
	names := []string{naming.DataClass(p.Name)}
	if c := clusterOf(p); c != nil && backingClass(p) != "" {
		names = append(names, backingClass(p))
	}
	return names
}

// Verify has nothing to read back of an image, and proves nothing. A file system on RBD
// writes in place, whatever is below it, so full_page_writes stays on.
func (Type) Verify(*v1alpha1.PgStorageProfile, int, []observed.Claim) (*outcome.Outcome, postgres.Proof) {
	return nil, postgres.Proof{}
}

// Build every object of the profile, and judge what was seen.
func (Type) Build(p *v1alpha1.PgStorageProfile, facts observed.Profile) (profile.Built, error) {
	var b profile.Built
	for _, add := range []func(*profile.Built, *v1alpha1.PgStorageProfile, observed.Profile) error{
		addBacking, addCluster, addPools, addProbe, addClasses,
	} {
		if err := add(&b, p, facts); err != nil {
			return b, err
		}
	}
	b.Outcomes = append(b.Outcomes, failuresOutcome(p, facts))
	b.Status.Ceph = report(p, facts)
	b.Unwatched = b.Unwatched || !own(facts).Installed
	return b, nil
}

// clusterOf is what the profile declares to Rook; nil where it uses one that exists.
func clusterOf(p *v1alpha1.PgStorageProfile) *v1alpha1.CephCluster {
	if p.Spec.CephRBD == nil {
		return nil
	}
	return p.Spec.CephRBD.Cluster
}

func zfsOf(p *v1alpha1.PgStorageProfile) *v1alpha1.CephZFSBacking {
	if c := clusterOf(p); c != nil {
		return c.Backing.ZFS
	}
	return nil
}

// hold a stage back where an outcome is not done.
func hold(b *profile.Built, stage plan.Stage, o outcome.Outcome) {
	if o.Kind != outcome.Done {
		b.Plan.AddGate(stage, o.Reason, o.Message)
	}
}

func labels(p *v1alpha1.PgStorageProfile) map[string]string {
	return naming.ProfileLabels(p.Name, string(p.UID))
}

// add objects of apply configurations to a plan.
func add(b *profile.Built, stage plan.Stage, configurations ...any) error {
	for _, c := range configurations {
		o, err := plan.FromApply(stage, c)
		if err != nil {
			return err
		}
		b.Plan.Add(o)
	}
	return nil
}

var _ profile.Type = Type{}

// storage of the zvols below the OSDs; only where there are some.
func storage(p *v1alpha1.PgStorageProfile) zfsvolumes.Storage {
	z := zfsOf(p)
	return zfsvolumes.Storage{
		Profile: p, Field: "spec.cephRBD.cluster.backing.zfs", Pool: z.Pool.Name, Block: zvols(p), BlockOnly: true, Abandoned: z.Pool.AbandonedGUIDs,
	}
}
