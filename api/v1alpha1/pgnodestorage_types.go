package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PgNodeStorageSpec is all that the agent of one node has to make true for one
// profile. The manager renders it from the PgStorageProfile; edit that instead.
// +kubebuilder:validation:XValidation:rule="self.nodeName == oldSelf.nodeName && self.profile == oldSelf.profile && self.pool.name == oldSelf.pool.name",message="spec.nodeName, spec.profile and spec.pool.name are immutable: the manager makes one PgNodeStorage for each node and profile"
type PgNodeStorageSpec struct {
	// nodeName of the node whose agent reconciles this object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	NodeName string `json:"nodeName,omitempty"`
	// profile that this object was rendered from.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Profile string `json:"profile,omitempty"`
	// pool that must be there.
	// +required
	Pool NodePool `json:"pool,omitzero"`
	// datasets that must be there, parents before children, each with every
	// property that the profile declares.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Datasets []NodeDataset `json:"datasets,omitempty"`
	// arcMax limits the node's ARC; absent: left alone.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self))",message="spec.arcMax must be a quantity, as 8Gi"
	ARCMax *resource.Quantity `json:"arcMax,omitempty"`
	// driftPolicy of the profile.
	// +optional
	// +kubebuilder:default=Repair
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`
	// networkDevices are attached before the pool is imported, and the pool stands
	// on them; absent for a pool on disks of the node.
	// +optional
	NetworkDevices *NodeNetworkDevices `json:"networkDevices,omitempty"`
}

// NodeNetworkDevices are block devices that ZeroFS servers of this node offer.
type NodeNetworkDevices struct {
	// layout of the pool over them: stripe, or mirror of one device of each server.
	// +required
	Layout ZFSVdevType `json:"layout,omitempty"`
	// servers that offer them.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Servers []NodeServer `json:"servers,omitempty"`
	// exports that each server offers, one device each.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=64
	Exports []string `json:"exports,omitempty"`
	// exportSize of each; exports grow to it and never shrink.
	// +required
	ExportSize resource.Quantity `json:"exportSize,omitzero"`
	// requestTimeout of a mirror, as 60s: for how long requests wait for one of its
	// devices before the agent goes on without it. Absent: 60s.
	// +optional
	// +kubebuilder:validation:MaxLength=8
	RequestTimeout string `json:"requestTimeout,omitempty"`
	// onServerLost of the profile.
	// +required
	OnServerLost ServerLostPolicy `json:"onServerLost,omitempty"`
	// caches and logs of the pool on disks of the node, added and removed live.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	Caches []ZFSDevice `json:"caches,omitempty"`
	// logs of the pool on disks of the node; two are mirrored.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2
	Logs []ZFSDevice `json:"logs,omitempty"`
	// ashift of the pool.
	// +required
	// +kubebuilder:validation:Minimum=12
	// +kubebuilder:validation:Maximum=15
	Ashift *int32 `json:"ashift,omitempty"`
}

// NodeServer is a ZeroFS server on the node.
type NodeServer struct {
	// name of the store that it serves.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	Name string `json:"name,omitempty"`
	// url of the store's prefix for this node, as s3://bucket/prefix/profile/node.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	URL string `json:"url,omitempty"`
	// directory on the node with its sockets nbd.sock and 9p.sock, the record of its
	// lives, incarnation.json, and how it does, server.json.
	// +required
	// +kubebuilder:validation:MaxLength=98
	Directory string `json:"directory,omitempty"`
}

// NodePool is a pool on one node.
type NodePool struct {
	// name of the pool.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`
	// create makes the pool where it is absent; without it, it must exist.
	// +optional
	Create *ZFSPoolCreate `json:"create,omitempty"`
	// guid of the pool that this node had under this profile, where the status of a
	// former object had it: the agent imports only that one, and makes none.
	// +optional
	GUID PoolGUID `json:"guid,omitempty"`
	// abandonedGUIDs of the profile: pools that are lost for good.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	AbandonedGUIDs []PoolGUID `json:"abandonedGUIDs,omitempty"`
	// properties of the pool, as zpool set takes them.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Properties []ZFSProperty `json:"properties,omitempty"`
	// headroomPercent of the pool that should stay free.
	// +optional
	HeadroomPercent *int32 `json:"headroomPercent,omitempty"`
}

