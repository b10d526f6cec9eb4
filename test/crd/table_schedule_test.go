package crd_test

import "strings"

func schedule(name string, c change, says ...string) row {
	return row{name: "schedule: " + name, kind: "PgScheduledBenchmark", stage: onCreate, change: []change{c}, says: says}
}

// scheduleRows are the rules of a PgScheduledBenchmark. Those of what it makes are those
// of a PgBenchmark.
func scheduleRows() []row {
	const (
		form   = "spec.schedule must be five fields, minute, hour, day of the month, month and day of the week, as 30 2 * * 1-5, or @hourly, @daily, @weekly, @monthly or @yearly; the time zone is spec.timeZone"
		zone   = "spec.timeZone must be a name of the IANA time zone database, as Europe/Berlin or UTC"
		gate   = "spec.template.spec.gate is set by the schedule for each run: set spec.gate instead, which compares with the last good run or a named baseline"
		matrix = "spec.gate compares the repeats of a matrix: add spec.template.spec.matrix, which may be {} for one variant"
	)
	at := func(s string) change { return set("spec/schedule", s) }
	return []row{
		schedule("name too long", set("metadata/name", strings.Repeat("a", 42)), "metadata.name must be at most 41 characters: the PgBenchmarks are named after it and the time"),
		schedule("no schedule", unset("spec/schedule"), "spec.schedule: Required value"),
		schedule("four fields", at("30 2 * *"), form),
		schedule("six fields", at("0 30 2 * * *"), form),
		schedule("every so often", at("@every 1h"), form),
		schedule("time zone in the schedule", at("TZ=UTC 30 2 * * *"), form),
		schedule("time zone of the operator", set("spec/timeZone", "Local"), zone),
		schedule("time zone as a path", set("spec/timeZone", "../etc/localtime"), zone),
		schedule("time zone as an offset", set("spec/timeZone", "+01:00"), zone),
		schedule("deadline of 5 s", set("spec/startingDeadlineSeconds", 5), "spec.startingDeadlineSeconds in body should be greater than or equal to 10"),
		schedule("no history", set("spec/successfulHistoryLimit", 0), "spec.successfulHistoryLimit in body should be greater than or equal to 1"),
		schedule("negative history", set("spec/failedHistoryLimit", -1), "spec.failedHistoryLimit in body should be greater than or equal to 0"),
		schedule("no template", unset("spec/template"), "spec.template: Required value"),
		schedule("gate in the template", set("spec/template/spec/gate", map[string]any{"baseline": "last"}), gate).with(set("spec/template/spec/matrix", map[string]any{})),
		schedule("gate without a matrix", set("spec/gate", map[string]any{"baseline": "last"}), matrix),
		schedule("gate with threshold 0", set("spec/gate", map[string]any{"threshold": 0}), "spec.gate.threshold in body should be greater than or equal to 1").with(set("spec/template/spec/matrix", map[string]any{})),
		schedule("gate with confidence 100", set("spec/gate", map[string]any{"confidence": 100}), "spec.gate.confidence in body should be less than or equal to 99").with(set("spec/template/spec/matrix", map[string]any{})),
		schedule("label of the operator", set("spec/template/metadata", map[string]any{"labels": map[string]any{"pgstorage.dev/schedule": "other"}}), "spec.template.metadata.labels must not use pgstorage.dev or app.kubernetes.io/managed-by, which the operator sets, and values have at most 63 characters"),
		schedule("annotation of the operator", set("spec/template/metadata", map[string]any{"annotations": map[string]any{"pgstorage.dev/scheduled-at": "now"}}), "spec.template.metadata.annotations must not use pgstorage.dev, which the operator sets, and values have at most 1024 characters"),
		schedule("neither cluster nor template", unset("spec/template/spec/cluster"), "spec needs either cluster or template"),
		schedule("limit that the runner has not", set("spec/template/spec/pgbench", map[string]any{"resources": map[string]any{"limits": map[string]any{"example.com/gpu": "1"}}}), "spec.template.spec.pgbench.resources.limits: Invalid value", "spec.pgbench.resources.limits may name cpu, memory and ephemeral-storage only"),
		schedule("values of variants too long", set("spec/template/spec/matrix", map[string]any{"variants": longVariants(9)}), "spec.template.spec.matrix.variants: Invalid value: spec.matrix.variants: the values of all parameters together have at most 16384 characters; shorten or remove some"),
		schedule("scale 0", set("spec/template/spec/pgbench", map[string]any{"scale": 0}), "spec.template.spec.pgbench.scale in body should be greater than or equal to 1"),

		// These need the library or the calendar.
		schedule("minute 61", at("61 2 * * *"), "spec.schedule: end of range (61) above maximum (59)", "write five fields").condition(),
		schedule("no such day", at("0 2 31 2 *"), `spec.schedule: "0 2 31 2 *" has no time within five years`).condition(),
		schedule("no such time zone", set("spec/timeZone", "Europe/Atlantis"), `spec.timeZone: "Europe/Atlantis" is not in the IANA time zone database; write a name as Europe/Berlin or UTC`).condition(),
	}
}
