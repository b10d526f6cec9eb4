package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// ZFSDatasetProperties are the properties of every parent dataset. The agent applies
// each, reads it back from ZFS, and reports it with its source in the node's
// PgNodeStorage.
// +kubebuilder:validation:XValidation:rule="!has(self.dedup) || self.dedup == 'off' || (has(self.acceptDedup) && self.acceptDedup)",message="dedup keeps a table of every block in memory and slows down every write; use compression, or accept that by acceptDedup: true",fieldPath=".dedup"
// +kubebuilder:validation:XValidation:rule="!has(self.atime) || self.atime == 'off' || (has(self.relatime) && self.relatime == 'on')",message="atime: on needs relatime: on, because mounts on Linux enable relatime anyway; set relatime: on, or atime: off",fieldPath=".relatime"
type ZFSDatasetProperties struct {
	// compression sets the compression of new blocks: on, off, lz4, lzjb, zle, gzip,
	// gzip-1 to gzip-9, zstd, zstd-1 to zstd-19, zstd-fast. Default: lz4, which costs
	// almost nothing.
	// +optional
	// +kubebuilder:default=lz4
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self.matches('^(on|off|lz4|lzjb|zle|gzip(-[1-9])?|zstd(-([1-9]|1[0-9]))?|zstd-fast(-([1-9]|10|[2-9]0|100|500|1000))?)$')",message="compression must be on, off, lz4, lzjb, zle, gzip or gzip-1..9, zstd or zstd-1..19, or zstd-fast (zfsprops)"
	Compression string `json:"compression,omitempty"`

	// atime records the time of each read of a file. Postgres does not use it. Default:
	// off.
	// +optional
	// +kubebuilder:default="off"
	// +kubebuilder:validation:Enum=on;off
	Atime string `json:"atime,omitempty"`

	// relatime records the time of a read at most once a day. It must be on with atime:
	// on, because mounts on Linux enable it anyway (mount(8)), and has no effect
	// otherwise. Default: off.
	// +optional
	// +kubebuilder:default="off"
	// +kubebuilder:validation:Enum=on;off
	Relatime string `json:"relatime,omitempty"`

	// logbias selects how ZFS handles synchronous writes. latency uses the intent log
	// and its device. throughput writes blocks in place of the log, bypasses a log
	// device and fragments the pool (zfsprops). Default: latency.
	// +optional
	// +kubebuilder:default=latency
	// +kubebuilder:validation:Enum=latency;throughput
	Logbias string `json:"logbias,omitempty"`

	// primarycache selects what the ARC keeps: all, metadata or none. metadata helps
	// only where shared_buffers fits everything that is read often, and starves the
	// second level cache. Default: all.
	// +optional
	// +kubebuilder:default=all
	// +kubebuilder:validation:Enum=all;metadata;none
	Primarycache string `json:"primarycache,omitempty"`

	// xattr selects where extended attributes are stored: sa (in the inode), dir
	// (hidden directories) or off (nowhere). on means sa or dir, depending on the
	// version of OpenZFS. Default: sa.
	// +optional
	// +kubebuilder:default=sa
	// +kubebuilder:validation:Enum=on;sa;dir;off
	Xattr string `json:"xattr,omitempty"`

	// dnodesize sets the dnode size of new files: legacy (512 bytes), auto, or a size.
	// Values other than legacy need the pool feature large_dnode. Default: legacy.
	// +optional
	// +kubebuilder:default=legacy
	// +kubebuilder:validation:Enum=legacy;auto;"1k";"2k";"4k";"8k";"16k"
	Dnodesize string `json:"dnodesize,omitempty"`

	// redundantMetadata sets how many extra copies of metadata ZFS keeps: all, most,
	// some or none. With most, a bad block may cost about 100 blocks of data; use some
	// and none on redundant vdevs only. Default: all.
	// +optional
	// +kubebuilder:default=all
	// +kubebuilder:validation:Enum=all;most;some;none
	RedundantMetadata string `json:"redundantMetadata,omitempty"`

	// checksum selects the checksum of blocks: on (fletcher4), fletcher4, sha256,
	// sha512, skein, edonr, blake3. off is rejected, because ZFS would return torn and
	// rotten blocks as data. Default: on.
	// +optional
	// +kubebuilder:default="on"
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self != 'off'",message="checksum: off is rejected because ZFS would return torn and rotten blocks as data; leave it on"
	// +kubebuilder:validation:XValidation:rule="self in ['on', 'off', 'fletcher4', 'sha256', 'sha512', 'skein', 'edonr', 'blake3']",message="checksum must be on, fletcher4, sha256, sha512, skein, edonr or blake3 (zfsprops)"
	Checksum string `json:"checksum,omitempty"`

	// sync selects how ZFS handles synchronous writes: standard (as requested) or
	// always. disabled is rejected, because it acknowledges commits that are on no
	// disk. Default: standard.
	// +optional
	// +kubebuilder:default=standard
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self != 'disabled'",message="sync: disabled is rejected because it acknowledges commits that are on no disk, and the node's loss loses them; leave it standard, and use spec.durability: Async of the PgStorageCluster where the last commits may be lost"
	// +kubebuilder:validation:XValidation:rule="self in ['standard', 'always', 'disabled']",message="sync must be standard or always (zfsprops)"
	Sync string `json:"sync,omitempty"`

	// specialSmallBlocks sends blocks up to this size to the special vdevs: 0
	// (metadata only), or a power of two from 512 to 1M. At recordsize or above,
	// all data goes there. Default: 0.
	// +optional
	// +kubebuilder:default="0"
	// +kubebuilder:validation:MaxLength=8
	// +kubebuilder:validation:XValidation:rule="self.matches('^(0|512|1k|2k|4k|8k|16k|32k|64k|128k|256k|512k|1M)$')",message="specialSmallBlocks must be 0, or a power of two from 512 to 1M, written 512, 1k, ..., 512k, 1M"
	SpecialSmallBlocks string `json:"specialSmallBlocks,omitempty"`

	// dedup stores equal blocks once: off, on or verify. Anything but off needs
	// acceptDedup. Default: off.
	// +optional
	// +kubebuilder:default="off"
	// +kubebuilder:validation:Enum=off;on;verify
	Dedup string `json:"dedup,omitempty"`

	// acceptDedup accepts the cost of dedup. Default: false.
	// +optional
	AcceptDedup *bool `json:"acceptDedup,omitempty"`

	// quota limits what all volumes below this parent may use together, snapshots
	// included. Default: no limit but the pool's.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('64Mi')) >= 0",message="quota must be a quantity of at least 64Mi, as 500Gi; remove it for no limit"
	Quota *resource.Quantity `json:"quota,omitempty"`

	// reservation reserves this much of the pool for the volumes below this parent, for
	// example for WAL. Default: none.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).isGreaterThan(quantity('0'))",message="reservation must be a quantity above 0, as 20Gi; remove it for none"
	Reservation *resource.Quantity `json:"reservation,omitempty"`
}

