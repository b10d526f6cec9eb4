package main

import "strings"

// Series of one cluster: of the manager, and of the instances' own exporters.
const (
	mine      = `namespace="$namespace",name="$cluster"`
	instances = `namespace="$namespace",pod=~"$cluster-[0-9]+"`
)

// on has the labels of the instances of the selected cluster.
func on(metric string, labels ...string) string {
	return metric + "{" + strings.Join(append([]string{instances}, labels...), ",") + "}"
}

// perSecond is the rate of a counter of the instances.
func perSecond(metric string) string {
	return "rate(" + on(metric) + "[$__rate_interval])"
}

// cluster answers, from Postgres down to the devices: what makes this database slow or
// unsafe?
func cluster() *board {
	b := newBoard("pgstorage-cluster", "Cluster", "One PgStorageCluster from Postgres to the devices below its volumes.",
		variable("namespace", "Namespace", "label_values(pgstorage_cluster_info, namespace)", false),
		variable("cluster", "Cluster", `label_values(pgstorage_cluster_info{namespace="$namespace"}, name)`, false))
	b.row("Is it healthy?")
	b.clusterVerdict()
	b.row("What do clients see?")
	b.clusterClients()
	b.row("Do commits reach the standbys?")
	b.clusterReplication()
	b.row("WAL and checkpoints")
	b.clusterWAL()
	b.row("Storage within Postgres")
	b.clusterTables()
	b.row("Volumes, pools and devices (profiles on ZFS)")
	b.clusterVolumes()
	return b
}

func (b *board) clusterVerdict() {
	b.stat(panel{width: 4, title: "Ready", about: "The condition Ready of the PgStorageCluster.", mappings: yesNo("Ready", green, "Not ready", red)},
		query{expr: `max(pgstorage_cluster_condition{` + mine + `,condition="Ready",status="True"}) or 0 * max(pgstorage_cluster_info{` + mine + `})`})
	b.stat(panel{width: 4, title: "Ready instances", about: "Instances that accept connections.", unit: "short", thresholds: least(1)},
		query{expr: `max(pgstorage_cluster_instances_ready{` + mine + `})`})
	b.stat(panel{width: 4, title: "Declared instances", about: "Instances that the spec declares.", unit: "short"},
		query{expr: `max(pgstorage_cluster_instances_wanted{` + mine + `})`})
	b.stat(panel{width: 4, title: "Postgres up", about: "Instances whose exporter reaches Postgres.", unit: "short", thresholds: least(1)},
		query{expr: `sum(max by (pod) (` + on("cnpg_collector_up") + `))`})
	b.stat(panel{width: 4, title: "Nodes used", about: "Distinct nodes of the instances. 1 means that the loss of one node stops the database.", unit: "short", thresholds: least(2)},
		query{expr: `max(` + on("cnpg_collector_nodes_used") + `)`})
	b.stat(panel{width: 4, title: "Time since start", about: "Of the instance that started last. A small value means a recent restart.", unit: "s"},
		query{expr: `time() - max(` + on("cnpg_pg_postmaster_start_time") + `)`})
	b.table(panel{width: 12, title: "Conditions", about: "The current conditions. kubectl pgstorage status shows their messages."},
		map[string]string{"condition": "Condition", "status": "Status", "reason": "Reason"},
		query{expr: `max by (condition, status, reason) (pgstorage_cluster_condition{` + mine + `})`})
	b.table(panel{width: 12, title: "What acknowledged commits survive", about: "For each failure: Kept, MayBeLost, Lost, or Unknown when the settings behind it could not be read back."},
		map[string]string{"event": "Failure", "commits": "Acknowledged commits"},
		query{expr: `max by (event, commits) (pgstorage_cluster_loss_info{` + mine + `})`})
}

func (b *board) clusterClients() {
	b.graph(panel{width: 8, title: "Transactions", about: "Commits and rollbacks per second on all instances.", unit: "ops"},
		query{`sum(` + perSecond("cnpg_pg_stat_database_xact_commit") + `)`, "commits"},
		query{`sum(` + perSecond("cnpg_pg_stat_database_xact_rollback") + `)`, "rollbacks"})
	b.graph(panel{width: 8, title: "Sessions", about: "Sessions by state, and the limit max_connections of one instance.", unit: "short"},
		query{`sum by (state) (` + on("cnpg_backends_total") + `)`, "{{state}}"},
		query{`max(` + on("cnpg_pg_settings_setting", `name="max_connections"`) + `)`, "max_connections"})
	b.graph(panel{width: 8, title: "Longest transaction", about: "By instance. Long transactions keep VACUUM from removing dead rows.", unit: "s", thresholds: rising(300, 3600)},
		query{`max by (pod) (` + on("cnpg_backends_max_tx_duration_seconds") + `)`, "{{pod}}"})
	b.graph(panel{width: 8, title: "Waiting sessions", about: "Sessions that wait for a lock of another one.", unit: "short", thresholds: from(10)},
		query{`max by (pod) (` + on("cnpg_backends_waiting_total") + `)`, "{{pod}}"})
	b.graph(panel{width: 8, title: "Deadlocks and conflicts", about: "Per second: transactions that Postgres ended because of a deadlock, and queries on standbys that recovery cancelled.", unit: "ops"},
		query{`sum(` + perSecond("cnpg_pg_stat_database_deadlocks") + `)`, "deadlocks"},
		query{`sum(` + perSecond("cnpg_pg_stat_database_conflicts") + `)`, "conflicts"})
	b.graph(panel{width: 8, title: "Buffer hits", about: "Share of block reads that shared_buffers answered. The rest asks the kernel, and on ZFS the ARC.", unit: "percentunit", fromZeroTo: true},
		query{`sum by (pod) (` + perSecond("cnpg_pg_stat_database_blks_hit") + `) / (sum by (pod) (` + perSecond("cnpg_pg_stat_database_blks_hit") + `) + sum by (pod) (` + perSecond("cnpg_pg_stat_database_blks_read") + `))`, "{{pod}}"})
}

