package main

// here selects series of the selected nodes.
const here = `node=~"$node"`

// nodes answers: which node is in trouble, what fills it, and what is slow?
func nodes() *board {
	b := newBoard("pgstorage-nodes", "Nodes", "Storage nodes: pools, devices, memory, latency, agents, network devices and ZeroFS servers.",
		variable("node", "Node", "label_values(pgstorage_nodestorage_condition, node)", true))
	b.row("Is anything wrong?")
	b.nodesVerdict()
	b.row("Space")
	b.nodesSpace()
	b.row("Memory")
	b.nodesMemory()
	b.row("Latency of pools")
	for _, class := range []struct{ name, about string }{
		{"disk_wait_read", "Wait for a device, reads."},
		{"disk_wait_write", "Wait for a device, writes."},
		{"syncq_wait_write", "Wait of synchronous writes in the queue, which commits wait for."},
	} {
		b.graph(panel{width: 8, title: class.name, about: class.about + " Median and 99th percentile by ZFS' own histogram.", unit: "s"},
			query{`histogram_quantile(0.5, sum by (node, pool, le) (rate(pgstorage_pool_latency_seconds_bucket{` + here + `,class="` + class.name + `"}[$__rate_interval])))`, "{{node}} {{pool}} p50"},
			query{`histogram_quantile(0.99, sum by (node, pool, le) (rate(pgstorage_pool_latency_seconds_bucket{` + here + `,class="` + class.name + `"}[$__rate_interval])))`, "{{node}} {{pool}} p99"})
	}
	b.row("Agents")
	b.nodesAgents()
	b.row("Network devices and ZeroFS servers (profiles of type S3NBD)")
	b.nodesNetwork()
	return b
}

func (b *board) nodesVerdict() {
	b.stat(panel{width: 4, title: "Pools", about: "Pools that agents have reported.", unit: "short"},
		query{expr: `count(max by (storage) (pgstorage_nodestorage_info{` + here + `}))`})
	b.stat(panel{width: 4, title: "Pools not ONLINE", about: "Degraded, suspended or not imported.", unit: "short", thresholds: from(1)},
		query{expr: `count(max by (storage) (pgstorage_nodestorage_info{` + here + `,health!="ONLINE"})) or vector(0)`})
	b.stat(panel{width: 4, title: "Devices not ONLINE", about: "Devices that fail or are absent. Spares that wait do not count.", unit: "short", thresholds: from(1)},
		query{expr: `sum(max by (storage, state) (pgstorage_nodestorage_devices{` + here + `,state!~"ONLINE|AVAIL"})) or vector(0)`})
	b.stat(panel{width: 4, title: "Nodes unreachable", about: "Nodes whose kubelet does not report Ready: the rest of what is shown of them is old.", unit: "short", thresholds: from(1)},
		query{expr: `count(max by (storage) (pgstorage_nodestorage_condition{` + here + `,condition="NodeReachable",status!="True"})) or vector(0)`})
	b.stat(panel{width: 4, title: "Drifted properties", about: "Properties of volumes that differ from those of their parent dataset.", unit: "short", thresholds: from(1)},
		query{expr: `sum(max by (storage) (pgstorage_nodestorage_drifted_properties{` + here + `}))`})
	b.stat(panel{width: 4, title: "Agents up", about: "Agents that Prometheus reaches.", unit: "short", thresholds: least(1)},
		query{expr: `sum(up{job="pgstorage-agent-metrics"})`})
	b.table(panel{width: 16, title: "Conditions", about: "The current conditions of each PgNodeStorage. kubectl pgstorage status shows their messages."},
		map[string]string{"node": "Node", "profile": "Profile", "condition": "Condition", "status": "Status", "reason": "Reason"},
		query{expr: `max by (node, profile, condition, status, reason) (pgstorage_nodestorage_condition{` + here + `})`})
	b.table(panel{width: 8, title: "Profiles", about: "Nodes that each profile selects, by whether volumes can be provisioned there."},
		map[string]string{"profile": "Profile", "ready": "Ready"},
		query{`max by (profile, ready) (pgstorage_profile_nodes)`, "Nodes"})
}

