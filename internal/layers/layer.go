package layers

import (
	"slices"
	"strconv"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/excerpt"
	"github.com/pgstorage/pgstorage/internal/record"
	"github.com/pgstorage/pgstorage/internal/statistics"
)

// maxNote bounds what a status says of a layer.
const maxNote = 300

// Layer as it was measured. One without Milliseconds was not, and its Note says why.
type Layer struct {
	record.Layer
	Note string
}

// Measured says whether there is a figure.
func (l Layer) Measured() bool { return len(l.Milliseconds) > 0 }

// Status of layers, in their order.
func Status(all []Layer) []v1alpha1.BenchmarkLayer {
	var out []v1alpha1.BenchmarkLayer
	for _, l := range all {
		s := v1alpha1.BenchmarkLayer{Name: l.Name, Method: l.Method, Note: excerpt.Of(l.Note, maxNote)}
		for _, ms := range l.Milliseconds {
			s.MillisecondsOfRepeats = append(s.MillisecondsOfRepeats, decimals(ms))
		}
		if summary, err := statistics.Summarise(l.Milliseconds); err == nil {
			s.Milliseconds = decimals(summary.Median)
		}
		if l.Bytes != nil {
			s.BytesPerTransaction = strconv.FormatFloat(*l.Bytes, 'f', 0, 64)
		}
		if l.Flushes != nil {
			s.FlushesPerTransaction = strconv.FormatFloat(*l.Flushes, 'f', 2, 64)
		}
		out = append(out, s)
	}
	return out
}

// Record of the layers that were measured. One that would stand on a layer that was
// not stands on nothing.
func Record(all []Layer) []record.Layer {
	var out []record.Layer
	for _, l := range all {
		if !l.Measured() {
			continue
		}
		r := l.Layer
		if !slices.ContainsFunc(out, func(below record.Layer) bool { return below.Name == r.Over }) {
			r.Over = ""
		}
		out = append(out, r)
	}
	return out
}

// decimals of milliseconds, to a microsecond.
func decimals(ms float64) string { return strconv.FormatFloat(ms, 'f', 3, 64) }
