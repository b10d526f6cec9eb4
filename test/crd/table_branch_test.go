package crd_test

import "strings"

// These are the rows of a PgStorageBranch, and of what other kinds have for branches.

func branch(name string, c change, says ...string) row {
	return row{name: "branch " + name, kind: "PgStorageBranch", stage: onCreate, change: []change{c}, says: says}
}

// restored is a branch from backups, at a target.
func restored(target ...any) change { return set("spec/source/backup", fields(target...)) }

// mask by the SQL of a key of the ConfigMap mask.
func mask(key ...any) change {
	return set("spec/masking", fields("configMap", fields(append([]any{"name", "mask"}, key...)...)))
}

// snapshots are the origin of a database: its data, with more fields.
func snapshots(with ...any) change {
	return set("spec/origin", fields("volumeSnapshots", fields(append([]any{"data", "shop-data"}, with...)...)))
}

func maxBranches(field string, value any) change { return set("spec/branches/"+field, value) }

// validBranches are objects that are accepted.
var validBranches = []edge{
	{"least branch", "PgStorageBranch", nil},
	{"longest name of a branch", "PgStorageBranch", []change{set("metadata/name", strings.Repeat("a", 50)), set("spec/source/cluster", strings.Repeat("b", 50))}},
	{"most of a branch", "PgStorageBranch", []change{
		restored("targetTime", "2026-03-01T13:00:00.5+01:00"), mask("key", "_mask-2.SQL"), set("spec/ttl", "8760h"), set("spec/promote", true),
		set("spec/resources", fields("requests", fields("cpu", "1", "memory", "1Gi"), "limits", fields("memory", "2Gi"))),
	}},
	{"branch of all WAL", "PgStorageBranch", []change{restored()}},
	{"branch at a position", "PgStorageBranch", []change{restored("targetLSN", "FFFFFFFF/3000060")}},
	{"branch at a restore point", "PgStorageBranch", []change{restored("targetName", strings.Repeat("p", 63), "backupID", "20260301T023000")}},
	{"branch of a base backup", "PgStorageBranch", []change{restored("backupID", "20260301T023000")}},
	{"shortest ttl of a branch", "PgStorageBranch", []change{set("spec/ttl", "60s")}},
	{"ttl of several units", "PgStorageBranch", []change{set("spec/ttl", "1h30m5s")}},
	{"branch that is not promoted", "PgStorageBranch", []change{set("spec/promote", false)}},
	{"consent to branches", "PgStorageCluster", []change{set("spec/branchPolicy", "Any")}},
	{"least origin of snapshots", "PgStorageCluster", []change{snapshots()}},
	{"most of an origin of snapshots", "PgStorageCluster", []change{snapshots("data", strings.Repeat("d", 253), "wal", "9.wal"), set("spec/storage/walSize", "1Gi"), backup()}},
	{"snapshots of External", "PgStorageProfile", []change{set("spec/external/volumeSnapshotClassName", "9.csi-snapshots")}},
	{"least limit of branches", "PgStorageProfile", []change{maxBranches("maxPerNamespace", 1)}},
	{"most branches", "PgStorageProfile", []change{maxBranches("maxPerNamespace", 1000)}},
	{"least space of branches", "ZFSLocalPV", []change{maxBranches("maxSpacePerNamespace", "1Mi")}},
	{"space of branches on S3", "S3NBD", []change{set("spec/branches", fields("maxPerNamespace", 5, "maxSpacePerNamespace", "1.5Ti"))}},
}

