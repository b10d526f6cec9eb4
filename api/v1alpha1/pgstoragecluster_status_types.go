package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PgStorageClusterStatus is what was read back.
type PgStorageClusterStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions: Ready, Reconciling, Stalled, StorageReady, ParametersAccepted,
	// ParametersApplied, DatabaseReady, Monitored, BenchmarkComplete.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// database is what CloudNativePG reports.
	// +optional
	Database *DatabaseStatus `json:"database,omitempty"`

	// endpoints are the Services to connect to, on port 5432.
	// +optional
	Endpoints *Endpoints `json:"endpoints,omitempty"`

	// secrets are the names of the Secrets to connect with.
	// +optional
	Secrets *SecretNames `json:"secrets,omitempty"`

	// durability says what an acknowledged commit survives.
	// +optional
	Durability *DurabilityStatus `json:"durability,omitempty"`

	// parameters lists each Postgres parameter that the operator sets, with where
	// its value comes from and why, sorted by name.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	Parameters []Parameter `json:"parameters,omitempty"`

	// volumes of the instances, where the profile has them read back from their
	// nodes.
	// +optional
	// +listType=map
	// +listMapKey=claim
	// +kubebuilder:validation:MaxItems=64
	Volumes []VolumeStatus `json:"volumes,omitempty"`

	// benchmark is the newest result of the inline benchmark.
	// +optional
	Benchmark *InlineBenchmarkStatus `json:"benchmark,omitempty"`
}

// VolumeStatus is one volume as its node's agent has read it back.
type VolumeStatus struct {
	// claim that the volume is bound to.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Claim string `json:"claim,omitempty"`
	// instance that the claim belongs to.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Instance string `json:"instance,omitempty"`
	// role of the volume: Data, WAL, Tablespace, or Unknown.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Role string `json:"role,omitempty"`
	// node that the volume is on; empty while no agent has read it back.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`
	// dataset with its pool and parent.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Dataset string `json:"dataset,omitempty"`
	// recordsize in bytes of new files.
	// +optional
	Recordsize int64 `json:"recordsize,omitempty"`
}

// DatabaseStatus is what CloudNativePG reports about its Cluster.
type DatabaseStatus struct {
	// name of the CloudNativePG Cluster, in the same namespace.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// uid of the CloudNativePG Cluster. Once its database was initialised a
	// Cluster with another uid is never made in its place without consent.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`
	// initialized is true once the database has been ready.
	// +optional
	Initialized *bool `json:"initialized,omitempty"`
	// phase is CloudNativePG's own words for what it does.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Phase string `json:"phase,omitempty"`
	// instances that exist.
	// +optional
	Instances *int32 `json:"instances,omitempty"`
	// readyInstances are those that accept connections.
	// +optional
	ReadyInstances *int32 `json:"readyInstances,omitempty"`
	// primary is the name of the primary's pod.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Primary string `json:"primary,omitempty"`
	// image that the instances run.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`
}

// Endpoints are host names within the Kubernetes cluster.
type Endpoints struct {
	// readWrite leads to the primary.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ReadWrite string `json:"readWrite,omitempty"`
	// readOnly leads to the replicas.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ReadOnly string `json:"readOnly,omitempty"`
	// read leads to any instance.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Read string `json:"read,omitempty"`
}

// SecretNames are names of Secrets, never their contents.
type SecretNames struct {
	// application holds user, password, host, port, dbname and uri of the owner.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Application string `json:"application,omitempty"`
	// certificateAuthority holds ca.crt, to verify the server with.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	CertificateAuthority string `json:"certificateAuthority,omitempty"`
}

// LossEvent is one thing that can happen to a cluster.
type LossEvent struct {
	// event: ProcessCrash, NodeLoss, SiteLoss, or StoreLoss, of a bucket.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Event string `json:"event,omitempty"`
	// acknowledgedCommits: Kept, MayBeLost, Lost, or Unknown where what the answer rests
	// on was not read back.
	// +required
	// +kubebuilder:validation:MaxLength=64
	AcknowledgedCommits string `json:"acknowledgedCommits,omitempty"`
	// detail says why.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Detail string `json:"detail,omitempty"`
}

// DurabilityStatus says what an acknowledged commit survives.
type DurabilityStatus struct {
	// tier that is in force.
	// +optional
	Tier DurabilityTier `json:"tier,omitempty"`
	// acknowledged says when a commit is acknowledged.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Acknowledged string `json:"acknowledged,omitempty"`
	// losses says, for each event, what becomes of acknowledged commits.
	// +optional
	// +listType=map
	// +listMapKey=event
	// +kubebuilder:validation:MaxItems=16
	Losses []LossEvent `json:"losses,omitempty"`
}

// Parameter is one setting of postgresql.conf.
type Parameter struct {
	// name of the parameter.
	// +required
	// +kubebuilder:validation:MaxLength=128
	Name string `json:"name,omitempty"`
	// value as given to Postgres.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	Value string `json:"value"`
	// source of the value, in order of precedence: Safety, User, Profile, Computed.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Source string `json:"source,omitempty"`
	// reason in one line.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason,omitempty"`
}

// InlineBenchmarkStatus points at the newest PgBenchmark of the cluster.
type InlineBenchmarkStatus struct {
	// name of the PgBenchmark.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// phase of it.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Phase string `json:"phase,omitempty"`
	// bestTPS is the highest median of transactions per second over its client
	// counts.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	BestTPS string `json:"bestTPS,omitempty"`
	// durability tier of the result.
	// +optional
	Durability DurabilityTier `json:"durability,omitempty"`
}