// NodeDataset is a parent dataset on one node.
type NodeDataset struct {
	// name with the pool's, such as tank/pgdata.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Name string `json:"name,omitempty"`
	// properties of the dataset, as zfs set takes them.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Properties []ZFSProperty `json:"properties,omitempty"`
}

// ZFSProperty is a property and its value in ZFS' own words.
type ZFSProperty struct {
	// name of the property.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name,omitempty"`
	// value of the property.
	// +required
	// +kubebuilder:validation:MaxLength=255
	Value string `json:"value,omitempty"`
}

// PgNodeStorageStatus is what the agent read back from the node, and whether the
// node is Ready, which the manager adds. Figures that move by themselves (used, free, the ARC) are renewed when
// they moved by 1% of their whole, so that a node at rest writes nothing; the
// agent's metrics have them to the byte.
type PgNodeStorageStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions: Ready, Reconciling, Stalled, PoolReady, PropertiesApplied,
	// CapacityHealthy, DevicesHealthy, DevicesAttached and, only while something is not
	// listed, StatusComplete of the agent; NodeReachable
	// of the manager, which says whether the others can still be believed.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// zfsVersion of the node's tools and kernel module.
	// +optional
	ZFSVersion *ZFSVersion `json:"zfsVersion,omitempty"`
	// pool as it is; absent when there is none.
	// +optional
	Pool *ObservedPool `json:"pool,omitempty"`
	// datasets as they are.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Datasets []ObservedDataset `json:"datasets,omitempty"`
	// volumes below the datasets: what the CSI driver made. At most 1024 are listed,
	// first those that were listed before; volumeCount counts all, and the condition
	// StatusComplete is False where some are missing.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=1024
	Volumes []ObservedVolume `json:"volumes,omitempty"`
	// volumeCount is how many volumes there are.
	// +optional
	VolumeCount *int32 `json:"volumeCount,omitempty"`
	// arc is the node's ZFS cache.
	// +optional
	ARC *ObservedARC `json:"arc,omitempty"`
	// devices of the node. At most 256 are listed; the condition StatusComplete is False
	// where some are missing.
	// +optional
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MaxItems=256
	Devices []ObservedDevice `json:"devices,omitempty"`
	// networkDevices as they are attached.
	// +optional
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MaxItems=32
	NetworkDevices []ObservedNetworkDevice `json:"networkDevices,omitempty"`
	// servers of the network devices, as each says itself.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=4
	Servers []ObservedServer `json:"servers,omitempty"`
	// estimatedMonthlyStorage is what a month is billed for if the pool stays as it
	// is: what it has allocated, once for each store, to two digits. ZeroFS
	// compresses it, and keeps what was replaced for some minutes.
	// +optional
	EstimatedMonthlyStorage *resource.Quantity `json:"estimatedMonthlyStorage,omitempty"`
	// flushLatency is the time that a flush of the network devices took lately, which
	// is about what a commit waits; renewed when it moved by a quarter.
	// +optional
	// +kubebuilder:validation:XValidation:rule="size(self) <= 32 && self.matches('^([0-9]+([.][0-9]+)?(h|m|s|ms|us|µs|ns))+$')",message="flushLatency must be a duration, as 12.5ms"
	FlushLatency *metav1.Duration `json:"flushLatency,omitempty"`
}

// ObservedNetworkDevice is a network block device as it is attached.
type ObservedNetworkDevice struct {
	// path of the device, as /dev/nbd0.
	// +required
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path,omitempty"`
	// server that it is attached to.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Server string `json:"server,omitempty"`
	// export of the server.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Export string `json:"export,omitempty"`
	// url of the prefix that holds its contents.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	URL string `json:"url,omitempty"`
	// state: Attached; Reconnecting to the successor of a server that was stopped in
	// order; Detached; Lost where its server was lost; or Unknown while nothing can be
	// read of its server.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	State string `json:"state,omitempty"`
	// size of the device.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// incarnation of the server that it was attached to.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Incarnation string `json:"incarnation,omitempty"`
}

