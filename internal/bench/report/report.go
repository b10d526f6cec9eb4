package report

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/comparison"
	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
	"github.com/pgstorage/pgstorage/internal/bench/histogram"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// Kind and Version of the JSON form. A field that is added keeps the Version; one
// that goes away or means something else raises it.
const (
	Kind    = "BenchmarkReport"
	Version = 1
)

// Report on a benchmark.
type Report struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"`
	About   About  `json:"about"`
	// Confidence of every interval, 0.95.
	Confidence float64 `json:"confidence"`
	// Progress of the benchmark; absent where there is no plan.
	Progress *Progress `json:"progress,omitempty"`
	// Notes say what the report could not be made of, as records that are missing.
	Notes []string `json:"notes,omitempty"`
	// Axes that were varied.
	Axes []Axis `json:"axes,omitempty"`
	// Groups by durability tier, what loses least first. Nothing is compared from
	// one to another.
	Groups []Group `json:"groups,omitempty"`
	// NotRun are variants of the plan of which no run has ended.
	NotRun []string `json:"notRun,omitempty"`
}

// About says what was measured.
type About struct {
	// Name of the benchmark, as namespace/name.
	Name string `json:"name"`
	// Time at which it ended, as it is to be shown.
	Time string `json:"time,omitempty"`
	// Facts in the order in which they are shown.
	Facts []Fact `json:"facts,omitempty"`
}

// Fact about a benchmark, as its scale or its cluster.
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
	// Pending are those that have not ended.
	Pending int `json:"pending"`
	// Stop says why no run is next, as "Complete"; empty while one is.
	Stop string `json:"stop,omitempty"`
}

// Group of the variants of one durability tier.
type Group struct {
	Durability v1alpha1.DurabilityTier `json:"durability"`
	// Acknowledged says when a commit is.
	Acknowledged string `json:"acknowledged"`
	// Ranking by TPS, and the differences that it stands on; absent while runs are
	// still to come.
	Ranking     []comparison.Place      `json:"ranking,omitempty"`
	Differences []comparison.Difference `json:"differences,omitempty"`
	Settings    Settings                `json:"settings"`
	// Variants in the order in which they first ran.
	Variants []Variant `json:"variants"`
}

// Settings that were read back, compared within a group.
type Settings struct {
	// Variants whose settings are known, the first being what the others are held
	// against, and those whose settings are not.
	Variants []string `json:"variants,omitempty"`
	Unknown  []string `json:"unknown,omitempty"`
	// Different are those that not all of Variants have alike.
	Different []Setting `json:"different,omitempty"`
	// Messages say of which variants more differs than what was varied on purpose.
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
	// TPS and latencies in milliseconds over the repeats that count; absent without
	// any.
	TPS            *statistics.Summary `json:"tps,omitempty"`
	LatencyAverage *statistics.Summary `json:"latencyAverage,omitempty"`
	LatencyP99     *statistics.Summary `json:"latencyP99,omitempty"`
	// Curve of the latencies of all repeats that count, put together, how many they
	// are, and of how many transactions: with a sampled log of more.
	Curve        []histogram.Point `json:"curve,omitempty"`
	Latencies    int64             `json:"latencies,omitempty"`
	Transactions int64             `json:"transactions,omitempty"`
	// Percentiles of each repeat that counts, summarised over the repeats.
	Percentiles []Percentile `json:"percentiles,omitempty"`
	// Layers from the lowest up; absent where they were not measured.
	Layers []LayerSummary `json:"layers,omitempty"`
	// Fingerprint of the settings, and what was otherwise in a later repeat.
	Fingerprint     string                   `json:"fingerprint,omitempty"`
	SettingsChanged []fingerprint.Difference `json:"settingsChanged,omitempty"`
	// Agreement of the repeats that count.
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
	// Counted in the figures: it ended, and no check rejects it.
	Counted bool   `json:"counted"`
	Failure string `json:"failure,omitempty"`
	// TPS, and latencies in milliseconds; zero where it failed.
	TPS            float64                 `json:"tps"`
	LatencyAverage float64                 `json:"latencyAverage"`
	LatencyP99     float64                 `json:"latencyP99,omitempty"`
	Levels         statistics.Segmentation `json:"levels"`
	Findings       []validity.Finding      `json:"findings,omitempty"`
	Seconds        []Second                `json:"seconds,omitempty"`
}

// Second of a run, told at its end.
type Second struct {
	// At in seconds since the run began.
	At  float64 `json:"at"`
	TPS float64 `json:"tps"`
	// Latency on average in milliseconds; zero where it is not known or nothing
	// committed.
	Latency float64 `json:"latency,omitempty"`
}

// LayerSummary is one layer of the storage, measured by itself, over all repeats.
type LayerSummary struct {
	// Name, as "device", unique in the variant; and how it was measured, as "fio,
	// writes of 8 kB, each flushed".
	Name   string `json:"name"`
	Method string `json:"method,omitempty"`
	// Over is the layer, earlier in the list, that it stands on and whose time its
	// own includes; empty for the lowest.
	Over string `json:"over,omitempty"`
	// Time of one operation in milliseconds, over repeats.
	Time statistics.Summary `json:"time"`
	// Bytes, Flushes and Requests of one transaction that reached the layer, over the
	// repeats that counted them; nil where they cannot be counted.
	Bytes    *statistics.Summary `json:"bytes,omitempty"`
	Flushes  *statistics.Summary `json:"flushes,omitempty"`
	Requests *statistics.Summary `json:"requests,omitempty"`
}
