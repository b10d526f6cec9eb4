package main

// claim is the evidence for one criterion. Open says why it does not count; empty: it counts,
// unless a look at the evidence shows otherwise.
type claim struct {
	// Evidence is a test as FOLDER TESTNAME, a file of runs of faults, or a tutorial. Words after
	// the file of runs select the cases that have them. Empty: there is none.
	Evidence string
	// Where is what the evidence ran on.
	Where string
	Open  string
}

// feature is a row of the tables.
type feature struct {
	Name string
	// Gate that users open first. Empty: it is always on.
	Gate string
	// Note follows the state.
	Note                       string
	EndToEnd, Faults, Tutorial claim
}

// onKind are the tests of make test-e2e.
func onKind(test string) claim {
	return claim{Evidence: "test/e2e " + test, Where: "kind with CloudNativePG and Postgres, in `make test`"}
}

// noStorage is a feature that keeps no data of its own.
var noStorage = claim{Where: "keeps no data"}

var features = []feature{
	{
		Name:     "Profile `External`, PgStorageCluster: parameters, durability, read-back, escape hatch",
		EndToEnd: onKind("TestJourney"), Tutorial: claim{Evidence: "docs/tutorial-external.md"},
		Faults: claim{Where: "the storage is not ours"},
	},
	{
		Name:     "Adoption of CloudNativePG Clusters",
		EndToEnd: onKind("TestAdopt"), Faults: noStorage,
		Tutorial: claim{Open: "has a page in the reference of the plugin only"},
	},
	{
		Name:     "PgBenchmark: repeats, percentiles, checks, layers",
		EndToEnd: onKind("TestJourney"), Faults: noStorage, Tutorial: claim{Evidence: "docs/tutorial-benchmark.md"},
	},
	{
		Name: "PgBenchmark with a matrix on temporary clusters; gates", Gate: "chart value `matrixClusters.enabled`",
		EndToEnd: onKind("TestMatrixMeasuresAndDeletesItsClusters"), Faults: noStorage, Tutorial: claim{Evidence: "docs/tutorial-benchmark.md"},
	},
	{
		Name: "Read pools", Gate: "chart value `readPools.enabled`",
		EndToEnd: onKind("TestReadPool"), Faults: claim{Evidence: "docs/faults/followers.jsonl read pool"}, Tutorial: claim{Evidence: "docs/tutorial-read-pools.md"},
	},
	{
		Name: "Volumes in memory: profile `Memory`, durability `Ephemeral`", Gate: "chart value `memory.enabled`",
		EndToEnd: onKind("TestMemory"), Faults: claim{Evidence: "docs/faults/followers.jsonl in memory"}, Tutorial: claim{Evidence: "docs/tutorial-memory.md"},
	},
	{
		Name: "Sites: `spec.topology`, a switch and a promotion by the plugin", Gate: "chart value `sites.enabled`",
		EndToEnd: claim{Evidence: "test/e2e TestSites", Where: "two and three namespaces of kind, `make test-e2e-sites`"},
		Faults:   claim{Evidence: "docs/faults/followers.jsonl site"}, Tutorial: claim{Evidence: "docs/tutorial-sites.md"},
	},
	{
		Name:     "Backups in an object store, restore",
		EndToEnd: claim{Evidence: "test/e2e TestBackup", Where: "kind with the Barman Cloud plugin and an S3 server, in `make test`"},
		Faults:   claim{Open: "a lost site loses commits by design, see docs/faults/protection.md"}, Tutorial: claim{Evidence: "docs/tutorial-backup.md"},
	},
	{
		Name:     "Verified backups: `spec.backup.verify`",
		EndToEnd: claim{Evidence: "test/e2e TestBackup", Where: "kind with the Barman Cloud plugin and an S3 server, in `make test`"},
		Faults:   claim{Open: "a lost site loses commits by design, see docs/faults/protection.md"}, Tutorial: claim{Evidence: "docs/tutorial-backup.md"},
	},
	{
		Name: "Backups as VolumeSnapshots: `method` of `spec.backup.schedules`", Gate: "chart value `branches.enabled`",
		EndToEnd: claim{Evidence: "test/e2ezfs TestSnapshotBackups", Where: "a database of one instance on zfs-localpv, `make test-e2e-snapshot-backups`"},
		Faults:   claim{Open: "no table of faults yet"}, Tutorial: claim{Open: "no tutorial yet"},
	},
	{
		Name: "Branches: PgStorageBranch", Gate: "chart value `branches.enabled`",
		EndToEnd: claim{Evidence: "test/e2ezfs TestBranches", Where: "`make test-e2e-branches`"},
		Faults:   claim{Evidence: "docs/faults/branches.jsonl"}, Tutorial: claim{Evidence: "docs/tutorial-branches.md"},
	},
	{
		Name: "PgScheduledBenchmark", Note: "not yet over nights",
		EndToEnd: onKind("TestJourney"), Faults: noStorage, Tutorial: claim{Evidence: "docs/tutorial-benchmark.md"},
	},
	{
		Name:     "Profile `ZFSLocalPV`: node agent, pools, datasets, volumes, memory budget",
		EndToEnd: claim{Evidence: "test/e2ezfs TestJourney", Where: "a virtual machine as a node of kind, `make test-e2e-zfs`; two, of which one is lost for good, `make test-e2e-zfs-nodes`"},
		Faults:   claim{Evidence: "docs/faults/zfslocalpv.jsonl"},
		Tutorial: claim{Evidence: "docs/tutorial-zfs.md"},
	},
	{
		Name: "Profile `S3NBD`: ZFS in S3 buckets, by ZeroFS 0.19.1", Gate: "feature gate `S3NBD`",
		Note:     "limits in [ADR 20](ROOTdocs/adr/0020-relay.md); ZeroFS 2 never ran",
		EndToEnd: claim{Evidence: "test/e2ezfs TestS3NBD", Where: "a virtual machine as a node of kind, `make test-e2e-s3nbd`"},
		Faults:   claim{Evidence: "docs/faults/s3nbd.jsonl"},
		Tutorial: claim{Evidence: "docs/tutorial-s3nbd.md"},
	},
	{
		Name: "Profile `CephRBD`: Ceph by Rook on zvols, disks or a class", Gate: "feature gate `CephRBD`",
		EndToEnd: claim{Evidence: "test/e2eceph TestCephRBD", Where: "Rook 1.18 and Ceph 20 on kind, `make test-e2e-ceph`; with ceph-csi in one run, by images built by hand; on zvols of one node, `make test-e2e-ceph-zvols`"},
		Faults:   claim{Evidence: "docs/faults/cephrbd.jsonl", Open: "no run lost a row, but only those on a virtual machine prove durability, see [the page](ROOTdocs/faults/cephrbd.md)"},
		Tutorial: claim{Evidence: "docs/tutorial-cephrbd.md"},
	},
	{
		Name: "[kubectl plugin](ROOTdocs/plugin.md)", Note: "in no krew index yet",
		EndToEnd: onKind("TestTutorials"), Faults: noStorage, Tutorial: claim{Evidence: "docs/tutorial-external.md"},
	},
}
