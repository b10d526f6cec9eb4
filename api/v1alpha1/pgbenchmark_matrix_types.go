package v1alpha1

// ClusterTemplate is what a PgStorageCluster of a matrix is made from. Its fields
// are those of a PgStorageCluster's spec. There is no deletionPolicy: such a cluster
// goes with its data once it was measured.
// +kubebuilder:validation:XValidation:rule="!has(self.postgres.parameters) || !('synchronous_commit' in self.postgres.parameters) || self.postgres.parameters['synchronous_commit'] in ['on', 'remote_apply']",message="spec.template.postgres.parameters[synchronous_commit] must be on or remote_apply: to measure commits that are not flushed, use the tier Async",fieldPath=".postgres"
type ClusterTemplate struct {
	// profile is the name of the PgStorageProfile whose storage is measured. It is
	// needed where matrix.profiles or the variants do not name one.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Profile string `json:"profile,omitempty"`

	// postgres chooses the version, the image and parameters.
	// +required
	Postgres PostgresSpec `json:"postgres,omitzero"`

	// instances is the number of Postgres instances, one of them the primary.
	// Bounds: 1 to 16. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16
	Instances *int32 `json:"instances,omitempty"`

	// storage is the size of each instance's volumes.
	// +required
	Storage ClusterStorage `json:"storage,omitzero"`

	// resources of each instance.
	// +required
	Resources ClusterResources `json:"resources,omitzero"`

	// workload is the class of work, in pgtune's terms. Default: Mixed.
	// +optional
	// +kubebuilder:default=Mixed
	Workload Workload `json:"workload,omitempty"`

	// durability is the tier that every acknowledged commit has. It is needed where
	// matrix.durability or the variants do not name one.
	// +optional
	// +kubebuilder:validation:Enum=Quorum;Local;Async
	Durability DurabilityTier `json:"durability,omitempty"`

	// monitoring of the instances.
	// +optional
	Monitoring *Monitoring `json:"monitoring,omitempty"`

	// cnpg is the escape hatch to what CloudNativePG offers and this API does not
	// model.
	// +optional
	CNPG *CNPGOverrides `json:"cnpg,omitempty"`
}

// BenchmarkMatrix says which variants are measured, and how often. The counts of
// pgbench.clients are always one of its axes.
// +kubebuilder:validation:XValidation:rule="!has(self.variants) || !(has(self.profiles) || has(self.durability) || has(self.parameters) || has(self.scripts))",message="spec.matrix.variants excludes profiles, durability, parameters and scripts: name the variants, or give the axes whose product they are"
// +kubebuilder:validation:XValidation:rule="!has(self.variants) || self.variants.map(v, has(v.parameters) ? v.parameters.map(p, size(p.value)).sum() : 0).sum() <= 16384",message="spec.matrix.variants: the values of all parameters together have at most 16384 characters; shorten or remove some",fieldPath=".variants"
type BenchmarkMatrix struct {
	// profiles are names of PgStorageProfiles: an axis.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	Profiles []string `json:"profiles,omitempty"`

	// durability tiers: an axis. Variants of different tiers stand side by side and
	// are never ranked against each other.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:items:Enum=Quorum;Local;Async
	Durability []DurabilityTier `json:"durability,omitempty"`

	// parameters of postgresql.conf, each an axis of its own with its values. They
	// win over those of the template.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Parameters []ParameterAxis `json:"parameters,omitempty"`

	// scripts of pgbench: an axis.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=3
	Scripts []Script `json:"scripts,omitempty"`

	// variants by name, in place of the axes above.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Variants []MatrixVariant `json:"variants,omitempty"`

	// repeats of every variant: rounds, each of which runs every variant once.
	// Bounds: 1 to 20. Default: 5. With fewer than 3 nothing can be compared.
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	Repeats int32 `json:"repeats,omitempty"`

	// seed of the order in which a round runs the variants, which is another in each
	// round. The same seed gives the same orders. Bounds: 1 to 2147483647.
	// Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	Seed int64 `json:"seed,omitempty"`

	// rest after each run, from 0s to 1h. Default: 10s. The warm-up before each run
	// is pgbench.warmUp.
	// +optional
	// +kubebuilder:default="10s"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+h)?([0-9]+m)?([0-9]+s)?$') && self != '' && duration(self) <= duration('1h')",message="spec.matrix.rest must be whole hours, minutes and seconds from 0s to 1h, as 30s"
	Rest string `json:"rest,omitempty"`

	// totalTimeout is the budget of time for everything, from 1m to 168h. A matrix
	// whose estimate exceeds it is refused, and a round that would not end within it
	// is not begun; one that was begun is finished. Absent: no limit.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+h)?([0-9]+m)?([0-9]+s)?$') && self != '' && duration(self) >= duration('1m') && duration(self) <= duration('168h')",message="spec.matrix.totalTimeout must be whole hours, minutes and seconds from 1m to 168h, as 6h"
	TotalTimeout string `json:"totalTimeout,omitempty"`

	// targetTimeout is how long a run waits for its cluster to become Ready, or for its
	// Job, from 1m to 24h, before it has failed. Default: 20m.
	// +optional
	// +kubebuilder:default="20m"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+h)?([0-9]+m)?([0-9]+s)?$') && self != '' && duration(self) >= duration('1m') && duration(self) <= duration('24h')",message="spec.matrix.targetTimeout must be whole hours, minutes and seconds from 1m to 24h, as 20m"
	TargetTimeout string `json:"targetTimeout,omitempty"`

	// maxFailures of a variant, after which its other repeats are skipped.
	// Bounds: 1 to 20. Default: 2.
	// +optional
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	MaxFailures int32 `json:"maxFailures,omitempty"`
}

