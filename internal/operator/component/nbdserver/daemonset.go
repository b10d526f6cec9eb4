package nbdserver

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// graceSeconds is the time that a server has to flush when it shuts down cleanly. Up to
// 1.25 GiB are not uploaded then, which takes 600 s at 2 MiB/s.
const graceSeconds = 600

// DaemonSet of the servers. A pool uses the devices of each pod, so only an
// administrator may delete one. OnDelete replaces none when the template changes. The
// pods tolerate every taint, and drains ignore DaemonSets. It has no owner for garbage
// collection to follow. It names the nodes instead of selecting the profile's labels: a
// node that loses those keeps its pool, and must keep its server.
func (s Server) DaemonSet() (*appsv1ac.DaemonSetApplyConfiguration, error) {
	revision, err := s.Revision()
	if err != nil {
		return nil, err
	}
	program, err := s.program()
	if err != nil {
		return nil, err
	}
	store, err := program.StoreURL()
	if err != nil {
		return nil, err
	}
	selector := map[string]string{naming.LabelProfile: s.Profile.Name, naming.LabelStore: s.Store.Name}
	return appsv1ac.DaemonSet(s.name(), s.Operator.Namespace).
		WithLabels(s.labels()).
		WithSpec(appsv1ac.DaemonSetSpec().
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(selector)).
			WithUpdateStrategy(appsv1ac.DaemonSetUpdateStrategy().WithType(appsv1.OnDeleteDaemonSetStrategyType)).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(s.labels()).
				WithAnnotations(map[string]string{naming.AnnotationRevision: revision, "kubectl.kubernetes.io/default-container": Container}).
				WithSpec(s.pod(store.String())))), nil
}

// Containers of the pod.
const (
	Container = "zerofs"
	Install   = "install"
	Preflight = "preflight"
)

func (s Server) pod(store string) *corev1ac.PodSpecApplyConfiguration {
	z := s.Profile.Spec.S3NBD.ZeroFS
	pod := corev1ac.PodSpec().
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false).
		WithPriorityClassName(z.PriorityClassName).
		WithTerminationGracePeriodSeconds(graceSeconds).
		WithTolerations(corev1ac.Toleration().WithOperator(corev1.TolerationOpExists)).
		WithAffinity(s.affinity()).
		WithSecurityContext(corev1ac.PodSecurityContext().
			// Only root can use the directories on the node.
			WithRunAsUser(0).
			WithRunAsGroup(0).
			WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
		WithInitContainers(s.installer(), s.preflight()).
		WithContainers(s.server(store)).
		WithVolumes(s.volumes()...)
	for _, name := range z.ImagePullSecrets {
		pod.WithImagePullSecrets(corev1ac.LocalObjectReference().WithName(name))
	}
	return pod
}

// noNode is a name that none has (RFC 2606): an affinity to nothing would be to all.
const noNode = "none.invalid"

func (s Server) affinity() *corev1ac.AffinityApplyConfiguration {
	nodes := slices.Sorted(slices.Values(s.Nodes))
	if len(nodes) == 0 {
		nodes = []string{noNode}
	}
	// One term for each name: a matchField takes a single value.
	var terms []*corev1ac.NodeSelectorTermApplyConfiguration
	for _, node := range nodes {
		terms = append(terms, corev1ac.NodeSelectorTerm().WithMatchFields(corev1ac.NodeSelectorRequirement().
			WithKey("metadata.name").WithOperator(corev1.NodeSelectorOpIn).WithValues(node)))
	}
	return corev1ac.Affinity().WithNodeAffinity(corev1ac.NodeAffinity().
		WithRequiredDuringSchedulingIgnoredDuringExecution(corev1ac.NodeSelector().WithNodeSelectorTerms(terms...)))
}

// installer brings the supervisor beside ZeroFS, whose image does not have it.
func (s Server) installer() *corev1ac.ContainerApplyConfiguration {
	return confined(corev1ac.Container().
		WithName(Install).
		WithImage(s.Operator.Image).
		WithCommand("/agent", "zerofs-install", binDir+"/agent").
		WithVolumeMounts(mount("bin", binDir, false)).
		WithResources(s.resources()))
}

// preflight looks at the store before a server does, and says in its termination
// message what is wrong with it.
func (s Server) preflight() *corev1ac.ContainerApplyConfiguration {
	return confined(corev1ac.Container().
		WithName(Preflight).
		WithImage(s.Operator.Image).
		WithCommand("/agent", "zerofs-preflight").
		WithArgs(s.look()...).
		WithEnv(s.environment()...).
		WithResources(s.resources()))
}

// look is where the preflight looks.
func (s Server) look() []string {
	out := []string{"--url=" + URL(s.Store, s.Profile.Name, zerofs.NodeNameInURL), "--region=" + s.Store.Region, fmt.Sprintf("--path-style=%t", s.pathStyle())}
	if s.Store.Endpoint != "" {
		out = append(out, "--endpoint="+s.endpoint())
	}
	return out
}

