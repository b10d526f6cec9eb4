package report

import (
	"fmt"
	"slices"
	"strings"
)

// timed says whether it takes a time of its own, and is not only counted.
func (l LayerSummary) timed() bool { return l.Time.N > 0 }

func (l LayerSummary) time() string {
	if !l.timed() {
		return or("")
	}
	return mean(&l.Time, "")
}

func checkLayers(layers []LayerSummary) error {
	seen := map[string]bool{} // with a time
	for _, l := range layers {
		if _, known := seen[l.Name]; l.Name == "" || known {
			return fmt.Errorf("layer %q needs a unique name", l.Name)
		}
		if l.Over != "" && !seen[l.Over] {
			return fmt.Errorf("layer %q is above %q, which is not listed before it with a time: list the layers from the lowest up", l.Name, l.Over)
		}
		seen[l.Name] = l.timed()
	}
	return nil
}

// cost of a layer: what its time has beyond that of the layer that it stands on.
type cost struct {
	LayerSummary
	// below is the time of that layer, zero without one.
	below float64
	// told says that the intervals of both do not meet. It is more than a test at
	// their confidence asks for.
	told bool
}

func costs(layers []LayerSummary) []cost {
	var out []cost
	for _, l := range layers {
		if !l.timed() {
			continue
		}
		c := cost{LayerSummary: l, told: l.Over == ""}
		if i := slices.IndexFunc(out, func(o cost) bool { return o.Name == l.Over }); l.Over != "" && i >= 0 {
			under := out[i].Time
			c.below = under.Mean
			c.told = under.Interval != nil && l.Time.Interval != nil && l.Time.Interval.Lower > under.Interval.Upper
		}
		out = append(out, c)
	}
	return out
}

// attribution says in a sentence what of the time of the highest layer is whose.
// Empty where it stands on nothing.
func attribution(layers []LayerSummary) string {
	all := costs(layers)
	var chain []cost
	for at := len(all) - 1; at >= 0; {
		chain = append(chain, all[at])
		over := all[at].Over
		at = slices.IndexFunc(all, func(c cost) bool { return over != "" && c.Name == over })
	}
	if len(chain) < 2 {
		return ""
	}
	top := chain[0]
	slices.Reverse(chain)
	var told, untold []string
	for _, c := range chain {
		if c.told && top.Time.Mean > 0 {
			told = append(told, fmt.Sprintf("%s %.0f%%", c.Name, 100*(c.Time.Mean-c.below)/top.Time.Mean))
		} else {
			untold = append(untold, c.Name)
		}
	}
	text := fmt.Sprintf("%s takes %s: %s.", top.Name, mean(&top.Time, "ms"), strings.Join(told, ", "))
	if len(untold) > 0 {
		text += fmt.Sprintf(" No separate cost can be claimed for %s: its interval overlaps that of the layer below.", list(untold))
	}
	return text
}
