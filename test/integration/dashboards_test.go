//go:build linux

package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers"
	"github.com/pgstorage/pgstorage/controllers/pgnodestorage"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/agent"
	"github.com/pgstorage/pgstorage/internal/node/decide"
	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/node/host/hosttest"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/dashboards"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
	realprometheus "github.com/pgstorage/pgstorage/internal/testing/prometheus"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
	"github.com/pgstorage/pgstorage/internal/zerofs"
	"github.com/pgstorage/pgstorage/internal/zerofs/supervise"
)

// board is the name of the node, the profile and their objects.
const board = "board"

// absentHere are metrics that this test cannot have.
var absentHere = map[string]string{
	"leader_election_master_status":            "the managers of tests elect no leader; the end-to-end test has it",
	"pgstorage_memory_volume_size_bytes":       "a profile of type Memory has it; a test of the collector does",
	"pgstorage_memory_volume_used_bytes":       "a profile of type Memory has it; a test of the collector does",
	"pgstorage_cluster_site_info":              "a database of several sites has it; a test of the collector has one",
	"pgstorage_cluster_follower_info":          "a read pool has it; a test of the collector has one",
	"pgstorage_profile_flush_latency_seconds":  "only profiles of type S3NBD have it; a test of the collector does",
	"kube_daemonset_status_number_unavailable": "of kube-state-metrics, and used only where it is there",
}

// served returns the address of an exporter of collectors, beside what the controllers of
// this process report.
func served(t *testing.T, g prometheus.Gatherer) string {
	t.Helper()
	s := httptest.NewServer(promhttp.HandlerFor(prometheus.Gatherers{g, metrics.Registry}, promhttp.HandlerOpts{}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// recordedAgent is the exporter of an agent after a pass on a node whose ZFS is recorded.
func recordedAgent(t *testing.T) string {
	t.Helper()
	iostat, err := os.ReadFile(filepath.Join(repository.Root(), "internal", "node", "zfs", "testdata", "iostat.txt"))
	if err != nil {
		t.Fatal(err)
	}
	commands := host.Counting(&hosttest.Replay{Answers: map[string]hosttest.Answer{
		"zpool list -Hp -o name,guid,size,allocated,free,fragmentation,capacity,health": {Stdout: "tank\t8159372581058187207\t503316480\t53301248\t450015232\t1\t10\tONLINE\n"},
		"zpool iostat -wHp tank": {Stdout: strings.Replace(string(iostat), "pmirr", "tank", 1)},
	}})
	registry := prometheus.NewRegistry()
	m := pgnodestorage.NewMetrics(registry, commands)
	registry.MustRegister(&pgnodestorage.LatencyCollector{ZFS: &zfs.Client{Runner: commands}})
	figures := map[string]zfs.Property{}
	for name, value := range map[string]string{"size": "503316480", "allocated": "53301248", "free": "450015232", "capacity": "10", "fragmentation": "1", "health": "ONLINE"} {
		figures[name] = zfs.Property{Value: value}
	}
	s := agentStorage(naming.NodeStorage(board, board), board)
	s.Spec.Pool.Name = "tank"
	m.Observe(s, agent.PassResult{
		Outcomes: []outcome.Outcome{outcome.DoneWith(v1alpha1.ConditionPoolReady, v1alpha1.ReasonPoolOnline, "")},
		Drift:    []string{"atime"},
		Seen: decide.Seen{
			Loaded: true, Pool: figures, ARC: zfs.ARC{Size: 1 << 30, Target: 1 << 30, Min: 1 << 28, Max: 1 << 31, Hits: 9, Misses: 1, L2Hits: 2, L2Misses: 1},
			Network: &decide.Network{
				Lives:        map[string]decide.Life{"a": {ID: "1", Running: true, Held: true}},
				Servers:      map[string]zerofs.ServerStatus{"a": {Life: "1", Phase: zerofs.PhaseServing}},
				Devices:      []decide.NetworkDevice{{Server: "a", Export: "e0", Attached: &decide.Attachment{}}},
				FlushLatency: 12 * time.Millisecond,
			},
		},
	})
	return served(t, registry)
}

// recordedServer is the exporter of a ZeroFS server.
func recordedServer(t *testing.T) string {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(supervise.Collector(func() zerofs.ServerStatus {
		return zerofs.ServerStatus{
			Phase: zerofs.PhaseServing, WaitSeconds: map[string]int64{"e0": 1}, UnflushedBytes: 4096,
			S3: &zerofs.StoreTraffic{Requests: map[string]int64{"PUT": 7, "GET": 3}},
		}
	}))
	return served(t, registry)
}

// simulatedPool completes what the agent of the node reports.
func simulatedPool(t *testing.T, c client.Client) {
	t.Helper()
	s := &v1alpha1.PgNodeStorage{ObjectMeta: metav1.ObjectMeta{Name: naming.NodeStorage(board, board)}}
	size := resource.MustParse("1Gi")
	eventually(t, "the pool of "+board, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil {
			return err
		}
		s.Status.VolumeCount, s.Status.ARC = new(int32(1)), &v1alpha1.ObservedARC{Size: &size, Max: &size}
		s.Status.Pool = &v1alpha1.ObservedPool{
			Name: "tank", Health: "DEGRADED", FullAt: new(metav1.NewTime(time.Now().Add(time.Hour))),
			Vdevs: []v1alpha1.ObservedVdev{{Name: "sda", State: "ONLINE"}, {Name: "sdb", State: "FAULTED", ReadErrors: 1}},
		}
		return c.Status().Update(ctx, s)
	})
	simulatedKubelet(t, c, board, func(status *corev1.NodeStatus, _ *corev1.NodeCondition) {
		status.Allocatable = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("8Gi")}
	})
}

// simulatedResults creates a benchmark that is to have a result, and a schedule that waits.
func simulatedResults(t *testing.T, c client.Client, cr *v1alpha1.PgStorageCluster) *v1alpha1.PgBenchmark {
	t.Helper()
	b := benchmark(cr, "measured")
	create(t, c, b, &v1alpha1.PgScheduledBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: cr.Namespace, Name: "nightly"},
		Spec:       v1alpha1.PgScheduledBenchmarkSpec{Schedule: "0 0 * * *", Template: v1alpha1.BenchmarkTemplate{Spec: b.Spec}},
	})
	return b
}

