package reconcile

import (
	"context"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/pgstorage/pgstorage/test/bench/harness/harnesstest"
)

func TestRequestsAreCountedByVerbResourceAndCluster(t *testing.T) {
	const crs, foreign = "/apis/pgstorage.dev/v1alpha1/namespaces/a/pgstorageclusters", "/apis/postgresql.cnpg.io/v1/namespaces/a/clusters"
	for _, c := range []struct {
		method, path, kind, body string
		want                     request
	}{
		{"GET", crs, "", "", request{"list", "pgstorageclusters", ""}},
		{"GET", crs + "/c", "", "", request{"get", "pgstorageclusters", ""}},
		{"GET", crs + "?watch=true", "", "", request{"watch", "pgstorageclusters", ""}},
		{"GET", crs + "?watch=false&limit=500", "", "", request{"list", "pgstorageclusters", ""}},
		{"PATCH", crs + "/c", "application/merge-patch+json", "{}", request{"merge-patch", "pgstorageclusters", "a/c"}},
		{"PATCH", crs + "/c/status", "application/apply-patch+yaml", "{}", request{"apply-patch", "pgstorageclusters/status", "a/c"}},
		{"PATCH", foreign + "/c?force=true", "application/apply-patch+yaml; charset=utf-8", "{}", request{"apply-patch", "clusters", "a/c"}},
		{"PATCH", foreign + "/c", "application/json-patch+json", "[]", request{"json-patch", "clusters", "a/c"}},
		{"POST", foreign, "application/json", `{"metadata":{"name":"c-1"}}`, request{"create", "clusters", "a/c-1"}},
		{"POST", foreign, "application/json", `{"metadata":{"name":"c-1","labels":{"pgstorage.dev/cluster":"c"}}}`, request{"create", "clusters", "a/c"}},
		{"DELETE", foreign + "/c", "", "", request{"delete", "clusters", "a/c"}},
		{"PATCH", "/apis/pgstorage.dev/v1alpha1/pgstorageprofiles/p/status", "application/apply-patch+yaml", "{}", request{"apply-patch", "pgstorageprofiles/status", ""}},
		{"POST", "/apis/events.k8s.io/v1/namespaces/a/events", "", "{}", request{verb: event}},
		{"PATCH", "/api/v1/namespaces/a/events/e", "application/merge-patch+json", "{}", request{verb: event}},
		{"PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/l", "", "{}", request{verb: housekeeping}},
		{"POST", "/apis/authentication.k8s.io/v1/tokenreviews", "", "{}", request{verb: housekeeping}},
		{"GET", "/apis/pgstorage.dev/v1alpha1", "", "", request{verb: housekeeping}},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.kind)
		if got := requestOf(r); got != c.want {
			t.Errorf("%s %s: %+v, want %+v", c.method, c.path, got, c.want)
		}
		if body, err := io.ReadAll(r.Body); err != nil || string(body) != c.body {
			t.Errorf("%s %s forwards %q, %v", c.method, c.path, body, err)
		}
	}
}

func TestBusiestClusterHasTheMostWrites(t *testing.T) {
	then := tally{{"create", "clusters", "a/one"}: 9}
	now := tally{
		{"create", "clusters", "a/one"}: 10, {"apply-patch", "clusters/status", "a/one"}: 2, {"merge-patch", "clusters", "a/two"}: 5,
		{"apply-patch", "profiles", ""}: 90, {"get", "clusters", ""}: 80, {verb: event}: 70,
	}
	got := now.since(then)
	if name, n := got.busiest(); name != "a/two" || n != 5 {
		t.Errorf("busiest is %s with %d", name, n)
	}
	if got.own() != 8 || got.writes() != 98 || got.reads() != 80 || got.changes() != 168 {
		t.Errorf("own %d, writes %d, reads %d, changes %d", got.own(), got.writes(), got.reads(), got.changes())
	}
}

func TestQuantilesAreThoseOfTheHistogram(t *testing.T) {
	inf := math.Inf(1)
	then := histogram{{1, 100}, {2, 100}, {4, 100}, {inf, 100}}
	now := histogram{{1, 100}, {2, 110}, {4, 118}, {inf, 120}}
	h := now.since(then) // 10 in 1..2, 8 in 2..4, 2 beyond
	for q, want := range map[float64]float64{0.25: 1.5, 0.5: 2, 0.7: 3, 0.95: 4} {
		if got := h.quantile(q); math.Abs(got-want) > 1e-9 {
			t.Errorf("quantile %g is %g, want %g", q, got, want)
		}
	}
	if h.count() != 20 || now.since(now).quantile(0.5) != 0 || (histogram{}).quantile(0.5) != 0 {
		t.Error("count, or the quantile of nothing")
	}
}

func TestDeadManagerIsNoticed(t *testing.T) {
	dir := t.TempDir()
	m := &manager{dir: dir, log: filepath.Join(dir, "log"), client: http.DefaultClient}
	m.cmd = exec.Command("sh", "-c", "seq 1 100; echo out of memory >&2; exit 3")
	ctx, cancel := context.WithCancelCause(t.Context())
	if err := m.launch(cancel); err != nil {
		t.Fatal(err)
	}
	s := &scene{options: options{rest: time.Minute}}
	_, err := s.watchRest(ctx)
	if err = because(ctx, err); err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.HasSuffix(err.Error(), "\n100\nout of memory") || strings.Contains(err.Error(), "\n50\n") || strings.Count(err.Error(), "exit status") != 1 {
		t.Errorf("at rest: %v", err)
	}
	m.stop()
}

