package pgbench

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/component/pod"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Where the layers of the storage are measured in the runner's pod.
const (
	scratchDir     = "/pgstorage/scratch"
	scratchDataDir = "/pgstorage/scratch-data"
	fioResult      = workDir + "/fio.json"
	// tokenDir is where Kubernetes puts a pod's token, unless something else is there.
	tokenDir = "/var/run/secrets/kubernetes.io/serviceaccount" //nolint:gosec // a path, and no credential
)

// layers are the runner's instructions for measuring before it fills the tables.
func layers(b *v1alpha1.PgBenchmark, scratch *observed.Scratch) *spec.Layers {
	l := b.Spec.Layers
	if l == nil {
		return nil
	}
	out := &spec.Layers{Duration: l.Duration, Repeats: l.Repeats, NoScratch: unscratched(scratch), Scratch: scratches(scratch)}
	if len(out.Scratch) > 0 && l.FioImage != "" {
		out.FioResult = fioResult
	}
	return out
}

// unscratched says why there is no scratch volume; empty where there is.
func unscratched(scratch *observed.Scratch) string {
	if scratch == nil {
		return "the claims of the primary were not found"
	}
	return scratch.Impossible
}

// scratches are the scratch volumes, that of the WAL's StorageClass first.
func scratches(scratch *observed.Scratch) []spec.Scratch {
	if unscratched(scratch) != "" {
		return nil
	}
	out := []spec.Scratch{{Layer: v1alpha1.LayerVolume, StorageClass: scratch.WAL, Dir: scratchDir}}
	if scratch.Data != "" {
		out = append(out, spec.Scratch{Layer: v1alpha1.LayerDataVolume, StorageClass: scratch.Data, Dir: scratchDataDir})
	}
	return out
}

// scratchVolume is the name of a scratch volume in the pod.
var scratchVolume = map[string]string{v1alpha1.LayerVolume: "scratch", v1alpha1.LayerDataVolume: "scratch-data"}

// measureLayers gives the pod its scratch volumes and a place on the primary's node.
// With an image of fio it adds the container that measures the volumes before the
// runner begins.
func measureLayers(into *corev1ac.PodSpecApplyConfiguration, in JobInputs) {
	b, volumes := in.Benchmark, scratches(in.Scratch)
	if b.Spec.Layers == nil || len(volumes) == 0 {
		return
	}
	var mounts []*corev1ac.VolumeMountApplyConfiguration
	for _, v := range volumes {
		into.WithVolumes(ephemeral(b, scratchVolume[v.Layer], v.StorageClass))
		mounts = append(mounts, pod.Mount(scratchVolume[v.Layer], v.Dir, false))
	}
	into.Containers[0].WithVolumeMounts(mounts...)
	into.WithAffinity(besidePrimary(b.Spec.Cluster))
	for _, t := range in.Scratch.Tolerations {
		into.WithTolerations(toleration(t))
	}
	if b.Spec.Layers.FioImage == "" {
		return
	}
	withoutToken(into)
	into.WithInitContainers(pod.Confined(corev1ac.Container().
		WithName("fio").
		WithImage(b.Spec.Layers.FioImage).
		WithCommand(binDir+"/bench", "fio", "--spec", specDir+"/"+specFile).
		WithWorkingDir(workDir).
		WithVolumeMounts(pod.Mount("bin", binDir, true), pod.Mount("spec", specDir, true), pod.Mount("work", workDir, false), pod.Mount("no-token", tokenDir, true)).
		WithVolumeMounts(mounts...).
		WithResources(resources(b.Spec.Pgbench.Resources))))
}

// ephemeral volume of a StorageClass: Kubernetes makes its claim for the pod, and
// deletes it with the pod.
func ephemeral(b *v1alpha1.PgBenchmark, name, class string) *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName(name).WithEphemeral(corev1ac.EphemeralVolumeSource().
		WithVolumeClaimTemplate(corev1ac.PersistentVolumeClaimTemplate().
			WithLabels(naming.BenchmarkLabels(b.Name)).
			WithSpec(corev1ac.PersistentVolumeClaimSpec().
				WithAccessModes(corev1.ReadWriteOnce).
				WithStorageClassName(class).
				WithResources(corev1ac.VolumeResourceRequirements().WithRequests(corev1.ResourceList{corev1.ResourceStorage: volumeSize(b.Spec.Layers)})))))
}

func volumeSize(l *v1alpha1.BenchmarkLayers) resource.Quantity {
	if l.VolumeSize == nil {
		return resource.MustParse("1Gi")
	}
	return *l.VolumeSize
}

// besidePrimary has the scheduler place the pod on the node of the primary's pod, so
// that its volumes are on the same devices. A node by name would bypass the scheduler,
// which chooses where volumes are provisioned.
func besidePrimary(cluster string) *corev1ac.AffinityApplyConfiguration {
	return corev1ac.Affinity().WithPodAffinity(corev1ac.PodAffinity().
		WithRequiredDuringSchedulingIgnoredDuringExecution(corev1ac.PodAffinityTerm().
			WithTopologyKey(corev1.LabelHostname).
			WithLabelSelector(metav1ac.LabelSelector().WithMatchLabels(map[string]string{
				naming.LabelCNPGCluster:      cluster,
				naming.LabelCNPGInstanceRole: "primary",
			}))))
}

func toleration(t corev1.Toleration) *corev1ac.TolerationApplyConfiguration {
	out := corev1ac.Toleration()
	if t.Key != "" {
		out.WithKey(t.Key)
	}
	if t.Operator != "" {
		out.WithOperator(t.Operator)
	}
	if t.Value != "" {
		out.WithValue(t.Value)
	}
	if t.Effect != "" {
		out.WithEffect(t.Effect)
	}
	if t.TolerationSeconds != nil {
		out.WithTolerationSeconds(*t.TolerationSeconds)
	}
	return out
}
