package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PgScheduledBenchmarkSpec declares what to measure, and when.
// +kubebuilder:validation:XValidation:rule="!has(self.template.spec.gate)",message="spec.template.spec.gate is set by the schedule for each run: set spec.gate instead, which compares with the last good run or a named baseline",fieldPath=".template"
// +kubebuilder:validation:XValidation:rule="!has(self.gate) || has(self.template.spec.matrix)",message="spec.gate compares the repeats of a matrix: add spec.template.spec.matrix, which may be {} for one variant",fieldPath=".gate"
type PgScheduledBenchmarkSpec struct {
	// schedule sets when runs start. Its five fields are minute, hour, day of the
	// month, month and day of the week, as 30 2 * * 1-5. Also valid: @hourly, @daily,
	// @weekly, @monthly, @yearly. Times are in timeZone. A change applies from then on
	// and does not make up for earlier times.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|([0-9A-Za-z*/,?-]+ +){4}[0-9A-Za-z*/,?-]+)$')",message="spec.schedule must be five fields, minute, hour, day of the month, month and day of the week, as 30 2 * * 1-5, or @hourly, @daily, @weekly, @monthly or @yearly; the time zone is spec.timeZone"
	Schedule string `json:"schedule,omitempty"`

	// timeZone sets the zone of the schedule, by its name in the IANA time zone
	// database, as Europe/Berlin. Default: UTC.
	// +optional
	// +kubebuilder:default=UTC
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$') && self != 'Local'",message="spec.timeZone must be a name of the IANA time zone database, as Europe/Berlin or UTC"
	TimeZone string `json:"timeZone,omitempty"`

	// suspend stops further runs from starting; a run in progress continues. Runs that
	// were due meanwhile are not made up. Default: false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// startingDeadlineSeconds limits how late a run may start, for example because the
	// previous run was still in progress; later it is skipped. Valid: 10 to 31536000.
	// Default: no limit for the latest missed run; earlier ones are skipped.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=31536000
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`

	// successfulHistoryLimit sets how many successful runs are kept, besides the
	// baseline of the gate. Valid: 1 to 100. Default: 3.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	SuccessfulHistoryLimit *int32 `json:"successfulHistoryLimit,omitempty"`

	// failedHistoryLimit sets how many failed runs are kept, besides runs that found
	// damage, which are always kept. Valid: 0 to 100. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	FailedHistoryLimit *int32 `json:"failedHistoryLimit,omitempty"`

	// gate compares each run with an older one; the condition NotRegressed reports the
	// outcome of the last run. The template must have a matrix.
	// +optional
	Gate *ScheduleGate `json:"gate,omitempty"`

	// template sets the metadata and spec of the PgBenchmarks. A change applies to runs
	// that start after it.
	// +required
	Template BenchmarkTemplate `json:"template,omitzero"`
}

// ScheduleGate selects what each run of a schedule is compared with.
type ScheduleGate struct {
	// baseline selects a PgBenchmark with a matrix, in the same namespace. Default: the
	// last run of this schedule that succeeded without a regression, so that a
	// regression is reported until it is fixed.
	// +optional
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

// BenchmarkTemplate is the template of the PgBenchmarks of a schedule.
type BenchmarkTemplate struct {
	// metadata sets labels and annotations of each PgBenchmark.
	// +optional
	Metadata BenchmarkTemplateMetadata `json:"metadata,omitzero"`

	// spec sets the spec of each PgBenchmark.
	// +required
	Spec PgBenchmarkSpec `json:"spec,omitzero"`
}

// BenchmarkTemplateMetadata is the metadata of the PgBenchmarks of a schedule.
type BenchmarkTemplateMetadata struct {
	// labels sets the labels of each PgBenchmark. Labels of pgstorage.dev and
	// app.kubernetes.io/managed-by are reserved. Valid: at most 16.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && !k.startsWith('pgstorage.dev/') && k != 'app.kubernetes.io/managed-by' && size(self[k]) <= 63)",message="spec.template.metadata.labels must not use pgstorage.dev or app.kubernetes.io/managed-by, which the operator sets, and values have at most 63 characters"
	Labels map[string]string `json:"labels,omitempty"`

	// annotations sets the annotations of each PgBenchmark. Annotations of
	// pgstorage.dev are reserved. Valid: at most 16, of 1024 characters each.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && !k.startsWith('pgstorage.dev/') && size(self[k]) <= 1024)",message="spec.template.metadata.annotations must not use pgstorage.dev, which the operator sets, and values have at most 1024 characters"
	Annotations map[string]string `json:"annotations,omitempty"`
}

// PgScheduledBenchmarkStatus has the times of past and future runs, and the last
// result.
type PgScheduledBenchmarkStatus struct {
	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Ready, Reconciling, Stalled, Scheduled, OnTime, LastRunSucceeded,
	// NotRegressed.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// schedule is the schedule with its time zone that the times of this status refer
	// to.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Schedule string `json:"schedule,omitempty"`

	// lastScheduleTime is the scheduled time of the last run that started.
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`

	// lastSkippedTime is the last scheduled time whose run was skipped. A run is
	// skipped when it is too late, or when the API server rejects it. A resumption or a
	// change of the schedule skips earlier times.
	// +optional
	LastSkippedTime *metav1.Time `json:"lastSkippedTime,omitempty"`

	// lastSuccessfulTime is when the last successful run ended.
	// +optional
	LastSuccessfulTime *metav1.Time `json:"lastSuccessfulTime,omitempty"`

	// nextScheduleTime is when the next run is due; absent while suspended.
	// +optional
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`

	// active lists the PgBenchmarks that have not ended.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=253
	Active []string `json:"active,omitempty"`

	// baseline is the PgBenchmark that the next run will be compared with.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Baseline string `json:"baseline,omitempty"`

	// lastResult is the result of the last run that ended.
	// +optional
	LastResult *ScheduledResult `json:"lastResult,omitempty"`
}

// ScheduledResult is the result of one run.
type ScheduledResult struct {
	// benchmark is the PgBenchmark of the run.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Benchmark string `json:"benchmark,omitempty"`
	// phase is Succeeded or Failed.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Phase string `json:"phase,omitempty"`
	// tps is the best median of transactions per second.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	TPS string `json:"tps,omitempty"`
	// durability is the tier that the run was measured with.
	// +optional
	Durability DurabilityTier `json:"durability,omitempty"`
	// notRegressed is the status of the run's condition of that name: True, False or
	// Unknown.
	// +optional
	// +kubebuilder:validation:Enum=True;False;Unknown
	NotRegressed metav1.ConditionStatus `json:"notRegressed,omitempty"`
	// completionTime is when the run ended.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}

// PgScheduledBenchmark creates a PgBenchmark at each time of a schedule, and none while
// the previous one is in progress.
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
	// metadata is the standard metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec declares what to measure, and when.
	// +required
	Spec PgScheduledBenchmarkSpec `json:"spec,omitzero"`
	// status has the times of past and future runs, and the last result.
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