func branchRows() []row {
	const (
		s          = "spec.source."
		b          = "spec.source.backup."
		v          = "spec.origin.volumeSnapshots."
		name       = "metadata.name must be at most 50 characters, lower-case letters, digits and '-', and begin with a letter: the PgStorageCluster and its Services have it"
		source     = "spec.source.cluster must be the name of a PgStorageCluster of the namespace"
		fixed      = "spec.source is immutable: a branch is made once; create another PgStorageBranch"
		lsn        = "spec.source.backup.targetLSN must be a position in WAL, as 0/3000060"
		targets    = "spec.source.backup: Invalid value: spec.source.backup has one of targetTime, targetLSN and targetName at most; keep one, or none to restore all WAL"
		point      = "spec.source.backup: Invalid value: spec.source.backup.targetName needs backupID: a restore point has no time by which a base backup could be chosen"
		id         = "spec.source.backup.backupID must be the ID of a base backup, as 20260301T023000; status.backupId of kubectl get backups.postgresql.cnpg.io has it"
		ttl        = "spec.ttl must be a duration from 1m to 8760h, as 24h"
		configMap  = "spec.masking.configMap.name must be the name of a ConfigMap of the namespace"
		key        = "spec.masking.configMap.key must be a key of a ConfigMap: letters, digits, '-', '_' and '.'"
		masked     = "spec.masking is immutable: it is applied before anybody can connect; create another PgStorageBranch"
		unmasked   = "spec.masking: Invalid value: spec.masking cannot be added or removed: it is applied before anybody can connect; create another PgStorageBranch"
		sized      = "spec.resources is immutable; change spec.resources of the branch's PgStorageCluster"
		unsized    = "spec.resources: Invalid value: spec.resources cannot be added or removed; change spec.resources of the branch's PgStorageCluster"
		processors = "spec.resources.requests.cpu must be a quantity of at least 50m"
		promoted   = "spec.promote cannot be undone: the branch's data is being copied, or is independent"
		together   = "spec.origin.objectStore and spec.origin.server belong together; set both, or neither with volumeSnapshots"
		reached    = "spec.origin.volumeSnapshots has no WAL beyond the snapshot, so a target cannot be reached; set objectStore and server too, or remove targetTime, targetLSN and targetName"
		data       = "spec.origin.volumeSnapshots.data must be the name of a VolumeSnapshot of the namespace"
		wal        = "spec.origin.volumeSnapshots.wal must be the name of a VolumeSnapshot of the namespace"
		walSize    = "spec.origin: Invalid value: spec.origin.volumeSnapshots.wal needs spec.storage.walSize: the size of the volume that the snapshot is of; set it"
		once       = "spec.origin is immutable: a database is restored once, when it is made; create a new PgStorageCluster"
		class      = "spec.external.volumeSnapshotClassName must be the name of a VolumeSnapshotClass: lower case letters, digits, '-' and '.'; see kubectl get volumesnapshotclass"
		nothing    = "spec.branches: Invalid value: spec.branches limits nothing; set maxPerNamespace or maxSpacePerNamespace, or remove it"
		space      = "spec.branches.maxSpacePerNamespace must be a quantity of at least 1Mi, as 50Gi"
		agents     = "spec.branches: Invalid value: spec.branches.maxSpacePerNamespace needs agents that read volumes back, which types ZFSLocalPV and S3NBD have; remove it"
	)
	requests := func(memory string) change {
		return set("spec/resources", fields("requests", fields("cpu", "1", "memory", memory)))
	}
	zfs := func(name string, c change, says ...string) row {
		return row{name: name, kind: "ZFSLocalPV", stage: onCreate, change: []change{c}, says: says}
	}
	return []row{
		branch("of a long name", set("metadata/name", strings.Repeat("a", 51)), name),
		branch("of a name with a dot", set("metadata/name", "shop.test"), name),
		branch("of a name that begins with a digit", set("metadata/name", "1-shop"), name),
		branch("without a source", unset("spec/source"), "spec.source: Required value"),
		branch("without a cluster", set("spec/source", fields()), s+"cluster: Required value"),
		branch("of a cluster without a name", set("spec/source/cluster", ""), s+"cluster", "should be at least 1 chars long"),
		branch("of a cluster of another namespace", set("spec/source/cluster", "other/shop"), refusedValue(s+"cluster", `"other/shop"`, source)),
		branch("of a cluster of a long name", set("spec/source/cluster", strings.Repeat("s", 51)), s+"cluster: Too long: may not be more than 50 bytes"),
		branch("of another cluster", set("spec/source/cluster", "bank"), fixed).updated(),
		branch("from backups after all", restored(), fixed).updated(),
		branch("at another target", restored("targetName", "b", "backupID", "20260301T023000"), fixed).with(restored("targetName", "a", "backupID", "20260301T023000")).updated(),
		branch("at two targets", restored("targetTime", "2026-03-01T12:00:00Z", "targetName", "a", "backupID", "20260301T023000"), targets),
		branch("at a restore point without a base backup", restored("targetName", "a"), point),
		branch("of a base backup by another name", restored("backupID", "shop-nightly-20"), refusedValue(b+"backupID", `"shop-nightly-20"`, id)),
		branch("of another base backup", restored("backupID", "20260302T023000"), fixed).with(restored("backupID", "20260301T023000")).updated(),
		branch("at a time and a position", restored("targetTime", "2026-03-01T12:00:00Z", "targetLSN", "0/1"), targets),
		branch("at a time in words", restored("targetTime", "yesterday"), b+"targetTime", "must be of type date-time"),
		branch("at a time without a zone", restored("targetTime", "2026-03-01T12:00:00"), b+"targetTime", "must be of type date-time"),
		branch("at no position", restored("targetLSN", "3000060"), refusedValue(b+"targetLSN", `"3000060"`, lsn)),
		branch("at a restore point without a name", restored("targetName", ""), b+"targetName", "should be at least 1 chars long"),
		branch("at a restore point of a long name", restored("targetName", strings.Repeat("p", 64)), b+"targetName: Too long: may not be more than 63 bytes"),
		branch("with a ttl of less than a minute", set("spec/ttl", "59s"), refusedValue("spec.ttl", `"59s"`, ttl)),
		branch("with a ttl of more than a year", set("spec/ttl", "8760h1s"), ttl),
		branch("with a ttl of days", set("spec/ttl", "7d"), ttl),
		branch("with a ttl in words", set("spec/ttl", "a week"), ttl),
		branch("with a ttl below zero", set("spec/ttl", "-24h"), ttl),
		branch("with a ttl in another order", set("spec/ttl", "30m1h"), ttl),
		branch("with an empty ttl", set("spec/ttl", ""), "spec.ttl", "should be at least 2 chars long"),
		branch("with a long ttl", set("spec/ttl", strings.Repeat("1", 16)+"h"), "spec.ttl: Too long: may not be more than 16 bytes"),
		branch("with a GPU", set("spec/resources", fields("requests", fields("nvidia.com/gpu", "1"))), "spec.resources.requests may name cpu, memory, ephemeral-storage, hugepages-2Mi and hugepages-1Gi only"),
		branch("with limits alone", set("spec/resources", fields("limits", fields("memory", "1Gi"))), "spec.resources.requests is required"),
		branch("without a processor", set("spec/resources", fields("requests", fields("memory", "1Gi"))), processors),
		branch("with too little of a processor", requests("1Gi"), processors).and(set("spec/resources/requests/cpu", "20m")),
		branch("with too little memory", requests("255Mi"), "spec.resources.requests.memory must be a quantity of at least 256Mi"),
		branch("with a limit below its request", requests("2Gi"), "spec.resources.limits.memory is below spec.resources.requests.memory; raise the limit or lower the request").and(set("spec/resources/limits", fields("memory", "1Gi"))),
		branch("with other resources", requests("2Gi"), sized).with(requests("1Gi")).updated(),
		branch("with resources after all", requests("1Gi"), unsized).updated(),
		branch("without resources after all", unset("spec/resources"), unsized).with(requests("1Gi")).updated(),
		branch("masked by nothing", set("spec/masking", fields()), "spec.masking.configMap: Required value"),
		branch("masked by a ConfigMap without a name", set("spec/masking", fields("configMap", fields("key", "a.sql"))), "spec.masking.configMap.name: Required value"),
		branch("masked by a ConfigMap of another namespace", mask("name", "other/mask"), refusedValue("spec.masking.configMap.name", `"other/mask"`, configMap)),
		branch("masked by a ConfigMap of a long name", mask("name", strings.Repeat("m", 254)), "spec.masking.configMap.name: Too long: may not be more than 253 bytes"),
		branch("masked by a path", mask("key", "../mask.sql"), refusedValue("spec.masking.configMap.key", `"../mask.sql"`, key)),
		branch("masked by an empty key", mask("key", ""), "spec.masking.configMap.key", "should be at least 1 chars long"),
		branch("masked by a long key", mask("key", strings.Repeat("k", 254)), "spec.masking.configMap.key: Too long: may not be more than 253 bytes"),
		branch("masked otherwise", mask("key", "b.sql"), masked).with(mask("key", "a.sql")).updated(),
		branch("masked after all", mask(), unmasked).updated(),
		branch("not masked after all", unset("spec/masking"), unmasked).with(mask()).updated(),
		branch("not promoted after all", set("spec/promote", false), promoted).with(set("spec/promote", true)).updated(),
		branch("without promote after all", unset("spec/promote"), promoted).with(set("spec/promote", true)).updated(),

		cluster("branches of some", set("spec/branchPolicy", "Own"), "spec.branchPolicy", `supported values: "None", "Any"`),
		cluster("origin in a store without a server", set("spec/origin", fields("objectStore", "lake")), together),
		cluster("origin in snapshots with a server", snapshots(), together).and(set("spec/origin/server", "old")),
		cluster("origin in snapshots at a time", snapshots(), reached).and(set("spec/origin/targetTime", "2026-03-01T12:00:00Z")),
		cluster("origin in snapshots at a position", snapshots(), reached).and(set("spec/origin/targetLSN", "0/3000060")),
		cluster("origin in snapshots at a restore point", snapshots(), reached).and(set("spec/origin/targetName", "a")),
		cluster("origin in no snapshot", set("spec/origin", fields("volumeSnapshots", fields())), v+"data: Required value"),
		cluster("origin in a snapshot of WAL alone", set("spec/origin", fields("volumeSnapshots", fields("wal", "w"))), v+"data: Required value"),
		cluster("origin in a snapshot of another namespace", snapshots("data", "other/d"), refusedValue(v+"data", `"other/d"`, data)),
		cluster("origin in a snapshot without a name", snapshots("data", ""), v+"data", "should be at least 1 chars long"),
		cluster("origin in a snapshot of a long name", snapshots("data", strings.Repeat("d", 254)), v+"data: Too long: may not be more than 253 bytes"),
		cluster("origin in WAL of another namespace", snapshots("wal", "other/w"), refusedValue(v+"wal", `"other/w"`, wal)).and(set("spec/storage/walSize", "1Gi")),
		cluster("origin in WAL of a long name", snapshots("wal", strings.Repeat("w", 254)), v+"wal: Too long: may not be more than 253 bytes").and(set("spec/storage/walSize", "1Gi")),
		cluster("origin in WAL without its volume", snapshots("wal", "w"), walSize),
		cluster("origin in other snapshots", snapshots("data", "other"), once).with(snapshots()).updated(),
		cluster("origin in snapshots added", snapshots(), "spec.origin cannot be added or removed").updated(),

		profile("snapshots of a class of a bad name", set("spec/external/volumeSnapshotClassName", "CSI"), refusedValue("spec.external.volumeSnapshotClassName", `"CSI"`, class)),
		profile("snapshots of a class without a name", set("spec/external/volumeSnapshotClassName", ""), "spec.external.volumeSnapshotClassName", "should be at least 1 chars long"),
		profile("snapshots of a class of a long name", set("spec/external/volumeSnapshotClassName", strings.Repeat("c", 254)), "spec.external.volumeSnapshotClassName: Too long: may not be more than 253 bytes"),
		profile("branches without a limit", set("spec/branches", fields()), nothing),
		profile("no branch", maxBranches("maxPerNamespace", 0), "spec.branches.maxPerNamespace", "should be greater than or equal to 1"),
		profile("too many branches", maxBranches("maxPerNamespace", 1001), "spec.branches.maxPerNamespace", "should be less than or equal to 1000"),
		profile("space of branches that nobody reads", maxBranches("maxSpacePerNamespace", "50Gi"), agents),
		zfs("little space of branches", maxBranches("maxSpacePerNamespace", "1Ki"), space),
		zfs("space of branches in words", maxBranches("maxSpacePerNamespace", "much"), "spec.branches.maxSpacePerNamespace"),
	}
}
