package install_test

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

func TestChartPassesHelmLint(t *testing.T) {
	out, stderr, err := tool(t, "HELM", "helm", "lint", "--strict", "--kube-version", kubeVersion, chart)
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr)
	}
}

func deployment(t *testing.T, all objects) appsv1.Deployment {
	t.Helper()
	return into[appsv1.Deployment](t, all["Deployment "+namespace+"/pgstorage-manager"])
}

func TestValuesReachTheManager(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	for _, test := range []struct {
		name, set string
		args      []string // that the manager has
		image     string
	}{
		{
			name:  "default",
			args:  []string{"--leader-elect=true", "--metrics-bind-address=:8443", "--bench-image=ghcr.io/pgstorage/pgstorage:v0.1.0"},
			image: "ghcr.io/pgstorage/pgstorage:v0.1.0",
		},
		{
			name:  "tag",
			set:   "image.repository=registry.example:5000/pgstorage,image.tag=v9",
			args:  []string{"--bench-image=registry.example:5000/pgstorage:v9"},
			image: "registry.example:5000/pgstorage:v9",
		},
		{
			name:  "digest wins over tag",
			set:   "image.tag=v9,image.digest=" + digest,
			args:  []string{"--bench-image=ghcr.io/pgstorage/pgstorage@" + digest},
			image: "ghcr.io/pgstorage/pgstorage@" + digest,
		},
		{name: "bench image", set: "bench.image=registry.example/bench:1", args: []string{"--bench-image=registry.example/bench:1"}},
		{name: "metrics off", set: "metrics.enabled=false", args: []string{"--metrics-bind-address=0"}},
		{name: "leader election off", set: "leaderElection.enabled=false", args: []string{"--leader-elect=false"}},
		{name: "Postgres images", set: "postgres.imageRepository=registry.example/pg", args: []string{"--postgres-image-repository=registry.example/pg"}},
		{
			name: "rates",
			set:  "kubeAPI.qps=25,kubeAPI.burst=2000000,maxConcurrentReconciles=3,logLevel=debug",
			args: []string{"--kube-api-qps=25", "--kube-api-burst=2000000", "--max-concurrent-reconciles=3", "--zap-log-level=debug"},
		},
		{name: "read pools", set: "readPools.enabled=true", args: []string{"--feature-gates=ReadPools=true"}},
		{name: "sites", set: "sites.enabled=true", args: []string{"--feature-gates=Sites=true"}},
		{name: "branches", set: "branches.enabled=true", args: []string{"--feature-gates=Branches=true"}},
		{name: "volumes in memory", set: "memory.enabled=true", args: []string{"--feature-gates=Memory=true"}},
		{name: "clusters of a matrix' own", set: "matrixClusters.enabled=true", args: []string{"--feature-gates=MatrixClusters=true"}},
		{name: "labels of PodMonitors", set: "metrics.labels.release=kps,metrics.podMonitor.labels.team=db,metrics.serviceMonitor.labels.other=no", args: []string{"--pod-monitor-labels=release=kps,team=db"}},
		{name: "labels of all monitors", set: "metrics.labels.release=kps", args: []string{"--pod-monitor-labels=release=kps"}},
		{name: "labels of ServiceMonitors", set: labelsOfServiceMonitors, args: []string{"--pod-monitor-labels=app.kubernetes.io/part-of=monitoring"}},
		{name: "further arguments", set: "extraArgs={--zap-devel=true}", args: []string{"--zap-devel=true"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			container := deployment(t, installed(t, "--set", test.set)).Spec.Template.Spec.Containers[0]
			for _, arg := range test.args {
				if !slices.Contains(container.Args, arg) {
					t.Errorf("no argument %s in %q", arg, container.Args)
				}
			}
			if test.image != "" && container.Image != test.image {
				t.Errorf("image %s, want %s", container.Image, test.image)
			}
		})
	}
}

// Two managers would undo each other's changes.
func TestUpgradeStartsNoSecondManager(t *testing.T) {
	for set, want := range map[string]appsv1.DeploymentStrategy{
		"leaderElection.enabled=true":  {},
		"leaderElection.enabled=false": {Type: appsv1.RecreateDeploymentStrategyType},
	} {
		if got := deployment(t, installed(t, "--set", set)).Spec.Strategy; got != want {
			t.Errorf("%s: strategy %+v, want %+v", set, got, want)
		}
	}
}

