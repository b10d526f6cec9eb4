package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/internal/bench/comparison"
)

// Texts that every form shows.
const (
	// apart is shown if there are several groups.
	apart = "Results of different durability tiers are not compared, because their commits do not promise the same."
	// reading explains the figures.
	reading = "Figures are means over the counted repeats, with 95% intervals in brackets. " +
		"A median has an interval from 6 repeats on. " +
		"A difference is claimed only at that confidence, corrected for all comparisons of a tier."
	unranked = "Variants are ranked once all runs have ended, because stopping at a pleasing interim result biases the ranking."
	single   = "Each run is shown as it was measured. A single run has no interval."
)

func (g Group) title() string { return "Durability " + string(g.Durability) }

func (g Group) acknowledged() string { return "A commit is acknowledged " + g.Acknowledged + "." }

// running reports whether runs are pending.
func (r Report) running() bool {
	return r.Progress != nil && r.Progress.Pending > 0 && r.Progress.Stop == ""
}

// caveats stand before everything else: an incomplete benchmark and notes.
func (r Report) caveats() []string { return present(append([]string{r.partial()}, r.Notes...)...) }

// verdict returns sentences on the ranking of a group and on what limits its figures.
func (r Report) verdict(g Group) string {
	if r.running() {
		return strings.Join(present(unranked, g.limits()), " ")
	}
	if r.Together {
		return strings.Join(present(beside, g.limits()), " ")
	}
	return strings.Join(present(g.verdict(), g.limits()), " ")
}

func (g Group) verdict() string {
	if len(g.Ranking) == 0 {
		return "No variant has a counted repeat, so there are no figures."
	}
	if len(g.Ranking) == 1 {
		if len(g.Variants) == 1 {
			return g.soundness()
		}
		return fmt.Sprintf("Only %s has counted repeats, so there is nothing to compare.", g.Ranking[0].Variant)
	}
	var ranked []comparison.Place
	var unranked []string
	for _, p := range g.Ranking {
		if g.rank(p.Variant) > 0 {
			ranked = append(ranked, p)
		} else {
			unranked = append(unranked, p.Variant)
		}
	}
	if len(ranked) == 0 {
		return "No two variants can be compared; see Comparisons for the reasons."
	}
	text := first(ranked)
	if len(unranked) > 0 {
		text += fmt.Sprintf(" Not ranked, because no comparison is possible: %s.", few(unranked))
	}
	return text
}

// soundness of the only variant.
func (g Group) soundness() string {
	v, caveats := g.Variants[0], len(g.caveats())
	switch unchecked := len(v.unchecked()); {
	case caveats == 1:
		return fmt.Sprintf("The figures of %s count, with 1 caveat.", v.Name)
	case caveats > 1:
		return fmt.Sprintf("The figures of %s count, with %d caveats.", v.Name, caveats)
	case unchecked > 0:
		return fmt.Sprintf("The figures of %s count. %d checks did not run because facts are missing.", v.Name, unchecked)
	}
	return fmt.Sprintf("The figures of %s count: every check passed.", v.Name)
}

// first returns a sentence on the leading variants among those that are ranked.
func first(ranked []comparison.Place) string {
	var leaders []string
	for _, p := range ranked {
		if p.Rank == 1 {
			leaders = append(leaders, p.Variant)
		}
	}
	switch {
	case len(leaders) == len(ranked):
		return fmt.Sprintf("No difference in TPS can be claimed between %s.", few(leaders))
	case len(leaders) > 1:
		return fmt.Sprintf("No difference in TPS can be claimed between the leading variants, %s.", few(leaders))
	}
	better := ranked[0].BetterThan
	text := fmt.Sprintf("%s has the highest TPS, significantly more than %s.", ranked[0].Variant, few(better))
	if rest := others(ranked[1:], better); len(rest) > 0 {
		text += fmt.Sprintf(" No difference can be claimed between it and %s.", few(rest))
	}
	return text
}

func others(places []comparison.Place, named []string) []string {
	var names []string
	for _, p := range places {
		if !slices.Contains(named, p.Variant) {
			names = append(names, p.Variant)
		}
	}
	return names
}

// mostDifferences limits the comparisons shown for a group; JSON and CSV have all.
const mostDifferences = 15

// shownDifferences of a group, and how many are left out. If there are too many, it keeps
// those of the leading variant.
func (g Group) shownDifferences() (shown []comparison.Difference, left int) {
	shown = g.Differences
	if len(shown) > mostDifferences && len(g.Variants) > 0 {
		first := g.ordered()[0].Name
		shown = slices.DeleteFunc(slices.Clone(shown), func(d comparison.Difference) bool { return d.Baseline != first && d.Variant != first })
	}
	shown = shown[:min(len(shown), mostDifferences)]
	return shown, len(g.Differences) - len(shown)
}

// leftOut returns a sentence on the differences that are not shown; "" for none.
func leftOut(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d more comparisons are in the json and csv forms.", n)
}

// partial returns a sentence on the progress of an incomplete benchmark, else "".
func (r Report) partial() string {
	var parts []string
	if p := r.Progress; p != nil && p.Pending+p.Skipped > 0 {
		part := fmt.Sprintf("%d runs succeeded, %d failed, %d were skipped, %d have not ended", p.Succeeded, p.Failed, p.Skipped, p.Pending)
		if p.Stop != "" && p.Pending > 0 {
			part += " (" + p.Stop + ")"
		}
		parts = append(parts, part)
	}
	if len(r.NotRun) > 0 {
		parts = append(parts, "variants without a completed run: "+list(r.NotRun))
	}
	if len(parts) == 0 {
		return ""
	}
	return "The benchmark is incomplete: " + strings.Join(parts, "; ") + "."
}

// ordered variants of the group: by rank, then those without one.
func (g Group) ordered() []Variant {
	var out []Variant
	for _, p := range g.Ranking {
		if at := g.index(p.Variant); at >= 0 && g.rank(p.Variant) > 0 {
			out = append(out, g.Variants[at])
		}
	}
	for _, v := range g.Variants {
		if g.rank(v.Name) == 0 {
			out = append(out, v)
		}
	}
	return out
}

func (g Group) index(variant string) int {
	return slices.IndexFunc(g.Variants, func(v Variant) bool { return v.Name == variant })
}

// rank of a variant; zero without counted repeats, and if it was not compared with any
// other variant.
func (g Group) rank(variant string) int {
	for _, p := range g.Ranking {
		if p.Variant == variant && g.compared(variant) {
			return p.Rank
		}
	}
	return 0
}

// compared reports whether a variant was compared with another.
func (g Group) compared(variant string) bool {
	return slices.ContainsFunc(g.Differences, func(d comparison.Difference) bool {
		return (d.Baseline == variant || d.Variant == variant) && d.Verdict != comparison.NotComparable
	})
}
