//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/dashboards"
	"github.com/pgstorage/pgstorage/internal/testing/live"
	"github.com/pgstorage/pgstorage/internal/testing/long"
	"github.com/pgstorage/pgstorage/internal/testing/prometheus"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

// absentHere are metrics that a kind cluster without nodes with ZFS cannot have.
var absentHere = map[string]string{
	"pgstorage_benchmark_regressed":      "a matrix with a gate has it; the integration test has one",
	"pgstorage_memory_volume_size_bytes": "a profile of type Memory has it; a test of the collector does",
	"pgstorage_memory_volume_used_bytes": "a profile of type Memory has it; a test of the collector does",
	"pgstorage_cluster_site_info":        "a database of several sites has it; a test of the collector has one",
	"pgstorage_cluster_follower_info":    "a read pool has it; a test of the collector has one",
}

// TestDashboards runs every query of dashboards and alerts that needs no node with ZFS
// against a real Prometheus. It scrapes the manager over HTTPS with the token of a
// ServiceAccount, and CloudNativePG's exporters of a database with a quorum.
// TestDashboardQueriesFindSeries of test/integration has the others.
func TestDashboards(t *testing.T) {
	long.Skip(t, "make test-e2e")
	profile(t)
	shop := cluster(namespace(t), "shop")
	shop.Spec.Instances, shop.Spec.Durability = new(int32(2)), v1alpha1.DurabilityQuorum
	shop.Spec.Storage.WALSize = new(resource.MustParse("1Gi"))
	create(t, shop)
	ready(t, shop)
	measured(t, shop)
	server := prometheus.Start(t, os.Getenv("PROMETHEUS"), scrapes(t, shop))
	queries := onKind(t, server)
	variables := map[string]string{"namespace": shop.Namespace, "cluster": shop.Name}
	count := func(ctx context.Context, expr string) (int, error) {
		series, err := server.Query(ctx, expr)
		return len(series), err
	}
	checked := 0
	eventually(t, "all targets up, and series of every query", func(ctx context.Context) error {
		if err := server.Failing(ctx); err != nil {
			return err
		}
		var problems []string
		problems, checked = dashboards.Check(ctx, count, queries, variables, absentHere)
		return dashboards.Text(problems)
	})
	t.Logf("%d of %d queries have series", checked, len(queries))
}

// measured has a benchmark's result, and a schedule that waits for its first run.
func measured(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	t.Helper()
	spec := v1alpha1.PgBenchmarkSpec{Cluster: shop.Name, Pgbench: v1alpha1.PgbenchSpec{Scale: 1, Clients: []int32{1}, Duration: "2s", WarmUp: "0s", Integrity: v1alpha1.IntegrityBasic}}
	b := &v1alpha1.PgBenchmark{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "once"}, Spec: spec}
	create(t, b, &v1alpha1.PgScheduledBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "yearly"},
		Spec:       v1alpha1.PgScheduledBenchmarkSpec{Schedule: "0 0 1 1 *", Template: v1alpha1.BenchmarkTemplate{Spec: spec}},
	})
	eventually(t, "a result", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		if b.Status.Phase != v1alpha1.PhaseSucceeded {
			return fmt.Errorf("phase %s", b.Status.Phase)
		}
		return nil
	})
}

// onKind are the queries that need no node with ZFS, and the metrics that alerts name.
func onKind(t *testing.T, server *prometheus.Server) []dashboards.Query {
	t.Helper()
	all, err := dashboards.All()
	if err != nil {
		t.Fatal(err)
	}
	var alerts []prometheus.Rule
	eventually(t, "every alert to be evaluated", func(ctx context.Context) (err error) {
		alerts, err = server.Rules(ctx)
		return err
	})
	for _, a := range alerts {
		for _, name := range dashboards.Present(a.Query) {
			all = append(all, dashboards.Query{Dashboard: "alerts", Panel: a.Name, Expr: name})
		}
	}
	return slices.DeleteFunc(all, func(q dashboards.Query) bool { return dashboards.NeedsNodes(q.Expr) })
}

// scrapes is the configuration of Prometheus. This machine does not reach the network of
// the pods. Prometheus scrapes the manager through a forwarded port, and the instances
// through the API server's proxy.
func scrapes(t *testing.T, shop *v1alpha1.PgStorageCluster) string {
	t.Helper()
	config, err := ctrl.GetConfig()
	if err != nil {
		t.Fatal(err)
	}
	pods, err := live.Instances(t.Context(), c, shop.Namespace, shop.Name)
	if err != nil {
		t.Fatal(err)
	}
	var instances []string
	for pod := range pods {
		instances = append(instances, fmt.Sprintf("{targets: [%q], labels: {__metrics_path__: /api/v1/namespaces/%s/pods/%s:9187/proxy/metrics, namespace: %s, pod: %s}}",
			strings.TrimPrefix(config.Host, "https://"), shop.Namespace, pod, shop.Namespace, pod))
	}
	root := repository.Root()
	return fmt.Sprintf(`
global: {scrape_interval: 5s, evaluation_interval: 5s}
rule_files: [%s, %s]
scrape_configs:
- job_name: pgstorage-metrics
  scheme: https
  honor_labels: true
  authorization: {credentials_file: %s}
  tls_config: {insecure_skip_verify: true}
  static_configs: [{targets: [%q]}]
- job_name: instances
  scheme: https
  tls_config: {ca_file: %s, cert_file: %s, key_file: %s}
  static_configs: [%s]
`, prometheus.RuleFile(t, filepath.Join(root, "config/prometheus/alerts/alerts.yaml")), prometheus.RuleFile(t, filepath.Join(root, "config/prometheus/alerts/postgres.yaml")),
		written(t, []byte(live.MetricsToken(t, c, shop.Namespace))), live.Forwarded(t), file(t, config.TLSClientConfig, "ca"), file(t, config.TLSClientConfig, "cert"), file(t, config.TLSClientConfig, "key"), strings.Join(instances, ", "))
}

// file with a part of the credentials of the kubeconfig.
func file(t *testing.T, tls rest.TLSClientConfig, part string) string {
	t.Helper()
	return written(t, map[string][]byte{"ca": tls.CAData, "cert": tls.CertData, "key": tls.KeyData}[part])
}

func written(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "content")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