func TestStoppedManagerIsNotMissed(t *testing.T) {
	for name, cmd := range map[string]*exec.Cmd{"running": exec.Command("sleep", "60"), "never started": nil} {
		dir := t.TempDir()
		m := &manager{dir: dir, log: filepath.Join(dir, "log"), client: http.DefaultClient, cmd: cmd}
		if cmd != nil {
			if err := m.launch(func(err error) { t.Errorf("%s: %v", name, err) }); err != nil {
				t.Fatal(err)
			}
		}
		m.stop()
	}
}

func TestInstancesAnswerAsCloudNativePG(t *testing.T) {
	i := &instances{ip: "127.77.0.1"}
	i.run(17, map[string]string{"shared_buffers": "4GB", "jit": "off", "random_page_cost": "1.1", "max_wal_size": "1TB", "timezone": "UTC"})
	w := httptest.NewRecorder()
	i.answer(w, nil)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, m := range families["cnpg_pg_settings_setting"].GetMetric() {
		got[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
	}
	want := map[string]float64{"shared_buffers": 524288, "jit": 0, "random_page_cost": 1.1, "max_wal_size": 1048576}
	if len(got) != len(want) {
		t.Errorf("%v, want %v", got, want)
	}
	for name, v := range want {
		if got[name] != v {
			t.Errorf("%s = %g, want %g", name, got[name], v)
		}
	}
	c := &cnpgv1.Cluster{Spec: cnpgv1.ClusterSpec{Instances: 3}}
	c.Name = "c"
	i.report(c)
	if len(c.Status.InstancesReportedState) != 3 || c.Status.InstancesReportedState["c-3"].IP != i.ip {
		t.Errorf("%+v", c.Status)
	}
}

func TestMarkIsForTheBusiestCluster(t *testing.T) {
	own := tally{{"create", "clusters", "a/one"}: 9, {"create", "clusters", "a/two"}: 1}
	quiet := &phase{requests: tally{}}
	f := &figures{
		clusters: 2, rest: time.Minute, times: []time.Duration{1, 2, 3, 4},
		create: &phase{name: "create", took: time.Second, requests: own, passes: histogram{{1, 2}, {math.Inf(1), 2}}},
		ready:  &phase{name: "ready", requests: tally{}, scrapes: 9}, atRest: quiet, withForeign: quiet,
	}
	if f.at(0.5) != 2 || f.at(1) != 4 || f.at(0) != 1 {
		t.Error("quantiles of times")
	}
	harnesstest.Missed(t, f.judge(io.Discard), "missed: at most 8 writes for any new cluster: 9 for a/one, 5.00 on the mean")
	harnesstest.Results(t, f.lines(), "Reconcile", 4)
	f.print(io.Discard)
}

// A mark that scales says the bound that was applied: none passes above what it says.
func TestMarksSayTheirBound(t *testing.T) {
	own := tally{{"create", "clusters", "a/one"}: 5}
	for _, c := range []struct {
		clusters   int
		heap, peak float64
		want       []string
	}{
		{2000, 56.5, 200, []string{
			"PASS  2000 clusters to all children within 4m0s (1m0s up to 500 clusters, in proportion beyond): 3m0s",
			"PASS  heap at most 85.0 MiB above idle with 2000 clusters (40 MiB up to 500 clusters, 0.03 MiB for each further): 56.5",
			"PASS  peak memory at most 256 MiB, the chart's limit, after a restart with 200 hostile objects at their bounds (job): 200.0",
		}},
		{500, 56.5, 257, []string{
			"MISS  500 clusters to all children within 1m0s (1m0s up to 500 clusters, in proportion beyond): 3m0s",
			"MISS  heap at most 40.0 MiB above idle with 500 clusters (40 MiB up to 500 clusters, 0.03 MiB for each further): 56.5",
			"MISS  peak memory at most 256 MiB, the chart's limit, after a restart with 200 hostile objects at their bounds (job): 257.0",
		}},
		{2000, 85.5, 200, []string{"MISS  heap at most 85.0 MiB above idle with 2000 clusters (40 MiB up to 500 clusters, 0.03 MiB for each further): 85.5"}},
	} {
		at := &phase{requests: tally{}, heap: c.heap * mebibyte}
		f := &figures{
			clusters: c.clusters, create: &phase{took: 3 * time.Minute, requests: own}, ready: &phase{requests: tally{}, scrapes: 9999}, atRest: at, withForeign: at,
			limit: 256 * mebibyte, hostile: []besieged{{kind: "job", objects: 200, peak: c.peak * mebibyte}},
		}
		var out strings.Builder
		_ = f.judge(&out)
		for _, line := range c.want {
			if !strings.Contains(out.String(), line+"\n") {
				t.Errorf("%d clusters: no line %q in\n%s", c.clusters, line, out.String())
			}
		}
	}
	if limit, err := memoryLimit(); err != nil || limit < 64*mebibyte {
		t.Errorf("limit of the chart: %g, %v", limit, err)
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	if o, err := parse([]string{"-clusters", "2", "-rest", "5s"}); err != nil || o.clusters != 2 || o.rest != 5*time.Second || o.foreign != 1000 {
		t.Errorf("parse() = %+v, %v", o, err)
	}
	harnesstest.Rejected(t, parse, []string{"-clusters", "0"}, []string{"-rest", "5"})
}
