package v1alpha1

// DurabilityReadOnly is the tier of a benchmark of a database that follows another one. It
// acknowledges no commit, so its results are comparable only with those of other followers.
const DurabilityReadOnly DurabilityTier = "ReadOnly"

// BenchmarkRun is the report of the runner.
type BenchmarkRun struct {
	// attempt is the UID of the runner's pod, which separates its report from that of
	// an older pod.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Attempt string `json:"attempt,omitempty"`
	// phase is one of MeasuringLayers, Initialising, WarmingUp, Running,
	// CheckingIntegrity, Succeeded, Failed.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Phase string `json:"phase,omitempty"`
	// percent is the share of the whole work that is done, 0 to 100.
	// +optional
	Percent int32 `json:"percent"`
	// message describes the current activity, or why the run failed.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`
	// reason explains a failure in one word: Failed, IntegrityFailed,
	// DurabilityMismatch, CacheNotEmptied, NotEnoughSpace, FreeSpaceLow, Interrupted.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
	// serverVersion is the version of Postgres, as "17.6".
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ServerVersion string `json:"serverVersion,omitempty"`
	// fingerprint is a SHA-256 of every setting of the server that differs from its
	// default. Results with the same fingerprint ran on the same settings.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Fingerprint string `json:"fingerprint,omitempty"`
	// durability is the tier that the runner verified, or Unverified where a custom
	// script may have changed what a commit waits for. ReadOnly where the database
	// follows another one.
	// +optional
	Durability DurabilityTier `json:"durability,omitempty"`
	// durabilityNote explains why the tier is not verified, in at most 1000 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=1000
	DurabilityNote string `json:"durabilityNote,omitempty"`
	// synchronousCommit is the server's setting during the run.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	SynchronousCommit string `json:"synchronousCommit,omitempty"`
	// synchronousStandbyNames is the server's setting during the run.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	SynchronousStandbyNames string `json:"synchronousStandbyNames,omitempty"`
	// record is the name of the ConfigMap with the details of each run: throughput by
	// second, latencies, observations and settings, as gzipped JSON in binaryData. It
	// is absent when none was written.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Record string `json:"record,omitempty"`
	// results lists one result for each client count.
	// +optional
	// +listType=map
	// +listMapKey=clients
	// +kubebuilder:validation:MaxItems=16
	Results []BenchmarkResult `json:"results,omitempty"`
	// integrity lists the findings of the checks after the run.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Integrity []IntegrityCheck `json:"integrity,omitempty"`
	// layers lists the layers of the storage, from the lowest up.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Layers []BenchmarkLayer `json:"layers,omitempty"`
	// layersVerdict summarizes what each layer costs, as far as the repeats allow.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	LayersVerdict string `json:"layersVerdict,omitempty"`
}

// BenchmarkResult is the median run of one client count, among the valid runs. A run
// that a check rejects is excluded, unless all are rejected. Figures are decimal
// numbers in strings; latencies are in milliseconds.
type BenchmarkResult struct {
	// clients is the number of clients of pgbench.
	// +required
	Clients int32 `json:"clients,omitempty"`
	// jobs is the number of threads of pgbench.
	// +optional
	Jobs int32 `json:"jobs,omitempty"`
	// tps is transactions per second, without initial connection time: the median
	// of the repeats.
	// +required
	// +kubebuilder:validation:MaxLength=64
	TPS string `json:"tps,omitempty"`
	// tpsOfRuns lists the figures of all repeats, the first one first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=64
	TPSOfRuns []string `json:"tpsOfRuns,omitempty"`
	// rejected counts the repeats that a check rejects.
	// +optional
	Rejected int32 `json:"rejected,omitempty"`
	// passed lists the checks that found nothing in any repeat.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=64
	Passed []string `json:"passed,omitempty"`
	// findings lists the other checks, with the worst finding of each over the repeats.
	// +optional
	// +listType=map
	// +listMapKey=check
	// +kubebuilder:validation:MaxItems=32
	Findings []BenchmarkFinding `json:"findings,omitempty"`
	// latencyAverage is in milliseconds.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	LatencyAverage string `json:"latencyAverage,omitempty"`
	// latencyStddev is the standard deviation in milliseconds.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	LatencyStddev string `json:"latencyStddev,omitempty"`
	// latencyP50 is in milliseconds, from the transaction log.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	LatencyP50 string `json:"latencyP50,omitempty"`
	// latencyP95 is in milliseconds, from the transaction log.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	LatencyP95 string `json:"latencyP95,omitempty"`
	// latencyP99 is in milliseconds, from the transaction log.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	LatencyP99 string `json:"latencyP99,omitempty"`
	// transactions counts the processed transactions.
	// +optional
	Transactions int64 `json:"transactions,omitempty"`
	// failed counts the failed transactions.
	// +optional
	Failed int64 `json:"failed"`
	// retried counts the transactions that were retried.
	// +optional
	Retried int64 `json:"retried"`
	// statements lists the latency of each statement of the script.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=40
	Statements []StatementLatency `json:"statements,omitempty"`
}

// BenchmarkFinding is the finding of one check, from what was observed during the runs.
type BenchmarkFinding struct {
	// check is one of Flush, Dataset, Checkpoint, Client, Throttling, Autovacuum,
	// Backup, Neighbours, Clock, Failures, Steadiness or Repeats.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Check string `json:"check,omitempty"`
	// verdict is Rejected, Caution or NotRun. Rejected: the figure does not measure
	// what it claims. Caution: the figure is correct, but means less than it seems.
	// NotRun: the check lacked its observations.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Verdict string `json:"verdict,omitempty"`
	// reason explains the verdict in one word.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
	// message describes the observation in the first such repeat and what to do, in at
	// most 400 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
	// runs counts the repeats with this verdict; absent for Repeats, which covers all
	// of them.
	// +optional
	Runs int32 `json:"runs,omitempty"`
}

// StatementLatency is the average latency of one statement of a script.
type StatementLatency struct {
	// sql is the statement as pgbench prints it, at most 200 characters.
	// +required
	// +kubebuilder:validation:MaxLength=256
	SQL string `json:"sql,omitempty"`
	// latencyAverage is in milliseconds.
	// +required
	// +kubebuilder:validation:MaxLength=64
	LatencyAverage string `json:"latencyAverage,omitempty"`
	// failures counts the failures of the statement.
	// +optional
	Failures int64 `json:"failures,omitempty"`
	// retries counts the retries of the statement.
	// +optional
	Retries int64 `json:"retries,omitempty"`
}

// Results of an IntegrityCheck.
const (
	CheckPassed = "Passed"
	CheckFailed = "Failed"
	CheckNotRun = "NotRun"
)

// IntegrityCheck is one check after a run.
type IntegrityCheck struct {
	// name of the check. In benchmarks it is Checksums, Invariants or Amcheck.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name,omitempty"`
	// result is Passed, Failed or NotRun.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Result string `json:"result,omitempty"`
	// message describes the finding, or why the check did not run.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}
