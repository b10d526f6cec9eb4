package pgnodestorage

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

// latencyTimeout bounds the command behind a scrape.
const latencyTimeout = 10 * time.Second

// LatencyCollector reads the latency histograms of every imported pool when it is
// scraped, and only then: they are ZFS' own, counted since the import.
type LatencyCollector struct {
	ZFS *zfs.Client
	// Loaded reports whether the kernel has ZFS, if given. Without ZFS the collector runs no
	// command: the node may have volumes in memory only.
	Loaded func() bool
}

var (
	latency = prometheus.NewDesc("pgstorage_pool_latency_seconds", "Latency of a pool's I/O by ZFS' own histogram (zpool iostat -w), since the pool was imported.", []string{"pool", "class"}, nil)
	failed  = prometheus.NewDesc("pgstorage_pool_latency_unread", "1 when the latency histograms could not be read.", nil, nil)
)

// Describe the histograms.
func (c *LatencyCollector) Describe(out chan<- *prometheus.Desc) {
	out <- latency
	out <- failed
}

// Collect the histograms.
func (c *LatencyCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), latencyTimeout) //nolint:forbidigo // a scrape has no context of its own
	defer cancel()
	out <- prometheus.MustNewConstMetric(failed, prometheus.GaugeValue, truth(c.collect(ctx, out) != nil))
}

func (c *LatencyCollector) collect(ctx context.Context, out chan<- prometheus.Metric) error {
	if c.Loaded != nil && !c.Loaded() {
		return nil
	}
	pools, err := c.ZFS.Pools(ctx)
	if err != nil {
		return err
	}
	for _, p := range pools {
		classes, err := c.ZFS.IostatHistograms(ctx, p.Name)
		if err != nil {
			return err
		}
		for class, buckets := range classes {
			count, cumulative := uint64(0), map[float64]uint64{}
			for _, b := range buckets {
				count += b.Count
				cumulative[b.UpTo.Seconds()] = count
			}
			// ZFS keeps no sum.
			out <- prometheus.MustNewConstHistogram(latency, count, 0, cumulative, p.Name, string(class))
		}
	}
	return nil
}
