package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Workload is a class of pgtune (https://github.com/le0pard/pgtune). It selects the
// formulas for memory, WAL and planner parameters.
// +kubebuilder:validation:Enum=Web;OLTP;Analytics;Mixed;Desktop
type Workload string

// The workloads, with pgtune's own names: web, oltp, dw, mixed, desktop.
const (
	WorkloadWeb       Workload = "Web"
	WorkloadOLTP      Workload = "OLTP"
	WorkloadAnalytics Workload = "Analytics"
	WorkloadMixed     Workload = "Mixed"
	WorkloadDesktop   Workload = "Desktop"
)

// DurabilityTier is what an acknowledged commit survives. Specs take Quorum, Local,
// Async or Ephemeral.
// +kubebuilder:validation:MaxLength=16
type DurabilityTier string

const (
	// DurabilityQuorum acknowledges a commit after it is flushed on the primary
	// and at least one standby; writes stop when that cannot be kept.
	DurabilityQuorum DurabilityTier = "Quorum"
	// DurabilityLocal acknowledges a commit after it is flushed on the primary.
	DurabilityLocal DurabilityTier = "Local"
	// DurabilityAsync acknowledges a commit before it is flushed: up to
	// 3 x wal_writer_delay (600 ms by default) may be lost.
	DurabilityAsync DurabilityTier = "Async"
	// DurabilityEphemeral acknowledges a commit that nothing keeps: a crash of Postgres or
	// of its node may lose the database. Only profiles of type Memory take it.
	DurabilityEphemeral DurabilityTier = "Ephemeral"
	// DurabilityUnverified is the tier of a benchmark whose custom scripts may have
	// changed what a commit waits for. No spec takes it.
	DurabilityUnverified DurabilityTier = "Unverified"
)

// DeletionPolicy selects what happens to the database when its PgStorageCluster is
// deleted.
// +kubebuilder:validation:Enum=Retain;Delete
type DeletionPolicy string

const (
	// DeletionRetain leaves the CloudNativePG Cluster and its volumes running.
	DeletionRetain DeletionPolicy = "Retain"
	// DeletionDelete deletes the CloudNativePG Cluster and its claims.
	DeletionDelete DeletionPolicy = "Delete"
)

// BenchmarkPolicy selects the PgBenchmarks that may run against a cluster.
// +kubebuilder:validation:Enum=Own;Any
type BenchmarkPolicy string

const (
	// BenchmarkOwn admits the benchmark that the cluster's own spec declares.
	BenchmarkOwn BenchmarkPolicy = "Own"
	// BenchmarkAny admits every PgBenchmark of the cluster's namespace.
	BenchmarkAny BenchmarkPolicy = "Any"
)

// BranchPolicy selects the PgStorageBranches that may copy a database.
// +kubebuilder:validation:Enum=None;Any
type BranchPolicy string

const (
	// BranchNone admits none.
	BranchNone BranchPolicy = "None"
	// BranchAny admits every PgStorageBranch of the database's namespace.
	BranchAny BranchPolicy = "Any"
)

// PgStorageClusterSpec declares a Postgres cluster on a storage profile.
// +kubebuilder:validation:XValidation:rule="self.durability != 'Quorum' || self.instances >= 2",message="spec.durability: Quorum needs spec.instances of at least 2, because a commit waits for a standby (3 keeps writes going when one instance is lost); raise spec.instances or choose Local",fieldPath=".durability"
// +kubebuilder:validation:XValidation:rule="!has(self.quorum) || self.durability == 'Quorum'",message="spec.quorum applies to durability: Quorum only; remove it, or set spec.durability: Quorum",fieldPath=".quorum"
// +kubebuilder:validation:XValidation:rule="!has(self.quorum) || !has(self.quorum.standbys) || self.quorum.standbys < self.instances",message="spec.quorum.standbys must be less than spec.instances, because one instance is the primary; lower it or raise spec.instances",fieldPath=".quorum.standbys"
// +kubebuilder:validation:XValidation:rule="self.defaults == 'CloudNativePG' || has(self.resources)",message="spec.resources is required unless spec.defaults is CloudNativePG: the operator derives Postgres parameters from it; set spec.resources.requests",reason=FieldValueRequired,fieldPath=".resources"
// +kubebuilder:validation:XValidation:rule="self.defaults == 'CloudNativePG' || !has(self.resources) || has(self.resources.requests)",message="spec.resources.requests is required unless spec.defaults is CloudNativePG: the operator derives Postgres parameters from it; set memory and cpu",reason=FieldValueRequired,fieldPath=".resources.requests"
// +kubebuilder:validation:XValidation:rule="self.defaults == 'CloudNativePG' || !has(self.resources) || !has(self.resources.requests) || 'memory' in self.resources.requests && isQuantity(string(self.resources.requests['memory'])) && quantity(string(self.resources.requests['memory'])).compareTo(quantity('256Mi')) >= 0",message="spec.resources.requests.memory must be a quantity of at least 256Mi, as 4Gi: the operator derives memory parameters of Postgres from it",fieldPath=".resources.requests"
// +kubebuilder:validation:XValidation:rule="self.defaults == 'CloudNativePG' || !has(self.resources) || !has(self.resources.requests) || 'cpu' in self.resources.requests && isQuantity(string(self.resources.requests['cpu'])) && quantity(string(self.resources.requests['cpu'])).compareTo(quantity('50m')) >= 0",message="spec.resources.requests.cpu must be a quantity of at least 50m, as 500m or 2: the operator derives the parallelism of Postgres from it",fieldPath=".resources.requests"
// +kubebuilder:validation:XValidation:rule="self.durability in ['Async', 'Ephemeral'] || !has(self.postgres.parameters) || !('synchronous_commit' in self.postgres.parameters) || self.postgres.parameters['synchronous_commit'] in ['on', 'remote_apply']",message="spec.postgres.parameters[synchronous_commit] is below the durability tier: it must be on or remote_apply; set spec.durability to Async to accept the loss of the last commits",fieldPath=".postgres.parameters"
// +kubebuilder:validation:XValidation:rule="has(self.follow) == has(oldSelf.follow)",message="spec.follow cannot be added or removed: a follower is a copy of another database, and a database is never made one; change spec.readPools of the cluster that it follows",fieldPath=".follow"
// +kubebuilder:validation:XValidation:rule="!has(self.follow) || !has(self.readPools)",message="spec.readPools: a follower has none; add the pool to the cluster that it follows",fieldPath=".readPools"
// +kubebuilder:validation:XValidation:rule="!has(self.follow) || self.durability == 'Local'",message="spec.durability of a follower is Local, because it acknowledges no commit; set Local",fieldPath=".durability"
// +kubebuilder:validation:XValidation:rule="!has(self.topology) || !has(self.follow) && !has(self.readPools) && self.durability != 'Ephemeral'",message="spec.topology: a site has no follow and no readPools, and its durability is not Ephemeral; remove them, or remove spec.topology",fieldPath=".topology"
// +kubebuilder:validation:XValidation:rule="has(self.topology) == has(oldSelf.topology) || (has(self.topology) ? self.topology.self == self.topology.primary : oldSelf.topology.self == oldSelf.topology.primary)",message="spec.topology can be added and removed only where self is primary: another site would lose its database, or write beside the one that writes; create a new PgStorageCluster with spec.topology, or switch sites first",fieldPath=".topology"
// +kubebuilder:validation:XValidation:rule="!has(self.backup) || !has(self.follow) && self.durability != 'Ephemeral'",message="spec.backup: a follower and a database in memory have none, because nothing in them is the only copy; remove it",fieldPath=".backup"
// +kubebuilder:validation:XValidation:rule="!has(self.origin) || !has(self.origin.volumeSnapshots) || !has(self.origin.volumeSnapshots.wal) || has(self.storage.walSize)",message="spec.origin.volumeSnapshots.wal needs spec.storage.walSize: the size of the volume that the snapshot is of; set it",fieldPath=".origin"
// +kubebuilder:validation:XValidation:rule="has(self.origin) == has(oldSelf.origin)",message="spec.origin cannot be added or removed: a database is restored once, when it is made; create a new PgStorageCluster with it",fieldPath=".origin"
// +kubebuilder:validation:XValidation:rule="!has(self.origin) || !has(self.follow) && !has(self.topology) && self.durability != 'Ephemeral' && self.defaults == 'pgstorage'",message="spec.origin: a follower, a site, a database in memory and one with defaults: CloudNativePG are not restored from backups; remove one of the two",fieldPath=".origin"
type PgStorageClusterSpec struct {
	// profile selects the PgStorageProfile whose storage the cluster uses. Immutable:
	// volumes do not move between kinds of storage. Create a cluster on the other
	// profile, and restore or replicate into it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.profile is immutable because volumes do not move between kinds of storage; create a PgStorageCluster on the other profile and replicate or restore into it"
	Profile string `json:"profile,omitempty"`

	// postgres sets the version, the image, the first database and the Postgres
	// parameters.
	// +required
	Postgres PostgresSpec `json:"postgres,omitzero"`

	// instances sets the number of Postgres instances, one of them the primary. Valid:
	// 1 to 16. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16
	Instances *int32 `json:"instances,omitempty"`

	// storage sets the size of each instance's volumes.
	// +required
	Storage ClusterStorage `json:"storage,omitzero"`

	// resources sets the compute resources of each instance. Requests of memory and CPU
	// are required unless defaults is CloudNativePG, because the operator derives
	// Postgres parameters from them. The limit of CPU, when set, replaces its request
	// there.
	// +optional
	Resources ClusterResources `json:"resources,omitzero"`

	// defaults selects who decides what this spec does not set. pgstorage: the operator
	// derives Postgres parameters from resources, workload and profile, turns data
	// checksums on, and adds its monitoring queries. CloudNativePG: the operator sets
	// only what this spec sets, and leaves the rest as it is. kubectl pgstorage adopt
	// uses it, so that taking over a running Cluster changes nothing. A change restarts
	// instances where parameters need a restart. Default: pgstorage.
	// +optional
	// +kubebuilder:default=pgstorage
	Defaults DefaultsMode `json:"defaults,omitempty"`

	// workload selects the class of work, in pgtune's terms. Default: Mixed.
	// +optional
	// +kubebuilder:default=Mixed
	Workload Workload `json:"workload,omitempty"`

	// durability selects which failures an acknowledged commit survives. Quorum:
	// flushed on the primary and at least one standby; writes stop when that is
	// impossible. Local: flushed on the primary. Async: a crash may lose the last
	// commits, up to 3 x wal_writer_delay. Ephemeral: a crash may lose the database, which
	// is for tests; fsync is off, and the profile must be of type Memory.
	// status.durability lists what loses acknowledged commits. Required: there is no
	// default.
	// +required
	// +kubebuilder:validation:Enum=Quorum;Local;Async;Ephemeral
	Durability DurabilityTier `json:"durability,omitempty"`

	// quorum sets which standbys confirm a commit. Only with durability Quorum. Default:
	// any one standby.
	// +optional
	Quorum *QuorumSpec `json:"quorum,omitempty"`

	// readPools adds groups of instances that replicate the database asynchronously and
	// serve reads, on storage and with parameters of their own. No pool confirms a commit,
	// takes part in a failover or is promoted. A pool that is removed is deleted with its
	// volumes. Valid: at most 8 pools.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	ReadPools []ReadPool `json:"readPools,omitempty"`

	// follow makes this database the follower of another PgStorageCluster. The operator
	// sets it on the PgStorageClusters of spec.readPools, and it cannot be added or
	// removed.
	// +optional
	Follow *FollowSpec `json:"follow,omitempty"`

	// topology makes this database one site of several, of which one writes. It can be added
	// to a database that is to stay the one that writes, and removed from it. Not together
	// with readPools, follow or durability Ephemeral.
	// +optional
	Topology *TopologySpec `json:"topology,omitempty"`

	// backup archives WAL and takes base backups. It can be added, changed and removed while
	// the database runs; each restarts the instances one by one. Default: there is none, and
	// a lost site loses the database.
	// +optional
	Backup *BackupSpec `json:"backup,omitempty"`

	// origin restores the database from backups, in place of an empty one. Only a new
	// database takes it, and it is immutable.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.origin is immutable: a database is restored once, when it is made; create a new PgStorageCluster"
	Origin *OriginSpec `json:"origin,omitempty"`

	// branchPolicy selects the PgStorageBranches that may copy this database. Their authors
	// reach all of its data. None: no branch is made. Any: every PgStorageBranch of the
	// namespace may copy it. Withdrawing the consent does not delete branches that exist.
	// Default: None.
	// +optional
	// +kubebuilder:default=None
	BranchPolicy BranchPolicy `json:"branchPolicy,omitempty"`

	// monitoring sets how Prometheus scrapes the instances.
	// +optional
	Monitoring *Monitoring `json:"monitoring,omitempty"`

	// benchmark runs pgbench once the database is Ready, and again whenever this field
	// changes. The result is a PgBenchmark that this cluster owns.
	// +optional
	Benchmark *InlineBenchmark `json:"benchmark,omitempty"`

	// benchmarkPolicy selects the PgBenchmarks that may run against this cluster. They
	// fill its volumes and load its server. Own: the one that spec.benchmark declares.
	// Any: every PgBenchmark of the namespace, including those of schedules and
	// matrices. Withdrawing the consent does not stop a benchmark that has started.
	// Default: Own.
	// +optional
	// +kubebuilder:default=Own
	BenchmarkPolicy BenchmarkPolicy `json:"benchmarkPolicy,omitempty"`

	// deletionPolicy selects what happens to the database when this object is deleted.
	// Retain keeps the CloudNativePG Cluster and its volumes. Delete deletes them with
	// all their data. Default: Retain.
	// +optional
	// +kubebuilder:default=Retain
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// suspend pauses the operator for this cluster: it applies and deletes nothing
	// until suspend is false again. The database keeps running. Default: false.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// cnpg sets fields of the CloudNativePG Cluster that this API does not model.
	// +optional
	CNPG *CNPGOverrides `json:"cnpg,omitempty"`
}

// PostgresSpec selects the version of Postgres and configures it.
// +kubebuilder:validation:XValidation:rule="!has(self.image) || !self.version.matches('^1[4-8]([.][0-9]{1,2})?$') || self.image.split('@')[0].matches(':' + self.version.split('.')[0] + '([^0-9/:][^/:]*)?$')",message="spec.postgres.image: its tag must begin with the major of spec.postgres.version, because CloudNativePG reads the major from the tag; change the tag or the version",fieldPath=".image"
type PostgresSpec struct {
	// version selects the version of PostgreSQL: a major ("17") or major.minor
	// ("17.6"), from 14 to 18. The major cannot be lowered; raising it starts
	// CloudNativePG's offline in-place major upgrade.
	// +required
	// +kubebuilder:validation:MaxLength=8
	// +kubebuilder:validation:XValidation:rule="self.matches('^1[4-8]([.][0-9]{1,2})?$')",message="spec.postgres.version must be a PostgreSQL version from 14 to 18, as \"17\" or \"17.6\""
	// +kubebuilder:validation:XValidation:rule="!self.matches('^1[4-8]([.][0-9]{1,2})?$') || !oldSelf.matches('^1[4-8]([.][0-9]{1,2})?$') || int(self.split('.')[0]) >= int(oldSelf.split('.')[0])",message="spec.postgres.version: the major version cannot be lowered; create a new cluster and restore a dump into it"
	Version string `json:"version,omitempty"`

	// image sets the complete image of Postgres, in place of the operator's image
	// repository with version as tag. Its tag must begin with version's major, because
	// CloudNativePG reads the major from the tag. An image of another repository needs
	// imageName in spec.allowedOverrides of the PgStorageProfile.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^@ ]+:1[4-8][^/: ]*(@sha256:[0-9a-f]{64})?$')",message="spec.postgres.image must be repository:tag with a tag that begins with the PostgreSQL major version, as registry.example/postgresql:17.6"
	Image string `json:"image,omitempty"`

	// database sets the name of the application's first database. Immutable: only
	// initdb uses it. Default: app.
	// +optional
	// +kubebuilder:default=app
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z_][a-z0-9_]*$') && !(self in ['postgres', 'template0', 'template1']) && !self.startsWith('pgstorage_')",message="spec.postgres.database must be a plain lower-case identifier that is not postgres, template0, template1 or pgstorage_*"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.postgres.database is immutable because only initdb uses it; create further databases with CloudNativePG's Database kind"
	Database string `json:"database,omitempty"`

	// owner sets the role that owns database. Its password is in the Secret that
	// status.secrets.application names. Immutable. Default: app.
	// +optional
	// +kubebuilder:default=app
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z_][a-z0-9_]*$') && !(self in ['postgres', 'streaming_replica']) && !self.startsWith('pg_') && !self.startsWith('cnpg_') && !self.startsWith('pgstorage_')",message="spec.postgres.owner must be a plain lower-case identifier that is not postgres, streaming_replica, pg_*, cnpg_* or pgstorage_*"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.postgres.owner is immutable because only initdb uses it; create further roles with CloudNativePG's DatabaseRole kind"
	Owner string `json:"owner,omitempty"`

	// parameters sets Postgres parameters by name, in Postgres units ("64MB", "5min").
	// They override computed values. The operator rejects parameters that are unknown,
	// out of range, fixed by CloudNativePG, or unsafe (fsync=off, synchronous_commit
	// below the tier). It applies full_page_writes=off only while every volume provably
	// never tears a page. That needs a profile of type ZFSLocalPV or S3NBD, and
	// status.parameters reports what is missing. Valid: at most 128 parameters, 1024 characters a value,
	// 16384 characters for all names and values together.
	// +optional
	// +kubebuilder:validation:MaxProperties=128
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 127 && size(self[k]) <= 1024) && self.map(k, size(k) + size(self[k])).sum() <= 16384",message="spec.postgres.parameters: names have at most 127 characters, values at most 1024, and all of them together at most 16384; shorten or remove some"
	// +kubebuilder:validation:XValidation:rule="!('fsync' in self) || self['fsync'].lowerAscii() in ['on', 'true', 'yes', '1']",message="spec.postgres.parameters[fsync] must stay on: off lets a crash corrupt the database beyond recovery; remove it, or use durability: Async for faster commits"
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k in ['archive_mode','archive_command','restore_command','archive_cleanup_command','primary_conninfo','primary_slot_name','synchronous_standby_names','listen_addresses','port','data_directory','config_file','hba_file','ident_file','ssl','ssl_cert_file','ssl_key_file','ssl_ca_file','unix_socket_directories','cluster_name','hot_standby','logging_collector','log_destination','log_directory','log_filename','recovery_target','recovery_min_apply_delay'])",message="spec.postgres.parameters has a parameter that CloudNativePG sets itself (archiving, replication, connection, TLS, paths or logging); remove it, see docs/spec/pgstoragecluster.md"
	// +kubebuilder:validation:XValidation:rule="!('shared_preload_libraries' in self)",message="spec.postgres.parameters[shared_preload_libraries]: CloudNativePG has its own field; set spec.cnpg.spec.postgresql.shared_preload_libraries"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[a-z_][a-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)?$'))",message="spec.postgres.parameters: names are lower-case Postgres names, as work_mem or pg_stat_statements.max"
	Parameters map[string]string `json:"parameters,omitempty"`
}

