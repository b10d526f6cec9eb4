package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PgScheduledBenchmarkSpec says what is measured, and when.
// +kubebuilder:validation:XValidation:rule="!has(self.template.spec.gate)",message="spec.template.spec.gate is set by the schedule for each run: give spec.gate instead, which compares with the last good run or with a baseline by name",fieldPath=".template"
// +kubebuilder:validation:XValidation:rule="!has(self.gate) || has(self.template.spec.matrix)",message="spec.gate compares the repeats of a matrix: add spec.template.spec.matrix, which may be {} for one variant",fieldPath=".gate"
type PgScheduledBenchmarkSpec struct {
	// schedule in five fields: minute, hour, day of the month, month, day of the week,
	// as 30 2 * * 1-5; or @hourly, @daily, @weekly, @monthly, @yearly. Its times are
	// those of timeZone. A change counts from then on: what the new schedule would have
	// run before is not made up.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|([0-9A-Za-z*/,?-]+ +){4}[0-9A-Za-z*/,?-]+)$')",message="spec.schedule must be five fields, minute, hour, day of the month, month and day of the week, as 30 2 * * 1-5, or @hourly, @daily, @weekly, @monthly or @yearly; the time zone is spec.timeZone"
	Schedule string `json:"schedule,omitempty"`

	// timeZone that the schedule is in, by its name in the IANA time zone database, as
	// Europe/Berlin. Default: UTC.
	// +optional
	// +kubebuilder:default=UTC
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$') && self != 'Local'",message="spec.timeZone must be a name of the IANA time zone database, as Europe/Berlin or UTC"
	TimeZone string `json:"timeZone,omitempty"`

	// suspend begins no further runs; one that is under way goes on. What was due
	// meanwhile is not made up.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// startingDeadlineSeconds is how late a run may begin, because the one before was
	// still under way or the operator was not; later it is left out. Absent: the latest
	// that was missed is made up however late it is. Bounds: 10 to 31536000.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=31536000
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`

	// successfulHistoryLimit is how many runs that succeeded are kept, beside the
	// baseline of the gate. Bounds: 1 to 100. Default: 3.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	SuccessfulHistoryLimit *int32 `json:"successfulHistoryLimit,omitempty"`

	// failedHistoryLimit is how many runs that failed are kept; one that found damage
	// always is. Bounds: 0 to 100. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	FailedHistoryLimit *int32 `json:"failedHistoryLimit,omitempty"`

	// gate compares each run with an older one; the condition NotRegressed says what
	// was found of the last. The template must be a matrix.
	// +optional
	Gate *ScheduleGate `json:"gate,omitempty"`

	// template of the PgBenchmarks. A change is for the runs that begin after it.
	// +required
	Template BenchmarkTemplate `json:"template,omitzero"`
}

// ScheduleGate says what each run of a schedule is compared with.
type ScheduleGate struct {
	// baseline is the name of a PgBenchmark with a matrix, in the same namespace.
	// Absent: the last run of this schedule that succeeded and was no regression, so
	// that a regression is told until it is gone.
	// +optional
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

// BenchmarkTemplate is what the PgBenchmarks of a schedule are made from.
type BenchmarkTemplate struct {
	// metadata that each gets.
	// +optional
	Metadata BenchmarkTemplateMetadata `json:"metadata,omitzero"`

	// spec of each, as of a PgBenchmark.
	// +required
	Spec PgBenchmarkSpec `json:"spec,omitzero"`
}

// BenchmarkTemplateMetadata is the metadata of the PgBenchmarks of a schedule.
type BenchmarkTemplateMetadata struct {
	// labels of each. Those of pgstorage.dev and app.kubernetes.io/managed-by are the
	// operator's. Bounds: at most 16.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && !k.startsWith('pgstorage.dev/') && k != 'app.kubernetes.io/managed-by' && size(self[k]) <= 63)",message="spec.template.metadata.labels must not be of pgstorage.dev, nor app.kubernetes.io/managed-by, which are the operator's, and their values have at most 63 characters"
	Labels map[string]string `json:"labels,omitempty"`

	// annotations of each. Those of pgstorage.dev are the operator's.
	// Bounds: at most 16, of 1024 characters each.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && !k.startsWith('pgstorage.dev/') && size(self[k]) <= 1024)",message="spec.template.metadata.annotations must not be of pgstorage.dev, which are the operator's, and their values have at most 1024 characters"
	Annotations map[string]string `json:"annotations,omitempty"`
}

// PgScheduledBenchmarkStatus is when runs were and will be, and the last result.
type PgScheduledBenchmarkStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions: Ready, Reconciling, Stalled, Scheduled, OnTime, LastRunSucceeded,
	// NotRegressed.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// schedule with its time zone that the times of this status are of.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Schedule string `json:"schedule,omitempty"`

	// lastScheduleTime is the time of the schedule that the last run was begun for.
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`

	// lastSkippedTime is the last time of the schedule for which no run was begun and
	// none will be: too late, refused by the API server, or passed before a resumption
	// or a change of the schedule.
	// +optional
	LastSkippedTime *metav1.Time `json:"lastSkippedTime,omitempty"`

	// lastSuccessfulTime is when the last run that succeeded ended.
	// +optional
	LastSuccessfulTime *metav1.Time `json:"lastSuccessfulTime,omitempty"`

	// nextScheduleTime is when the next run is due; absent while suspended.
	// +optional
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`

	// active are the PgBenchmarks that have not ended.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=253
	Active []string `json:"active,omitempty"`

	// baseline is the PgBenchmark that the next run is compared with.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Baseline string `json:"baseline,omitempty"`

	// lastResult is that of the last run that ended.
	// +optional
	LastResult *ScheduledResult `json:"lastResult,omitempty"`
}

// ScheduledResult is what came out of a run.
type ScheduledResult struct {
	// benchmark is the PgBenchmark of the run.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Benchmark string `json:"benchmark,omitempty"`
	// phase: Succeeded or Failed.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Phase string `json:"phase,omitempty"`
	// tps is its best median of transactions per second.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	TPS string `json:"tps,omitempty"`
	// durability tier that it was measured with.
	// +optional
	Durability DurabilityTier `json:"durability,omitempty"`
	// notRegressed is its condition of that name: True, False or Unknown.
	// +optional
	// +kubebuilder:validation:Enum=True;False;Unknown
	NotRegressed metav1.ConditionStatus `json:"notRegressed,omitempty"`
	// completionTime is when it ended.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}

// PgScheduledBenchmark makes a PgBenchmark at each time of a schedule, and none while
// the one before is under way.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=pgsb,categories=pgstorage
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule`
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.spec.timeZone`
// +kubebuilder:printcolumn:name="Suspend",type=boolean,JSONPath=`.spec.suspend`
// +kubebuilder:printcolumn:name="Active",type=string,JSONPath=`.status.active[*]`
// +kubebuilder:printcolumn:name="Last",type=date,JSONPath=`.status.lastScheduleTime`
// +kubebuilder:printcolumn:name="Result",type=string,JSONPath=`.status.lastResult.phase`
// +kubebuilder:printcolumn:name="TPS",type=string,JSONPath=`.status.lastResult.tps`
// +kubebuilder:printcolumn:name="NotRegressed",type=string,JSONPath=`.status.lastResult.notRegressed`
// +kubebuilder:printcolumn:name="Next",type=string,priority=1,JSONPath=`.status.nextScheduleTime`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 41",message="metadata.name must be at most 41 characters: the PgBenchmarks are named after it and the time"
type PgScheduledBenchmark struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what is measured, and when.
	// +required
	Spec PgScheduledBenchmarkSpec `json:"spec,omitzero"`
	// status is when runs were and will be, and the last result.
	// +optional
	Status PgScheduledBenchmarkStatus `json:"status,omitzero"`
}

// PgScheduledBenchmarkList is a list of PgScheduledBenchmarks.
// +kubebuilder:object:root=true
type PgScheduledBenchmarkList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []PgScheduledBenchmark `json:"items"`
}