func (b *board) nodesSpace() {
	b.graph(panel{width: 8, title: "Used space", about: "ZFS slows down above about 80% and fragments.", unit: "percent", thresholds: rising(80, 95)},
		query{`max by (node, pool) (pgstorage_pool{` + here + `,figure="capacity"})`, "{{node}} {{pool}}"})
	b.graph(panel{width: 8, title: "Free space", about: "At 0 every database on the pool stops.", unit: "bytes"},
		query{`min by (node, pool) (pgstorage_pool{` + here + `,figure="free"})`, "{{node}} {{pool}}"})
	b.graph(panel{width: 8, title: "Fragmentation", about: "Of the free space of the pool.", unit: "percent"},
		query{`max by (node, pool) (pgstorage_pool{` + here + `,figure="fragmentation"})`, "{{node}} {{pool}}"})
	b.table(panel{width: 12, title: "Time until full", about: "Pools that will be full at their present rate.", unit: "s"},
		map[string]string{"node": "Node", "profile": "Profile"},
		query{`max by (node, profile) (pgstorage_nodestorage_full_timestamp_seconds{` + here + `}) - time()`, "Full in"})
	b.table(panel{width: 12, title: "Volumes", about: "Volumes on each pool.", unit: "short"},
		map[string]string{"node": "Node", "profile": "Profile"},
		query{`max by (node, profile) (pgstorage_nodestorage_volumes{` + here + `})`, "Volumes"})
}

func (b *board) nodesMemory() {
	b.graph(panel{width: 8, title: "Promised memory", about: "Limit of the ZFS cache and memory requests of the instances. Together they must stay below the memory for pods.", unit: "bytes", stacked: true},
		query{`max by (node) (pgstorage_node_arc_max_bytes{` + here + `})`, "{{node}} ARC limit"},
		query{`max by (node) (pgstorage_node_instance_memory_requests_bytes{` + here + `})`, "{{node}} requests of instances"})
	b.graph(panel{width: 8, title: "Memory for pods", about: "Allocatable memory of the node, and shared_buffers of the instances there.", unit: "bytes"},
		query{`max by (node) (pgstorage_node_memory_allocatable_bytes{` + here + `})`, "{{node}} allocatable"},
		query{`max by (node) (pgstorage_node_instance_shared_buffers_bytes{` + here + `})`, "{{node}} shared_buffers"})
	b.graph(panel{width: 8, title: "Instances", about: "Instances whose data volume is on the node.", unit: "short"},
		query{`max by (node) (pgstorage_node_instances{` + here + `})`, "{{node}}"})
	b.graph(panel{width: 8, title: "ARC", about: "Size of the ZFS cache, and the size that it aims at.", unit: "bytes"},
		query{`max by (node) (pgstorage_arc{` + here + `,figure="size"})`, "{{node}} size"},
		query{`max by (node) (pgstorage_arc{` + here + `,figure="target"})`, "{{node}} target"})
	b.graph(panel{width: 8, title: "ARC hits", about: "Share of reads that the ZFS cache answered.", unit: "percentunit", fromZeroTo: true},
		query{`sum by (node) (rate(pgstorage_arc{` + here + `,figure="hits"}[$__rate_interval])) / sum by (node) (rate(pgstorage_arc{` + here + `,figure=~"hits|misses"}[$__rate_interval]))`, "{{node}}"})
	b.graph(panel{width: 8, title: "L2ARC hits", about: "Reads per second that the second level cache answered, and that it did not.", unit: "ops"},
		query{`sum by (node, figure) (rate(pgstorage_arc{` + here + `,figure=~"l2_hits|l2_misses"}[$__rate_interval]))`, "{{node}} {{figure}}"})
}

