package runner

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
	report := RunStatus{Attempt: "pod-1", Phase: PhaseRunning, Results: []v1alpha1.BenchmarkResult{{Clients: 4, TPS: "12.00"}}}
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
	err = StatusReporter{client, "prod", "gone"}.Report(t.Context(), RunStatus{})
	if err == nil || !strings.Contains(err.Error(), "prod/gone") {
		t.Errorf("got %v", err)
	}
}

func TestConfigMapKeeperAppliesItsKeyAlone(t *testing.T) {
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
	name, err := ConfigMapKeeper{client, "prod", "nightly-record"}.Keep(t.Context(), map[string][]byte{"k": {0, 255}})
	if err != nil || name != "nightly-record" {
		t.Fatal(name, err)
	}
	if q := request.URL.Query(); request.Method != http.MethodPatch || request.URL.Path != "/api/v1/namespaces/prod/configmaps/nightly-record" || q.Get("fieldManager") != "pgstorage-bench" {
		t.Errorf("%s %s", request.Method, request.URL)
	}
	want := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "nightly-record", "namespace": "prod"},
		"binaryData": map[string]any{"k": "AP8="},
	}
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
	server.Close()
	if _, err := (ConfigMapKeeper{client, "prod", "gone"}).Keep(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "prod/gone") {
		t.Error(err)
	}
}
