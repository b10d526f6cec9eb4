package install_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"sigs.k8s.io/yaml"
)

// alertCases of promtool for each PrometheusRule of the chart.
var alertCases = map[string]string{"pgstorage-agent": "agent.yaml", "pgstorage-benchmarks": "benchmarks.yaml", "pgstorage-ceph": "ceph.yaml", "pgstorage-postgres": "postgres.yaml"}

// promtool checks rules and tries cases on them; what it finds is the answer.
func promtool(t *testing.T, rules, cases string) (findings string) {
	t.Helper()
	dir := t.TempDir()
	path := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, args := range [][]string{{"check", "rules", path("rules.yaml", rules)}, {"test", "rules", path("cases.yaml", cases)}} {
		if stdout, stderr, err := tool(t, "PROMTOOL", "promtool", args...); err != nil {
			findings += stdout + stderr
		}
	}
	return findings
}

// Prometheus' own tool finds nothing wrong in the rules, and each alert goes off when it
// should and not otherwise.
func TestAlertsFire(t *testing.T) {
	for name, file := range alertCases {
		t.Run(name, func(t *testing.T) {
			spec := into[monitoringv1.PrometheusRule](t, installed(t, everything...)["PrometheusRule "+namespace+"/"+name]).Spec
			rules, err := yaml.Marshal(spec)
			if err != nil {
				t.Fatal(err)
			}
			cases := readFile(t, "test/install/testdata/alerts/"+file)
			if findings := promtool(t, string(rules), cases); findings != "" {
				t.Error(findings)
			}
			for _, rule := range rulesOf(t, name) {
				if !strings.Contains(cases, `alertname="`+rule.Alert+`"`) {
					t.Errorf("nothing is expected of %s", rule.Alert)
				}
			}
		})
	}
}

// The comparison finds an unexpected alert.
func TestAlertsAreCompared(t *testing.T) {
	findings := promtool(t, "groups: [{name: g, rules: [{alert: A, expr: up == 0}]}]", `
rule_files: [rules.yaml]
tests: [{interval: 1m, input_series: [{series: up, values: '0x5'}], promql_expr_test: [{eval_time: 1m, expr: ALERTS, exp_samples: []}]}]
`)
	if !strings.Contains(findings, `alertname="A"`) {
		t.Errorf("found %q", findings)
	}
}
