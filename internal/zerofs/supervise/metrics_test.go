package supervise

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// samples of a status as Prometheus reads them.
func samples(t *testing.T, s zerofs.ServerStatus) string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collector(func() zerofs.ServerStatus { return s }))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&all, f); err != nil {
			t.Fatal(err)
		}
	}
	var kept strings.Builder
	for line := range strings.Lines(all.String()) {
		if !strings.HasPrefix(line, "#") {
			kept.WriteString(strings.TrimPrefix(line, "pgstorage_s3nbd_"))
		}
	}
	return kept.String()
}

func TestMetrics(t *testing.T) {
	got := samples(t, zerofs.ServerStatus{
		Phase: zerofs.PhaseHolding, Message: "secret", Restarts: 1, UnflushedBytes: 2, HeldRequests: 3, WaitSeconds: map[string]int64{"disk": 70}, Reads: 4, ReadBytes: 5,
		Writes: 6, WrittenBytes: 7, Trims: 8, Flushes: 9, FlushSeconds: 1.5, RepeatedWrites: 10, StoreFlushes: 16, StoreFlushSeconds: 0.5,
		S3: &zerofs.StoreTraffic{Requests: map[string]int64{"GET": 11, "PUT": 12}, Errors: 13, ReceivedBytes: 14, SentBytes: 15, Seconds: 2.5},
	})
	const want = `bytes_total{direction="read"} 5
bytes_total{direction="written"} 7
flush_seconds_total 1.5
held_requests 3
oldest_request_seconds{export="disk"} 70
phase{phase="Fenced"} 0
phase{phase="Holding"} 1
phase{phase="Serving"} 0
phase{phase="Starting"} 0
phase{phase="Stopping"} 0
repeated_writes_total 10
requests_total{operation="flush"} 9
requests_total{operation="read"} 4
requests_total{operation="trim"} 8
requests_total{operation="write"} 6
restarts_total 1
s3_bytes_total{direction="received"} 14
s3_bytes_total{direction="sent"} 15
s3_errors_total 13
s3_request_seconds_total 2.5
s3_requests_total{method="GET"} 11
s3_requests_total{method="PUT"} 12
store_flush_seconds_total 0.5
store_flushes_total 16
unflushed_bytes 2
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := samples(t, zerofs.ServerStatus{}); strings.Contains(got, "s3_") {
		t.Error(got)
	}
}

func TestReadiness(t *testing.T) {
	for _, phase := range zerofs.Phases {
		got, want := httptest.NewRecorder(), http.StatusServiceUnavailable
		if phase == zerofs.PhaseServing {
			want = http.StatusOK
		}
		readiness(func() zerofs.ServerStatus { return zerofs.ServerStatus{Phase: phase} })(got, httptest.NewRequestWithContext(t.Context(), http.MethodGet, readyPath, nil))
		if got.Code != want || strings.TrimSpace(got.Body.String()) != string(phase) {
			t.Errorf("%s: %d %s", phase, got.Code, got.Body)
		}
	}
}