// ZFSRecordsize is the largest block of a file: a power of two from 8k, the size
// of a page of Postgres, to 1M.
// +kubebuilder:validation:MaxLength=8
// +kubebuilder:validation:XValidation:rule="!(self in ['512', '1k', '2k', '4k', '1K', '2K', '4K', '1024', '2048', '4096'])",message="recordsize is below 8k, the page size of Postgres: a page would span records that can be in different transaction groups, so that a crash tears it; use 8k or more"
// +kubebuilder:validation:XValidation:rule="self.matches('^(512|[124][kK]|1024|2048|4096|8k|16k|32k|64k|128k|256k|512k|1M)$')",message="recordsize must be a power of two from 8k to 1M, written 8k, 16k, 32k, 64k, 128k, 256k, 512k or 1M"
type ZFSRecordsize string

// ZFSDataDataset is the parent of data volumes.
type ZFSDataDataset struct {
	ZFSDatasetProperties `json:",inline"`

	// recordsize sets the largest block of new files. 8k, the page size of Postgres,
	// writes the least for each changed page and suits OLTP. 16k to 128k compress
	// better and suit scans, and rewrite more for each page (OpenZFS, Workload Tuning).
	// Valid: 8k to 1M. Default: 8k.
	// +optional
	// +kubebuilder:default="8k"
	Recordsize ZFSRecordsize `json:"recordsize,omitempty"`

	// secondarycache selects what the second level cache keeps: all, metadata or none.
	// Default: all.
	// +optional
	// +kubebuilder:default=all
	// +kubebuilder:validation:Enum=all;metadata;none
	Secondarycache string `json:"secondarycache,omitempty"`
}

// ZFSWALDataset is the parent of WAL volumes. WAL is written once, sequentially, and
// rarely read.
type ZFSWALDataset struct {
	ZFSDatasetProperties `json:",inline"`

	// recordsize sets the largest block of new files. Valid: 8k to 1M. Default: 32k,
	// the largest synchronous write that the intent log stores whole
	// (zfs_immediate_write_sz).
	// +optional
	// +kubebuilder:default="32k"
	Recordsize ZFSRecordsize `json:"recordsize,omitempty"`

	// secondarycache selects what the second level cache keeps: all, metadata or none.
	// Default: none, because WAL is rarely read.
	// +optional
	// +kubebuilder:default=none
	// +kubebuilder:validation:Enum=all;metadata;none
	Secondarycache string `json:"secondarycache,omitempty"`
}

// ZFSBlock sets the parent of zvols and how they are provisioned.
type ZFSBlock struct {
	ZFSDatasetProperties `json:",inline"`

	// secondarycache selects what the second level cache keeps: all, metadata or none.
	// Default: all.
	// +optional
	// +kubebuilder:default=all
	// +kubebuilder:validation:Enum=all;metadata;none
	Secondarycache string `json:"secondarycache,omitempty"`

	// volblocksize sets the block size of each zvol: 4k to 16k for a Ceph OSD, 8k to
	// 16k for ext4 or XFS below Postgres. Valid: a power of two from 4k to 128k.
	// Default: 16k, as in OpenZFS 2.2. Immutable, as in ZFS: for another size create
	// another profile and copy the data.
	// +optional
	// +kubebuilder:default="16k"
	// +kubebuilder:validation:Enum="4k";"8k";"16k";"32k";"64k";"128k"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.zfsLocalPV.block.volblocksize is immutable, as it is in ZFS; create another PgStorageProfile with the new size and copy the data"
	Volblocksize string `json:"volblocksize,omitempty"`

	// provisioning selects how zvols take space. Thick reserves a zvol's whole size.
	// Thin lets the pool fill up below it, which a consumer sees as I/O errors.
	// Default: Thick. Immutable.
	// +optional
	// +kubebuilder:default=Thick
	// +kubebuilder:validation:Enum=Thick;Thin
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.zfsLocalPV.block.provisioning is immutable because existing zvols keep theirs; create another PgStorageProfile"
	Provisioning string `json:"provisioning,omitempty"`
}