// PodMonitorMode selects whether the operator creates a PodMonitor.
// +kubebuilder:validation:Enum=Auto;Disabled
type PodMonitorMode string

const (
	// PodMonitorAuto creates a PodMonitor when the prometheus-operator is installed.
	PodMonitorAuto PodMonitorMode = "Auto"
	// PodMonitorDisabled creates none.
	PodMonitorDisabled PodMonitorMode = "Disabled"
)

// Monitoring sets how Prometheus scrapes the instances.
type Monitoring struct {
	// podMonitor selects whether the operator creates a PodMonitor for the instances'
	// metrics port. Auto creates one when the PodMonitor CRD is installed; Disabled
	// creates none. Default: Auto.
	// +optional
	// +kubebuilder:default=Auto
	PodMonitor PodMonitorMode `json:"podMonitor,omitempty"`
}

// InlineBenchmark is a PgBenchmark that follows its cluster.
// +kubebuilder:validation:XValidation:rule="!has(self.coldCache) || !self.coldCache",message="spec.benchmark.coldCache empties caches of the server, which is allowed only on temporary clusters of a matrix; remove it, or create a PgBenchmark with spec.template",fieldPath=".coldCache"
type InlineBenchmark struct {
	PgbenchSpec `json:",inline"`
}

// CNPGOverrides sets fields of the CloudNativePG Cluster.
type CNPGOverrides struct {
	// spec is merged into the spec of the CloudNativePG Cluster
	// (https://cloudnative-pg.io/documentation/current/cloudnative-pg.v1/). Every user
	// may set fields that grant no privileges: most of affinity, managed roles without
	// attributes, probes, locales, pg_hba rules that require a password. Fields that
	// change the privileges of pods, use Secrets, run SQL as superuser, or copy data
	// need an entry in spec.allowedOverrides of the PgStorageProfile. Fields that this
	// API sets are rejected. docs/spec/pgstoragecluster.md lists all of them. Valid: 64
	// fields, 65536 bytes of JSON.
	// +required
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Spec *runtime.RawExtension `json:"spec,omitempty"`
}

