package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
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
