package v1alpha1

// CephRBDProfile is Ceph block devices (RBD) by Rook: a CephCluster that the
// operator makes on storage of its own choice, or one that exists already, a pool
// in it, and a StorageClass. A volume outlives its node: any node that reaches the
// OSDs can have it.
// +kubebuilder:validation:XValidation:rule="has(self.cluster) != (has(self.external) && self.external)",message="spec.cephRBD: set either cluster, which the operator makes, or external: true, to use a CephCluster that exists, and not both"
// +kubebuilder:validation:XValidation:rule="has(self.cluster) == has(oldSelf.cluster)",message="spec.cephRBD.cluster cannot be added or removed because the data is in that CephCluster; create another PgStorageProfile and replicate into a cluster on it"
// +kubebuilder:validation:XValidation:rule="has(self.dataPool) == has(oldSelf.dataPool)",message="spec.cephRBD.dataPool cannot be added or removed because existing images keep their data where it is; create another PgStorageProfile and replicate into a cluster on it"
// +kubebuilder:validation:XValidation:rule="!has(self.volumeClass.fsType) || self.volumeClass.fsType != 'xfs' || (has(self.external) && self.external)",message="spec.cephRBD.volumeClass.fsType: xfs is refused on a CephCluster within this Kubernetes cluster, because a node that has both an OSD and a mount of it can deadlock (Rook, storageclass.yaml); use ext4",fieldPath=".volumeClass.fsType"
// +kubebuilder:validation:XValidation:rule="!has(self.pool.pinnedHosts) || !has(self.dataPool)",message="spec.cephRBD.dataPool: an erasure coded pool cannot be pinned to hosts; remove it, or pool.pinnedHosts",fieldPath=".dataPool"
type CephRBDProfile struct {
	// rook says where Rook and its CephCluster are.
	// +optional
	// +kubebuilder:default={}
	Rook RookNames `json:"rook,omitzero"`

	// external uses the CephCluster that rook names and changes nothing of it; only
	// pools and classes are made. It must be in phase Ready, or Connected where the
	// Ceph behind it is outside of Kubernetes (Rook, External Storage Cluster).
	// Absent or false: cluster is made.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.cephRBD.external is immutable because the data is in that CephCluster; create another PgStorageProfile"
	External *bool `json:"external,omitempty"`

	// cluster is the CephCluster that the operator makes. Absent with external.
	// +optional
	Cluster *CephCluster `json:"cluster,omitempty"`

	// failureDomain is what the copies of a block lie apart on: host (nodes), osd (of
	// one node too, which a loss of the node takes all of: for tests), rack or zone by
	// the nodes' topology labels (Rook, OSD Topology). Default: host. Immutable,
	// because Ceph would move all data.
	// +optional
	// +kubebuilder:default=host
	// +kubebuilder:validation:Enum=host;osd;rack;zone
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.cephRBD.failureDomain is immutable because Ceph would move all data; create another PgStorageProfile and replicate into a cluster on it"
	FailureDomain string `json:"failureDomain,omitempty"`

	// pool holds the images. With dataPool it holds only what Ceph keeps about them.
	// +optional
	// +kubebuilder:default={}
	Pool CephPool `json:"pool,omitzero"`

	// dataPool holds the data of the images erasure coded: less space for each byte,
	// and more work for each write, since a page is less than a stripe. Absent: pool
	// holds the data too.
	// +optional
	DataPool *CephDataPool `json:"dataPool,omitempty"`

	// volumeClass is how volumes are made in the pool.
	// +optional
	// +kubebuilder:default={}
	VolumeClass RBDVolumeClass `json:"volumeClass,omitzero"`

	// acceptWarnings are further health checks of Ceph with which new pools and
	// volumes may be made while they warn, by their names in ceph health detail
	// (Ceph, Health checks). Those that concern no data are accepted anyway, and
	// those by which data or writes are at risk never are: docs/spec/pgstorageprofile.md
	// lists both. Databases that run are not touched by any. Bounds: up to 16 names.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.all(n, n.matches('^[A-Z][A-Z0-9_]*$'))",message="spec.cephRBD.acceptWarnings must be names of health checks as ceph health detail has them, such as POOL_TOO_FEW_PGS"
	// +kubebuilder:validation:XValidation:rule="!self.exists(n, n in ['OSD_FULL', 'POOL_FULL', 'PG_AVAILABILITY', 'PG_DAMAGED', 'PG_RECOVERY_FULL', 'OBJECT_UNFOUND', 'OSD_SCRUB_ERRORS', 'MON_DISK_CRIT', 'TOO_FEW_OSDS'])",message="spec.cephRBD.acceptWarnings names a check by which data or writes are at risk already (OSD_FULL, POOL_FULL, PG_AVAILABILITY, PG_DAMAGED, PG_RECOVERY_FULL, OBJECT_UNFOUND, OSD_SCRUB_ERRORS, MON_DISK_CRIT, TOO_FEW_OSDS); remove it, and act on the check"
	AcceptWarnings []string `json:"acceptWarnings,omitempty"`

	// deletionPolicy says what becomes of pools and CephCluster when the profile is
	// deleted. Retain: they stay as they are. Delete: once no PersistentVolume and no
	// image is left, pools and then the CephCluster are deleted, in the order of
	// Rook's guide (Cleanup). Disks are never wiped: the operator does not set
	// cleanupPolicy.confirmation. Claims of OSDs and mons go with the CephCluster, which
	// owns them, and what becomes of their volumes is said by their class: zvols of
	// backing.zfs are destroyed. With external: true only pools are deleted.
	// Default: Retain.
	// +optional
	// +kubebuilder:default=Retain
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// RookNames are where Rook's objects are.
// +kubebuilder:validation:XValidation:rule="has(self.driver) == has(oldSelf.driver)",message="rook.driver cannot be added or removed because volumes keep the driver that made them; create another PgStorageProfile"
type RookNames struct {
	// operatorNamespace is where Rook's operator runs; its CSI driver is called after
	// it. Bounds: up to 63 characters. Default: rook-ceph. Immutable.
	// +optional
	// +kubebuilder:default=rook-ceph
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="rook.operatorNamespace must be the name of a namespace: lower case letters, digits and '-'"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="rook.operatorNamespace is immutable because volumes keep the driver that made them; create another PgStorageProfile"
	OperatorNamespace string `json:"operatorNamespace,omitempty"`

	// namespace of the CephCluster; it must exist, and Rook allows one CephCluster in
	// it. Bounds: up to 63 characters. Default: rook-ceph. Immutable.
	// +optional
	// +kubebuilder:default=rook-ceph
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="rook.namespace must be the name of a namespace: lower case letters, digits and '-'"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="rook.namespace is immutable because the data is in its CephCluster; create another PgStorageProfile"
	Namespace string `json:"namespace,omitempty"`

	// cluster is the name of the CephCluster. Bounds: up to 63 characters. Default:
	// rook-ceph. Immutable.
	// +optional
	// +kubebuilder:default=rook-ceph
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="rook.cluster must be the name of a CephCluster: lower case letters, digits and '-'"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="rook.cluster is immutable because the data is there; create another PgStorageProfile"
	Cluster string `json:"cluster,omitempty"`

	// driver is the name of Rook's CSI driver for RBD, where it was called otherwise.
	// Bounds: up to 63 characters. Absent: <operatorNamespace>.rbd.csi.ceph.com (Rook,
	// Ceph CSI Drivers). Immutable.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="rook.driver must be the name of a CSI driver: lower case letters, digits, '-' and '.'; see kubectl get csidriver"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="rook.driver is immutable because volumes keep the driver that made them; create another PgStorageProfile"
	Driver string `json:"driver,omitempty"`
}
