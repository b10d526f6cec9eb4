package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PgBenchmarkSpec declares a benchmark of one cluster, or of a matrix of variants.
// +kubebuilder:validation:XValidation:rule="has(self.cluster) != has(self.template)",message="spec needs either cluster or template: set cluster to the PgStorageCluster to measure, or template for the temporary clusters of a matrix"
// +kubebuilder:validation:XValidation:rule="!has(self.template) || has(self.matrix)",message="spec.template needs a matrix: add spec.matrix, which may be {} for one variant, or set spec.cluster"
// +kubebuilder:validation:XValidation:rule="!has(self.gate) || has(self.matrix)",message="spec.gate compares the repeats of a matrix: add spec.matrix, which may be {} for one variant"
// +kubebuilder:validation:XValidation:rule="!has(self.matrix) || has(self.template) || !(has(self.matrix.profiles) || has(self.matrix.durability) || has(self.matrix.parameters)) && (!has(self.matrix.variants) || self.matrix.variants.all(v, !has(v.profile) && !has(v.durability) && !has(v.parameters)))",message="spec.matrix: profiles, durability and parameters need temporary clusters; set spec.template in place of spec.cluster"
// +kubebuilder:validation:XValidation:rule="!has(self.template) || !has(self.matrix) || has(self.template.profile) != (has(self.matrix.profiles) || has(self.matrix.variants) && self.matrix.variants.all(v, has(v.profile)))",message="spec.template.profile is required unless spec.matrix names a profile for every variant, and not allowed if it does; add or remove it",fieldPath=".template"
// +kubebuilder:validation:XValidation:rule="!has(self.template) || !has(self.matrix) || has(self.template.durability) != (has(self.matrix.durability) || has(self.matrix.variants) && self.matrix.variants.all(v, has(v.durability)))",message="spec.template.durability is required unless spec.matrix names a tier for every variant, and not allowed if it does; add or remove it",fieldPath=".template"
// +kubebuilder:validation:XValidation:rule="!has(self.template) || self.template.instances >= 2 || !(has(self.template.durability) && self.template.durability == 'Quorum' || has(self.matrix) && has(self.matrix.durability) && 'Quorum' in self.matrix.durability || has(self.matrix) && has(self.matrix.variants) && self.matrix.variants.exists(v, has(v.durability) && v.durability == 'Quorum'))",message="spec.template.instances must be at least 2 for the tier Quorum, because a commit waits for a standby; raise it or remove Quorum",fieldPath=".template"
// +kubebuilder:validation:XValidation:rule="!has(self.matrix) || !has(self.matrix.scripts) || !has(self.pgbench.script) && !has(self.pgbench.customScripts)",message="spec.matrix.scripts excludes spec.pgbench.script and spec.pgbench.customScripts; remove one",fieldPath=".matrix"
// +kubebuilder:validation:XValidation:rule="!has(self.matrix) || self.pgbench.repeats == 1",message="spec.pgbench.repeats must be 1 with a matrix, whose own repeats run every variant once a round; set spec.matrix.repeats instead",fieldPath=".pgbench"
// +kubebuilder:validation:XValidation:rule="!has(self.matrix) || size(self.pgbench.clients) * (has(self.matrix.variants) ? size(self.matrix.variants) : 1) * (has(self.matrix.profiles) ? size(self.matrix.profiles) : 1) * (has(self.matrix.durability) ? size(self.matrix.durability) : 1) * (has(self.matrix.scripts) ? size(self.matrix.scripts) : 1) * (has(self.matrix.parameters) ? size(self.matrix.parameters[0].values) * (size(self.matrix.parameters) > 1 ? size(self.matrix.parameters[1].values) : 1) * (size(self.matrix.parameters) > 2 ? size(self.matrix.parameters[2].values) : 1) * (size(self.matrix.parameters) > 3 ? size(self.matrix.parameters[3].values) : 1) : 1) <= 64",message="spec.matrix has more than 64 variants, with spec.pgbench.clients as one of its axes: remove values, or list the relevant variants in spec.matrix.variants",fieldPath=".matrix"
// +kubebuilder:validation:XValidation:rule="!has(self.pgbench.coldCache) || !self.pgbench.coldCache || !has(self.matrix) || has(self.template)",message="spec.pgbench.coldCache empties caches of the server, which is allowed only on temporary clusters of a matrix; set spec.template in place of spec.cluster, or remove it",fieldPath=".pgbench"
// +kubebuilder:validation:XValidation:rule="!has(self.pgbench.coldCache) || !self.pgbench.coldCache || !has(self.template) || int(self.template.postgres.version.split('.')[0]) >= 17",message="spec.pgbench.coldCache needs pg_buffercache_evict of PostgreSQL 17; raise spec.template.postgres.version or remove it",fieldPath=".pgbench"
type PgBenchmarkSpec struct {
	// cluster selects the PgStorageCluster to measure, in the same namespace. A read pool
	// takes only script SelectOnly; its tables are loaded on the cluster that it follows.
	// Use template in place of cluster for a matrix with temporary clusters.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=50
	Cluster string `json:"cluster,omitempty"`

	// template sets the spec of the temporary PgStorageClusters of a matrix: one for
	// each combination of profile, durability and parameters. Each is deleted with its
	// data after its last run. Alpha: rejected unless the manager runs with
	// --feature-gates=MatrixClusters=true.
	// +optional
	Template *ClusterTemplate `json:"template,omitempty"`

	// matrix measures variants against each other: a product of axes, or variants by
	// name, each with every count of pgbench.clients, repeated in rounds. Default: one
	// run.
	// +optional
	Matrix *BenchmarkMatrix `json:"matrix,omitempty"`

	// gate compares the result of the matrix with an older one; the condition
	// NotRegressed reports the outcome.
	// +optional
	Gate *BenchmarkGate `json:"gate,omitempty"`

	// layers measures what each layer of the storage costs, before the tables are
	// filled, and before each run of a matrix. Default: no layer is measured.
	// +optional
	Layers *BenchmarkLayers `json:"layers,omitempty"`

	// pgbench sets the options of pgbench.
	// +optional
	// +kubebuilder:default={}
	Pgbench PgbenchSpec `json:"pgbench,omitzero"`
}

