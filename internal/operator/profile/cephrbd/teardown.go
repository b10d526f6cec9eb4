package cephrbd

import (
	"fmt"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

func inUse(format string, a ...any) profile.Teardown {
	return profile.Teardown{Reason: v1alpha1.ReasonInUse, Waits: fmt.Sprintf(format, a...)}
}

func deleting(what []string) profile.Teardown {
	return profile.Teardown{Reason: v1alpha1.ReasonDeleting, Waits: "deletion waits: " + strings.Join(what, "; ")}
}

// teardown returns the next action in the order of Rook's guide (Cleanup): volumes,
// then the StorageClass, pools, and the CephCluster. Kubernetes deletes the storage of
// the OSDs with it. teardown never deletes volumes. It deletes pools and the
// CephCluster only with deletionPolicy: Delete; without it there is no step, and
// retained databases keep what they need. cleanupPolicy is never set, so that no disk
// is wiped.
func teardown(p *v1alpha1.PgStorageProfile, facts observed.Profile) profile.Teardown {
	if p.Spec.CephRBD.DeletionPolicy != v1alpha1.DeletionDelete {
		return profile.Teardown{}
	}
	if n := len(own(facts).Volumes); n > 0 {
		return inUse("deletion waits for %d PersistentVolumes of StorageClass %s: %s; delete them, or what they belong to, once nothing of them is needed", n, naming.DataClass(p.Name), excerpt.Names(own(facts).Volumes, 5))
	}
	if class := facts.Classes[naming.DataClass(p.Name)]; class != nil && class.Labels[naming.LabelOwnerUID] == string(p.UID) {
		return profile.Teardown{Kind: "StorageClass", Names: []string{class.Name}}
	}
	for _, next := range []func(*v1alpha1.PgStorageProfile, *Facts) profile.Teardown{probesDown, poolsDown, clusterDown, backingDown} {
		if s := next(p, own(facts)); !s.Done() {
			return s
		}
	}
	return profile.Teardown{}
}

func poolsDown(p *v1alpha1.PgStorageProfile, ceph *Facts) profile.Teardown {
	var names, waits []string
	for _, pool := range pools(p) {
		name := pool.Name()
		seen, found := ceph.Pools[name]
		switch {
		case !found || seen.Owner != string(p.UID):
		case seen.Deleting:
			waits = append(waits, blocked("CephBlockPool "+p.Spec.CephRBD.Rook.Namespace+"/"+name, seen.Status.Conditions))
		default:
			names = append(names, name)
		}
	}
	if len(waits) > 0 {
		return deleting(waits)
	}
	return profile.Teardown{Kind: "CephBlockPool", Names: names}
}

// clusterDown deletes the CephCluster, where it is the profile's, once its own pool's
// object is gone too, which Rook would count as a dependent.
func clusterDown(p *v1alpha1.PgStorageProfile, ceph *Facts) profile.Teardown {
	c := ceph.Cluster
	if clusterOf(p) == nil || c == nil || c.Owner != string(p.UID) {
		return profile.Teardown{}
	}
	if c.Deleting {
		return deleting([]string{blocked("CephCluster "+clusterName(p), c.Status.Conditions)})
	}
	if mgr, found := ceph.Pools[naming.ManagerPool]; found && mgr.Owner == string(p.UID) {
		if mgr.Deleting {
			return deleting([]string{blocked("CephBlockPool "+naming.ManagerPool, mgr.Status.Conditions)})
		}
		return profile.Teardown{Kind: "CephBlockPool", Names: []string{naming.ManagerPool}}
	}
	return profile.Teardown{Kind: "CephCluster", Names: []string{p.Spec.CephRBD.Rook.Cluster}}
}

// backingDown waits for the zvols of OSDs and mons, whose claims the CephCluster owned:
// their agents must not let go of the pools before.
func backingDown(p *v1alpha1.PgStorageProfile, ceph *Facts) profile.Teardown {
	if zfsOf(p) == nil || ceph.Cluster != nil || len(ceph.Backing) == 0 {
		return profile.Teardown{}
	}
	return profile.Teardown{Reason: v1alpha1.ReasonDeleting, Waits: fmt.Sprintf("deletion waits for %d PersistentVolumes of OSDs and mons, whose claims go with the CephCluster: %s", len(ceph.Backing), excerpt.Names(ceph.Backing, 5))}
}

func blocked(what string, conditions []rook.Condition) string {
	if why := rook.Blocked(conditions); why != "" {
		return what + " is held by Rook: " + why
	}
	return what + " is being deleted by Rook"
}