// PgStorageCluster is a Postgres cluster together with the storage it runs on.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=pgsc,categories=pgstorage
// +kubebuilder:selectablefield:JSONPath=`.spec.profile`
// +kubebuilder:printcolumn:name="Profile",type=string,JSONPath=`.spec.profile`
// +kubebuilder:printcolumn:name="Instances",type=integer,JSONPath=`.spec.instances`
// +kubebuilder:printcolumn:name="Up",type=integer,JSONPath=`.status.database.readyInstances`
// +kubebuilder:printcolumn:name="Primary",type=string,JSONPath=`.status.database.primary`
// +kubebuilder:printcolumn:name="Durability",type=string,JSONPath=`.spec.durability`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 50 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be at most 50 lower-case letters, digits and '-', and begin with a letter: CloudNativePG names pods, Services and Secrets after it"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.readPools) || self.spec.readPools.all(p, size(self.metadata.name) + size(p.name) <= 49)",message="spec.readPools[].name: <cluster>-<name> must be at most 50 characters, because CloudNativePG names pods, Services and Secrets after it; shorten the name",fieldPath=".spec.readPools"
type PgStorageCluster struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec declares the cluster.
	// +required
	Spec PgStorageClusterSpec `json:"spec,omitzero"`
	// status is the observed state of the cluster.
	// +optional
	Status PgStorageClusterStatus `json:"status,omitzero"`
}

// PgStorageClusterList is a list of PgStorageClusters.
// +kubebuilder:object:root=true
type PgStorageClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []PgStorageCluster `json:"items"`
}
