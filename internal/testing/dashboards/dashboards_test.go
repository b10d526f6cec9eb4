package dashboards

import (
	"slices"
	"strings"
	"testing"
)

// Each query is run where its metrics exist: with agents or with Postgres, never both.
func TestQueriesAreOfOneKind(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, q := range all {
		switch {
		case NeedsNodes(q.Expr) && NeedsPostgres(q.Expr):
			t.Errorf("%s, %s: needs nodes and Postgres: %s", q.Dashboard, q.Panel, q.Expr)
		case len(Metrics(q.Expr)) == 0:
			t.Errorf("%s, %s: no metric is found in %s", q.Dashboard, q.Panel, q.Expr)
		case NeedsNodes(q.Expr):
			kinds["nodes"]++
		case NeedsPostgres(q.Expr):
			kinds["postgres"]++
		default:
			kinds["manager"]++
		}
	}
	if kinds["nodes"] < 30 || kinds["postgres"] < 30 || kinds["manager"] < 20 {
		t.Errorf("queries by kind: %v", kinds)
	}
	t.Logf("queries by kind: %v", kinds)
}

func TestMetricsOfAnExpression(t *testing.T) {
	got := Metrics(`sum by (pgstorage) (rate(cnpg_a_total{job="pgstorage_no",up_to="x"}[5m])) / up{a="b"} or ALERTS`)
	if want := []string{"ALERTS", "cnpg_a_total", "up"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestVariables(t *testing.T) {
	q := Query{Expr: `rate(a{namespace="$namespace",pod=~"$cluster-[0-9]+"}[$__rate_interval])`}
	if got, want := q.With(map[string]string{"namespace": "n", "cluster": "shop"}), `rate(a{namespace="n",pod=~"shop-[0-9]+"}[2m])`; got != want {
		t.Errorf("got %s", got)
	}
	if got, err := values(`label_values(pgstorage_cluster_info{namespace="$namespace"}, name)`); err != nil || got != `count by (name) (pgstorage_cluster_info{namespace="$namespace"})` {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := values("query_result(up)"); err == nil || !strings.Contains(err.Error(), "another form") {
		t.Error(err)
	}
}
