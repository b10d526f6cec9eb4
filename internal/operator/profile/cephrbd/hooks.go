package cephrbd

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

// Hooks of CephRBD: it reads objects of Rook, and deletes its own in Rook's order.
func (Type) Hooks() profile.Hooks {
	return profile.Hooks{
		Alpha:          "docs/spec/pgstorageprofile.md lists their limits",
		Nodes:          true,
		Sources:        sources(),
		Read:           read,
		Teardown:       teardown,
		Serves:         serves,
		AbandonedGUIDs: abandoned,
		Plugin: profile.Plugin{
			Shown: []profile.Shown{
				{Kind: rook.CephClusterKind, Named: clusterKey}, {Kind: rook.CephBlockPoolKind}, {Kind: zfsvolumes.SnapshotClassKind},
			},
			Summary: summary,
			Assume:  assume,
			Field:   field,
			Requires: []profile.Requirement{{
				Name: "Rook", CRDs: rookCRDs,
				Remedy: "install Rook's operator: https://rook.io/docs/rook/latest/Helm-Charts/operator-chart/", Document: "docs/tutorial-cephrbd.md",
				Labels: map[string]string{"app": "rook-ceph-operator"}, Judge: judgeRelease,
			}},
			Driver: func(p *v1alpha1.PgStorageProfile) (name, document string) {
				return naming.RBDDriver(p), "docs/tutorial-cephrbd.md"
			},
		},
	}
}

func abandoned(p *v1alpha1.PgStorageProfile) []v1alpha1.PoolGUID {
	if z := zfsOf(p); z != nil {
		return z.Pool.AbandonedGUIDs
	}
	return nil
}

// clusterKey of the CephCluster that the profile names, its own or another's.
func clusterKey(p *v1alpha1.PgStorageProfile) types.NamespacedName {
	r := p.Spec.CephRBD.Rook
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Cluster}
}

func summary(p *v1alpha1.PgStorageProfile) []string {
	if c := p.Status.Ceph; c != nil && c.Health != "" {
		return []string{c.Health}
	}
	return nil
}

func assume(p *v1alpha1.PgStorageProfile, facts *observed.Profile) {
	facts.Own = &Facts{Installed: true, Drivers: []string{naming.RBDDriver(p)}}
}

// field of the pool and zvols of OSDs: the zvols' properties are beside the pool.
func field(dataset string) []string {
	base := []string{"spec", "cephRBD", "cluster", "backing", "zfs"}
	if strings.Contains(dataset, "/") {
		return base
	}
	return append(base, "pool")
}
