package matrices

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/comparison"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
)

// phaseResting is between two runs of a matrix.
const phaseResting = "Resting"

// report makes the status of what was decided.
func (p *pass) report() error {
	completion := outcome.Outcome{}
	for _, o := range p.step.Outcomes {
		if o.Condition == v1alpha1.ConditionComplete {
			completion = o
		}
	}
	s := v1alpha1.PgBenchmarkStatus{ObservedGeneration: p.b.Generation, Phase: phase(completion), CompletionTime: p.b.Status.CompletionTime}
	finished := completion.Kind != outcome.Wait
	if finished && s.CompletionTime == nil {
		now := p.now
		s.CompletionTime = &now
	}
	m, err := p.matrixStatus(finished)
	if err != nil {
		return err
	}
	s.Matrix = m
	s.Durability, s.BestTPS = headline(m.Variants)
	if s.Durability == "" {
		s.Durability = p.given
	}
	p.step.Status = s
	return nil
}

func phase(completion outcome.Outcome) string {
	switch {
	case completion.Kind == outcome.Done:
		return v1alpha1.PhaseSucceeded
	case completion.Kind == outcome.Invalid:
		return v1alpha1.PhaseFailed
	case completion.Reason == v1alpha1.ReasonResting:
		return phaseResting
	case completion.Reason == v1alpha1.ReasonRunning:
		return v1alpha1.PhaseRunning
	case completion.Reason == v1alpha1.ReasonPreparing:
		return v1alpha1.PhasePreparing
	}
	return v1alpha1.PhasePending
}

func (p *pass) matrixStatus(finished bool) (*v1alpha1.MatrixStatus, error) {
	estimate, n := p.Estimate(), p.progress
	over := n.Succeeded + n.Failed + n.Skipped
	m := &v1alpha1.MatrixStatus{
		Progress:  fmt.Sprintf("%d of %d", over, len(p.Runs)),
		Percent:   number(100 * over / len(p.Runs)),
		Runs:      number(len(p.Runs)),
		Succeeded: number(n.Succeeded), Failed: number(n.Failed), Skipped: number(n.Skipped),
		Clusters: number(len(p.made)),
		Estimate: estimate.Total.String(),
		Current:  p.current,
	}
	if !finished {
		m.Remaining = n.Remaining.String()
	}
	old := p.b.Status.Matrix
	now := p.now
	m.StartTime = &now
	if old != nil && old.StartTime != nil {
		m.StartTime = old.StartTime
	}
	for _, v := range p.Variants {
		status, err := p.variant(v.Name)
		if err != nil {
			return nil, err
		}
		m.Variants = append(m.Variants, status)
	}
	if !finished {
		return m, nil
	}
	return m, p.rankOnce(m)
}

// rankOnce the variants of a matrix that has ended.
func (p *pass) rankOnce(m *v1alpha1.MatrixStatus) error {
	if old := p.b.Status.Matrix; old != nil && len(old.Tiers) > 0 {
		m.Tiers = old.Tiers
		return nil
	}
	var err error
	m.Tiers, err = rank(m.Variants)
	return err
}

// variant with its runs that ended.
func (p *pass) variant(name string) (v1alpha1.VariantStatus, error) {
	s := v1alpha1.VariantStatus{
		Name: name, Cluster: p.cluster(p.targets[name]), Clients: p.settings[name].clients,
		Durability: p.tier(name), Fingerprint: p.fingerprint(name),
	}
	for repeat := 1; repeat <= int(p.b.Spec.Matrix.Repeats); repeat++ {
		if run, ended := p.ended[matrix.ID{Variant: name, Repeat: repeat}]; ended {
			s.Runs = append(s.Runs, run)
		}
	}
	err := summarise(&s)
	return s, err
}

// fingerprint of the server's settings in the first run of a variant.
func (p *pass) fingerprint(name string) string {
	if before := p.before(name); before != nil && before.Fingerprint != "" {
		return before.Fingerprint
	}
	for repeat := 1; repeat <= int(p.b.Spec.Matrix.Repeats); repeat++ {
		run := p.runs[matrix.ID{Variant: name, Repeat: repeat}]
		if run != nil && benchmarks.Ended(run) && run.Status.Run != nil && run.Status.Run.Fingerprint != "" {
			return run.Status.Run.Fingerprint
		}
	}
	return ""
}

