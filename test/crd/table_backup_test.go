package crd_test

import (
	"fmt"
	"strings"
)

// These are the rows of spec.backup and spec.origin.

// backup into the ObjectStore lake every night, with more fields.
func backup(with ...any) change {
	out := fields("objectStore", fields("name", "lake"), "schedules", []any{fields("name", "nightly", "schedule", "30 2 * * *")})
	for i := 0; i < len(with); i += 2 {
		out[with[i].(string)] = with[i+1]
	}
	return set("spec/backup", out)
}

// origin is the folder old of the ObjectStore lake, with more fields.
func origin(with ...any) change {
	return set("spec/origin", fields(append([]any{"objectStore", "lake", "server", "old"}, with...)...))
}

// verify the backups at four, with more fields.
func verify(with ...any) change {
	return backup("verify", fields(append([]any{"schedule", "0 4 * * *"}, with...)...))
}

func verifyTable(with ...any) change { return verify("tables", []any{fields(with...)}) }

func manyTables(n int) []any {
	var out []any
	for i := range n {
		out = append(out, fields("name", fmt.Sprintf("public.t%d", i)))
	}
	return out
}

func backupAt(name, times string) change {
	return backup("schedules", []any{fields("name", name, "schedule", times)})
}

func manySchedules(n int) []any {
	var out []any
	for i := range n {
		out = append(out, fields("name", fmt.Sprintf("s%d", i), "schedule", "@daily"))
	}
	return out
}

// backupAs has one schedule with more fields.
func backupAs(with map[string]any) change {
	with["name"], with["schedule"] = "nightly", "@daily"
	return backup("schedules", []any{with})
}

// validBackup are objects that are accepted.
var validBackup = []edge{
	{"least backup", "PgStorageCluster", []change{backup()}},
	{"most of a backup", "PgStorageCluster", []change{
		backup("target", "Primary", "maxArchiveAge", "24h", "schedules", append(manySchedules(7), fields("name", strings.Repeat("a", 20), "schedule", "*/5,30 0-6 1 JAN-MAR MON", "suspend", true))),
		set("spec/backup/objectStore", fields("name", "lake.2026", "archive", strings.Repeat("2", 20))),
	}},
	{"least age of the archive", "PgStorageCluster", []change{backup("maxArchiveAge", "60s")}},
	{"least verification", "PgStorageCluster", []change{verify()}},
	{"most of a verification", "PgStorageCluster", []change{verify(
		"schedule", "*/5,30 0-6 1 JAN-MAR MON", "suspend", true, "timeout", "24h", "query", strings.Repeat("q", 1024),
		"tables", append(manyTables(15), fields("name", strings.Repeat("S", 63)+"."+strings.Repeat("é", 63), "minRows", 1000000000)),
		"resources", fields("requests", fields("cpu", "1", "memory", "1Gi"), "limits", fields("memory", "2Gi")),
	)}},
	{"shortest timeout of a verification", "PgStorageCluster", []change{verify("schedule", "@hourly", "timeout", "300s")}},
	{"VolumeSnapshots beside the store", "PgStorageCluster", []change{backup("schedules", append(manySchedules(1),
		fields("name", "hourly", "schedule", "@hourly", "method", "VolumeSnapshot", "keep", 1), fields("name", "weekly", "schedule", "@weekly", "method", "VolumeSnapshot", "keep", 100)))}},
	{"a method that is said", "PgStorageCluster", []change{backupAs(fields("method", "ObjectStore"))}},
	{"a site with backups", "PgStorageCluster", []change{topology("south"), backup("target", "PreferStandby")}},
	{"least origin", "PgStorageCluster", []change{origin()}},
	{"origin at a time, with backups", "PgStorageCluster", []change{origin("targetTime", "2026-03-01T13:00:00+01:00"), backup()}},
	{"origin at a position", "PgStorageCluster", []change{origin("targetLSN", "FFFFFFFF/3000060")}},
	{"origin at a restore point", "PgStorageCluster", []change{origin("targetName", strings.Repeat("p", 63), "backupID", "20260301T023000")}},
	{"origin in a base backup", "PgStorageCluster", []change{origin("backupID", "20260301T023000")}},
	{"origin in snapshots, at a restore point", "PgStorageCluster", []change{origin("targetName", "a", "volumeSnapshots", fields("data", "shop-1"))}},
	{"origin in snapshots, with WAL of a store", "PgStorageCluster", []change{origin("targetTime", "2026-03-01T12:00:00Z", "volumeSnapshots", fields("data", "shop-1", "wal", "shop-1-wal")), set("spec/storage/walSize", "1Gi")}},
	{"longest server of an origin", "PgStorageCluster", []change{origin("server", strings.Repeat("S", 126)+".2")}},
}

