package v1alpha1

// CephPool is a replicated pool.
// +kubebuilder:validation:XValidation:rule="!has(self.size) || self.size != 1 || (has(self.acceptLoss) && self.acceptLoss && has(self.pinnedHosts))",message="spec.cephRBD.pool.size: 1 keeps one copy, so that the loss of one OSD loses every volume in the pool; use 2 or 3, or, where each instance's copy is enough, set acceptLoss: true and pinnedHosts, which keep each volume on its own node",fieldPath=".size"
// +kubebuilder:validation:XValidation:rule="!has(self.pinnedHosts) || !has(self.size) || self.size == 1",message="spec.cephRBD.pool.pinnedHosts is for size 1 only: copies on several hosts cannot be pinned to one; remove it",fieldPath=".pinnedHosts"
// +kubebuilder:validation:XValidation:rule="!has(self.minSize) || !has(self.size) || self.minSize <= self.size",message="spec.cephRBD.pool.minSize is above size, so no write would ever be answered; lower it",fieldPath=".minSize"
// +kubebuilder:validation:XValidation:rule="!has(self.minSize) || self.minSize != 1 || (has(self.acceptLoss) && self.acceptLoss)",message="spec.cephRBD.pool.minSize: 1 answers writes that are on one OSD only, and the loss of that one loses acknowledged commits; use 2, or accept that by acceptLoss: true",fieldPath=".minSize"
// +kubebuilder:validation:XValidation:rule="has(self.deviceClass) == has(oldSelf.deviceClass) && has(self.pinnedHosts) == has(oldSelf.pinnedHosts)",message="spec.cephRBD.pool.deviceClass and pinnedHosts cannot be added or removed because Ceph would move all data; create another PgStorageProfile and replicate into a cluster on it"
type CephPool struct {
	// size is how many copies of each block the pool keeps, each on a failureDomain of
	// its own. With Postgres replicas the copies multiply: status.ceph.copies counts
	// them. 1 needs acceptLoss and pinnedHosts. Bounds: 1 to 5. Default: 3.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5
	Size *int32 `json:"size,omitempty"`

	// minSize is how many copies must be up for a write to be answered (min_size).
	// Absent: 2, or size where that is 1; Ceph's own for size 2 is 1, which answers
	// writes that are on one OSD only. Bounds: 1 to 5, and at most size.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5
	MinSize *int32 `json:"minSize,omitempty"`

	// acceptLoss says that it is known that with size or minSize 1 the loss of one OSD
	// loses acknowledged commits. Default: false.
	// +optional
	AcceptLoss *bool `json:"acceptLoss,omitempty"`

	// pinnedHosts of size 1 are nodes, by their label kubernetes.io/hostname, of which
	// each has a pool of its own, so that one lost OSD takes the volumes of its node
	// and no others. Rook's CSI driver must know the topology: CSI_ENABLE_TOPOLOGY, and
	// kubernetes.io/hostname among CSI_TOPOLOGY_DOMAIN_LABELS (Rook, Topology for
	// External Mode). Bounds: 1 to 16 names. Immutable.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.all(h, h.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$'))",message="pool.pinnedHosts must be nodes' labels kubernetes.io/hostname"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="pool.pinnedHosts is immutable because the StorageClass lists them; create another PgStorageProfile"
	PinnedHosts []string `json:"pinnedHosts,omitempty"`

	// compression by BlueStore of what the pool holds.
	// +optional
	// +kubebuilder:default={}
	Compression CephCompression `json:"compression,omitzero"`

	// targetSizePercent of the Ceph cluster that the pool is expected to fill, by
	// which Ceph sets the number of placement groups (target_size_ratio). Bounds: 1 to
	// 100. Absent: it follows what is there.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	TargetSizePercent *int32 `json:"targetSizePercent,omitempty"`

	// checksum of each block (csum_type): crc32c, crc32c_16, crc32c_8, xxhash32 or
	// xxhash64. none is refused: ZFS beneath sums what reached it, and not what was
	// damaged on the way, and deep scrubs would compare nothing. Default: crc32c.
	// +optional
	// +kubebuilder:default=crc32c
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self != 'none'",message="pool.checksum: none is refused because blocks that were damaged above ZFS would pass for data, and it gained 2% where it was measured; leave it crc32c"
	// +kubebuilder:validation:XValidation:rule="self in ['none', 'crc32c', 'crc32c_16', 'crc32c_8', 'xxhash32', 'xxhash64']",message="pool.checksum must be crc32c, crc32c_16, crc32c_8, xxhash32 or xxhash64 (Ceph, bluestore_csum_type)"
	Checksum string `json:"checksum,omitempty"`

	// deviceClass that the pool is confined to; then every other pool, .mgr too, should
	// name one (Rook, Block Pool). Bounds: up to 32 characters. Absent: any. Immutable.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z][a-z0-9_-]*$')",message="pool.deviceClass must begin with a letter and hold only lower case letters, digits, '_' and '-', as ssd"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="pool.deviceClass is immutable because Ceph would move all data; create another PgStorageProfile and replicate into a cluster on it"
	DeviceClass string `json:"deviceClass,omitempty"`
}

