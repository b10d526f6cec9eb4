package chart

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A latency axis is logarithmic from 2 decades on, and any other begins at zero.
func TestScale(t *testing.T) {
	for name, tc := range map[string]struct {
		values, ends []float64
		latency      bool
		want         scale
	}{
		"narrow":          {[]float64{2, 100}, nil, true, scale{Range{0, 105}, false}},
		"two decades":     {[]float64{12, 1200}, nil, true, scale{Range{10, 1440}, true}},
		"a rate":          {[]float64{12, 1200}, nil, false, scale{Range{0, 1260}, false}},
		"zero as an end":  {[]float64{12, 1200}, []float64{0, 2400}, true, scale{Range{10, 2880}, true}},
		"an end near":     {[]float64{12, 1200}, []float64{6}, true, scale{Range{5, 1440}, true}},
		"zero as a value": {[]float64{0, 12, 1200}, nil, true, scale{Range{10, 1440}, true}},
		"nothing":         {nil, nil, true, scale{Range{0, 1}, false}},
		"below zero":      {[]float64{1}, []float64{-19}, true, scale{Range{-19, 2}, false}},
	} {
		if got := scaleOf(tc.values, tc.ends, tc.latency); got != tc.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tc.want)
		}
	}
}

func TestLinearTicks(t *testing.T) {
	labels := func(r Range, most int) string {
		var all []string
		for _, tick := range linearTicks(r, most) {
			all = append(all, tick.Label)
		}
		return strings.Join(all, " ")
	}
	for _, tc := range []struct {
		r    Range
		most int
		want string
	}{
		{Range{0, 105}, 5, "0 50 100"}, {Range{0, 0.35}, 4, "0 0.1 0.2 0.3"}, {Range{-3, 7}, 5, "-2 0 2 4 6"}, {Range{0, 25300}, 6, "0 5000 10000 15000 20000 25000"},
	} {
		if got := labels(tc.r, tc.most); got != tc.want {
			t.Errorf("%v: got %q, want %q", tc.r, got, tc.want)
		}
	}
}

// Better is blue and worse is red, whether lower or higher is better.
func TestHeatMapShowsBetterAndWorseAroundTheMedian(t *testing.T) {
	for _, lower := range []bool{false, true} {
		h := heat{Grid: Grid{LowerIsBetter: lower, Cells: [][]Cell{{{Value: new(10.0)}, {Value: new(100.0)}, {Value: new(1000.0)}}}}}
		if err := h.span(); err != nil {
			t.Fatal(err)
		}
		want := []int{0, 4, 8}
		if lower {
			want = []int{8, 4, 0}
		}
		if diff := cmp.Diff(want, []int{h.shade(10), h.shade(100), h.shade(1000)}); diff != "" {
			t.Errorf("lower is better %v: %s", lower, diff)
		}
	}
	// What differs by less than a tenth is pale.
	h := heat{Grid: Grid{Cells: [][]Cell{{{Value: new(100.0)}, {Value: new(101.0)}, {Value: new(102.0)}}}}}
	if err := h.span(); err != nil {
		t.Fatal(err)
	}
	if got := h.shade(102); got > 5 {
		t.Errorf("1%% has the shade %d", got)
	}
}

// Labels of events are left out rather than drawn over others.
func TestLabelsOfEventsDoNotCoverEachOther(t *testing.T) {
	style := textStyle(smallSize, ink)
	all := placedLabels{until: 100}
	for range 20 {
		all.place(50, style, "A checkpoint of some length", "A")
	}
	if len(all.taken) != 2 || all.taken[0].row == all.taken[1].row || all.taken[0].text != "A" {
		t.Errorf("got %+v, want one short label in each row", all.taken)
	}
}