func (b *board) clusterReplication() {
	b.graph(panel{width: 8, title: "Synchronous standbys", about: "Standbys that can confirm a commit, and how many a commit needs. Below the need, commits wait.", unit: "short"},
		query{`max by (pod) (` + on("cnpg_pgstorage_synchronous_standbys") + `)`, "{{pod}} confirm"},
		query{`max by (pod) (` + on("cnpg_collector_sync_replicas", `value="observed"`) + `)`, "{{pod}} needed"})
	b.graph(panel{width: 8, title: "Commits that wait for a standby", about: "Sessions in SyncRep.", unit: "short"},
		query{`max by (pod) (` + on("cnpg_pgstorage_commit_waiting") + `)`, "{{pod}}"})
	b.graph(panel{width: 8, title: "Longest wait of a commit", about: "Time since the oldest of them began.", unit: "s", thresholds: rising(1, 10)},
		query{`max by (pod) (` + on("cnpg_pgstorage_commit_longest_wait_seconds") + `)`, "{{pod}}"})
	b.graph(panel{width: 8, title: "WAL not flushed by a standby", about: "What a failover to that standby would lose, without a quorum.", unit: "bytes"},
		query{`max by (application_name) (` + on("cnpg_pg_stat_replication_flush_diff_bytes") + `)`, "{{application_name}}"})
	b.graph(panel{width: 8, title: "Lag of standbys", about: "Time until a standby has flushed and replayed WAL. With a quorum, a commit takes at least the flush lag of the fastest ones.", unit: "s"},
		query{`max by (application_name) (` + on("cnpg_pg_stat_replication_flush_lag_seconds") + `)`, "{{application_name}} flush"},
		query{`max by (application_name) (` + on("cnpg_pg_stat_replication_replay_lag_seconds") + `)`, "{{application_name}} replay"})
	b.graph(panel{width: 8, title: "WAL held by slots", about: "WAL that a replication slot still needs. An inactive slot fills the volume.", unit: "bytes"},
		query{`max by (pod, slot_name) (` + on("cnpg_pg_replication_slots_pg_wal_lsn_diff") + `)`, "{{pod}} {{slot_name}}"})
}

func (b *board) clusterWAL() {
	b.graph(panel{width: 8, title: "WAL rate", about: "WAL that the instance generates.", unit: "Bps"},
		query{`sum by (pod) (` + perSecond("cnpg_collector_wal_bytes") + `)`, "{{pod}}"})
	b.graph(panel{width: 8, title: "Full pages", about: "Full pages per second in the WAL: high after each checkpoint.", unit: "ops"},
		query{`sum by (pod) (` + perSecond("cnpg_collector_wal_fpi") + `)`, "{{pod}}"})
	b.graph(panel{width: 8, title: "WAL directory", about: "Size of pg_wal. The volume's size is there only with spec.storage.walSize.", unit: "bytes"},
		query{`max by (pod) (` + on("cnpg_collector_pg_wal", `value="size"`) + `)`, "{{pod}}"},
		query{`max by (pod) (` + on("cnpg_collector_pg_wal", `value="volume_size"`) + `)`, "{{pod}} volume"})
	b.graph(panel{width: 8, title: "Checkpoints", about: "Per hour, by what triggered them. Requested ones come too often when WAL reaches max_wal_size.", unit: "short"},
		query{`sum(3600 * (` + perSecond("cnpg_pg_stat_checkpointer_checkpoints_timed") + ` or ` + perSecond("cnpg_pg_stat_bgwriter_checkpoints_timed") + `))`, "timeout"},
		query{`sum(3600 * (` + perSecond("cnpg_pg_stat_checkpointer_checkpoints_req") + ` or ` + perSecond("cnpg_pg_stat_bgwriter_checkpoints_req") + `))`, "requested"})
	b.graph(panel{width: 8, title: "Time of checkpoints", about: "Share of time that checkpoints write and flush.", unit: "percentunit"},
		query{`sum by (pod) (` + perSecond("cnpg_pg_stat_checkpointer_write_time") + ` or ` + perSecond("cnpg_pg_stat_bgwriter_checkpoint_write_time") + `) / 1000`, "{{pod}} write"},
		query{`sum by (pod) (` + perSecond("cnpg_pg_stat_checkpointer_sync_time") + ` or ` + perSecond("cnpg_pg_stat_bgwriter_checkpoint_sync_time") + `) / 1000`, "{{pod}} flush"})
	b.graph(panel{width: 8, title: "Archive", about: "WAL files that wait for the archive.", unit: "short", thresholds: from(32)},
		query{`max by (pod) (` + on("cnpg_collector_pg_wal_archive_status", `value="ready"`) + `)`, "{{pod}}"})
}

