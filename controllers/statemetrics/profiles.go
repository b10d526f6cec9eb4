package statemetrics

import (
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

var (
	profileInfo      = profileMetric("info", "Always 1: the type of storage of a PgStorageProfile.", "type")
	profileCondition = profileMetric("condition", "Always 1: the current status and reason of a condition of a PgStorageProfile.", "condition", "status", "reason")
	profileClusters  = profileMetric("clusters", "PgStorageClusters that use the profile.")
	profileNodes     = profileMetric("nodes", "Nodes that the profile selects, by whether volumes can be provisioned there (True, False or Unknown).", "ready")
	profileFlush     = profileMetric("flush_latency_seconds", "Median over the nodes of the recent duration of a flush to the buckets; only for S3NBD.")

	profileMetrics = []*prometheus.Desc{profileInfo, profileCondition, profileClusters, profileNodes, profileFlush}
)

func profileMetric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("pgstorage_profile_"+name, help, append([]string{"profile"}, labels...), nil)
}

func (s sink) profile(p *v1alpha1.PgStorageProfile) {
	s.gauge(profileInfo, 1, p.Name, string(p.Spec.Type))
	s.conditions(profileCondition, p.Status.Conditions, p.Name)
	if n := p.Status.Clusters; n != nil {
		s.gauge(profileClusters, float64(*n), p.Name)
	}
	if d := p.Status.FlushLatency; d != nil {
		s.gauge(profileFlush, d.Seconds(), p.Name)
	}
	if len(p.Spec.NodeSelector) == 0 {
		return
	}
	ready := map[metav1.ConditionStatus]int{metav1.ConditionTrue: 0, metav1.ConditionFalse: 0, metav1.ConditionUnknown: 0}
	for _, n := range p.Status.Nodes {
		if _, known := ready[n.Ready]; known {
			ready[n.Ready]++
		}
	}
	for status, n := range ready {
		s.gauge(profileNodes, float64(n), p.Name, string(status))
	}
}
