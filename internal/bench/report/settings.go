package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
)

// read has the settings that were read back for a variant.
type read struct {
	variant  string
	settings fingerprint.Settings
}

// firstSettings returns those of the earliest repeat that has some, like the fingerprint.
func firstSettings(runs []analysis.Trial) fingerprint.Settings {
	ordered := slices.SortedStableFunc(slices.Values(runs), func(a, b analysis.Trial) int { return cmp.Compare(a.Repeat, b.Repeat) })
	for _, r := range ordered {
		if r.Settings != nil {
			return r.Settings
		}
	}
	return nil
}

// compare sets Variants, Different and Messages by comparing every variant with the first.
func (s *Settings) compare(known []read, varied map[fingerprint.Group][]string) {
	var all []fingerprint.Difference
	for i, k := range known {
		s.Variants = append(s.Variants, k.variant)
		if i == 0 {
			continue
		}
		differences := fingerprint.Diff(known[0].settings, k.settings)
		if ok, message := fingerprint.Comparable(differences, varied); !ok {
			s.Messages = append(s.Messages, fmt.Sprintf("%s compared with %s: %s", k.variant, known[0].variant, message))
		}
		all = append(all, differences...)
	}
	for _, d := range unique(all) {
		row := Setting{Group: d.Group, Name: d.Name}
		for _, k := range known {
			var value *string
			if v, there := k.settings[d.Group][d.Name]; there {
				value = &v
			}
			row.Values = append(row.Values, value)
		}
		s.Different = append(s.Different, row)
	}
}

// unique settings of differences, in the order of package fingerprint.
func unique(differences []fingerprint.Difference) []fingerprint.Difference {
	a, b := fingerprint.Settings{}, fingerprint.Settings{}
	for _, d := range differences {
		a.Set(d.Group, d.Name, "")
	}
	return fingerprint.Diff(a, b)
}

// sentence on whether the settings of a group are comparable.
func (s Settings) sentence() string {
	switch {
	case len(s.Variants) == 0:
		return "No settings were read back, so the report cannot show whether they differ."
	case len(s.Unknown) > 0:
		return fmt.Sprintf("The settings of %s were not read back, so the report cannot show whether they differ.", list(s.Unknown))
	case len(s.Variants) == 1:
		return "There is one variant, so no settings differ."
	case len(s.Different) == 0:
		return "All settings are the same."
	case len(s.Messages) == 0:
		return "The settings differ only where the benchmark varies them."
	}
	return "The settings differ beyond what the benchmark varies, which may explain differences in the results."
}