// ObservedServer is a server of network devices. Its counts are since its container
// was started, and renewed when they moved by much, so that a server at rest writes
// nothing; its metrics have them exactly.
type ObservedServer struct {
	// name of the store that it serves.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name,omitempty"`
	// url of the store's prefix for this node.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	URL string `json:"url,omitempty"`
	// phase: Starting, Serving, Holding while ZeroFS or its store is away and requests
	// wait, Fenced where another writer opened the prefix, Stopping, or Ended.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Phase string `json:"phase,omitempty"`
	// since when it is in this phase.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// restarts of ZeroFS that the devices outlived.
	// +optional
	Restarts int64 `json:"restarts,omitempty"`
	// message of a phase other than Serving: what ZeroFS said last.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`
	// storeErrors are requests that the store answered with 429 or 5xx, or not at all;
	// renewed when they doubled.
	// +optional
	StoreErrors int64 `json:"storeErrors,omitempty"`
	// sentToStore in bytes, to two digits; renewed when it moved by a tenth.
	// +optional
	SentToStore *resource.Quantity `json:"sentToStore,omitempty"`
	// cacheHitPercent of the reads of the devices: those without a GET of the store, by
	// the counts of both; absent while nothing was read. Renewed when it moved by two.
	// +optional
	CacheHitPercent *int32 `json:"cacheHitPercent,omitempty"`
}

// ZFSVersion of a node.
type ZFSVersion struct {
	// userland version, of zfs and zpool.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Userland string `json:"userland,omitempty"`
	// kernel version, of the module.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Kernel string `json:"kernel,omitempty"`
}

// ObservedProperty is a property as ZFS reports it.
type ObservedProperty struct {
	// name of the property.
	// +required
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
	// value in ZFS' exact form (sizes in bytes).
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Value string `json:"value,omitempty"`
	// source of the value: local, default, received, temporary, inherited from
	// NAME, or - for what cannot be set.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Source string `json:"source,omitempty"`
}

// ObservedPool is a pool as it is.
type ObservedPool struct {
	// name of the pool.
	// +required
	// +kubebuilder:validation:MaxLength=255
	Name string `json:"name,omitempty"`
	// guid of the pool, which tells two pools of one name apart.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	GUID string `json:"guid,omitempty"`
	// health: ONLINE, DEGRADED, FAULTED, OFFLINE, REMOVED, UNAVAIL or SUSPENDED.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Health string `json:"health,omitempty"`
	// message is ZFS' own explanation of a pool that is not healthy, with its
	// advice.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message,omitempty"`
	// size of the pool.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// allocated space.
	// +optional
	Allocated *resource.Quantity `json:"allocated,omitempty"`
	// free space.
	// +optional
	Free *resource.Quantity `json:"free,omitempty"`
	// usedPercent of the pool.
	// +optional
	UsedPercent *int32 `json:"usedPercent,omitempty"`
	// fragmentationPercent of the free space; absent where ZFS does not say.
	// +optional
	FragmentationPercent *int32 `json:"fragmentationPercent,omitempty"`
	// fullAt is when the pool will be full if it goes on filling as it did; absent
	// while it does not fill or was not watched for long enough.
	// +optional
	FullAt *metav1.Time `json:"fullAt,omitempty"`
	// properties of the pool that the profile declares.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Properties []ObservedProperty `json:"properties,omitempty"`
	// vdevs of the pool, parents before children. At most 1024 are listed; the condition
	// StatusComplete is False where some are missing.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1024
	Vdevs []ObservedVdev `json:"vdevs,omitempty"`
	// scrub is the last one, or the one that runs.
	// +optional
	Scrub *ObservedScrub `json:"scrub,omitempty"`
}

// ObservedVdev is a group of devices or a device of a pool.
type ObservedVdev struct {
	// name as zpool status prints it.
	// +required
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name,omitempty"`
	// depth in the tree: 0 for a top-level vdev, 1 for its devices.
	// +optional
	Depth int32 `json:"depth,omitempty"`
	// class: data, logs, cache, special, dedup or spares.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Class string `json:"class,omitempty"`
	// state: ONLINE, DEGRADED, FAULTED, OFFLINE, REMOVED, UNAVAIL, AVAIL or INUSE.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	State string `json:"state,omitempty"`
	// readErrors since they were cleared.
	// +optional
	ReadErrors int64 `json:"readErrors,omitempty"`
	// writeErrors since they were cleared.
	// +optional
	WriteErrors int64 `json:"writeErrors,omitempty"`
	// checksumErrors since they were cleared.
	// +optional
	ChecksumErrors int64 `json:"checksumErrors,omitempty"`
}

// ObservedScrub is a scrub or resilver.
type ObservedScrub struct {
	// state: None, Running, Finished or Cancelled.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	State string `json:"state,omitempty"`
	// text is ZFS' own line about it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Text string `json:"text,omitempty"`
}

