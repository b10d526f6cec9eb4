package crd_test

import (
	"fmt"
	"strings"
)

func matrix(name string, c change, says ...string) row {
	return row{name: "matrix: " + name, kind: "Matrix", stage: onCreate, change: []change{c}, says: says}
}

func ofMatrix(field string, v any) change { return set("spec/matrix/"+field, v) }

func byName(variants ...map[string]any) change {
	var all []any
	for _, v := range variants {
		all = append(all, v)
	}
	return ofMatrix("variants", all)
}

// longVariants are so many of 16 parameters, each value of the most characters: 2048
// characters a variant.
func longVariants(n int) []any {
	var all []any
	for i := range n {
		var parameters []any
		for k := range 16 {
			parameters = append(parameters, map[string]any{"name": fmt.Sprintf("app.p%d", k), "value": strings.Repeat("x", 128)})
		}
		all = append(all, map[string]any{"name": fmt.Sprintf("v%d", i), "parameters": parameters})
	}
	return all
}

func axis(name string, values ...string) map[string]any {
	return map[string]any{"name": name, "values": values}
}

// counts of clients from 1 on.
func counts(n int) []int {
	var all []int
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// matrixRows are the rules of a PgBenchmark with a matrix.
func matrixRows() []row {
	const (
		own        = "spec.matrix: profiles, durability and parameters need temporary clusters; set spec.template in place of spec.cluster"
		profileOf  = "spec.template.profile is required unless spec.matrix names a profile for every variant, and not allowed if it does; add or remove it"
		tierOf     = "spec.template.durability is required unless spec.matrix names a tier for every variant, and not allowed if it does; add or remove it"
		quorum     = "spec.template.instances must be at least 2 for the tier Quorum, because a commit waits for a standby; raise it or remove Quorum"
		scripts    = "spec.matrix.scripts excludes spec.pgbench.script and spec.pgbench.customScripts; remove one"
		many       = "spec.matrix has more than 64 variants, with spec.pgbench.clients as one of its axes: remove values, or list the relevant variants in spec.matrix.variants"
		either     = "spec.matrix.variants excludes profiles, durability, parameters and scripts: list variants by name, or set axes"
		rest       = "spec.matrix.rest must be whole hours, minutes and seconds from 0s to 1h, as 30s"
		total      = "spec.matrix.totalTimeout must be whole hours, minutes and seconds from 1m to 168h, as 6h"
		target     = "spec.matrix.targetTimeout must be whole hours, minutes and seconds from 1m to 24h, as 20m"
		fsync      = "spec.matrix.parameters[fsync] must stay on: without it a crash corrupts the database; remove it, or use the tier Async for faster commits"
		commit     = "spec.matrix.parameters[synchronous_commit] must be on or remote_apply: to measure commits that are not flushed, use the tier Async in spec.matrix.durability"
		parameters = "spec.matrix.parameters: names are lower-case Postgres names, as work_mem or pg_stat_statements.max"
		cold       = "spec.pgbench.coldCache empties caches of the server, which is allowed only on temporary clusters of a matrix; set spec.template in place of spec.cluster, or remove it"
		ofVariant  = "spec.matrix.variants[].parameters: names are lower-case Postgres names, as work_mem or pg_stat_statements.max"
	)
	given := []change{unset("spec/template"), set("spec/cluster", "shop")}
	onGiven := func(name string, c change, says ...string) row {
		r := matrix(name, c, says...)
		r.before = given
		return r
	}
	return []row{
		matrix("cluster and template", set("spec/cluster", "shop"), "spec needs either cluster or template: set cluster to the PgStorageCluster to measure, or template for the temporary clusters of a matrix"),
		matrix("template without a matrix", unset("spec/matrix"), "spec.template needs a matrix: add spec.matrix, which may be {} for one variant, or set spec.cluster"),
		benchmark("gate without a matrix", set("spec/gate", map[string]any{"baseline": "last"}), "spec.gate compares the repeats of a matrix: add spec.matrix, which may be {} for one variant"),
		matrix("gate on itself", set("spec/gate", map[string]any{"baseline": "first"}), "spec.gate.baseline must be another PgBenchmark than this one; name an older one with a matrix of the same variants"),
		matrix("gate without a baseline", set("spec/gate", map[string]any{}), "spec.gate.baseline: Required value"),
		matrix("threshold 0", set("spec/gate", map[string]any{"baseline": "last", "threshold": 0}), "spec.gate.threshold in body should be greater than or equal to 1"),
		matrix("confidence 100", set("spec/gate", map[string]any{"baseline": "last", "confidence": 100}), "spec.gate.confidence in body should be less than or equal to 99"),
		onGiven("profiles of a given cluster", ofMatrix("profiles", []string{"a", "b"}), own),
		onGiven("tiers of a given cluster", ofMatrix("durability", []string{"Local", "Async"}), own),
		onGiven("parameters of a given cluster", ofMatrix("parameters", []any{axis("work_mem", "4MB")}), own),
		onGiven("variant with a tier on a given cluster", byName(map[string]any{"name": "a", "durability": "Local"}), own),
		onGiven("variant with a profile on a given cluster", byName(map[string]any{"name": "a"}, map[string]any{"name": "b", "profile": "fast"}), own),
		onGiven("variant with parameters on a given cluster", byName(map[string]any{"name": "a", "parameters": []any{map[string]any{"name": "work_mem", "value": "4MB"}}}), own),
		onGiven("coldCache of a given cluster", pgbench("coldCache", true), cold).and(pgbench("warmUp", "0s")),
		matrix("coldCache and a warm-up", pgbench("coldCache", true), "coldCache needs warmUp: 0s, because a warm-up fills the caches that it empties"),
		matrix("coldCache without a superuser", pgbench("coldCache", true), "coldCache needs integrity: Full, whose superuser empties the caches").and(pgbench("warmUp", "0s"), pgbench("integrity", "Basic")),
		matrix("coldCache before PostgreSQL 17", pgbench("coldCache", true), "spec.pgbench.coldCache needs pg_buffercache_evict of PostgreSQL 17; raise spec.template.postgres.version or remove it").and(pgbench("warmUp", "0s"), set("spec/template/postgres/version", "16.4")),
		matrix("no profile", unset("spec/template/profile"), profileOf),
		matrix("profiles and a profile", ofMatrix("profiles", []string{"fast", "slow"}), profileOf),
		matrix("some variants without a profile", unset("spec/template/profile"), profileOf).and(byName(map[string]any{"name": "a", "profile": "fast"}, map[string]any{"name": "b"})),
		matrix("variants with a profile, and one", byName(map[string]any{"name": "a", "profile": "fast"}), profileOf),
		matrix("no tier", unset("spec/template/durability"), tierOf),
		matrix("tiers and a tier", ofMatrix("durability", []string{"Local", "Async"}), tierOf),
		matrix("variants with a tier, and one", byName(map[string]any{"name": "a", "durability": "Async"}), tierOf),
		matrix("Quorum on one instance", set("spec/template/durability", "Quorum"), quorum),
		matrix("Quorum among tiers on one instance", unset("spec/template/durability"), quorum).and(ofMatrix("durability", []string{"Local", "Quorum"})),
		matrix("variant of Quorum on one instance", byName(map[string]any{"name": "a"}, map[string]any{"name": "b", "durability": "Quorum"}), quorum),
		matrix("scripts and a script", ofMatrix("scripts", []string{"TPCB"}), scripts).and(pgbench("script", "SelectOnly")),
		matrix("scripts and custom ones", ofMatrix("scripts", []string{"TPCB"}), scripts).and(pgbench("customScripts", []any{map[string]any{"configMap": "sql", "key": "a.sql"}})),
		matrix("repeats of a run", pgbench("repeats", 3), "spec.pgbench.repeats must be 1 with a matrix, whose own repeats run every variant once a round; set spec.matrix.repeats instead"),
		matrix("too many by name", byName(map[string]any{"name": "a"}, map[string]any{"name": "b"}, map[string]any{"name": "c"}, map[string]any{"name": "d"}, map[string]any{"name": "e"}), many).and(pgbench("clients", counts(13))),
		matrix("too many by parameters", ofMatrix("parameters", []any{axis("work_mem", "1MB", "2MB", "3MB"), axis("jit", "on", "off"), axis("wal_compression", "off", "lz4", "zstd"), axis("random_page_cost", "1", "2")}), many),
		matrix("too many by scripts and tiers", ofMatrix("scripts", []string{"TPCB", "SelectOnly", "SimpleUpdate"}), many).and(unset("spec/template/durability"), ofMatrix("durability", []string{"Local", "Async"}), pgbench("clients", counts(11))),
		matrix("variants and scripts", byName(map[string]any{"name": "a"}), either).and(ofMatrix("scripts", []string{"TPCB"})),
		matrix("variants and parameters", byName(map[string]any{"name": "a"}), either).and(ofMatrix("parameters", []any{axis("jit", "on")})),
		matrix("values of variants too long", ofMatrix("variants", append(longVariants(8), map[string]any{"name": "one", "parameters": []any{map[string]any{"name": "jit", "value": "x"}}})), "spec.matrix.variants: Invalid value: spec.matrix.variants: the values of all parameters together have at most 16384 characters; shorten or remove some"),
		matrix("variant twice", byName(map[string]any{"name": "a"}, map[string]any{"name": "a"}), "spec.matrix.variants[1]: Duplicate value"),
		matrix("variant without a name", byName(map[string]any{"profile": "fast"}), "spec.matrix.variants[0].name: Required value"),
		matrix("variant of two words", byName(map[string]any{"name": "a b"}), "spec.matrix.variants[].name must be letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"),
		matrix("profile twice", ofMatrix("profiles", []string{"a", "a"}), "spec.matrix.profiles[1]: Duplicate value"),
		matrix("no values", ofMatrix("parameters", []any{map[string]any{"name": "jit"}}), "spec.matrix.parameters[0].values: Required value"),
		matrix("unknown tier", ofMatrix("durability", []string{"Sync"}), `spec.matrix.durability[0]: Unsupported value: "Sync"`),
		// A tier that keeps nothing does not compare with others: it is measured on clusters of its own.
		matrix("Ephemeral is no axis", ofMatrix("durability", []string{"Local", "Ephemeral"}), `spec.matrix.durability[1]: Unsupported value: "Ephemeral"`),
		matrix("repeats 0", ofMatrix("repeats", 0), "spec.matrix.repeats in body should be greater than or equal to 1"),
		matrix("repeats 21", ofMatrix("repeats", 21), "spec.matrix.repeats in body should be less than or equal to 20"),
		matrix("seed 0", ofMatrix("seed", 0), "spec.matrix.seed in body should be greater than or equal to 1"),
		matrix("maxFailures 0", ofMatrix("maxFailures", 0), "spec.matrix.maxFailures in body should be greater than or equal to 1"),
		matrix("rest 2h", ofMatrix("rest", "2h"), rest),
		matrix("totalTimeout 10s", ofMatrix("totalTimeout", "10s"), total),
		matrix("targetTimeout in words", ofMatrix("targetTimeout", "long"), target),
		matrix("fsync off", ofMatrix("parameters", []any{axis("fsync", "on", "off")}), fsync),
		matrix("synchronous_commit off", ofMatrix("parameters", []any{axis("synchronous_commit", "on", "off")}), commit),
		matrix("parameter in capitals", ofMatrix("parameters", []any{axis("WORK_MEM", "4MB")}), parameters),
		matrix("parameter of an axis' name", ofMatrix("parameters", []any{axis("clients", "4")}), parameters),
		matrix("fsync off by name", byName(map[string]any{"name": "a", "parameters": []any{map[string]any{"name": "fsync", "value": "off"}}}), "spec.matrix.variants[].parameters[fsync] must stay on: without it a crash corrupts the database; remove it, or use the tier Async for faster commits"),
		matrix("synchronous_commit off by name", byName(map[string]any{"name": "a", "parameters": []any{map[string]any{"name": "synchronous_commit", "value": "off"}}}), "spec.matrix.variants[].parameters[synchronous_commit] must be on or remote_apply: to measure commits that are not flushed, use the tier Async"),
		matrix("parameter in capitals by name", byName(map[string]any{"name": "a", "parameters": []any{map[string]any{"name": "JIT", "value": "off"}}}), ofVariant),
		matrix("synchronous_commit of the template", set("spec/template/postgres/parameters", map[string]any{"synchronous_commit": "off"}), "spec.template.postgres.parameters[synchronous_commit] must be on or remote_apply: to measure commits that are not flushed, use the tier Async"),
		matrix("deletionPolicy of the template", set("spec/template/deletionPolicy", "Retain"), "unknown field \"spec.template.deletionPolicy\""),
		matrix("no requests of the template", set("spec/template/resources", map[string]any{"limits": map[string]any{"cpu": "1"}}), "spec.template.resources.requests is required: the operator derives Postgres parameters from it; set memory and cpu"),
		matrix("no memory of the template", set("spec/template/resources", map[string]any{"requests": map[string]any{"cpu": "1"}}), "spec.template.resources.requests.memory must be a quantity of at least 256Mi, as 4Gi: the operator derives memory parameters of Postgres from it"),
		matrix("no cpu of the template", set("spec/template/resources", map[string]any{"requests": map[string]any{"memory": "1Gi"}}), "spec.template.resources.requests.cpu must be a quantity of at least 50m, as 500m or 2: the operator derives the parallelism of Postgres from it"),
		matrix("version of the template", set("spec/template/postgres/version", "13"), "spec.template.postgres.version", "spec.postgres.version must be a PostgreSQL version from 14 to 18"),
		matrix("override of the template changed", set("spec/template/cnpg/spec/logLevel", "debug"), "spec is immutable because a PgBenchmark is one run; create another PgBenchmark").with(set("spec/template/cnpg/spec", map[string]any{"logLevel": "info"})).updated(),
		// What the estimate decides.
		matrix("more than the budget", ofMatrix("totalTimeout", "5m"), "spec.matrix: the matrix takes about", "more than its budget of 5m0s", "take variants away, lower duration or raise the budget", "create another PgBenchmark").condition(),
	}
}
