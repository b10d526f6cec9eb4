package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// S3NBDDevices are the block devices of one store on one node.
type S3NBDDevices struct {
	// count sets the number of devices: the width of a stripe, or the number of
	// mirrors. Several devices have several queues. Valid: 1 to 8. Default: 3.
	// Immutable.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=8
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.s3NBD.devices.count is immutable because the pool has it from its creation; grow devices.size instead"
	Count *int32 `json:"count,omitempty"`

	// size sets the size of each device. It costs nothing until it is written. Valid:
	// 1Gi to 64Ti, and it can only grow.
	// +required
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('1Gi')) >= 0 && quantity(string(self)).compareTo(quantity('64Ti')) <= 0",message="spec.s3NBD.devices.size must be a quantity from 1Gi to 64Ti, as 500Gi"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || !isQuantity(string(oldSelf)) || quantity(string(self)).compareTo(quantity(string(oldSelf))) >= 0",message="spec.s3NBD.devices.size cannot shrink because ZFS cannot; create another PgStorageProfile and replicate into a cluster on it"
	Size resource.Quantity `json:"size,omitzero"`
}

// ZeroFSFamily is a family of versions of ZeroFS that share their configuration
// and the format of their data.
// +kubebuilder:validation:Enum="0.19";"2"
type ZeroFSFamily string

// ZeroFSServer sets the process that exports a prefix of a bucket as block devices.
// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self.cache.memory)) || !isQuantity(string(self.resources.memory)) || quantity(string(self.cache.memory)).add(quantity(string(self.cache.memory))).compareTo(quantity(string(self.resources.memory))) <= 0",message="spec.s3NBD.zeroFS.cache.memory is above half of resources.memory, and data that is not yet uploaded needs the rest; lower it, or raise resources.memory",fieldPath=".cache.memory"
type ZeroFSServer struct {
	// family selects the family of the image's version, which determines its
	// configuration keys. Immutable, because one family may not read the data of the
	// other.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.s3NBD.zeroFS.family is immutable because one family may not read the data of the other; create another PgStorageProfile and replicate into a cluster on it"
	Family ZeroFSFamily `json:"family,omitempty"`

	// image sets the image of ZeroFS with its tag or digest, as
	// ghcr.io/barre/zerofs:0.19.1. A change reaches a node when its server next shuts
	// down cleanly. The operator never restarts a server below a pool. Valid: up to 255
	// characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9][A-Za-z0-9._:/@-]*[:@][A-Za-z0-9._:-]+$')",message="spec.s3NBD.zeroFS.image must name a tag or a digest, as ghcr.io/barre/zerofs:0.19.1"
	Image string `json:"image,omitempty"`

	// imagePullSecrets lists Secrets in the operator's namespace with which the kubelet
	// pulls this image and the operator's. Valid: up to 8 names. Default: none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	ImagePullSecrets []string `json:"imagePullSecrets,omitempty"`

	// priorityClassName sets the priority class of the servers' pods. With a lower
	// class, the scheduler can preempt a server, and every commit on the node waits for
	// the next one. A kubelet short of memory, disk or processes can also evict it
	// without time to flush: then the server is lost (onServerLost). Valid: up to 253
	// characters. Default: system-node-critical, the highest.
	// +optional
	// +kubebuilder:default=system-node-critical
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// resources sets the compute resources of each server. Requests equal limits, so
	// that the kernel kills it last.
	// +optional
	// +kubebuilder:default={}
	Resources ZeroFSResources `json:"resources,omitzero"`

	// cache sets the cache of each server, in memory and on the node.
	// +optional
	// +kubebuilder:default={}
	Cache ZeroFSCache `json:"cache,omitzero"`

	// flushInterval sets how often ZeroFS uploads data that no client has flushed. ZFS
	// flushes at each transaction group, so it has little effect. Valid: 5s to 10m.
	// Default: 30s.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:MaxLength=8
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+[sm]$') && duration(self) >= duration('5s') && duration(self) <= duration('10m')",message="spec.s3NBD.zeroFS.flushInterval must be between 5s and 10m, written as 30s or 2m"
	FlushInterval string `json:"flushInterval,omitempty"`
}

// ZeroFSResources are the requests and limits of a server.
type ZeroFSResources struct {
	// cpu sets the CPU of each server. Valid: at least 100m. Default: 1.
	// +optional
	// +kubebuilder:default="1"
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('100m')) >= 0",message="spec.s3NBD.zeroFS.resources.cpu must be a quantity of at least 100m, as 1"
	CPU resource.Quantity `json:"cpu,omitzero"`
	// memory sets the memory of each server. It covers cache.memory, 256 MiB for the
	// relay, and up to 1.25 GiB that ZeroFS has not uploaded while the store is slow.
	// With less than cache.memory plus 1536Mi, a slow store can make the kernel kill
	// the container. That loses the server (onServerLost). Valid: at least 1Gi.
	// Default: 2Gi.
	// +optional
	// +kubebuilder:default="2Gi"
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('1Gi')) >= 0",message="spec.s3NBD.zeroFS.resources.memory must be a quantity of at least 1Gi, as 2Gi"
	Memory resource.Quantity `json:"memory,omitzero"`
}

// ZeroFSCache is the cache of a server.
type ZeroFSCache struct {
	// hostPath sets the directory on the node for the caches of servers; put it on the
	// disk that should store them. Losing it does no harm. Valid: an absolute path of
	// up to 200 characters. Default: /var/lib/pgstorage/zerofs.
	// +optional
	// +kubebuilder:default="/var/lib/pgstorage/zerofs"
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:XValidation:rule="self.matches('^(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)+$')",message="spec.s3NBD.zeroFS.cache.hostPath must be an absolute path of letters, digits, '_', '-' and '.'"
	HostPath string `json:"hostPath,omitempty"`
	// size sets the size of each server's cache on disk. Valid: at least 2Gi, the
	// minimum of ZeroFS (ZeroFS, Caching). Default: 10Gi.
	// +optional
	// +kubebuilder:default="10Gi"
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('2Gi')) >= 0",message="spec.s3NBD.zeroFS.cache.size must be a quantity of at least 2Gi, as 50Gi"
	Size resource.Quantity `json:"size,omitzero"`
	// memory sets the size of each server's cache in memory. Valid: 64Mi to half of
	// resources.memory. Default: 256Mi.
	// +optional
	// +kubebuilder:default="256Mi"
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('64Mi')) >= 0",message="spec.s3NBD.zeroFS.cache.memory must be a quantity of at least 64Mi, as 256Mi"
	Memory resource.Quantity `json:"memory,omitzero"`
}

// S3NBDCacheDevice is a local disk for the second level cache.
type S3NBDCacheDevice struct {
	// device selects a disk or partition on every selected node.
	// +required
	Device ZFSDevice `json:"device,omitzero"`
}

// S3NBDLogDevice is a local disk that acknowledges commits before they reach the
// bucket.
type S3NBDLogDevice struct {
	// devices lists the devices of the log: one, or two that are mirrored.
	// +required
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2
	Devices []ZFSDevice `json:"devices,omitempty"`
	// acceptLoss accepts that the loss of a node loses the commits of its last seconds.
	// +required
	// +kubebuilder:validation:XValidation:rule="self",message="spec.s3NBD.slog.acceptLoss must be true: with a log device, the loss of the node loses acknowledged commits of its last seconds; remove slog to avoid that"
	AcceptLoss bool `json:"acceptLoss,omitempty"`
}
