package v1alpha1

// CephPool is a replicated pool.
// +kubebuilder:validation:XValidation:rule="!has(self.size) || self.size != 1 || (has(self.acceptLoss) && self.acceptLoss && has(self.pinnedHosts))",message="spec.cephRBD.pool.size: 1 keeps one copy, and the loss of one OSD loses every volume in the pool; use 2 or 3, or accept that by acceptLoss: true and pinnedHosts, which keep each volume on its own node",fieldPath=".size"
// +kubebuilder:validation:XValidation:rule="!has(self.pinnedHosts) || !has(self.size) || self.size == 1",message="spec.cephRBD.pool.pinnedHosts is for size 1 only: copies on several hosts cannot be pinned to one; remove it",fieldPath=".pinnedHosts"
// +kubebuilder:validation:XValidation:rule="!has(self.minSize) || !has(self.size) || self.minSize <= self.size",message="spec.cephRBD.pool.minSize is above size, so that the pool would accept no write; lower it",fieldPath=".minSize"
// +kubebuilder:validation:XValidation:rule="!has(self.minSize) || self.minSize != 1 || (has(self.acceptLoss) && self.acceptLoss)",message="spec.cephRBD.pool.minSize: 1 acknowledges writes that are on one OSD only, and its loss loses acknowledged commits; use 2, or accept that by acceptLoss: true",fieldPath=".minSize"
// +kubebuilder:validation:XValidation:rule="has(self.deviceClass) == has(oldSelf.deviceClass) && has(self.pinnedHosts) == has(oldSelf.pinnedHosts)",message="spec.cephRBD.pool.deviceClass and pinnedHosts cannot be added or removed because Ceph would move all data; create another PgStorageProfile and replicate into a cluster on it"
type CephPool struct {
	// size sets how many copies of each block the pool keeps, each in a failureDomain
	// of its own. Postgres replicas multiply the copies: status.ceph.copies counts
	// them. 1 needs acceptLoss and pinnedHosts. Valid: 1 to 5. Default: 3.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5
	Size *int32 `json:"size,omitempty"`

	// minSize sets how many copies must be up before the pool accepts a write
	// (min_size). Valid: 1 to 5, and at most size. Default: 2, or size where that is 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5
	MinSize *int32 `json:"minSize,omitempty"`

	// acceptLoss accepts that with size or minSize 1 the loss of one OSD loses
	// acknowledged commits. Default: false.
	// +optional
	AcceptLoss *bool `json:"acceptLoss,omitempty"`

	// pinnedHosts lists the nodes of a pool of size 1, by their label
	// kubernetes.io/hostname. Each gets a pool of its own, so that one lost OSD takes
	// only the volumes of its node. Rook's CSI driver must know the topology:
	// CSI_ENABLE_TOPOLOGY, and kubernetes.io/hostname among CSI_TOPOLOGY_DOMAIN_LABELS
	// (Rook, Topology for External Mode). Valid: 1 to 16 names. Immutable.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.all(h, h.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$'))",message="pool.pinnedHosts must be nodes' labels kubernetes.io/hostname"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="pool.pinnedHosts is immutable because the StorageClass lists them; create another PgStorageProfile"
	PinnedHosts []string `json:"pinnedHosts,omitempty"`

	// compression sets how BlueStore compresses the pool.
	// +optional
	// +kubebuilder:default={}
	Compression CephCompression `json:"compression,omitzero"`

	// targetSizePercent sets the share of the Ceph cluster that the pool will fill,
	// from which Ceph derives the number of placement groups (target_size_ratio).
	// Valid: 1 to 100. Default: Ceph adapts to the data.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	TargetSizePercent *int32 `json:"targetSizePercent,omitempty"`

	// checksum selects the checksum of each block (csum_type): crc32c, crc32c_16,
	// crc32c_8, xxhash32 or xxhash64. none is rejected, because ZFS below cannot detect
	// damage on the way to it. Default: crc32c.
	// +optional
	// +kubebuilder:default=crc32c
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self != 'none'",message="pool.checksum: none is rejected because Ceph would return blocks that were damaged above ZFS as data, for a measured gain of 2%; leave it crc32c"
	// +kubebuilder:validation:XValidation:rule="self in ['none', 'crc32c', 'crc32c_16', 'crc32c_8', 'xxhash32', 'xxhash64']",message="pool.checksum must be crc32c, crc32c_16, crc32c_8, xxhash32 or xxhash64 (Ceph, bluestore_csum_type)"
	Checksum string `json:"checksum,omitempty"`

	// deviceClass limits the pool to OSDs of this class; every other pool, including
	// .mgr, should then name one (Rook, Block Pool). Valid: up to 32 characters.
	// Default: any. Immutable.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z][a-z0-9_-]*$')",message="pool.deviceClass must begin with a letter and hold only lower case letters, digits, '_' and '-', as ssd"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="pool.deviceClass is immutable because Ceph would move all data; create another PgStorageProfile and replicate into a cluster on it"
	DeviceClass string `json:"deviceClass,omitempty"`
}

