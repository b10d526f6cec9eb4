package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Script is a built-in script of pgbench
// (https://www.postgresql.org/docs/current/pgbench.html).
// +kubebuilder:validation:Enum=TPCB;SimpleUpdate;SelectOnly
type Script string

// The built-in scripts: pgbench's tpcb-like, simple-update and select-only.
const (
	ScriptTPCB         Script = "TPCB"
	ScriptSimpleUpdate Script = "SimpleUpdate"
	ScriptSelectOnly   Script = "SelectOnly"
)

// Protocol is pgbench's query mode.
// +kubebuilder:validation:Enum=Simple;Extended;Prepared
type Protocol string

// The protocols of pgbench -M.
const (
	ProtocolSimple   Protocol = "Simple"
	ProtocolExtended Protocol = "Extended"
	ProtocolPrepared Protocol = "Prepared"
)

// CleanupPolicy says what stays after a benchmark.
// +kubebuilder:validation:Enum=Always;OnSuccess;Never
type CleanupPolicy string

const (
	// CleanupAlways removes the Job, database and role when the run has ended.
	CleanupAlways CleanupPolicy = "Always"
	// CleanupOnSuccess keeps them after a failed run, to look at.
	CleanupOnSuccess CleanupPolicy = "OnSuccess"
	// CleanupNever keeps them until the PgBenchmark is deleted.
	CleanupNever CleanupPolicy = "Never"
)

// IntegrityMode chooses the checks after a run.
// +kubebuilder:validation:Enum=Full;Basic
type IntegrityMode string

const (
	// IntegrityFull adds pg_amcheck to Basic. It needs a superuser role until the
	// benchmark has ended.
	IntegrityFull IntegrityMode = "Full"
	// IntegrityBasic checks pgbench's own invariants and checksum failures.
	IntegrityBasic IntegrityMode = "Basic"
)

