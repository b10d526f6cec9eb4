// Package monitoring builds the objects that let Prometheus see the instances.
package monitoring

import (
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	monitoringac "github.com/prometheus-operator/prometheus-operator/pkg/client/applyconfiguration/monitoring/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/naming"
	"github.com/pgstorage/pgstorage/internal/plan"
)

// PodMonitor scrapes the metrics port of every instance. CloudNativePG's own
// switch for it is deprecated, so it is made here
// (https://cloudnative-pg.io/documentation/current/monitoring/).
func PodMonitor(cr *v1alpha1.PgStorageCluster) *monitoringac.PodMonitorApplyConfiguration {
	return monitoringac.PodMonitor(cr.Name, cr.Namespace).
		WithLabels(naming.Labels(cr.Name)).
		WithOwnerReferences(plan.ControllerReference("PgStorageCluster", cr)).
		WithSpec(monitoringac.PodMonitorSpec().
			WithSelector(selector(cr.Name)).
			WithPodMetricsEndpoints(monitoringac.PodMetricsEndpoint().WithPort("metrics").WithScheme(monitoringv1.SchemeHTTP)))
}

func selector(cluster string) *metav1ac.LabelSelectorApplyConfiguration {
	return metav1ac.LabelSelector().WithMatchLabels(map[string]string{"cnpg.io/cluster": cluster, "cnpg.io/podRole": "instance"})
}
