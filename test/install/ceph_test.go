package install_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
)

// mgrMetrics that the alerts use, with their labels, as Ceph's mgr has them
// (src/pybind/mgr/prometheus/module.py). health_detail and the pg states of each pool exist
// since Quincy, and Rook takes Ceph from Squid on.
var mgrMetrics = map[string][]string{
	"ceph_health_status": nil,
	"ceph_health_detail": {"name", "severity"},
	"ceph_osd_up":        {"ceph_daemon"},
	"ceph_pg_total":      {"pool_id"},
	"ceph_pg_active":     {"pool_id"},
	"ceph_pg_undersized": {"pool_id"},
	"ceph_pool_metadata": {"pool_id", "name", "type", "description", "compression_mode"},
}

// The cluster is what a ServiceMonitor adds.
const clusterLabel = "cluster"

// The alerts on Ceph ask for metrics that its mgr has, and group by labels of these.
func TestCephAlertsUseMetricsOfTheMgr(t *testing.T) {
	for _, rule := range rulesOf(t, "pgstorage-ceph") {
		t.Run(rule.Alert+" "+rule.Labels["severity"], func(t *testing.T) {
			checkAlert(t, rule)
			expr := rule.Expr.String()
			for _, name := range regexp.MustCompile(`\bceph_\w+`).FindAllString(expr, -1) {
				if _, known := mgrMetrics[name]; !known && name != "ceph_daemon" {
					t.Errorf("no metric %s", name)
				}
			}
			for _, by := range regexp.MustCompile(`by \(([^)]*)\) \((\w+)`).FindAllStringSubmatch(expr, -1) {
				for label := range strings.SplitSeq(by[1], ", ") {
					if label != clusterLabel && by[2] != "up" && !slices.Contains(mgrMetrics[by[2]], label) {
						t.Errorf("%s has no label %s", by[2], label)
					}
				}
			}
		})
	}
}

// checksIn an expression on health checks.
func checksIn(rules []monitoringv1.Rule) []string {
	var names []string
	for _, rule := range rules {
		for _, of := range regexp.MustCompile(`ceph_health_detail\{name=~?"([^"]+)"`).FindAllStringSubmatch(rule.Expr.String(), -1) {
			names = append(names, strings.Split(of[1], "|")...)
		}
	}
	return names
}

// A check that keeps new databases waiting for an administrator has an alert. Each check of an
// alert is one that profiles judge.
func TestEveryCephCheckHasAnAlert(t *testing.T) {
	source := readFile(t, "internal/operator/profile/cephrbd/health.go")
	told := checksIn(rulesOf(t, "pgstorage-ceph"))
	quiet := map[string]string{
		"POOL_NO_REDUNDANCY": "one copy was asked for, or the pool is not the profile's",
	}
	needs := regexp.MustCompile(`"([A-Z_]+)": NeedsPerson`).FindAllStringSubmatch(source, -1)
	if len(needs) < 10 {
		t.Fatalf("%d checks need a person: is the expression right?", len(needs))
	}
	for _, name := range needs {
		if slices.Contains(told, name[1]) == (quiet[name[1]] != "") {
			t.Errorf("%s: told %v, enough without: %q", name[1], slices.Contains(told, name[1]), quiet[name[1]])
		}
	}
	elsewhere := map[string]string{
		"OSD_HOST_DOWN": "of a node, and beside OSD_DOWN, which is judged (Ceph, Health checks)",
	}
	for _, name := range told {
		if !strings.Contains(source, `"`+name+`"`) && elsewhere[name] == "" {
			t.Errorf("%s is no check that a profile knows", name)
		}
	}
}

// The ServiceMonitor finds the Service that Rook makes for its mgrs (Rook,
// pkg/operator/ceph/cluster/mgr/spec.go), and names the cluster as Rook's own does.
func TestCephServiceMonitorSelectsTheMgrOfRook(t *testing.T) {
	monitor := into[monitoringv1.ServiceMonitor](t, installed(t, everything...)["ServiceMonitor "+namespace+"/pgstorage-ceph"])
	endpoint := monitor.Spec.Endpoints[0]
	check(t, map[string]bool{
		"any namespace": monitor.Spec.NamespaceSelector.Any,
		"the Service":   monitor.Spec.Selector.MatchLabels["app"] == "rook-ceph-mgr",
		"the port":      endpoint.Port == "http-metrics",
		"the cluster":   endpoint.RelabelConfigs[0].TargetLabel == clusterLabel,
		"Ceph's labels": endpoint.HonorLabels,
	})
}

// The monitors of Ceph need no agent: profiles on disks and on Ceph elsewhere have none.
func TestCephIsMonitoredWithoutAgents(t *testing.T) {
	all := installed(t, "--set", "metrics.enabled=false,metrics.ceph.serviceMonitor.enabled=true,metrics.ceph.prometheusRule.enabled=true")
	for _, key := range []string{"PrometheusRule " + namespace + "/pgstorage-ceph", "ServiceMonitor " + namespace + "/pgstorage-ceph"} {
		if all[key] == nil {
			t.Errorf("%s is not there", key)
		}
	}
}
