package crd_test

func ofLayers(field string, v any) change { return set("spec/layers/"+field, v) }

// layersRows are the rules of spec.layers of a PgBenchmark.
func layersRows() []row {
	const (
		size     = "spec.layers.volumeSize must be a quantity from 256Mi to 100Gi, as 1Gi"
		duration = "spec.layers.duration must be whole minutes and seconds from 1s to 10m, as 5s"
		image    = "spec.layers.fioImage must be the reference of an image without spaces, as registry.example.com/fio:3.39"
	)
	return []row{
		benchmark("layers: volume too small", ofLayers("volumeSize", "255Mi"), "spec.layers.volumeSize", size),
		benchmark("layers: volume too large", ofLayers("volumeSize", "101Gi"), "spec.layers.volumeSize", size),
		benchmark("layers: no time", ofLayers("duration", "0s"), "spec.layers.duration", duration),
		benchmark("layers: too long", ofLayers("duration", "11m"), "spec.layers.duration", duration),
		benchmark("layers: milliseconds", ofLayers("duration", "500ms"), "spec.layers.duration", duration),
		benchmark("layers: repeats 0", ofLayers("repeats", 0), "spec.layers.repeats in body should be greater than or equal to 1"),
		benchmark("layers: repeats 21", ofLayers("repeats", 21), "spec.layers.repeats in body should be less than or equal to 20"),
		benchmark("layers: an image with a space", ofLayers("fioImage", "fio --version"), "spec.layers.fioImage", image),
		benchmark("layers: empty image", ofLayers("fioImage", ""), "spec.layers.fioImage in body should be at least 1 chars long"),
		benchmark("layers: unknown field", ofLayers("device", "/dev/sda"), `unknown field "spec.layers.device"`),
		benchmark("layers: added later", ofLayers("repeats", 5), "spec is immutable because a PgBenchmark is one run; create another PgBenchmark").updated(),
		cluster("layers: of an inline benchmark", set("spec/benchmark/layers", map[string]any{}), `unknown field "spec.benchmark.layers"`),
	}
}
