package pgbench

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	batchv1ac "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/runner/spec"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/pod"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Where things are in the runner's pod.
const (
	binDir     = "/pgstorage/bin"
	specDir    = "/pgstorage/spec"
	scriptsDir = "/pgstorage/scripts"
	caDir      = "/pgstorage/ca"
	sourceDir  = "/pgstorage/source"
	workDir    = "/pgstorage/work"
	observeDir = "/pgstorage/observe"
	specFile   = "spec.json"
)

// JobInputs are the inputs of Job.
type JobInputs struct {
	Benchmark *v1alpha1.PgBenchmark
	// Image of Postgres, with pgbench in it.
	Image string
	// RunnerImage holds the static runner at /bench.
	RunnerImage string
	// PlatformUsers leaves the user and groups of the pod to the platform.
	PlatformUsers bool
	// Scratch is where spec.layers can be measured.
	Scratch *observed.Scratch
	// Source names the cluster that the measured one follows; empty where it follows none.
	Source string
}

// Job runs pgbench: an init container copies the static runner beside pgbench in
// the Postgres image, so that pgbench has the version of the server.
func Job(in JobInputs) *batchv1ac.JobApplyConfiguration {
	b := in.Benchmark
	name := naming.BenchmarkObject(b.Name, string(b.UID))
	return batchv1ac.Job(name, b.Namespace).
		WithLabels(naming.BenchmarkLabels(b.Name)).
		WithOwnerReferences(plan.ControllerReference(kind, b)).
		WithSpec(batchv1ac.JobSpec().
			// A second try would measure what the first one left behind.
			WithBackoffLimit(0).
			WithActiveDeadlineSeconds(int64(deadline(b.Spec) / time.Second)).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(naming.BenchmarkLabels(b.Name)).
				WithSpec(podSpec(in, name))))
}

func podSpec(in JobInputs, name string) *corev1ac.PodSpecApplyConfiguration {
	out := corev1ac.PodSpec().
		WithServiceAccountName(name).
		WithAutomountServiceAccountToken(true).
		WithRestartPolicy(corev1.RestartPolicyNever).
		WithTerminationGracePeriodSeconds(15).
		WithSecurityContext(pod.SecurityContext(in.PlatformUsers)).
		WithInitContainers(pod.Confined(corev1ac.Container().
			WithName("runner").
			WithImage(in.RunnerImage).
			WithCommand("/bench", "copy", binDir+"/bench").
			WithVolumeMounts(pod.Mount("bin", binDir, false)).
			WithResources(corev1ac.ResourceRequirements().WithRequests(defaultRequests())))).
		WithContainers(pgbenchContainer(in, name)).
		WithVolumes(volumes(in, name)...)
	measureLayers(out, in)
	observe(out, in)
	return out
}

func pgbenchContainer(in JobInputs, name string) *corev1ac.ContainerApplyConfiguration {
	b := in.Benchmark
	c := pod.Confined(corev1ac.Container().
		WithName("pgbench").
		WithImage(in.Image).
		WithCommand(runCommand(b)...).
		WithWorkingDir(workDir).
		WithEnv(environment(in, name)...).
		WithVolumeMounts(pod.Mount("bin", binDir, true), pod.Mount("spec", specDir, true)).
		WithVolumeMounts(authorities(in.Source)...).
		WithVolumeMounts(pod.Mount("work", workDir, false)))
	if watched(b) {
		c.WithVolumeMounts(pod.Mount("observe", observeDir, true))
	}
	for _, s := range b.Spec.Pgbench.CustomScripts {
		c.WithVolumeMounts(corev1ac.VolumeMount().WithName("scripts").WithMountPath(ScriptPath(s)).WithSubPath(s.Key).WithReadOnly(true))
	}
	return c.WithResources(resources(b.Spec.Pgbench.Resources))
}

// ScriptPath is where a custom script is in the runner's pod.
func ScriptPath(s v1alpha1.CustomScript) string { return scriptsDir + "/" + s.Key }

// environment of the container in which scripts run: it has no other password than that
// of the role that owns the benchmark's database.
func environment(in JobInputs, name string) []*corev1ac.EnvVarApplyConfiguration {
	database := naming.BenchmarkDatabase(string(in.Benchmark.UID))
	env := append(connection(in, database, database, name), pod.Variable("HOME", workDir), pod.Variable("TMPDIR", workDir))
	return append(env, corev1ac.EnvVar().WithName("POD_UID").WithValueFrom(corev1ac.EnvVarSource().
		WithFieldRef(corev1ac.ObjectFieldSelector().WithFieldPath("metadata.uid"))))
}

