package cephrbd

import (
	_ "embed" // probe.sh
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Objects of Rook in the namespace of its CephCluster (Rook, pkg/operator/ceph/csi and
// config). The first has the client by which the CSI driver creates images, the second the
// addresses of the mons.
const (
	secretProvisioner = "rook-csi-rbd-provisioner" //nolint:gosec // a name
	secretConfig      = "rook-ceph-config"         //nolint:gosec // a name
	keyMonHost        = "mon_host"
)

const (
	// probeTTL is how long the Job stays once it ended. A failed probe runs again after.
	probeTTL = 600
	// probeDeadline bounds the Job, with the pull of its image.
	probeDeadline = 900
	// cephUser is the user of Ceph's images.
	cephUser = 167
	// clientDir is where the pod has the client's name and key.
	clientDir = "/etc/pgstorage/client"
)

// probeScript does in each pool what a volume does.
//
//go:embed probe.sh
var probeScript string

// probeKey identifies the CephCluster and the pools that a probe is of; empty while one of
// them is not there.
func probeKey(p *v1alpha1.PgStorageProfile, ceph *Facts) string {
	if ceph.Cluster == nil {
		return ""
	}
	of := []string{ceph.Cluster.UID}
	for _, pool := range pools(p) {
		seen, found := ceph.Pools[pool.Name()]
		if !found {
			return ""
		}
		of = append(of, pool.Name(), seen.UID)
	}
	return naming.Hash(of)[:32]
}

// probeJob runs in Rook's namespace, because Secrets can be mounted nowhere else: the
// operator itself reads none. It has no ServiceAccount's token, and the rights in Ceph of
// the driver that creates volumes.
func probeJob(p *v1alpha1.PgStorageProfile, facts observed.Profile) *batchv1ac.JobApplyConfiguration {
	spec := batchv1ac.JobSpec().
		WithBackoffLimit(1).
		WithActiveDeadlineSeconds(probeDeadline).
		WithTTLSecondsAfterFinished(probeTTL).
		WithTemplate(corev1ac.PodTemplateSpec().
			WithLabels(probeLabels(p)).
			WithSpec(probePod(p, facts)))
	return batchv1ac.Job(naming.PoolProbe(p.Name, spec), p.Spec.CephRBD.Rook.Namespace).WithLabels(labels(p)).WithSpec(spec)
}

func probeLabels(p *v1alpha1.PgStorageProfile) map[string]string {
	return map[string]string{naming.LabelApp: naming.ProbeApp, naming.LabelProfile: p.Name}
}

func probePod(p *v1alpha1.PgStorageProfile, facts observed.Profile) *corev1ac.PodSpecApplyConfiguration {
	user := corev1ac.PodSecurityContext().
		WithRunAsNonRoot(true).
		WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))
	if !facts.Operator.PlatformUsers {
		user.WithRunAsUser(cephUser).WithRunAsGroup(cephUser)
	}
	return corev1ac.PodSpec().
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false).
		WithRestartPolicy(corev1.RestartPolicyNever).
		WithTerminationGracePeriodSeconds(5).
		WithSecurityContext(user).
		WithContainers(probeContainer(p, facts)).
		WithVolumes(corev1ac.Volume().WithName("client").WithSecret(corev1ac.SecretVolumeSource().WithSecretName(secretProvisioner)))
}

func probeContainer(p *v1alpha1.PgStorageProfile, facts observed.Profile) *corev1ac.ContainerApplyConfiguration {
	var names []string
	for _, pool := range imagePools(p) {
		names = append(names, pool.Name())
	}
	literal := func(name, value string) *corev1ac.EnvVarApplyConfiguration {
		return corev1ac.EnvVar().WithName(name).WithValue(value)
	}
	data := ""
	if p.Spec.CephRBD.DataPool != nil {
		data = naming.ImageDataPool(p.Name)
	}
	amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("128Mi")}
	bounds := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("512Mi")}
	return corev1ac.Container().
		WithName("probe").
		WithImage(clusterOf(p).Image).
		WithCommand("/bin/sh", "-c", probeScript).
		WithEnv(
			literal("CLIENT", clientDir),
			literal("IMAGE", naming.ProbeImage),
			literal("POOLS", strings.Join(names, " ")),
			literal("DATA_POOL", data),
			literal("FEATURES", strings.Join(imageFeatures(p, facts), ",")),
			// A probe of other pools of the same names is another Job.
			literal("PROBE_KEY", probeKey(p, own(facts))),
			corev1ac.EnvVar().WithName("MON_HOST").WithValueFrom(corev1ac.EnvVarSource().
				WithSecretKeyRef(corev1ac.SecretKeySelector().WithName(secretConfig).WithKey(keyMonHost))),
		).
		WithVolumeMounts(corev1ac.VolumeMount().WithName("client").WithMountPath(clientDir).WithReadOnly(true)).
		WithResources(corev1ac.ResourceRequirements().WithRequests(amounts).WithLimits(bounds)).
		WithTerminationMessagePolicy(corev1.TerminationMessageFallbackToLogsOnError).
		WithSecurityContext(corev1ac.SecurityContext().
			WithAllowPrivilegeEscalation(false).
			WithReadOnlyRootFilesystem(true).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL")))
}
