package matrix

import (
	"fmt"
	"maps"
	"strings"
)

// expand gives the variants of a specification, named or by product, the last axis
// changing fastest.
func expand(s Spec) ([]Variant, error) {
	variants := s.Variants
	if len(variants) == 0 {
		if n := size(s.Axes); n > MaxVariants {
			return nil, fmt.Errorf("the product of the axes has %d variants, more than %d: remove values, or name the variants that matter", n, MaxVariants)
		}
		variants = product(s.Axes)
	}
	if len(variants) > MaxVariants {
		return nil, fmt.Errorf("there are %d variants, more than %d: remove some", len(variants), MaxVariants)
	}
	names := make([]string, len(variants))
	for i, v := range variants {
		if v.Name == "" {
			return nil, fmt.Errorf("variant %d has no name", i+1)
		}
		names[i] = v.Name
	}
	if name := repeated(names); name != "" {
		return nil, fmt.Errorf("the variant %q is listed twice", name)
	}
	return variants, nil
}

// size of the product, stopping where it is too large to be counted on.
func size(axes []Axis) int {
	n := 1
	for _, a := range axes {
		if n *= len(a.Values); n > MaxVariants {
			return n
		}
	}
	return n
}

// product of the axes; of none, one variant that is as the benchmark stands.
func product(axes []Axis) []Variant {
	variants := []Variant{{Values: map[string]string{}}}
	for _, a := range axes {
		var longer []Variant
		for _, v := range variants {
			for _, value := range a.Values {
				values := maps.Clone(v.Values)
				values[a.Name] = value
				longer = append(longer, Variant{Name: strings.TrimSpace(v.Name + " " + a.Name + "=" + value), Values: values})
			}
		}
		variants = longer
	}
	if len(axes) == 0 {
		variants[0].Name = "default"
	}
	return variants
}

// target that a variant is measured on: its values of the axes that need one.
func target(axes []Axis, v Variant) string {
	var parts []string
	for _, a := range axes {
		if value, given := v.Values[a.Name]; a.Target && given {
			parts = append(parts, a.Name+"="+value)
		}
	}
	return strings.Join(parts, " ")
}
