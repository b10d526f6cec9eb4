package benchmarks

import (
	"fmt"
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/record"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

const (
	// warmFor and coldFor are the times before and after the caches were dropped over which
	// the rate is averaged.
	warmFor = 30 * time.Second
	coldFor = 10 * time.Second
)

// Recovery is the mean TPS of one run during which the caches of the server's node were
// dropped.
type Recovery struct {
	// Dropped is when, since the run began.
	Dropped time.Duration `json:"dropped"`
	// Warm is the rate of the 30 s before, and Cold that of the 10 s after. Last is that of
	// the last 30 s of the run.
	Warm float64 `json:"warm"`
	Cold float64 `json:"cold"`
	Last float64 `json:"last"`
}

// RecoveryOf a run whose node lost its caches at a time of the runner's clock. The second in
// which that happened is in none of the figures. It fails if the run has too few seconds before
// or after.
func RecoveryOf(run record.Run, dropped time.Time) (Recovery, error) {
	out := Recovery{Dropped: dropped.Sub(run.Start)}
	var end time.Duration
	if n := len(run.Seconds); n > 0 {
		end = run.Seconds[n-1].At
	}
	after := out.Dropped + time.Second
	for _, f := range []struct {
		name     string
		from, to time.Duration
		into     *float64
	}{
		{"before the caches were dropped", out.Dropped - warmFor, out.Dropped, &out.Warm},
		{"after the caches were dropped", after, after + coldFor, &out.Cold},
		{"at the end of the run", max(after, end-warmFor), end, &out.Last},
	} {
		var err error
		if *f.into, err = meanRate(run, f.from, f.to); err != nil {
			return out, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return out, nil
}

// meanRate of the whole seconds between two times since the run began.
func meanRate(run record.Run, from, to time.Duration) (float64, error) {
	sum, n := 0.0, 0
	for _, p := range run.Seconds {
		if p.At-time.Second >= from && p.At <= to {
			sum, n = sum+p.TPS, n+1
		}
	}
	if least := int((to-from)/time.Second) - 1; from < 0 || n == 0 || n < least {
		return 0, fmt.Errorf("%d seconds from %s to %s of a run with %d", n, from, to, len(run.Seconds))
	}
	return sum / float64(n), nil
}

// The marks of Compare.
const (
	// LeastGain is the cold rate of the pool in memory, in cold rates of the one on disk.
	LeastGain = 2
	// MostLoss is the part of its warm rate that the pool in memory may lose.
	MostLoss = 0.1
)

// Comparison of the recoveries of a pool in memory with those of a pool on disk, by the medians
// over the runs.
type Comparison struct {
	// Gain is the cold rate in memory, in cold rates on disk.
	Gain float64
	// MemoryKept and DiskKept are the cold rates, in the warm rates of the same run.
	MemoryKept, DiskKept float64
}

// Compare the runs of both.
func Compare(memory, disk []Recovery) (Comparison, error) {
	cold := func(r Recovery) float64 { return r.Cold }
	kept := func(r Recovery) float64 { return r.Cold / r.Warm }
	var c Comparison
	var inMemory, onDisk float64
	for _, f := range []struct {
		of   []Recovery
		by   func(Recovery) float64
		into *float64
	}{{memory, cold, &inMemory}, {disk, cold, &onDisk}, {memory, kept, &c.MemoryKept}, {disk, kept, &c.DiskKept}} {
		var values []float64
		for _, r := range f.of {
			values = append(values, f.by(r))
		}
		s, err := statistics.Summarise(values)
		if err != nil {
			return c, err
		}
		*f.into = s.Median
	}
	c.Gain = inMemory / onDisk
	return c, nil
}

// Missed are the marks that the comparison misses.
func (c Comparison) Missed() []string {
	var out []string
	if c.Gain < LeastGain {
		out = append(out, fmt.Sprintf("the pool in memory has %.2f x the TPS of the pool on disk in the first 10 s, at least %d", c.Gain, LeastGain))
	}
	if c.MemoryKept < 1-MostLoss {
		out = append(out, fmt.Sprintf("the pool in memory keeps %.0f%% of its warm rate, at least %.0f%%", c.MemoryKept*100, (1-MostLoss)*100))
	}
	return out
}
