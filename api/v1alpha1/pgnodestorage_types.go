package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PgNodeStorageSpec is the desired storage of one node for one profile. The manager
// renders it from the PgStorageProfile; edit that instead.
// +kubebuilder:validation:XValidation:rule="self.nodeName == oldSelf.nodeName && self.profile == oldSelf.profile && has(self.pool) == has(oldSelf.pool) && (!has(self.pool) || self.pool.name == oldSelf.pool.name)",message="spec.nodeName, spec.profile and spec.pool.name are immutable because the manager creates one PgNodeStorage for each node and profile"
// +kubebuilder:validation:XValidation:rule="has(self.pool) != has(self.memory)",message="spec has either pool or memory: the volumes of a node are in a ZFS pool, or in its memory"
type PgNodeStorageSpec struct {
	// nodeName selects the node whose agent reconciles this object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	NodeName string `json:"nodeName,omitempty"`
	// profile is the PgStorageProfile that this object was rendered from.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Profile string `json:"profile,omitempty"`
	// pool is the desired pool; absent for a profile of type Memory.
	// +optional
	Pool NodePool `json:"pool,omitzero"`
	// memory declares volumes in the node's memory; absent for a profile with a pool.
	// +optional
	Memory *NodeMemory `json:"memory,omitempty"`
	// datasets lists the desired datasets, parents before children, each with every
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
	// driftPolicy is the policy of the profile.
	// +optional
	// +kubebuilder:default=Repair
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`
	// networkDevices are attached before the pool is imported from them; absent for a
	// pool on disks of the node.
	// +optional
	NetworkDevices *NodeNetworkDevices `json:"networkDevices,omitempty"`
}

// NodePool is the desired pool of one node.
type NodePool struct {
	// name is the name of the pool.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`
	// create is the layout of the pool to create if it does not exist. Without it, the
	// pool must exist.
	// +optional
	Create *ZFSPoolCreate `json:"create,omitempty"`
	// guid identifies the pool that this node had under this profile, from the status
	// of an earlier object. The agent imports only that pool, and creates none.
	// +optional
	GUID PoolGUID `json:"guid,omitempty"`
	// abandonedGUIDs lists lost pools, from the profile.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	AbandonedGUIDs []PoolGUID `json:"abandonedGUIDs,omitempty"`
	// properties lists the pool properties, as zpool set takes them.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Properties []ZFSProperty `json:"properties,omitempty"`
	// headroomPercent is the share of the pool that should stay free.
	// +optional
	HeadroomPercent *int32 `json:"headroomPercent,omitempty"`
}

// NodeDataset is a desired parent dataset of one node.
type NodeDataset struct {
	// name includes the pool's name, as tank/pgdata.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Name string `json:"name,omitempty"`
	// properties lists the dataset properties, as zfs set takes them.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Properties []ZFSProperty `json:"properties,omitempty"`
}

// ZFSProperty is a property and its value, as ZFS spells them.
type ZFSProperty struct {
	// name is the name of the property.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name,omitempty"`
	// value is the value of the property.
	// +required
	// +kubebuilder:validation:MaxLength=255
	Value string `json:"value,omitempty"`
}

// PgNodeStorageStatus is what the agent read back from the node; the manager adds
// whether the node is Ready. Some figures change constantly: used, free, the ARC. The
// agent updates them after a change by 1% of the total, so that an idle node causes no
// writes. The agent's metrics are exact.
type PgNodeStorageStatus struct {
	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions of the agent are Ready, Reconciling, Stalled, PoolReady,
	// PropertiesApplied, CapacityHealthy, DevicesHealthy, DevicesAttached and, only
	// while the status omits something, StatusComplete. Those of volumes in memory are
	// Ready, Reconciling, Stalled, VolumesMounted and CapacityHealthy. The manager adds
	// NodeReachable, which reports whether the others are still current.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// zfsVersion is the version of the node's tools and kernel module.
	// +optional
	ZFSVersion *ZFSVersion `json:"zfsVersion,omitempty"`
	// pool is the observed pool; absent when there is none.
	// +optional
	Pool *ObservedPool `json:"pool,omitempty"`
	// datasets lists the observed parent datasets.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Datasets []ObservedDataset `json:"datasets,omitempty"`
	// volumes lists what the CSI driver created below the datasets. At most 1024 are
	// listed, previously listed ones first; volumeCount counts all, and the condition
	// StatusComplete is False when some are missing.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=1024
	Volumes []ObservedVolume `json:"volumes,omitempty"`
	// volumeCount counts all volumes.
	// +optional
	VolumeCount *int32 `json:"volumeCount,omitempty"`
	// arc is the node's ZFS cache.
	// +optional
	ARC *ObservedARC `json:"arc,omitempty"`
	// devices lists the block devices of the node. At most 256 are listed; the
	// condition StatusComplete is False when some are missing.
	// +optional
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MaxItems=256
	Devices []ObservedDevice `json:"devices,omitempty"`
	// networkDevices lists the attached network devices.
	// +optional
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MaxItems=32
	NetworkDevices []ObservedNetworkDevice `json:"networkDevices,omitempty"`
	// servers lists the servers of the network devices, as each reports itself.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=4
	Servers []ObservedServer `json:"servers,omitempty"`
	// memory lists the volumes in the node's memory.
	// +optional
	Memory *ObservedMemory `json:"memory,omitempty"`
	// estimatedMonthlyStorage is the storage billed for a month if the pool stays as it
	// is: its allocated space, once for each store, to two digits. ZeroFS compresses
	// it, and keeps replaced data for some minutes.
	// +optional
	EstimatedMonthlyStorage *resource.Quantity `json:"estimatedMonthlyStorage,omitempty"`
	// flushLatency is the recent duration of a flush of the network devices, which
	// approximates how long a commit waits. It is updated when it changes by a quarter.
	// +optional
	// +kubebuilder:validation:XValidation:rule="size(self) <= 32 && self.matches('^([0-9]+([.][0-9]+)?(h|m|s|ms|us|µs|ns))+$')",message="flushLatency must be a duration, as 12.5ms"
	FlushLatency *metav1.Duration `json:"flushLatency,omitempty"`
}

// PgNodeStorage carries the desired and observed storage of one node between the
// manager and that node's agent. Read-only for users.
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
	// metadata is the standard metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired storage of the node.
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
