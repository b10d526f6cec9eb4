package commitcost

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/record"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// what a layer is in a sentence.
var what = map[string]string{
	v1alpha1.LayerVolume:   "a write and a flush on a volume alone",
	v1alpha1.LayerWALFlush: "the flush of the WAL",
}

// Attribution returns a sentence on what each layer contributes to the time of a
// transaction, by the means of the repeats. It calls a layer a part of the one above
// only where the 95% intervals of both do not overlap. It returns "" where neither a
// transaction nor a flush was measured.
func Attribution(all []Measurement, clients int) string {
	v := attribution{layers: Record(all), times: map[string]statistics.Summary{}}
	for _, l := range v.layers {
		if s, err := statistics.Summarise(l.Milliseconds); err == nil {
			v.times[l.Name] = s
		}
	}
	var parts []string
	top := v1alpha1.LayerWALFlush
	if logged, ok := v.times[v1alpha1.LayerLogged]; ok {
		top = v1alpha1.LayerLogged
		parts = append(parts, fmt.Sprintf("a transaction of %s takes %s", ofClients(clients), ms(logged)), v.unlogged(logged))
		if v.over(top) == "" {
			parts = append(parts, v.aside(v1alpha1.LayerWALFlush))
			top = v1alpha1.LayerWALFlush
		}
	} else if flush, ok := v.times[top]; ok {
		parts = append(parts, fmt.Sprintf("the flush of the WAL takes %s", ms(flush)))
	}
	if len(parts) == 0 {
		return ""
	}
	parts = append(parts, v.below(top)...)
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

func ofClients(n int) string {
	if n == 1 {
		return "1 client"
	}
	return fmt.Sprintf("one of %d clients", n)
}

// attribution has the measured layers and their times.
type attribution struct {
	layers []record.Layer
	times  map[string]statistics.Summary
}

func (v attribution) over(name string) string {
	i := slices.IndexFunc(v.layers, func(l record.Layer) bool { return l.Name == name })
	if i < 0 {
		return ""
	}
	return v.layers[i].Over
}

// below a layer, each as the part of the one above it that it is.
func (v attribution) below(name string) []string {
	var parts []string
	for under := v.over(name); under != ""; name, under = under, v.over(under) {
		above, time := v.times[name], v.times[under]
		text := fmt.Sprintf("%s takes %s", what[under], ms(time))
		switch {
		case apart(time, above):
			text += fmt.Sprintf(" of that (%.0f%%)", 100*time.Mean/above.Mean)
		case above.Interval == nil || time.Interval == nil:
			text += ", and one repeat cannot separate the two"
		default:
			text += ", and no cost above it can be claimed, because their intervals overlap"
		}
		parts = append(parts, text)
	}
	return parts
}

// aside describes a layer that a transaction does not wait for.
func (v attribution) aside(name string) string {
	time, ok := v.times[name]
	if !ok {
		return ""
	}
	return fmt.Sprintf("it does not wait for %s, which takes %s", what[name], ms(time))
}

func (v attribution) unlogged(logged statistics.Summary) string {
	s, ok := v.times[v1alpha1.LayerUnlogged]
	switch {
	case !ok:
		return ""
	case apart(s, logged):
		return fmt.Sprintf("without WAL, on unlogged tables, %s", ms(s))
	}
	return fmt.Sprintf("on unlogged tables it takes %s, and no difference can be claimed", ms(s))
}

// apart reports whether the lower time is shown to be lower.
func apart(lower, higher statistics.Summary) bool {
	return lower.Interval != nil && higher.Interval != nil && lower.Interval.Upper < higher.Interval.Lower
}

func ms(s statistics.Summary) string { return fmt.Sprintf("%.3g ms", s.Mean) }
