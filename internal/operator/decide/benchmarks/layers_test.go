package benchmarks

import (
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

func TestLayers(t *testing.T) {
	measured := v1alpha1.BenchmarkLayer{Name: v1alpha1.LayerWALFlush, Milliseconds: "3.200"}
	missing := v1alpha1.BenchmarkLayer{Name: v1alpha1.LayerVolume, Note: "spec.layers.fioImage is not set"}
	counted := v1alpha1.BenchmarkLayer{Name: v1alpha1.LayerDevice, BytesPerTransaction: "12197", Note: "what others write there meanwhile is in it"}
	for _, tc := range []struct {
		name            string
		run             *v1alpha1.BenchmarkRun
		reason, message string
	}{
		{"all", &v1alpha1.BenchmarkRun{Layers: []v1alpha1.BenchmarkLayer{counted, measured}, LayersVerdict: "it takes 3.2 ms"}, v1alpha1.ReasonMeasured, "it takes 3.2 ms"},
		{
			"some", &v1alpha1.BenchmarkRun{Layers: []v1alpha1.BenchmarkLayer{missing, measured}}, v1alpha1.ReasonLayersNotMeasured,
			"not measured: Volume: spec.layers.fioImage is not set",
		},
		{"none yet", &v1alpha1.BenchmarkRun{}, v1alpha1.ReasonLayersNotMeasured, "not measured: the benchmark ended before its layers were measured"},
		{"no report", nil, v1alpha1.ReasonLayersNotMeasured, "not measured: the runner has reported nothing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := &v1alpha1.PgBenchmark{Spec: v1alpha1.PgBenchmarkSpec{Layers: &v1alpha1.BenchmarkLayers{}}}
			b.Status.Run = tc.run
			got := Layers(b)
			if len(got) != 1 || got[0].Reason != tc.reason || got[0].Message != tc.message || !got[0].Informative || (got[0].Kind == outcome.Done) != (tc.reason == v1alpha1.ReasonMeasured) {
				t.Errorf("%+v", got)
			}
			b.Spec.Layers = nil
			if got := Layers(b); got != nil {
				t.Errorf("nothing was asked for: %+v", got)
			}
		})
	}
}
