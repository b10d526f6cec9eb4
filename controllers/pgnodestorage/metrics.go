package pgnodestorage

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/agent"
	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

// Metrics of one node's pools and volumes in memory. Gauges are as the last pass has read them.
type Metrics struct {
	pool       *prometheus.GaugeVec
	healthy    *prometheus.GaugeVec
	conditions *prometheus.GaugeVec
	arc        *prometheus.GaugeVec
	drift      *prometheus.CounterVec
	network    networkMetrics
	memory     memoryMetrics
}

// NewMetrics registers the gauges, and the counts of host commands.
func NewMetrics(registry prometheus.Registerer, commands *host.Counter) *Metrics {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "pgstorage", Name: name, Help: help}, labels)
	}
	m := &Metrics{
		pool:       gauge("pool", "Figures of a pool as ZFS has them: size, allocated and free in bytes, capacity and fragmentation in percent.", "storage", "pool", "figure"),
		healthy:    gauge("pool_online", "1 when the pool is ONLINE, else 0.", "storage", "pool", "health"),
		conditions: gauge("node_storage_condition", "1 when a condition of a PgNodeStorage holds, else 0.", "storage", "condition", "reason"),
		arc:        gauge("arc", "The node's ZFS cache: size, target, min and max in bytes; hits, misses, l2_hits and l2_misses since the module was loaded.", "figure"),
		drift:      prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "pgstorage", Name: "drift_repaired_total", Help: "Properties that were changed by hand and set again."}, []string{"storage"}),
	}
	m.network, m.memory = newNetworkMetrics(gauge), newMemoryMetrics(gauge)
	registry.MustRegister(m.pool, m.healthy, m.conditions, m.arc, m.drift, &commandCollector{commands: commands})
	registry.MustRegister(m.network.device, m.network.inFlight, m.network.flush, m.network.server, m.memory.size, m.memory.used)
	return m
}

// Observe what a pass has read.
func (m *Metrics) Observe(s *v1alpha1.PgNodeStorage, r agent.PassResult) {
	m.Forget(s.Name)
	for _, o := range r.Outcomes {
		m.conditions.WithLabelValues(s.Name, o.Condition, o.Reason).Set(truth(o.Kind == outcome.Done && !o.Unknown))
	}
	if len(r.Drift) > 0 {
		m.drift.WithLabelValues(s.Name).Add(float64(len(r.Drift)))
	}
	m.network.observe(s.Name, r.Seen.Network)
	m.memory.observe(s.Name, r.Seen.Memory)
	if r.Seen.Loaded {
		m.observeARC(r.Seen.ARC)
	}
	for _, figure := range []string{"size", "allocated", "free", "capacity", "fragmentation"} {
		if n, ok := r.Seen.Pool[figure].Number(); ok {
			m.pool.WithLabelValues(s.Name, s.Spec.Pool.Name, figure).Set(float64(n))
		}
	}
	if health := r.Seen.Pool["health"].Value; health != "" {
		m.healthy.WithLabelValues(s.Name, s.Spec.Pool.Name, health).Set(truth(health == string(zfs.Online)))
	}
}

func (m *Metrics) observeARC(a zfs.ARC) {
	for figure, n := range map[string]uint64{
		"size": a.Size, "target": a.Target, "min": a.Min, "max": a.Max,
		"hits": a.Hits, "misses": a.Misses, "l2_hits": a.L2Hits, "l2_misses": a.L2Misses,
	} {
		m.arc.WithLabelValues(figure).Set(float64(n))
	}
}

// Forget the gauges of a PgNodeStorage.
func (m *Metrics) Forget(name string) {
	for _, vec := range []*prometheus.GaugeVec{
		m.pool, m.healthy, m.conditions, m.network.device, m.network.inFlight, m.network.flush, m.network.server, m.memory.size, m.memory.used,
	} {
		vec.DeletePartialMatch(prometheus.Labels{"storage": name})
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// commandCollector exposes the commands that the agent ran on the node.
type commandCollector struct{ commands *host.Counter }

var (
	commandRuns     = prometheus.NewDesc("pgstorage_host_commands_total", "Commands run on the node.", []string{"command", "change"}, nil)
	commandFailures = prometheus.NewDesc("pgstorage_host_command_failures_total", "Commands run on the node that failed.", []string{"command", "change"}, nil)
	commandSeconds  = prometheus.NewDesc("pgstorage_host_command_seconds_total", "Time that commands on the node took.", []string{"command", "change"}, nil)
)

// Describe the counters.
func (c *commandCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{commandRuns, commandFailures, commandSeconds} {
		out <- d
	}
}

// Collect the counters.
func (c *commandCollector) Collect(out chan<- prometheus.Metric) {
	for command, n := range c.commands.Counts() {
		change := "no"
		if command.Change {
			change = "yes"
		}
		for desc, value := range map[*prometheus.Desc]float64{commandRuns: float64(n.Runs), commandFailures: float64(n.Failures), commandSeconds: n.Time.Seconds()} {
			out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, value, command.Name, change)
		}
	}
}
