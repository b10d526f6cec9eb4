package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// ZFSLocalPVProfile is ZFS on the nodes themselves, provisioned by OpenEBS zfs-localpv.
// The node agent adopts or creates the pool and a parent dataset for each kind of
// volume. Volumes inherit their properties from the parent, because the driver itself
// sets only recordsize, compression and deduplication (zfs-localpv PR 723).
// +kubebuilder:validation:XValidation:rule="has(self.block) == has(oldSelf.block)",message="spec.zfsLocalPV.block cannot be added or removed later because its StorageClass and dataset cannot; create another PgStorageProfile"
type ZFSLocalPVProfile struct {
	// pool sets the pool on every selected node.
	// +required
	Pool ZFSPool `json:"pool,omitzero"`

	// data sets the properties of <pool>/pgdata, from which data volumes inherit. A
	// change reaches running volumes at once, except recordsize, which applies to new
	// files.
	// +optional
	// +kubebuilder:default={}
	Data ZFSDataDataset `json:"data,omitzero"`

	// wal sets the properties of <pool>/pgwal, from which the WAL volumes of clusters
	// with storage.walSize inherit.
	// +optional
	// +kubebuilder:default={}
	WAL ZFSWALDataset `json:"wal,omitzero"`

	// block adds the parent dataset <pool>/pgblock and a StorageClass of zvols: block
	// devices for consumers with a filesystem of their own. Databases of this profile
	// use data and wal.
	// +optional
	Block *ZFSBlock `json:"block,omitempty"`

	// arcMax limits the ARC, the ZFS cache in the node's memory, on each selected node
	// (zfs_arc_max). Set it: the kernel does not count the ARC as available memory
	// (OpenZFS issue 10255), so pods and ARC compete. Valid: at least 64Mi, the minimum
	// of OpenZFS. Default: the node's own setting, usually half of the memory.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('64Mi')) >= 0",message="spec.zfsLocalPV.arcMax must be a quantity of at least 64Mi, the smallest ARC that OpenZFS accepts, as 8Gi; remove it to leave the node's setting"
	ARCMax *resource.Quantity `json:"arcMax,omitempty"`

	// medium selects the class of the pool's disks in pgtune's terms, from which
	// random_page_cost and effective_io_concurrency follow. Default: SSD.
	// +optional
	// +kubebuilder:default=SSD
	Medium StorageMedium `json:"medium,omitempty"`

	// driftPolicy selects what the agent does with a property that differs from the
	// spec. Repair sets it again and emits an event. Report leaves it and reports it in
	// the condition PropertiesApplied. Default: Repair.
	// +optional
	// +kubebuilder:default=Repair
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`
}

// DriftPolicy selects what happens to a property that was changed by hand.
// +kubebuilder:validation:Enum=Repair;Report
type DriftPolicy string

// The drift policies.
const (
	DriftRepair DriftPolicy = "Repair"
	DriftReport DriftPolicy = "Report"
)

// ZFSPool is a pool that exists already, or that the agent creates on blank devices.
// The agent never destroys it.
type ZFSPool struct {
	// name sets the name of the pool, the same on every selected node. Valid: 1 to 63
	// characters. Immutable: volumes do not move between pools; create another profile
	// and replicate into a cluster on it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z][a-zA-Z0-9_.-]*$')",message="spec.zfsLocalPV.pool.name must begin with a letter and hold only letters, digits, '_', '-' and '.' (zpoolconcepts)"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^(mirror|raidz|draid|spare)') && self != 'log'",message="spec.zfsLocalPV.pool.name is log or begins with mirror, raidz, draid or spare, which ZFS reserves (zpool-create); choose another"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.zfsLocalPV.pool.name is immutable because volumes do not move between pools; create another PgStorageProfile and replicate into a cluster on it"
	Name string `json:"name,omitempty"`

	// create sets the layout of the pool on nodes that do not have it, on blank
	// devices. Default: the pool must exist, and the agent adopts it as it is.
	// +optional
	Create *ZFSPoolCreate `json:"create,omitempty"`

	// abandonedGUIDs lists pools that are lost for good, by the GUID in the message of
	// PoolLost or PoolReplaced. A node creates its pool once; only after its pool is
	// listed here does it create or adopt another one. Valid: up to 256. Default: none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	AbandonedGUIDs []PoolGUID `json:"abandonedGUIDs,omitempty"`

	// autotrim returns freed space to the devices as it is freed: on for SSDs
	// that handle it well. Default: off, as in OpenZFS.
	// +optional
	// +kubebuilder:default="off"
	// +kubebuilder:validation:Enum=on;off
	Autotrim string `json:"autotrim,omitempty"`

	// failmode selects what happens when more devices fail than redundancy covers
	// (zpoolprops). wait blocks I/O until they return. continue returns EIO to new
	// writes. panic crashes the node, the only automatic self-fence. Default: wait.
	// +optional
	// +kubebuilder:default=wait
	// +kubebuilder:validation:Enum=wait;continue;panic
	Failmode string `json:"failmode,omitempty"`

	// compatibility limits the features of the pool, so that older ZFS can import it
	// (zpool-features). Valid: off (all features), legacy, or names of files in
	// /usr/share/zfs/compatibility.d separated by commas. Default: the pool's own
	// setting, off for a new one.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9][a-z0-9._-]*(,[a-z0-9][a-z0-9._-]*)*$')",message="spec.zfsLocalPV.pool.compatibility must be off, legacy, or names of files in /usr/share/zfs/compatibility.d separated by commas"
	Compatibility string `json:"compatibility,omitempty"`

	// headroomPercent sets the share of the pool to keep free: with less, the condition
	// CapacityHealthy is False. A nearly full pool fragments and slows down (OpenZFS,
	// Workload Tuning). Valid: 5 to 50. Default: 20.
	// +optional
	// +kubebuilder:default=20
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=50
	HeadroomPercent *int32 `json:"headroomPercent,omitempty"`
}

// PoolGUID is the GUID of a pool as zpool get guid prints it.
// +kubebuilder:validation:MaxLength=20
// +kubebuilder:validation:Pattern=`^[1-9][0-9]*$`
type PoolGUID string

// ZFSPoolCreate sets the layout of a new pool. It can be corrected until the pool
// exists; afterwards the agent only compares it with the pool (condition
// DevicesHealthy, reason LayoutDiffers).
type ZFSPoolCreate struct {
	// vdevs lists the striped vdevs of the data. Valid: 1 to 12.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=12
	Vdevs []ZFSVdev `json:"vdevs,omitempty"`

	// logs lists the vdevs of the intent log (SLOG): stripes or mirrors of a few GB.
	// Losing one loses commits only together with a crash.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:XValidation:rule="self.all(v, v.type in ['stripe', 'mirror'])",message="pool.create.logs: a log is a stripe or a mirror (zpoolconcepts)"
	Logs []ZFSVdev `json:"logs,omitempty"`

	// caches lists the vdevs of the second level cache (L2ARC): single devices, which
	// the pool survives.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:XValidation:rule="self.all(v, v.type == 'stripe')",message="pool.create.caches: cache devices cannot be mirrored (zpoolconcepts); use type stripe"
	Caches []ZFSVdev `json:"caches,omitempty"`

	// special lists the vdevs of metadata and blocks up to special_small_blocks. Losing
	// it loses the pool: use a mirror.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:XValidation:rule="self.all(v, v.type in ['stripe', 'mirror'])",message="pool.create.special: a special vdev is a mirror, or a stripe without redundancy (zpoolconcepts)"
	Special []ZFSVdev `json:"special,omitempty"`

	// ashift sets the sector size as a power of two; it is fixed for the life of each
	// vdev. Valid: 9 (512 bytes) to 16 (64 KiB). Default: 12 (4 KiB), which suits disks
	// that report 512 and write 4096.
	// +optional
	// +kubebuilder:default=12
	// +kubebuilder:validation:Minimum=9
	// +kubebuilder:validation:Maximum=16
	Ashift *int32 `json:"ashift,omitempty"`
}

// ZFSVdevType is the redundancy of a vdev.
// +kubebuilder:validation:Enum=stripe;mirror;raidz1;raidz2;raidz3
type ZFSVdevType string

// The vdev types. A stripe uses each device alone, without redundancy.
const (
	VdevStripe ZFSVdevType = "stripe"
	VdevMirror ZFSVdevType = "mirror"
	VdevRaidz1 ZFSVdevType = "raidz1"
	VdevRaidz2 ZFSVdevType = "raidz2"
	VdevRaidz3 ZFSVdevType = "raidz3"
)

// ZFSVdev is a group of devices, named or selected.
// +kubebuilder:validation:XValidation:rule="has(self.devices) != has(self.selector)",message="a vdev needs either devices (paths) or a selector (of the node's inventory), and not both"
// +kubebuilder:validation:XValidation:rule="self.type == 'stripe' || has(self.devices) == has(self.selector) || (has(self.devices) ? self.devices.size() : self.selector.count) >= (self.type == 'raidz3' ? 4 : self.type == 'raidz2' ? 3 : 2)",message="too few devices for this vdev type: a mirror and raidz1 need at least 2, raidz2 3, raidz3 4"
type ZFSVdev struct {
	// type selects the redundancy of the vdev. Default: stripe.
	// +optional
	// +kubebuilder:default=stripe
	Type ZFSVdevType `json:"type,omitempty"`

	// devices lists devices by stable path. The same paths must exist on every selected
	// node; where they differ, use selector, or a profile for each node.
	// +optional
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Devices []ZFSDevice `json:"devices,omitempty"`

	// selector selects blank devices from each node's inventory (status of its
	// PgNodeStorage), smallest path first.
	// +optional
	Selector *ZFSDeviceSelector `json:"selector,omitempty"`
}

// ZFSDevice is one named device.
// +kubebuilder:validation:XValidation:rule="!has(self.wipe) || !self.wipe || has(self.serial) || self.path.startsWith('/dev/disk/by-id/') && !self.path.startsWith('/dev/disk/by-id/dm-name-') && !self.path.startsWith('/dev/disk/by-id/md-name-') && !self.path.startsWith('/dev/disk/by-id/lvm-pv-uuid-')",message="wipe: true must name one disk: this path names a slot, or the contents of a disk, and can be another disk after a reboot; add serial (lsblk -o NAME,SERIAL,WWN on the node), or use the path below /dev/disk/by-id"
type ZFSDevice struct {
	// path selects a whole disk or partition by a path that is stable across reboots,
	// below /dev/disk/by-id, /dev/disk/by-path, /dev/disk/by-partuuid or
	// /dev/disk/by-partlabel. Valid: up to 255 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^/dev/disk/by-(id|path|partuuid|partlabel)/[A-Za-z0-9_:+@=#-][A-Za-z0-9_.:+@=#-]*$')",message="a device path must be below /dev/disk/by-id, by-path, by-partuuid or by-partlabel: names such as /dev/sda can be another disk after a reboot; see ls -l /dev/disk/by-id"
	Path string `json:"path,omitempty"`

	// serial binds this entry to one disk by its serial number or WWN, as lsblk -o
	// SERIAL,WWN prints it. A partition has that of its disk. A device with another one
	// is rejected. Required with wipe, except for a path below /dev/disk/by-id that
	// names one disk. Valid: 1 to 128 characters. Default: any disk at the path.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Serial string `json:"serial,omitempty"`

	// wipe allows the contents of this device to be destroyed once, when the pool is
	// created. It has no further effect for this path and serial. Without it, a device
	// with any contents is rejected. Default: false.
	// +optional
	Wipe *bool `json:"wipe,omitempty"`
}

// ZFSDeviceSelector selects blank devices of a node.
type ZFSDeviceSelector struct {
	// count sets how many devices to take. With fewer matches no pool is created, and
	// the condition reports how many there are. Valid: 1 to 64.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Count int32 `json:"count,omitempty"`
	// minSize sets the least size of a device, as 900G or 1Ti. Where it is above maxSize,
	// the agent creates no pool, and the PgNodeStorage says so.
	// +optional
	MinSize *resource.Quantity `json:"minSize,omitempty"`
	// maxSize sets the greatest size of a device, as 2Ti.
	// +optional
	MaxSize *resource.Quantity `json:"maxSize,omitempty"`
	// model selects devices by the model they report, with * and ? as wildcards.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Model string `json:"model,omitempty"`
	// transport selects devices by transport. Valid: nvme, sata, sas, virtio, usb,
	// iscsi, fc.
	// +optional
	// +kubebuilder:validation:Enum=nvme;sata;sas;virtio;usb;iscsi;fc
	Transport string `json:"transport,omitempty"`
}
