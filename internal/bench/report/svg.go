package report

import (
	"fmt"
	"io"

	"github.com/pgstorage/pgstorage/internal/bench/report/chart"
)

// allCharts, by group.
func (r Report) allCharts() ([]groupCharts, error) {
	var out []groupCharts
	for _, g := range r.Groups {
		c, err := r.charts(g)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// writeSVG of all charts, group by group.
func writeSVG(w io.Writer, r Report) error {
	charts, err := r.allCharts()
	if err != nil {
		return err
	}
	text := r.caveats()
	if len(r.Groups) > 1 {
		text = append(text, apart)
	}
	var all []chart.Chart
	for i, g := range r.Groups {
		text = append(text, g.title()+": "+r.verdict(g))
		for n, item := range g.caveatItems() {
			text = append(text, fmt.Sprintf("Caveat %d: %s", n+1, item))
		}
		all = append(all, charts[i].all()...)
	}
	_, err = io.WriteString(w, chart.Document("Benchmark "+r.About.Name, text, all))
	return err
}