// regressed gives the benchmark the result of one that regressed, and fails unless it has it
// already. The manager does not change a result, but what it wrote before it saw one may come
// later.
func regressed(ctx context.Context, c client.Client, b *v1alpha1.PgBenchmark) error {
	if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil || b.Status.Phase == v1alpha1.PhaseSucceeded {
		return err
	}
	b.Status.Phase, b.Status.Durability, b.Status.CompletionTime = v1alpha1.PhaseSucceeded, v1alpha1.DurabilityLocal, new(metav1.Now())
	b.Status.Run = &v1alpha1.BenchmarkRun{Results: []v1alpha1.BenchmarkResult{{Clients: 1, TPS: "812.4", LatencyP99: "2.5"}}}
	meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonSucceeded})
	meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionNotRegressed, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonRegressed})
	return errors.Join(errors.New("the benchmark has a result only now"), c.Status().Update(ctx, b))
}

// A real Prometheus scrapes the manager's own exporter. The exporters of an agent and of a
// ZeroFS server have recorded figures. Each query of a dashboard, and each alert, finds the
// metrics that it names. The end-to-end test has those of Postgres.
func TestDashboardQueriesFindSeries(t *testing.T) {
	program := os.Getenv("PROMETHEUS")
	if program == "" {
		t.Fatal("PROMETHEUS is not set; run make test-integration")
	}
	c := apiserver.Client(t, config)
	registry := prometheus.NewRegistry()
	manager.Start(t, config, func(o *controllers.Options) { o.Registry = registry })
	cr := withoutFullPages(t, c, board, 1)
	simulatedClaim(t, c, cr, "shop-1", "pvc-board")
	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	simulatedVolume(t, c, board, v1alpha1.ObservedVolume{Name: "tank/pgdata/pvc-board", Type: "Filesystem", Recordsize: 8192})
	simulatedPool(t, c)
	measured := simulatedResults(t, c, cr)
	var files []string
	for _, path := range []string{"config/agent/prometheus/alerts.yaml", "config/prometheus/alerts/alerts.yaml", "config/prometheus/alerts/postgres.yaml"} {
		files = append(files, realprometheus.RuleFile(t, filepath.Join(repository.Root(), path)))
	}
	server := realprometheus.Start(t, program, fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [%s]
scrape_configs:
- {job_name: pgstorage-metrics, honor_labels: true, static_configs: [{targets: [%q]}]}
- {job_name: pgstorage-agent-metrics, static_configs: [{targets: [%q], labels: {node: board}}]}
- {job_name: servers, static_configs: [{targets: [%q], labels: {node: board, profile: board, store: a}}]}
`, strings.Join(files, ", "), served(t, registry), recordedAgent(t), recordedServer(t)))
	count := func(ctx context.Context, expr string) (int, error) {
		series, err := server.Query(ctx, expr)
		return len(series), err
	}
	queries := here(t, server)
	variables := map[string]string{"namespace": cr.Namespace, "cluster": cr.Name, "node": board}
	checked := 0
	eventually(t, "all targets up, and series of every query", func(ctx context.Context) error {
		if err := errors.Join(regressed(ctx, c, measured), server.Failing(ctx)); err != nil {
			return err
		}
		var problems []string
		problems, checked = dashboards.Check(ctx, count, queries, variables, absentHere)
		return dashboards.Text(problems)
	})
	t.Logf("%d of %d queries have series", checked, len(queries))
}

// here returns the queries of dashboards without those of Postgres, and the alerts as
// queries of what they name. An alert itself has no series while all is well.
func here(t *testing.T, server *realprometheus.Server) []dashboards.Query {
	t.Helper()
	queries, err := dashboards.All()
	if err != nil {
		t.Fatal(err)
	}
	var kept []dashboards.Query
	for _, q := range queries {
		if !dashboards.NeedsPostgres(q.Expr) {
			kept = append(kept, q)
		}
	}
	var alerts []realprometheus.Rule
	eventually(t, "every alert to be evaluated", func(ctx context.Context) (err error) {
		alerts, err = server.Rules(ctx)
		return err
	})
	for _, a := range alerts {
		for _, name := range dashboards.Present(a.Query) {
			if !dashboards.NeedsPostgres(a.Query) {
				kept = append(kept, dashboards.Query{Dashboard: "alerts", Panel: a.Name, Expr: name})
			}
		}
	}
	return kept
}
