package observe

import (
	"math"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// everything wants all settings that Prometheus' own parser finds in a text.
func parsed(text string) (map[string]float64, bool) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		return nil, false
	}
	out := map[string]float64{}
	for _, m := range families[settingsMetric].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == "name" {
				out[l.GetValue()] = m.GetGauge().GetValue() + m.GetUntyped().GetValue()
			}
		}
	}
	return out, true
}

// FuzzExposition: what Prometheus' parser accepts in one group is read alike, and
// nothing panics.
func FuzzExposition(f *testing.F) {
	f.Add(honest)
	f.Add("cnpg_pg_settings_setting{server=\"a=b\",name=\"jit\",} 1e3 1700000000000\n")
	f.Add("cnpg_pg_settings_setting { name = \"a\\\"b\\\\c\\nd\" }\t+Inf\n")
	f.Add("cnpg_pg_settings_setting 1\ncnpg_pg_settings_setting{} 2\n")
	f.Add("cnpg_pg_settings_setting_more{name=\"jit\"} 1\n\n  \ncnpg_pg_settings_setting{name=\"jit\"} NaN\n")
	f.Fuzz(func(t *testing.T, text string) {
		want, valid := parsed(text)
		wanted := map[string]bool{}
		for name := range want {
			wanted[name] = true
		}
		answer, err := readAnswer(strings.NewReader(text), wanted)
		if !valid || err != nil || len(want) == 0 || len(answer.values) < len(want) {
			return // what follows another family is not read, and the formats' corners are refused
		}
		for name, w := range want {
			if g := answer.values[name]; g != w && !(math.IsNaN(g) && math.IsNaN(w)) {
				t.Errorf("%s = %v, Prometheus reads %v from %q", name, g, w, text)
			}
		}
	})
}

func TestExpositionAsPrometheusReadsIt(t *testing.T) {
	for _, text := range []string{
		honest,
		"cnpg_pg_settings_setting{server=\"a=b\",name=\"jit\",} 1e3 1700000000000\n",
		"cnpg_pg_settings_setting { name = \"a\\\"b\\\\c\\nd\" }\t+Inf\n",
		"cnpg_pg_settings_setting_more{name=\"jit\"} 1\ncnpg_pg_settings_setting{name=\"jit\"} 2\n",
	} {
		want, valid := parsed(text)
		wanted := map[string]bool{}
		for name := range want {
			wanted[name] = true
		}
		got, err := readAnswer(strings.NewReader(text), wanted)
		if !valid || err != nil || len(got.values) != len(want) || len(want) == 0 {
			t.Fatalf("%q: %v, %v, want %v", text, got, err, want)
		}
		for name, w := range want {
			if got.values[name] != w {
				t.Errorf("%q: %s = %v, want %v", text, name, got.values[name], w)
			}
		}
	}
}
