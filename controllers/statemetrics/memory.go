package statemetrics

import (
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/component/nodes"
)

var (
	memoryAllocatable = memoryMetric("memory_allocatable_bytes", "Memory that a storage node gives to pods.")
	memoryARCMax      = memoryMetric("arc_max_bytes", "Limit of the ZFS cache of a storage node, as its agent read it back.")
	memoryARCSize     = memoryMetric("arc_size_bytes", "Size of the ZFS cache of a storage node, as its agent last reported it.")
	memoryRequests    = memoryMetric("instance_memory_requests_bytes", "Memory requests of the instances whose data volume is on a storage node.")
	memoryBuffers     = memoryMetric("instance_shared_buffers_bytes", "shared_buffers of the instances whose data volume is on a storage node.")
	memoryInstances   = memoryMetric("instances", "Instances whose data volume is on a storage node.")

	memoryMetrics = []*prometheus.Desc{memoryAllocatable, memoryARCMax, memoryARCSize, memoryRequests, memoryBuffers, memoryInstances}
)

func memoryMetric(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("pgstorage_node_"+name, help, []string{"node"}, nil)
}

// budget of the memory of one node with a PgNodeStorage.
type budget struct {
	arcMax, arcSize   int64
	buffers, instance int64
	// requests are what users write. A float does not wrap around.
	requests float64
}

// memory sends the memory budget of each node with a PgNodeStorage.
func (s sink) memory(storages []*v1alpha1.PgNodeStorage, nodes []corev1.Node, clusters []v1alpha1.PgStorageCluster) {
	budgets := map[string]*budget{}
	for _, n := range storages {
		b := budgets[n.Spec.NodeName]
		if b == nil {
			b = &budget{}
			budgets[n.Spec.NodeName] = b
		}
		b.read(n.Status.ARC)
	}
	for i := range clusters {
		place(&clusters[i], budgets)
	}
	for name, b := range budgets {
		s.gauge(memoryInstances, float64(b.instance), name)
		s.gauge(memoryRequests, b.requests, name)
		s.gauge(memoryBuffers, float64(b.buffers), name)
		if b.arcMax > 0 {
			s.gauge(memoryARCMax, float64(b.arcMax), name)
			s.gauge(memoryARCSize, float64(b.arcSize), name)
		}
	}
	for i := range nodes {
		if n := &nodes[i]; budgets[n.Name] != nil {
			s.gauge(memoryAllocatable, float64(n.Status.Allocatable.Memory().Value()), n.Name)
		}
	}
}

// read the ARC, which is the node's: every PgNodeStorage of a node reports the same one.
func (b *budget) read(arc *v1alpha1.ObservedARC) {
	if arc == nil {
		return
	}
	if arc.Max != nil {
		b.arcMax = max(b.arcMax, arc.Max.Value())
	}
	if arc.Size != nil {
		b.arcSize = max(b.arcSize, arc.Size.Value())
	}
}

// place adds the instances of a database to the budgets of their nodes.
func place(cr *v1alpha1.PgStorageCluster, budgets map[string]*budget) {
	requests := cr.Spec.Resources.Requests[corev1.ResourceMemory]
	for _, v := range cr.Status.Volumes {
		b := budgets[v.Node]
		if b == nil || v.Role != "Data" {
			continue
		}
		b.instance++
		b.requests += requests.AsApproximateFloat64()
		if v.Path != "" { // the memory of the pod includes its volumes
			volumes := cnpg.InMemory(cr)
			b.requests += volumes.AsApproximateFloat64()
		}
		b.buffers += nodes.SharedBuffers(cr)
	}
}
