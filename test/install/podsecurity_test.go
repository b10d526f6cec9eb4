package install_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// Every pod of the chart, the one of helm test too, keeps the restricted Pod
// Security Standard and writes to no root file system.
func TestPodsAreRestricted(t *testing.T) {
	out, err := helmTemplate(t)
	if err != nil {
		t.Fatal(err)
	}
	all := parse(t, out)
	pods := map[string]corev1.PodSpec{
		"manager":   deployment(t, all).Spec.Template.Spec,
		"helm test": into[corev1.Pod](t, all["Pod "+namespace+"/pgstorage-test-version"]).Spec,
	}
	for name, pod := range pods {
		t.Run(name, func(t *testing.T) {
			checkPod(t, pod)
			for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
				checkContainer(t, container)
			}
		})
	}
}

func checkPod(t *testing.T, pod corev1.PodSpec) {
	t.Helper()
	security := pod.SecurityContext
	if security == nil || security.SeccompProfile == nil {
		t.Fatal("no security context with a seccomp profile")
	}
	check(t, map[string]bool{
		"runAsNonRoot":            is(security.RunAsNonRoot, true),
		"runAsUser 65532":         is(security.RunAsUser, 65532),
		"seccomp RuntimeDefault":  security.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault,
		"no host namespaces":      !pod.HostNetwork && !pod.HostPID && !pod.HostIPC,
		"no volumes":              len(pod.Volumes) == 0,
		"token asked for or not":  pod.AutomountServiceAccountToken != nil,
		"no privileged addresses": security.Sysctls == nil,
	})
}

func checkContainer(t *testing.T, container corev1.Container) {
	t.Helper()
	security := container.SecurityContext
	if security == nil || security.Capabilities == nil {
		t.Fatalf("%s: no security context with capabilities", container.Name)
	}
	check(t, map[string]bool{
		"allowPrivilegeEscalation false": is(security.AllowPrivilegeEscalation, false),
		"readOnlyRootFilesystem":         is(security.ReadOnlyRootFilesystem, true),
		"not privileged":                 security.Privileged == nil,
		"drops ALL":                      slices.Equal(security.Capabilities.Drop, []corev1.Capability{"ALL"}),
		"adds none":                      len(security.Capabilities.Add) == 0,
		"requests CPU and memory":        len(container.Resources.Requests) == 2,
		"limits memory":                  !container.Resources.Limits.Memory().IsZero(),
		"no host ports":                  !slices.ContainsFunc(container.Ports, func(p corev1.ContainerPort) bool { return p.HostPort != 0 }),
	})
}

func TestManagerPodHasProbesAndPorts(t *testing.T) {
	pod := deployment(t, installed(t)).Spec.Template.Spec
	manager := pod.Containers[0]
	ports := map[string]int32{}
	for _, port := range manager.Ports {
		ports[port.Name] = port.ContainerPort
	}
	check(t, map[string]bool{
		"liveness":     manager.LivenessProbe != nil && manager.LivenessProbe.HTTPGet.Path == "/healthz" && ports[manager.LivenessProbe.HTTPGet.Port.StrVal] == 8081,
		"readiness":    manager.ReadinessProbe != nil && manager.ReadinessProbe.HTTPGet.Path == "/readyz" && ports[manager.ReadinessProbe.HTTPGet.Port.StrVal] == 8081,
		"metrics port": ports["metrics"] == 8443,
		"ends in 10 s": is(pod.TerminationGracePeriodSeconds, 10),
		"identity":     pod.ServiceAccountName == "pgstorage-manager",
		"requests":     manager.Resources.Requests.Cpu().String() == "50m" && manager.Resources.Requests.Memory().String() == "64Mi",
		"memory limit": manager.Resources.Limits.Memory().String() == "256Mi",
	})
}

func check(t *testing.T, facts map[string]bool) {
	t.Helper()
	for name, ok := range facts {
		if !ok {
			t.Errorf("not so: %s", name)
		}
	}
}

func is[T comparable](pointer *T, want T) bool { return pointer != nil && *pointer == want }
