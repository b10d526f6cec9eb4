package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// StaleReadsPolicy selects what a read pool does while it is behind its cluster.
// +kubebuilder:validation:Enum=Serve;Refuse
type StaleReadsPolicy string

const (
	// StaleReadsServe serves reads, however old they are.
	StaleReadsServe StaleReadsPolicy = "Serve"
	// StaleReadsRefuse takes an instance out of its Services until it has caught up.
	StaleReadsRefuse StaleReadsPolicy = "Refuse"
)

// MaxLag limits how far a follower may be behind. Fields of this type have the rule about
// bytes. Of read pools the operator checks it, because a rule in a list costs too much.
// +kubebuilder:validation:MinProperties=1
type MaxLag struct {
	// bytes limits the WAL that the follower has not replayed, at least 1Mi.
	// +optional
	Bytes *resource.Quantity `json:"bytes,omitempty"`

	// time limits the age of the last commit that the follower replayed, while it has
	// not replayed all. Valid: 1s to 24h, as 30s or 5m.
	// +optional
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,5}s)?$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="maxLag.time must be a duration from 1s to 24h, as 30s or 5m"
	Time string `json:"time,omitempty"`
}

// ReadPool is a group of instances that replicate the database asynchronously and serve
// reads, with storage and parameters of their own.
// +kubebuilder:validation:XValidation:rule="!has(self.staleReads) || self.staleReads != 'Refuse' || (has(self.maxLag) && has(self.maxLag.bytes))",message="spec.readPools[].staleReads: Refuse needs spec.readPools[].maxLag.bytes, which the readiness probe of CloudNativePG compares; set it, as 64Mi",fieldPath=".staleReads"
// +kubebuilder:validation:XValidation:rule="!has(self.staleReads) || self.staleReads != 'Refuse' || !has(self.instances) || self.instances == 1",message="spec.readPools[].staleReads: Refuse needs instances: 1, because a further instance compares its lag with the first one only; declare several pools of one instance",fieldPath=".staleReads"
type ReadPool struct {
	// name identifies the pool. Its PgStorageCluster, its CloudNativePG Cluster and its
	// Services are named <cluster>-<name>.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=24
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="spec.readPools[].name must be lower-case letters, digits and '-', and begin and end with a letter or digit"
	Name string `json:"name,omitempty"`

	// profile selects the PgStorageProfile of the pool. Another profile can be set: the
	// operator then deletes the pool's volumes and clones the pool again. Default: the
	// cluster's profile.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Profile string `json:"profile,omitempty"`

	// instances sets the number of instances. The first one streams from the cluster,
	// and the others from the first. Valid: 1 to 16. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16
	Instances *int32 `json:"instances,omitempty"`

	// storage sets the size of each instance's volumes. The whole database has to fit.
	// Smaller volumes, or one for WAL less, are made by cloning the pool again. Default:
	// the cluster's storage.
	// +optional
	Storage *ReadPoolStorage `json:"storage,omitempty"`

	// resources sets the compute resources of each instance. The operator computes the
	// pool's own parameters from them. Valid: as spec.resources. Default: the cluster's
	// resources.
	// +optional
	Resources *ReadPoolResources `json:"resources,omitempty"`

	// workload selects the class of work of the pool, in pgtune's terms. Default: the
	// cluster's workload.
	// +optional
	Workload Workload `json:"workload,omitempty"`

	// parameters sets Postgres parameters of the pool, as spec.postgres.parameters does
	// for the cluster. Those of the cluster do not apply to the pool. A standby does not
	// replay WAL if one of these is lower than on its primary: max_connections,
	// max_worker_processes, max_wal_senders, max_prepared_transactions,
	// max_locks_per_transaction. The operator raises those that are not set here.
	// Valid: at most 64 parameters, 1024 characters a value.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 127 && size(self[k]) <= 1024)",message="spec.readPools[].parameters: names have at most 127 characters and values at most 1024; shorten them"
	Parameters map[string]string `json:"parameters,omitempty"`

	// maxLag limits how far the pool may be behind. Beyond it, the condition
	// FollowersCaughtUp is False. Postgres does not slow the primary down for a follower.
	// Default: 64Mi of WAL.
	// +optional
	MaxLag *MaxLag `json:"maxLag,omitempty"`

	// staleReads selects what happens to reads beyond maxLag.bytes. Serve: the pool
	// answers with old data. Refuse: the instance is not ready and leaves the Services of
	// the pool until it has caught up. Refuse needs instances: 1 and maxLag.bytes.
	// Default: Serve.
	// +optional
	// +kubebuilder:default=Serve
	StaleReads StaleReadsPolicy `json:"staleReads,omitempty"`
}

