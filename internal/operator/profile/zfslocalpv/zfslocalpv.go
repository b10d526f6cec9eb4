// Package zfslocalpv is ZFS on the nodes' own devices, provisioned by OpenEBS
// zfs-localpv. It has a PgNodeStorage for each selected node, from which its agent
// creates the pool and the parent datasets, and a StorageClass for each parent.
package zfslocalpv

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// Type is ZFSLocalPV.
type Type struct{}

// Name is ZFSLocalPV.
func (Type) Name() v1alpha1.ProfileType { return v1alpha1.ProfileTypeZFSLocalPV }

func storage(p *v1alpha1.PgStorageProfile) zfsvolumes.Storage {
	s := zfsvolumes.Storage{Profile: p, Field: "spec.zfsLocalPV"}
	if z := p.Spec.ZFSLocalPV; z != nil {
		s.Pool, s.Block, s.Abandoned = z.Pool.Name, z.Block, z.Pool.AbandonedGUIDs
	}
	return s
}

// Classes that the profile makes.
func (Type) Classes(p *v1alpha1.PgStorageProfile) []string { return storage(p).ClassNames() }

// Volumes are datasets of the profile's own classes.
func (Type) Volumes(p *v1alpha1.PgStorageProfile) profile.Volumes {
	medium := v1alpha1.MediumSSD
	if z := p.Spec.ZFSLocalPV; z != nil && z.Medium != "" {
		medium = z.Medium
	}
	return zfsvolumes.Volumes(p, postgres.Medium(medium))
}

// Verify holds each volume against the profile; see [zfsvolumes.Storage.Verify].
func (Type) Verify(p *v1alpha1.PgStorageProfile, instances int, claims []observed.Claim) (*outcome.Outcome, postgres.Proof) {
	return storage(p).Verify(instances, claims)
}

// Build the PgNodeStorages and classes, and judge what was seen.
func (Type) Build(p *v1alpha1.PgStorageProfile, facts observed.Profile) (profile.Built, error) {
	var b profile.Built
	s := storage(p)
	for _, node := range facts.Nodes {
		object, err := plan.FromApply(plan.StageNodes, nodeStorage(s, facts, node.Name))
		if err != nil {
			return b, err
		}
		b.Plan.Add(object)
	}
	err := s.Complete(&b, facts, s.Judge(facts))
	return b, err
}

// Hooks of ZFSLocalPV: it creates storage on nodes, and reads nothing else.
func (Type) Hooks() profile.Hooks {
	return profile.Hooks{
		Nodes: true,
		AbandonedGUIDs: func(p *v1alpha1.PgStorageProfile) []v1alpha1.PoolGUID {
			return storage(p).Abandoned
		},
		Plugin: profile.Plugin{
			Shown: []profile.Shown{{Kind: zfsvolumes.SnapshotClassKind}},
			Field: zfsvolumes.Field("zfsLocalPV"),
		},
	}
}
