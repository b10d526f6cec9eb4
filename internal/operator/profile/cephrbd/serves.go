package cephrbd

import (
	"slices"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// forNewVolumes are reasons for which a profile is not Ready and images that exist can
// still be read and written.
var forNewVolumes = []string{
	v1alpha1.ReasonCephWarning, v1alpha1.ReasonOSDsMissing, v1alpha1.ReasonCephProgressing, v1alpha1.ReasonProbePending,
}

// serves reports whether databases that run keep their storage. They do not where Ceph
// reports that placement groups are not available. Ceph notices late that OSDs are away, so
// they do not either where fewer nodes have a running OSD than a write needs copies.
func serves(p *v1alpha1.PgStorageProfile, reason string) bool {
	ceph := p.Status.Ceph
	if p.Spec.CephRBD == nil || ceph == nil || !slices.Contains(forNewVolumes, reason) {
		return false
	}
	unavailable := func(c v1alpha1.ObservedCephCheck) bool { return c.Name == "PG_AVAILABILITY" }
	return !slices.ContainsFunc(ceph.Checks, unavailable) && enoughOSDs(p, ceph)
}

// enoughOSDs run for a write to be answered. Those of a Ceph outside of Kubernetes are not
// seen.
func enoughOSDs(p *v1alpha1.PgStorageProfile, ceph *v1alpha1.ProfileCeph) bool {
	if ceph.OSDs == nil || ceph.OSDsUp == nil {
		return clusterOf(p) == nil
	}
	running := int(*ceph.OSDsUp)
	if p.Spec.CephRBD.FailureDomain != "osd" && len(p.Spec.CephRBD.Pool.PinnedHosts) == 0 {
		running = len(ceph.OSDHosts)
	}
	return running >= int(answering(p))
}
