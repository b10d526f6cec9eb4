package benchmark

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// matrixResult is how far a matrix is, and its variants in the group of each tier.
func matrixResult(b *v1alpha1.PgBenchmark, style view.Style) string {
	m := b.Status.Matrix
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	line("runs %s: %d succeeded, %d failed, %d skipped%s", m.Progress, m.Succeeded, m.Failed, m.Skipped, remaining(m))
	line("results of different durability tiers do not compare")
	for _, tier := range tiersOf(m) {
		line("\n%s%s", style.Strong("Durability "+view.Or(view.Clean(string(tier)))), verdictOn(m, tier))
		out.WriteString(variantsOf(m, tier))
	}
	out.WriteString(verdict(b))
	if rows := uncounted(m); len(rows) > 0 {
		line("\n%s", style.Strong("Runs that do not count"))
		out.WriteString(view.Columns(append([][]string{{"VARIANT", "REPEAT", "REASON", "MESSAGE"}}, rows...)...))
	}
	line("\nkubectl pgstorage report %s -n %s has comparisons, latencies and charts", b.Name, b.Namespace)
	return out.String()
}

func remaining(m *v1alpha1.MatrixStatus) string {
	if m.Remaining == "" {
		return ""
	}
	return "; about " + view.Clean(m.Remaining) + " remain"
}

// tiersOf a matrix, in the order of its variants.
func tiersOf(m *v1alpha1.MatrixStatus) []v1alpha1.DurabilityTier {
	var tiers []v1alpha1.DurabilityTier
	for _, v := range m.Variants {
		if !slices.Contains(tiers, v.Durability) {
			tiers = append(tiers, v.Durability)
		}
	}
	return tiers
}

// ranking of a tier, written at the end.
func ranking(m *v1alpha1.MatrixStatus, tier v1alpha1.DurabilityTier) v1alpha1.TierRanking {
	for _, t := range m.Tiers {
		if t.Durability == tier {
			return t
		}
	}
	return v1alpha1.TierRanking{}
}

func verdictOn(m *v1alpha1.MatrixStatus, tier v1alpha1.DurabilityTier) string {
	if first := ranking(m, tier).Verdict; first != "" {
		return ": " + view.Clean(first)
	}
	return ""
}

// variantsOf a tier, best rank first, those without one last.
func variantsOf(m *v1alpha1.MatrixStatus, tier v1alpha1.DurabilityTier) string {
	ranks := map[string]int32{}
	for _, r := range ranking(m, tier).Ranking {
		ranks[r.Variant] = r.Rank
	}
	variants := slices.DeleteFunc(slices.Clone(m.Variants), func(v v1alpha1.VariantStatus) bool { return v.Durability != tier })
	slices.SortStableFunc(variants, func(a, b v1alpha1.VariantStatus) int {
		return cmp.Compare(cmp.Or(ranks[a.Name], unranked), cmp.Or(ranks[b.Name], unranked))
	})
	rows := [][]string{{"RANK", "VARIANT", "MEDIAN TPS", "MEAN TPS", "95 % INTERVAL", "COUNT", "DO NOT"}}
	for _, v := range variants {
		rank, interval := "", ""
		if n := ranks[v.Name]; n > 0 {
			rank = strconv.Itoa(int(n))
		}
		if v.LowerTPS != "" {
			interval = v.LowerTPS + " to " + v.UpperTPS
		}
		counted := 0
		for _, run := range v.Runs {
			if counts(run) {
				counted++
			}
		}
		rows = append(rows, []string{
			view.Or(rank), v.Name, view.Or(v.MedianTPS), view.Or(v.MeanTPS), view.Or(interval), strconv.Itoa(counted), strconv.Itoa(len(v.Runs) - counted),
		})
	}
	return view.Columns(rows...)
}

// unranked comes after every rank.
const unranked = int32(1 << 20)

// counts says whether the figure of a run is one of its variant's.
func counts(run v1alpha1.MatrixRun) bool {
	return run.Outcome == string(matrix.Succeeded) && run.Rejected == ""
}

// uncounted runs, which failed or were rejected, in the order of variants and repeats.
func uncounted(m *v1alpha1.MatrixStatus) [][]string {
	var rows [][]string
	for _, v := range m.Variants {
		for _, run := range v.Runs {
			if counts(run) {
				continue
			}
			reason, message := run.Reason, run.Message
			if run.Rejected != "" {
				reason, message = run.Rejected, "rejected: what was seen is in PgBenchmark "+run.Benchmark
			}
			rows = append(rows, []string{v.Name, strconv.Itoa(int(run.Repeat)), reason, message})
		}
	}
	return rows
}
