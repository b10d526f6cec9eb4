package install_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// pods of the manager and, if it is rendered, of the agent.
func pods(t *testing.T, all objects) map[string]corev1.PodSpec {
	t.Helper()
	out := map[string]corev1.PodSpec{"manager": deployment(t, all).Spec.Template.Spec}
	if all["Pod "+namespace+"/pgstorage-test-version"] != nil {
		out["test"] = into[corev1.Pod](t, all["Pod "+namespace+"/pgstorage-test-version"]).Spec
	}
	return out
}

// renderPlatform with the values file of a platform, its test pod, and further arguments.
func renderPlatform(t *testing.T, platform string, args ...string) objects {
	t.Helper()
	out, err := helmTemplate(t, append([]string{"--values", filepath.Join(chart, "ci", platform+"-values.yaml")}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, out)
}

// Every platform's values render, without anything privileged, and docs/platforms.md says what
// works there.
func TestPlatformsRenderWithoutPrivileges(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(chart, "ci", "*-values.yaml"))
	if err != nil || len(files) != 4 {
		t.Fatalf("%q: %v", files, err)
	}
	page := readFile(t, "docs/platforms.md")
	for _, file := range files {
		platform := strings.TrimSuffix(filepath.Base(file), "-values.yaml")
		all := renderPlatform(t, platform)
		for name, pod := range pods(t, all) {
			c := pod.Containers[0].SecurityContext
			if pod.HostNetwork || pod.HostPID || c.Privileged != nil || !is(c.AllowPrivilegeEscalation, false) || !is(pod.SecurityContext.RunAsNonRoot, true) {
				t.Errorf("%s: pod of the %s has privileges", platform, name)
			}
		}
		for key := range all {
			if strings.HasPrefix(key, "DaemonSet ") {
				t.Errorf("%s: %s is privileged", platform, key)
			}
		}
		if !strings.Contains(page, "charts/pgstorage/ci/"+filepath.Base(file)) {
			t.Errorf("docs/platforms.md does not name %s", file)
		}
	}
}

// OpenShift rejects a pod that names its user or group. The chart finds the platform by its API,
// or by the value.
func TestOpenShiftGivesThePodsTheirUsers(t *testing.T) {
	detected := []string{"--api-versions", "security.openshift.io/v1"}
	for name, test := range map[string]struct {
		args []string
		want bool
	}{
		"default":               {nil, false},
		"value":                 {[]string{"--set", "platform=OpenShift"}, true},
		"API":                   {detected, true},
		"API against the value": {append(slices.Clone(detected), "--set", "platform=Kubernetes"), false},
	} {
		out, err := helmTemplate(t, test.args...)
		if err != nil {
			t.Fatal(err)
		}
		all := parse(t, out)
		for pod, spec := range pods(t, all) {
			c := spec.SecurityContext
			if got := c.RunAsUser == nil && c.RunAsGroup == nil && c.FSGroup == nil; got != test.want {
				t.Errorf("%s: %s: user %v, group %v, fsGroup %v", name, pod, c.RunAsUser, c.RunAsGroup, c.FSGroup)
			}
		}
		if got := slices.Contains(deployment(t, all).Spec.Template.Spec.Containers[0].Args, "--platform=OpenShift"); got != test.want {
			t.Errorf("%s: --platform=OpenShift: %v, want %v", name, got, test.want)
		}
	}
}

// On OpenShift the agent may use the constraints that admit it, and nothing else gets them.
func TestOpenShiftAdmitsTheAgent(t *testing.T) {
	binding := into[rbacv1.RoleBinding](t, renderPlatform(t, "openshift", "--set", "agent.enabled=true")["RoleBinding "+namespace+"/pgstorage-agent-scc"])
	if len(binding.Subjects) != 1 || binding.Subjects[0].Name != "pgstorage-agent" || binding.RoleRef.Name != "system:openshift:scc:privileged" {
		t.Errorf("got %+v", binding)
	}
	for name, all := range map[string]objects{"without the agent": renderPlatform(t, "openshift"), "on Kubernetes": installed(t, "--set", "agent.enabled=true")} {
		if all["RoleBinding "+namespace+"/pgstorage-agent-scc"] != nil {
			t.Errorf("%s there is a binding to OpenShift's constraints", name)
		}
	}
}

// commands of pages that upgrade a release.
var upgrade = regexp.MustCompile(`helm upgrade (?:[^\n]*\\\n)*[^\n]*`)

// carelessUpgrades of a page: those that undo values which were set before.
func carelessUpgrades(page string) []string {
	return slices.DeleteFunc(upgrade.FindAllString(page, -1), func(command string) bool {
		return strings.Contains(command, "--reset-then-reuse-values") || strings.Contains(command, "or kubectl apply")
	})
}

// No page undoes the values of an earlier one.
func TestUpgradesKeepValues(t *testing.T) {
	for name := range pages(t) {
		for _, command := range carelessUpgrades(readFile(t, name)) {
			t.Errorf("%s: add --reset-then-reuse-values to: %s", name, command)
		}
	}
	for command, want := range map[string]int{
		"helm upgrade a b":                                                 1,
		"helm upgrade --install a b \\\n  --set c=d":                       1,
		"helm upgrade a b \\\n  --set c=d \\\n  --reset-then-reuse-values": 0,
		"helm upgrade a b --reuse-values":                                  1,
	} {
		if got := carelessUpgrades(command); len(got) != want {
			t.Errorf("%q: found %q, want %d", command, got, want)
		}
	}
}

// A page that names a version names the chart's: hack/release-e2e.sh types it.
func TestPageInstallsTheVersionOfTheChart(t *testing.T) {
	current := regexp.MustCompile(`(?m)^appVersion: (\S+)$`).FindStringSubmatch(readFile(t, "charts/pgstorage/Chart.yaml"))[1]
	page := readFile(t, "docs/install.md")
	found := regexp.MustCompile(`(?:--version |download/v|VERSION=v)(\d+\.\d+\.\d+)`).FindAllStringSubmatch(page, -1)
	for _, version := range found {
		if "v"+version[1] != current {
			t.Errorf("docs/install.md installs %s, the chart is %s", version[1], current)
		}
	}
	if len(found) < 5 {
		t.Errorf("docs/install.md names only %d versions", len(found))
	}
	for _, script := range []string{"hack/release-e2e.sh", "test/release/suite_test.go"} {
		if !regexp.MustCompile(`(?im)^\s*version\s*=\s*"?` + regexp.QuoteMeta(current) + `"?$`).MatchString(readFile(t, script)) {
			t.Errorf("%s does not test %s", script, current)
		}
	}
}
