package histogram

// Point of a percentile curve.
type Point struct {
	Percent float64 `json:"percent"`
	// Latency in milliseconds.
	Latency float64 `json:"latency"`
}

// percents of a curve, dense where latencies are read.
var percents = []float64{0, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 99.999}

// rounding of the shares above, which are not exact in binary.
const rounding = 1e-6

// Curve of percentiles, rising, with the highest latency last. A percentile that
// less than one latency lies above is left out: it would only repeat the highest.
func (h *Histogram) Curve() []Point {
	if h.Count() == 0 {
		return nil
	}
	var points []Point
	for _, p := range percents {
		if above := float64(h.Count()) * (100 - p) / 100; above > 1-rounding {
			points = append(points, Point{p, h.Percentile(p)})
		}
	}
	return append(points, Point{100, h.Max()})
}