// PgbenchSpec is what pgbench does.
// +kubebuilder:validation:XValidation:rule="!(has(self.duration) && has(self.transactions))",message="duration and transactions exclude each other: pgbench runs for a time or for a number of transactions; remove one",fieldPath=".transactions"
// +kubebuilder:validation:XValidation:rule="!(has(self.script) && has(self.customScripts))",message="script and customScripts exclude each other; remove one",fieldPath=".customScripts"
// +kubebuilder:validation:XValidation:rule="!has(self.coldCache) || !self.coldCache || duration(self.warmUp) == duration('0s')",message="coldCache needs warmUp: 0s, because a warm-up fills the caches that it empties",fieldPath=".coldCache"
// +kubebuilder:validation:XValidation:rule="!has(self.coldCache) || !self.coldCache || self.integrity == 'Full'",message="coldCache needs integrity: Full, whose superuser empties the caches",fieldPath=".coldCache"
type PgbenchSpec struct {
	// scale of pgbench's tables: 100,000 accounts and about 16 MB each. A benchmark
	// is refused where twice that, and the WAL that loading writes, does not fit the
	// cluster's volumes.
	// Bounds: 1 to 100000. Default: 10.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	Scale int32 `json:"scale,omitempty"`

	// script is the built-in script. Default, without customScripts: TPCB.
	// +optional
	Script Script `json:"script,omitempty"`

	// customScripts run in place of the built-in script, chosen by weight. They
	// run in the benchmark's own database as its own role.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	CustomScripts []CustomScript `json:"customScripts,omitempty"`

	// clients is the list of client counts, each measured in turn.
	// Bounds: 1 to 16 counts of 1 to 1000. Default: [1, 4].
	// +optional
	// +listType=set
	// +kubebuilder:default={1,4}
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=1000
	Clients []int32 `json:"clients,omitempty"`

	// jobs is the number of pgbench threads. Bounds: 1 to 256. Default: the
	// client count, at most the runner's CPU limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=256
	Jobs *int32 `json:"jobs,omitempty"`

	// duration of each run, whole seconds from 1s to 24h. Default, without
	// transactions: 60s.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+h)?([0-9]+m)?([0-9]+s)?$') && self != '' && duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="duration must be whole hours, minutes and seconds from 1s to 24h, as 5m or 90s"
	Duration string `json:"duration,omitempty"`

	// transactions of each client in each run, in place of duration.
	// Bounds: 1 to 1000000000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	Transactions *int32 `json:"transactions,omitempty"`

	// warmUp before the first measured run, from 0s to 1h; its figures are thrown
	// away. Default: 5s.
	// +optional
	// +kubebuilder:default="5s"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+h)?([0-9]+m)?([0-9]+s)?$') && self != '' && duration(self) <= duration('1h')",message="warmUp must be whole hours, minutes and seconds from 0s to 1h, as 30s"
	WarmUp string `json:"warmUp,omitempty"`

	// coldCache empties shared_buffers and the kernel's page cache of the database
	// before each measured run, and proves by reads that come from the device that
	// they are empty. Only for the clusters that a matrix makes from its template,
	// of PostgreSQL 17 or newer, with warmUp 0s, which would fill them again, and
	// integrity Full, whose superuser empties them. On ZFS a run fails with
	// CacheNotEmptied: a pod cannot empty the ARC. Default: false.
	// +optional
	ColdCache bool `json:"coldCache,omitempty"`

	// repeats of the whole list of client counts, interleaved so that a drift of
	// the machine meets all counts alike. The result is their median.
	// Bounds: 1 to 20. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	Repeats int32 `json:"repeats,omitempty"`

	// rate is the target of transactions per second (pgbench --rate); absent: as
	// fast as possible. Bounds: 1 to 10000000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000
	Rate *int32 `json:"rate,omitempty"`

	// protocol of pgbench -M. Default: Simple, as pgbench.
	// +optional
	// +kubebuilder:default=Simple
	Protocol Protocol `json:"protocol,omitempty"`

	// maxTries of a transaction that fails with a serialization error or a
	// deadlock. Bounds: 1 to 1000. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxTries int32 `json:"maxTries,omitempty"`

	// integrity chooses the checks after the run. Basic: checksum failures and
	// pgbench's own invariants. Full (default): pg_amcheck of the benchmark's
	// database too, and what the server's kernel tells. That needs a superuser role
	// until the benchmark has ended; it connects to no database that a script owns.
	// +optional
	// +kubebuilder:default=Full
	Integrity IntegrityMode `json:"integrity,omitempty"`

	// cleanup says what stays after the run: Always (default) removes the Job, the
	// database and its owner; OnSuccess keeps them after a failure; Never keeps
	// them until the PgBenchmark is deleted. A run that was stopped because free
	// space was low keeps nothing. The superuser of integrity Full is always
	// removed.
	// +optional
	// +kubebuilder:default=Always
	Cleanup CleanupPolicy `json:"cleanup,omitempty"`

	// resources of the runner's pod. Default: requests of 100m CPU and 128Mi.
	// +optional
	Resources *RunnerResources `json:"resources,omitempty"`
}

// RunnerResources are the compute resources of the runner's pod.
type RunnerResources struct {
	// requests reserve CPU and memory. Bounds: cpu, memory and ephemeral-storage.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['cpu', 'memory', 'ephemeral-storage'])",message="spec.pgbench.resources.requests may name cpu, memory and ephemeral-storage only"
	Requests map[corev1.ResourceName]resource.Quantity `json:"requests,omitempty"`
	// limits bound the runner. Bounds: cpu, memory and ephemeral-storage.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['cpu', 'memory', 'ephemeral-storage'])",message="spec.pgbench.resources.limits may name cpu, memory and ephemeral-storage only"
	Limits map[corev1.ResourceName]resource.Quantity `json:"limits,omitempty"`
}

