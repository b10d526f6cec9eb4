package fingerprint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Difference of one setting. Nil is a setting that one side does not have.
type Difference struct {
	Group Group   `json:"group"`
	Name  string  `json:"name"`
	A     *string `json:"a"`
	B     *string `json:"b"`
}

// Diff lists the settings that differ, by group and name. None means the same
// Hash, and the other way round.
func Diff(a, b Settings) []Difference {
	differences := lacking(a, b)
	for _, d := range lacking(b, a) {
		// What both have with different values is there already.
		if d.B == nil {
			differences = append(differences, Difference{d.Group, d.Name, nil, d.A})
		}
	}
	slices.SortFunc(differences, func(x, y Difference) int {
		return cmp.Or(order(x.Group, y.Group), cmp.Compare(x.Name, y.Name))
	})
	return differences
}

// lacking are the settings of a that b does not have, or has otherwise.
func lacking(a, b Settings) []Difference {
	var differences []Difference
	for group, settings := range a {
		for name, value := range settings {
			other, there := b[group][name]
			switch {
			case !there:
				differences = append(differences, Difference{group, name, &value, nil})
			case other != value:
				differences = append(differences, Difference{group, name, &value, &other})
			}
		}
	}
	return differences
}

// absent is how a setting is shown that one side does not have.
const absent = "(not set)"

// String is a line of a report.
func (d Difference) String() string {
	shown := func(v *string) string {
		if v == nil {
			return absent
		}
		return *v
	}
	return fmt.Sprintf("%s %s: %s, %s", d.Group, d.Name, shown(d.A), shown(d.B))
}

// Comparable says in a sentence whether results on these settings are comparable. Axes are the
// settings, as group and name, that were varied on purpose and may differ.
func Comparable(differences []Difference, axes map[Group][]string) (bool, string) {
	var lines []string
	for _, d := range differences {
		if !slices.Contains(axes[d.Group], d.Name) {
			lines = append(lines, d.String())
		}
	}
	if len(lines) == 0 {
		return true, "the settings differ only in what was varied"
	}
	const most = 10
	more := ""
	if len(lines) > most {
		more = fmt.Sprintf("; and %d more", len(lines)-most)
		lines = lines[:most]
	}
	return false, "settings differ beyond what the benchmark varies: " + strings.Join(lines, "; ") + more
}
