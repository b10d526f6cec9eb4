package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeNetworkDevices are the block devices that ZeroFS servers of this node export.
type NodeNetworkDevices struct {
	// layout is stripe, or mirror with one device of each server in each vdev.
	// +required
	Layout ZFSVdevType `json:"layout,omitempty"`
	// servers lists the servers that export devices.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Servers []NodeServer `json:"servers,omitempty"`
	// exports lists what each server exports, one device each.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=64
	Exports []string `json:"exports,omitempty"`
	// exportSize is the size of each device; exports grow to it and never shrink.
	// +required
	ExportSize resource.Quantity `json:"exportSize,omitzero"`
	// requestTimeout is how long requests wait for a device of a mirror before the
	// agent continues without it, as 60s. Default: 60s.
	// +optional
	// +kubebuilder:validation:MaxLength=8
	RequestTimeout string `json:"requestTimeout,omitempty"`
	// onServerLost is the policy of the profile.
	// +required
	OnServerLost ServerLostPolicy `json:"onServerLost,omitempty"`
	// caches lists cache devices of the pool on disks of the node, added and removed
	// live.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	Caches []ZFSDevice `json:"caches,omitempty"`
	// logs lists log devices of the pool on disks of the node; two are mirrored.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2
	Logs []ZFSDevice `json:"logs,omitempty"`
	// ashift is the sector size of the pool as a power of two.
	// +required
	// +kubebuilder:validation:Minimum=12
	// +kubebuilder:validation:Maximum=15
	Ashift *int32 `json:"ashift,omitempty"`
}

// NodeServer is a ZeroFS server on the node.
type NodeServer struct {
	// name is the store that it serves.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	Name string `json:"name,omitempty"`
	// url is the store's prefix for this node, as s3://bucket/prefix/profile/node.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	URL string `json:"url,omitempty"`
	// directory is the server's directory on the node. It has the sockets nbd.sock and
	// 9p.sock, the record of its incarnations incarnation.json, and its state
	// server.json.
	// +required
	// +kubebuilder:validation:MaxLength=98
	Directory string `json:"directory,omitempty"`
}

// ObservedNetworkDevice is an attached network block device.
type ObservedNetworkDevice struct {
	// path is the device, as /dev/nbd0.
	// +required
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path,omitempty"`
	// server is the server that the device is attached to.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Server string `json:"server,omitempty"`
	// export is the name of the server's export.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Export string `json:"export,omitempty"`
	// url is the prefix that stores its contents.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	URL string `json:"url,omitempty"`
	// state is Attached, Reconnecting, Detached, Lost or Unknown. Reconnecting: the
	// agent waits for the successor of a server that shut down cleanly. Lost: the
	// device was lost with its server. Unknown: the agent cannot read the state of its
	// server.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	State string `json:"state,omitempty"`
	// size is the size of the device.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// incarnation is the server's incarnation that the device was attached to.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Incarnation string `json:"incarnation,omitempty"`
}

// ObservedServer is a server of network devices. Counts start with its container and
// are updated only after a considerable change, so that an idle server causes no
// writes; its metrics are exact.
type ObservedServer struct {
	// name is the store that it serves.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name,omitempty"`
	// url is the store's prefix for this node.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	URL string `json:"url,omitempty"`
	// phase is Starting, Serving, Holding (ZeroFS or its store is unavailable and
	// requests wait), Fenced (another writer opened the prefix), Stopping or Ended.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Phase string `json:"phase,omitempty"`
	// since is when this phase started.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// restarts counts the restarts of ZeroFS that the devices survived.
	// +optional
	Restarts int64 `json:"restarts,omitempty"`
	// message explains a phase other than Serving: the last message of ZeroFS.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`
	// storeErrors counts requests that the store answered with 429 or 5xx, or not at
	// all. It is updated when it doubles.
	// +optional
	StoreErrors int64 `json:"storeErrors,omitempty"`
	// sentToStore counts bytes, to two digits. It is updated when it changes by a
	// tenth.
	// +optional
	SentToStore *resource.Quantity `json:"sentToStore,omitempty"`
	// cacheHitPercent is the share of device reads that needed no GET from the store;
	// absent before the first read. It is updated when it changes by two.
	// +optional
	CacheHitPercent *int32 `json:"cacheHitPercent,omitempty"`
}