// CustomScript is one file of SQL for pgbench --file.
type CustomScript struct {
	// configMap in the namespace of the benchmark that holds the script.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ConfigMap string `json:"configMap,omitempty"`
	// key of the script in the ConfigMap; unique within the benchmark. A script with
	// \shell or \setshell is refused.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]+$')",message="customScripts[].key must be a key of a ConfigMap: letters, digits, '-', '_' and '.'"
	Key string `json:"key,omitempty"`
	// weight of the script against the others. Bounds: 1 to 1000. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Weight int32 `json:"weight,omitempty"`
}

// PgBenchmarkSpec is a benchmark of one cluster, or of a matrix of variants.
// +kubebuilder:validation:XValidation:rule="has(self.cluster) != has(self.template)",message="spec needs either cluster or template: name the PgStorageCluster that is measured, or give the template that a matrix makes its own clusters from"
// +kubebuilder:validation:XValidation:rule="!has(self.template) || has(self.matrix)",message="spec.template is used by a matrix alone: add spec.matrix, which may be {} for one variant, or name a cluster in spec.cluster"
// +kubebuilder:validation:XValidation:rule="!has(self.gate) || has(self.matrix)",message="spec.gate compares the repeats of a matrix: add spec.matrix, which may be {} for one variant"
// +kubebuilder:validation:XValidation:rule="!has(self.matrix) || has(self.template) || !(has(self.matrix.profiles) || has(self.matrix.durability) || has(self.matrix.parameters)) && (!has(self.matrix.variants) || self.matrix.variants.all(v, !has(v.profile) && !has(v.durability) && !has(v.parameters)))",message="spec.matrix: profiles, durability and parameters need clusters of their own; give spec.template in place of spec.cluster"
// +kubebuilder:validation:XValidation:rule="!has(self.template) || !has(self.matrix) || has(self.template.profile) != (has(self.matrix.profiles) || has(self.matrix.variants) && self.matrix.variants.all(v, has(v.profile)))",message="spec.template.profile is needed where spec.matrix does not name a profile for every variant, and unused where it does; add or remove it",fieldPath=".template"
// +kubebuilder:validation:XValidation:rule="!has(self.template) || !has(self.matrix) || has(self.template.durability) != (has(self.matrix.durability) || has(self.matrix.variants) && self.matrix.variants.all(v, has(v.durability)))",message="spec.template.durability is needed where spec.matrix does not name a tier for every variant, and unused where it does; add or remove it",fieldPath=".template"
// +kubebuilder:validation:XValidation:rule="!has(self.template) || self.template.instances >= 2 || !(has(self.template.durability) && self.template.durability == 'Quorum' || has(self.matrix) && has(self.matrix.durability) && 'Quorum' in self.matrix.durability || has(self.matrix) && has(self.matrix.variants) && self.matrix.variants.exists(v, has(v.durability) && v.durability == 'Quorum'))",message="spec.template.instances must be at least 2 for the tier Quorum, because a commit waits for a standby; raise it or leave Quorum out",fieldPath=".template"
// +kubebuilder:validation:XValidation:rule="!has(self.matrix) || !has(self.matrix.scripts) || !has(self.pgbench.script) && !has(self.pgbench.customScripts)",message="spec.matrix.scripts excludes spec.pgbench.script and spec.pgbench.customScripts; remove one",fieldPath=".matrix"
// +kubebuilder:validation:XValidation:rule="!has(self.matrix) || self.pgbench.repeats == 1",message="spec.pgbench.repeats must be 1 with a matrix, whose own repeats run every variant once a round; set spec.matrix.repeats instead",fieldPath=".pgbench"
// +kubebuilder:validation:XValidation:rule="!has(self.matrix) || size(self.pgbench.clients) * (has(self.matrix.variants) ? size(self.matrix.variants) : 1) * (has(self.matrix.profiles) ? size(self.matrix.profiles) : 1) * (has(self.matrix.durability) ? size(self.matrix.durability) : 1) * (has(self.matrix.scripts) ? size(self.matrix.scripts) : 1) * (has(self.matrix.parameters) ? size(self.matrix.parameters[0].values) * (size(self.matrix.parameters) > 1 ? size(self.matrix.parameters[1].values) : 1) * (size(self.matrix.parameters) > 2 ? size(self.matrix.parameters[2].values) : 1) * (size(self.matrix.parameters) > 3 ? size(self.matrix.parameters[3].values) : 1) : 1) <= 64",message="spec.matrix has more than 64 variants, with spec.pgbench.clients as one of its axes: take values away, or name in spec.matrix.variants those that matter",fieldPath=".matrix"
// +kubebuilder:validation:XValidation:rule="!has(self.pgbench.coldCache) || !self.pgbench.coldCache || !has(self.matrix) || has(self.template)",message="spec.pgbench.coldCache empties caches of the server, which only clusters of the matrix' own may have done to them; give spec.template in place of spec.cluster, or leave it out",fieldPath=".pgbench"
// +kubebuilder:validation:XValidation:rule="!has(self.pgbench.coldCache) || !self.pgbench.coldCache || !has(self.template) || int(self.template.postgres.version.split('.')[0]) >= 17",message="spec.pgbench.coldCache needs pg_buffercache_evict of PostgreSQL 17; raise spec.template.postgres.version or leave it out",fieldPath=".pgbench"
type PgBenchmarkSpec struct {
	// cluster is the name of the PgStorageCluster that is measured, in the same
	// namespace. A matrix with a template has clusters of its own instead.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=50
	Cluster string `json:"cluster,omitempty"`

	// template of the PgStorageClusters that a matrix makes for itself: one for each
	// combination of profile, durability and parameters, deleted with its data after
	// its last run. Alpha: refused unless the manager has
	// --feature-gates=MatrixClusters=true.
	// +optional
	Template *ClusterTemplate `json:"template,omitempty"`

	// matrix measures variants against each other: a product of axes or variants by
	// name, each by each of pgbench.clients, repeated in rounds. Absent: one run.
	// +optional
	Matrix *BenchmarkMatrix `json:"matrix,omitempty"`

	// gate compares the result of the matrix with an older one; the condition
	// NotRegressed says what was found.
	// +optional
	Gate *BenchmarkGate `json:"gate,omitempty"`

	// layers measures what each layer of the storage costs, before the tables are
	// filled. Of a matrix, before each of its runs. Absent: nothing of it is measured.
	// +optional
	Layers *BenchmarkLayers `json:"layers,omitempty"`

	// pgbench is what is run.
	// +optional
	// +kubebuilder:default={}
	Pgbench PgbenchSpec `json:"pgbench,omitzero"`
}

