// Package dashboards reads the queries of the Grafana dashboards, for tests that run them.
package dashboards

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

// Query of a panel, or of a variable.
type Query struct{ Dashboard, Panel, Expr string }

// dashboard has what is read of the JSON.
type dashboard struct {
	Panels []struct {
		Title   string `json:"title"`
		Targets []struct {
			Expr string `json:"expr"`
		} `json:"targets"`
	} `json:"panels"`
	Templating struct {
		List []struct {
			Name       string `json:"name"`
			Definition string `json:"definition"`
		} `json:"list"`
	} `json:"templating"`
}

// All queries of all dashboards.
func All() ([]Query, error) {
	files, err := filepath.Glob(filepath.Join(repository.Root(), "config", "dashboards", "*.json"))
	if err != nil {
		return nil, err
	}
	var all []Query
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		queries, err := of(strings.TrimSuffix(filepath.Base(file), ".json"), text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, queries...)
	}
	return all, nil
}

func of(name string, text []byte) ([]Query, error) {
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	var all []Query
	for _, v := range d.Templating.List {
		if v.Definition != "" {
			expr, err := values(v.Definition)
			if err != nil {
				return nil, err
			}
			all = append(all, Query{name, "variable " + v.Name, expr})
		}
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			all = append(all, Query{name, p.Title, target.Expr})
		}
	}
	return all, nil
}

var labelValues = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)

// values is what Grafana asks Prometheus for a variable.
func values(definition string) (string, error) {
	m := labelValues.FindStringSubmatch(definition)
	if m == nil {
		return "", fmt.Errorf("a variable of another form: %s", definition)
	}
	return "count by (" + m[2] + ") (" + m[1] + ")", nil
}

// With returns the expression with the values of variables, as Grafana substitutes them.
// Rates look back two minutes.
func (q Query) With(variables map[string]string) string {
	all := maps.Clone(variables)
	all["__rate_interval"] = "2m"
	expr := q.Expr
	for _, name := range slices.Sorted(maps.Keys(all)) {
		expr = strings.ReplaceAll(expr, "$"+name, all[name])
	}
	return expr
}

var metric = regexp.MustCompile(`\b(?:cnpg|pgstorage|controller_runtime|workqueue|process|leader_election|kube)_[a-z0-9_]+\b|\bup\b|\bALERTS\b`)

// Metrics returns the names of the metrics of an expression, without what stands in quotes.
func Metrics(expr string) []string {
	found := metric.FindAllString(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(expr, `""`), -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// nodes match the metrics of storage nodes: those of agents and ZeroFS servers, and what the
// manager knows from the agents.
var nodes = regexp.MustCompile(`^pgstorage_(?:pool|arc|host|drift|network|s3nbd|node|nodestorage|profile_nodes|profile_flush)(?:_|$)|^pgstorage_cluster_volume_info$`)

// NeedsNodes reports whether an expression has metrics that exist only with an agent on a
// node with ZFS, or with a ZeroFS server.
func NeedsNodes(expr string) bool {
	return slices.ContainsFunc(Metrics(expr), nodes.MatchString) || strings.Contains(expr, `job="pgstorage-agent-metrics"`)
}

// NeedsPostgres reports whether an expression has metrics of the instances.
func NeedsPostgres(expr string) bool {
	return slices.ContainsFunc(Metrics(expr), func(name string) bool { return strings.HasPrefix(name, "cnpg_") })
}

// optional are metrics that need not exist, and why.
var optional = map[string]string{
	"ALERTS":                                      "exists while an alert is pending or fires",
	"pgstorage_cluster_durability_weakened":       "exists while a cluster is weakened",
	"cnpg_pg_stat_bgwriter_checkpoints_req":       "of Postgres before 17, beside that of 17",
	"cnpg_pg_stat_bgwriter_checkpoints_timed":     "of Postgres before 17, beside that of 17",
	"cnpg_pg_stat_bgwriter_checkpoint_write_time": "of Postgres before 17, beside that of 17",
	"cnpg_pg_stat_bgwriter_checkpoint_sync_time":  "of Postgres before 17, beside that of 17",
}

// Present returns the metrics of an expression that must exist wherever it is of use.
func Present(expr string) []string {
	return slices.DeleteFunc(Metrics(expr), func(name string) bool { return optional[name] != "" })
}
