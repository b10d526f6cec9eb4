package v1alpha1

// CephRBDProfile is Ceph block storage (RBD) by Rook, with a pool and a StorageClass.
// The operator creates a CephCluster for it, or uses an existing one. Volumes survive
// the loss of a node: any node that reaches the OSDs can attach them.
// +kubebuilder:validation:XValidation:rule="has(self.cluster) != (has(self.external) && self.external)",message="spec.cephRBD: set either cluster, which the operator creates, or external: true, to use an existing CephCluster, and not both"
// +kubebuilder:validation:XValidation:rule="has(self.cluster) == has(oldSelf.cluster)",message="spec.cephRBD.cluster cannot be added or removed because the data is in that CephCluster; create another PgStorageProfile and replicate into a cluster on it"
// +kubebuilder:validation:XValidation:rule="has(self.dataPool) == has(oldSelf.dataPool)",message="spec.cephRBD.dataPool cannot be added or removed because existing images keep their data where it is; create another PgStorageProfile and replicate into a cluster on it"
// +kubebuilder:validation:XValidation:rule="!has(self.volumeClass.fsType) || self.volumeClass.fsType != 'xfs' || (has(self.external) && self.external)",message="spec.cephRBD.volumeClass.fsType: xfs is rejected on a CephCluster within this Kubernetes cluster, because a node that has both an OSD and a mount of it can deadlock (Rook, storageclass.yaml); use ext4",fieldPath=".volumeClass.fsType"
// +kubebuilder:validation:XValidation:rule="!has(self.pool.pinnedHosts) || !has(self.dataPool)",message="spec.cephRBD.dataPool: an erasure coded pool cannot be pinned to hosts; remove it, or pool.pinnedHosts",fieldPath=".dataPool"
type CephRBDProfile struct {
	// rook sets the names and namespaces of Rook and its CephCluster.
	// +optional
	// +kubebuilder:default={}
	Rook RookNames `json:"rook,omitzero"`

	// external uses the existing CephCluster that rook names, without changing it; the
	// operator creates only pools and classes. It must be in phase Ready, or Connected
	// for a Ceph outside of Kubernetes (Rook, External Storage Cluster). Default:
	// false, and the operator creates cluster.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.cephRBD.external is immutable because the data is in that CephCluster; create another PgStorageProfile"
	External *bool `json:"external,omitempty"`

	// cluster declares the CephCluster that the operator creates. Not allowed with
	// external.
	// +optional
	Cluster *CephCluster `json:"cluster,omitempty"`

	// failureDomain selects the unit across which copies of a block are spread. Valid:
	// host (nodes), osd, and rack or zone by the nodes' topology labels (Rook, OSD
	// Topology). osd is for tests: a lost node takes all copies on it. Default: host.
	// Immutable, because Ceph would move all data.
	// +optional
	// +kubebuilder:default=host
	// +kubebuilder:validation:Enum=host;osd;rack;zone
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.cephRBD.failureDomain is immutable because Ceph would move all data; create another PgStorageProfile and replicate into a cluster on it"
	FailureDomain string `json:"failureDomain,omitempty"`

	// pool sets the replicated pool of the images. With dataPool it stores only their
	// metadata.
	// +optional
	// +kubebuilder:default={}
	Pool CephPool `json:"pool,omitzero"`

	// dataPool stores the data of the images erasure coded. It takes less space for
	// each byte, and more work for each write, because a page is smaller than a stripe.
	// Default: pool stores the data too.
	// +optional
	DataPool *CephDataPool `json:"dataPool,omitempty"`

	// volumeClass sets how volumes are provisioned in the pool.
	// +optional
	// +kubebuilder:default={}
	VolumeClass RBDVolumeClass `json:"volumeClass,omitzero"`

	// acceptWarnings lists health checks of Ceph during which the operator still
	// creates pools and volumes, by their names in ceph health detail (Ceph, Health
	// checks). Checks that concern no data are always accepted; checks that put data or
	// writes at risk never are: docs/spec/pgstorageprofile.md lists both. Running
	// databases are not affected. Valid: up to 16 names.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.all(n, n.matches('^[A-Z][A-Z0-9_]*$'))",message="spec.cephRBD.acceptWarnings must be names of health checks as ceph health detail prints them, such as POOL_TOO_FEW_PGS"
	// +kubebuilder:validation:XValidation:rule="!self.exists(n, n in ['OSD_FULL', 'POOL_FULL', 'PG_AVAILABILITY', 'PG_DAMAGED', 'PG_RECOVERY_FULL', 'OBJECT_UNFOUND', 'OSD_SCRUB_ERRORS', 'MON_DISK_CRIT', 'TOO_FEW_OSDS'])",message="spec.cephRBD.acceptWarnings names a check that puts data or writes at risk (OSD_FULL, POOL_FULL, PG_AVAILABILITY, PG_DAMAGED, PG_RECOVERY_FULL, OBJECT_UNFOUND, OSD_SCRUB_ERRORS, MON_DISK_CRIT, TOO_FEW_OSDS); remove it, and act on the check"
	AcceptWarnings []string `json:"acceptWarnings,omitempty"`

	// deletionPolicy selects what happens to pools and CephCluster when the profile is
	// deleted. Retain keeps them. Delete deletes pools and then the CephCluster once no
	// PersistentVolume and no image is left (Rook, Cleanup). Claims of OSDs and mons
	// are deleted with the CephCluster; the zvols of backing.zfs are then destroyed.
	// Disks are never wiped. With external: true only pools are deleted. Default:
	// Retain.
	// +optional
	// +kubebuilder:default=Retain
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// RookNames are the names and namespaces of Rook's objects.
// +kubebuilder:validation:XValidation:rule="has(self.driver) == has(oldSelf.driver)",message="rook.driver cannot be added or removed because volumes keep their driver; create another PgStorageProfile"
type RookNames struct {
	// operatorNamespace selects the namespace of Rook's operator, after which its CSI
	// driver is named. Valid: up to 63 characters. Default: rook-ceph. Immutable.
	// +optional
	// +kubebuilder:default=rook-ceph
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="rook.operatorNamespace must be the name of a namespace: lower case letters, digits and '-'"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="rook.operatorNamespace is immutable because volumes keep their driver; create another PgStorageProfile"
	OperatorNamespace string `json:"operatorNamespace,omitempty"`

	// namespace selects the namespace of the CephCluster; it must exist, and Rook
	// allows one CephCluster in it. Valid: up to 63 characters. Default: rook-ceph.
	// Immutable.
	// +optional
	// +kubebuilder:default=rook-ceph
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="rook.namespace must be the name of a namespace: lower case letters, digits and '-'"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="rook.namespace is immutable because the data is in its CephCluster; create another PgStorageProfile"
	Namespace string `json:"namespace,omitempty"`

	// cluster sets the name of the CephCluster. Valid: up to 63 characters. Default:
	// rook-ceph. Immutable.
	// +optional
	// +kubebuilder:default=rook-ceph
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="rook.cluster must be the name of a CephCluster: lower case letters, digits and '-'"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="rook.cluster is immutable because the data is there; create another PgStorageProfile"
	Cluster string `json:"cluster,omitempty"`

	// driver sets the name of Rook's CSI driver for RBD, if it differs from the
	// default. Valid: up to 63 characters. Default:
	// <operatorNamespace>.rbd.csi.ceph.com (Rook, Ceph CSI Drivers). Immutable.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="rook.driver must be the name of a CSI driver: lower case letters, digits, '-' and '.'; see kubectl get csidriver"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="rook.driver is immutable because volumes keep their driver; create another PgStorageProfile"
	Driver string `json:"driver,omitempty"`
}