func TestValuesReachThePod(t *testing.T) {
	pod := deployment(t, installed(t,
		"--set-json", `tolerations=[{"key":"a","operator":"Exists"}]`,
		"--set-json", `imagePullSecrets=[{"name":"registry"}]`,
		"--set-json", `affinity={"podAntiAffinity":{}}`,
		"--set", "nodeSelector.zone=a,priorityClassName=system-cluster-critical,podAnnotations.example=yes,resources.limits.memory=1Gi,image.pullPolicy=Always",
	)).Spec.Template
	for what, ok := range map[string]bool{
		"tolerations":       len(pod.Spec.Tolerations) == 1,
		"imagePullSecrets":  len(pod.Spec.ImagePullSecrets) == 1,
		"affinity":          pod.Spec.Affinity != nil,
		"nodeSelector":      pod.Spec.NodeSelector["zone"] == "a",
		"priorityClassName": pod.Spec.PriorityClassName == "system-cluster-critical",
		"podAnnotations":    pod.Annotations["example"] == "yes",
		"resources":         pod.Spec.Containers[0].Resources.Limits.Memory().String() == "1Gi",
		"pullPolicy":        pod.Spec.Containers[0].ImagePullPolicy == "Always",
	} {
		if !ok {
			t.Errorf("%s does not reach the pod", what)
		}
	}
}

// TestValuesSwitchObjects lists what each switch takes from the whole.
func TestValuesSwitchObjects(t *testing.T) {
	all := installed(t, everything...)
	for _, test := range []struct {
		set  string
		gone []string
	}{
		{"metrics.enabled=false,metrics.serviceMonitor.enabled=false,metrics.prometheusRule.enabled=false,metrics.benchmarks.prometheusRule.enabled=false,metrics.postgres.prometheusRule.enabled=false", []string{
			"ClusterRole /pgstorage-metrics-auth", "ClusterRole /pgstorage-metrics-reader",
			"ClusterRoleBinding /pgstorage-agent-metrics-auth", "ClusterRoleBinding /pgstorage-metrics-auth",
			"PodMonitor pgstorage-system/pgstorage-servers",
			"PrometheusRule pgstorage-system/pgstorage-agent", "PrometheusRule pgstorage-system/pgstorage-benchmarks", "PrometheusRule pgstorage-system/pgstorage-postgres",
			"Service pgstorage-system/pgstorage-agent-metrics", "Service pgstorage-system/pgstorage-metrics",
			"ServiceMonitor pgstorage-system/pgstorage-agent", "ServiceMonitor pgstorage-system/pgstorage-manager",
		}},
		{"metrics.serviceMonitor.enabled=false", []string{"PodMonitor pgstorage-system/pgstorage-servers", "ServiceMonitor pgstorage-system/pgstorage-agent", "ServiceMonitor pgstorage-system/pgstorage-manager"}},
		{"metrics.prometheusRule.enabled=false", []string{"PrometheusRule pgstorage-system/pgstorage-agent"}},
		{"metrics.benchmarks.prometheusRule.enabled=false", []string{"PrometheusRule pgstorage-system/pgstorage-benchmarks"}},
		{"metrics.postgres.prometheusRule.enabled=false", []string{"PrometheusRule pgstorage-system/pgstorage-postgres"}},
		{"metrics.dashboards.enabled=false", []string{
			"ConfigMap pgstorage-system/pgstorage-dashboard-benchmarks", "ConfigMap pgstorage-system/pgstorage-dashboard-cluster",
			"ConfigMap pgstorage-system/pgstorage-dashboard-nodes", "ConfigMap pgstorage-system/pgstorage-dashboard-overview",
		}},
		{"readPools.enabled=false", []string{"ClusterRole /pgstorage-read-pools", "ClusterRoleBinding /pgstorage-read-pools"}},
		{"sites.enabled=false", []string{"ClusterRole /pgstorage-sites", "ClusterRoleBinding /pgstorage-sites"}},
		{"branches.enabled=false", []string{"ClusterRole /pgstorage-branches", "ClusterRoleBinding /pgstorage-branches"}},
		{"memory.enabled=false", []string{"ClusterRole /pgstorage-memory", "ClusterRoleBinding /pgstorage-memory"}},
		{"matrixClusters.enabled=false", []string{"ClusterRole /pgstorage-matrix-clusters", "ClusterRoleBinding /pgstorage-matrix-clusters"}},
		{"metrics.ceph.serviceMonitor.enabled=false", []string{"ServiceMonitor pgstorage-system/pgstorage-ceph"}},
		{"metrics.ceph.prometheusRule.enabled=false", []string{"PrometheusRule pgstorage-system/pgstorage-ceph"}},
		{"networkPolicy.enabled=false", []string{"NetworkPolicy pgstorage-system/pgstorage-agent", "NetworkPolicy pgstorage-system/pgstorage-manager"}},
		{"agent.admissionPolicy=false", []string{"ValidatingAdmissionPolicy /pgstorage-agent", "ValidatingAdmissionPolicy /pgstorage-agent-events", "ValidatingAdmissionPolicyBinding /pgstorage-agent", "ValidatingAdmissionPolicyBinding /pgstorage-agent-events"}},
		{"agent.enabled=false,metrics.prometheusRule.enabled=false", []string{
			"ClusterRole /pgstorage-agent", "ClusterRoleBinding /pgstorage-agent", "ClusterRoleBinding /pgstorage-agent-metrics-auth",
			"DaemonSet pgstorage-system/pgstorage-agent", "NetworkPolicy pgstorage-system/pgstorage-agent", "PodMonitor pgstorage-system/pgstorage-servers",
			"PrometheusRule pgstorage-system/pgstorage-agent", "Role default/pgstorage-agent", "RoleBinding default/pgstorage-agent", "Service pgstorage-system/pgstorage-agent-metrics",
			"ServiceAccount pgstorage-system/pgstorage-agent", "ServiceMonitor pgstorage-system/pgstorage-agent",
			"ValidatingAdmissionPolicy /pgstorage-agent", "ValidatingAdmissionPolicy /pgstorage-agent-events", "ValidatingAdmissionPolicyBinding /pgstorage-agent", "ValidatingAdmissionPolicyBinding /pgstorage-agent-events",
		}},
		{"leaderElection.enabled=false", []string{
			"Role pgstorage-system/pgstorage-leader-election", "RoleBinding pgstorage-system/pgstorage-leader-election",
		}},
		{"crds.install=false", []string{
			"CustomResourceDefinition /pgbenchmarks.pgstorage.dev", "CustomResourceDefinition /pgnodestorages.pgstorage.dev", "CustomResourceDefinition /pgscheduledbenchmarks.pgstorage.dev",
			"CustomResourceDefinition /pgstoragebranches.pgstorage.dev", "CustomResourceDefinition /pgstorageclusters.pgstorage.dev", "CustomResourceDefinition /pgstorageprofiles.pgstorage.dev",
		}},
	} {
		t.Run(test.set, func(t *testing.T) {
			some := installed(t, append(slices.Clone(everything), "--set", test.set)...)
			gone := slices.DeleteFunc(all.keys(), func(key string) bool { return some[key] != nil })
			if !slices.Equal(gone, test.gone) {
				t.Errorf("gone: %q\nwant: %q", gone, test.gone)
			}
		})
	}
}

