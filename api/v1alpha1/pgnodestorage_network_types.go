package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
