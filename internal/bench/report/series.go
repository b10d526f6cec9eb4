package report

import (
	"math"

	"github.com/pgstorage/pgstorage/internal/bench/analysis"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// seconds of a run, from the progress lines of pgbench or, without these, from the rate
// of each second.
func seconds(rate []float64, lines []pgbench.Progress) []Second {
	var out []Second
	for _, p := range lines {
		if s := (Second{At: p.At.Seconds(), TPS: p.TPS, Latency: p.LatencyAvg}); s.finite() {
			out = append(out, s)
		}
	}
	if len(lines) > 0 {
		return out
	}
	for i, tps := range rate {
		if s := (Second{At: float64(i + 1), TPS: tps}); s.finite() {
			out = append(out, s)
		}
	}
	return out
}

// finite reports whether the second can be drawn and written as JSON.
func (s Second) finite() bool {
	return !math.IsNaN(s.TPS+s.Latency) && !math.IsInf(s.TPS+s.Latency, 0)
}

// shownPercents are the percentiles that are summarised over repeats.
var shownPercents = []float64{50, 90, 95, 99, 99.9}

// percentiles of the runs' latencies. It omits a percentile above which some run has
// fewer than one latency, because that run would only contribute its maximum.
func percentiles(runs []analysis.Trial) ([]Percentile, error) {
	var out []Percentile
	for _, percent := range shownPercents {
		var values []float64
		enough := true
		for _, r := range runs {
			if r.Latencies == nil {
				continue
			}
			values = append(values, r.Latencies.Percentile(percent))
			enough = enough && float64(r.Latencies.Count())*(100-percent)/100 >= 1-rounding
		}
		if len(values) == 0 || !enough {
			continue
		}
		s, err := statistics.Summarise(values)
		if err != nil {
			return nil, err
		}
		out = append(out, Percentile{percent, s})
	}
	return out, nil
}

// rounding of shares, which are not exact in binary.
const rounding = 1e-6
