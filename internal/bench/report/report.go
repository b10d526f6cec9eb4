package report

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/comparison"
	"github.com/pgstorage/pgstorage/internal/bench/disturbance"
	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
	"github.com/pgstorage/pgstorage/internal/bench/histogram"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// Kind and Version of the JSON form. Adding a field keeps the Version; removing one or
// changing its meaning raises it.
const (
	Kind    = "BenchmarkReport"
	Version = 1
)

// Report on a benchmark, as Build derives it and the forms show it.
type Report struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"`
	About   About  `json:"about"`
	// Confidence of every interval, 0.95.
	Confidence float64 `json:"confidence"`
	// Progress of the benchmark; absent where there is no plan.
	Progress *Progress `json:"progress,omitempty"`
	// Notes name missing sources of the report, for example lost records.
	Notes []string `json:"notes,omitempty"`
	// Gate of the benchmark; absent without one.
	Gate *Gate `json:"gate,omitempty"`
	// Together is true if the variants are of several benchmarks, whose runs were not
	// interleaved. They have no ranking.
	Together bool `json:"together,omitempty"`
	// Axes that the benchmark varies.
	Axes []Axis `json:"axes,omitempty"`
	// Groups by durability tier, the one that loses least first. Groups are never
	// compared with each other.
	Groups []Group `json:"groups,omitempty"`
	// NotRun are variants of the plan without a completed run.
	NotRun []string `json:"notRun,omitempty"`
}

// About says what was measured.
type About struct {
	// Name of the benchmark, as namespace/name.
	Name string `json:"name"`
	// Time at which the benchmark ended, formatted for display.
	Time string `json:"time,omitempty"`
	// Facts in display order.
	Facts []Fact `json:"facts,omitempty"`
}

// Fact about a benchmark, for example its scale or its cluster.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Axis of a matrix.
type Axis struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// Progress in runs.
type Progress struct {
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
	// Skipped because their variant had failed too often.
	Skipped int `json:"skipped"`
	// Pending counts runs that have not ended.
	Pending int `json:"pending"`
	// Stop is the reason that no further run starts, for example "Complete"; empty
	// while runs remain.
	Stop string `json:"stop,omitempty"`
}

// Group of the variants of one durability tier.
type Group struct {
	Durability v1alpha1.DurabilityTier `json:"durability"`
	// Acknowledged completes the sentence "A commit is acknowledged ...".
	Acknowledged string `json:"acknowledged"`
	// Ranking by TPS, and the differences behind it; absent while runs are pending.
	Ranking     []comparison.Place      `json:"ranking,omitempty"`
	Differences []comparison.Difference `json:"differences,omitempty"`
	// Baseline is the variant that the others are compared with, and Deltas are these
	// comparisons; absent while runs are pending.
	Baseline string   `json:"baseline,omitempty"`
	Deltas   []Deltas `json:"deltas,omitempty"`
	Settings Settings `json:"settings"`
	// Variants in the order in which they first ran.
	Variants []Variant `json:"variants"`
}

// Settings that were read back, compared within a group.
type Settings struct {
	// Variants whose settings are known; the first is the reference of the others.
	// Unknown are the rest.
	Variants []string `json:"variants,omitempty"`
	Unknown  []string `json:"unknown,omitempty"`
	// Different are settings whose value differs between Variants.
	Different []Setting `json:"different,omitempty"`
	// Messages name variants that differ beyond what the benchmark varies.
	Messages []string `json:"messages,omitempty"`
}

// Setting with its value for each of the Settings' Variants; nil is not set.
type Setting struct {
	Group  fingerprint.Group `json:"group"`
	Name   string            `json:"name"`
	Values []*string         `json:"values"`
}

// Variant with its repeats.
type Variant struct {
	Name string `json:"name"`
	// Values by axis.
	Values map[string]string `json:"values,omitempty"`
	// TPS, and latencies in milliseconds, over the counted repeats; absent without any.
	TPS            *statistics.Summary `json:"tps,omitempty"`
	LatencyAverage *statistics.Summary `json:"latencyAverage,omitempty"`
	LatencyP99     *statistics.Summary `json:"latencyP99,omitempty"`
	// Curve merges the Latencies of all counted repeats. A sampled log has fewer
	// Latencies than Transactions.
	Curve        []histogram.Point `json:"curve,omitempty"`
	Latencies    int64             `json:"latencies,omitempty"`
	Transactions int64             `json:"transactions,omitempty"`
	// Percentiles of the counted repeats, summarised over the repeats.
	Percentiles []Percentile `json:"percentiles,omitempty"`
	// CPULimit in processors that the cluster declares and that the runs had; absent if
	// there was none or it is unknown.
	CPULimit *float64 `json:"cpuLimit,omitempty"`
	// Layers from the lowest up; absent if none was measured.
	Layers []LayerSummary `json:"layers,omitempty"`
	// Fingerprint of the settings of the first repeat, and what later repeats changed.
	Fingerprint     string                   `json:"fingerprint,omitempty"`
	SettingsChanged []fingerprint.Difference `json:"settingsChanged,omitempty"`
	// Agreement of the counted repeats.
	Agreement validity.Finding `json:"agreement"`
	Repeats   []Repeat         `json:"repeats"`
}

// Percentile of the latencies, in milliseconds.
type Percentile struct {
	Percent float64            `json:"percent"`
	Latency statistics.Summary `json:"latency"`
}

// Repeat of a variant.
type Repeat struct {
	Number int `json:"repeat"`
	// Counted is true if the run succeeded and no check rejects it.
	Counted bool   `json:"counted"`
	Failure string `json:"failure,omitempty"`
	// TPS, and latencies in milliseconds; zero where it failed.
	TPS            float64                 `json:"tps"`
	LatencyAverage float64                 `json:"latencyAverage"`
	LatencyP99     float64                 `json:"latencyP99,omitempty"`
	Levels         statistics.Segmentation `json:"levels"`
	Findings       []validity.Finding      `json:"findings,omitempty"`
	Seconds        []Second                `json:"seconds,omitempty"`
	// Events that disturbed the run, oldest first. An observer looked so many times; without
	// Looks they come from the rate alone.
	Events []disturbance.Event `json:"events,omitempty"`
	Looks  int                 `json:"looks,omitempty"`
}

// Second of a run.
type Second struct {
	// At is the end of the second, in seconds since the run began.
	At  float64 `json:"at"`
	TPS float64 `json:"tps"`
	// Latency is the average in milliseconds; zero if unknown or nothing committed.
	Latency float64 `json:"latency,omitempty"`
}

// LayerSummary is one layer of the storage, measured alone, over all repeats.
type LayerSummary struct {
	// Name is unique in the variant, for example "device". Method says how it was
	// measured, for example "fio, writes of 8 kB, each flushed".
	Name   string `json:"name"`
	Method string `json:"method,omitempty"`
	// Over is the layer below, listed earlier, whose time this layer's time includes;
	// empty for the lowest.
	Over string `json:"over,omitempty"`
	// Time of one operation in milliseconds, over repeats.
	Time statistics.Summary `json:"time"`
	// Bytes, Flushes and Requests that one transaction causes at the layer, over the
	// repeats that counted them; nil if they cannot be counted.
	Bytes    *statistics.Summary `json:"bytes,omitempty"`
	Flushes  *statistics.Summary `json:"flushes,omitempty"`
	Requests *statistics.Summary `json:"requests,omitempty"`
}