// PgBenchmarkStatus is the progress and result of a benchmark.
type PgBenchmarkStatus struct {
	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Ready, Reconciling, Stalled, TargetReady, Complete,
	// IntegrityVerified, LayersMeasured, Believable, CleanedUp, NotRegressed.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// phase is one of Pending, Preparing, MeasuringLayers, Initialising, WarmingUp,
	// Running, CheckingIntegrity, Resting (of a matrix), Succeeded or Failed.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Phase string `json:"phase,omitempty"`

	// bestTPS is the highest median of transactions per second over the client
	// counts, or over the variants of a matrix where all have one tier.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	BestTPS string `json:"bestTPS,omitempty"`

	// durability is the tier of the measured cluster. It is Unverified where a custom
	// script may have changed what a commit waits for. It is ReadOnly of a read pool, which
	// acknowledges no commit. Results of different tiers are not comparable; it is absent
	// for a matrix of several tiers.
	// +optional
	Durability DurabilityTier `json:"durability,omitempty"`

	// job is the name of the Job that runs pgbench.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Job string `json:"job,omitempty"`

	// completionTime is when the run ended.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// run is the report of the runner beside pgbench; only the runner writes it.
	// +optional
	Run *BenchmarkRun `json:"run,omitempty"`

	// matrix is the progress and result of a matrix, whose single runs are
	// PgBenchmarks of their own.
	// +optional
	Matrix *MatrixStatus `json:"matrix,omitempty"`
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
	// metadata is the standard metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec declares the benchmark. Immutable: a benchmark is one run; create another
	// PgBenchmark for another run.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec is immutable because a PgBenchmark is one run; create another PgBenchmark"
	Spec PgBenchmarkSpec `json:"spec,omitzero"`
	// status is the progress and result.
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
