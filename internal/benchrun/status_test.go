package benchrun

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

func TestStatusReporterAppliesRunAlone(t *testing.T) {
	var request *http.Request
	var body map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request = r
		raw, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(raw)
	}))
	defer server.Close()
	client, err := dynamic.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	report := Report{Attempt: "pod-1", Phase: PhaseRunning, Results: []v1alpha1.BenchmarkResult{{Clients: 4, TPS: "12.00"}}}
	if err := (StatusReporter{client, "prod", "shop-bench"}).Report(t.Context(), report); err != nil {
		t.Fatal(err)
	}
	if request.Method != http.MethodPatch || request.URL.Path != "/apis/pgstorage.dev/v1alpha1/namespaces/prod/pgbenchmarks/shop-bench/status" {
		t.Errorf("%s %s", request.Method, request.URL.Path)
	}
	if q := request.URL.Query(); q.Get("fieldManager") != "pgstorage-bench" || q.Get("force") != "true" {
		t.Errorf("%v", q)
	}
	if got := request.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/apply-patch") {
		t.Error(got)
	}
	want := map[string]any{
		"apiVersion": "pgstorage.dev/v1alpha1", "kind": "PgBenchmark",
		"metadata": map[string]any{"name": "shop-bench", "namespace": "prod"},
		"status": map[string]any{"run": map[string]any{
			"attempt": "pod-1", "phase": PhaseRunning, "percent": 0.0,
			"results": []any{map[string]any{"clients": 4.0, "tps": "12.00", "failed": 0.0, "retried": 0.0}},
		}},
	}
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
}

func TestStatusReporterSaysWhatWentWrong(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	client, err := dynamic.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	err = StatusReporter{client, "prod", "gone"}.Report(t.Context(), Report{})
	if err == nil || !strings.Contains(err.Error(), "prod/gone") {
		t.Errorf("got %v", err)
	}
}
