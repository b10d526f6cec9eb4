package record

import (
	"slices"

	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
)

// fewest lines that a run's seconds are thinned to: its course is still seen.
const fewest = 60

// thinner is the record with less in it: half the lines of the seconds, or, where
// they are few already, no latencies. False where nothing is left to leave out.
func (r Record) thinner() (Record, bool) {
	longest := 0
	for _, run := range r.Runs {
		longest = max(longest, len(run.Seconds))
	}
	if longest <= fewest && r.WithoutLatencies {
		return r, false
	}
	r.Runs = slices.Clone(r.Runs)
	if longest <= fewest {
		r.WithoutLatencies = true
		for i := range r.Runs {
			r.Runs[i].Latencies = ""
		}
		return r, true
	}
	r.Thinned = 2 * max(1, r.Thinned)
	for i := range r.Runs {
		r.Runs[i].Seconds = halved(r.Runs[i].Seconds)
	}
	return r, true
}

// halved puts each two neighbours together.
func halved(lines []pgbench.Progress) []pgbench.Progress {
	out := make([]pgbench.Progress, 0, (len(lines)+1)/2)
	var since pgbench.Progress
	for pair := range slices.Chunk(lines, 2) {
		line := pair[0]
		if len(pair) == 2 {
			line = together(since, pair[0], pair[1])
		}
		out = append(out, line)
		since = line
	}
	return out
}

// together is one line for two that follow one another: the rate by their times,
// and latencies by their transactions.
func together(since, a, b pgbench.Progress) pgbench.Progress {
	first, second := (a.At - since.At).Seconds(), (b.At - a.At).Seconds()
	mean := func(x, y, weightX, weightY float64) float64 {
		if weightX+weightY <= 0 {
			return (x + y) / 2
		}
		return (x*weightX + y*weightY) / (weightX + weightY)
	}
	counts := [2]float64{a.TPS * first, b.TPS * second}
	return pgbench.Progress{
		At:            b.At,
		TPS:           mean(a.TPS, b.TPS, first, second),
		LatencyAvg:    mean(a.LatencyAvg, b.LatencyAvg, counts[0], counts[1]),
		LatencyStddev: mean(a.LatencyStddev, b.LatencyStddev, counts[0], counts[1]),
		Lag:           mean(a.Lag, b.Lag, counts[0], counts[1]),
		Failed:        a.Failed + b.Failed,
		Skipped:       a.Skipped + b.Skipped,
		Retried:       a.Retried + b.Retried,
		Retries:       a.Retries + b.Retries,
	}
}
