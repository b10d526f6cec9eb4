package pgbench

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/component/pod"
)

const (
	observerSocket = observeDir + "/socket"
	// adminDatabase is one that a superuser owns, in every cluster of CloudNativePG.
	adminDatabase = "postgres"
)

// observed says whether a superuser looks at the server of a benchmark.
func watched(b *v1alpha1.PgBenchmark) bool {
	return b.Spec.Pgbench.Integrity != v1alpha1.IntegrityBasic
}

// runCommand of the container in which scripts run.
func runCommand(b *v1alpha1.PgBenchmark) []string {
	command := []string{
		binDir + "/bench", "run", "--spec", specDir + "/" + specFile, "--namespace", b.Namespace, "--name", b.Name,
		"--record", naming.BenchmarkRecord(b.Name, string(b.UID)),
	}
	if watched(b) {
		command = append(command, "--observer", observerSocket)
	}
	return command
}

// observe gives the pod the container that alone has the superuser's password. It is
// the operator's own image, with processes and files of its own. The container in which
// scripts run reaches only its socket, which takes a few fixed requests. It starts
// after all other init containers and ends with the pod.
func observe(into *corev1ac.PodSpecApplyConfiguration, in JobInputs) {
	b := in.Benchmark
	if !watched(b) {
		return
	}
	database := naming.BenchmarkDatabase(string(b.UID))
	command := []string{"/bench", "observe", "--socket", observerSocket, "--database", database, "--role", database}
	if b.Spec.Pgbench.ColdCache {
		command = append(command, "--cold")
	}
	withoutToken(into)
	into.WithVolumes(corev1ac.Volume().WithName("observe").WithEmptyDir(corev1ac.EmptyDirVolumeSource().WithSizeLimit(resource.MustParse("1Mi")))).
		WithInitContainers(pod.Confined(corev1ac.Container().
			WithName("observer").
			WithImage(in.RunnerImage).
			WithRestartPolicy(corev1.ContainerRestartPolicyAlways).
			WithCommand(command...).
			WithEnv(connection(in, adminDatabase, naming.BenchmarkCheckRole(string(b.UID)), naming.BenchmarkChecker(b.Name, string(b.UID)))...).
			WithVolumeMounts(pod.Mount("observe", observeDir, false)).
			WithVolumeMounts(authorities(in.Source)...).
			WithVolumeMounts(pod.Mount("no-token", tokenDir, true)).
			WithResources(corev1ac.ResourceRequirements().WithRequests(observerRequests()))))
}

func observerRequests() corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi")}
}

// withoutToken gives the pod an empty volume to mount where the token of the pod would be.
func withoutToken(into *corev1ac.PodSpecApplyConfiguration) {
	has := func(v corev1ac.VolumeApplyConfiguration) bool { return *v.Name == "no-token" }
	if !slices.ContainsFunc(into.Volumes, has) {
		into.WithVolumes(corev1ac.Volume().WithName("no-token").WithEmptyDir(corev1ac.EmptyDirVolumeSource()))
	}
}
