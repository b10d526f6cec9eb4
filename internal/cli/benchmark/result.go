package benchmark

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// ResultText formats the result of a benchmark, with the latency of each statement if
// statements is set. For a benchmark that has not ended it formats what is known.
func ResultText(b *v1alpha1.PgBenchmark, statements bool, style view.Style) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	line("%s on %s: %s", style.Strong("PgBenchmark "+b.Name), target(b), Line(b))
	if b.Status.Matrix != nil {
		out.WriteString(matrixText(b, style))
		return out.String()
	}
	line("Durability %s (not comparable with other tiers)", view.Or(string(b.Status.Durability)))
	run := b.Status.Run
	if run == nil {
		line("The runner has not reported yet.")
		return out.String()
	}
	line("PostgreSQL %s, synchronous_commit=%s, settings fingerprint %s", view.Or(view.Clean(run.ServerVersion)), view.Or(view.Clean(run.SynchronousCommit)), view.Or(view.Clean(short(run.Fingerprint))))
	if len(run.Results) > 0 {
		line("")
		out.WriteString(results(run.Results))
		out.WriteString(findings(b, style))
	}
	if statements {
		out.WriteString(statementsText(run, style))
	}
	out.WriteString(layers(run, style))
	out.WriteString(integrity(run, style))
	return out.String()
}

// integrity formats the integrity checks after a run; empty without checks.
func integrity(run *v1alpha1.BenchmarkRun, style view.Style) string {
	if len(run.Integrity) == 0 {
		return ""
	}
	rows := [][]string{{"CHECK", "RESULT", "MESSAGE"}}
	for _, c := range run.Integrity {
		rows = append(rows, []string{c.Name, c.Result, c.Message})
	}
	return "\n" + style.Strong("Integrity checks") + "\n" + view.Columns(rows...)
}

// target returns what a benchmark measures.
func target(b *v1alpha1.PgBenchmark) string {
	if b.Spec.Template != nil {
		return "temporary clusters in " + b.Namespace
	}
	return b.Namespace + "/" + b.Spec.Cluster
}

// short returns the beginning of a fingerprint, which is enough to compare two by eye.
func short(fingerprint string) string {
	const enough = 12
	return fingerprint[:min(enough, len(fingerprint))]
}

// results formats the results by client count.
func results(in []v1alpha1.BenchmarkResult) string {
	rows := [][]string{{"CLIENTS", "TPS", "RUNS", "AVERAGE MS", "STDDEV", "P50", "P95", "P99", "TRANSACTIONS", "FAILED", "RETRIED"}}
	for _, r := range in {
		rows = append(rows, []string{
			strconv.Itoa(int(r.Clients)), r.TPS, view.Or(strings.Join(r.TPSOfRuns, " ")), view.Or(r.LatencyAverage), view.Or(r.LatencyStddev),
			view.Or(r.LatencyP50), view.Or(r.LatencyP95), view.Or(r.LatencyP99),
			strconv.FormatInt(r.Transactions, 10), strconv.FormatInt(r.Failed, 10), strconv.FormatInt(r.Retried, 10),
		})
	}
	return view.Columns(rows...)
}

// statementsText formats the latency of each statement, by client count.
func statementsText(run *v1alpha1.BenchmarkRun, style view.Style) string {
	var out strings.Builder
	for _, r := range run.Results {
		out.WriteString("\n" + style.Strong(fmt.Sprintf("Statements with %d clients", r.Clients)) + "\n")
		rows := [][]string{{"AVERAGE MS", "FAILURES", "RETRIES", "STATEMENT"}}
		for _, s := range r.Statements {
			rows = append(rows, []string{s.LatencyAverage, strconv.FormatInt(s.Failures, 10), strconv.FormatInt(s.Retries, 10), s.SQL})
		}
		out.WriteString(view.Columns(rows...))
	}
	return out.String()
}