// PgBenchmarkStatus is the progress and result of a benchmark.
type PgBenchmarkStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions: Ready, Reconciling, Stalled, TargetReady, Complete,
	// IntegrityVerified, LayersMeasured, Believable, CleanedUp, NotRegressed.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// phase: Pending, Preparing, MeasuringLayers, Initialising, WarmingUp, Running,
	// CheckingIntegrity, Resting (of a matrix), Succeeded or Failed.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Phase string `json:"phase,omitempty"`

	// bestTPS is the highest median of transactions per second over the client
	// counts, or over the variants of a matrix where all have one tier.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	BestTPS string `json:"bestTPS,omitempty"`

	// durability is the tier of the cluster when it was measured, or Unverified where a
	// custom script may have changed what a commit waits for. Results of different
	// tiers do not compare; a matrix of several tiers has none here.
	// +optional
	Durability DurabilityTier `json:"durability,omitempty"`

	// job is the name of the Job that runs pgbench.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Job string `json:"job,omitempty"`

	// completionTime is when the run ended.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// run is what the runner beside pgbench reports; the runner alone writes it.
	// +optional
	Run *BenchmarkRun `json:"run,omitempty"`

	// matrix is the progress and result of a matrix, whose single runs are
	// PgBenchmarks of their own.
	// +optional
	Matrix *MatrixStatus `json:"matrix,omitempty"`
}