// server runs ZeroFS under the supervisor, its only client. Store is where its requests
// go.
func (s Server) server(store string) *corev1ac.ContainerApplyConfiguration {
	z := s.Profile.Spec.S3NBD.ZeroFS
	c := confined(corev1ac.Container().
		WithName(Container).
		WithImage(z.Image).
		WithCommand(binDir+"/agent", "zerofs-run", "--dir="+socketDir, fmt.Sprintf("--prometheus=:%d", MetricsPort),
			"--meter="+meterAddress, "--store="+store, "--", "zerofs", "run", "-c", configDir+"/"+configFile).
		WithEnv(s.environment()...).
		WithPorts(port(MetricsPortName, MetricsPort)).
		WithReadinessProbe(serving()).
		WithVolumeMounts(mount("bin", binDir, true), s.configured(), mount("sockets", socketDir, false), mount("cache", cacheDir, false), mount("tmp", "/tmp", false)).
		WithResources(s.resources()))
	if s.metricsAddress() != "" {
		c.WithPorts(port(ZeroFSPortName, ZeroFSPort))
	}
	return c
}

func port(name string, number int32) *corev1ac.ContainerPortApplyConfiguration {
	return corev1ac.ContainerPort().WithName(name).WithContainerPort(number).WithProtocol(corev1.ProtocolTCP)
}

// serving probes whether requests reach ZeroFS. The pod has no liveness probe, because
// only an administrator may stop the relay below a pool.
func serving() *corev1ac.ProbeApplyConfiguration {
	return corev1ac.Probe().
		WithHTTPGet(corev1ac.HTTPGetAction().WithPath("/readyz").WithPort(intstr.FromString(MetricsPortName))).
		WithPeriodSeconds(5).
		WithTimeoutSeconds(2).
		WithFailureThreshold(2)
}

// configured by the file as it was when the container was made: a mount of a path
// within the volume does not follow the ConfigMap. ZeroFS is started again in the same
// container, whose limits are those of the former settings.
func (s Server) configured() *corev1ac.VolumeMountApplyConfiguration {
	return mount("config", configDir+"/"+configFile, true).WithSubPath(configFile)
}

// environment that fills in the configuration's variables. The kubelet reads the
// Secrets; the operator does not, and nothing of them is in an argument.
func (s Server) environment() []*corev1ac.EnvVarApplyConfiguration {
	return []*corev1ac.EnvVarApplyConfiguration{
		corev1ac.EnvVar().WithName(zerofs.EnvNodeName).WithValueFrom(corev1ac.EnvVarSource().
			WithFieldRef(corev1ac.ObjectFieldSelector().WithFieldPath("spec.nodeName"))),
		fromSecret(zerofs.EnvAccessKeyID, s.Store.CredentialsSecret, "AWS_ACCESS_KEY_ID"),
		fromSecret(zerofs.EnvSecretAccessKey, s.Store.CredentialsSecret, "AWS_SECRET_ACCESS_KEY"),
		fromSecret(zerofs.EnvPassword, s.Store.EncryptionSecret, "password"),
	}
}

func fromSecret(name, secret, key string) *corev1ac.EnvVarApplyConfiguration {
	return corev1ac.EnvVar().WithName(name).WithValueFrom(corev1ac.EnvVarSource().
		WithSecretKeyRef(corev1ac.SecretKeySelector().WithName(secret).WithKey(key)))
}

func confined(c *corev1ac.ContainerApplyConfiguration) *corev1ac.ContainerApplyConfiguration {
	return c.WithSecurityContext(corev1ac.SecurityContext().
		WithAllowPrivilegeEscalation(false).
		WithReadOnlyRootFilesystem(true).
		WithCapabilities(corev1ac.Capabilities().WithDrop("ALL")))
}

// resources: requests are the limits, in every container, which makes the pod one of
// class Guaranteed, the last to be killed for memory. Containers that run before the
// server take nothing beside it, and with less a replaced server stalls the pool longer.
func (s Server) resources() *corev1ac.ResourceRequirementsApplyConfiguration {
	r := s.Profile.Spec.S3NBD.ZeroFS.Resources
	amounts := corev1.ResourceList{corev1.ResourceCPU: r.CPU, corev1.ResourceMemory: r.Memory}
	return corev1ac.ResourceRequirements().WithRequests(amounts).WithLimits(amounts)
}

func mount(name, path string, readOnly bool) *corev1ac.VolumeMountApplyConfiguration {
	m := corev1ac.VolumeMount().WithName(name).WithMountPath(path)
	if readOnly {
		m.WithReadOnly(true)
	}
	return m
}

func (s Server) volumes() []*corev1ac.VolumeApplyConfiguration {
	host := func(name, path string) *corev1ac.VolumeApplyConfiguration {
		return corev1ac.Volume().WithName(name).WithHostPath(corev1ac.HostPathVolumeSource().WithPath(path).WithType(corev1.HostPathDirectoryOrCreate))
	}
	return []*corev1ac.VolumeApplyConfiguration{
		corev1ac.Volume().WithName("bin").WithEmptyDir(corev1ac.EmptyDirVolumeSource().WithSizeLimit(resource.MustParse("256Mi"))),
		corev1ac.Volume().WithName("tmp").WithEmptyDir(corev1ac.EmptyDirVolumeSource().WithSizeLimit(resource.MustParse("64Mi"))),
		corev1ac.Volume().WithName("config").WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(s.name())),
		host("sockets", naming.ServerDirectory(s.Profile.Name, s.Store.Name)),
		host("cache", s.Profile.Spec.S3NBD.ZeroFS.Cache.HostPath+"/"+s.Profile.Name+"/"+s.Store.Name),
	}
}
