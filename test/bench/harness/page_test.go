package harness

import (
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

func TestEveryRunIsALine(t *testing.T) {
	text, err := Lines([]map[string]int{{"a": 1}, {"b": 2}})
	if err != nil || string(text) != "{\"a\":1}\n{\"b\":2}\n" {
		t.Errorf("Lines() = %q, %v", text, err)
	}
	if _, err := Lines([]any{func() {}}); err == nil {
		t.Error("a function is no JSON")
	}
}

func TestSpreadHasAnIntervalOnceThereAreEnoughRuns(t *testing.T) {
	for want, values := range map[string][]float64{
		"–":                                {},
		"2.0 (2.0 to 2.0)":                 {2000},
		"2.0 (1.0 to 3.0); 0.0 to 4.5":     {1000, 2000, 3000},
		"15.0 (10.0 to 20.0); 0.0 to 78.5": {10000, 20000},
	} {
		if got := Spread(Summary(values), 1, 1e3); got != want {
			t.Errorf("%v: %s, want %s", values, got, want)
		}
	}
}

func TestGainComparesTheRoundsThatBothHave(t *testing.T) {
	over := map[int]float64{0: 100, 1: 110, 2: 90, 3: 1}
	for _, tc := range []struct {
		of, over map[int]float64
		want     string
	}{
		{map[int]float64{0: 201, 1: 220, 2: 180}, over, "2.00 (1.99 to 2.0"},
		{map[int]float64{0: 200, 1: 220, 2: 180}, map[int]float64{0: 100}, "too few runs"},
		{nil, nil, "too few runs"},
	} {
		if got := Ratio(Gain(v1alpha1.DurabilityLocal, tc.of, tc.over)); !strings.HasPrefix(got, tc.want) {
			t.Errorf("gain of %v over %v is %s, want %s", tc.of, tc.over, got, tc.want)
		}
	}
}

func TestSettingsAreSortedBelowTheirTitles(t *testing.T) {
	var out strings.Builder
	Settings(&out, []string{"pool x"}, map[string]map[string]string{"b": {"z": "1", "a": "2"}, "a": {"c": "3"}})
	if want := "pool x\n\na:\nc = 3\n\nb:\na = 2\nz = 1\n```\n"; !strings.Contains(out.String(), want) {
		t.Errorf("got %s\nwant %s", &out, want)
	}
}

func TestHeaderHasAColumnForEachName(t *testing.T) {
	var out strings.Builder
	Header(&out, "commit", "TPS")
	if want := "| commit | TPS |\n|---|---|\n"; out.String() != want {
		t.Errorf("Header() = %q, want %q", out.String(), want)
	}
}
