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
