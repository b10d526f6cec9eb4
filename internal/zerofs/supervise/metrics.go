package supervise

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

const (
	metricsPath = "/metrics"
	readyPath   = "/readyz"
	headerTime  = 10 * time.Second
)

func figure(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("pgstorage_s3nbd_"+name, help, labels, nil)
}

var (
	phaseFigure     = figure("phase", "1 for the phase that the server is in.", "phase")
	restartsFigure  = figure("restarts_total", "How often ZeroFS was started again.")
	unflushedFigure = figure("unflushed_bytes", "Writes that are kept until ZeroFS has flushed them.")
	heldFigure      = figure("held_requests", "Requests that were not answered yet.")
	waitFigure      = figure("oldest_request_seconds", "Whole seconds that the oldest request of a device has waited which is not done.", "export")
	requestsFigure  = figure("requests_total", "Requests that were answered.", "operation")
	bytesFigure     = figure("bytes_total", "Bytes of the requests that were answered.", "direction")
	flushFigure     = figure("flush_seconds_total", "Time that clients waited for all their flushes together.")
	storeFlushes    = figure("store_flushes_total", "Flushes that ZeroFS did. One answers the flushes of several devices.")
	storeSeconds    = figure("store_flush_seconds_total", "Time that ZeroFS took for all its flushes together.")
	repeatedFigure  = figure("repeated_writes_total", "Writes that were repeated after ZeroFS was started again.")
	s3Requests      = figure("s3_requests_total", "Requests to the store.", "method")
	s3Errors        = figure("s3_errors_total", "Requests that the store answered with 429 or 5xx, or not at all.")
	s3Bytes         = figure("s3_bytes_total", "Bytes of bodies to and from the store.", "direction")
	s3Seconds       = figure("s3_request_seconds_total", "Time that all requests to the store took together.")
)

// collector of a server's status as metrics.
type collector func() zerofs.ServerStatus

// Collector returns the metrics of a server's status.
func Collector(status func() zerofs.ServerStatus) prometheus.Collector { return collector(status) }

// Describe sends the description of every metric.
func (c collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		phaseFigure, restartsFigure, unflushedFigure, heldFigure, waitFigure, requestsFigure, bytesFigure, flushFigure, repeatedFigure,
		storeFlushes, storeSeconds,
		s3Requests, s3Errors, s3Bytes, s3Seconds,
	} {
		to <- d
	}
}

// Collect the status as it is now.
func (c collector) Collect(to chan<- prometheus.Metric) {
	put := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	count := func(d *prometheus.Desc, value int64, labels ...string) {
		put(d, prometheus.CounterValue, float64(value), labels...)
	}
	s := c()
	for _, phase := range zerofs.Phases {
		in := 0.0
		if s.Phase == phase {
			in = 1
		}
		put(phaseFigure, prometheus.GaugeValue, in, string(phase))
	}
	put(unflushedFigure, prometheus.GaugeValue, float64(s.UnflushedBytes))
	put(heldFigure, prometheus.GaugeValue, float64(s.HeldRequests))
	put(flushFigure, prometheus.CounterValue, s.FlushSeconds)
	put(storeSeconds, prometheus.CounterValue, s.StoreFlushSeconds)
	count(storeFlushes, s.StoreFlushes)
	count(restartsFigure, s.Restarts)
	for export, seconds := range s.WaitSeconds {
		put(waitFigure, prometheus.GaugeValue, float64(seconds), export)
	}
	count(repeatedFigure, s.RepeatedWrites)
	count(requestsFigure, s.Reads, "read")
	count(requestsFigure, s.Writes, "write")
	count(requestsFigure, s.Trims, "trim")
	count(requestsFigure, s.Flushes, "flush")
	count(bytesFigure, s.ReadBytes, "read")
	count(bytesFigure, s.WrittenBytes, "written")
	if s.S3 == nil {
		return
	}
	for method, n := range s.S3.Requests {
		count(s3Requests, n, method)
	}
	count(s3Errors, s.S3.Errors)
	count(s3Bytes, s.S3.ReceivedBytes, "received")
	count(s3Bytes, s.S3.SentBytes, "sent")
	put(s3Seconds, prometheus.CounterValue, s.S3.Seconds)
}

// readiness of the server for the kubelet: 200 while requests go to ZeroFS, else 503.
func readiness(status func() zerofs.ServerStatus) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		phase := status().Phase
		if phase != zerofs.PhaseServing {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = fmt.Fprintln(w, phase) // it may have gone
	}
}

// metrics serves the status until it is closed. A server without them is better than
// none.
func (s *Supervisor) metrics(status func() zerofs.ServerStatus) (stop func()) {
	if s.Prometheus == "" {
		return func() {}
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(Collector(status))
	mux := http.NewServeMux()
	mux.Handle(metricsPath, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.Handle(readyPath, readiness(status))
	server := &http.Server{Addr: s.Prometheus, Handler: mux, ReadHeaderTimeout: headerTime}
	go func() {
		if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
			s.Log.Error("metrics are not served", "address", s.Prometheus, "error", err)
		}
	}()
	return func() { _ = server.Close() }
}
