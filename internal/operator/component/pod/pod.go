// Package pod has the parts that pods beside a database have in common.
package pod

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// PostgresUID is the user of CloudNativePG's images
// (https://cloudnative-pg.io/documentation/current/container_images/).
const PostgresUID = 26

// SecurityContext has the user of CloudNativePG's images, unless the platform chooses one.
func SecurityContext(platformUsers bool) *corev1ac.PodSecurityContextApplyConfiguration {
	c := corev1ac.PodSecurityContext().
		WithRunAsNonRoot(true).
		WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))
	if platformUsers {
		return c
	}
	return c.WithRunAsUser(PostgresUID).WithRunAsGroup(PostgresUID).WithFSGroup(PostgresUID)
}

// Confined is a container without privileges that writes into its volumes only.
func Confined(c *corev1ac.ContainerApplyConfiguration) *corev1ac.ContainerApplyConfiguration {
	return c.WithSecurityContext(corev1ac.SecurityContext().
		WithAllowPrivilegeEscalation(false).
		WithReadOnlyRootFilesystem(true).
		WithCapabilities(corev1ac.Capabilities().WithDrop("ALL")))
}

// Authority is a volume with the certificate of a cluster's authority. It has only the
// certificate: the Secret holds the authority's key too.
func Authority(name, cluster string) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(name).WithSecret(corev1ac.SecretVolumeSource().
		WithSecretName(naming.CASecret(cluster)).
		WithItems(corev1ac.KeyToPath().WithKey("ca.crt").WithPath("ca.crt")))
}

// Variable is one with a value.
func Variable(name, value string) *corev1ac.EnvVarApplyConfiguration {
	return corev1ac.EnvVar().WithName(name).WithValue(value)
}

// Password is a variable with the password of a Secret.
func Password(name, secret string) *corev1ac.EnvVarApplyConfiguration {
	return corev1ac.EnvVar().WithName(name).WithValueFrom(corev1ac.EnvVarSource().
		WithSecretKeyRef(corev1ac.SecretKeySelector().WithName(secret).WithKey(corev1.BasicAuthPasswordKey)))
}

// Mount of a volume.
func Mount(name, path string, readOnly bool) *corev1ac.VolumeMountApplyConfiguration {
	m := corev1ac.VolumeMount().WithName(name).WithMountPath(path)
	if readOnly {
		m.WithReadOnly(true)
	}
	return m
}