// ObservedDataset is a parent dataset as it is.
type ObservedDataset struct {
	// name of the dataset.
	// +required
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name,omitempty"`
	// used by the dataset and all beneath it.
	// +optional
	Used *resource.Quantity `json:"used,omitempty"`
	// available to it.
	// +optional
	Available *resource.Quantity `json:"available,omitempty"`
	// usedBySnapshots of the dataset and of the volumes beneath it.
	// +optional
	UsedBySnapshots *resource.Quantity `json:"usedBySnapshots,omitempty"`
	// properties that the profile declares.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Properties []ObservedProperty `json:"properties,omitempty"`
}

// ObservedVolume is a volume that the CSI driver made beneath a parent.
type ObservedVolume struct {
	// name with its parent's, such as tank/pgdata/pvc-1.
	// +required
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name,omitempty"`
	// type: Filesystem (a dataset) or Volume (a zvol).
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Type string `json:"type,omitempty"`
	// used by the volume and its snapshots.
	// +optional
	Used *resource.Quantity `json:"used,omitempty"`
	// usedBySnapshots of the volume.
	// +optional
	UsedBySnapshots *resource.Quantity `json:"usedBySnapshots,omitempty"`
	// recordsize in bytes of a dataset's new files.
	// +optional
	Recordsize int64 `json:"recordsize,omitempty"`
	// volblocksize in bytes of a zvol.
	// +optional
	Volblocksize int64 `json:"volblocksize,omitempty"`
	// provisioning of a zvol: Thick, where its refreservation holds all of its size back
	// for it, or Thin.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Provisioning string `json:"provisioning,omitempty"`
	// encrypted says whether its blocks are encrypted.
	// +optional
	Encrypted *bool `json:"encrypted,omitempty"`
	// differs lists the properties that are not what the parent carries.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Differs []ObservedProperty `json:"differs,omitempty"`
}

// ObservedARC is the node's ZFS cache.
type ObservedARC struct {
	// size now.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// min is the size that it shrinks to under pressure.
	// +optional
	Min *resource.Quantity `json:"min,omitempty"`
	// max is its limit.
	// +optional
	Max *resource.Quantity `json:"max,omitempty"`
	// hitPercent of the reads since the module was loaded; renewed when it moved by
	// two.
	// +optional
	HitPercent *int32 `json:"hitPercent,omitempty"`
	// l2HitPercent of the reads that missed it and asked the second level cache;
	// absent while none did.
	// +optional
	L2HitPercent *int32 `json:"l2HitPercent,omitempty"`
}

// ObservedDevice is a block device of the node.
type ObservedDevice struct {
	// path that stays the same over reboots, where the device has one.
	// +required
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path,omitempty"`
	// size of the device.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// model as the device reports it.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Model string `json:"model,omitempty"`
	// transport: nvme, sata, sas, virtio, usb.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Transport string `json:"transport,omitempty"`
	// rotational: Yes for spinning disks, No for others.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Rotational string `json:"rotational,omitempty"`
	// contents found on it, in words; empty on a device that is blank.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Contents string `json:"contents,omitempty"`
}

// PgNodeStorage is the wire between the manager and the agent of a node: the
// storage that a profile wants there, and what the agent read back. It is
// written by the manager; people read it.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=pgns,categories=pgstorage
// +kubebuilder:selectablefield:JSONPath=`.spec.nodeName`
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.spec.nodeName`
// +kubebuilder:printcolumn:name="Profile",type=string,JSONPath=`.spec.profile`
// +kubebuilder:printcolumn:name="Pool",type=string,JSONPath=`.spec.pool.name`
// +kubebuilder:printcolumn:name="Health",type=string,JSONPath=`.status.pool.health`
// +kubebuilder:printcolumn:name="Used",type=string,JSONPath=`.status.pool.usedPercent`
// +kubebuilder:printcolumn:name="Stored",type=string,priority=1,JSONPath=`.status.estimatedMonthlyStorage`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reachable",type=string,JSONPath=`.status.conditions[?(@.type=="NodeReachable")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type PgNodeStorage struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what must be there.
	// +required
	Spec PgNodeStorageSpec `json:"spec,omitzero"`
	// status is what the agent read back.
	// +optional
	Status PgNodeStorageStatus `json:"status,omitzero"`
}

// PgNodeStorageList is a list of PgNodeStorages.
// +kubebuilder:object:root=true
type PgNodeStorageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []PgNodeStorage `json:"items"`
}
