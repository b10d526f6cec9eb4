package install_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/operator/component/nbdserver"
)

func daemonSet(t *testing.T, args ...string) appsv1.DaemonSet {
	t.Helper()
	all := installed(t, append([]string{"--set", "agent.enabled=true"}, args...)...)
	return into[appsv1.DaemonSet](t, all["DaemonSet "+namespace+"/pgstorage-agent"])
}

// The agent is privileged, so it is there only for those who ask.
func TestAgentIsOffByDefault(t *testing.T) {
	for key := range installed(t) {
		if strings.Contains(key, "agent") {
			t.Errorf("%s is installed by default", key)
		}
	}
}

// Exactly what is said in docs/install.md, and nothing more: whole structures are
// compared, so that a field that is added is noticed.
func TestAgentPodMatchesItsDocumentation(t *testing.T) {
	pod := daemonSet(t).Spec.Template.Spec
	root, yes, directory, fromHost := int64(0), true, corev1.HostPathDirectory, corev1.MountPropagationHostToContainer
	agent := pod.Containers[0]
	check(t, map[string]bool{
		"one container":      len(pod.Containers) == 1 && len(pod.InitContainers) == 0 && len(pod.EphemeralContainers) == 0,
		"no host namespaces": !pod.HostNetwork && !pod.HostPID && !pod.HostIPC,
		"no pod security":    pod.SecurityContext == nil,
		"its own identity":   pod.ServiceAccountName == "pgstorage-agent" && is(pod.AutomountServiceAccountToken, true),
		"no host ports":      !slices.ContainsFunc(agent.Ports, func(p corev1.ContainerPort) bool { return p.HostPort != 0 }),
		"no devices":         len(agent.VolumeDevices) == 0,
		"no other variables": len(agent.Env) == 1 && len(agent.EnvFrom) == 0,
	})
	for _, pair := range [][2]any{
		{agent.SecurityContext, &corev1.SecurityContext{Privileged: &yes, RunAsUser: &root, RunAsGroup: &root, ReadOnlyRootFilesystem: &yes}},
		{pod.Volumes, []corev1.Volume{{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/", Type: &directory}}}}},
		{agent.VolumeMounts, []corev1.VolumeMount{{Name: "host", MountPath: "/host", MountPropagation: &fromHost}}},
	} {
		if !equality.Semantic.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%+v\nwant %+v", pair[0], pair[1])
		}
	}
}

// Nothing but the agent is privileged or sees the node.
func TestOnlyTheAgentIsPrivileged(t *testing.T) {
	all := installed(t, everything...)
	for key, object := range all {
		switch object.GetKind() {
		case "Deployment":
			pod := into[appsv1.Deployment](t, object).Spec.Template.Spec
			checkPod(t, pod)
			checkContainer(t, pod.Containers[0])
		case "DaemonSet":
			if key != "DaemonSet "+namespace+"/pgstorage-agent" {
				t.Errorf("%s: another DaemonSet", key)
			}
		case "StatefulSet", "Job", "CronJob", "Pod":
			t.Errorf("%s is not known to this test", key)
		}
	}
}

func TestAgentPodHasProbesAndPorts(t *testing.T) {
	set := daemonSet(t)
	pod := set.Spec.Template.Spec
	agent := pod.Containers[0]
	ports := map[string]int32{}
	for _, port := range agent.Ports {
		ports[port.Name] = port.ContainerPort
	}
	env := agent.Env[0]
	update := set.Spec.UpdateStrategy
	check(t, map[string]bool{
		"command":      slices.Equal(agent.Command, []string{"/agent"}),
		"node name":    env.Name == "NODE_NAME" && env.ValueFrom.FieldRef.FieldPath == "spec.nodeName",
		"liveness":     agent.LivenessProbe.HTTPGet.Path == "/healthz" && ports[agent.LivenessProbe.HTTPGet.Port.StrVal] == 8081,
		"readiness":    agent.ReadinessProbe.HTTPGet.Path == "/readyz" && ports[agent.ReadinessProbe.HTTPGet.Port.StrVal] == 8081,
		"metrics port": ports["metrics"] == 8443,
		"slow changes": is(pod.TerminationGracePeriodSeconds, 330),
		"node by node": update.Type == appsv1.RollingUpdateDaemonSetStrategyType && is(update.RollingUpdate.MaxUnavailable, intstr.FromInt32(1)),
		"priority":     pod.PriorityClassName == "system-node-critical",
		"requests":     agent.Resources.Requests.Cpu().String() == "10m" && agent.Resources.Requests.Memory().String() == "32Mi",
		"memory limit": agent.Resources.Limits.Memory().String() == "128Mi",
		"Linux":        pod.NodeSelector["kubernetes.io/os"] == "linux",
	})
}

func TestValuesReachTheAgent(t *testing.T) {
	for set, arg := range map[string]string{
		"agent.resync=2m":                 "--resync=2m",
		"agent.commandTimeout=1m30s":      "--command-timeout=1m30s",
		"agent.dryRun=true":               "--dry-run=true",
		"agent.logLevel=debug":            "--zap-log-level=debug",
		"logLevel=error":                  "--zap-log-level=error",
		"logLevel=error,agent.logLevel=2": "--zap-log-level=2",
		"metrics.enabled=false":           "--metrics-bind-address=0",
		"agent.extraArgs={--zap-devel}":   "--zap-devel",
	} {
		if args := daemonSet(t, "--set", set).Spec.Template.Spec.Containers[0].Args; !slices.Contains(args, arg) {
			t.Errorf("%s: no argument %s in %q", set, arg, args)
		}
	}
	pod := daemonSet(t,
		"--set-json", `agent.tolerations=[{"operator":"Exists"}]`,
		"--set-json", `imagePullSecrets=[{"name":"registry"}]`,
		"--set", "agent.nodeSelector.zone=a,agent.priorityClassName=,agent.podAnnotations.example=yes,agent.resources.limits.memory=1Gi,image.tag=v9,image.pullPolicy=Always",
	).Spec.Template
	agent := pod.Spec.Containers[0]
	check(t, map[string]bool{
		"tolerations":       len(pod.Spec.Tolerations) == 1,
		"imagePullSecrets":  len(pod.Spec.ImagePullSecrets) == 1,
		"nodeSelector":      pod.Spec.NodeSelector["zone"] == "a",
		"priorityClassName": pod.Spec.PriorityClassName == "",
		"podAnnotations":    pod.Annotations["example"] == "yes",
		"resources":         agent.Resources.Limits.Memory().String() == "1Gi",
		"image":             agent.Image == "ghcr.io/pgstorage/pgstorage:v9" && agent.ImagePullPolicy == corev1.PullAlways,
	})
}

// A kill during the creation of a pool would leave it half made, so the agent gets the time of its
// slowest command to end.
func TestAgentEndsItsChanges(t *testing.T) {
	for timeout, want := range map[string]int64{"30s": 330, "33s": 360, "1m30s": 930, "0.5h": 18030, "40.5s": 440, "10s": 330, "500ms": 330} {
		grace := daemonSet(t, "--set", "agent.commandTimeout="+timeout).Spec.Template.Spec.TerminationGracePeriodSeconds
		least, err := time.ParseDuration(timeout)
		if err != nil {
			t.Fatal(err)
		}
		if least *= host.SlowFactor; !is(grace, want) || time.Duration(want)*time.Second <= least {
			t.Errorf("%s: %d seconds, want %d, more than %s", timeout, *grace, want, least)
		}
	}
}

// The arguments of the DaemonSet are flags that the agent has.
func TestArgumentsAreFlagsOfTheAgent(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the agent")
	}
	args := daemonSet(t).Spec.Template.Spec.Containers[0].Args
	out, err := goRun(t, append([]string{"./cmd/agent", "--version"}, args...)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// The namespace of the kustomization lets the agent run only where it is enabled.
func TestNamespaceIsPrivilegedOnlyWithAgents(t *testing.T) {
	for dir, want := range map[string]string{
		root + "/config/default":  "restricted",
		"testdata/optional":       "restricted",
		"testdata/agent":          "privileged",
		"testdata/agent-optional": "privileged",
	} {
		labels := parse(t, kustomize(t, dir))["Namespace /"+namespace].GetLabels()
		for _, mode := range []string{"enforce", "warn"} {
			if got := labels["pod-security.kubernetes.io/"+mode]; got != want {
				t.Errorf("%s: %s %q, want %q", dir, mode, got, want)
			}
		}
	}
}

// The policy refuses, and names the ServiceAccount and finalizer that are in use.
// That it does what it says, test/integration proves on a real API server.
func TestAdmissionPolicyNamesTheAgent(t *testing.T) {
	all := installed(t, append(slices.Clone(everything), "--namespace", "elsewhere")...)
	policy := into[admissionregistrationv1.ValidatingAdmissionPolicy](t, all["ValidatingAdmissionPolicy /pgstorage-agent"])
	binding := into[admissionregistrationv1.ValidatingAdmissionPolicyBinding](t, all["ValidatingAdmissionPolicyBinding /pgstorage-agent"])
	conditions, rules := policy.Spec.MatchConditions, policy.Spec.Validations
	check(t, map[string]bool{
		"fails closed":            is(policy.Spec.FailurePolicy, admissionregistrationv1.Fail),
		"denies":                  slices.Equal(binding.Spec.ValidationActions, []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}),
		"is bound":                binding.Spec.PolicyName == policy.Name && binding.Spec.MatchResources == nil,
		"one condition":           len(conditions) == 1,
		"follows the release":     conditions[0].Expression == "request.userInfo.username == 'system:serviceaccount:elsewhere:pgstorage-agent'",
		"knows the finalizer":     strings.Contains(rules[len(rules)-1].Expression, "'"+naming.NodeStorageFinalizer+"'"),
		"has a word for each":     !slices.ContainsFunc(rules, func(v admissionregistrationv1.Validation) bool { return v.Message == "" }),
		"says that it is refused": !slices.ContainsFunc(rules, func(v admissionregistrationv1.Validation) bool { return v.Reason == nil || *v.Reason != "Forbidden" }),
	})
}

// The PodMonitor finds the pods that the manager makes of a profile, and their ports.
func TestPodMonitorSelectsTheServers(t *testing.T) {
	monitor := into[monitoringv1.PodMonitor](t, installed(t, everything...)["PodMonitor "+namespace+"/pgstorage-servers"])
	profile := &v1alpha1.PgStorageProfile{Spec: v1alpha1.PgStorageProfileSpec{S3NBD: &v1alpha1.S3NBDProfile{ZeroFS: v1alpha1.ZeroFSServer{
		Family: v1alpha1.ZeroFS2, Image: "zerofs:2.3.0", FlushInterval: "30s",
		Resources: v1alpha1.ZeroFSResources{CPU: resource.MustParse("1"), Memory: resource.MustParse("2Gi")},
		Cache:     v1alpha1.ZeroFSCache{Size: resource.MustParse("2Gi"), Memory: resource.MustParse("1Gi")},
	}}}}
	profile.Name = "lake"
	set, err := nbdserver.Server{Profile: profile, Store: v1alpha1.S3Store{Name: "main", Bucket: "b", Prefix: "p", Region: "r"}}.DaemonSet()
	if err != nil {
		t.Fatal(err)
	}
	selector, err := metav1.LabelSelectorAsSelector(&monitor.Spec.Selector)
	if err != nil {
		t.Fatal(err)
	}
	if !selector.Matches(labels.Set(set.Spec.Template.Labels)) {
		t.Errorf("%s does not select %v", selector, set.Spec.Template.Labels)
	}
	if agent := daemonSet(t).Spec.Template.Labels; selector.Matches(labels.Set(agent)) {
		t.Errorf("%s selects the agent", selector)
	}
	var want, got []string
	for _, p := range set.Spec.Template.Spec.Containers[0].Ports {
		want = append(want, *p.Name)
	}
	for _, e := range monitor.Spec.PodMetricsEndpoints {
		got = append(got, *e.Port)
	}
	if !slices.Equal(got, want) {
		t.Errorf("ports %q, want %q", got, want)
	}
}

// The alerts ask for metrics and reasons that the code has, and each has its page.
func TestAgentAlertsUseExistingMetricsAndReasons(t *testing.T) {
	source := readFile(t, "controllers/pgnodestorage/metrics.go") + readFile(t, "controllers/pgnodestorage/latency.go") + readFile(t, "internal/zerofs/supervise/metrics.go")
	reasons := readFile(t, "api/v1alpha1/conditions.go") + readFile(t, "api/v1alpha1/reasons.go") + readFile(t, "api/v1alpha1/reasons_action.go")
	for _, rule := range rulesOf(t, "pgstorage-agent") {
		t.Run(rule.Alert+" "+rule.Labels["severity"], func(t *testing.T) {
			checkAlert(t, rule)
			expr := rule.Expr.String()
			for _, name := range regexp.MustCompile(`\bpgstorage_(\w+)`).FindAllStringSubmatch(expr, -1) {
				if !strings.Contains(source, `"`+strings.TrimPrefix(name[1], "s3nbd_")+`"`) && !strings.Contains(source, `"`+name[0]+`"`) {
					t.Errorf("no metric %s", name[0])
				}
			}
			for _, of := range regexp.MustCompile(`(?:reason|condition)!?=~?"([^"]+)"`).FindAllStringSubmatch(expr, -1) {
				for reason := range strings.SplitSeq(of[1], "|") {
					if !strings.Contains(reasons, `"`+reason+`"`) {
						t.Errorf("no reason or condition %s", reason)
					}
				}
			}
		})
	}
}

// reasonsIn returns the reasons that functions of a file name.
func reasonsIn(t *testing.T, file string, functions ...string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), path.Join(root, file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	found := 0
	for _, declaration := range parsed.Decls {
		function, is := declaration.(*ast.FuncDecl)
		if !is || !slices.Contains(functions, function.Name.Name) {
			continue
		}
		found++
		ast.Inspect(function, func(n ast.Node) bool {
			if selector, is := n.(*ast.SelectorExpr); is {
				if reason, is := strings.CutPrefix(selector.Sel.Name, "Reason"); is && reason != "" {
					reasons = append(reasons, reason)
				}
			}
			return true
		})
	}
	if found != len(functions) {
		t.Fatalf("%s has %d of %q", file, found, functions)
	}
	return reasons
}

// Each reason by which DevicesHealthy can be False has one alert.
func TestEachReasonOfDevicesHasAnAlert(t *testing.T) {
	reasons := slices.Concat(
		reasonsIn(t, "internal/node/decide/health.go", "DevicesOutcome"),
		reasonsIn(t, "internal/node/decide/layout.go", "name", "unfit"),
		reasonsIn(t, "internal/node/decide/wipe.go", "mayWipe"),
		reasonsIn(t, "internal/node/agent/outcomes.go", "devicesOutcome"),
	)
	slices.Sort(reasons)
	reasons = slices.DeleteFunc(slices.Compact(reasons), func(reason string) bool {
		return reason == v1alpha1.ReasonHealthy || reason == v1alpha1.ReasonNotReadBack
	})
	alerts := map[string][]string{}
	for _, rule := range rulesOf(t, "pgstorage-agent") {
		for _, of := range regexp.MustCompile(`\{(?:condition="(\w+)",)?reason=~?"([^"]+)"\}`).FindAllStringSubmatch(rule.Expr.String(), -1) {
			for reason := range strings.SplitSeq(of[2], "|") {
				if of[1] == "" || of[1] == v1alpha1.ConditionDevicesHealthy {
					alerts[reason] = append(alerts[reason], rule.Alert)
				}
			}
		}
	}
	for _, reason := range reasons {
		if len(alerts[reason]) != 1 {
			t.Errorf("%s has the alerts %q", reason, alerts[reason])
		}
	}
	if len(reasons) < 7 {
		t.Errorf("found only %q", reasons)
	}
}

// rulesOf a PrometheusRule of the chart.
func rulesOf(t *testing.T, name string) []monitoringv1.Rule {
	t.Helper()
	object := into[monitoringv1.PrometheusRule](t, installed(t, everything...)["PrometheusRule "+namespace+"/"+name])
	var rules []monitoringv1.Rule
	for _, group := range object.Spec.Groups {
		rules = append(rules, group.Rules...)
	}
	if len(rules) == 0 {
		t.Fatalf("PrometheusRule %s has no rules", name)
	}
	return rules
}

// checkAlert for what any of ours has.
func checkAlert(t *testing.T, rule monitoringv1.Rule) {
	t.Helper()
	page := fmt.Sprintf("docs/runbooks/%s.md", rule.Alert)
	_, missing := os.Stat(path.Join(root, page))
	check(t, map[string]bool{
		"a severity":    slices.Contains([]string{"warning", "critical"}, rule.Labels["severity"]),
		"a summary":     rule.Annotations["summary"] != "",
		"a description": rule.Annotations["description"] != "",
		"a page":        rule.Annotations["runbook_url"] == repository+page && missing == nil,
		"in the list":   strings.Contains(readFile(t, "docs/runbooks/README.md"), "("+rule.Alert+".md)"),
		"a duration":    rule.For != nil,
	})
}

// The notes say what the agent's namespace needs.
func TestNotesMentionTheAgent(t *testing.T) {
	for set, want := range map[string]string{
		"agent.enabled=false":                            "need the agent on the nodes: agent.enabled=true",
		"agent.enabled=true":                             "kubectl label namespace pgstorage-system --overwrite",
		"agent.enabled=true,agent.dryRun=true":           "they only print what they would run",
		"agent.enabled=true,agent.admissionPolicy=false": "CAUTION: agent.admissionPolicy=false",
	} {
		notes := renderNotes(t, set)
		if !strings.Contains(notes, want) {
			t.Errorf("%s: no %q in:\n%s", set, want, notes)
		}
	}
}

// renderNotes has a copy of the chart render its notes into a ConfigMap, because
// helm shows notes only of what it installs.
func renderNotes(t *testing.T, set string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(chart)); err != nil {
		t.Fatal(err)
	}
	template := `{{ define "notes" }}` + readFile(t, "charts/pgstorage/templates/NOTES.txt") + `{{ end }}
apiVersion: v1
kind: ConfigMap
metadata: {name: notes}
data: {notes: {{ include "notes" . | toJson }}}
`
	if err := os.WriteFile(path.Join(dir, "templates", "notes.yaml"), []byte(template), 0o600); err != nil {
		t.Fatal(err)
	}
	out, stderr, err := tool(t, "HELM", "helm", "template", "pgstorage", dir, "--namespace", namespace,
		"--kube-version", kubeVersion, "--show-only", "templates/notes.yaml", "--set", set)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	return into[corev1.ConfigMap](t, parse(t, out)["ConfigMap /notes"]).Data["notes"]
}
