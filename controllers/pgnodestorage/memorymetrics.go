package pgnodestorage

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/pgstorage/pgstorage/internal/node/tmpfs"
)

// memoryMetrics of the volumes in one node's memory.
type memoryMetrics struct {
	size, used *prometheus.GaugeVec
}

func newMemoryMetrics(gauge func(name, help string, labels ...string) *prometheus.GaugeVec) memoryMetrics {
	return memoryMetrics{
		size: gauge("memory_volume_size_bytes", "Limit of the files of a volume in memory.", "storage", "profile", "volume"),
		used: gauge("memory_volume_used_bytes", "Memory that the files of a volume have.", "storage", "profile", "volume"),
	}
}

// observe a pass; seen is nil for a profile with a pool.
func (m memoryMetrics) observe(storage string, seen *tmpfs.Seen) {
	if seen == nil {
		return
	}
	for _, v := range seen.Mounts {
		m.size.WithLabelValues(storage, v.Profile, v.Name).Set(float64(v.Size))
		m.used.WithLabelValues(storage, v.Profile, v.Name).Set(float64(v.Used))
	}
}