// CephDataPool is an erasure coded pool for the data of images.
type CephDataPool struct {
	// dataChunks sets the number of data chunks of each stripe. Valid: 2 to 8. Default:
	// 2. Immutable.
	// +optional
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=8
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="dataPool.dataChunks is immutable, as it is in Ceph; create another PgStorageProfile and replicate into a cluster on it"
	DataChunks *int32 `json:"dataChunks,omitempty"`

	// codingChunks sets how many chunks may be lost. With one, the pool accepts no
	// writes while a failureDomain is unavailable, because Ceph requires dataChunks +
	// 1. Valid: 1 to 4. Default: 2. Immutable.
	// +optional
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="dataPool.codingChunks is immutable, as it is in Ceph; create another PgStorageProfile and replicate into a cluster on it"
	CodingChunks *int32 `json:"codingChunks,omitempty"`

	// compression sets how BlueStore compresses the pool.
	// +optional
	// +kubebuilder:default={}
	Compression CephCompression `json:"compression,omitzero"`
}

// CephCompression sets how BlueStore compresses a pool.
// +kubebuilder:validation:XValidation:rule="!has(self.algorithm) || (has(self.mode) && self.mode != 'none')",message="compression.algorithm has no effect with mode none; remove it, or set mode: aggressive",fieldPath=".algorithm"
type CephCompression struct {
	// mode selects what BlueStore compresses: none, passive (what the client hints at),
	// aggressive (all but what the client hints against) or force (Ceph, BlueStore).
	// Default: none, because ZFS or the disk below compresses with less work.
	// +optional
	// +kubebuilder:default=none
	// +kubebuilder:validation:Enum=none;passive;aggressive;force
	Mode string `json:"mode,omitempty"`

	// algorithm selects snappy, zlib, zstd or lz4. Default: Ceph's own, snappy.
	// +optional
	// +kubebuilder:validation:Enum=snappy;zlib;zstd;lz4
	Algorithm string `json:"algorithm,omitempty"`
}

// RBDVolumeClass sets how volumes are provisioned as images.
// +kubebuilder:validation:XValidation:rule="has(self.imageFeatures) == has(oldSelf.imageFeatures)",message="volumeClass.imageFeatures cannot be added or removed later, because the StorageClass is immutable; create another PgStorageProfile"
type RBDVolumeClass struct {
	// fsType selects the filesystem of volumes: ext4, or xfs, which is rejected where
	// OSDs and databases share nodes. Default: ext4. Immutable.
	// +optional
	// +kubebuilder:default=ext4
	// +kubebuilder:validation:Enum=ext4;xfs
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="volumeClass.fsType is immutable, as the StorageClass is; create another PgStorageProfile"
	FSType string `json:"fsType,omitempty"`

	// imageFeatures lists the features of each image: layering, exclusive-lock,
	// object-map, fast-diff, deep-flatten. Valid: 1 to 5. Default: all of them where
	// every node's kernel is 5.4 or newer when the class is created, otherwise layering
	// (Rook, storageclass.yaml). Immutable.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:items:Enum=layering;exclusive-lock;object-map;fast-diff;deep-flatten
	// +kubebuilder:validation:XValidation:rule="!('object-map' in self) || 'exclusive-lock' in self",message="volumeClass.imageFeatures: object-map needs exclusive-lock (rbd); add it"
	// +kubebuilder:validation:XValidation:rule="!('fast-diff' in self) || 'object-map' in self",message="volumeClass.imageFeatures: fast-diff needs object-map (rbd); add it"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="volumeClass.imageFeatures is immutable, as the StorageClass is; create another PgStorageProfile"
	ImageFeatures []string `json:"imageFeatures,omitempty"`

	// discard returns freed blocks to the pool, and to the zvols below it; without it a
	// volume only grows. Default: true.
	// +optional
	// +kubebuilder:default=true
	Discard *bool `json:"discard,omitempty"`
}
