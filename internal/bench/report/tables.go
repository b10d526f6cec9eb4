package report

import (
	"fmt"
	"strconv"

	"github.com/pgstorage/pgstorage/internal/bench/report/document"
	"github.com/pgstorage/pgstorage/internal/bench/statistics"
)

// results of a group, best rank first.
func (g Group) results() *document.Table {
	t := &document.Table{
		Caption: "Results, " + g.title(),
		Head:    []string{"variant", "rank", "TPS, mean", "p99 latency (ms), mean", "average latency (ms), mean", "TPS, median", "counted repeats", "caveats"},
		Numeric: []int{1, 2, 3, 4, 5, 6},
	}
	for _, v := range g.ordered() {
		rank := none
		if n := g.rank(v.Name); n > 0 {
			rank = strconv.Itoa(n)
		}
		t.Rows = append(t.Rows, []string{
			v.Name, rank, mean(v.TPS, ""), mean(v.LatencyP99, ""), mean(v.LatencyAverage, ""), median(v.TPS, ""),
			fmt.Sprintf("%d of %d", v.counted(), len(v.Repeats)), or(numbers(g.caveatsOf(v))),
		})
	}
	return t
}

// percentileTable of the group, nil without percentiles.
func (g Group) percentileTable() *document.Table {
	t := &document.Table{Caption: "Latency (ms) by percentile: the mean over repeats, omitted where a repeat has too few latencies, and the highest of all repeats", Head: []string{"variant"}}
	var percents []float64
	for _, percent := range shownPercents {
		if g.summarised(percent) {
			percents = append(percents, percent)
			t.Head = append(t.Head, fmt.Sprintf("%g%%", percent))
		}
	}
	t.Head = append(t.Head, "highest", "latencies")
	for column := range t.Head[1:] {
		t.Numeric = append(t.Numeric, column+1)
	}
	for _, v := range g.ordered() {
		if len(v.Curve) == 0 {
			continue
		}
		row := []string{v.Name}
		for _, percent := range percents {
			row = append(row, mean(v.percentile(percent), ""))
		}
		t.Rows = append(t.Rows, append(row, number(v.Curve[len(v.Curve)-1].Latency), v.latencies()))
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

func (g Group) summarised(percent float64) bool {
	for _, v := range g.Variants {
		if v.percentile(percent) != nil {
			return true
		}
	}
	return false
}

// latencies returns their number, and that of the transactions if the log was sampled.
func (v Variant) latencies() string {
	if v.Latencies >= v.Transactions {
		return strconv.FormatInt(v.Latencies, 10)
	}
	return fmt.Sprintf("%d of %d", v.Latencies, v.Transactions)
}

// percentile summarised over the repeats, nil where it is not.
func (v Variant) percentile(percent float64) *statistics.Summary {
	for i, p := range v.Percentiles {
		if p.Percent == percent {
			return &v.Percentiles[i].Latency
		}
	}
	return nil
}

// repeatTable of a variant.
func (g Group) repeatTable(v Variant) *document.Table {
	t := &document.Table{Caption: "Repeats of " + v.Name, Head: []string{"repeat", "TPS", "average latency (ms)", "p99 latency (ms)", "counted"}, Numeric: []int{1, 2, 3}}
	for _, r := range v.Repeats {
		counts := "yes"
		if !r.Counted {
			counts = join("no:", references(g.caveatsOfRepeat(v, r.Number)))
		}
		t.Rows = append(t.Rows, []string{strconv.Itoa(r.Number), measured(r.TPS), measured(r.LatencyAverage), measured(r.LatencyP99), counts})
	}
	return t
}

// measured returns the figure; zero means there is none.
func measured(v float64) string {
	if v == 0 {
		return none
	}
	return number(v)
}

// counts of a transaction. A single benchmark counts once, so no interval is expected.
func counts(s *statistics.Summary) string {
	if s != nil && s.Interval == nil {
		return number(s.Mean)
	}
	return mean(s, "")
}

func or(text string) string {
	if text == "" {
		return none
	}
	return text
}
