package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// CephCluster declares the CephCluster that the operator creates for Rook.
// +kubebuilder:validation:XValidation:rule="has(self.backing.devices) || has(self.osds.count)",message="spec.cephRBD.cluster.osds.count is missing, but OSDs are on claims; set their number",reason=FieldValueRequired,fieldPath=".osds.count"
// +kubebuilder:validation:XValidation:rule="has(self.backing.devices) || has(self.osds.size)",message="spec.cephRBD.cluster.osds.size is missing, but OSDs are on claims; set the size of each",reason=FieldValueRequired,fieldPath=".osds.size"
// +kubebuilder:validation:XValidation:rule="!has(self.backing.devices) || (!has(self.osds.count) && !has(self.osds.size) && !has(self.osds.spread) && !has(self.osds.tune))",message="spec.cephRBD.cluster.osds: count, size, spread and tune apply to OSDs on claims, and backing.devices names each OSD's device; remove them",fieldPath=".osds"
// +kubebuilder:validation:XValidation:rule="!has(self.backing.devices) || has(self.mons.storageClassName) || !has(self.mons.size)",message="spec.cephRBD.cluster.mons.size: without mons.storageClassName, mons on nodes of backing.devices keep their data in dataDirHostPath, which has no size; remove it, or name a class",fieldPath=".mons.size"
type CephCluster struct {
	// image sets the image of Ceph with its exact version, as
	// quay.io/ceph/ceph:v20.2.4. Rook takes versions from 19.2.0 (Squid) to 20
	// (Tentacle). A tag such as v20 or latest is rejected, because its version can
	// change. Valid: up to 255 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9][A-Za-z0-9._:/-]*:v(19[.][2-9]|20[.][0-9]+)[.][0-9]+(-[0-9]+)?(@sha256:[0-9a-f]{64})?$')",message="spec.cephRBD.cluster.image must name an exact version from v19.2.0 to v20, as quay.io/ceph/ceph:v20.2.4"
	Image string `json:"image,omitempty"`

	// backing selects the block devices of the OSDs, and by default of the mons.
	// +required
	Backing CephBacking `json:"backing,omitzero"`

	// mons sets the number and the storage of the monitors.
	// +optional
	// +kubebuilder:default={}
	Mons CephMons `json:"mons,omitzero"`

	// mgr sets the number of managers and their modules.
	// +optional
	// +kubebuilder:default={}
	Mgr CephMgr `json:"mgr,omitzero"`

	// osds sets the number, size and resources of the OSDs, one on each device or
	// claim.
	// +required
	OSDs CephOSDs `json:"osds,omitzero"`

	// dataDirHostPath sets the directory of each node for Ceph's own files, including
	// all data of mons without claims. It must be empty for a new CephCluster. Valid:
	// an absolute path of up to 200 characters. Default: /var/lib/rook. Immutable.
	// +optional
	// +kubebuilder:default="/var/lib/rook"
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:XValidation:rule="self.matches('^(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)+$')",message="spec.cephRBD.cluster.dataDirHostPath must be an absolute path of letters, digits, '_', '-' and '.'"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.cephRBD.cluster.dataDirHostPath is immutable because Ceph's data is there"
	DataDirHostPath string `json:"dataDirHostPath,omitempty"`

	// dashboard serves Ceph's own dashboard over TLS within the Kubernetes cluster.
	// Default: false.
	// +optional
	// +kubebuilder:default=false
	Dashboard *bool `json:"dashboard,omitempty"`

	// monitoring has Rook create ServiceMonitors for Ceph's exporters. It needs
	// prometheus-operator. Default: false.
	// +optional
	// +kubebuilder:default=false
	Monitoring *bool `json:"monitoring,omitempty"`
}

