package report

import (
	"fmt"
	"slices"
	"strings"
)

// timed reports whether the layer's time was measured, and not only its I/O counted.
func (l LayerSummary) timed() bool { return l.Time.N > 0 }

func (l LayerSummary) time() string {
	if !l.timed() {
		return or("")
	}
	return mean(&l.Time, "")
}

func checkLayers(layers []LayerSummary) error {
	timed := map[string]bool{} // by name
	for _, l := range layers {
		if _, known := timed[l.Name]; l.Name == "" || known {
			return fmt.Errorf("layer %q needs a unique name", l.Name)
		}
		if l.Over != "" && !timed[l.Over] {
			return fmt.Errorf("layer %q is above %q, which is not listed before it with a time: list the layers from the lowest up", l.Name, l.Over)
		}
		timed[l.Name] = l.timed()
	}
	return nil
}

// cost of a layer is the time that it adds to the layer below.
type cost struct {
	LayerSummary
	// below is the time of the layer below; zero without one.
	below float64
	// separate is true if the intervals of both layers do not overlap. That is stricter
	// than a test at their confidence.
	separate bool
}

func costs(layers []LayerSummary) []cost {
	var out []cost
	for _, l := range layers {
		if !l.timed() {
			continue
		}
		c := cost{LayerSummary: l, separate: l.Over == ""}
		if i := slices.IndexFunc(out, func(o cost) bool { return o.Name == l.Over }); l.Over != "" && i >= 0 {
			under := out[i].Time
			c.below = under.Mean
			c.separate = under.Interval != nil && l.Time.Interval != nil && l.Time.Interval.Lower > under.Interval.Upper
		}
		out = append(out, c)
	}
	return out
}

// attribution returns a sentence that divides the time of the highest layer among the
// layers; "" if there is no layer below it.
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
	var shares, joint []string
	for _, c := range chain {
		if c.separate && top.Time.Mean > 0 {
			shares = append(shares, fmt.Sprintf("%s %.0f%%", c.Name, 100*(c.Time.Mean-c.below)/top.Time.Mean))
		} else {
			joint = append(joint, c.Name)
		}
	}
	text := fmt.Sprintf("%s takes %s: %s.", top.Name, mean(&top.Time, "ms"), strings.Join(shares, ", "))
	if len(joint) > 0 {
		text += fmt.Sprintf(" No separate cost can be claimed for %s: its interval overlaps that of the layer below.", list(joint))
	}
	return text
}