// CephDataPool is an erasure coded pool for the data of images.
type CephDataPool struct {
	// dataChunks that each stripe is cut into. Bounds: 2 to 8. Default: 2. Immutable.
	// +optional
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=8
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="dataPool.dataChunks is immutable, as it is in Ceph; create another PgStorageProfile and replicate into a cluster on it"
	DataChunks *int32 `json:"dataChunks,omitempty"`

	// codingChunks that may be lost; with one, the pool answers no writes while a
	// failureDomain is away, because Ceph asks for dataChunks + 1. Bounds: 1 to 4.
	// Default: 2. Immutable.
	// +optional
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="dataPool.codingChunks is immutable, as it is in Ceph; create another PgStorageProfile and replicate into a cluster on it"
	CodingChunks *int32 `json:"codingChunks,omitempty"`

	// compression by BlueStore of what the pool holds.
	// +optional
	// +kubebuilder:default={}
	Compression CephCompression `json:"compression,omitzero"`
}

// CephCompression is BlueStore's.
// +kubebuilder:validation:XValidation:rule="!has(self.algorithm) || (has(self.mode) && self.mode != 'none')",message="compression.algorithm has no effect with mode none; remove it, or set mode: aggressive",fieldPath=".algorithm"
type CephCompression struct {
	// mode: none, passive (what the client hints at), aggressive (all but what the
	// client hints against) or force (Ceph, BlueStore). Default: none, because ZFS or
	// the disk below does it with less work.
	// +optional
	// +kubebuilder:default=none
	// +kubebuilder:validation:Enum=none;passive;aggressive;force
	Mode string `json:"mode,omitempty"`

	// algorithm: snappy, zlib, zstd or lz4. Absent: Ceph's own, snappy.
	// +optional
	// +kubebuilder:validation:Enum=snappy;zlib;zstd;lz4
	Algorithm string `json:"algorithm,omitempty"`
}

// RBDVolumeClass is how a volume is made of an image.
// +kubebuilder:validation:XValidation:rule="has(self.imageFeatures) == has(oldSelf.imageFeatures)",message="volumeClass.imageFeatures cannot be added or removed later, because the StorageClass is immutable; create another PgStorageProfile"
type RBDVolumeClass struct {
	// fsType of volumes: ext4, or xfs, which is refused where OSDs and databases share
	// nodes. Default: ext4. Immutable.
	// +optional
	// +kubebuilder:default=ext4
	// +kubebuilder:validation:Enum=ext4;xfs
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="volumeClass.fsType is immutable, as the StorageClass is; create another PgStorageProfile"
	FSType string `json:"fsType,omitempty"`

	// imageFeatures of each image: layering, exclusive-lock, object-map, fast-diff,
	// deep-flatten. Absent: all of them where every node's kernel is 5.4 or newer when
	// the class is made, else layering (Rook, storageclass.yaml). Bounds: 1 to 5.
	// Immutable.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:items:Enum=layering;exclusive-lock;object-map;fast-diff;deep-flatten
	// +kubebuilder:validation:XValidation:rule="!('object-map' in self) || 'exclusive-lock' in self",message="volumeClass.imageFeatures: object-map needs exclusive-lock (rbd); add it"
	// +kubebuilder:validation:XValidation:rule="!('fast-diff' in self) || 'object-map' in self",message="volumeClass.imageFeatures: fast-diff needs object-map (rbd); add it"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="volumeClass.imageFeatures is immutable, as the StorageClass is; create another PgStorageProfile"
	ImageFeatures []string `json:"imageFeatures,omitempty"`

	// discard gives freed blocks back to the pool, and to the zvols beneath it, as they
	// are freed; without it a volume only grows. Default: true.
	// +optional
	// +kubebuilder:default=true
	Discard *bool `json:"discard,omitempty"`
}
