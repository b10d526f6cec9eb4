package report

import (
	"fmt"
	"slices"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/comparison"
	"github.com/pgstorage/pgstorage/internal/bench/durability"
	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
	"github.com/pgstorage/pgstorage/internal/bench/matrix"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// Input of Build. Everything but the Analysis is optional.
type Input struct {
	About    About
	Analysis analysis.Analysis
	// Runs behind the Analysis. They add what it does not keep: the latency of each
	// second, percentiles of each repeat, and settings.
	Runs []analysis.Trial
	// Gate of the benchmark.
	Gate *Gate
	// Axes, Variants and Progress of the plan.
	Axes     []matrix.Axis
	Variants []matrix.Variant
	Progress *matrix.Progress
	// Varied are the settings that the benchmark varies.
	Varied map[fingerprint.Group][]string
	// Layers by variant.
	Layers map[string][]LayerSummary
	// Notes name missing sources, for example lost records.
	Notes []string
	// Together says that the variants are of several benchmarks; see [Together].
	Together bool
}

// Build a Report. It fails if the input has runs or layers of variants that the Analysis
// does not have.
func Build(in Input) (Report, error) {
	r := Report{Kind: Kind, Version: Version, About: in.About, Confidence: statistics.Confidence, Progress: progress(in.Progress), Notes: in.Notes, Gate: in.Gate, Together: in.Together}
	for _, a := range in.Axes {
		r.Axes = append(r.Axes, Axis{a.Name, a.Values})
	}
	runs := map[string][]analysis.Trial{}
	for _, run := range in.Runs {
		runs[run.Variant] = append(runs[run.Variant], run)
	}
	if err := in.check(runs); err != nil {
		return Report{}, err
	}
	for _, tier := range comparison.Tiers() {
		g, err := in.group(tier, runs)
		if err != nil {
			return Report{}, err
		}
		if err := in.compare(r, &g); err != nil {
			return Report{}, err
		}
		if len(g.Variants) > 0 {
			r.Groups = append(r.Groups, g)
		}
	}
	for _, v := range in.Variants {
		if !in.has(v.Name) {
			r.NotRun = append(r.NotRun, v.Name)
		}
	}
	return r, nil
}

// compare the variants of a group, unless runs are pending or of several benchmarks.
func (in Input) compare(r Report, g *Group) (err error) {
	if r.running() || r.Together {
		g.Ranking, g.Differences = nil, nil
		return nil
	}
	if len(g.Ranking) < 2 {
		return nil
	}
	g.Baseline = in.baseline(*g)
	g.Deltas, err = in.deltas(r, *g)
	return err
}

func progress(p *matrix.Progress) *Progress {
	if p == nil {
		return nil
	}
	return &Progress{Succeeded: p.Succeeded, Failed: p.Failed, Skipped: p.Skipped, Pending: p.Pending + p.Running, Stop: string(p.Stop)}
}

func (in Input) has(variant string) bool {
	return slices.ContainsFunc(in.Analysis.Variants, func(v analysis.Variant) bool { return v.Name == variant })
}

// check that runs and layers belong to a variant of the analysis, and each variant to a
// known tier.
func (in Input) check(runs map[string][]analysis.Trial) error {
	for _, v := range in.Analysis.Variants {
		if !slices.Contains(comparison.Tiers(), v.Durability) {
			return fmt.Errorf("variant %q has durability %q: it must be Quorum, Local, Async, Ephemeral, ReadOnly or Unverified", v.Name, v.Durability)
		}
	}
	for name := range runs {
		if !in.has(name) {
			return fmt.Errorf("a run has variant %q, which is not in the analysis: pass the analysed runs", name)
		}
	}
	for name, layers := range in.Layers {
		if !in.has(name) {
			return fmt.Errorf("layers have variant %q, which is not in the analysis", name)
		}
		if err := checkLayers(layers); err != nil {
			return fmt.Errorf("variant %q: %w", name, err)
		}
	}
	return nil
}

func (in Input) group(tier v1alpha1.DurabilityTier, runs map[string][]analysis.Trial) (Group, error) {
	// Two instances, so that Quorum includes a standby.
	const instances = 2
	g := Group{Durability: tier, Acknowledged: "at an unknown point, because a custom script may change what a commit waits for"}
	if tier != v1alpha1.DurabilityUnverified {
		g.Acknowledged = durability.Of(durability.Tier(tier), instances, durability.Standbys{}, durability.Flush{}).Acknowledged
	}
	for _, t := range in.Analysis.Tiers {
		if t.Durability == tier {
			g.Ranking, g.Differences = t.Ranking, t.Differences
		}
	}
	var known []read
	for _, v := range in.Analysis.Variants {
		if v.Durability != tier {
			continue
		}
		variant, err := in.variant(v, runs[v.Name])
		if err != nil {
			return Group{}, err
		}
		g.Variants = append(g.Variants, variant)
		if settings := firstSettings(runs[v.Name]); settings != nil {
			known = append(known, read{v.Name, settings})
		} else {
			g.Settings.Unknown = append(g.Settings.Unknown, v.Name)
		}
	}
	g.Settings.compare(known, in.Varied)
	return g, nil
}

func (in Input) variant(v analysis.Variant, runs []analysis.Trial) (Variant, error) {
	out := Variant{
		Name: v.Name, TPS: v.TPS, LatencyAverage: v.LatencyAverage, LatencyP99: v.LatencyP99, Curve: v.Curve,
		Fingerprint: v.Fingerprint, SettingsChanged: v.SettingsChanged, Agreement: v.Agreement, Layers: in.Layers[v.Name],
		CPULimit: cpuLimit(runs),
	}
	if v.Latencies != nil {
		out.Latencies = v.Latencies.Count()
	}
	for _, planned := range in.Variants {
		if planned.Name == v.Name {
			out.Values = planned.Values
		}
	}
	byRepeat := map[int]analysis.Trial{}
	for _, run := range runs {
		byRepeat[run.Repeat] = run
	}
	var counted []analysis.Trial
	for _, repeat := range v.Repeats {
		run := byRepeat[repeat.Repeat]
		out.Repeats = append(out.Repeats, Repeat{
			Number: repeat.Repeat, Counted: repeat.Counted, Failure: repeat.Failure,
			TPS: repeat.TPS, LatencyAverage: repeat.LatencyAverage, LatencyP99: repeat.LatencyP99,
			Levels: repeat.Levels, Findings: repeat.Findings, Seconds: seconds(repeat.Rate, run.Seconds),
			Events: events(run, repeat), Looks: run.Looks,
		})
		if !repeat.Counted {
			continue
		}
		counted = append(counted, run)
		if run.Latencies != nil {
			out.Transactions += run.Result.Transactions
		}
	}
	var err error
	if out.Percentiles, err = percentiles(counted); err != nil {
		return Variant{}, fmt.Errorf("variant %q: %w", v.Name, err)
	}
	return out, nil
}
