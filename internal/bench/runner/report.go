package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// Report is status.run of a PgBenchmark.
type Report = v1alpha1.BenchmarkRun

// Reporter takes a Report to where it is read.
type Reporter interface {
	Report(ctx context.Context, report Report) error
}

// Keeper keeps a record, as record.Encode made it, in place of the one before, and
// says what it is found by.
type Keeper interface {
	Keep(ctx context.Context, data map[string][]byte) (name string, err error)
}

// Phases that a Report passes on to the status of the PgBenchmark.
const (
	PhaseMeasuringLayers   = v1alpha1.PhaseMeasuringLayers
	PhaseInitialising      = v1alpha1.PhaseInitialising
	PhaseWarmingUp         = v1alpha1.PhaseWarmingUp
	PhaseRunning           = v1alpha1.PhaseRunning
	PhaseCheckingIntegrity = v1alpha1.PhaseCheckingIntegrity
	PhaseSucceeded         = v1alpha1.PhaseSucceeded
	PhaseFailed            = v1alpha1.PhaseFailed
)

// Reasons of a failed Report.
const (
	ReasonFailed             = "Failed"
	ReasonIntegrityFailed    = "IntegrityFailed"
	ReasonDurabilityMismatch = "DurabilityMismatch"
	ReasonInterrupted        = "Interrupted"
	ReasonCacheNotEmptied    = "CacheNotEmptied"
	ReasonNotEnoughSpace     = "NotEnoughSpace"
	ReasonFreeSpaceLow       = "FreeSpaceLow"
)

// Results of an integrity check.
const (
	Passed = "Passed"
	Failed = "Failed"
	NotRun = "NotRun"
)

// Names of the integrity checks.
const (
	CheckChecksums  = "Checksums"
	CheckInvariants = "Invariants"
	CheckAmcheck    = "Amcheck"
)

// Outcome of a benchmark: the last Report and every run behind its medians.
type Outcome struct {
	Report Report `json:"report"`
	Runs   []Run  `json:"runs"`
}

// Run of pgbench.
type Run struct {
	Repeat  int             `json:"repeat"`
	Clients int32           `json:"clients"`
	Result  *pgbench.Result `json:"result"`
	// Log of the transactions, of which SamplingRate was written.
	Log          pgbench.LogSummary `json:"log"`
	SamplingRate float64            `json:"samplingRate"`
	// Before and After the run, as the server had it.
	Before Durability `json:"before"`
	After  Durability `json:"after"`
	// Findings of the checks, and whether one of them rejects the run, so that it
	// does not count.
	Findings []validity.Finding `json:"findings"`
	Rejected bool               `json:"rejected"`

	// What the record has beside.
	start     time.Time
	seconds   []pgbench.Progress
	latencies string
	facts     validity.Facts
	settings  fingerprint.Settings
}

// Failure is a benchmark that failed for a Reason.
type Failure struct {
	Reason string
	Err    error
}

func (f *Failure) Error() string { return fmt.Sprintf("%s: %v", f.Reason, f.Err) }

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Err }

// failure of any error: what carries no reason of its own is just Failed.
func failure(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return &Failure{Reason: ReasonFailed, Err: err}
}
