// Package sitewatch builds what asks the other sites of a database what they do.
package sitewatch

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/site/report"
)

const (
	container    = "site"
	certificates = "/etc/pgstorage/sites"
	// anyUID is of no user in particular: the program is static and reads only Secrets.
	anyUID = 65532
)

// Inputs of the builder.
type Inputs struct {
	CR *v1alpha1.PgStorageCluster
	// Image has the program at /site.
	Image string
	// PlatformUsers leaves the user and groups of the pod to the platform.
	PlatformUsers bool
}

// StatefulSet of one pod, whose name is known. The pod has no rights in Kubernetes. It
// mounts the Secrets of the other sites, which the operator does not read.
func StatefulSet(in Inputs) *appsv1ac.StatefulSetApplyConfiguration {
	name := naming.SiteWatcher(in.CR.Name)
	labels := naming.Labels(in.CR.Name)
	selector := map[string]string{naming.LabelSiteWatcher: in.CR.Name}
	pod := naming.Labels(in.CR.Name)
	pod[naming.LabelSiteWatcher] = in.CR.Name
	return appsv1ac.StatefulSet(name, in.CR.Namespace).
		WithLabels(labels).
		WithOwnerReferences(plan.ControllerReference("PgStorageCluster", in.CR)).
		WithSpec(appsv1ac.StatefulSetSpec().
			WithReplicas(1).
			WithServiceName(name).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(selector)).
			WithTemplate(corev1ac.PodTemplateSpec().WithLabels(pod).WithSpec(podSpec(in))))
}

func podSpec(in Inputs) *corev1ac.PodSpecApplyConfiguration {
	security := corev1ac.PodSecurityContext().
		WithRunAsNonRoot(true).
		WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))
	if !in.PlatformUsers {
		security.WithRunAsUser(anyUID).WithRunAsGroup(anyUID).WithFSGroup(anyUID)
	}
	c := corev1ac.Container().
		WithName(container).
		WithImage(in.Image).
		WithCommand("/site", "--certificates", certificates, "--listen", fmt.Sprintf(":%d", report.Port)).
		WithPorts(corev1ac.ContainerPort().WithName("sites").WithContainerPort(report.Port)).
		WithReadinessProbe(corev1ac.Probe().WithHTTPGet(corev1ac.HTTPGetAction().WithPath(report.HealthPath).WithPort(intstr.FromInt32(report.Port)))).
		WithSecurityContext(corev1ac.SecurityContext().
			WithAllowPrivilegeEscalation(false).
			WithReadOnlyRootFilesystem(true).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL"))).
		WithResources(corev1ac.ResourceRequirements().
			WithRequests(amounts("10m", "32Mi")).
			WithLimits(corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}))
	pod := corev1ac.PodSpec().
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false).
		WithTerminationGracePeriodSeconds(5).
		WithSecurityContext(security)
	for i := range in.CR.Spec.Topology.Members {
		m := &in.CR.Spec.Topology.Members[i]
		if m.Name == in.CR.Spec.Topology.Self {
			continue
		}
		port := int32(5432)
		if m.Port != nil {
			port = *m.Port
		}
		c.WithArgs("--member", fmt.Sprintf("name=%s,host=%s,port=%d", m.Name, m.Host, port)).
			WithVolumeMounts(corev1ac.VolumeMount().WithName("site-" + m.Name).WithMountPath(certificates + "/" + m.Name).WithReadOnly(true))
		pod.WithVolumes(corev1ac.Volume().WithName("site-" + m.Name).WithProjected(secrets(m)))
	}
	return pod.WithContainers(c)
}

// secrets of a member. A Secret that does not exist yet is reported by the watcher, and does
// not keep it from asking the others.
func secrets(m *v1alpha1.SiteMember) *corev1ac.ProjectedVolumeSourceApplyConfiguration {
	key := func(name string) *corev1ac.KeyToPathApplyConfiguration {
		return corev1ac.KeyToPath().WithKey(name).WithPath(name)
	}
	return corev1ac.ProjectedVolumeSource().
		WithDefaultMode(0o440).
		WithSources(
			corev1ac.VolumeProjection().WithSecret(corev1ac.SecretProjection().WithName(m.TLS.ClientCertificate).WithOptional(true).
				WithItems(key(corev1.TLSCertKey), key(corev1.TLSPrivateKeyKey))),
			corev1ac.VolumeProjection().WithSecret(corev1ac.SecretProjection().WithName(m.TLS.CertificateAuthority).WithOptional(true).
				WithItems(key("ca.crt"))))
}

func amounts(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}