// BenchmarkRun is the report of the runner.
type BenchmarkRun struct {
	// attempt is the UID of the runner's pod: a report of an older pod is not
	// mixed with a newer one.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Attempt string `json:"attempt,omitempty"`
	// phase: MeasuringLayers, Initialising, WarmingUp, Running, CheckingIntegrity,
	// Succeeded, Failed.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Phase string `json:"phase,omitempty"`
	// percent of the whole work done, 0 to 100.
	// +optional
	Percent int32 `json:"percent"`
	// message says what is done now, or why it failed.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`
	// reason of a failure: Failed, IntegrityFailed, DurabilityMismatch, CacheNotEmptied,
	// NotEnoughSpace, FreeSpaceLow, Interrupted.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
	// serverVersion of Postgres, as "17.6".
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ServerVersion string `json:"serverVersion,omitempty"`
	// fingerprint is a SHA-256 of every setting of the server that differs from
	// its default: results with the same fingerprint ran on the same settings.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Fingerprint string `json:"fingerprint,omitempty"`
	// durability is the tier that the runner verified, or Unverified where a custom
	// script may have changed what a commit waits for.
	// +optional
	Durability DurabilityTier `json:"durability,omitempty"`
	// durabilityNote says why the tier is not verified, in at most 1000 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=1000
	DurabilityNote string `json:"durabilityNote,omitempty"`
	// synchronousCommit as the server had it during the run.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	SynchronousCommit string `json:"synchronousCommit,omitempty"`
	// synchronousStandbyNames as the server had it during the run.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	SynchronousStandbyNames string `json:"synchronousStandbyNames,omitempty"`
	// record is the name of the ConfigMap that holds each run by itself: its seconds,
	// latencies, what was observed beside it and its settings, as gzip of JSON in
	// binaryData. Absent where none was written.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Record string `json:"record,omitempty"`
	// results, one for each client count.
	// +optional
	// +listType=map
	// +listMapKey=clients
	// +kubebuilder:validation:MaxItems=16
	Results []BenchmarkResult `json:"results,omitempty"`
	// integrity is what the checks after the run found.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Integrity []IntegrityCheck `json:"integrity,omitempty"`
	// layers of the storage, from the lowest up.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Layers []BenchmarkLayer `json:"layers,omitempty"`
	// layersVerdict says in a sentence which layer costs what, as far as the repeats
	// allow.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	LayersVerdict string `json:"layersVerdict,omitempty"`
}

// BenchmarkResult is the median run of one client count, of those that count: a run
// that a check rejects does not, unless all are rejected. Figures are decimal numbers
// in strings; latencies are milliseconds.
type BenchmarkResult struct {
	// clients of pgbench.
	// +required
	Clients int32 `json:"clients,omitempty"`
	// jobs (threads) of pgbench.
	// +optional
	Jobs int32 `json:"jobs,omitempty"`
	// tps is transactions per second, without initial connection time: the median
	// of the repeats.
	// +required
	// +kubebuilder:validation:MaxLength=64
	TPS string `json:"tps,omitempty"`
	// tpsOfRuns are the figures of all repeats, in order.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=64
	TPSOfRuns []string `json:"tpsOfRuns,omitempty"`
	// rejected is the number of repeats that a check rejects.
	// +optional
	Rejected int32 `json:"rejected,omitempty"`
	// passed are the names of the checks that found nothing in any repeat.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=64
	Passed []string `json:"passed,omitempty"`
	// findings of the other checks, the worst of each over the repeats.
	// +optional
	// +listType=map
	// +listMapKey=check
	// +kubebuilder:validation:MaxItems=32
	Findings []BenchmarkFinding `json:"findings,omitempty"`
	// latencyAverage in milliseconds.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	LatencyAverage string `json:"latencyAverage,omitempty"`
	// latencyStddev is the standard deviation in milliseconds.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	LatencyStddev string `json:"latencyStddev,omitempty"`
	// latencyP50 in milliseconds, from the transaction log.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	LatencyP50 string `json:"latencyP50,omitempty"`
	// latencyP95 in milliseconds, from the transaction log.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	LatencyP95 string `json:"latencyP95,omitempty"`
	// latencyP99 in milliseconds, from the transaction log.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	LatencyP99 string `json:"latencyP99,omitempty"`
	// transactions processed.
	// +optional
	Transactions int64 `json:"transactions,omitempty"`
	// failed transactions.
	// +optional
	Failed int64 `json:"failed"`
	// retried transactions.
	// +optional
	Retried int64 `json:"retried"`
	// statements are the latencies of each statement of the script.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=40
	Statements []StatementLatency `json:"statements,omitempty"`
}

