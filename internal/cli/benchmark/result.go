package benchmark

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// Result of a benchmark as text, with the latencies of each statement if wanted. One
// that has not ended shows what there is.
func Result(b *v1alpha1.PgBenchmark, statements bool, style view.Style) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	line("%s of %s: %s", style.Strong("PgBenchmark "+b.Name), target(b), Line(b))
	if b.Status.Matrix != nil {
		out.WriteString(matrixResult(b, style))
		return out.String()
	}
	line("durability %s: results of other tiers do not compare", view.Or(string(b.Status.Durability)))
	run := b.Status.Run
	if run == nil {
		line("the runner has reported nothing yet")
		return out.String()
	}
	line("PostgreSQL %s, synchronous_commit=%s, settings %s", view.Or(view.Clean(run.ServerVersion)), view.Or(view.Clean(run.SynchronousCommit)), view.Or(view.Clean(short(run.Fingerprint))))
	if len(run.Results) > 0 {
		line("")
		out.WriteString(results(run.Results))
		out.WriteString(believable(b, style))
	}
	if statements {
		for _, r := range run.Results {
			line("\n%s", style.Strong(fmt.Sprintf("Statements with %d clients", r.Clients)))
			out.WriteString(statementsOf(r))
		}
	}
	out.WriteString(layers(run, style))
	if len(run.Integrity) > 0 {
		line("\n%s", style.Strong("Integrity after the run"))
		rows := [][]string{{"CHECK", "RESULT", "MESSAGE"}}
		for _, c := range run.Integrity {
			rows = append(rows, []string{c.Name, c.Result, c.Message})
		}
		out.WriteString(view.Columns(rows...))
	}
	return out.String()
}

// target that a benchmark measures.
func target(b *v1alpha1.PgBenchmark) string {
	if b.Spec.Template != nil {
		return "clusters of its own in " + b.Namespace
	}
	return b.Namespace + "/" + b.Spec.Cluster
}

// short is the beginning of a fingerprint, enough to tell two apart by eye.
func short(fingerprint string) string {
	const enough = 12
	return fingerprint[:min(enough, len(fingerprint))]
}

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

func statementsOf(r v1alpha1.BenchmarkResult) string {
	rows := [][]string{{"AVERAGE MS", "FAILURES", "RETRIES", "STATEMENT"}}
	for _, s := range r.Statements {
		rows = append(rows, []string{s.LatencyAverage, strconv.FormatInt(s.Failures, 10), strconv.FormatInt(s.Retries, 10), s.SQL})
	}
	return view.Columns(rows...)
}

// OfMatrix says that a benchmark is one run of a matrix.
func OfMatrix(b *v1alpha1.PgBenchmark) bool {
	owner := metav1.GetControllerOf(b)
	return owner != nil && owner.Kind == "PgBenchmark"
}

// List of benchmarks as text; now is what ages are counted from. Where there are
// several tiers it says that they do not compare.
func List(in []v1alpha1.PgBenchmark, now time.Time, namespaces bool) string {
	head := []string{"NAME", "CLUSTER", "PHASE", "PERCENT", "RUNS", "TPS", "DURABILITY", "AGE"}
	if namespaces {
		head = append([]string{"NAMESPACE"}, head...)
	}
	rows := [][]string{head}
	tiers := map[v1alpha1.DurabilityTier]bool{}
	for i := range in {
		b := &in[i]
		runs := ""
		if b.Status.Matrix != nil {
			runs = b.Status.Matrix.Progress
		}
		row := []string{
			b.Name, view.Or(b.Spec.Cluster), view.Or(b.Status.Phase), strconv.Itoa(int(Percent(b))), view.Or(runs), view.Or(b.Status.BestTPS),
			view.Or(string(b.Status.Durability)), duration.HumanDuration(now.Sub(b.CreationTimestamp.Time)),
		}
		if namespaces {
			row = append([]string{b.Namespace}, row...)
		}
		rows = append(rows, row)
		if b.Status.BestTPS != "" {
			tiers[b.Status.Durability] = true
		}
	}
	out := view.Columns(rows...)
	if len(tiers) > 1 {
		out += "Results of different durability tiers do not compare.\n"
	}
	return out
}
