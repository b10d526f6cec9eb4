// Package statemetrics exposes the state of PgStorageClusters, PgStorageProfiles,
// PgStorageBranches and PgNodeStorages to Prometheus. It reads the cache on each scrape and keeps nothing: a
// series ends with its object.
package statemetrics

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

const (
	// patience bounds a scrape that waits for the cache.
	patience = 5 * time.Second
	// mostObjects of one kind have series: they cost memory in every Prometheus.
	mostObjects = 2000
	// longestReason is longer than every reason that the operator and the agents write.
	longestReason = 64
)

var leftOut = prometheus.NewDesc("pgstorage_state_objects_left_out", "Objects of a kind without series, because there are more than 2,000.", []string{"kind"}, nil)

// Collector exposes the objects that Reader has. It is a prometheus.Collector.
type Collector struct{ Reader client.Reader }

// Describe sends the description of every metric.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range slices.Concat(clusterMetrics, profileMetrics, storageMetrics, memoryMetrics, branchMetrics) {
		out <- d
	}
	out <- leftOut
}

// Collect sends what the cache has now. It sends nothing before the cache has synced.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), patience) //nolint:forbidigo // a scrape has no context of its own
	defer cancel()
	clusters, profiles := &v1alpha1.PgStorageClusterList{}, &v1alpha1.PgStorageProfileList{}
	storages, nodes, branches := &v1alpha1.PgNodeStorageList{}, &corev1.NodeList{}, &v1alpha1.PgStorageBranchList{}
	for _, list := range []client.ObjectList{clusters, profiles, storages, nodes, branches} {
		// Nothing here changes an object of the cache.
		if c.Reader.List(ctx, list, client.UnsafeDisableDeepCopy) != nil {
			return
		}
	}
	s := sink{out}
	for _, cr := range bounded(s, "PgStorageCluster", clusters.Items) {
		s.cluster(cr)
	}
	for _, p := range bounded(s, "PgStorageProfile", profiles.Items) {
		s.profile(p)
	}
	for _, b := range bounded(s, "PgStorageBranch", branches.Items) {
		s.branch(b)
	}
	s.orphans(ctx, c.Reader, branches.Items)
	kept := bounded(s, "PgNodeStorage", storages.Items)
	for _, n := range kept {
		s.storage(n)
	}
	s.memory(kept, nodes.Items, clusters.Items)
}

// object is a pointer to an item of a list.
type object[T any] interface {
	*T
	client.Object
}

// bounded returns the objects that have series, the same ones on each scrape. It reports how
// many it leaves out.
func bounded[T any, P object[T]](s sink, kind string, items []T) []P {
	all := make([]P, len(items))
	for i := range items {
		all[i] = &items[i]
	}
	kept := InTurns(all, mostObjects, AsNamed)
	s.gauge(leftOut, float64(len(items)-len(kept)), kind)
	return kept
}

// sink receives the metrics of one scrape.
type sink struct{ out chan<- prometheus.Metric }

// gauge skips a metric whose labels are not valid UTF-8: one such metric would fail the
// whole scrape.
func (s sink) gauge(d *prometheus.Desc, value float64, labels ...string) {
	if m, err := prometheus.NewConstMetric(d, prometheus.GaugeValue, value, labels...); err == nil {
		s.out <- m
	}
}

// conditions sends one series for each condition, with its current status.
func (s sink) conditions(d *prometheus.Desc, conditions []metav1.Condition, labels ...string) {
	for _, c := range conditions {
		reason := c.Reason
		if len(reason) > longestReason {
			reason = ""
		}
		s.gauge(d, 1, append(slices.Clip(labels), c.Type, string(c.Status), reason)...)
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