// BenchmarkFinding is what a check says of the runs, from what was observed while they
// ran.
type BenchmarkFinding struct {
	// check: Flush, Dataset, Checkpoint, Client, Throttling, Autovacuum, Backup,
	// Neighbours, Clock, Failures, Steadiness or Repeats.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Check string `json:"check,omitempty"`
	// verdict: Rejected (the figure is not of what it claims to be), Caution (it is
	// right and says less than it seems to) or NotRun (what it needs was not
	// observed).
	// +required
	// +kubebuilder:validation:MaxLength=64
	Verdict string `json:"verdict,omitempty"`
	// reason of the verdict.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
	// message says what was seen in the first such repeat and what to do, in at most
	// 400 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
	// runs is the number of repeats with this verdict; absent for Repeats, which is
	// of all of them.
	// +optional
	Runs int32 `json:"runs,omitempty"`
}

// StatementLatency is the average latency of one statement of a script.
type StatementLatency struct {
	// sql as pgbench prints it, at most 200 characters.
	// +required
	// +kubebuilder:validation:MaxLength=256
	SQL string `json:"sql,omitempty"`
	// latencyAverage in milliseconds.
	// +required
	// +kubebuilder:validation:MaxLength=64
	LatencyAverage string `json:"latencyAverage,omitempty"`
	// failures of the statement.
	// +optional
	Failures int64 `json:"failures,omitempty"`
	// retries of the statement.
	// +optional
	Retries int64 `json:"retries,omitempty"`
}

// IntegrityCheck is one check after a run.
type IntegrityCheck struct {
	// name: Checksums, Invariants or Amcheck.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name,omitempty"`
	// result: Passed, Failed or NotRun.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Result string `json:"result,omitempty"`
	// message says what was found, or why the check was not run.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// PgBenchmark measures a PgStorageCluster, or a matrix of variants, with pgbench, in
// a database and with a role of its own.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=pgb,categories=pgstorage
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.cluster`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Percent",type=integer,JSONPath=`.status.run.percent`
// +kubebuilder:printcolumn:name="Runs",type=string,JSONPath=`.status.matrix.progress`
// +kubebuilder:printcolumn:name="TPS",type=string,JSONPath=`.status.bestTPS`
// +kubebuilder:printcolumn:name="Durability",type=string,JSONPath=`.status.durability`
// +kubebuilder:printcolumn:name="Doing",type=string,JSONPath=`.status.run.message`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Believable",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Believable")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 50",message="metadata.name must be at most 50 characters: the Job and the database role are named after it"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.gate) || self.spec.gate.baseline != self.metadata.name",message="spec.gate.baseline must be another PgBenchmark than this one; name an older one with a matrix of the same variants"
type PgBenchmark struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the benchmark that is wanted. It is immutable: a benchmark is one run;
	// create another PgBenchmark for another run.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec is immutable because a PgBenchmark is one run; create another PgBenchmark"
	Spec PgBenchmarkSpec `json:"spec,omitzero"`
	// status is its progress and result.
	// +optional
	Status PgBenchmarkStatus `json:"status,omitzero"`
}

// PgBenchmarkList is a list of PgBenchmarks.
// +kubebuilder:object:root=true
type PgBenchmarkList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []PgBenchmark `json:"items"`
}
