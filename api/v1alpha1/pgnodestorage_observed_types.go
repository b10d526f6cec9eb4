package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ZFSVersion is the version of ZFS on a node.
type ZFSVersion struct {
	// userland is the version of zfs and zpool.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Userland string `json:"userland,omitempty"`
	// kernel is the version of the kernel module.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Kernel string `json:"kernel,omitempty"`
}

// ObservedProperty is a property as ZFS reports it.
type ObservedProperty struct {
	// name is the name of the property.
	// +required
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`
	// value is in ZFS' exact form (sizes in bytes).
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Value string `json:"value,omitempty"`
	// source is where the value comes from: local, default, received, temporary,
	// inherited from NAME, or - for a property that cannot be set.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Source string `json:"source,omitempty"`
}

// ObservedPool is the observed state of a pool.
type ObservedPool struct {
	// name is the name of the pool.
	// +required
	// +kubebuilder:validation:MaxLength=255
	Name string `json:"name,omitempty"`
	// guid identifies the pool among pools of the same name.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	GUID string `json:"guid,omitempty"`
	// health is ONLINE, DEGRADED, FAULTED, OFFLINE, REMOVED, UNAVAIL or SUSPENDED.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Health string `json:"health,omitempty"`
	// message is the explanation and advice of ZFS for a pool that is not healthy.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message,omitempty"`
	// size is the size of the pool.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// allocated is the space in use.
	// +optional
	Allocated *resource.Quantity `json:"allocated,omitempty"`
	// free is the free space.
	// +optional
	Free *resource.Quantity `json:"free,omitempty"`
	// usedPercent is the share of the pool that is in use.
	// +optional
	UsedPercent *int32 `json:"usedPercent,omitempty"`
	// fragmentationPercent is the fragmentation of the free space; absent where ZFS
	// does not report it.
	// +optional
	FragmentationPercent *int32 `json:"fragmentationPercent,omitempty"`
	// fullAt is when the pool will be full at its current rate; absent while it does
	// not fill or was not observed for long enough.
	// +optional
	FullAt *metav1.Time `json:"fullAt,omitempty"`
	// properties lists the pool properties that the profile declares.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Properties []ObservedProperty `json:"properties,omitempty"`
	// vdevs lists the vdevs of the pool, parents before children. At most 1024 are
	// listed; the condition StatusComplete is False when some are missing.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1024
	Vdevs []ObservedVdev `json:"vdevs,omitempty"`
	// scrub is the last scrub, or the one in progress.
	// +optional
	Scrub *ObservedScrub `json:"scrub,omitempty"`
}

// ObservedVdev is a group of devices or a device of a pool.
type ObservedVdev struct {
	// name is as zpool status prints it.
	// +required
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name,omitempty"`
	// depth is the level in the tree: 0 for a top-level vdev, 1 for its devices.
	// +optional
	Depth int32 `json:"depth,omitempty"`
	// class is data, logs, cache, special, dedup or spares.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Class string `json:"class,omitempty"`
	// state is ONLINE, DEGRADED, FAULTED, OFFLINE, REMOVED, UNAVAIL, AVAIL or INUSE.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	State string `json:"state,omitempty"`
	// readErrors counts read errors since they were cleared.
	// +optional
	ReadErrors int64 `json:"readErrors,omitempty"`
	// writeErrors counts write errors since they were cleared.
	// +optional
	WriteErrors int64 `json:"writeErrors,omitempty"`
	// checksumErrors counts checksum errors since they were cleared.
	// +optional
	ChecksumErrors int64 `json:"checksumErrors,omitempty"`
}

// ObservedScrub is a scrub or resilver.
type ObservedScrub struct {
	// state is None, Running, Finished or Cancelled.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	State string `json:"state,omitempty"`
	// text is the line of zpool status about it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Text string `json:"text,omitempty"`
}

// ObservedDataset is the observed state of a parent dataset.
type ObservedDataset struct {
	// name is the name of the dataset.
	// +required
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name,omitempty"`
	// used is the space of the dataset and everything below it.
	// +optional
	Used *resource.Quantity `json:"used,omitempty"`
	// available is the space that the dataset can still use.
	// +optional
	Available *resource.Quantity `json:"available,omitempty"`
	// usedBySnapshots is the space of the snapshots of the dataset and of the volumes
	// below it.
	// +optional
	UsedBySnapshots *resource.Quantity `json:"usedBySnapshots,omitempty"`
	// properties lists the dataset properties that the profile declares.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Properties []ObservedProperty `json:"properties,omitempty"`
}

// ObservedVolume is a volume that the CSI driver created below a parent dataset.
type ObservedVolume struct {
	// name includes its parent's name, as tank/pgdata/pvc-1.
	// +required
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name,omitempty"`
	// type is Filesystem (a dataset) or Volume (a zvol).
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Type string `json:"type,omitempty"`
	// used is the space of the volume and its snapshots.
	// +optional
	Used *resource.Quantity `json:"used,omitempty"`
	// usedBySnapshots is the space of the volume's snapshots.
	// +optional
	UsedBySnapshots *resource.Quantity `json:"usedBySnapshots,omitempty"`
	// recordsize is the record size of a dataset's new files, in bytes.
	// +optional
	Recordsize int64 `json:"recordsize,omitempty"`
	// volblocksize is the block size of a zvol, in bytes.
	// +optional
	Volblocksize int64 `json:"volblocksize,omitempty"`
	// provisioning of a zvol is Thick when its refreservation reserves its whole size,
	// otherwise Thin.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Provisioning string `json:"provisioning,omitempty"`
	// encrypted is true when the blocks of the volume are encrypted.
	// +optional
	Encrypted *bool `json:"encrypted,omitempty"`
	// differs lists the properties that differ from those of the parent.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Differs []ObservedProperty `json:"differs,omitempty"`
}

// ObservedARC is the node's ZFS cache.
type ObservedARC struct {
	// size is the current size.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// min is the size that it shrinks to under memory pressure.
	// +optional
	Min *resource.Quantity `json:"min,omitempty"`
	// max is its limit.
	// +optional
	Max *resource.Quantity `json:"max,omitempty"`
	// hitPercent is the share of reads since the module was loaded that it answered. It
	// is updated when it changes by two.
	// +optional
	HitPercent *int32 `json:"hitPercent,omitempty"`
	// l2HitPercent is the share of the remaining reads that the second level cache
	// answered; absent while it got none.
	// +optional
	L2HitPercent *int32 `json:"l2HitPercent,omitempty"`
}

// ObservedDevice is a block device of the node.
type ObservedDevice struct {
	// path is stable across reboots, where the device has such a path.
	// +required
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path,omitempty"`
	// size is the size of the device.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// model is what the device reports.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Model string `json:"model,omitempty"`
	// transport is nvme, sata, sas, virtio or usb.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Transport string `json:"transport,omitempty"`
	// rotational is Yes for spinning disks, No for others.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Rotational string `json:"rotational,omitempty"`
	// contents describes what was found on the device; empty for a blank one.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Contents string `json:"contents,omitempty"`
}
