package cephrbd

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Objects of Rook in the namespace of its CephCluster. They hold the client of the CSI driver,
// which creates images, and the addresses of the mons (Rook, pkg/operator/ceph/csi and config).
const (
	secretProvisioner = "rook-csi-rbd-provisioner"
	secretConfig      = "rook-ceph-config"
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

// probeScript does in each pool what a volume does. Its values come from the environment,
// and none of them is part of the script. Each step has a minute: requests to a pool without
// active placement groups never return. A write is answered once every copy has it, because
// the client does not cache; rbd bench flushes at its end.
const probeScript = `set -eu
user=$(cat ` + clientDir + `/userID)
step() {
	what=$1 code=0
	shift
	out=$(timeout 60 rbd -c /dev/null --mon-host "$MON_HOST" --id "$user" --keyfile ` + clientDir + `/userKey --rbd-cache=false "$@" 2>&1) || code=$?
	[ "$code" -ne 0 ] || return 0
	[ "$code" -ne 124 ] || out="no answer within 60 s"
	printf 'pool %s: rbd %s failed: %s\n' "$pool" "$what" "$(printf '%s' "$out" | tail -n 1)" | tee /dev/termination-log
	exit 1
}
for pool in $POOLS; do
	image=$pool/` + naming.ProbeImage + `
	(step remove rm --no-progress "$image") >/dev/null 2>&1 || true
	: >/dev/termination-log
	step create create --size 16M --image-format 2 --image-feature "$FEATURES" ${DATA_POOL:+--data-pool "$DATA_POOL"} "$image"
	step write bench --io-type write --io-size 4K --io-threads 1 --io-total 1M --io-pattern seq "$image"
	step read bench --io-type read --io-size 4K --io-threads 1 --io-total 1M --io-pattern seq "$image"
	step remove rm --no-progress "$image"
	echo "pool $pool: an image was created, written, flushed, read and removed"
done
`

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
