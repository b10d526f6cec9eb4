package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// S3NBDProfile is a ZFS pool on network block devices whose contents live in S3
// buckets. On each selected node one ZeroFS server for each store turns a prefix
// of its bucket into block devices; the node agent attaches them, makes the pool
// on them, and from there on all is as with ZFSLocalPV. A commit is acknowledged
// after ZeroFS has flushed it to the bucket.
// +kubebuilder:validation:XValidation:rule="self.layout != 'mirror' || self.stores.size() >= 2",message="spec.s3NBD.layout: a mirror needs at least two stores; add one in another bucket, or set layout: stripe",fieldPath=".layout"
// +kubebuilder:validation:XValidation:rule="self.layout != 'stripe' || self.stores.size() == 1",message="spec.s3NBD.layout: a stripe over several stores is lost with any one of them; use one store with more devices, or layout: mirror",fieldPath=".layout"
// +kubebuilder:validation:XValidation:rule="self.stores.all(a, self.stores.exists_one(b, (has(a.endpoint) ? a.endpoint : 'none') == (has(b.endpoint) ? b.endpoint : 'none') && a.bucket == b.bucket))",message="spec.s3NBD.stores: two stores share a bucket, and a mirror inside one bucket is lost with it; put each store in a bucket of its own, best in another region",fieldPath=".stores"
// +kubebuilder:validation:XValidation:rule="self.layout == 'mirror' || !has(self.requestTimeout)",message="spec.s3NBD.requestTimeout is for layout mirror only: a stripe always waits for its store, because OpenZFS acknowledges a commit whose flush failed (openzfs pull request 16314); remove it",fieldPath=".requestTimeout"
type S3NBDProfile struct {
	// pool on every selected node: always one that the agent makes on the devices.
	// +required
	Pool S3NBDPool `json:"pool,omitzero"`

	// stores are the buckets that hold the data: one for a stripe, 2 to 4 for a
	// mirror, which keeps a whole copy in each.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:XValidation:rule="self.all(a, oldSelf.exists(b, a.name == b.name)) && oldSelf.all(b, self.exists(a, a.name == b.name))",message="spec.s3NBD.stores: stores cannot be added, removed or renamed because the pool stands on all of them; create another PgStorageProfile and replicate into a cluster on it"
	Stores []S3Store `json:"stores,omitempty"`

	// layout of the pool: stripe over the devices of one store, or mirror, of which
	// each vdev has one device of each store. Immutable. Default: stripe.
	// +optional
	// +kubebuilder:default=stripe
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.s3NBD.layout is immutable because the pool is made with it; create another PgStorageProfile and replicate into a cluster on it"
	Layout S3NBDLayout `json:"layout,omitempty"`

	// devices that each store's server offers to its node.
	// +required
	Devices S3NBDDevices `json:"devices,omitzero"`

	// zeroFS is the server that runs on each node for each store.
	// +required
	ZeroFS ZeroFSServer `json:"zeroFS,omitzero"`

	// l2arc is the second level cache of the pool, on a local disk of each node. It
	// is added and removed while the pool is in use. Absent: none.
	// +optional
	L2ARC *S3NBDCacheDevice `json:"l2arc,omitempty"`

	// slog is a log device on a local disk of each node. It acknowledges a commit
	// before the commit is in a bucket: with the node, the commits since the last
	// transaction group (some seconds) are lost. Absent: none, so that an
	// acknowledged commit is in every reachable store.
	// +optional
	SLOG *S3NBDLogDevice `json:"slog,omitempty"`

	// data is the parent dataset <pool>/pgdata, from which data volumes inherit.
	// +optional
	// +kubebuilder:default={}
	Data ZFSDataDataset `json:"data,omitzero"`

	// wal is the parent dataset <pool>/pgwal, from which the WAL volumes of
	// clusters with storage.walSize inherit.
	// +optional
	// +kubebuilder:default={}
	WAL ZFSWALDataset `json:"wal,omitzero"`

	// arcMax limits the ARC of each selected node (zfs_arc_max). The headers of the
	// L2ARC are kept in it, about 100 bytes for each record that is cached. Bounds:
	// at least 64Mi. Absent: the node's own setting stays.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('64Mi')) >= 0",message="spec.s3NBD.arcMax must be a quantity of at least 64Mi, the smallest ARC that OpenZFS accepts, as 8Gi; remove it to leave the node's setting"
	ARCMax *resource.Quantity `json:"arcMax,omitempty"`

	// requestTimeout of a mirror is how long requests wait for one store before the
	// node agent takes that leg out, where each mirror has another leg of which ZFS
	// says that it lacks nothing: the pool goes on with the others, and the leg is
	// resilvered when it is back. Until then every commit waits for it, some seconds
	// longer by the agent's look. While all stores are away nothing is taken out, and
	// commits wait: OpenZFS acknowledges a commit whose flush failed (openzfs pull
	// request 16314), so the last flush may never fail. A stripe waits so always, and
	// the field is refused for it. Bounds: 10s to 1h. Default: 60s.
	// +optional
	// +kubebuilder:validation:MaxLength=8
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+[smh]$') && duration(self) >= duration('10s') && duration(self) <= duration('1h')",message="spec.s3NBD.requestTimeout must be between 10s and 1h, written as 90s, 10m or 1h"
	RequestTimeout string `json:"requestTimeout,omitempty"`

	// onServerLost says what becomes of a node on which a server itself was lost
	// beneath its pool: its container was killed, or crashed, without having been
	// told to end. An end of ZeroFS within it, a store that is away, and an orderly
	// stop are none: commits wait, and go on. The agent never connects the pool to
	// the successor of a server that was lost, because that lacks what was answered
	// and not yet flushed. Its flushes hang, so nothing is acknowledged falsely, and
	// only a restart of the node lets go of the pool. Wait: the database on it is
	// fenced, and a person restarts the node. RebootNode: the agent restarts it, for
	// nodes that run nothing else. After the restart the pool is imported at its
	// last transaction group, and what its intent log has of later commits is
	// replayed. A mirror goes on with its other stores and needs neither. Default:
	// Wait.
	// +optional
	// +kubebuilder:default=Wait
	OnServerLost ServerLostPolicy `json:"onServerLost,omitempty"`

	// driftPolicy says what the agent does with a property that no longer is as
	// declared. Repair: sets it again and says so in an event. Report: leaves it
	// and says so in the condition PropertiesApplied. Default: Repair.
	// +optional
	// +kubebuilder:default=Repair
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`
}

// S3NBDLayout of a pool on network block devices.
// +kubebuilder:validation:Enum=stripe;mirror
type S3NBDLayout string

// The layouts.
const (
	S3NBDStripe S3NBDLayout = "stripe"
	S3NBDMirror S3NBDLayout = "mirror"
)

// ServerLostPolicy says what becomes of a node whose server was lost.
// +kubebuilder:validation:Enum=Wait;RebootNode
type ServerLostPolicy string

// The policies.
const (
	ServerLostWait       ServerLostPolicy = "Wait"
	ServerLostRebootNode ServerLostPolicy = "RebootNode"
)

// S3NBDPool is the pool on a node's network block devices. It is made with
// cachefile=none, so that a boot imports it only after its devices were attached.
type S3NBDPool struct {
	// name of the pool, the same on every selected node. Bounds: 1 to 63
	// characters. Immutable.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z][a-zA-Z0-9_.-]*$')",message="spec.s3NBD.pool.name must begin with a letter and hold only letters, digits, '_', '-' and '.' (zpoolconcepts)"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^(mirror|raidz|draid|spare)') && self != 'log'",message="spec.s3NBD.pool.name is log or begins with mirror, raidz, draid or spare, which ZFS reserves (zpool-create); choose another"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.s3NBD.pool.name is immutable because volumes do not move between pools; create another PgStorageProfile and replicate into a cluster on it"
	Name string `json:"name,omitempty"`

	// ashift is the sector size as a power of two. Bounds: 12 (4 KiB, the block size
	// of the devices) to 15 (32 KiB, the extent that ZeroFS stores). Default: 12.
	// Immutable.
	// +optional
	// +kubebuilder:default=12
	// +kubebuilder:validation:Minimum=12
	// +kubebuilder:validation:Maximum=15
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.s3NBD.pool.ashift is immutable, as it is in ZFS; create another PgStorageProfile and replicate into a cluster on it"
	Ashift *int32 `json:"ashift,omitempty"`

	// abandonedGUIDs lists pools that are lost for good, by the GUID in the message of
	// PoolLost or PoolReplaced. A node makes its pool once; only after its pool is listed
	// here does it make or adopt another one. Bounds: up to 256. Default: none.
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

	// failmode is what happens when devices are lost beyond redundancy: wait blocks
	// I/O, continue answers EIO to new writes, panic crashes the node, which is the
	// fastest fence there is (zpoolprops). Default: wait.
	// +optional
	// +kubebuilder:default=wait
	// +kubebuilder:validation:Enum=wait;continue;panic
	Failmode string `json:"failmode,omitempty"`

	// headroomPercent of the pool stays free: below it the condition
	// CapacityHealthy is False. Bounds: 5 to 50. Default: 20.
	// +optional
	// +kubebuilder:default=20
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=50
	HeadroomPercent *int32 `json:"headroomPercent,omitempty"`
}

// S3Store is a prefix of a bucket. Each node keeps its data beneath a prefix of
// its own, <prefix>/<profile>/<node>: a prefix has one writer (ZeroFS fences a
// second one by conditional writes).
// +kubebuilder:validation:XValidation:rule="!has(self.endpoint) || !self.endpoint.startsWith('http://') || (has(self.allowHTTP) && self.allowHTTP)",message="stores.endpoint is http, which shows keys of requests to the network; use https, or accept that by allowHTTP: true",fieldPath=".endpoint"
type S3Store struct {
	// name of the store in this profile. Bounds: 1 to 16 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([a-z0-9-]*[a-z0-9])?$')",message="stores.name must begin with a letter and hold only lower case letters, digits and '-'"
	Name string `json:"name,omitempty"`

	// bucket that exists already. Bounds: 3 to 63 characters. Immutable.
	// +required
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9][a-z0-9.-]*[a-z0-9]$')",message="stores.bucket must hold only lower case letters, digits, '.' and '-', and begin and end with a letter or digit (Amazon S3, bucket naming rules)"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="stores.bucket is immutable because the data is there; create another PgStorageProfile and replicate into a cluster on it"
	Bucket string `json:"bucket,omitempty"`

	// prefix in the bucket that everything of this profile lies beneath. Two
	// Kubernetes clusters that share a bucket need different ones. Bounds: 1 to 128
	// characters. Immutable.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$')",message="stores.prefix must be names of letters, digits, '_', '-' and '.', separated by single slashes, without one at its ends"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="stores.prefix is immutable because the data is there; create another PgStorageProfile and replicate into a cluster on it"
	Prefix string `json:"prefix,omitempty"`

	// endpoint of a store that is not Amazon's, such as https://minio.example:9000.
	// Absent: Amazon S3 in region.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() in ['http', 'https'] && url(self).getEscapedPath() in ['', '/'] && url(self).getQuery().size() == 0 && !self.contains('@')",message="stores.endpoint must be a URL of scheme and host, as https://minio.example:9000, without path, query or user"
	Endpoint string `json:"endpoint,omitempty"`

	// region of the bucket. Default: us-east-1.
	// +optional
	// +kubebuilder:default=us-east-1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9][a-z0-9-]*$')",message="stores.region must hold only lower case letters, digits and '-', as eu-central-1"
	Region string `json:"region,omitempty"`

	// pathStyle puts the bucket into the path of requests, as most stores beside
	// Amazon's want it. Default: true.
	// +optional
	// +kubebuilder:default=true
	PathStyle *bool `json:"pathStyle,omitempty"`

	// allowHTTP accepts an endpoint without TLS. The data itself is encrypted by
	// ZeroFS before it is sent. Default: false.
	// +optional
	AllowHTTP *bool `json:"allowHTTP,omitempty"`

	// credentialsSecret is the name of a Secret in the operator's namespace with the
	// keys AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	CredentialsSecret string `json:"credentialsSecret,omitempty"`

	// encryptionSecret is the name of a Secret in the operator's namespace with the
	// key password, from which ZeroFS encrypts everything it stores. Whoever loses
	// it has lost the data.
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
