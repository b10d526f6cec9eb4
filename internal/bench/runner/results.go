package runner

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
)

// Bounds of what a status holds: it is an object in etcd, not an archive.
const (
	maxSQL        = 200
	maxStatements = 40
)

// summarise returns one result for each client count, in the order of counts. It is the median
// run by TPS, the lower of two, so that all figures come from one actual run. It excludes
// rejected runs unless all are rejected.
func summarise(counts []int32, runs []MeasuredRun) []v1alpha1.BenchmarkResult {
	var results []v1alpha1.BenchmarkResult
	for _, clients := range counts {
		same := slices.DeleteFunc(slices.Clone(runs), func(r MeasuredRun) bool { return r.Clients != clients })
		if len(same) == 0 {
			continue
		}
		counting := slices.DeleteFunc(slices.Clone(same), func(r MeasuredRun) bool { return r.Rejected })
		if len(counting) == 0 {
			counting = slices.Clone(same)
		}
		slices.SortStableFunc(counting, func(a, b MeasuredRun) int { return cmp.Compare(a.Result.TPS, b.Result.TPS) })
		result := figures(counting[(len(counting)-1)/2])
		for _, r := range same {
			result.TPSOfRuns = append(result.TPSOfRuns, decimals(r.Result.TPS, 2))
			if r.Rejected {
				result.Rejected++
			}
		}
		result.Passed, result.Findings = found(same)
		results = append(results, result)
	}
	return results
}

func figures(run MeasuredRun) v1alpha1.BenchmarkResult {
	r := run.Result
	result := v1alpha1.BenchmarkResult{
		Clients:        run.Clients,
		Jobs:           int32(r.Threads), //nolint:gosec // the parser read it as 32 bits
		TPS:            decimals(r.TPS, 2),
		LatencyAverage: decimals(r.LatencyAvg, 3),
		LatencyStddev:  decimals(r.LatencyStddev, 3),
		Transactions:   r.Transactions,
		Failed:         r.Failed,
		Retried:        r.Retried,
	}
	if run.Log.Processed > 0 {
		result.LatencyP50 = decimals(run.Log.P50, 3)
		result.LatencyP95 = decimals(run.Log.P95, 3)
		result.LatencyP99 = decimals(run.Log.P99, 3)
	}
	for _, s := range r.AllStatements() {
		if len(result.Statements) == maxStatements {
			break
		}
		result.Statements = append(result.Statements, v1alpha1.StatementLatency{
			SQL: excerpt.Truncate(s.SQL, maxSQL), LatencyAverage: decimals(s.LatencyMs, 3), Failures: s.Failures, Retries: s.Retries,
		})
	}
	return result
}

func decimals(f float64, n int) string { return strconv.FormatFloat(f, 'f', n, 64) }
