package install_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// The alerts on benchmarks and databases use metrics that the manager has, and name labels of
// these metrics.
func TestBenchmarkAlertsUseExistingMetrics(t *testing.T) {
	reference := readFile(t, "docs/metrics.md")
	for _, rule := range rulesOf(t, "pgstorage-benchmarks") {
		t.Run(rule.Alert, func(t *testing.T) {
			checkAlert(t, rule)
			expr := rule.Expr.String()
			for _, name := range regexp.MustCompile(`\bpgstorage_\w+`).FindAllString(expr, -1) {
				if !strings.Contains(reference, "| `"+name+"` |") {
					t.Errorf("no metric %s", name)
				}
			}
			by := regexp.MustCompile(`by \(([^)]*)\)`).FindStringSubmatch(expr)
			if by == nil {
				t.Fatal("not aggregated: each replica of the manager would raise it, and one that takes over anew")
			}
			for _, label := range regexp.MustCompile(`\$labels\.(\w+)`).FindAllStringSubmatch(rule.Annotations["summary"]+rule.Annotations["description"], -1) {
				if !slices.Contains(strings.Split(by[1], ", "), label[1]) || !strings.Contains(reference, "`"+label[1]+"`") {
					t.Errorf("no label %s", label[1])
				}
			}
		})
	}
}

// The alerts on Postgres and the manager are complete.
func TestPostgresAlerts(t *testing.T) {
	for _, rule := range rulesOf(t, "pgstorage-postgres") {
		t.Run(rule.Alert, func(t *testing.T) { checkAlert(t, rule) })
	}
}

// The namespace of a series is the benchmark's.
func TestServiceMonitorKeepsLabels(t *testing.T) {
	monitor := into[monitoringv1.ServiceMonitor](t, installed(t, everything...)["ServiceMonitor "+namespace+"/pgstorage-manager"])
	if !monitor.Spec.Endpoints[0].HonorLabels {
		t.Error("namespace would become exported_namespace")
	}
}

// The manager may create and delete databases only where the user enabled it.
func TestManagerCannotCreateClustersByDefault(t *testing.T) {
	for key, object := range installed(t) {
		if strings.Contains(key, "matrix-clusters") || strings.Contains(key, "read-pools") || strings.HasSuffix(key, "/pgstorage-memory") || strings.HasSuffix(key, "/pgstorage-sites") || strings.HasSuffix(key, "/pgstorage-branches") {
			t.Errorf("%s is installed by default", key)
		}
		if key != "ClusterRole /pgstorage-manager" {
			continue
		}
		for name := range flat(into[rbacv1.ClusterRole](t, object).Rules) {
			if name == "pgstorage.dev/pgstorageclusters[] create" || name == "pgstorage.dev/pgstorageclusters[] delete" || name == "/persistentvolumes[] create" || name == "snapshot.storage.k8s.io/volumesnapshots[] create" {
				t.Errorf("the manager has %s", name)
			}
		}
	}
	if args := deployment(t, installed(t)).Spec.Template.Spec.Containers[0].Args; slices.ContainsFunc(args, func(a string) bool {
		return strings.Contains(a, "MatrixClusters") || strings.Contains(a, "ReadPools") || strings.Contains(a, "Memory") || strings.Contains(a, "Sites") || strings.Contains(a, "Branches")
	}) {
		t.Errorf("%q", args)
	}
}