func backupRows() []row {
	const (
		b        = "spec.backup."
		o        = "spec.origin."
		store    = "spec.backup.objectStore.name must be the name of an ObjectStore of the namespace"
		archive  = "spec.backup.objectStore.archive must be lower-case letters, digits and '-'"
		name     = "spec.backup.schedules[].name must be lower-case letters, digits and '-'"
		times    = "spec.backup.schedules[].schedule must be five fields, minute, hour, day of the month, month and day of the week, as 30 2 * * *, or @hourly, @daily, @weekly or @monthly"
		v        = "spec.backup.verify."
		when     = "spec.backup.verify.schedule must be five fields, minute, hour, day of the month, month and day of the week, as 0 4 * * *, or @hourly, @daily, @weekly or @monthly"
		within   = "spec.backup.verify.timeout must be a duration from 5m to 24h, as 1h"
		table    = "spec.backup.verify.tables[].name must be schema.table, as public.orders"
		stored   = "spec.backup.schedules needs one with method ObjectStore, because VolumeSnapshots are lost with the storage that they are on"
		keep     = "spec.backup.schedules[].keep is for method VolumeSnapshot; the ObjectStore has the retention of its backups"
		age      = "spec.backup.maxArchiveAge must be a duration from 1m to 24h, as 15m"
		none     = "spec.backup: a follower and a database in memory have none"
		targets  = "spec.origin has one of targetTime, targetLSN and targetName at most"
		once     = "spec.origin cannot be added or removed"
		together = "spec.origin: a follower, a site, a database in memory and one with defaults: CloudNativePG are not restored from backups"
		where    = "spec.origin.objectStore must be the name of an ObjectStore of the namespace"
		server   = "spec.origin.server must be the name of a folder of the store, as status.backup.server says it"
		point    = "spec.origin.targetName needs backupID: a restore point has no time by which a base backup could be chosen"
		id       = "spec.origin.backupID must be the ID of a base backup, as 20260301T023000; status.backupId of kubectl get backups.postgresql.cnpg.io has it"
		either   = "spec.origin.backupID is a base backup of the store, and volumeSnapshots take its place; keep one of the two"
		lsn      = "spec.origin.targetLSN must be a position in WAL, as 0/3000060"
	)
	in := func(store map[string]any) change { return backup("objectStore", store) }
	ephemeral := []change{set("spec/durability", "Ephemeral")}
	return []row{
		cluster("backup that is empty", set("spec/backup", fields()), b+"objectStore: Required value"),
		cluster("backup without schedules", backup(), b+"schedules: Required value").and(unset("spec/backup/schedules")),
		cluster("backup with no schedule", backup("schedules", []any{}), b+"schedules", "should have at least 1 items"),
		cluster("backup with nine schedules", backup("schedules", manySchedules(9)), b+"schedules", "must have at most 8 items"),
		cluster("two schedules of one name", backup("schedules", append(manySchedules(1), manySchedules(1)...)), b+"schedules[1]: Duplicate value"),
		cluster("backup without a store", in(fields("archive", "2")), b+"objectStore.name: Required value"),
		cluster("backup into a store of another namespace", in(fields("name", "other/lake")), refusedValue(b+"objectStore.name", `"other/lake"`, store)),
		cluster("backup into a store of a long name", in(fields("name", strings.Repeat("s", 254))), b+"objectStore.name: Too long: may not be more than 253 bytes"),
		cluster("archive with a dot", in(fields("name", "lake", "archive", "2.shop")), refusedValue(b+"objectStore.archive", `"2.shop"`, archive)),
		cluster("archive that is a path", in(fields("name", "lake", "archive", "../shop")), archive),
		cluster("archive that is empty", in(fields("name", "lake", "archive", "")), b+"objectStore.archive", "should be at least 1 chars long"),
		cluster("archive of a long name", in(fields("name", "lake", "archive", strings.Repeat("a", 21))), b+"objectStore.archive: Too long: may not be more than 20 bytes"),
		cluster("schedule of a bad name", backupAt("Nightly", "@daily"), refusedValue(b+"schedules[0].name", `"Nightly"`, name)),
		cluster("schedule of a long name", backupAt(strings.Repeat("a", 21), "@daily"), b+"schedules[0].name: Too long: may not be more than 20 bytes"),
		cluster("schedule without times", backupAt("nightly", ""), b+"schedules[0].schedule", "should be at least 1 chars long"),
		cluster("schedule with seconds", backupAt("nightly", "0 30 2 * * *"), refusedValue(b+"schedules[0].schedule", `"0 30 2 * * *"`, times)),
		cluster("schedule of a year", backupAt("nightly", "@yearly"), times),
		cluster("schedule with a zone", backupAt("nightly", "TZ=UTC 30 2 * * *"), times),
		cluster("VolumeSnapshots alone", backupAs(fields("method", "VolumeSnapshot")), stored),
		cluster("another method", backupAs(fields("method", "Tape")), b+"schedules[0].method", `supported values: "ObjectStore", "VolumeSnapshot"`),
		cluster("no backup kept", backupAs(fields("method", "VolumeSnapshot", "keep", 0)), b+"schedules[0].keep", "should be greater than or equal to 1"),
		cluster("too many backups kept", backupAs(fields("method", "VolumeSnapshot", "keep", 101)), b+"schedules[0].keep", "should be less than or equal to 100"),
		cluster("backups kept in the store", backupAs(fields("keep", 7)), keep),
		cluster("backups kept in the store that is said", backupAs(fields("method", "ObjectStore", "keep", 7)), keep),
		cluster("backup from any instance", backup("target", "Any"), b+"target", `supported values: "PreferStandby", "Primary"`),
		cluster("archive younger than a minute", backup("maxArchiveAge", "59s"), age),
		cluster("archive older than a day", backup("maxArchiveAge", "25h"), age),
		cluster("archive of an age in words", backup("maxArchiveAge", "15 minutes"), age),
		cluster("verification without times", backup("verify", fields("timeout", "1h")), v+"schedule: Required value"),
		cluster("verification at no time", verify("schedule", ""), v+"schedule", "should be at least 1 chars long"),
		cluster("verification at a long time", verify("schedule", strings.Repeat("1", 121)+" * * * *"), v+"schedule: Too long: may not be more than 128 bytes"),
		cluster("verification with seconds", verify("schedule", "0 0 4 * * *"), refusedValue(v+"schedule", `"0 0 4 * * *"`, when)),
		cluster("verification of a year", verify("schedule", "@yearly"), when),
		cluster("verification with a zone", verify("schedule", "TZ=UTC 0 4 * * *"), when),
		cluster("verification within less than five minutes", verify("timeout", "299s"), refusedValue(v+"timeout", `"299s"`, within)),
		cluster("verification within more than a day", verify("timeout", "24h1s"), within),
		cluster("verification within a time in words", verify("timeout", "an hour"), within),
		cluster("verification of 17 tables", verify("tables", manyTables(17)), v+"tables", "must have at most 16 items"),
		cluster("verification of one table twice", verify("tables", append(manyTables(1), manyTables(1)...)), v+"tables[1]: Duplicate value"),
		cluster("verified table without a name", verifyTable("minRows", 1), v+"tables[0].name: Required value"),
		cluster("verified table without a schema", verifyTable("name", "orders"), refusedValue(v+"tables[0].name", `"orders"`, table)),
		cluster("verified table of a database", verifyTable("name", "app.public.orders"), table),
		cluster("verified table of an empty schema", verifyTable("name", ".orders"), table),
		cluster("verified table of a long name", verifyTable("name", "public."+strings.Repeat("t", 64)), table),
		cluster("verified table with no rows", verifyTable("name", "public.t", "minRows", 0), v+"tables[0].minRows", "should be greater than or equal to 1"),
		cluster("verified table with too many rows", verifyTable("name", "public.t", "minRows", 1000000001), v+"tables[0].minRows", "should be less than or equal to 1000000000"),
		cluster("verification by an empty query", verify("query", ""), v+"query", "should be at least 1 chars long"),
		cluster("verification by a long query", verify("query", strings.Repeat("q", 1025)), v+"query: Too long: may not be more than 1024 bytes"),
		cluster("verification with a GPU", verify("resources", fields("requests", fields("nvidia.com/gpu", "1"))), "spec.backup.verify.resources.requests may name cpu and memory only"),
		cluster("verification limited in storage", verify("resources", fields("limits", fields("ephemeral-storage", "1Gi"))), "spec.backup.verify.resources.limits may name cpu and memory only"),
		cluster("verification with three resources", verify("resources", fields("limits", fields("cpu", "1", "memory", "1Gi", "ephemeral-storage", "1Gi"))), v+"resources.limits", "must have at most 2 items"),
		cluster("verification with a size that is no quantity", verify("resources", fields("requests", fields("memory", "much"))), v+"resources.requests.memory"),
		cluster("backup of a follower", backup(), none).with(set("spec/follow/cluster", "bank")),
		cluster("backup of a database in memory", backup(), none).and(ephemeral...),
		cluster("origin that is empty", set("spec/origin", fields()), "spec.origin: Invalid value: spec.origin needs objectStore with server, or volumeSnapshots, or both"),
		cluster("origin in a store of another namespace", origin("objectStore", "other/lake"), refusedValue(o+"objectStore", `"other/lake"`, where)),
		cluster("origin that is a path", origin("server", "shop/../bank"), refusedValue(o+"server", `"shop/../bank"`, server)),
		cluster("origin of a long name", origin("server", strings.Repeat("s", 129)), o+"server: Too long: may not be more than 128 bytes"),
		cluster("origin at two targets", origin("targetTime", "2026-03-01T12:00:00Z", "targetName", "a", "backupID", "20260301T023000"), targets),
		cluster("origin at a time in words", origin("targetTime", "yesterday"), o+"targetTime", "must be of type date-time"),
		cluster("origin at a time without a zone", origin("targetTime", "2026-03-01T12:00:00"), o+"targetTime", "must be of type date-time"),
		cluster("origin at no position", origin("targetLSN", "3000060"), refusedValue(o+"targetLSN", `"3000060"`, lsn)),
		cluster("origin at a restore point without a base backup", origin("targetName", "a"), point),
		cluster("origin in a base backup by another name", origin("backupID", "shop-nightly-20"), refusedValue(o+"backupID", `"shop-nightly-20"`, id)),
		cluster("origin in a base backup and in snapshots", origin("backupID", "20260301T023000", "volumeSnapshots", fields("data", "shop-1")), either),
		cluster("origin at a restore point without a name", origin("targetName", "", "backupID", "20260301T023000"), o+"targetName", "should be at least 1 chars long"),
		cluster("origin of a follower", origin(), together).with(set("spec/follow/cluster", "bank")),
		cluster("origin of a site", origin(), together).and(topology("north")),
		cluster("origin of a database in memory", origin(), together).and(ephemeral...),
		cluster("origin with defaults of CloudNativePG", origin(), together).and(set("spec/defaults", "CloudNativePG")),
		cluster("origin added", origin(), once).updated(),
		cluster("origin removed", unset("spec/origin"), once).with(origin()).updated(),
		cluster("origin changed", set("spec/origin/server", "older"), "spec.origin is immutable: a database is restored once, when it is made; create a new PgStorageCluster").with(origin()).updated(),
	}
}
