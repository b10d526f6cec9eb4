package install_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/internal/testing/dashboards"
)

// board is the schema of dashboards that files have; the newer one is for Grafana's API.
type board = dashboard.Dashboard //nolint:staticcheck // see above

// boards are the dashboards in the ConfigMaps of the chart, decoded by Grafana's own schema,
// which refuses fields that it does not know.
func boards(t *testing.T) map[string]board {
	t.Helper()
	runtime := cog.NewRuntime()
	runtime.RegisterPanelcfgVariant(stat.VariantConfig())
	runtime.RegisterPanelcfgVariant(table.VariantConfig())
	runtime.RegisterPanelcfgVariant(timeseries.VariantConfig())
	runtime.RegisterDataqueryVariant(prometheus.VariantConfig())
	found := map[string]board{}
	for key, object := range installed(t, everything...) {
		if !strings.Contains(key, "/pgstorage-dashboard-") {
			continue
		}
		for file, text := range into[corev1.ConfigMap](t, object).Data {
			var d board
			// The error of a success is an empty list, and not nil.
			if err := d.UnmarshalJSONStrict([]byte(text)); err != nil && err.Error() != "" {
				t.Fatalf("%s: %v", key, err)
			}
			if err := d.Validate(); err != nil {
				t.Errorf("%s: %v", key, err)
			}
			var decoded board // the strict decoder checks panels and keeps none
			if err := json.Unmarshal([]byte(text), &decoded); err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			found[file] = decoded
		}
	}
	if len(found) != 4 {
		t.Fatalf("%d dashboards", len(found))
	}
	return found
}

// grid has the cells that panels cover.
type grid map[[2]uint32]string

// cover returns an error for a panel beyond the columns or above another one.
func (c grid) cover(name string, at dashboard.GridPos) error {
	if at.X+at.W > 24 || at.W == 0 || at.H == 0 {
		return fmt.Errorf("%s is at %+v, beyond 24 columns", name, at)
	}
	for x := at.X; x < at.X+at.W; x++ {
		for y := at.Y; y < at.Y+at.H; y++ {
			if other := c[[2]uint32{x, y}]; other != "" {
				return fmt.Errorf("%s covers %s", name, other)
			}
			c[[2]uint32{x, y}] = name
		}
	}
	return nil
}

func TestPanelsDoNotOverlap(t *testing.T) {
	for file, d := range boards(t) {
		covered, ids := grid{}, map[uint32]bool{}
		for _, p := range d.Panels {
			var name string
			var id uint32
			var at *dashboard.GridPos
			if row := p.RowPanel; row != nil {
				name, id, at = *row.Title, row.Id, row.GridPos
			} else {
				name, id, at = *p.Panel.Title, *p.Panel.Id, p.Panel.GridPos
			}
			if err := covered.cover(name, *at); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			if ids[id] || id == 0 {
				t.Errorf("%s: %s has the ID %d, as another panel", file, name, id)
			}
			ids[id] = true
		}
	}
}

// What TestPanelsDoNotOverlap finds.
func TestOverlapsAreFound(t *testing.T) {
	c := grid{}
	for _, test := range []struct {
		at   dashboard.GridPos
		want string
	}{
		{dashboard.GridPos{X: 0, Y: 0, W: 12, H: 2}, ""},
		{dashboard.GridPos{X: 12, Y: 0, W: 12, H: 2}, ""},
		{dashboard.GridPos{X: 11, Y: 1, W: 2, H: 2}, "covers"},
		{dashboard.GridPos{X: 20, Y: 4, W: 5, H: 2}, "beyond 24 columns"},
	} {
		if err := c.cover("p", test.at); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.at, err, test.want)
		}
	}
}

// A panel says what it shows, takes the data source of the user, and names its series.
func TestPanelsAreExplained(t *testing.T) {
	for file, d := range boards(t) {
		for _, p := range d.Panels {
			if p.Panel == nil {
				continue
			}
			name := file + ", " + *p.Panel.Title
			if p.Panel.Description == nil || !strings.HasSuffix(*p.Panel.Description, ".") {
				t.Errorf("%s has no description", name)
			}
			if p.Panel.Datasource == nil || *p.Panel.Datasource.Uid != "${datasource}" {
				t.Errorf("%s does not take the selected data source", name)
			}
			if p.Panel.Type != "table" && p.Panel.FieldConfig.Defaults.Unit == nil {
				t.Errorf("%s has no unit", name)
			}
		}
	}
}