// ParameterAxis is a Postgres parameter with the values that are measured.
// +kubebuilder:validation:XValidation:rule="self.name != 'fsync' || self.values.all(v, v.lowerAscii() in ['on', 'true', 'yes', '1'])",message="spec.matrix.parameters[fsync] must stay on: what is measured without it is no database; remove it, or use the tier Async for faster commits"
// +kubebuilder:validation:XValidation:rule="self.name != 'synchronous_commit' || self.values.all(v, v in ['on', 'remote_apply'])",message="spec.matrix.parameters[synchronous_commit] must be on or remote_apply: to measure commits that are not flushed, use the tier Async in spec.matrix.durability"
type ParameterAxis struct {
	// name of the parameter in Postgres' own words, as work_mem.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z_][a-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)?$') && !(self in ['profile', 'durability', 'script', 'clients'])",message="spec.matrix.parameters: names are Postgres' own in lower case, as work_mem or pg_stat_statements.max"
	Name string `json:"name,omitempty"`
	// values of it, in Postgres' own units.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	Values []string `json:"values,omitempty"`
}

// MatrixVariant is a variant by name. What it does not say is as the template and
// spec.pgbench have it.
type MatrixVariant struct {
	// name of the variant in results, as small-records.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z0-9]([-._a-zA-Z0-9]*[a-zA-Z0-9])?$')",message="spec.matrix.variants[].name must be letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"
	Name string `json:"name,omitempty"`
	// profile is the name of a PgStorageProfile.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Profile string `json:"profile,omitempty"`
	// durability tier.
	// +optional
	// +kubebuilder:validation:Enum=Quorum;Local;Async
	Durability DurabilityTier `json:"durability,omitempty"`
	// parameters of postgresql.conf, which win over those of the template.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Parameters []ParameterValue `json:"parameters,omitempty"`
	// script of pgbench, in place of pgbench.script and pgbench.customScripts.
	// +optional
	Script Script `json:"script,omitempty"`
}

// ParameterValue is one Postgres parameter.
// +kubebuilder:validation:XValidation:rule="self.name != 'fsync' || self.value.lowerAscii() in ['on', 'true', 'yes', '1']",message="spec.matrix.variants[].parameters[fsync] must stay on: what is measured without it is no database; remove it, or use the tier Async for faster commits"
// +kubebuilder:validation:XValidation:rule="self.name != 'synchronous_commit' || self.value in ['on', 'remote_apply']",message="spec.matrix.variants[].parameters[synchronous_commit] must be on or remote_apply: to measure commits that are not flushed, use the tier Async"
type ParameterValue struct {
	// name of the parameter in Postgres' own words, as work_mem.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z_][a-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)?$') && !(self in ['profile', 'durability', 'script', 'clients'])",message="spec.matrix.variants[].parameters: names are Postgres' own in lower case, as work_mem or pg_stat_statements.max"
	Name string `json:"name,omitempty"`
	// value of it, in Postgres' own units.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Value string `json:"value,omitempty"`
}

// BenchmarkGate compares the variants of a matrix with those of the same name of an
// older one, for use in continuous integration.
type BenchmarkGate struct {
	// baseline is the name of a PgBenchmark with a matrix, in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=50
	Baseline string `json:"baseline,omitempty"`

	// threshold in percent of the baseline's transactions per second: a variant that is
	// worse by at least this, chance excluded, is a regression. Bounds: 1 to 99.
	// Default: 5.
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=99
	Threshold int32 `json:"threshold,omitempty"`

	// confidence in percent with which chance is excluded, over all variants together.
	// Bounds: 80 to 99. Default: 95.
	// +optional
	// +kubebuilder:default=95
	// +kubebuilder:validation:Minimum=80
	// +kubebuilder:validation:Maximum=99
	Confidence int32 `json:"confidence,omitempty"`
}