// summarise the runs of a variant, where any succeeded.
func summarise(s *v1alpha1.VariantStatus) error {
	result, err := resultOf(*s)
	if err != nil || len(result.Values) == 0 {
		return err
	}
	var values []float64
	for _, repeat := range slices.Sorted(maps.Keys(result.Values)) {
		values = append(values, result.Values[repeat])
	}
	summary, err := statistics.Summarise(values)
	if err != nil {
		return fmt.Errorf("variant %q: %w", s.Name, err)
	}
	s.MedianTPS, s.MeanTPS = decimals(summary.Median), decimals(summary.Mean)
	if summary.Interval != nil {
		s.LowerTPS, s.UpperTPS = decimals(summary.Interval.Lower), decimals(summary.Interval.Upper)
	}
	return nil
}

// before is what the status had of a variant, or nil.
func (p *pass) before(name string) *v1alpha1.VariantStatus {
	if p.b.Status.Matrix == nil {
		return nil
	}
	for i := range p.b.Status.Matrix.Variants {
		if v := &p.b.Status.Matrix.Variants[i]; v.Name == name {
			return v
		}
	}
	return nil
}

// resultOf a variant for comparisons: the TPS of the runs that succeeded and that no
// check rejects.
func resultOf(v v1alpha1.VariantStatus) (comparison.Result, error) {
	r := comparison.Result{Variant: v.Name, Tier: v.Durability, Values: map[int]float64{}}
	for _, run := range v.Runs {
		if !counting(run) {
			continue
		}
		tps, err := strconv.ParseFloat(run.TPS, 64)
		if err != nil {
			return r, fmt.Errorf("repeat %d of variant %q: %w", run.Repeat, v.Name, err)
		}
		r.Values[int(run.Repeat)] = tps
	}
	return r, nil
}

// resultsOf the variants that have any.
func resultsOf(variants []v1alpha1.VariantStatus) ([]comparison.Result, error) {
	var all []comparison.Result
	for _, v := range variants {
		r, err := resultOf(v)
		if err != nil {
			return nil, err
		}
		if len(r.Values) > 0 {
			all = append(all, r)
		}
	}
	return all, nil
}

// rank the variants within each tier.
func rank(variants []v1alpha1.VariantStatus) ([]v1alpha1.TierRanking, error) {
	results, err := resultsOf(variants)
	if err != nil {
		return nil, err
	}
	groups, err := comparison.ByTier(comparison.TPS, results)
	if err != nil {
		return nil, err
	}
	var tiers []v1alpha1.TierRanking
	for _, g := range groups {
		places, _ := g.Ranking()
		t := v1alpha1.TierRanking{Durability: g.Tier(), Verdict: verdict(places)}
		for _, place := range places {
			t.Ranking = append(t.Ranking, v1alpha1.VariantRank{
				Variant: place.Variant, Rank: number(place.Rank), MedianTPS: decimals(place.Summary.Median), BetterThan: number(len(place.BetterThan)),
			})
		}
		tiers = append(tiers, t)
	}
	return tiers, nil
}

// verdict on the places of a tier.
func verdict(places []comparison.Place) string {
	var first []string
	for _, place := range places {
		if place.Rank == 1 {
			first = append(first, place.Variant)
		}
	}
	switch {
	case len(places) == 1:
		return "one variant alone: there is nothing to compare it with"
	case len(first) == 1:
		return "first by a claimed difference: " + first[0]
	}
	return fmt.Sprintf("no difference can be claimed among the first %d: %s", len(first), strings.Join(first, "; "))
}

// headline of variants of one tier: that tier, and the highest median.
func headline(variants []v1alpha1.VariantStatus) (tier v1alpha1.DurabilityTier, best string) {
	highest := -1.0
	for i, v := range variants {
		if i > 0 && v.Durability != tier {
			return "", ""
		}
		tier = v.Durability
		if tps, err := strconv.ParseFloat(v.MedianTPS, 64); err == nil && tps > highest {
			best, highest = v.MedianTPS, tps
		}
	}
	return tier, best
}

func decimals(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// number of runs or variants, of which a matrix has 1280 at most.
func number(n int) int32 { return int32(n) } //nolint:gosec // G115: at most 1280