// connection of a role to a database of the cluster, with the password of a Secret. The
// read-write Service of a cluster that follows another one has its first instance. Roles and
// databases are the same on both clusters, which differ in host and certificate authority.
func connection(in JobInputs, database, role, secret string) []*corev1ac.EnvVarApplyConfiguration {
	env := []*corev1ac.EnvVarApplyConfiguration{
		pod.Variable("PGHOST", naming.ReadWriteService(in.Benchmark.Spec.Cluster)),
		pod.Variable("PGPORT", "5432"),
		pod.Variable("PGDATABASE", database),
		pod.Variable("PGUSER", role),
		pod.Password("PGPASSWORD", secret),
		pod.Variable("PGSSLMODE", "verify-full"),
		pod.Variable("PGSSLROOTCERT", caDir+"/ca.crt"),
		pod.Variable("PGAPPNAME", "pgstorage-bench"),
	}
	if in.Source == "" {
		return env
	}
	return append(env, pod.Variable(spec.EnvSourceHost, naming.ReadWriteService(in.Source)), pod.Variable(spec.EnvSourceRootCert, sourceDir+"/ca.crt"))
}

// authorities are the certificates by which the servers are verified.
func authorities(source string) []*corev1ac.VolumeMountApplyConfiguration {
	out := []*corev1ac.VolumeMountApplyConfiguration{pod.Mount("ca", caDir, true)}
	if source != "" {
		out = append(out, pod.Mount("source", sourceDir, true))
	}
	return out
}

func volumes(in JobInputs, name string) []*corev1ac.VolumeApplyConfiguration {
	b := in.Benchmark
	out := []*corev1ac.VolumeApplyConfiguration{
		corev1ac.Volume().WithName("bin").WithEmptyDir(corev1ac.EmptyDirVolumeSource().WithSizeLimit(resource.MustParse("256Mi"))),
		corev1ac.Volume().WithName("spec").WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(name)),
		pod.Authority("ca", b.Spec.Cluster),
		corev1ac.Volume().WithName("work").WithEmptyDir(corev1ac.EmptyDirVolumeSource()),
	}
	if in.Source != "" {
		out = append(out, pod.Authority("source", in.Source))
	}
	if len(b.Spec.Pgbench.CustomScripts) == 0 {
		return out
	}
	projected := corev1ac.ProjectedVolumeSource()
	for _, s := range b.Spec.Pgbench.CustomScripts {
		projected.WithSources(corev1ac.VolumeProjection().WithConfigMap(corev1ac.ConfigMapProjection().
			WithName(s.ConfigMap).
			WithItems(corev1ac.KeyToPath().WithKey(s.Key).WithPath(s.Key))))
	}
	return append(out, corev1ac.Volume().WithName("scripts").WithProjected(projected))
}

func resources(r *v1alpha1.RunnerResources) *corev1ac.ResourceRequirementsApplyConfiguration {
	if r == nil {
		return corev1ac.ResourceRequirements().WithRequests(defaultRequests())
	}
	return corev1ac.ResourceRequirements().WithRequests(r.Requests).WithLimits(r.Limits)
}

func defaultRequests() corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi")}
}

// deadline bounds a run. It allows twice the time of the run and of the layers. It adds
// time to fill and check the tables by their size, and half an hour to start. Runs with
// a number of transactions have a day.
func deadline(s v1alpha1.PgBenchmarkSpec) time.Duration {
	p := s.Pgbench
	runs := time.Duration(max(1, int(p.Repeats))) * time.Duration(max(1, len(p.Clients)))
	run := Duration(p)
	if p.Transactions != nil {
		run = 24 * time.Hour
	}
	return 2*(runs*run+WarmUp(p)+spec.LayersTime(s.Layers)) + time.Duration(p.Scale)*20*time.Second + 30*time.Minute
}

// Duration of one run.
func Duration(p v1alpha1.PgbenchSpec) time.Duration {
	d, err := time.ParseDuration(p.Duration)
	if err != nil {
		return time.Minute
	}
	return d
}

// WarmUp before the first run.
func WarmUp(p v1alpha1.PgbenchSpec) time.Duration {
	d, err := time.ParseDuration(p.WarmUp)
	if err != nil {
		return 0
	}
	return d
}
