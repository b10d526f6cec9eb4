package cephrbd

import (
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

// Facts are what was read of a Ceph cluster, its pools and the volumes of its OSDs.
type Facts struct {
	// Installed: Rook's CRDs exist.
	Installed bool
	// Drivers are the CSIDrivers whose names end as Rook's for RBD do, and the one that
	// the profile names, sorted.
	Drivers []string
	// Cluster that the profile names; nil while there is none.
	Cluster *ObservedCluster
	// Pools in its namespace, by name.
	Pools map[string]ObservedPool
	// OSDs that have a pod or Deployment in this Kubernetes cluster, by their ID.
	OSDs []OSD
	// Claims of the OSDs, with their volumes as agents have read them back.
	Claims []observed.Claim
	// Zvols are what zfs-localpv says of the volumes of these claims, by the name of the
	// PersistentVolume.
	Zvols map[string]Zvol
	// Backing are the PersistentVolumes of the class below the OSDs whose claims are in
	// Rook's namespace: those of OSDs and of mons. Sorted.
	Backing []string
	// Kernels of the nodes, as they report them, by node.
	Kernels map[string]string
	// Volumes are the PersistentVolumes of the profile's class, by name, sorted.
	Volumes []string
	// Prepares are what became of Rook's jobs that prepare devices, sorted by job.
	Prepares []Attempt
	// Probes are the profile's own Jobs that probe its pools, by name.
	Probes map[string]Probe
}

// Attempt is the last pod of a Job.
type Attempt struct {
	Job, Node string
	// Succeeded or Failed. One that starts again after a failure counts as failed.
	Succeeded, Failed bool
	// Text is the last line that a failed container wrote, or how it ended; or of a pod
	// that cannot start, why. A program wrote it.
	Text string
}

// Probe is a Job that creates, writes, flushes, reads and removes an image in each pool.
type Probe struct {
	Complete bool
	// Failed is why Kubernetes ended it; empty while it runs.
	Failed string
	Last   Attempt
}

// ObservedCluster is the CephCluster as it was read.
type ObservedCluster struct {
	UID string
	// Owner is the UID of the profile that its labels name; empty where it is not ours.
	Owner      string
	Generation int64
	Deleting   bool
	Status     rook.ClusterStatus
}

// ObservedPool is a CephBlockPool as it was read.
type ObservedPool struct {
	UID string
	// Owner is the UID of the profile that its labels name; empty where it is not ours.
	Owner      string
	Generation int64
	Deleting   bool
	Spec       rook.PoolSpec
	Status     rook.PoolStatus
}

// OSD is one OSD by its Deployment's labels.
type OSD struct {
	ID int
	// Host is the node, and Hostname its label kubernetes.io/hostname, which Rook knows it
	// by; Domain is the label topology-location-<failureDomain>, where the profile keeps
	// copies apart by racks or zones.
	Host, Hostname, Domain string
	// DeviceClass in the CRUSH map; empty where Rook does not say.
	DeviceClass string
	// Up: its pod is ready.
	Up bool
	// Failure is how a container of its pod ended, or why it cannot start, while the OSD is not up.
	Failure string
}

// Zvol is a volume as zfs-localpv has recorded what it made.
type Zvol struct {
	// Type is ZVOL or DATASET.
	Type string
	// Volblocksize as the spec sets it, as 4k; empty: that of ZFS.
	Volblocksize string
	// Thin is yes or no; empty: that of ZFS, which is no.
	Thin string
}

// own returns what Read has put into the facts of a profile; nothing before it did.
func own(facts observed.Profile) *Facts {
	if f, ok := facts.Own.(*Facts); ok {
		return f
	}
	return &Facts{}
}
