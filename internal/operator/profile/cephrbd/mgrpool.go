package cephrbd

import (
	"strconv"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

// defaultCopies of a pool (osd_pool_default_size).
const defaultCopies = 3

// managerCopies that Ceph's pool .mgr should have: as many as the images. Where each host
// has a pool of its own, it is one for each host, up to three.
func managerCopies(p *v1alpha1.PgStorageProfile) int32 {
	if n := len(p.Spec.CephRBD.Pool.PinnedHosts); n > 0 {
		return int32(min(n, defaultCopies))
	}
	return poolSize(p)
}

// managerPool is Ceph's pool .mgr with as many copies as can be apart. Ceph creates it with
// osd_pool_default_size copies on hosts, however many there are. Its placement groups then
// stay inactive on one host and degraded on two, and block every other pool.
func managerPool(p *v1alpha1.PgStorageProfile, facts observed.Profile) *rook.CephBlockPool {
	pool := rook.NewCephBlockPool(p.Spec.CephRBD.Rook.Namespace, naming.ManagerPool, labels(p))
	copies, domain := managerLayout(p, facts)
	pool.Spec = rook.PoolSpec{
		Name: ".mgr", FailureDomain: domain, DeviceClass: p.Spec.CephRBD.Pool.DeviceClass, Replicated: replicated(copies),
		// Ceph created the pool, and Rook corrects its rule only with this.
		EnableCrushUpdates: new(true),
		Parameters: map[string]string{
			"compression_mode": "none",
			// Ceph lowers it to 1 when two copies are set.
			"min_size": strconv.Itoa(int(min(copies, 2))),
		},
	}
	return pool
}

// managerLayout bounds the copies of .mgr by the failure domains, but never to less than
// two where two are wanted. On a single host they are apart by OSD. Once the pools were proved,
// a domain that is lost takes no copy away.
func managerLayout(p *v1alpha1.PgStorageProfile, facts observed.Profile) (copies int32, domain string) {
	copies, domain = possibleLayout(p, facts)
	made := own(facts).Pools[naming.ManagerPool].Spec
	proved := p.Status.Ceph != nil && p.Status.Ceph.ProbedKey != ""
	if !proved || made.Replicated == nil || made.Replicated.Size == nil || *made.Replicated.Size < copies {
		return copies, domain
	}
	return min(*made.Replicated.Size, managerCopies(p)), made.FailureDomain
}

// possibleLayout of .mgr on the OSDs that exist, or that the profile declares.
func possibleLayout(p *v1alpha1.PgStorageProfile, facts observed.Profile) (copies int32, domain string) {
	copies, domain = managerCopies(p), p.Spec.CephRBD.FailureDomain
	n, osds := managerDomains(p, facts), wantedOSDs(p, own(facts))
	if n < 2 && copies > 1 && osds > 1 {
		n, domain = osds, "osd"
	}
	return max(min(copies, int32(n)), min(copies, 2)), domain //nolint:gosec // a cluster has no 2^31 OSDs
}

// managerDomains are the failure domains that have an OSD. While fewer than two have one
// and OSDs are still to come, they are those that the profile declares.
func managerDomains(p *v1alpha1.PgStorageProfile, facts observed.Profile) int {
	seen := own(facts).OSDs
	c, osds := clusterOf(p), wantedOSDs(p, own(facts))
	if n := len(domains(p, seen)); n > 1 || len(seen) >= osds {
		return n
	}
	switch {
	case p.Spec.CephRBD.FailureDomain == "osd":
		return osds
	case c.Backing.Devices != nil:
		return declaredNodes(c)
	}
	n := 0
	for _, node := range facts.Nodes {
		if node.Selected {
			n++
		}
	}
	if n == 0 {
		// Nothing was read yet.
		return osds
	}
	return min(n, osds)
}

// declaredNodes are the nodes whose devices the profile names.
func declaredNodes(c *v1alpha1.CephCluster) int {
	names := map[string]bool{}
	for _, node := range c.Backing.Devices {
		names[node.Node] = true
	}
	return len(names)
}
