package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/amcheck"
	"github.com/pgstorage/pgstorage/internal/bench/disturbance"
	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// RunStatus is status.run of a PgBenchmark.
type RunStatus = v1alpha1.BenchmarkRun

// Reporter publishes a RunStatus.
type Reporter interface {
	Report(ctx context.Context, report RunStatus) error
}

// Keeper stores a record of record.Encode in place of the previous one, and returns its
// name.
type Keeper interface {
	Keep(ctx context.Context, data map[string][]byte) (name string, err error)
}

// Phases of a RunStatus.
const (
	PhaseMeasuringLayers   = v1alpha1.PhaseMeasuringLayers
	PhaseInitialising      = v1alpha1.PhaseInitialising
	PhaseWarmingUp         = v1alpha1.PhaseWarmingUp
	PhaseRunning           = v1alpha1.PhaseRunning
	PhaseCheckingIntegrity = v1alpha1.PhaseCheckingIntegrity
	PhaseSucceeded         = v1alpha1.PhaseSucceeded
	PhaseFailed            = v1alpha1.PhaseFailed
)

// Reasons of a RunStatus whose phase is Failed.
const (
	ReasonFailed             = v1alpha1.ReasonFailed
	ReasonIntegrityFailed    = v1alpha1.ReasonIntegrityFailed
	ReasonDurabilityMismatch = v1alpha1.ReasonDurabilityDiffers
	ReasonInterrupted        = v1alpha1.ReasonInterrupted
	ReasonCacheNotEmptied    = v1alpha1.ReasonCacheNotEmptied
	ReasonNotEnoughSpace     = v1alpha1.ReasonNotEnoughSpace
	ReasonFreeSpaceLow       = v1alpha1.ReasonFreeSpaceLow
)

// Results of an integrity check.
const (
	Passed = v1alpha1.CheckPassed
	Failed = v1alpha1.CheckFailed
	NotRun = v1alpha1.CheckNotRun
)

// Names of the integrity checks.
const (
	CheckChecksums  = "Checksums"
	CheckInvariants = "Invariants"
	CheckAmcheck    = amcheck.Name
)

// Transcript of a benchmark has the last RunStatus and every run behind its medians.
type Transcript struct {
	Report RunStatus     `json:"report"`
	Runs   []MeasuredRun `json:"runs"`
}

// MeasuredRun is one run of pgbench with what was observed around it.
type MeasuredRun struct {
	Repeat  int             `json:"repeat"`
	Clients int32           `json:"clients"`
	Result  *pgbench.Result `json:"result"`
	// Log of the transactions, of which SamplingRate was written.
	Log          pgbench.LogSummary `json:"log"`
	SamplingRate float64            `json:"samplingRate"`
	// Before and After the run, as the server had it.
	Before Durability `json:"before"`
	After  Durability `json:"after"`
	// Findings of the checks. Rejected is true if one of them excludes the run.
	Findings []validity.Finding `json:"findings"`
	Rejected bool               `json:"rejected"`

	// The record has these in addition.
	start     time.Time
	seconds   []pgbench.Progress
	latencies string
	facts     validity.Facts
	settings  fingerprint.Settings
	// events during the run, seen in so many looks.
	events []disturbance.Event
	looks  int
}

// Failure is a benchmark that failed for a Reason.
type Failure struct {
	Reason string
	Err    error
}

func (f *Failure) Error() string { return fmt.Sprintf("%s: %v", f.Reason, f.Err) }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// failure returns err as a *Failure; an error without a reason is Failed.
func failure(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return &Failure{Reason: ReasonFailed, Err: err}
}
