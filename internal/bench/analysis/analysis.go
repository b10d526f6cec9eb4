package analysis

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/comparison"
	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
	"github.com/pgstorage/pgstorage/internal/bench/histogram"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// Analysis of all runs of a benchmark.
type Analysis struct {
	// Tiers are never compared with each other.
	Tiers []Tier `json:"tiers"`
	// Variants in the order in which they first ran.
	Variants []Variant `json:"variants"`
}

// Tier compares the variants of one durability tier.
type Tier struct {
	Durability v1alpha1.DurabilityTier `json:"durability"`
	// Ranking by TPS, and the differences behind it.
	Ranking     []comparison.Place      `json:"ranking"`
	Differences []comparison.Difference `json:"differences,omitempty"`
}

// Variant with all its repeats.
type Variant struct {
	Name       string                  `json:"name"`
	Durability v1alpha1.DurabilityTier `json:"durability"`
	// TPS, and latencies in milliseconds, over the counted repeats; absent without any.
	TPS            *statistics.Summary `json:"tps,omitempty"`
	LatencyAverage *statistics.Summary `json:"latencyAverage,omitempty"`
	LatencyP99     *statistics.Summary `json:"latencyP99,omitempty"`
	// Latencies of all counted repeats, merged, and their curve.
	Latencies *histogram.Histogram `json:"latencies,omitempty"`
	Curve     []histogram.Point    `json:"curve,omitempty"`
	// Fingerprint of the settings of the first repeat, and what later repeats changed.
	Fingerprint     string                   `json:"fingerprint,omitempty"`
	SettingsChanged []fingerprint.Difference `json:"settingsChanged,omitempty"`
	// Agreement of the counted repeats.
	Agreement validity.Finding `json:"agreement"`
	Repeats   []Repeat         `json:"repeats"`
}

// Analyse trials, in any order. It fails if a variant has trials of two tiers or two
// trials of one repeat.
func Analyse(runs []Trial) (Analysis, error) {
	var all Analysis
	var names []string
	byName := map[string][]Trial{}
	for _, r := range runs {
		if byName[r.Variant] == nil {
			names = append(names, r.Variant)
		}
		byName[r.Variant] = append(byName[r.Variant], r)
	}
	for _, name := range names {
		v, err := analyseVariant(byName[name])
		if err != nil {
			return Analysis{}, err
		}
		all.Variants = append(all.Variants, v)
	}
	groups, err := comparison.ByTier(comparison.TPS, samples(all.Variants))
	if err != nil {
		return Analysis{}, err
	}
	for _, g := range groups {
		t := Tier{Durability: g.Tier()}
		t.Ranking, t.Differences = g.Ranking()
		all.Tiers = append(all.Tiers, t)
	}
	return all, nil
}

// samples of the counted repeats.
func samples(variants []Variant) []comparison.Sample {
	var all []comparison.Sample
	for _, v := range variants {
		r := comparison.Sample{Variant: v.Name, Tier: v.Durability, Values: map[int]float64{}}
		for _, repeat := range v.counted() {
			r.Values[repeat.Repeat] = repeat.TPS
		}
		all = append(all, r)
	}
	return all
}

func (v Variant) counted() []Repeat {
	return slices.DeleteFunc(slices.Clone(v.Repeats), func(r Repeat) bool { return !r.Counted })
}

// analyseVariant derives a variant from its runs, at least one.
func analyseVariant(runs []Trial) (Variant, error) {
	runs = slices.SortedStableFunc(slices.Values(runs), func(a, b Trial) int { return cmp.Compare(a.Repeat, b.Repeat) })
	v := Variant{Name: runs[0].Variant, Durability: runs[0].Tier, Latencies: histogram.New()}
	for i, r := range runs {
		if r.Tier != v.Durability {
			return Variant{}, fmt.Errorf("variant %q has runs of durability %s and %s: split it into two variants", v.Name, v.Durability, r.Tier)
		}
		if i > 0 && r.Repeat == runs[i-1].Repeat {
			return Variant{}, fmt.Errorf("repeat %d of variant %q is listed twice", r.Repeat, v.Name)
		}
		repeat, err := Examine(r)
		if err != nil {
			return Variant{}, err
		}
		v.Repeats = append(v.Repeats, repeat)
		if !repeat.Counted || r.Latencies == nil {
			continue
		}
		if err := v.Latencies.Add(r.Latencies); err != nil {
			return Variant{}, fmt.Errorf("latencies of variant %q: %w", v.Name, err)
		}
	}
	v.Curve = v.Latencies.Curve()
	v.settings(runs)
	return v, v.summarise()
}

// settings of the runs that have some.
func (v *Variant) settings(runs []Trial) {
	var first fingerprint.Settings
	for _, r := range runs {
		switch {
		case r.Settings == nil:
		case first == nil:
			first, v.Fingerprint = r.Settings, r.Settings.Hash()
		case v.SettingsChanged == nil:
			v.SettingsChanged = fingerprint.Diff(first, r.Settings)
		}
	}
}

// summarise the repeats that count.
func (v *Variant) summarise() error {
	counted := v.counted()
	var numbers []int
	for _, r := range counted {
		numbers = append(numbers, r.Repeat)
	}
	for _, figure := range []struct {
		of   func(Repeat) float64
		into **statistics.Summary
	}{
		{func(r Repeat) float64 { return r.TPS }, &v.TPS},
		{func(r Repeat) float64 { return r.LatencyAverage }, &v.LatencyAverage},
		{func(r Repeat) float64 { return r.LatencyP99 }, &v.LatencyP99},
	} {
		var values []float64
		for _, r := range counted {
			if v := figure.of(r); v != 0 {
				values = append(values, v)
			}
		}
		if len(values) == 0 {
			continue
		}
		s, err := statistics.Summarise(values)
		if err != nil {
			return fmt.Errorf("variant %q: %w", v.Name, err)
		}
		*figure.into = &s
	}
	v.Agreement = validity.Repeats(statistics.Summary{}, nil)
	if v.TPS != nil {
		v.Agreement = validity.Repeats(*v.TPS, numbers)
	}
	return nil
}
