package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MatrixStatus is the progress and result of a matrix.
type MatrixStatus struct {
	// progress summarizes the runs that ended, as "7 of 20".
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Progress string `json:"progress,omitempty"`
	// percent is the share of runs that ended or were skipped, 0 to 100.
	// +optional
	Percent int32 `json:"percent"`
	// runs counts all runs of the matrix, including those that have not started.
	// +optional
	Runs int32 `json:"runs,omitempty"`
	// succeeded counts the runs that succeeded.
	// +optional
	Succeeded int32 `json:"succeeded"`
	// failed counts the runs that failed.
	// +optional
	Failed int32 `json:"failed"`
	// skipped counts the runs of variants that failed maxFailures times.
	// +optional
	Skipped int32 `json:"skipped"`
	// clusters counts the temporary clusters of the matrix.
	// +optional
	Clusters int32 `json:"clusters,omitempty"`
	// estimate is the expected duration of the whole matrix, calculated before the
	// start.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Estimate string `json:"estimate,omitempty"`
	// remaining is the estimated duration of the runs that have not ended.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Remaining string `json:"remaining,omitempty"`
	// startTime is when the matrix started.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// current is the run in progress; absent when all runs have ended.
	// +optional
	Current *CurrentRun `json:"current,omitempty"`
	// variants lists each variant with its runs.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Variants []VariantStatus `json:"variants,omitempty"`
	// tiers ranks the variants of each durability tier. It is written only at the end,
	// so that users do not stop a matrix at a pleasing interim result.
	// +optional
	// +listType=map
	// +listMapKey=durability
	// +kubebuilder:validation:MaxItems=3
	Tiers []TierRanking `json:"tiers,omitempty"`
}

// CurrentRun is the run of a matrix that is in progress.
type CurrentRun struct {
	// variant is the name of the variant.
	// +required
	// +kubebuilder:validation:MaxLength=2048
	Variant string `json:"variant,omitempty"`
	// repeat is the number of the repeat, from 1.
	// +required
	Repeat int32 `json:"repeat,omitempty"`
	// cluster is the PgStorageCluster that the run measures.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Cluster string `json:"cluster,omitempty"`
	// since is when this became the current run.
	// +required
	Since metav1.Time `json:"since,omitzero"`
}

// VariantStatus is a variant of a matrix with the runs that ended. Figures are
// decimal numbers in strings.
type VariantStatus struct {
	// name is the variant's own name, or its values by axis.
	// +required
	// +kubebuilder:validation:MaxLength=2048
	Name string `json:"name,omitempty"`
	// cluster is the PgStorageCluster that the variant is measured on.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Cluster string `json:"cluster,omitempty"`
	// clients is the number of clients of pgbench.
	// +optional
	Clients int32 `json:"clients,omitempty"`
	// durability is the tier that the runs had.
	// +optional
	Durability DurabilityTier `json:"durability,omitempty"`
	// fingerprint identifies the server's settings in the first run.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Fingerprint string `json:"fingerprint,omitempty"`
	// medianTPS is the median over the valid runs that succeeded.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	MedianTPS string `json:"medianTPS,omitempty"`
	// meanTPS is the mean over the valid runs that succeeded.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	MeanTPS string `json:"meanTPS,omitempty"`
	// lowerTPS is the lower bound of the 95% interval of the mean; absent with one run.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	LowerTPS string `json:"lowerTPS,omitempty"`
	// upperTPS is the upper bound of the 95% interval of the mean; absent with one run.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	UpperTPS string `json:"upperTPS,omitempty"`
	// runs lists the runs that ended, by repeat.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Runs []MatrixRun `json:"runs,omitempty"`
}

// MatrixRun is one run of a matrix that has ended.
type MatrixRun struct {
	// repeat is the number of the repeat, from 1.
	// +required
	Repeat int32 `json:"repeat,omitempty"`
	// outcome is Succeeded or Failed.
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
	// latencyAverage is in milliseconds.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	LatencyAverage string `json:"latencyAverage,omitempty"`
	// latencyP99 is in milliseconds.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	LatencyP99 string `json:"latencyP99,omitempty"`
	// rejected is the reason of the first check that excludes a run that succeeded. It
	// is absent when the run is valid.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Rejected string `json:"rejected,omitempty"`
	// findings lists the reasons of checks that raise a caution. The PgBenchmark of the
	// run has their messages.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=64
	Findings []string `json:"findings,omitempty"`
	// reason explains a failure in one word: a reason of the condition Complete of a
	// single run, TargetNotReady or RejectedByAPIServer.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
	// message explains a failure, in at most 200 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
	// completionTime is when the run ended.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}

// TierRanking ranks the variants of one durability tier.
type TierRanking struct {
	// durability is the tier of all variants in this ranking.
	// +required
	Durability DurabilityTier `json:"durability,omitempty"`
	// verdict summarizes the ranking in a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=8192
	Verdict string `json:"verdict,omitempty"`
	// ranking lists the variants by TPS, best first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Ranking []VariantRank `json:"ranking,omitempty"`
}

// VariantRank is the place of a variant.
type VariantRank struct {
	// variant is the name of the variant.
	// +required
	// +kubebuilder:validation:MaxLength=2048
	Variant string `json:"variant,omitempty"`
	// rank is one more than the number of variants that are significantly better.
	// Variants that do not differ significantly from the best all have rank 1.
	// +required
	Rank int32 `json:"rank,omitempty"`
	// medianTPS is the median of the variant's valid runs.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	MedianTPS string `json:"medianTPS,omitempty"`
	// betterThan counts the variants that this one is significantly better than.
	// +optional
	BetterThan int32 `json:"betterThan"`
}