// ReadPoolStorage sets the size of each volume of a read pool. The operator checks the least
// size, because a rule in a list costs too much.
type ReadPoolStorage struct {
	// size sets the size of the data volume, at least 1Gi.
	// +required
	Size resource.Quantity `json:"size,omitzero"`

	// walSize adds a volume for WAL, at least 1Gi. Default: WAL is on the data volume.
	// +optional
	WALSize *resource.Quantity `json:"walSize,omitempty"`
}

// ReadPoolResources are the compute resources of each instance of a read pool. The operator
// checks them as it does spec.resources; rules of the API would exceed their cost limit.
type ReadPoolResources struct {
	// requests reserves memory (at least 256Mi) and CPU (at least 50m) for each instance.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	Requests map[corev1.ResourceName]resource.Quantity `json:"requests,omitempty"`

	// limits limits each instance. Set the limit of memory equal to its request.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	Limits map[corev1.ResourceName]resource.Quantity `json:"limits,omitempty"`
}

// FollowSpec makes a PgStorageCluster the follower of another one. The operator sets it on
// the PgStorageClusters of read pools.
type FollowSpec struct {
	// cluster names the PgStorageCluster of the same namespace whose WAL is replayed. It
	// consents by a pool in its spec.readPools whose PgStorageCluster is this one.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=50
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.follow.cluster is immutable: a follower has the data of one cluster only; create another one"
	Cluster string `json:"cluster,omitempty"`

	// maxLag limits how far the follower may be behind. Default: 64Mi of WAL.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.bytes) || isQuantity(string(self.bytes)) && quantity(string(self.bytes)).compareTo(quantity('1Mi')) >= 0",message="maxLag.bytes must be a quantity of at least 1Mi, as 64Mi"
	MaxLag *MaxLag `json:"maxLag,omitempty"`

	// staleReads selects what happens to reads beyond maxLag.bytes. Default: Serve.
	// +optional
	// +kubebuilder:default=Serve
	StaleReads StaleReadsPolicy `json:"staleReads,omitempty"`
}

// FollowerStatus is how far a follower is, as its instances report it.
type FollowerStatus struct {
	// streaming is true while every instance receives WAL.
	// +optional
	Streaming *bool `json:"streaming,omitempty"`
	// lag of the instance that is furthest behind.
	// +optional
	Lag *FollowerLag `json:"lag,omitempty"`
}

// FollowerLag is how far an instance is behind. Figures are rounded up to a power of two,
// so that the status does not change at each look.
type FollowerLag struct {
	// bytes of WAL that were not replayed.
	// +optional
	Bytes *int64 `json:"bytes,omitempty"`
	// seconds since the last commit that was replayed; 0 if nothing is left to replay.
	// +optional
	Seconds *int64 `json:"seconds,omitempty"`
}

// ReadPoolStatus is the observed state of one read pool.
type ReadPoolStatus struct {
	// name is the name of the pool in spec.readPools.
	// +required
	// +kubebuilder:validation:MaxLength=24
	Name string `json:"name,omitempty"`
	// cluster is the PgStorageCluster of the pool, whose conditions have the details.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Cluster string `json:"cluster,omitempty"`
	// profile is where its volumes are.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Profile string `json:"profile,omitempty"`
	// ready is true while the pool is as declared and serves reads.
	// +optional
	Ready *bool `json:"ready,omitempty"`
	// reason of the pool's condition Ready.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Reason string `json:"reason,omitempty"`
	// readyInstances counts the instances that accept connections.
	// +optional
	ReadyInstances *int32 `json:"readyInstances,omitempty"`
	// read is the host name to connect to, on port 5432.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Read string `json:"read,omitempty"`
	// certificateAuthority names the Secret whose ca.crt verifies the pool's server. Users
	// and passwords are the cluster's.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	CertificateAuthority string `json:"certificateAuthority,omitempty"`
	// follower is how far the pool is.
	// +optional
	Follower *FollowerStatus `json:"follower,omitempty"`
}
