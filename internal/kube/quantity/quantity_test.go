package quantity

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "1": "1", "1000m": "1", "1Gi": "1Gi", "1.5Gi": "1536Mi", ".5": "500m", "-1": "-1", "1e3": "1e3", "1E": "1E", "12e+10": "120e9", "1e-3": "1e-3",
		strings.Repeat("9", 18): strings.Repeat("9", 18), "1e20000000": "", "1e2000000000": "", "1E100": "", "1e-100": "", "1e+0001": "", "1e1.5": "",
		strings.Repeat("9", 21): "", strings.Repeat("0", 1<<20): "", "0." + strings.Repeat("1", 10): "", "": "", "1GB": "", "1 Gi": "", "x": "",
	} {
		got, err := Parse(text)
		switch {
		case want == "" && err == nil:
			t.Errorf("%.40q is %v", text, got.String())
		case want != "" && (err != nil || got.String() != want):
			t.Errorf("%q is %v, %v", text, got.String(), err)
		}
	}
}

// TestLongest: no text that matches is longer.
func TestLongest(t *testing.T) {
	text := "-" + strings.Repeat("9", 20) + "." + strings.Repeat("9", 9) + "e+99"
	if _, err := Parse(text); err != nil || len(text) != Longest {
		t.Errorf("%d characters: %v", len(text), err)
	}
}

// TestEqual compares amounts, and never those that take Go minutes.
func TestEqual(t *testing.T) {
	for _, same := range [][2]string{{"1000m", "1"}, {"1Gi", "1024Mi"}, {"1e3", "1k"}} {
		if !Equal(same[0], same[1]) {
			t.Errorf("%s differs from %s", same[0], same[1])
		}
	}
	for _, differ := range [][2]string{{"1", "2"}, {"1", "x"}, {"x", "x"}, {"1e20000000", "10e19999999"}} {
		if Equal(differ[0], differ[1]) {
			t.Errorf("%s is %s", differ[0], differ[1])
		}
	}
}
