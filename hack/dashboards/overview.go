package main

// perCluster adds the name of the CloudNativePG Cluster to series of instances, whose pods
// are named after it.
func perCluster(expr string) string {
	return `label_replace(` + expr + `, "cluster", "$1", "pod", "(.+)-[0-9]+")`
}

// overview answers: is anything wrong, and where?
func overview() *board {
	b := newBoard("pgstorage-overview", "Overview", "All PgStorageClusters: what is wrong, who is busy, how the nodes and the manager are.",
		variable("namespace", "Namespace", "label_values(pgstorage_cluster_info, namespace)", true))
	b.row("Is anything wrong?")
	b.overviewVerdict()
	b.row("Clusters")
	b.table(panel{width: 24, title: "Clusters", about: "One row for each PgStorageCluster. The reason of Ready says what it waits for."},
		map[string]string{"namespace": "Namespace", "name": "Cluster", "profile": "Profile", "postgres": "Postgres", "tier": "Durability", "status": "Ready", "reason": "Reason"},
		query{expr: `max by (namespace, name, profile, postgres) (pgstorage_cluster_info{namespace=~"$namespace"})`},
		query{expr: `max by (namespace, name, status, reason) (pgstorage_cluster_condition{namespace=~"$namespace",condition="Ready"})`},
		query{expr: `max by (namespace, name, tier) (pgstorage_cluster_durability_info{namespace=~"$namespace"})`},
		query{`max by (namespace, name) (pgstorage_cluster_instances_wanted{namespace=~"$namespace"})`, "Wanted"},
		query{`max by (namespace, name) (pgstorage_cluster_instances_ready{namespace=~"$namespace"})`, "Ready instances"})
	b.row("Load")
	b.overviewLoad()
	b.row("Nodes")
	b.graph(panel{width: 12, title: "Used space of pools", about: "Share of each ZFS pool in use. ZFS slows down above about 80% and fragments.", unit: "percent", thresholds: rising(80, 95)},
		query{`max by (node, pool) (pgstorage_pool{figure="capacity"})`, "{{node}} {{pool}}"})
	b.graph(panel{width: 12, title: "Promised memory of nodes", about: "Limit of the ZFS cache and memory requests of the instances, as a share of the memory for pods. Above 1 the kernel may kill a database.", unit: "percentunit", thresholds: from(1)},
		query{`(max by (node) (pgstorage_node_arc_max_bytes) + max by (node) (pgstorage_node_instance_memory_requests_bytes)) / max by (node) (pgstorage_node_memory_allocatable_bytes)`, "{{node}}"})
	b.row("Manager")
	b.overviewManager()
	return b
}

func (b *board) overviewVerdict() {
	b.stat(panel{width: 3, title: "Clusters", about: "PgStorageClusters in the selected namespaces.", unit: "short"},
		query{expr: `count(max by (namespace, name) (pgstorage_cluster_info{namespace=~"$namespace"}))`})
	b.stat(panel{width: 3, title: "Not ready", about: "Clusters whose condition Ready is not True.", unit: "short", thresholds: from(1)},
		query{expr: `count(max by (namespace, name) (pgstorage_cluster_condition{namespace=~"$namespace",condition="Ready",status!="True"})) or vector(0)`})
	b.stat(panel{width: 3, title: "Need an administrator", about: "Clusters with the condition Stalled: the operator cannot continue alone.", unit: "short", thresholds: from(1)},
		query{expr: `count(max by (namespace, name) (pgstorage_cluster_condition{namespace=~"$namespace",condition="Stalled",status="True"})) or vector(0)`})
	b.stat(panel{width: 3, title: "Durability weakened", about: "Clusters whose running instances, roles or databases have settings that can lose acknowledged commits.", unit: "short", thresholds: from(1)},
		query{expr: `count(max by (namespace, name) (pgstorage_cluster_durability_weakened{namespace=~"$namespace"})) or vector(0)`})
	b.stat(panel{width: 3, title: "Missing instances", about: "Declared instances that do not accept connections.", unit: "short", thresholds: from(1)},
		query{expr: `sum(max by (namespace, name) (pgstorage_cluster_instances_wanted{namespace=~"$namespace"})) - (sum(max by (namespace, name) (pgstorage_cluster_instances_ready{namespace=~"$namespace"})) or vector(0))`})
	b.stat(panel{width: 3, title: "Pools not ONLINE", about: "ZFS pools of nodes that are degraded, suspended or not imported.", unit: "short", thresholds: from(1)},
		query{expr: `count(max by (storage) (pgstorage_nodestorage_info{health!="ONLINE"})) or vector(0)`})
	b.stat(panel{width: 3, title: "Benchmarks regressed", about: "Schedules and benchmarks whose last result is worse than its baseline.", unit: "short", thresholds: from(1)},
		query{expr: `sum(max by (namespace, schedule, benchmark) (pgstorage_benchmark_regressed{namespace=~"$namespace"})) or vector(0)`})
	b.stat(panel{width: 3, title: "Alerts", about: "Alerts of pgstorage that fire now.", unit: "short", thresholds: from(1)},
		query{expr: `count(ALERTS{alertname=~"PgStorage.*",alertstate="firing"}) or vector(0)`})
}

