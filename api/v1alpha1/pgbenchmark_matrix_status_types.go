package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MatrixStatus is the progress and result of a matrix.
type MatrixStatus struct {
	// progress in words, as "7 of 20".
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Progress string `json:"progress,omitempty"`
	// percent of the runs that ended or are skipped, 0 to 100.
	// +optional
	Percent int32 `json:"percent"`
	// runs of the whole matrix, each in one of the counts that follow, or still to be
	// made.
	// +optional
	Runs int32 `json:"runs,omitempty"`
	// succeeded runs.
	// +optional
	Succeeded int32 `json:"succeeded"`
	// failed runs.
	// +optional
	Failed int32 `json:"failed"`
	// skipped runs, of variants that failed maxFailures times.
	// +optional
	Skipped int32 `json:"skipped"`
	// clusters that the matrix makes for itself.
	// +optional
	Clusters int32 `json:"clusters,omitempty"`
	// estimate of what everything takes, made before the start.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Estimate string `json:"estimate,omitempty"`
	// remaining time of the runs that have not ended, by the estimate.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Remaining string `json:"remaining,omitempty"`
	// startTime of the matrix.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// current run; absent when all have ended.
	// +optional
	Current *CurrentRun `json:"current,omitempty"`
	// variants with their runs.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Variants []VariantStatus `json:"variants,omitempty"`
	// tiers with the ranking of their variants, written at the end: whoever ranks
	// before the end stops when the result pleases.
	// +optional
	// +listType=map
	// +listMapKey=durability
	// +kubebuilder:validation:MaxItems=3
	Tiers []TierRanking `json:"tiers,omitempty"`
}

// CurrentRun of a matrix.
type CurrentRun struct {
	// variant by name.
	// +required
	// +kubebuilder:validation:MaxLength=2048
	Variant string `json:"variant,omitempty"`
	// repeat from 1.
	// +required
	Repeat int32 `json:"repeat,omitempty"`
	// cluster that it is measured on.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Cluster string `json:"cluster,omitempty"`
	// since when it is the current one.
	// +required
	Since metav1.Time `json:"since,omitzero"`
}

// VariantStatus is a variant of a matrix with the runs that ended. Figures are
// decimal numbers in strings.
type VariantStatus struct {
	// name of the variant: its own, or its values by axis.
	// +required
	// +kubebuilder:validation:MaxLength=2048
	Name string `json:"name,omitempty"`
	// cluster that it is measured on.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Cluster string `json:"cluster,omitempty"`
	// clients of pgbench.
	// +optional
	Clients int32 `json:"clients,omitempty"`
	// durability tier that its runs had.
	// +optional
	Durability DurabilityTier `json:"durability,omitempty"`
	// fingerprint of the server's settings in its first run.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Fingerprint string `json:"fingerprint,omitempty"`
	// medianTPS of the runs that succeeded and count.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	MedianTPS string `json:"medianTPS,omitempty"`
	// meanTPS of the runs that succeeded and count.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	MeanTPS string `json:"meanTPS,omitempty"`
	// lowerTPS and upperTPS bound the 95 % interval of the mean; absent with one run.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	LowerTPS string `json:"lowerTPS,omitempty"`
	// upperTPS is the upper bound of the 95 % interval of the mean.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	UpperTPS string `json:"upperTPS,omitempty"`
	// runs that ended, by repeat.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Runs []MatrixRun `json:"runs,omitempty"`
}

// MatrixRun is one run of a matrix that has ended.
type MatrixRun struct {
	// repeat from 1.
	// +required
	Repeat int32 `json:"repeat,omitempty"`
	// outcome: Succeeded or Failed.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Outcome string `json:"outcome,omitempty"`
	// benchmark is the PgBenchmark of the run.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Benchmark string `json:"benchmark,omitempty"`
	// tps is transactions per second, without initial connection time.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	TPS string `json:"tps,omitempty"`
	// latencyAverage in milliseconds.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	LatencyAverage string `json:"latencyAverage,omitempty"`
	// latencyP99 in milliseconds.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	LatencyP99 string `json:"latencyP99,omitempty"`
	// rejected is the reason for which a run that succeeded does not count: that of
	// the first check that rejects it.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Rejected string `json:"rejected,omitempty"`
	// findings are the reasons of the checks that caution against it, of which its
	// PgBenchmark has the messages.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=64
	Findings []string `json:"findings,omitempty"`
	// reason of a failure, one of those of the condition Complete of a single run,
	// TargetNotReady or RejectedByAPIServer.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
	// message of a failure, at most 200 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
	// completionTime is when the run ended.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}

// TierRanking ranks the variants of one durability tier.
type TierRanking struct {
	// durability tier of all of them.
	// +required
	Durability DurabilityTier `json:"durability,omitempty"`
	// verdict in a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=8192
	Verdict string `json:"verdict,omitempty"`
	// ranking by TPS, best first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Ranking []VariantRank `json:"ranking,omitempty"`
}

// VariantRank is the place of a variant.
type VariantRank struct {
	// variant by name.
	// +required
	// +kubebuilder:validation:MaxLength=2048
	Variant string `json:"variant,omitempty"`
	// rank is one more than the number of variants that are better by a claimed
	// difference: those that cannot be told from the best are all first.
	// +required
	Rank int32 `json:"rank,omitempty"`
	// medianTPS of it.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	MedianTPS string `json:"medianTPS,omitempty"`
	// betterThan so many variants by a claimed difference.
	// +optional
	BetterThan int32 `json:"betterThan"`
}
