package record

import (
	"fmt"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/disturbance"
	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
	"github.com/pgstorage/pgstorage/internal/bench/histogram"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// Version of the encoding. Decode rejects any other.
const Version = 1

// MaxRuns of a PgBenchmark: 20 repeats of 16 client counts.
const MaxRuns = 320

// Record of a PgBenchmark.
type Record struct {
	Version int `json:"version"`
	// Attempt is the UID of the runner's pod that measured all of it.
	Attempt string `json:"attempt,omitempty"`
	// Runs in chronological order, at most MaxRuns.
	Runs   []Run   `json:"runs,omitempty"`
	Layers []Layer `json:"layers,omitempty"`

	// Thinned is how many of pgbench's lines each of Seconds stands for, where all
	// of them did not fit: their mean. Zero and one are each line.
	Thinned int `json:"thinned,omitempty"`
	// WithoutLatencies is true if the latencies did not fit and were dropped.
	WithoutLatencies bool `json:"withoutLatencies,omitempty"`
}

// Run of pgbench. It has a Result or a Failure.
type Run struct {
	Clients int `json:"clients"`
	// Repeat from 1.
	Repeat int `json:"repeat"`
	// Durability that was verified before and after the run.
	Durability v1alpha1.DurabilityTier `json:"durability,omitempty"`
	Failure    string                  `json:"failure,omitempty"`
	// Start by the runner's wall clock.
	Start  time.Time       `json:"start,omitzero"`
	Result *pgbench.Result `json:"result,omitempty"`
	// Seconds are the lines of pgbench --progress=1, oldest first.
	Seconds []pgbench.Progress `json:"seconds,omitempty"`
	// Latencies is the text of a histogram, empty without one, of SamplingRate of
	// the transactions.
	Latencies    string         `json:"latencies,omitempty"`
	SamplingRate float64        `json:"samplingRate,omitempty"`
	Facts        validity.Facts `json:"facts,omitzero"`
	// Events that an observer saw during the run, at most disturbance.Most, in so many Looks.
	Events   []disturbance.Event  `json:"events,omitempty"`
	Looks    int                  `json:"looks,omitempty"`
	Settings fingerprint.Settings `json:"settings,omitempty"`
}

// Layer of the storage, measured alone.
type Layer struct {
	Name string `json:"name"`
	// Method by which it was measured.
	Method string `json:"method,omitempty"`
	// Over is the layer below; empty for the lowest.
	Over string `json:"over,omitempty"`
	// Milliseconds of one operation, by repeat.
	Milliseconds []float64 `json:"milliseconds,omitempty"`
	// Bytes, Flushes and Requests of one transaction; nil where they cannot be
	// counted.
	Bytes    *float64 `json:"bytes,omitempty"`
	Flushes  *float64 `json:"flushes,omitempty"`
	Requests *float64 `json:"requests,omitempty"`
}

// Trial returns the run as a repeat, counted from 1, of a variant. It fails where the
// latencies cannot be decoded.
func (r Run) Trial(variant string, repeat int) (analysis.Trial, error) {
	run := analysis.Trial{
		Variant: variant, Repeat: repeat, Tier: r.Durability, Failure: r.Failure, Result: r.Result,
		Seconds: r.Seconds, Facts: r.Facts, Settings: r.Settings, Events: r.Events, Looks: r.Looks,
	}
	if r.Latencies == "" {
		return run, nil
	}
	run.Latencies = histogram.New()
	if err := run.Latencies.UnmarshalText([]byte(r.Latencies)); err != nil {
		return analysis.Trial{}, fmt.Errorf("run of repeat %d with %d clients: %w", r.Repeat, r.Clients, err)
	}
	return run, nil
}