func TestUninstallKeepsCRDs(t *testing.T) {
	for set, want := range map[string]string{"crds.keep=true": "keep", "crds.keep=false": ""} {
		for key, object := range installed(t, "--set", set) {
			if object.GetKind() != "CustomResourceDefinition" {
				continue
			}
			if got := object.GetAnnotations()["helm.sh/resource-policy"]; got != want {
				t.Errorf("%s: %s: resource policy %q, want %q", set, key, got, want)
			}
		}
	}
}

func TestAggregationCanBeSwitchedOff(t *testing.T) {
	for key, object := range installed(t, "--set", "rbac.aggregate=false") {
		for label := range object.GetLabels() {
			if strings.HasPrefix(label, "rbac.authorization.k8s.io/aggregate-to-") {
				t.Errorf("%s has label %s", key, label)
			}
		}
	}
}

func TestNamespaceFollowsTheRelease(t *testing.T) {
	out, err := helmTemplate(t, append(slices.Clone(everything), "--namespace", "elsewhere")...)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out, namespace) {
		t.Errorf("%s is written into the chart", namespace)
	}
}

// labelsOfServiceMonitors are labels of PodMonitors too.
const labelsOfServiceMonitors = `metrics.serviceMonitor.labels.app\.kubernetes\.io/part-of=monitoring`

// The arguments of the Deployment are flags that the manager has, with values that it
// accepts.
func TestArgumentsAreFlagsOfTheManager(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the manager")
	}
	args := deployment(t, installed(t, append(slices.Clone(everything), "--set", labelsOfServiceMonitors)...)).Spec.Template.Spec.Containers[0].Args
	out, err := goRun(t, append([]string{"./cmd/manager", "--version"}, args...)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
