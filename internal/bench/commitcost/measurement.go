package commitcost

import (
	"slices"
	"strconv"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/record"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
)

// maxNote limits the Note of a layer in a status, in bytes.
const maxNote = 300

// Counted lists the layers, from the lowest up, whose I/O is counted but whose time is
// not measured.
func Counted() []string {
	return []string{v1alpha1.LayerNetworkDevices, v1alpha1.LayerDevice, v1alpha1.LayerDataDevice, v1alpha1.LayerContainer}
}

// Measurement of one layer. With neither Milliseconds nor Bytes the layer was not
// measured, and Note says why.
type Measurement struct {
	record.Layer
	Note string
}

// Measured reports whether there is a time.
func (l Measurement) Measured() bool { return len(l.Milliseconds) > 0 }

// counted reports whether the I/O of the layer is known.
func (l Measurement) counted() bool { return l.Bytes != nil }

// Status of layers, in their order.
func Status(all []Measurement) []v1alpha1.BenchmarkLayer {
	var out []v1alpha1.BenchmarkLayer
	for _, l := range all {
		s := v1alpha1.BenchmarkLayer{Name: l.Name, Method: l.Method, Note: excerpt.Truncate(l.Note, maxNote)}
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
		if l.Requests != nil {
			s.RequestsPerTransaction = strconv.FormatFloat(*l.Requests, 'f', 2, 64)
		}
		out = append(out, s)
	}
	return out
}

// Record of the layers that were measured or counted. It clears Over if the layer below
// was not measured.
func Record(all []Measurement) []record.Layer {
	var out []record.Layer
	for _, l := range all {
		if !l.Measured() && !l.counted() {
			continue
		}
		r := l.Layer
		if !slices.ContainsFunc(out, func(below record.Layer) bool { return below.Name == r.Over && len(below.Milliseconds) > 0 }) {
			r.Over = ""
		}
		out = append(out, r)
	}
	return out
}

// decimals of milliseconds, to a microsecond.
func decimals(ms float64) string { return strconv.FormatFloat(ms, 'f', 3, 64) }