func (b *board) nodesAgents() {
	b.graph(panel{width: 8, title: "Commands", about: "Commands per second that an agent runs on its node.", unit: "ops"},
		query{`sum by (node, command) (rate(pgstorage_host_commands_total{` + here + `}[$__rate_interval]))`, "{{node}} {{command}}"})
	b.graph(panel{width: 8, title: "Failed commands", about: "Commands per second that failed.", unit: "ops"},
		query{`sum by (node, command) (rate(pgstorage_host_command_failures_total{` + here + `}[$__rate_interval]))`, "{{node}} {{command}}"})
	b.graph(panel{width: 8, title: "Duration of commands", about: "Mean time of a command.", unit: "s"},
		query{`sum by (node, command) (rate(pgstorage_host_command_seconds_total{` + here + `}[$__rate_interval])) / sum by (node, command) (rate(pgstorage_host_commands_total{` + here + `}[$__rate_interval]))`, "{{node}} {{command}}"})
	b.graph(panel{width: 12, title: "Repaired drift", about: "Properties per hour that were changed by hand and set again.", unit: "short"},
		query{`sum by (node, storage) (increase(pgstorage_drift_repaired_total{` + here + `}[1h]))`, "{{node}} {{storage}}"})
	b.graph(panel{width: 12, title: "Errors of passes", about: "Passes of agents per second that failed: the metrics of that node are old.", unit: "ops"},
		query{`sum by (node) (rate(controller_runtime_reconcile_errors_total{job="pgstorage-agent-metrics",` + here + `}[$__rate_interval]))`, "{{node}}"})
}

func (b *board) nodesNetwork() {
	b.graph(panel{width: 6, title: "Attached devices", about: "1 when a network device is attached to a server that runs.", unit: "short"},
		query{`min by (node, server, export) (pgstorage_network_device_attached{` + here + `})`, "{{node}} {{server}} {{export}}"})
	b.graph(panel{width: 6, title: "Requests in flight", about: "Requests of network devices that their server has not answered.", unit: "short"},
		query{`max by (node, server, export) (pgstorage_network_device_in_flight{` + here + `})`, "{{node}} {{server}} {{export}}"})
	b.graph(panel{width: 6, title: "Flush latency", about: "Mean time of a flush of the network devices, which a commit waits for.", unit: "s"},
		query{`max by (node, storage) (pgstorage_network_flush_latency_seconds{` + here + `})`, "{{node}} {{storage}}"},
		query{`max by (profile) (pgstorage_profile_flush_latency_seconds)`, "{{profile}} median"})
	b.graph(panel{width: 6, title: "Phase of servers", about: "1 for the phase that a ZeroFS server is in.", unit: "short"},
		query{`max by (node, store, phase) (pgstorage_s3nbd_phase{` + here + `}) == 1`, "{{node}} {{store}} {{phase}}"})
	b.graph(panel{width: 6, title: "Requests to the store", about: "Per second, by method: what the bucket is billed for.", unit: "reqps"},
		query{`sum by (store, method) (rate(pgstorage_s3nbd_s3_requests_total{` + here + `}[$__rate_interval]))`, "{{store}} {{method}}"})
	b.graph(panel{width: 6, title: "Errors of the store", about: "Requests per second that the store answered with 429 or 5xx, or not at all.", unit: "reqps"},
		query{`sum by (store) (rate(pgstorage_s3nbd_s3_errors_total{` + here + `}[$__rate_interval]))`, "{{store}}"})
	b.graph(panel{width: 6, title: "Unflushed writes", about: "Writes that the server keeps until ZeroFS has flushed them.", unit: "bytes"},
		query{`max by (node, store) (pgstorage_s3nbd_unflushed_bytes{` + here + `})`, "{{node}} {{store}}"})
	b.graph(panel{width: 6, title: "Oldest request", about: "How long the oldest request of a device has waited.", unit: "s", thresholds: rising(5, 30)},
		query{`max by (node, store, export) (pgstorage_s3nbd_oldest_request_seconds{` + here + `})`, "{{node}} {{store}} {{export}}"})
}