// Each metric of ours in a dashboard or an alert is in the reference, which the collectors
// write themselves.
func TestMetricsOfQueriesAreInTheReference(t *testing.T) {
	reference := readFile(t, "docs/metrics.md")
	queries, err := dashboards.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range alerts(t) {
		queries = append(queries, dashboards.Query{Dashboard: "alert", Panel: rule.Alert, Expr: rule.Expr.String()})
	}
	own := regexp.MustCompile(`^(cnpg_)?pgstorage_`)
	for _, q := range queries {
		for _, name := range dashboards.Metrics(q.Expr) {
			if own.MatchString(name) && !strings.Contains(reference, "| `"+strings.TrimSuffix(name, "_bucket")+"` |") {
				t.Errorf("%s, %s: docs/metrics.md does not have %s", q.Dashboard, q.Panel, name)
			}
		}
	}
}

// Dashboards go where the sidecar of Grafana looks for them.
func TestDashboardsFollowTheValues(t *testing.T) {
	for key, object := range installed(t, "--set", "metrics.dashboards.enabled=true,metrics.dashboards.namespace=grafana,metrics.dashboards.labels.team=db,metrics.dashboards.annotations.grafana_folder=Databases") {
		if !strings.Contains(key, "/pgstorage-dashboard-") {
			continue
		}
		labels := object.GetLabels()
		if path.Dir(key) != "ConfigMap grafana" || labels["grafana_dashboard"] != "1" || labels["team"] != "db" || object.GetAnnotations()["grafana_folder"] != "Databases" {
			t.Errorf("%s: labels %v, annotations %v", key, labels, object.GetAnnotations())
		}
	}
}

// kube-prometheus-stack selects monitors and rules by the label release.
func TestMonitorsAreSelectedByTheirLabels(t *testing.T) {
	seen := 0
	for key, object := range installed(t, append([]string{"--set", "metrics.labels.release=kps,metrics.prometheusRule.labels.rule=yes,metrics.serviceMonitor.labels.monitor=yes"}, everything...)...) {
		kind, _, _ := strings.Cut(key, " ")
		want := map[string]string{"ServiceMonitor": "monitor", "PodMonitor": "monitor", "PrometheusRule": "rule"}[kind]
		if want == "" {
			continue
		}
		seen++
		if labels := object.GetLabels(); labels["release"] != "kps" || labels[want] != "yes" {
			t.Errorf("%s has the labels %v", key, labels)
		}
	}
	if seen < 7 {
		t.Errorf("%d monitors and rules", seen)
	}
}

// fromCloudNativePG are the metrics of CloudNativePG's exporter: of its default queries, and
// of the collector in its source.
func fromCloudNativePG(t *testing.T) map[string]bool {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/cloudnative-pg/cloudnative-pg").Output()
	if err != nil {
		t.Fatal(err)
	}
	text := func(path string) []byte {
		content, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), path))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	var defaults corev1.ConfigMap
	if err := yaml.Unmarshal(text("config/manager/default-monitoring.yaml"), &defaults); err != nil {
		t.Fatal(err)
	}
	var queries map[string]struct {
		Name    string           `json:"name"`
		Metrics []map[string]any `json:"metrics"`
	}
	if err := yaml.Unmarshal([]byte(defaults.Data["queries"]), &queries); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for key, q := range queries {
		for _, columns := range q.Metrics {
			for name := range columns {
				found["cnpg_"+cmp.Or(q.Name, key)+"_"+name] = true
			}
		}
	}
	for _, m := range regexp.MustCompile(`Name:\s+"(\w+)"`).FindAllSubmatch(text("pkg/management/postgres/webserver/metricserver/pg_collector.go"), -1) {
		found["cnpg_collector_"+string(m[1])] = true
	}
	return found
}

// Each metric of CloudNativePG in a dashboard or an alert is one that its exporter has.
func TestMetricsOfPostgresExist(t *testing.T) {
	exists := fromCloudNativePG(t)
	queries, err := dashboards.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range alerts(t) {
		queries = append(queries, dashboards.Query{Dashboard: "alert", Panel: rule.Alert, Expr: rule.Expr.String()})
	}
	checked := 0
	for _, q := range queries {
		for _, name := range dashboards.Metrics(q.Expr) {
			if !strings.HasPrefix(name, "cnpg_") || strings.HasPrefix(name, "cnpg_pgstorage_") {
				continue
			}
			checked++
			if !exists[name] {
				t.Errorf("%s, %s: CloudNativePG has no metric %s", q.Dashboard, q.Panel, name)
			}
		}
	}
	if checked < 40 {
		t.Errorf("only %d metrics of CloudNativePG were found", checked)
	}
}