// CephBacking selects the source of block devices for OSDs: exactly one member.
// +kubebuilder:validation:XValidation:rule="[has(self.zfs), has(self.storageClassName), has(self.devices)].filter(x, x).size() == 1",message="spec.cephRBD.cluster.backing: set exactly one of zfs (zvols of a pool on each node), storageClassName (a class of block volumes) and devices (whole disks of nodes)"
// +kubebuilder:validation:XValidation:rule="has(self.zfs) == has(oldSelf.zfs) && has(self.devices) == has(oldSelf.devices)",message="spec.cephRBD.cluster.backing cannot change its kind because OSDs use it; create another PgStorageProfile and replicate into a cluster on it"
type CephBacking struct {
	// zfs provisions zvols of a pool on each node of spec.nodeSelector, by OpenEBS
	// zfs-localpv. They are thick, because a thin zvol on a full pool returns errors to
	// its OSD (zfsprops, volsize).
	// +optional
	ZFS *CephZFSBacking `json:"zfs,omitempty"`

	// storageClassName selects an existing StorageClass of block volumes. It must not
	// provision filesystems: with fstype zfs, zfs-localpv provisions datasets, which no
	// OSD can use (zfs-localpv issue 538). Immutable.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="backing.storageClassName must be the name of a StorageClass: lower case letters, digits, '-' and '.'; see kubectl get storageclass"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="backing.storageClassName is immutable because OSDs use its volumes; create another PgStorageProfile"
	StorageClassName string `json:"storageClassName,omitempty"`

	// devices lists whole disks of named nodes. Rook takes only disks without a
	// filesystem or partitions. Nodes and devices can be added; removing one leaves its
	// OSDs as they are (docs/spec/pgstorageprofile.md). Valid: 1 to 64 nodes.
	// +optional
	// +listType=map
	// +listMapKey=node
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Devices []CephNodeDevices `json:"devices,omitempty"`
}

// CephNodeDevices are the OSDs' disks of one node.
type CephNodeDevices struct {
	// node selects the node by its label kubernetes.io/hostname.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="devices.node must be a node's label kubernetes.io/hostname"
	Node string `json:"node,omitempty"`

	// paths lists disks by paths that are stable across reboots, one OSD each. Valid: 1
	// to 32 paths of up to 255 characters.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.all(p, p.matches('^/dev/disk/by-(id|path)/[A-Za-z0-9_:+@=#-][A-Za-z0-9_.:+@=#-]*$'))",message="devices.paths must be below /dev/disk/by-id or /dev/disk/by-path: names such as /dev/sda can be another disk after a reboot; see ls -l /dev/disk/by-id"
	Paths []string `json:"paths,omitempty"`
}

