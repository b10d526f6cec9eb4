// Package clustermetrics reports to a Prometheus which databases do not have what their
// durability rests on. It reads the cache when it is scraped and keeps nothing: a series
// goes with its object.
package clustermetrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

const (
	// patience bounds a scrape that waits for the cache.
	patience = 5 * time.Second
	// mostSeries that are reported.
	mostSeries = 5000
)

var weakened = prometheus.NewDesc("pgstorage_cluster_durability_weakened",
	"1 while the running instances of a PgStorageCluster lack settings that its durability rests on (DurabilityWeakened), or roles and databases have weaker ones (DurabilityOverridden).",
	[]string{"namespace", "name", "durability", "reason"}, nil)

// Collector of the PgStorageClusters that Reader has. It is a prometheus.Collector.
type Collector struct{ Reader client.Reader }

// Describe what is reported.
func (c *Collector) Describe(out chan<- *prometheus.Desc) { out <- weakened }

// Collect what there is now, and nothing before the cache has it.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), patience) //nolint:forbidigo // a scrape has no context of its own
	defer cancel()
	clusters := &v1alpha1.PgStorageClusterList{}
	if c.Reader.List(ctx, clusters) != nil {
		return
	}
	left := mostSeries
	for i := range clusters.Items {
		cr := &clusters.Items[i]
		found := meta.FindStatusCondition(cr.Status.Conditions, v1alpha1.ConditionDurabilityVerified)
		if found == nil || found.Status != metav1.ConditionFalse || left == 0 {
			continue
		}
		left--
		out <- prometheus.MustNewConstMetric(weakened, prometheus.GaugeValue, 1, cr.Namespace, cr.Name, string(cr.Spec.Durability), found.Reason)
	}
}
