// Package benchmetrics exposes the results of benchmarks to Prometheus. It reads the
// cache on each scrape and keeps nothing: a series ends with its object.
package benchmetrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// patience bounds a scrape that waits for the cache.
const patience = 5 * time.Second

// Either schedule or benchmark is empty, which to a Prometheus is absent.
var (
	objectLabels  = []string{"namespace", "schedule", "benchmark"}
	variantLabels = []string{"namespace", "schedule", "benchmark", "variant", "durability"}

	tps       = prometheus.NewDesc("pgstorage_benchmark_tps", "Transactions per second in the last run that succeeded: the median of its repeats.", variantLabels, nil)
	p99       = prometheus.NewDesc("pgstorage_benchmark_latency_p99_seconds", "Latency of transactions in the last run that succeeded, 99th percentile: of a matrix, the median over its valid repeats.", variantLabels, nil)
	regressed = prometheus.NewDesc("pgstorage_benchmark_regressed", "1 when the last result is worse than the baseline of its gate, 0 when it is not shown to be. Absent while the condition NotRegressed is Unknown or missing.", objectLabels, nil)
	success   = prometheus.NewDesc("pgstorage_benchmark_last_success_timestamp_seconds", "When the last run that succeeded ended.", objectLabels, nil)
	late      = prometheus.NewDesc("pgstorage_benchmark_schedule_late_timestamp_seconds", "When a schedule will not have succeeded for twice its longest interval; absent while it is suspended.", []string{"namespace", "schedule"}, nil)
	leftOut   = prometheus.NewDesc("pgstorage_benchmark_objects_left_out", "Schedules and benchmarks without series, because they exceed the limit of series.", nil, nil)
)

// Collector of the results that Reader has. It is a prometheus.Collector.
type Collector struct {
	Reader client.Reader
	Clock  clock.PassiveClock
}

// Describe the metrics.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{tps, p99, regressed, success, late, leftOut} {
		out <- d
	}
}

// Collect what there is now, and nothing before the cache has it.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), patience) //nolint:forbidigo // a scrape has no context of its own
	defer cancel()
	schedules, benchmarks := &v1alpha1.PgScheduledBenchmarkList{}, &v1alpha1.PgBenchmarkList{}
	if c.Reader.List(ctx, schedules, client.UnsafeDisableDeepCopy) != nil || c.Reader.List(ctx, benchmarks, client.UnsafeDisableDeepCopy) != nil {
		return
	}
	all, left := figuresOf(schedules.Items, benchmarks.Items, c.Clock.Now())
	for _, f := range all {
		f.tell(out)
	}
	out <- gauge(leftOut, float64(left))
}

func gauge(d *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

func (f figures) tell(out chan<- prometheus.Metric) {
	of := []string{f.namespace, f.schedule, f.benchmark}
	if f.regressed != nil {
		value := 0.0
		if *f.regressed {
			value = 1
		}
		out <- gauge(regressed, value, of...)
	}
	if f.success != nil {
		out <- gauge(success, float64(f.success.Unix()), of...)
	}
	if f.late != nil {
		out <- gauge(late, float64(f.late.Unix()), f.namespace, f.schedule)
	}
	for _, v := range f.variants {
		labels := append(of[:3:3], v.name, string(v.durability))
		if v.tps >= 0 {
			out <- gauge(tps, v.tps, labels...)
		}
		if v.p99 >= 0 {
			out <- gauge(p99, v.p99/1000, labels...)
		}
	}
}
