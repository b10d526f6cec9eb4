package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
