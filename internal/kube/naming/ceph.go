package naming

import (
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// ImagePool is the CephBlockPool of a profile's images.
func ImagePool(profile string) string { return profile }

// ImageDataPool is the erasure coded CephBlockPool of their data.
func ImageDataPool(profile string) string { return profile + "-data" }

// PinnedPool is the CephBlockPool of the images of one host.
func PinnedPool(profile, host string) string {
	return profile + "-" + CrushName(host) + "-" + Hash([]string{profile, host})[:8]
}

// CrushName is the name of a host in the CRUSH map: Rook writes its dots as dashes
// (NormalizeCrushName).
func CrushName(host string) string { return strings.ReplaceAll(host, ".", "-") }

// RBDDriverSuffix ends the names of Rook's CSI drivers for RBD; before it stands the
// operator's namespace.
const RBDDriverSuffix = ".rbd.csi.ceph.com"

// RBDDriver is the CSI driver of a profile of type CephRBD.
func RBDDriver(p *v1alpha1.PgStorageProfile) string {
	r := p.Spec.CephRBD.Rook
	if r.Driver != "" {
		return r.Driver
	}
	return r.OperatorNamespace + RBDDriverSuffix
}

// ManagerPool is Rook's name for the CephBlockPool of Ceph's own pool .mgr
// (pool-builtin-mgr.yaml).
const ManagerPool = "builtin-mgr"

// PoolProbe is the Job that probes the pools of a profile in Rook's namespace. Jobs are
// immutable, so the hash of its spec is in its name, which is at most 63 characters.
func PoolProbe(profile string, spec any) string {
	return short(profile) + "-probe-" + Hash(spec)[:8]
}

// ProbeImage is the image that a probe creates in a pool, and removes.
const ProbeImage = "pgstorage-probe"

// ProbeApp is the value of LabelApp of a probe's pods.
const ProbeApp = "pgstorage-probe"

// LabelApp is the label by which Rook names what a pod is.
const LabelApp = "app"

// DeviceSet is the set of OSDs on claims of a CephCluster.
const DeviceSet = "pgstorage"
