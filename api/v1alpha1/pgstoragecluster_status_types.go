package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PgStorageClusterStatus is the observed state of the cluster. Every reported value was
// read back.
type PgStorageClusterStatus struct {
	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Ready, Reconciling, Stalled, StorageReady, ParametersAccepted,
	// ParametersApplied, DatabaseReady, ReadPoolsReady, SiteInRole, FollowersCaughtUp,
	// BackedUp, RestoreVerified, Monitored, BenchmarkComplete.
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

	// secrets are the names of the Secrets that clients connect with.
	// +optional
	Secrets *SecretNames `json:"secrets,omitempty"`

	// durability reports what an acknowledged commit survives.
	// +optional
	Durability *DurabilityStatus `json:"durability,omitempty"`

	// parameters lists each Postgres parameter that the operator sets, with its source
	// and reason, sorted by name.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	Parameters []Parameter `json:"parameters,omitempty"`

	// volumes lists the volumes of the instances, where the profile's agents read them
	// back from their nodes.
	// +optional
	// +listType=map
	// +listMapKey=claim
	// +kubebuilder:validation:MaxItems=64
	Volumes []VolumeStatus `json:"volumes,omitempty"`

	// readPools lists the pools of spec.readPools.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	ReadPools []ReadPoolStatus `json:"readPools,omitempty"`

	// follower is how far this database is, where it follows another one.
	// +optional
	Follower *FollowerStatus `json:"follower,omitempty"`

	// topology is what this site does, where the database is one site of several.
	// +optional
	Topology *TopologyStatus `json:"topology,omitempty"`

	// backup is what of the database can be restored, where spec.backup is set.
	// +optional
	Backup *BackupStatus `json:"backup,omitempty"`

	// backupVerification is the verification of backups that runs, and the last result, where
	// spec.backup.verify is set.
	// +optional
	BackupVerification *BackupVerificationStatus `json:"backupVerification,omitempty"`

	// benchmark is the newest result of the inline benchmark.
	// +optional
	Benchmark *InlineBenchmarkStatus `json:"benchmark,omitempty"`
}

// VolumeStatus is one volume as its node's agent read it back.
type VolumeStatus struct {
	// claim is the PersistentVolumeClaim that the volume is bound to.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Claim string `json:"claim,omitempty"`
	// instance is the Postgres instance that the claim belongs to.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Instance string `json:"instance,omitempty"`
	// role is Data, WAL, Tablespace, or Unknown.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Role string `json:"role,omitempty"`
	// node is where the volume is; empty until an agent reads it back.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`
	// dataset includes its pool and parent, as tank/pgdata/pvc-1.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Dataset string `json:"dataset,omitempty"`
	// recordsize is the record size of new files, in bytes.
	// +optional
	Recordsize int64 `json:"recordsize,omitempty"`
	// path is the folder of the node that is the volume, of a profile of type Memory.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path,omitempty"`
}

// DatabaseStatus is what CloudNativePG reports about its Cluster.
type DatabaseStatus struct {
	// name is the CloudNativePG Cluster, in the same namespace.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// uid identifies the CloudNativePG Cluster. Once its database was initialised, the
	// operator replaces a deleted Cluster only with consent.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`
	// initialized is true once the database has been ready.
	// +optional
	Initialized *bool `json:"initialized,omitempty"`
	// phase is the phase that CloudNativePG reports.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Phase string `json:"phase,omitempty"`
	// instances counts the existing instances.
	// +optional
	Instances *int32 `json:"instances,omitempty"`
	// readyInstances counts the instances that accept connections.
	// +optional
	ReadyInstances *int32 `json:"readyInstances,omitempty"`
	// primary is the name of the primary's pod.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Primary string `json:"primary,omitempty"`
	// image is what the instances run.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`
}

// Endpoints are host names within the Kubernetes cluster.
type Endpoints struct {
	// readWrite connects to the primary.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ReadWrite string `json:"readWrite,omitempty"`
	// readOnly connects to the replicas.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ReadOnly string `json:"readOnly,omitempty"`
	// read connects to any instance.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Read string `json:"read,omitempty"`
}

// SecretNames are names of Secrets, never their contents.
type SecretNames struct {
	// application contains user, password, host, port, dbname and uri of the owner.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Application string `json:"application,omitempty"`
	// certificateAuthority contains ca.crt, which verifies the server.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	CertificateAuthority string `json:"certificateAuthority,omitempty"`
}

// LossEvent is the effect of one failure on acknowledged commits.
type LossEvent struct {
	// event is ProcessCrash, NodeLoss, FailureDomainLoss, SiteLoss, or StoreLoss (of a bucket).
	// +required
	// +kubebuilder:validation:MaxLength=64
	Event string `json:"event,omitempty"`
	// acknowledgedCommits is Kept, MayBeLost, Lost, or Unknown when the settings behind
	// the answer could not be read back.
	// +required
	// +kubebuilder:validation:MaxLength=64
	AcknowledgedCommits string `json:"acknowledgedCommits,omitempty"`
	// detail explains the answer.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Detail string `json:"detail,omitempty"`
}

// DurabilityStatus reports what an acknowledged commit survives.
type DurabilityStatus struct {
	// tier is the tier in force.
	// +optional
	Tier DurabilityTier `json:"tier,omitempty"`
	// acknowledged describes when a commit is acknowledged.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Acknowledged string `json:"acknowledged,omitempty"`
	// losses lists, for each failure, what happens to acknowledged commits.
	// +optional
	// +listType=map
	// +listMapKey=event
	// +kubebuilder:validation:MaxItems=16
	Losses []LossEvent `json:"losses,omitempty"`
}

// Parameter is one setting of postgresql.conf.
type Parameter struct {
	// name is the name of the parameter.
	// +required
	// +kubebuilder:validation:MaxLength=128
	Name string `json:"name,omitempty"`
	// value is the value given to Postgres.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	Value string `json:"value"`
	// source is where the value comes from, in order of precedence: Safety, User,
	// Profile, Computed.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Source string `json:"source,omitempty"`
	// reason explains the value in one line.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason,omitempty"`
}

// InlineBenchmarkStatus points at the newest PgBenchmark of the cluster.
type InlineBenchmarkStatus struct {
	// name is the name of the PgBenchmark.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// phase is the phase of the PgBenchmark.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Phase string `json:"phase,omitempty"`
	// bestTPS is the highest median of transactions per second over its client
	// counts.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	BestTPS string `json:"bestTPS,omitempty"`
	// durability is the tier of the result.
	// +optional
	Durability DurabilityTier `json:"durability,omitempty"`
}
