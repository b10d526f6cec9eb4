package v1alpha1

// ClusterTemplate is the template of the temporary PgStorageClusters of a matrix. Its
// fields are those of a PgStorageCluster's spec, without deletionPolicy: each cluster
// is deleted with its data after it was measured.
// +kubebuilder:validation:XValidation:rule="!has(self.postgres.parameters) || !('synchronous_commit' in self.postgres.parameters) || self.postgres.parameters['synchronous_commit'] in ['on', 'remote_apply']",message="spec.template.postgres.parameters[synchronous_commit] must be on or remote_apply: to measure commits that are not flushed, use the tier Async",fieldPath=".postgres"
type ClusterTemplate struct {
	// profile selects the PgStorageProfile whose storage is measured. Required unless
	// matrix.profiles or every variant names one.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Profile string `json:"profile,omitempty"`

	// postgres sets the version, the image and the Postgres parameters.
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

	// resources sets the compute resources of each instance.
	// +required
	// +kubebuilder:validation:XValidation:rule="has(self.requests)",message="spec.template.resources.requests is required: the operator derives Postgres parameters from it; set memory and cpu",reason=FieldValueRequired,fieldPath=".requests"
	// +kubebuilder:validation:XValidation:rule="!has(self.requests) || 'memory' in self.requests && isQuantity(string(self.requests['memory'])) && quantity(string(self.requests['memory'])).compareTo(quantity('256Mi')) >= 0",message="spec.template.resources.requests.memory must be a quantity of at least 256Mi, as 4Gi: the operator derives memory parameters of Postgres from it",fieldPath=".requests"
	// +kubebuilder:validation:XValidation:rule="!has(self.requests) || 'cpu' in self.requests && isQuantity(string(self.requests['cpu'])) && quantity(string(self.requests['cpu'])).compareTo(quantity('50m')) >= 0",message="spec.template.resources.requests.cpu must be a quantity of at least 50m, as 500m or 2: the operator derives the parallelism of Postgres from it",fieldPath=".requests"
	Resources ClusterResources `json:"resources,omitzero"`

	// workload selects the class of work, in pgtune's terms. Default: Mixed.
	// +optional
	// +kubebuilder:default=Mixed
	Workload Workload `json:"workload,omitempty"`

	// durability selects what every acknowledged commit survives. Required unless
	// matrix.durability or every variant names a tier.
	// +optional
	// +kubebuilder:validation:Enum=Quorum;Local;Async
	Durability DurabilityTier `json:"durability,omitempty"`

	// monitoring sets how Prometheus scrapes the instances.
	// +optional
	Monitoring *Monitoring `json:"monitoring,omitempty"`

	// cnpg sets fields of the CloudNativePG Cluster that this API does not model.
	// +optional
	CNPG *CNPGOverrides `json:"cnpg,omitempty"`
}

// BenchmarkMatrix selects the variants to measure, and how often. The counts of
// pgbench.clients are always one of its axes.
// +kubebuilder:validation:XValidation:rule="!has(self.variants) || !(has(self.profiles) || has(self.durability) || has(self.parameters) || has(self.scripts))",message="spec.matrix.variants excludes profiles, durability, parameters and scripts: list variants by name, or set axes"
// +kubebuilder:validation:XValidation:rule="!has(self.variants) || self.variants.map(v, has(v.parameters) ? v.parameters.map(p, size(p.value)).sum() : 0).sum() <= 16384",message="spec.matrix.variants: the values of all parameters together have at most 16384 characters; shorten or remove some",fieldPath=".variants"
type BenchmarkMatrix struct {
	// profiles is an axis of PgStorageProfiles, by name.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	Profiles []string `json:"profiles,omitempty"`

	// durability is an axis of tiers. Variants of different tiers are listed side by
	// side and never ranked against each other.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:items:Enum=Quorum;Local;Async
	Durability []DurabilityTier `json:"durability,omitempty"`

	// parameters lists Postgres parameters, each an axis of its own with its values.
	// They override those of the template.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Parameters []ParameterAxis `json:"parameters,omitempty"`

	// scripts is an axis of built-in scripts of pgbench.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=3
	Scripts []Script `json:"scripts,omitempty"`

	// variants lists variants by name, in place of the axes above.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Variants []MatrixVariant `json:"variants,omitempty"`

	// repeats sets the number of rounds, each of which runs every variant once. At
	// least 3 are needed to compare variants. Valid: 1 to 20. Default: 5.
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	Repeats int32 `json:"repeats,omitempty"`

	// seed sets the random order of the variants, which differs in each round. The same
	// seed gives the same orders. Valid: 1 to 2147483647. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Seed int64 `json:"seed,omitempty"`

	// rest sets the pause after each run. Valid: 0s to 1h. Default: 10s. pgbench.warmUp
	// sets the warm-up before each run.
	// +optional
	// +kubebuilder:default="10s"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+h)?([0-9]+m)?([0-9]+s)?$') && self != '' && duration(self) <= duration('1h')",message="spec.matrix.rest must be whole hours, minutes and seconds from 0s to 1h, as 30s"
	Rest string `json:"rest,omitempty"`

	// totalTimeout limits the duration of the whole matrix. The operator rejects a
	// matrix whose estimate exceeds it, and starts no round that would not end within
	// it; a round that has started finishes. Valid: 1m to 168h. Default: no limit.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+h)?([0-9]+m)?([0-9]+s)?$') && self != '' && duration(self) >= duration('1m') && duration(self) <= duration('168h')",message="spec.matrix.totalTimeout must be whole hours, minutes and seconds from 1m to 168h, as 6h"
	TotalTimeout string `json:"totalTimeout,omitempty"`

	// targetTimeout limits how long a run waits for its cluster to become Ready, or for
	// its Job, before it fails. Valid: 1m to 24h. Default: 20m.
	// +optional
	// +kubebuilder:default="20m"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+h)?([0-9]+m)?([0-9]+s)?$') && self != '' && duration(self) >= duration('1m') && duration(self) <= duration('24h')",message="spec.matrix.targetTimeout must be whole hours, minutes and seconds from 1m to 24h, as 20m"
	TargetTimeout string `json:"targetTimeout,omitempty"`

	// maxFailures sets how many runs of a variant may fail before its other repeats are
	// skipped. Valid: 1 to 20. Default: 2.
	// +optional
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	MaxFailures int32 `json:"maxFailures,omitempty"`
}

