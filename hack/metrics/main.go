// Command metrics prints the reference of all metrics in Markdown, from the descriptions
// that the collectors give to Prometheus. Usage: go run ./hack/metrics
package main

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/controllers/benchmetrics"
	"github.com/pgstorage/pgstorage/controllers/pgnodestorage"
	"github.com/pgstorage/pgstorage/controllers/statemetrics"
	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/operator/component/monitoring"
	"github.com/pgstorage/pgstorage/internal/zerofs/supervise"
)

// metric as a row of a table.
type metric struct{ name, kind, labels, help string }

// section of the page.
type section struct {
	title, about string
	metrics      []metric
}

func main() {
	text, err := page()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(text)
}

func page() (string, error) {
	agents := &captured{}
	pgnodestorage.NewMetrics(agents, host.Counting(nil))
	queries, err := ofQueries()
	if err != nil {
		return "", err
	}
	sections := []section{
		{"Manager", managerText, described(&statemetrics.Collector{}, &benchmetrics.Collector{Clock: clock.RealClock{}})},
		{"Agents", agentText, described(append(agents.all, &pgnodestorage.LatencyCollector{})...)},
		{"ZeroFS servers", serverText, described(supervise.Collector(nil))},
		{"Instances", instanceText, queries},
	}
	var out strings.Builder
	out.WriteString(head)
	for _, s := range sections {
		fmt.Fprintf(&out, "\n## %s\n\n%s\n\n| metric | type | labels | meaning |\n|---|---|---|---|\n", s.title, s.about)
		for _, m := range s.metrics {
			fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", m.name, m.kind, m.labels, strings.ReplaceAll(m.help, "|", `\|`))
		}
	}
	return out.String(), nil
}

// captured is a registry that only keeps what is registered.
type captured struct{ all []prometheus.Collector }

func (c *captured) Register(one prometheus.Collector) error {
	c.all = append(c.all, one)
	return nil
}

func (c *captured) MustRegister(some ...prometheus.Collector) { c.all = append(c.all, some...) }

func (c *captured) Unregister(prometheus.Collector) bool { return false }

// description is the text of a prometheus.Desc, which has no other way to be read.
var description = regexp.MustCompile(`^Desc\{fqName: ("(?:[^"\\]|\\.)*"), help: ("(?:[^"\\]|\\.)*"), constLabels: \{\}, variableLabels: \{([^}]*)\}`)

// histograms among the metrics. Names of counters end in _total, and all others are gauges.
var histograms = []string{"pgstorage_pool_latency_seconds"}

func described(collectors ...prometheus.Collector) []metric {
	var all []metric
	for _, c := range collectors {
		descriptions := make(chan *prometheus.Desc)
		go func() {
			c.Describe(descriptions)
			close(descriptions)
		}()
		for d := range descriptions {
			all = append(all, ofDescription(d.String()))
		}
	}
	slices.SortFunc(all, func(a, b metric) int { return cmp.Compare(a.name, b.name) })
	return all
}

func ofDescription(text string) metric {
	m := description.FindStringSubmatch(text)
	if m == nil {
		panic("a description of another form: " + text)
	}
	return metric{name: unquoted(m[1]), kind: kindOf(unquoted(m[1])), help: unquoted(m[2]), labels: labelsOf(strings.Split(m[3], ","))}
}

func unquoted(text string) string {
	plain, err := strconv.Unquote(text)
	if err != nil {
		panic(err)
	}
	return plain
}

func kindOf(name string) string {
	switch {
	case strings.HasSuffix(name, "_total"):
		return "counter"
	case slices.Contains(histograms, name):
		return "histogram"
	}
	return "gauge"
}

func labelsOf(names []string) string {
	var all []string
	for _, name := range names {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, "`"+name+"`")
		}
	}
	return strings.Join(all, ", ")
}

// ofQueries are the metrics of the queries that instances run for the operator.
func ofQueries() ([]metric, error) {
	queries := map[string]struct {
		Metrics []map[string]struct{ Usage, Description string } `json:"metrics"`
	}{}
	if err := yaml.Unmarshal([]byte(monitoring.QueriesText()), &queries); err != nil {
		return nil, err
	}
	var all []metric
	for query, q := range queries {
		var labels []string
		for _, columns := range q.Metrics {
			for name, column := range columns {
				if column.Usage == "LABEL" {
					labels = append(labels, name)
				}
			}
		}
		for _, columns := range q.Metrics {
			for name, column := range columns {
				if column.Usage != "LABEL" {
					all = append(all, metric{"cnpg_" + query + "_" + name, strings.ToLower(column.Usage), labelsOf(labels), column.Description + "."})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b metric) int { return cmp.Compare(a.name, b.name) })
	return all, nil
}
