package statemetrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

var (
	storageInfo      = storageMetric("info", "Always 1: the pool of a node and its health, as last reported by the node's agent.", "pool", "health")
	storageCondition = storageMetric("condition", "Always 1: the current status and reason of a condition of a PgNodeStorage. Without its agent, a node keeps its last ones, and NodeReachable is the manager's.", "condition", "status", "reason")
	storageVolumes   = storageMetric("volumes", "Volumes on the pool.")
	storageDrift     = storageMetric("drifted_properties", "Properties of volumes that differ from those of their parent dataset.")
	storageFull      = storageMetric("full_timestamp_seconds", "When the pool will be full at its current rate; absent while it does not fill.")
	storageDevices   = storageMetric("devices", "Devices of the pool by state, as ONLINE or FAULTED.", "state")
	storageErrors    = storageMetric("device_errors", "Errors of the devices of the pool since they were cleared: read, write and checksum.", "operation")

	storageMetrics = []*prometheus.Desc{storageInfo, storageCondition, storageVolumes, storageDrift, storageFull, storageDevices, storageErrors}
)

func storageMetric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("pgstorage_nodestorage_"+name, help, append([]string{"storage", "node", "profile"}, labels...), nil)
}

func (s sink) storage(n *v1alpha1.PgNodeStorage) {
	of := []string{n.Name, n.Spec.NodeName, n.Spec.Profile}
	s.conditions(storageCondition, n.Status.Conditions, of...)
	if v := n.Status.VolumeCount; v != nil {
		s.gauge(storageVolumes, float64(*v), of...)
	}
	drift := 0
	for _, v := range n.Status.Volumes {
		drift += len(v.Differs)
	}
	s.gauge(storageDrift, float64(drift), of...)
	if p := n.Status.Pool; p != nil {
		s.pool(p, of)
	}
}

func (s sink) pool(p *v1alpha1.ObservedPool, of []string) {
	with := func(labels ...string) []string { return append(of[:3:3], labels...) }
	s.gauge(storageInfo, 1, with(p.Name, p.Health)...)
	if p.FullAt != nil {
		s.gauge(storageFull, float64(p.FullAt.Unix()), of...)
	}
	states, errors := map[string]int{}, map[string]int64{}
	for _, v := range leaves(p.Vdevs) {
		states[v.State]++
		errors["read"] += v.ReadErrors
		errors["write"] += v.WriteErrors
		errors["checksum"] += v.ChecksumErrors
	}
	for state, n := range states {
		s.gauge(storageDevices, float64(n), with(state)...)
	}
	for operation, n := range errors {
		s.gauge(storageErrors, float64(n), with(operation)...)
	}
}

// leaves returns the devices among vdevs, which lists parents before children.
func leaves(vdevs []v1alpha1.ObservedVdev) []v1alpha1.ObservedVdev {
	var found []v1alpha1.ObservedVdev
	for i, v := range vdevs {
		if i+1 == len(vdevs) || vdevs[i+1].Depth <= v.Depth {
			found = append(found, v)
		}
	}
	return found
}