// ParameterAxis is a Postgres parameter with the values to measure.
// +kubebuilder:validation:XValidation:rule="self.name != 'fsync' || self.values.all(v, v.lowerAscii() in ['on', 'true', 'yes', '1'])",message="spec.matrix.parameters[fsync] must stay on: without it a crash corrupts the database; remove it, or use the tier Async for faster commits"
// +kubebuilder:validation:XValidation:rule="self.name != 'synchronous_commit' || self.values.all(v, v in ['on', 'remote_apply'])",message="spec.matrix.parameters[synchronous_commit] must be on or remote_apply: to measure commits that are not flushed, use the tier Async in spec.matrix.durability"
type ParameterAxis struct {
	// name selects the parameter by its Postgres name, as work_mem.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z_][a-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)?$') && !(self in ['profile', 'durability', 'script', 'clients'])",message="spec.matrix.parameters: names are lower-case Postgres names, as work_mem or pg_stat_statements.max"
	Name string `json:"name,omitempty"`
	// values lists the values to measure, in Postgres units.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	Values []string `json:"values,omitempty"`
}

// MatrixVariant is a variant by name. Fields that it does not set come from the
// template and spec.pgbench.
type MatrixVariant struct {
	// name identifies the variant in results, as small-records.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z0-9]([-._a-zA-Z0-9]*[a-zA-Z0-9])?$')",message="spec.matrix.variants[].name must be letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"
	Name string `json:"name,omitempty"`
	// profile selects a PgStorageProfile by name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Profile string `json:"profile,omitempty"`
	// durability selects the tier.
	// +optional
	// +kubebuilder:validation:Enum=Quorum;Local;Async
	Durability DurabilityTier `json:"durability,omitempty"`
	// parameters sets Postgres parameters, which override those of the template.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Parameters []ParameterValue `json:"parameters,omitempty"`
	// script selects a built-in script of pgbench, in place of pgbench.script and
	// pgbench.customScripts.
	// +optional
	Script Script `json:"script,omitempty"`
}

// ParameterValue is one Postgres parameter.
// +kubebuilder:validation:XValidation:rule="self.name != 'fsync' || self.value.lowerAscii() in ['on', 'true', 'yes', '1']",message="spec.matrix.variants[].parameters[fsync] must stay on: without it a crash corrupts the database; remove it, or use the tier Async for faster commits"
// +kubebuilder:validation:XValidation:rule="self.name != 'synchronous_commit' || self.value in ['on', 'remote_apply']",message="spec.matrix.variants[].parameters[synchronous_commit] must be on or remote_apply: to measure commits that are not flushed, use the tier Async"
type ParameterValue struct {
	// name selects the parameter by its Postgres name, as work_mem.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z_][a-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)?$') && !(self in ['profile', 'durability', 'script', 'clients'])",message="spec.matrix.variants[].parameters: names are lower-case Postgres names, as work_mem or pg_stat_statements.max"
	Name string `json:"name,omitempty"`
	// value sets the parameter, in Postgres units.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Value string `json:"value,omitempty"`
}

// BenchmarkGate compares the variants of a matrix with the variants of the same name in
// an older one, for use in continuous integration.
type BenchmarkGate struct {
	// baseline selects a PgBenchmark with a matrix, in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=50
	Baseline string `json:"baseline,omitempty"`

	// threshold sets the least regression, in percent of the baseline's transactions
	// per second. A variant regressed when it is significantly worse by at least this
	// much. Valid: 1 to 99. Default: 5.
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=99
	Threshold int32 `json:"threshold,omitempty"`

	// confidence sets the statistical confidence in percent, over all variants
	// together. Valid: 80 to 99. Default: 95.
	// +optional
	// +kubebuilder:default=95
	// +kubebuilder:validation:Minimum=80
	// +kubebuilder:validation:Maximum=99
	Confidence int32 `json:"confidence,omitempty"`
}