func (b *board) overviewLoad() {
	b.graph(panel{width: 8, title: "Transactions", about: "Commits per second of the ten busiest clusters.", unit: "ops"},
		query{`topk(10, sum by (namespace, cluster) (` + perCluster(`rate(cnpg_pg_stat_database_xact_commit{namespace=~"$namespace"}[$__rate_interval])`) + `))`, "{{namespace}}/{{cluster}}"})
	b.graph(panel{width: 8, title: "Replay lag", about: "How far the slowest standby of a cluster is behind its primary.", unit: "s", thresholds: rising(10, 60)},
		query{`topk(10, max by (namespace, cluster) (` + perCluster(`cnpg_pg_replication_lag{namespace=~"$namespace"}`) + `))`, "{{namespace}}/{{cluster}}"})
	b.graph(panel{width: 8, title: "Connections used", about: "Sessions as a share of max_connections of the fullest instance of a cluster.", unit: "percentunit", fromZeroTo: true, thresholds: rising(0.8, 0.9)},
		query{`topk(10, max by (namespace, cluster) (` + perCluster(`sum by (namespace, pod) (cnpg_backends_total{namespace=~"$namespace"}) / max by (namespace, pod) (cnpg_pg_settings_setting{name="max_connections",namespace=~"$namespace"})`) + `))`, "{{namespace}}/{{cluster}}"})
}

func (b *board) overviewManager() {
	b.stat(panel{width: 4, title: "Managers up", about: "Replicas of the manager that Prometheus reaches.", unit: "short", thresholds: least(1)},
		query{expr: `sum(up{job="pgstorage-metrics"})`})
	b.stat(panel{width: 4, title: "Working managers", about: "Managers that hold the lease. More than 1 is wrong; without leader election there is none.", unit: "short"},
		query{expr: `sum(leader_election_master_status{job="pgstorage-metrics"}) or vector(0)`})
	b.stat(panel{width: 4, title: "Objects without series", about: "Objects that have no series, because there are more than the collectors' limits.", unit: "short", thresholds: from(1)},
		query{expr: `sum(max by (kind) (pgstorage_state_objects_left_out)) + max(pgstorage_benchmark_objects_left_out)`})
	b.stat(panel{width: 4, title: "Outdated status", about: "Clusters whose status does not describe their present spec. A value that stays means that the manager does not reconcile them.", unit: "short", thresholds: rising(1, 5)},
		query{expr: `sum(max by (namespace, name) (pgstorage_cluster_status_outdated{namespace=~"$namespace"}))`})
	b.stat(panel{width: 4, title: "Memory", about: "Resident memory of the largest manager.", unit: "bytes"},
		query{expr: `max(process_resident_memory_bytes{job="pgstorage-metrics"})`})
	b.stat(panel{width: 4, title: "Suspended clusters", about: "Clusters that the operator does not change, because spec.suspend is true.", unit: "short", thresholds: rising(1, 1000)},
		query{expr: `sum(max by (namespace, name) (pgstorage_cluster_suspended{namespace=~"$namespace"}))`})
	b.graph(panel{width: 8, title: "Errors of passes", about: "Passes per second that failed, by controller.", unit: "ops"},
		query{`sum by (controller) (rate(controller_runtime_reconcile_errors_total{job="pgstorage-metrics"}[$__rate_interval]))`, "{{controller}}"})
	b.graph(panel{width: 8, title: "Queue", about: "Objects that wait for a pass, by controller.", unit: "short"},
		query{`sum by (controller) (workqueue_depth{job="pgstorage-metrics"})`, "{{controller}}"})
	b.graph(panel{width: 8, title: "Duration of passes", about: "99th percentile of the time of a pass, by controller.", unit: "s"},
		query{`histogram_quantile(0.99, sum by (controller, le) (rate(controller_runtime_reconcile_time_seconds_bucket{job="pgstorage-metrics"}[$__rate_interval])))`, "{{controller}}"})
}
