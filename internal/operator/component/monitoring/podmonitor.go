// Package monitoring builds the objects that let Prometheus see the instances.
package monitoring

import (
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	monitoringac "github.com/prometheus-operator/prometheus-operator/pkg/client/applyconfiguration/monitoring/v1"
	corev1 "k8s.io/api/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
)

// PodMonitor scrapes the metrics port of every instance. CloudNativePG's own
// switch for it is deprecated, so it is made here
// (https://cloudnative-pg.io/documentation/current/monitoring/). A Prometheus selects it
// by labels, which cannot replace the operator's own.
func PodMonitor(cr *v1alpha1.PgStorageCluster, tls bool, labels map[string]string) *monitoringac.PodMonitorApplyConfiguration {
	return monitoringac.PodMonitor(cr.Name, cr.Namespace).
		WithLabels(labels).
		WithLabels(naming.Labels(cr.Name)).
		WithOwnerReferences(plan.ControllerReference("PgStorageCluster", cr)).
		WithSpec(monitoringac.PodMonitorSpec().
			WithSelector(selector(cr.Name)).
			WithPodMetricsEndpoints(endpoint(cr.Name, tls)))
}

// endpoint is the instances' metrics port. With TLS its certificate is of the
// Cluster's own authority and names the Services.
func endpoint(cluster string, tls bool) *monitoringac.PodMetricsEndpointApplyConfiguration {
	e := monitoringac.PodMetricsEndpoint().WithPort("metrics").WithScheme(monitoringv1.SchemeHTTP)
	if !tls {
		return e
	}
	ca := corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: naming.CASecret(cluster)}, Key: "ca.crt"}
	return e.WithScheme(monitoringv1.SchemeHTTPS).WithTLSConfig(monitoringac.SafeTLSConfig().
		WithCA(monitoringac.SecretOrConfigMap().WithSecret(ca)).
		WithServerName(naming.ReadWriteService(cluster)))
}

func selector(cluster string) *metav1ac.LabelSelectorApplyConfiguration {
	return metav1ac.LabelSelector().WithMatchLabels(map[string]string{naming.LabelCNPGCluster: cluster, naming.LabelCNPGPodRole: "instance"})
}
