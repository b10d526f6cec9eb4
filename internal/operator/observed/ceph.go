package observed

import (
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

// Ceph is what was seen of a Ceph cluster, its pools and what stands on it.
type Ceph struct {
	// Installed: Rook's CRDs exist.
	Installed bool
	// Drivers are the CSIDrivers whose names end as Rook's for RBD do, and the one that
	// the profile names, sorted.
	Drivers []string
	// Cluster that the profile names; nil while there is none.
	Cluster *CephCluster
	// Pools in its namespace, by name.
	Pools map[string]CephPool
	// OSDs that have a pod or Deployment in this Kubernetes cluster, by their ID.
	OSDs []CephOSD
	// Claims of the OSDs, with their volumes as agents have read them back.
	Claims []Claim
	// Zvols are what zfs-localpv says of the volumes of these claims, by the name of the
	// PersistentVolume.
	Zvols map[string]Zvol
	// Backing are the PersistentVolumes of the class beneath the OSDs whose claims are in
	// Rook's namespace: those of OSDs and of mons. Sorted.
	Backing []string
	// Kernels of the nodes, as they report them, by node.
	Kernels map[string]string
	// Instances of databases on the profile.
	Instances []Placement
	// Volumes are the PersistentVolumes of the profile's class, by name, sorted.
	Volumes []string
}

// CephCluster as it was read.
type CephCluster struct {
	UID string
	// Owner is the UID of the profile that its labels name; empty where it is not ours.
	Owner      string
	Generation int64
	Deleting   bool
	Status     rook.ClusterStatus
}

// CephPool as it was read.
type CephPool struct {
	// Owner is the UID of the profile that its labels name; empty where it is not ours.
	Owner      string
	Generation int64
	Deleting   bool
	Spec       rook.PoolSpec
	Status     rook.PoolStatus
}

// CephOSD is one OSD by its Deployment's labels.
type CephOSD struct {
	ID int
	// Host is the node, and Hostname its label kubernetes.io/hostname, which Rook knows it
	// by; Domain is the label topology-location-<failureDomain>, where the profile keeps
	// copies apart by racks or zones.
	Host, Hostname, Domain string
	// DeviceClass in the CRUSH map; empty where Rook does not say.
	DeviceClass string
	// Up: its pod is ready.
	Up bool
}

// Zvol is a volume as zfs-localpv has recorded what it made.
type Zvol struct {
	// Type is ZVOL or DATASET.
	Type string
	// Volblocksize as it was asked for, as 4k; empty: that of ZFS.
	Volblocksize string
	// Thin is yes or no; empty: that of ZFS, which is no.
	Thin string
}

// Placement of one instance of a database.
type Placement struct {
	Cluster, Instance, Node string
}
