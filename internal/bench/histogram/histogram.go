package histogram

import (
	"errors"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Longest latency that is recorded exactly; a longer one counts as this one.
const Longest = 24 * time.Hour

// RelativeError bounds how far a percentile is above the true one: three
// significant digits are kept in 1024 buckets for each power of two.
const RelativeError = 1.0 / 1024

const (
	lowest  = 1
	digits  = 3
	highest = int64(Longest / time.Microsecond)
	// buckets of this shape: 1024 for each power of two, and those below 1024.
	buckets = 28 * 1024
	// most is the highest count of all latencies together. A float64 has it exactly, and no sum
	// of a few thousand of them overflows.
	most = int64(1) << 50
)

// ErrTooMany is the refusal to count beyond 2^50 latencies.
var ErrTooMany = errors.New("a histogram holds at most 2^50 latencies")

// Histogram of latencies. It is not for use by several goroutines at once.
type Histogram struct{ h *hdrhistogram.Histogram }

// New is an empty Histogram; it takes 220 kB of memory however much it counts.
func New() *Histogram { return &Histogram{hdrhistogram.New(lowest, highest, digits)} }

// Record a latency in microseconds. One below 0 counts as 0, one above Longest as
// Longest.
func (h *Histogram) Record(microseconds int64) error {
	if h.Count() >= most {
		return ErrTooMany
	}
	return h.h.RecordValue(max(0, min(microseconds, highest)))
}

// Add counts all that other has counted; other stays as it is.
func (h *Histogram) Add(other *Histogram) error {
	if h.Count()+other.Count() > most {
		return ErrTooMany
	}
	// Both have one shape, so the merge drops nothing.
	h.h.Merge(other.h)
	return nil
}

// Count of latencies.
func (h *Histogram) Count() int64 { return h.h.TotalCount() }

// Percentile from 0 to 100 in milliseconds: the latency that this share of all
// does not exceed. Zero without latencies.
func (h *Histogram) Percentile(percent float64) float64 {
	if h.Count() == 0 {
		return 0
	}
	return milliseconds(h.h.ValueAtQuantile(max(0, min(percent, 100))))
}

// Max in milliseconds, zero without latencies.
func (h *Histogram) Max() float64 { return milliseconds(h.h.Max()) }

// Mean in milliseconds: of the middles of the buckets, so within RelativeError.
func (h *Histogram) Mean() float64 {
	if h.Count() == 0 {
		return 0
	}
	return h.h.Mean() / microsecondsPerMillisecond
}

const microsecondsPerMillisecond = 1000

func milliseconds(microseconds int64) float64 {
	return float64(microseconds) / microsecondsPerMillisecond
}
