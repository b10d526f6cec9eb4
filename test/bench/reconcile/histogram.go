package reconcile

import (
	"math"

	dto "github.com/prometheus/client_model/go"
)

// bucket counts the samples up to a bound, in seconds.
type bucket struct{ upTo, count float64 }

// histogram of times; counts are cumulative.
type histogram []bucket

// histogramOf adds the bucket without a bound, which the text form may leave out.
func histogramOf(h *dto.Histogram) histogram {
	var out histogram
	for _, b := range h.GetBucket() {
		if !math.IsInf(b.GetUpperBound(), 1) {
			out = append(out, bucket{b.GetUpperBound(), float64(b.GetCumulativeCount())})
		}
	}
	return append(out, bucket{math.Inf(1), float64(h.GetSampleCount())})
}

// since then: what was counted between two readings of one histogram.
func (h histogram) since(then histogram) histogram {
	before := map[float64]float64{}
	for _, b := range then {
		before[b.upTo] = b.count
	}
	var out histogram
	for _, b := range h {
		out = append(out, bucket{b.upTo, b.count - before[b.upTo]})
	}
	return out
}

func (h histogram) count() float64 {
	if len(h) == 0 {
		return 0
	}
	return h[len(h)-1].count
}

// quantile in seconds, within the buckets; the last bound where it is beyond it.
func (h histogram) quantile(q float64) float64 {
	rank, lower, below := q*h.count(), 0.0, 0.0
	for _, b := range h {
		if b.count >= rank && b.count > below {
			if math.IsInf(b.upTo, 1) {
				return lower
			}
			return lower + (b.upTo-lower)*(rank-below)/(b.count-below)
		}
		lower, below = b.upTo, b.count
	}
	return 0
}
