package pgnodestorage

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// networkMetrics of the network devices of one node's pools.
type networkMetrics struct {
	device, inFlight, flush, server *prometheus.GaugeVec
}

func newNetworkMetrics(gauge func(name, help string, labels ...string) *prometheus.GaugeVec) networkMetrics {
	return networkMetrics{
		device:   gauge("network_device_attached", "1 when a network device is attached to a server that runs, else 0; state is Attached, Detached, Lost or Unknown.", "storage", "server", "export", "state"),
		inFlight: gauge("network_device_in_flight", "Requests of a network device that its server has not answered.", "storage", "server", "export"),
		server:   gauge("network_server_phase", "1 for the phase of a server of network devices that runs; its own metrics are those of its pod.", "storage", "server", "phase"),
		flush:    gauge("network_flush_latency_seconds", "Mean time of a flush of the network devices between the last two passes that saw one.", "storage"),
	}
}

// observe a pass; Network is nil for pools on disks.
func (m networkMetrics) observe(storage string, n *decide.Network) {
	if n == nil {
		return
	}
	for _, d := range n.Devices {
		state := n.State(d)
		m.device.WithLabelValues(storage, d.Server, d.Export, string(state)).Set(truth(state == decide.DeviceAttached))
		if d.Attached != nil {
			m.inFlight.WithLabelValues(storage, d.Server, d.Export).Set(float64(d.Attached.InFlight))
		}
	}
	for name, told := range n.Servers {
		if n.Runs(name) && told.Life == n.Lives[name].ID {
			m.server.WithLabelValues(storage, name, string(told.Phase)).Set(1)
		}
	}
	if n.FlushLatency > 0 {
		m.flush.WithLabelValues(storage).Set(n.FlushLatency.Seconds())
	}
}
