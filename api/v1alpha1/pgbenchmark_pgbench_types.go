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

// CleanupPolicy selects what is kept after a benchmark.
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

// IntegrityMode selects the checks after a run.
// +kubebuilder:validation:Enum=Full;Basic
type IntegrityMode string

const (
	// IntegrityFull adds pg_amcheck to Basic. It needs a superuser role until the
	// benchmark has ended.
	IntegrityFull IntegrityMode = "Full"
	// IntegrityBasic checks pgbench's own invariants and checksum failures.
	IntegrityBasic IntegrityMode = "Basic"
)

// PgbenchSpec sets the options of pgbench.
// +kubebuilder:validation:XValidation:rule="!(has(self.duration) && has(self.transactions))",message="duration and transactions exclude each other: pgbench runs for a time or for a number of transactions; remove one",fieldPath=".transactions"
// +kubebuilder:validation:XValidation:rule="!(has(self.script) && has(self.customScripts))",message="script and customScripts exclude each other; remove one",fieldPath=".customScripts"
// +kubebuilder:validation:XValidation:rule="!has(self.coldCache) || !self.coldCache || duration(self.warmUp) == duration('0s')",message="coldCache needs warmUp: 0s, because a warm-up fills the caches that it empties",fieldPath=".coldCache"
// +kubebuilder:validation:XValidation:rule="!has(self.coldCache) || !self.coldCache || self.integrity == 'Full'",message="coldCache needs integrity: Full, whose superuser empties the caches",fieldPath=".coldCache"
type PgbenchSpec struct {
	// scale sets the size of pgbench's tables, in units of 100,000 accounts and about
	// 16 MB. The operator rejects a benchmark when twice that size, plus the WAL of
	// loading, does not fit the cluster's volumes. Valid: 1 to 100000. Default: 10.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	Scale int32 `json:"scale,omitempty"`

	// script selects the built-in script. Default: TPCB, unless customScripts is set.
	// +optional
	Script Script `json:"script,omitempty"`

	// customScripts lists scripts that replace the built-in script; pgbench picks one
	// by weight for each transaction. They run in the benchmark's own database as its
	// own role.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	CustomScripts []CustomScript `json:"customScripts,omitempty"`

	// clients lists the numbers of clients, each measured in turn. Valid: 1 to 16
	// counts of 1 to 1000. Default: [1, 4].
	// +optional
	// +listType=set
	// +kubebuilder:default={1,4}
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=1000
	Clients []int32 `json:"clients,omitempty"`

	// jobs sets the number of pgbench threads. Valid: 1 to 256. Default: the number of
	// clients, at most the runner's CPU limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=256
	Jobs *int32 `json:"jobs,omitempty"`

	// duration sets the length of each run. Valid: whole seconds from 1s to 24h.
	// Default: 60s, unless transactions is set.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+h)?([0-9]+m)?([0-9]+s)?$') && self != '' && duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="duration must be whole hours, minutes and seconds from 1s to 24h, as 5m or 90s"
	Duration string `json:"duration,omitempty"`

	// transactions sets the number of transactions of each client in each run, in place
	// of duration. Valid: 1 to 1000000000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	Transactions *int32 `json:"transactions,omitempty"`

	// warmUp sets the length of a run before the first measured one, whose figures are
	// discarded. Valid: 0s to 1h. Default: 5s.
	// +optional
	// +kubebuilder:default="5s"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+h)?([0-9]+m)?([0-9]+s)?$') && self != '' && duration(self) <= duration('1h')",message="warmUp must be whole hours, minutes and seconds from 0s to 1h, as 30s"
	WarmUp string `json:"warmUp,omitempty"`

	// coldCache empties shared_buffers and the kernel's page cache before each measured
	// run, and verifies by device reads that they are empty. It needs a matrix with a
	// template, PostgreSQL 17 or newer, warmUp 0s and integrity Full. On ZFS a run
	// fails with CacheNotEmptied, because a pod cannot empty the ARC. Default: false.
	// +optional
	ColdCache bool `json:"coldCache,omitempty"`

	// repeats sets how often the list of client counts runs. The result is the median.
	// Repeats are interleaved, so that a drift of the machine affects all counts alike.
	// Valid: 1 to 20. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	Repeats int32 `json:"repeats,omitempty"`

	// rate limits the transactions per second (pgbench --rate). Valid: 1 to 10000000.
	// Default: as fast as possible.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000
	Rate *int32 `json:"rate,omitempty"`

	// protocol selects the query mode (pgbench -M). Default: Simple, as in pgbench.
	// +optional
	// +kubebuilder:default=Simple
	Protocol Protocol `json:"protocol,omitempty"`

	// maxTries limits the tries of a transaction that fails with a serialization error
	// or a deadlock. Valid: 1 to 1000. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxTries int32 `json:"maxTries,omitempty"`

	// integrity selects the checks after the run. Basic verifies page checksums and
	// pgbench's own invariants. Full adds pg_amcheck of the benchmark's database and
	// reads the kernel's view of the server. Full needs a superuser role until the
	// benchmark ends; that role never connects to a database that a script owns.
	// Default: Full.
	// +optional
	// +kubebuilder:default=Full
	Integrity IntegrityMode `json:"integrity,omitempty"`

	// cleanup selects what is kept after the run. Always deletes the Job, the database
	// and its owner. OnSuccess keeps them after a failure. Never keeps them until the
	// PgBenchmark is deleted. A run that stopped because free space was low keeps
	// nothing, and the superuser of integrity Full is always deleted. Default: Always.
	// +optional
	// +kubebuilder:default=Always
	Cleanup CleanupPolicy `json:"cleanup,omitempty"`

	// resources sets the compute resources of the runner's pod. Default: requests of
	// 100m CPU and 128Mi.
	// +optional
	Resources *RunnerResources `json:"resources,omitempty"`
}

// RunnerResources are the compute resources of the runner's pod.
type RunnerResources struct {
	// requests reserves compute resources. Valid: cpu, memory and ephemeral-storage.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['cpu', 'memory', 'ephemeral-storage'])",message="spec.pgbench.resources.requests may name cpu, memory and ephemeral-storage only"
	Requests map[corev1.ResourceName]resource.Quantity `json:"requests,omitempty"`
	// limits limits compute resources. Valid: cpu, memory and ephemeral-storage.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['cpu', 'memory', 'ephemeral-storage'])",message="spec.pgbench.resources.limits may name cpu, memory and ephemeral-storage only"
	Limits map[corev1.ResourceName]resource.Quantity `json:"limits,omitempty"`
}

// CustomScript is one file of SQL for pgbench --file.
type CustomScript struct {
	// configMap selects the ConfigMap that has the script, in the namespace of the
	// benchmark.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ConfigMap string `json:"configMap,omitempty"`
	// key selects the script in the ConfigMap; it is unique within the benchmark.
	// Scripts with \shell or \setshell are rejected.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]+$')",message="customScripts[].key must be a key of a ConfigMap: letters, digits, '-', '_' and '.'"
	Key string `json:"key,omitempty"`
	// weight sets how often the script runs, relative to the others. Valid: 1 to 1000.
	// Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Weight int32 `json:"weight,omitempty"`
}
