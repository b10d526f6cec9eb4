package main

// benchmarks answers: did anything become slower?
func benchmarks() *board {
	b := newBoard("pgstorage-benchmarks", "Benchmarks", "Results of PgBenchmarks and PgScheduledBenchmarks: what became slower, and when.",
		variable("namespace", "Namespace", "label_values(pgstorage_benchmark_last_success_timestamp_seconds, namespace)", true))
	b.row("Did anything become slower?")
	b.stat(panel{width: 8, title: "Regressed", about: "Schedules and benchmarks whose last result is worse than its baseline.", unit: "short", thresholds: from(1)},
		query{expr: `sum(max by (namespace, schedule, benchmark) (pgstorage_benchmark_regressed{namespace=~"$namespace"})) or vector(0)`})
	b.stat(panel{width: 8, title: "Late schedules", about: "Schedules without a success for twice their interval.", unit: "short", thresholds: from(1)},
		query{expr: `count(time() > max by (namespace, schedule) (pgstorage_benchmark_schedule_late_timestamp_seconds{namespace=~"$namespace"})) or vector(0)`})
	b.stat(panel{width: 8, title: "Time since the oldest success", about: "How long ago the schedule or benchmark that succeeded least recently ended.", unit: "s"},
		query{expr: `time() - min(pgstorage_benchmark_last_success_timestamp_seconds{namespace=~"$namespace"})`})
	b.row("Results")
	b.graph(panel{width: 12, title: "Transactions per second", about: "Median of the repeats in the last run that succeeded, by variant. Compare only variants of the same durability.", unit: "ops"},
		query{`max by (namespace, schedule, benchmark, variant, durability) (pgstorage_benchmark_tps{namespace=~"$namespace"})`, "{{namespace}}/{{schedule}}{{benchmark}} {{variant}} {{durability}}"})
	b.graph(panel{width: 12, title: "Latency, 99th percentile", about: "Of transactions in the last run that succeeded, by variant.", unit: "s"},
		query{`max by (namespace, schedule, benchmark, variant, durability) (pgstorage_benchmark_latency_p99_seconds{namespace=~"$namespace"})`, "{{namespace}}/{{schedule}}{{benchmark}} {{variant}} {{durability}}"})
	b.table(panel{width: 24, title: "Last results", about: "One row for each variant of a schedule or benchmark. kubectl pgstorage bench report shows whether a figure is believable.", unit: "short"},
		map[string]string{"namespace": "Namespace", "schedule": "Schedule", "benchmark": "Benchmark", "variant": "Variant", "durability": "Durability"},
		query{`max by (namespace, schedule, benchmark, variant, durability) (pgstorage_benchmark_tps{namespace=~"$namespace"})`, "Transactions per second"},
		query{`1000 * max by (namespace, schedule, benchmark, variant, durability) (pgstorage_benchmark_latency_p99_seconds{namespace=~"$namespace"})`, "99th percentile, ms"})
	return b
}