func (b *board) clusterTables() {
	b.graph(panel{width: 8, title: "Size of databases", about: "On the primary and the standbys alike.", unit: "bytes"},
		query{`max by (datname) (` + on("cnpg_pg_database_size_bytes") + `)`, "{{datname}}"})
	b.graph(panel{width: 8, title: "Held snapshots", about: "Age in transactions of the oldest snapshot, by what holds it. VACUUM removes no row that died later.", unit: "short", thresholds: from(10_000_000)},
		query{`max by (holder) (` + on("cnpg_pgstorage_xmin_age") + `)`, "{{holder}}"})
	b.graph(panel{width: 8, title: "Transaction ID age", about: "Postgres accepts no more writes at about 2.1 billion.", unit: "short", thresholds: rising(300_000_000, 1_500_000_000)},
		query{`max by (datname) (` + on("cnpg_pg_database_xid_age") + `)`, "{{datname}}"},
		query{`max by (datname) (` + on("cnpg_pg_database_mxid_age") + `)`, "{{datname}} multixact"})
	b.graph(panel{width: 12, title: "Temporary files", about: "Data that queries write to temporary files, because work_mem is too small for them.", unit: "Bps"},
		query{`sum by (datname) (` + perSecond("cnpg_pg_stat_database_temp_bytes") + `)`, "{{datname}}"})
	b.graph(panel{width: 12, title: "Block reads", about: "Blocks per second that were not in shared_buffers.", unit: "ops"},
		query{`sum by (pod) (` + perSecond("cnpg_pg_stat_database_blks_read") + `)`, "{{pod}}"})
}

// below selects series of pools that hold a volume of the selected cluster.
const below = ` and on (node, pool) max by (node, pool) (pgstorage_cluster_volume_info{` + mine + `})`

func (b *board) clusterVolumes() {
	b.table(panel{width: 24, title: "Volumes", about: "Where the volumes of each instance are, as the agents read them back."},
		map[string]string{"instance": "Instance", "role": "Role", "node": "Node", "pool": "Pool", "dataset": "Dataset"},
		query{expr: `max by (instance, role, node, pool, dataset) (pgstorage_cluster_volume_info{` + mine + `})`})
	b.graph(panel{width: 8, title: "Read latency of devices", about: "99th percentile of the wait for a device of the pool.", unit: "s"},
		query{`histogram_quantile(0.99, sum by (node, pool, le) (rate(pgstorage_pool_latency_seconds_bucket{class="disk_wait_read"}[$__rate_interval])))` + below, "{{node}} {{pool}}"})
	b.graph(panel{width: 8, title: "Write latency of devices", about: "99th percentile of the wait for a device of the pool.", unit: "s"},
		query{`histogram_quantile(0.99, sum by (node, pool, le) (rate(pgstorage_pool_latency_seconds_bucket{class="disk_wait_write"}[$__rate_interval])))` + below, "{{node}} {{pool}}"})
	b.graph(panel{width: 8, title: "Commit latency of the pool", about: "99th percentile of synchronous writes in the queue of the pool, which commits wait for.", unit: "s"},
		query{`histogram_quantile(0.99, sum by (node, pool, le) (rate(pgstorage_pool_latency_seconds_bucket{class="syncq_wait_write"}[$__rate_interval])))` + below, "{{node}} {{pool}}"})
	b.graph(panel{width: 8, title: "Used space of the pools", about: "ZFS slows down above about 80% and fragments.", unit: "percent", thresholds: rising(80, 95)},
		query{`max by (node, pool) (pgstorage_pool{figure="capacity"})` + below, "{{node}} {{pool}}"})
	b.table(panel{width: 8, title: "Health of the pools", about: "As the agent last reported it."},
		map[string]string{"node": "Node", "pool": "Pool", "health": "Health"},
		query{expr: `max by (node, pool, health) (pgstorage_nodestorage_info)` + below})
	b.graph(panel{width: 8, title: "Errors of devices", about: "Read, write and checksum errors since they were cleared.", unit: "short", thresholds: from(1)},
		query{`sum by (node, operation) (max by (storage, node, operation) (pgstorage_nodestorage_device_errors)) and on (node) max by (node) (pgstorage_cluster_volume_info{` + mine + `})`, "{{node}} {{operation}}"})
}
