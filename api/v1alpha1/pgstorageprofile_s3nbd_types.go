package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// S3NBDProfile is a ZFS pool on network block devices whose contents live in S3
// buckets. On each selected node, one ZeroFS server for each store exports a prefix of
// its bucket as block devices. The node agent attaches them and creates the pool on
// them. A commit is acknowledged after ZeroFS has flushed it to the bucket.
// +kubebuilder:validation:XValidation:rule="self.layout != 'mirror' || self.stores.size() >= 2",message="spec.s3NBD.layout: a mirror needs at least two stores; add one in another bucket, or set layout: stripe",fieldPath=".layout"
// +kubebuilder:validation:XValidation:rule="self.layout != 'stripe' || self.stores.size() == 1",message="spec.s3NBD.layout: losing any one of several stores loses a stripe over them; use one store with more devices, or layout: mirror",fieldPath=".layout"
// +kubebuilder:validation:XValidation:rule="self.stores.all(a, self.stores.exists_one(b, (has(a.endpoint) ? a.endpoint : 'none') == (has(b.endpoint) ? b.endpoint : 'none') && a.bucket == b.bucket))",message="spec.s3NBD.stores: two stores share a bucket, and losing it loses the mirror; put each store in a bucket of its own, preferably in another region",fieldPath=".stores"
// +kubebuilder:validation:XValidation:rule="self.layout == 'mirror' || !has(self.requestTimeout)",message="spec.s3NBD.requestTimeout is for layout mirror only: a stripe always waits for its store, because OpenZFS acknowledges a commit whose flush failed (openzfs pull request 16314); remove it",fieldPath=".requestTimeout"
type S3NBDProfile struct {
	// pool sets the pool that the agent creates on the devices of every selected node.
	// +required
	Pool S3NBDPool `json:"pool,omitzero"`

	// stores lists the buckets of the data: one for a stripe, 2 to 4 for a mirror,
	// which keeps a whole copy in each.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:XValidation:rule="self.all(a, oldSelf.exists(b, a.name == b.name)) && oldSelf.all(b, self.exists(a, a.name == b.name))",message="spec.s3NBD.stores: stores cannot be added, removed or renamed because the pool uses all of them; create another PgStorageProfile and replicate into a cluster on it"
	Stores []S3Store `json:"stores,omitempty"`

	// layout selects stripe over the devices of one store, or mirror, whose vdevs have
	// one device of each store. Default: stripe. Immutable.
	// +optional
	// +kubebuilder:default=stripe
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.s3NBD.layout is immutable because the pool has it from its creation; create another PgStorageProfile and replicate into a cluster on it"
	Layout S3NBDLayout `json:"layout,omitempty"`

	// devices sets the devices that each store's server exports to its node.
	// +required
	Devices S3NBDDevices `json:"devices,omitzero"`

	// zeroFS sets the server that runs on each node for each store.
	// +required
	ZeroFS ZeroFSServer `json:"zeroFS,omitzero"`

	// l2arc adds a second level cache of the pool, on a local disk of each node. It can
	// be added and removed while the pool is in use. Default: none.
	// +optional
	L2ARC *S3NBDCacheDevice `json:"l2arc,omitempty"`

	// slog adds a log device on a local disk of each node. It acknowledges a commit
	// before the commit is in a bucket: losing the node loses the commits since the
	// last transaction group (some seconds). Default: none, so that an acknowledged
	// commit is in every reachable store.
	// +optional
	SLOG *S3NBDLogDevice `json:"slog,omitempty"`

	// data sets the properties of <pool>/pgdata, from which data volumes inherit.
	// +optional
	// +kubebuilder:default={}
	Data ZFSDataDataset `json:"data,omitzero"`

	// wal sets the properties of <pool>/pgwal, from which the WAL volumes of clusters
	// with storage.walSize inherit.
	// +optional
	// +kubebuilder:default={}
	WAL ZFSWALDataset `json:"wal,omitzero"`

	// arcMax limits the ARC of each selected node (zfs_arc_max). It includes the
	// headers of the L2ARC, about 100 bytes for each cached record. Valid: at least
	// 64Mi. Default: the node's own setting.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('64Mi')) >= 0",message="spec.s3NBD.arcMax must be a quantity of at least 64Mi, the smallest ARC that OpenZFS accepts, as 8Gi; remove it to leave the node's setting"
	ARCMax *resource.Quantity `json:"arcMax,omitempty"`

	// requestTimeout limits how long a mirror waits for one store before the agent
	// detaches that leg, if each mirror has another complete leg. The pool continues
	// with the others and resilvers the leg when it returns. Until then every commit
	// waits. While all stores are unavailable, nothing is detached and commits wait,
	// because OpenZFS acknowledges a commit whose flush failed (openzfs pull request
	// 16314). A stripe always waits, and rejects this field. Valid: 10s to 1h. Default:
	// 60s.
	// +optional
	// +kubebuilder:validation:MaxLength=8
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+[smh]$') && duration(self) >= duration('10s') && duration(self) <= duration('1h')",message="spec.s3NBD.requestTimeout must be between 10s and 1h, written as 90s, 10m or 1h"
	RequestTimeout string `json:"requestTimeout,omitempty"`

	// onServerLost selects what happens to a node whose server was lost below its pool:
	// its container was killed or crashed. Its flushes then hang, nothing is
	// acknowledged falsely, and only a restart of the node releases the pool. The agent
	// never attaches the pool to a successor, which lacks unflushed writes. Wait fences
	// the database until an administrator restarts the node. RebootNode lets the agent
	// restart it, for nodes that run nothing else. A mirror continues with its other
	// stores and needs neither. Default: Wait.
	// +optional
	// +kubebuilder:default=Wait
	OnServerLost ServerLostPolicy `json:"onServerLost,omitempty"`

	// driftPolicy selects what the agent does with a property that differs from the
	// spec. Repair sets it again and emits an event. Report leaves it and reports it in
	// the condition PropertiesApplied. Default: Repair.
	// +optional
	// +kubebuilder:default=Repair
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`
}

// S3NBDLayout is the layout of a pool on network block devices.
// +kubebuilder:validation:Enum=stripe;mirror
type S3NBDLayout string

// The layouts.
const (
	S3NBDStripe S3NBDLayout = "stripe"
	S3NBDMirror S3NBDLayout = "mirror"
)

// ServerLostPolicy selects what happens to a node whose server was lost.
// +kubebuilder:validation:Enum=Wait;RebootNode
type ServerLostPolicy string

// The policies.
const (
	ServerLostWait       ServerLostPolicy = "Wait"
	ServerLostRebootNode ServerLostPolicy = "RebootNode"
)

// S3NBDPool is the pool on a node's network block devices. It has cachefile=none, so
// that a boot imports it only after its devices were attached.
type S3NBDPool struct {
	// name sets the name of the pool, the same on every selected node. Valid: 1 to 63
	// characters. Immutable.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z][a-zA-Z0-9_.-]*$')",message="spec.s3NBD.pool.name must begin with a letter and hold only letters, digits, '_', '-' and '.' (zpoolconcepts)"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^(mirror|raidz|draid|spare)') && self != 'log'",message="spec.s3NBD.pool.name is log or begins with mirror, raidz, draid or spare, which ZFS reserves (zpool-create); choose another"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.s3NBD.pool.name is immutable because volumes do not move between pools; create another PgStorageProfile and replicate into a cluster on it"
	Name string `json:"name,omitempty"`

	// ashift sets the sector size as a power of two. Valid: 12 (4 KiB, the block size
	// of the devices) to 15 (32 KiB, the extent that ZeroFS stores). Default: 12.
	// Immutable.
	// +optional
	// +kubebuilder:default=12
	// +kubebuilder:validation:Minimum=12
	// +kubebuilder:validation:Maximum=15
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.s3NBD.pool.ashift is immutable, as it is in ZFS; create another PgStorageProfile and replicate into a cluster on it"
	Ashift *int32 `json:"ashift,omitempty"`

	// abandonedGUIDs lists pools that are lost for good, by the GUID in the message of
	// PoolLost or PoolReplaced. A node creates its pool once; only after its pool is
	// listed here does it create or adopt another one. Valid: up to 256. Default: none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	AbandonedGUIDs []PoolGUID `json:"abandonedGUIDs,omitempty"`

	// autotrim returns freed space to the bucket as it is freed; without it the
	// bucket only grows. Default: on.
	// +optional
	// +kubebuilder:default="on"
	// +kubebuilder:validation:Enum=on;off
	Autotrim string `json:"autotrim,omitempty"`

	// failmode selects what happens when more devices fail than redundancy covers
	// (zpoolprops). wait blocks I/O. continue returns EIO to new writes. panic crashes
	// the node, which fences it fastest. Default: wait.
	// +optional
	// +kubebuilder:default=wait
	// +kubebuilder:validation:Enum=wait;continue;panic
	Failmode string `json:"failmode,omitempty"`

	// headroomPercent sets the share of the pool to keep free: with less, the condition
	// CapacityHealthy is False. Valid: 5 to 50. Default: 20.
	// +optional
	// +kubebuilder:default=20
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=50
	HeadroomPercent *int32 `json:"headroomPercent,omitempty"`
}

// S3Store is a prefix of a bucket. Each node writes below a prefix of its own,
// <prefix>/<profile>/<node>, because a prefix has one writer (ZeroFS fences a second
// one by conditional writes).
// +kubebuilder:validation:XValidation:rule="!has(self.endpoint) || !self.endpoint.lowerAscii().startsWith('http://') || (has(self.allowHTTP) && self.allowHTTP)",message="stores.endpoint is http, which exposes the keys of requests on the network; use https, or accept that by allowHTTP: true",fieldPath=".endpoint"
type S3Store struct {
	// name identifies the store in this profile. Valid: 1 to 16 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([a-z0-9-]*[a-z0-9])?$')",message="stores.name must begin with a letter and hold only lower case letters, digits and '-'"
	Name string `json:"name,omitempty"`

	// bucket selects an existing bucket. Valid: 3 to 63 characters. Immutable.
	// +required
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9][a-z0-9.-]*[a-z0-9]$')",message="stores.bucket must hold only lower case letters, digits, '.' and '-', and begin and end with a letter or digit (Amazon S3, bucket naming rules)"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="stores.bucket is immutable because the data is there; create another PgStorageProfile and replicate into a cluster on it"
	Bucket string `json:"bucket,omitempty"`

	// prefix sets the prefix in the bucket for everything of this profile. Kubernetes
	// clusters that share a bucket need different ones. Valid: 1 to 128 characters.
	// Immutable.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$')",message="stores.prefix must be names of letters, digits, '_', '-' and '.', separated by single slashes, without one at its ends"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="stores.prefix is immutable because the data is there; create another PgStorageProfile and replicate into a cluster on it"
	Prefix string `json:"prefix,omitempty"`

	// endpoint sets the URL of a store other than Amazon's, as
	// https://minio.example:9000. Default: Amazon S3 in region.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() in ['http', 'https'] && url(self).getHostname() != '' && url(self).getEscapedPath() in ['', '/'] && !self.matches('[?#@$]')",message="stores.endpoint must be a URL of scheme and host, as https://minio.example:9000, without path, query, fragment, user or variable"
	Endpoint string `json:"endpoint,omitempty"`

	// region sets the region of the bucket. Default: us-east-1.
	// +optional
	// +kubebuilder:default=us-east-1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9][a-z0-9-]*$')",message="stores.region must hold only lower case letters, digits and '-', as eu-central-1"
	Region string `json:"region,omitempty"`

	// pathStyle puts the bucket into the path of requests, which most stores other than
	// Amazon's need. Default: true.
	// +optional
	// +kubebuilder:default=true
	PathStyle *bool `json:"pathStyle,omitempty"`

	// allowHTTP accepts an endpoint without TLS. ZeroFS encrypts the data before it
	// sends it. Default: false.
	// +optional
	AllowHTTP *bool `json:"allowHTTP,omitempty"`

	// credentialsSecret selects a Secret in the operator's namespace with the keys
	// AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	CredentialsSecret string `json:"credentialsSecret,omitempty"`

	// encryptionSecret selects a Secret in the operator's namespace with the key
	// password, with which ZeroFS encrypts everything it stores. Without it the data is
	// lost.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	EncryptionSecret string `json:"encryptionSecret,omitempty"`
}

// The families. That one can read what the other wrote is not known, so a
// profile keeps its own.
const (
	ZeroFS019 ZeroFSFamily = "0.19"
	ZeroFS2   ZeroFSFamily = "2"
)
