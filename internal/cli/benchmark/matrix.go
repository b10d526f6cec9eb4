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

// matrixText formats the progress of a matrix and its variants by durability tier.
func matrixText(b *v1alpha1.PgBenchmark, style view.Style) string {
	m := b.Status.Matrix
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	line("Runs %s: %d succeeded, %d failed, %d skipped%s", m.Progress, m.Succeeded, m.Failed, m.Skipped, remaining(m))
	line("Results of different durability tiers are not comparable.")
	for _, tier := range tiersOf(m) {
		line("\n%s%s", style.Strong("Durability "+view.Or(view.Clean(string(tier)))), rankingOutcome(m, tier))
		out.WriteString(variantsOf(m, tier))
	}
	out.WriteString(believable(b))
	if rows := excluded(m); len(rows) > 0 {
		line("\n%s", style.Strong("Excluded runs"))
		out.WriteString(view.Columns(append([][]string{{"VARIANT", "REPEAT", "REASON", "MESSAGE"}}, rows...)...))
	}
	line("\nFor comparisons, latencies and charts: kubectl pgstorage report %s -n %s", b.Name, b.Namespace)
	return out.String()
}

func remaining(m *v1alpha1.MatrixStatus) string {
	if m.Remaining == "" {
		return ""
	}
	return "; about " + view.Clean(m.Remaining) + " remaining"
}

// tiersOf returns the durability tiers of a matrix, in the order of its variants.
func tiersOf(m *v1alpha1.MatrixStatus) []v1alpha1.DurabilityTier {
	var tiers []v1alpha1.DurabilityTier
	for _, v := range m.Variants {
		if !slices.Contains(tiers, v.Durability) {
			tiers = append(tiers, v.Durability)
		}
	}
	return tiers
}

// ranking returns the ranking of a tier, which the operator writes at the end.
func ranking(m *v1alpha1.MatrixStatus, tier v1alpha1.DurabilityTier) v1alpha1.TierRanking {
	for _, t := range m.Tiers {
		if t.Durability == tier {
			return t
		}
	}
	return v1alpha1.TierRanking{}
}

// rankingOutcome returns the outcome of the ranking of a tier; empty before the end.
func rankingOutcome(m *v1alpha1.MatrixStatus, tier v1alpha1.DurabilityTier) string {
	if first := ranking(m, tier).Verdict; first != "" {
		return ": " + view.Clean(first)
	}
	return ""
}

// variantsOf formats the variants of a tier by rank, those without a rank last.
func variantsOf(m *v1alpha1.MatrixStatus, tier v1alpha1.DurabilityTier) string {
	ranks := map[string]int32{}
	for _, r := range ranking(m, tier).Ranking {
		ranks[r.Variant] = r.Rank
	}
	variants := slices.DeleteFunc(slices.Clone(m.Variants), func(v v1alpha1.VariantStatus) bool { return v.Durability != tier })
	slices.SortStableFunc(variants, func(a, b v1alpha1.VariantStatus) int {
		return cmp.Compare(cmp.Or(ranks[a.Name], unranked), cmp.Or(ranks[b.Name], unranked))
	})
	rows := [][]string{{"RANK", "VARIANT", "MEDIAN TPS", "MEAN TPS", "95% INTERVAL", "VALID", "EXCLUDED"}}
	for _, v := range variants {
		rank, interval := "", ""
		if n := ranks[v.Name]; n > 0 {
			rank = strconv.Itoa(int(n))
		}
		if v.LowerTPS != "" {
			interval = v.LowerTPS + " to " + v.UpperTPS
		}
		n := validRuns(v)
		rows = append(rows, []string{
			view.Or(rank), v.Name, view.Or(v.MedianTPS), view.Or(v.MeanTPS), view.Or(interval), strconv.Itoa(n), strconv.Itoa(len(v.Runs) - n),
		})
	}
	return view.Columns(rows...)
}

// validRuns returns the number of runs that count for a variant.
func validRuns(v v1alpha1.VariantStatus) int {
	n := 0
	for _, run := range v.Runs {
		if valid(run) {
			n++
		}
	}
	return n
}

// unranked sorts after every rank.
const unranked = int32(1 << 20)

// valid reports whether a run counts for its variant.
func valid(run v1alpha1.MatrixRun) bool {
	return run.Outcome == string(matrix.Succeeded) && run.Rejected == ""
}

// excluded returns the runs that failed or were rejected, by variant and repeat.
func excluded(m *v1alpha1.MatrixStatus) [][]string {
	var rows [][]string
	for _, v := range m.Variants {
		for _, run := range v.Runs {
			if valid(run) {
				continue
			}
			reason, message := run.Reason, run.Message
			if run.Rejected != "" {
				reason, message = run.Rejected, "rejected; for the finding see PgBenchmark "+run.Benchmark
			}
			rows = append(rows, []string{v.Name, strconv.Itoa(int(run.Repeat)), reason, message})
		}
	}
	return rows
}
