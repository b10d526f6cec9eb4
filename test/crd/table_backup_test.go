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

// validBackup are objects that are accepted.
var validBackup = []edge{
	{"least backup", "PgStorageCluster", []change{backup()}},
	{"most of a backup", "PgStorageCluster", []change{
		backup("target", "Primary", "maxArchiveAge", "24h", "schedules", append(manySchedules(7), fields("name", strings.Repeat("a", 20), "schedule", "*/5,30 0-6 1 JAN-MAR MON", "suspend", true))),
		set("spec/backup/objectStore", fields("name", "lake.2026", "archive", strings.Repeat("2", 20))),
	}},
	{"least age of the archive", "PgStorageCluster", []change{backup("maxArchiveAge", "60s")}},
	{"a site with backups", "PgStorageCluster", []change{topology("south"), backup("target", "PreferStandby")}},
	{"least origin", "PgStorageCluster", []change{origin()}},
	{"origin at a time, with backups", "PgStorageCluster", []change{origin("targetTime", "2026-03-01T13:00:00+01:00"), backup()}},
	{"origin at a position", "PgStorageCluster", []change{origin("targetLSN", "FFFFFFFF/3000060")}},
	{"origin at a restore point", "PgStorageCluster", []change{origin("targetName", strings.Repeat("p", 63))}},
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
		age      = "spec.backup.maxArchiveAge must be a duration from 1m to 24h, as 15m"
		none     = "spec.backup: a follower and a database in memory have none"
		targets  = "spec.origin has one of targetTime, targetLSN and targetName at most"
		once     = "spec.origin cannot be added or removed"
		together = "spec.origin: a follower, a site, a database in memory and one with defaults: CloudNativePG are not restored from backups"
		where    = "spec.origin.objectStore must be the name of an ObjectStore of the namespace"
		server   = "spec.origin.server must be the name of a folder of the store, as status.backup.server says it"
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
		cluster("backup from any instance", backup("target", "Any"), b+"target", `supported values: "PreferStandby", "Primary"`),
		cluster("archive younger than a minute", backup("maxArchiveAge", "59s"), age),
		cluster("archive older than a day", backup("maxArchiveAge", "25h"), age),
		cluster("archive of an age in words", backup("maxArchiveAge", "15 minutes"), age),
		cluster("backup of a follower", backup(), none).with(set("spec/follow/cluster", "bank")),
		cluster("backup of a database in memory", backup(), none).and(ephemeral...),
		cluster("origin that is empty", set("spec/origin", fields()), o+"objectStore: Required value", o+"server: Required value"),
		cluster("origin in a store of another namespace", origin("objectStore", "other/lake"), refusedValue(o+"objectStore", `"other/lake"`, where)),
		cluster("origin that is a path", origin("server", "shop/../bank"), refusedValue(o+"server", `"shop/../bank"`, server)),
		cluster("origin of a long name", origin("server", strings.Repeat("s", 129)), o+"server: Too long: may not be more than 128 bytes"),
		cluster("origin at two targets", origin("targetTime", "2026-03-01T12:00:00Z", "targetName", "a"), targets),
		cluster("origin at a time in words", origin("targetTime", "yesterday"), o+"targetTime", "must be of type date-time"),
		cluster("origin at a time without a zone", origin("targetTime", "2026-03-01T12:00:00"), o+"targetTime", "must be of type date-time"),
		cluster("origin at no position", origin("targetLSN", "3000060"), refusedValue(o+"targetLSN", `"3000060"`, lsn)),
		cluster("origin at a restore point without a name", origin("targetName", ""), o+"targetName", "should be at least 1 chars long"),
		cluster("origin of a follower", origin(), together).with(set("spec/follow/cluster", "bank")),
		cluster("origin of a site", origin(), together).and(topology("north")),
		cluster("origin of a database in memory", origin(), together).and(ephemeral...),
		cluster("origin with defaults of CloudNativePG", origin(), together).and(set("spec/defaults", "CloudNativePG")),
		cluster("origin added", origin(), once).updated(),
		cluster("origin removed", unset("spec/origin"), once).with(origin()).updated(),
		cluster("origin changed", set("spec/origin/server", "older"), "spec.origin is immutable: a database is restored once, when it is made; create a new PgStorageCluster").with(origin()).updated(),
	}
}
