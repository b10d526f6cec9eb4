package install_test

import (
	"strings"
	"testing"
)

func TestSchemaRefusesWrongValues(t *testing.T) {
	for _, test := range []struct {
		path, json string
		want       string // in helm's message
	}{
		{"replica", `2`, "replica"},
		{"replicas", `"two"`, "replicas"},
		{"replicas", `6`, "replicas"},
		{"image", `{"repository": "Registry/Upper"}`, "image"},
		{"image", `{"registry": "ghcr.io"}`, "registry"},
		{"image.digest", `"sha256:short"`, "digest"},
		{"image.tag", `"a tag"`, "tag"},
		{"image.pullPolicy", `"Sometimes"`, "pullPolicy"},
		{"imagePullSecrets", `["registry"]`, "imagePullSecrets"},
		{"resources.limits.memory", `"256 MB"`, "memory"},
		{"resources.claims", `[]`, "claims"},
		{"affinity.nodeAfinity", `{}`, "nodeAfinity"},
		{"leaderElection.enabled", `"yes"`, "leaderElection"},
		{"metrics.port", `9090`, "port"},
		{"metrics.serviceMonitor.labels.release", `1`, "labels"},
		{"logLevel", `"verbose"`, "logLevel"},
		{"maxConcurrentReconciles", `0`, "maxConcurrentReconciles"},
		{"kubeAPI.qps", `0`, "qps"},
		{"kubeAPI.burst", `1.5`, "burst"},
		{"crds.keep", `"true"`, "keep"},
		{"extraArgs", `["-v"]`, "extraArgs"},
		{"podAnnotations.a", `1`, "podAnnotations"},
		{"metrics.prometheusRule.labels.release", `1`, "labels"},
		{"metrics.ceph.prometheusRule.enabled", `"yes"`, "enabled"},
		{"metrics.ceph.serviceMonitor.labels", `{}`, "labels"},
		{"metrics.benchmarks.prometheusRule.enabled", `"yes"`, "enabled"},
		{"metrics.benchmarks.enabled", `true`, "benchmarks"},
		{"metrics.labels.release", `1`, "labels"},
		{"metrics.labels", `{"app.kubernetes.io/name": "a"}`, "invalid propertyName 'app.kubernetes.io/name'"},
		{"metrics.serviceMonitor.labels", `{"app.kubernetes.io/managed-by": "a"}`, "invalid propertyName 'app.kubernetes.io/managed-by'"},
		{"metrics.podMonitor.labels", `{"pgstorage.dev/cluster": "a"}`, "invalid propertyName 'pgstorage.dev/cluster'"},
		{"metrics.prometheusRule.labels", `{"helm.sh/chart": "a"}`, "invalid propertyName 'helm.sh/chart'"},
		{"metrics.dashboards.labels", `{"app.kubernetes.io/component": "a"}`, "invalid propertyName 'app.kubernetes.io/component'"},
		{"metrics.labels", `{"a/b/c": "a"}`, "invalid propertyName 'a/b/c'"},
		{"metrics.labels.release", `"a,b"`, "metrics/labels/release"},
		{"metrics.podMonitor.enabled", `true`, "podMonitor"},
		{"metrics.postgres.prometheusRule.enabled", `"yes"`, "enabled"},
		{"metrics.dashboards.enabled", `"yes"`, "enabled"},
		{"metrics.dashboards.labels.grafana_dashboard", `1`, "grafana_dashboard"},
		{"metrics.dashboards.namespace", `"Grafana"`, "namespace"},
		{"matrixClusters.enabled", `"yes"`, "enabled"},
		{"matrixClusters", `true`, "matrixClusters"},
		{"readPools.enabled", `"yes"`, "enabled"},
		{"branches.enabled", `"yes"`, "enabled"},
		{"memory.enabled", `"yes"`, "enabled"},
		{"metrics.ceph.enabled", `true`, "ceph"},
		{"agent.enabled", `"yes"`, "enabled"},
		{"agent.replicas", `1`, "replicas"},
		{"agent.resync", `30`, "resync"},
		{"agent.resync", `"30"`, "resync"},
		{"agent.commandTimeout", `"1 m"`, "commandTimeout"},
		{"agent.dryRun", `"true"`, "dryRun"},
		{"agent.admissionPolicy", `"Audit"`, "admissionPolicy"},
		{"agent.logLevel", `"verbose"`, "logLevel"},
		{"agent.resources.limits.memory", `"128 MB"`, "memory"},
		{"agent.nodeSelector.zone", `true`, "nodeSelector"},
		{"agent.extraArgs", `["-v"]`, "extraArgs"},
	} {
		t.Run(test.path+"="+test.json, func(t *testing.T) {
			_, err := helmTemplate(t, "--set-json", test.path+"="+test.json)
			switch {
			case err == nil:
				t.Error("accepted")
			case !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "values don't meet the specifications of the schema"):
				t.Errorf("refused for another reason: %v", err)
			}
		})
	}
}

func TestChartRefusesContradictions(t *testing.T) {
	for set, want := range map[string]string{
		"crds.install=false,crds.keep=false":                                           "Upgrade with crds.keep=true first",
		"replicas=2,leaderElection.enabled=false":                                      "replicas above 1 need leaderElection.enabled",
		"metrics.enabled=false,metrics.serviceMonitor.enabled=true":                    "metrics.serviceMonitor.enabled needs metrics.enabled",
		"metrics.enabled=false,metrics.benchmarks.prometheusRule.enabled=true":         "metrics.benchmarks.prometheusRule.enabled needs metrics.enabled",
		"metrics.enabled=false,metrics.postgres.prometheusRule.enabled=true":           "metrics.postgres.prometheusRule.enabled needs metrics.enabled",
		"metrics.prometheusRule.enabled=true":                                          "metrics.prometheusRule.enabled needs agent.enabled",
		"agent.enabled=true,metrics.prometheusRule.enabled=true,metrics.enabled=false": "metrics.prometheusRule.enabled needs agent.enabled and metrics.enabled",
	} {
		if _, err := helmTemplate(t, "--set", set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q, got %v", set, want, err)
		}
	}
}