// CephZFSBacking sets the pool of each node and the parent dataset <pool>/pgblock, from
// which zvols inherit. Its defaults leave to Ceph what Ceph does itself.
// +kubebuilder:validation:XValidation:rule="has(self.volblocksize) == has(oldSelf.volblocksize)",message="backing.zfs.volblocksize cannot be added or removed later, because the StorageClass is immutable; create another PgStorageProfile and replicate into a cluster on it"
type CephZFSBacking struct {
	// pool sets the ZFS pool on every selected node.
	// +required
	Pool CephZFSPool `json:"pool,omitzero"`

	// volblocksize sets the block size of the zvols. Smaller than osds.minAllocSize
	// gains nothing; larger makes ZFS read before it writes. Valid: a power of two from
	// 4k to 64k. Default: osds.minAllocSize. Immutable, as in ZFS.
	// +optional
	// +kubebuilder:validation:Enum="4k";"8k";"16k";"32k";"64k"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="backing.zfs.volblocksize is immutable, as it is in ZFS; create another PgStorageProfile and replicate into a cluster on it"
	Volblocksize string `json:"volblocksize,omitempty"`

	// compression sets the compression of the zvols. Valid: off, lz4 or zstd. Default:
	// off where the pool of Ceph compresses, otherwise lz4.
	// +optional
	// +kubebuilder:validation:Enum=off;lz4;zstd
	Compression string `json:"compression,omitempty"`

	// primarycache selects what the ARC keeps of the zvols: metadata or all. BlueStore
	// caches data itself, within osds.memoryTarget; all caches it twice. Default:
	// metadata.
	// +optional
	// +kubebuilder:default=metadata
	// +kubebuilder:validation:Enum=metadata;all
	Primarycache string `json:"primarycache,omitempty"`

	// logbias selects how ZFS writes the OSDs' flushes. latency uses the intent log and
	// its device. throughput writes blocks in place of the log and fragments the pool
	// (zfsprops). Default: latency.
	// +optional
	// +kubebuilder:default=latency
	// +kubebuilder:validation:Enum=latency;throughput
	Logbias string `json:"logbias,omitempty"`

	// arcMax limits the ARC of each selected node (zfs_arc_max). The condition
	// MemoryBudget compares it, with the memory of the node's OSDs, to the node's
	// memory. Valid: at least 64Mi. Default: the node's own setting.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('64Mi')) >= 0",message="backing.zfs.arcMax must be a quantity of at least 64Mi, the smallest ARC that OpenZFS accepts, as 8Gi; remove it to leave the node's setting"
	ARCMax *resource.Quantity `json:"arcMax,omitempty"`

	// driftPolicy selects what the agent does with a property that differs from the
	// spec. Repair sets it again; Report only reports it. Default: Repair.
	// +optional
	// +kubebuilder:default=Repair
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`
}

// CephZFSPool is a pool as in ZFSLocalPV: it exists already, or the agent creates it on
// named blank devices. The agent never destroys it.
type CephZFSPool struct {
	// name sets the name of the pool, the same on every selected node. Valid: 1 to 63
	// characters. Immutable.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z][a-zA-Z0-9_.-]*$')",message="backing.zfs.pool.name must begin with a letter and hold only letters, digits, '_', '-' and '.' (zpoolconcepts)"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^(mirror|raidz|draid|spare)') && self != 'log'",message="backing.zfs.pool.name is log or begins with mirror, raidz, draid or spare, which ZFS reserves (zpool-create); choose another"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="backing.zfs.pool.name is immutable because OSDs use it; create another PgStorageProfile and replicate into a cluster on it"
	Name string `json:"name,omitempty"`

	// create sets the layout of the pool on nodes that do not have it. Default: the
	// pool must exist, for example from a profile of type ZFSLocalPV, whose volumes
	// then share its space.
	// +optional
	Create *CephZFSPoolCreate `json:"create,omitempty"`

	// autotrim returns freed space to the devices as it is freed. Default: off, as in
	// OpenZFS.
	// +optional
	// +kubebuilder:default="off"
	// +kubebuilder:validation:Enum=on;off
	Autotrim string `json:"autotrim,omitempty"`

	// failmode selects what happens when more devices fail than redundancy covers: wait
	// blocks I/O, continue returns EIO to new writes, panic crashes the node
	// (zpoolprops). Default: wait.
	// +optional
	// +kubebuilder:default=wait
	// +kubebuilder:validation:Enum=wait;continue;panic
	Failmode string `json:"failmode,omitempty"`

	// abandonedGUIDs lists pools that are lost for good, by the GUID in the message of
	// PoolLost or PoolReplaced. A node creates its pool once; only after its pool is
	// listed here does it create or adopt another one. Valid: up to 256. Default: none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	AbandonedGUIDs []PoolGUID `json:"abandonedGUIDs,omitempty"`

	// headroomPercent sets the share of the pool to keep free. Thick zvols count as
	// full. Valid: 5 to 50. Default: 20.
	// +optional
	// +kubebuilder:default=20
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=50
	HeadroomPercent *int32 `json:"headroomPercent,omitempty"`
}

// CephZFSPoolCreate sets the layout of a new pool; see pool.create of ZFSLocalPV.
type CephZFSPoolCreate struct {
	// vdevs lists the striped vdevs of the data. Ceph keeps copies on other nodes: a
	// mirror here multiplies with them (status.ceph.copies). Valid: 1 to 8.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Vdevs []CephZFSVdev `json:"vdevs,omitempty"`

	// logs lists the vdevs of the intent log, which receives every flush of an OSD
	// first: stripes or mirrors of a few GB. Valid: up to 4.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:XValidation:rule="self.all(v, v.type in ['stripe', 'mirror'])",message="pool.create.logs: a log is a stripe or a mirror (zpoolconcepts)"
	Logs []CephZFSVdev `json:"logs,omitempty"`

	// ashift sets the sector size as a power of two. Valid: 9 (512 bytes) to 16 (64
	// KiB). Default: 12 (4 KiB).
	// +optional
	// +kubebuilder:default=12
	// +kubebuilder:validation:Minimum=9
	// +kubebuilder:validation:Maximum=16
	Ashift *int32 `json:"ashift,omitempty"`
}

// CephZFSVdev is a group of named devices.
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type == 'stripe' || self.devices.size() >= (self.type == 'raidz3' ? 4 : self.type == 'raidz2' ? 3 : 2)",message="too few devices for this vdev type: a mirror and raidz1 need at least 2, raidz2 3, raidz3 4"
type CephZFSVdev struct {
	// type selects the redundancy of the vdev. With volblocksize 4k, raidz takes as
	// much space as a mirror. Default: stripe.
	// +optional
	// +kubebuilder:default=stripe
	Type ZFSVdevType `json:"type,omitempty"`

	// devices lists devices by stable path, the same on every selected node. Valid: 1
	// to 16.
	// +required
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Devices []ZFSDevice `json:"devices,omitempty"`
}

// CephMons are the monitors.
type CephMons struct {
	// count sets the number of mons, odd, each on a node of its own; a majority must be
	// up. 1 is for tests. Valid: 1 to 9. Default: 3.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	// +kubebuilder:validation:XValidation:rule="self % 2 == 1",message="mons.count must be odd: an even number survives no more failures than one less (Ceph, Monitor quorum); use 3 or 5"
	Count *int32 `json:"count,omitempty"`

	// size sets the size of each mon's claim. Rook uses it for mons created from then
	// on. Valid: at least 1Gi. Default: 10Gi where mons have claims.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('1Gi')) >= 0",message="mons.size must be a quantity of at least 1Gi, as 10Gi"
	Size *resource.Quantity `json:"size,omitempty"`

	// storageClassName selects the StorageClass of the mons' claims, with
	// volumeBindingMode: WaitForFirstConsumer (Rook, Mon Settings). Default: that of
	// the backing; with backing.devices none, and mons keep their data in
	// dataDirHostPath.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="mons.storageClassName must be the name of a StorageClass: lower case letters, digits, '-' and '.'; see kubectl get storageclass"
	StorageClassName string `json:"storageClassName,omitempty"`
}

// CephMgr are the managers.
type CephMgr struct {
	// count sets the number of mgrs: one is active, the other on standby. Valid: 1 to
	// 2. Default: 2.
	// +optional
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2
	Count *int32 `json:"count,omitempty"`

	// modules lists modules to enable besides Ceph's own defaults, such as
	// pg_autoscaler. Valid: up to 16 names.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.all(m, m.matches('^[a-z][a-z0-9_-]*$'))",message="mgr.modules must be names of modules as ceph mgr module ls prints them, such as pg_autoscaler"
	Modules []string `json:"modules,omitempty"`
}

// CephOSDs are the daemons that hold the data.
// +kubebuilder:validation:XValidation:rule="has(self.size) == has(oldSelf.size) && has(self.count) == has(oldSelf.count)",message="osds.count and osds.size cannot be added or removed later; change their values"
type CephOSDs struct {
	// count sets the number of OSDs on claims. It can grow; lowering it leaves existing
	// OSDs as they are, and each is removed by hand (docs/spec/pgstorageprofile.md).
	// Valid: 1 to 512. Required except with backing.devices.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=512
	Count *int32 `json:"count,omitempty"`

	// size sets the size of each OSD's claim. It can only grow. Valid: 5Gi, Rook's
	// minimum, to 64Ti. Required except with backing.devices.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('5Gi')) >= 0 && quantity(string(self)).compareTo(quantity('64Ti')) <= 0",message="osds.size must be a quantity from 5Gi to 64Ti, as 500Gi"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || !isQuantity(string(oldSelf)) || quantity(string(self)).compareTo(quantity(string(oldSelf))) >= 0",message="osds.size cannot shrink because an OSD cannot; remove OSDs instead"
	Size *resource.Quantity `json:"size,omitempty"`

	// memoryTarget sets the memory target of each OSD (osd_memory_target), within which
	// BlueStore sizes its cache. The pod requests it, and its limit is a quarter
	// higher, because an OSD briefly exceeds its target. Valid: 2Gi, Rook's recommended
	// minimum, to 64Gi. Default: 4Gi, as in Ceph.
	// +optional
	// +kubebuilder:default="4Gi"
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('2Gi')) >= 0 && quantity(string(self)).compareTo(quantity('64Gi')) <= 0",message="osds.memoryTarget must be a quantity from 2Gi to 64Gi, as 4Gi"
	MemoryTarget resource.Quantity `json:"memoryTarget,omitzero"`

	// cpu sets the CPU request of each OSD. It has no limit, because a throttled OSD
	// delays every commit. Valid: at least 100m. Default: 1.
	// +optional
	// +kubebuilder:default="1"
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('100m')) >= 0",message="osds.cpu must be a quantity of at least 100m, as 1"
	CPU resource.Quantity `json:"cpu,omitzero"`

	// spread selects how OSDs on claims spread over nodes: Required lets no node have
	// two more than another, and leaves OSDs pending otherwise; Preferred tries.
	// Default: Required.
	// +optional
	// +kubebuilder:validation:Enum=Required;Preferred
	Spread string `json:"spread,omitempty"`

	// deviceClass sets the device class of the OSDs in the CRUSH map. It is not
	// detected, because below a claim detection mistakes SSDs for disks (rook issues
	// 6153, 15389). Valid: up to 32 characters. Default: ssd. Immutable.
	// +optional
	// +kubebuilder:default=ssd
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z][a-z0-9_-]*$')",message="osds.deviceClass must begin with a letter and hold only lower case letters, digits, '_' and '-', as ssd"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="osds.deviceClass is immutable because OSDs keep theirs; create another PgStorageProfile"
	DeviceClass string `json:"deviceClass,omitempty"`

	// tune selects Rook's tuning of OSDs on claims by the speed of the device, which
	// Ceph cannot detect (tuneFastDeviceClass and tuneDeviceClass of Rook). Valid: Fast
	// (SSD), Slow (HDD) or None. Default: Fast.
	// +optional
	// +kubebuilder:validation:Enum=Fast;Slow;None
	Tune string `json:"tune,omitempty"`

	// minAllocSize sets the unit in which BlueStore allocates
	// (bluestore_min_alloc_size). An OSD keeps the value that it was created with.
	// Valid: a power of two from 4k to 64k. Default: 4k, as in Ceph. Immutable.
	// +optional
	// +kubebuilder:default="4k"
	// +kubebuilder:validation:Enum="4k";"8k";"16k";"32k";"64k"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="osds.minAllocSize is immutable, as it is in an OSD; create another PgStorageProfile and replicate into a cluster on it"
	MinAllocSize string `json:"minAllocSize,omitempty"`

	// encrypted has Rook encrypt the device of each OSD by dm-crypt, with keys in
	// Secrets of its namespace. Default: false. Immutable.
	// +optional
	// +kubebuilder:default=false
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="osds.encrypted is immutable because existing OSDs cannot be encrypted; create another PgStorageProfile and replicate into a cluster on it"
	Encrypted *bool `json:"encrypted,omitempty"`
}
