package pgbench

import "time"

// Result is pgbench's report of one run. Figures that pgbench did not print are
// zero. Latencies are milliseconds.
type Result struct {
	// Version of pgbench, as "17.6", and of the server where it is another one.
	Version       string `json:"version,omitempty"`
	ServerVersion string `json:"serverVersion,omitempty"`

	// Script as pgbench describes it: "<builtin: TPC-B (sort of)>", a file, or
	// "multiple scripts".
	Script          string `json:"script"`
	Scale           int    `json:"scale,omitempty"`
	Partitions      int    `json:"partitions,omitempty"`
	PartitionMethod string `json:"partitionMethod,omitempty"`
	QueryMode       string `json:"queryMode,omitempty"`
	Clients         int    `json:"clients,omitempty"`
	Threads         int    `json:"threads,omitempty"`
	// MaxTries of a transaction; zero means unlimited.
	MaxTries int `json:"maxTries,omitempty"`

	// Duration of a run by time; PerClient transactions of a run by number.
	Duration  time.Duration `json:"durationNanoseconds,omitempty"`
	PerClient int64         `json:"transactionsPerClient,omitempty"`

	Counts
	// Expected transactions of a run by number.
	Expected int64 `json:"expected,omitempty"`

	Latency
	// TPS is without the initial connection time, or with reconnections where
	// Reconnects is true (pgbench --connect).
	TPS        float64 `json:"tps"`
	Reconnects bool    `json:"reconnects,omitempty"`
	// InitialConnectionTime of all clients, or, where Reconnects is true, the
	// AverageConnectionTime of each connection, in milliseconds.
	InitialConnectionTime float64 `json:"initialConnectionTime,omitempty"`
	AverageConnectionTime float64 `json:"averageConnectionTime,omitempty"`
	// LagAvg and LagMax say how late transactions began under --rate.
	LagAvg float64 `json:"lagAvg,omitempty"`
	LagMax float64 `json:"lagMax,omitempty"`
	// LatencyLimit of --latency-limit, and the transactions that exceeded it.
	LatencyLimit float64 `json:"latencyLimit,omitempty"`
	Late         int64   `json:"late,omitempty"`

	// Statements of a run with one script; those of several are in Scripts.
	Statements []Statement `json:"statements,omitempty"`
	Scripts    []Script    `json:"scripts,omitempty"`

	// Unknown lines, as they stood.
	Unknown []string `json:"unknown,omitempty"`
}

// Script is what pgbench reports of one of several scripts.
type Script struct {
	Name   string `json:"name"`
	Weight int    `json:"weight"`
	Counts
	TPS float64 `json:"tps"`
	Latency
	Statements []Statement `json:"statements,omitempty"`
}

// Counts of transactions.
type Counts struct {
	Transactions          int64 `json:"transactions"`
	Failed                int64 `json:"failed"`
	SerializationFailures int64 `json:"serializationFailures,omitempty"`
	DeadlockFailures      int64 `json:"deadlockFailures,omitempty"`
	OtherFailures         int64 `json:"otherFailures,omitempty"`
	Retried               int64 `json:"retried,omitempty"`
	Retries               int64 `json:"retries,omitempty"`
	Skipped               int64 `json:"skipped,omitempty"`
}

// Latency of the transactions.
type Latency struct {
	LatencyAvg    float64 `json:"latencyAvg,omitempty"`
	LatencyStddev float64 `json:"latencyStddev,omitempty"`
	// LatencyIncludesFailures where pgbench divided the run's time by all
	// transactions, failed ones too, having measured none of them alone.
	LatencyIncludesFailures bool `json:"latencyIncludesFailures,omitempty"`
}

// Statement of a script: SQL as pgbench prints it, the first line only.
type Statement struct {
	LatencyMs float64 `json:"latencyMs"`
	Failures  int64   `json:"failures,omitempty"`
	Retries   int64   `json:"retries,omitempty"`
	SQL       string  `json:"sql"`
}

// AllStatements of a run, script by script.
func (r *Result) AllStatements() []Statement {
	all := append([]Statement(nil), r.Statements...)
	for _, s := range r.Scripts {
		all = append(all, s.Statements...)
	}
	return all
}
