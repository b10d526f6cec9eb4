package v1alpha1

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
