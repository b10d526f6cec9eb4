package cephrbd

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

// addCluster is the CephCluster, where it is the profile's, and what is said of it.
func addCluster(b *profile.Built, p *v1alpha1.PgStorageProfile, facts observed.Profile) error {
	o := cephOutcome(p, facts)
	b.Outcomes = append(b.Outcomes, o)
	hold(b, plan.StagePool, o)
	switch o.Reason {
	case v1alpha1.ReasonDeleting:
		// A pool that is created now would block the deletion.
		hold(b, plan.StageCephPool, o)
	case v1alpha1.ReasonRookNotInstalled, v1alpha1.ReasonCephNotOwned, v1alpha1.ReasonCephDeleted:
		hold(b, plan.StageCeph, o)
	}
	if clusterOf(p) == nil {
		return nil
	}
	names := p.Spec.CephRBD.Rook
	cluster := rook.NewCephCluster(names.Namespace, names.Cluster, labels(p))
	cluster.Spec = clusterSpec(p)
	return add(b, plan.StageCeph, cluster)
}

// statusInterval is how often Rook asks Ceph for its health. With its default of 60s
// CephReady is about a minute behind.
const statusInterval = "15s"

func clusterSpec(p *v1alpha1.PgStorageProfile) rook.ClusterSpec {
	c := clusterOf(p)
	spec := rook.ClusterSpec{
		CephVersion:     &rook.CephVersion{Image: c.Image, AllowUnsupported: new(false)},
		DataDirHostPath: c.DataDirHostPath,
		Mon:             mons(p),
		Mgr:             mgr(c.Mgr),
		Dashboard:       &rook.Dashboard{Enabled: new(ptr.Deref(c.Dashboard, false)), SSL: new(true)},
		Monitoring:      &rook.Monitoring{Enabled: new(ptr.Deref(c.Monitoring, false))},
		CephConfig:      cephConfig(p),
		// As in Rook's cluster-on-pvc.yaml: an OSD is the last to be evicted.
		PriorityClassNames:   map[string]string{"mon": "system-node-critical", "osd": "system-node-critical", "mgr": "system-cluster-critical"},
		DisruptionManagement: &rook.DisruptionManagement{ManagePodBudgets: new(true)},
		HealthCheck:          &rook.HealthCheck{DaemonHealth: &rook.DaemonHealth{Status: &rook.StatusCheck{Interval: statusInterval}}},
	}
	if c.Backing.Devices != nil {
		spec.Storage = deviceStorage(c)
		spec.Resources = map[string]*corev1ac.ResourceRequirementsApplyConfiguration{"osd": osdResources(c.OSDs)}
	} else {
		spec.Storage = claimStorage(p)
	}
	return spec
}

func mons(p *v1alpha1.PgStorageProfile) *rook.Mon {
	m := clusterOf(p).Mons
	out := &rook.Mon{Count: new(ptr.Deref(m.Count, 3)), AllowMultiplePerNode: new(false)}
	class := m.StorageClassName
	if class == "" {
		class = backingClass(p)
	}
	if class == "" {
		return out
	}
	size := resource.MustParse("10Gi")
	if m.Size != nil {
		size = *m.Size
	}
	// Rook reads only these two of the template.
	out.VolumeClaimTemplate = &rook.VolumeClaim{Spec: corev1ac.PersistentVolumeClaimSpec().
		WithStorageClassName(class).
		WithResources(corev1ac.VolumeResourceRequirements().WithRequests(corev1.ResourceList{corev1.ResourceStorage: size}))}
	return out
}

func mgr(m v1alpha1.CephMgr) *rook.Mgr {
	out := &rook.Mgr{Count: new(ptr.Deref(m.Count, 2)), AllowMultiplePerNode: new(false)}
	for _, name := range slices.Sorted(slices.Values(m.Modules)) {
		out.Modules = append(out.Modules, rook.Module{Name: name, Enabled: new(true)})
	}
	return out
}

// cephConfig is in the mons' database before an OSD is made, so that
// bluestore_min_alloc_size is what it is made with.
func cephConfig(p *v1alpha1.PgStorageProfile) map[string]map[string]string {
	osds := clusterOf(p).OSDs
	out := map[string]map[string]string{"osd": {
		"bluestore_min_alloc_size": strconv.FormatInt(zfsvolumes.Bytes(osds.MinAllocSize), 10),
		"osd_memory_target":        strconv.FormatInt(osds.MemoryTarget.Value(), 10),
	}}
	global := map[string]string{}
	if poolSize(p) == 1 {
		// Ceph refuses pools of one copy without it.
		global["mon_allow_pool_size_one"] = "true"
	}
	if copies := managerCopies(p); copies != defaultCopies {
		// Ceph warns of TOO_FEW_OSDS below this number, and creates .mgr with so many.
		global["osd_pool_default_size"] = strconv.Itoa(int(copies))
	}
	if len(global) > 0 {
		out["global"] = global
	}
	return out
}

// deviceStorage is OSDs on named disks of named nodes, and on no others.
func deviceStorage(c *v1alpha1.CephCluster) *rook.Storage {
	out := &rook.Storage{
		UseAllNodes: new(false), UseAllDevices: new(false),
		Config: map[string]string{"deviceClass": c.OSDs.DeviceClass, "encryptedDevice": strconv.FormatBool(ptr.Deref(c.OSDs.Encrypted, false))},
	}
	for _, n := range c.Backing.Devices {
		node := rook.Node{Name: n.Node}
		for _, path := range n.Paths {
			node.Devices = append(node.Devices, rook.Device{Name: path})
		}
		out.Nodes = append(out.Nodes, node)
	}
	return out
}

// claimStorage is OSDs on claims. They are not portable: an OSD stays on the node
// that it was made on, which volumes of a node need, and others bear.
func claimStorage(p *v1alpha1.PgStorageProfile) *rook.Storage {
	osds := clusterOf(p).OSDs
	set := rook.DeviceSet{
		Name: naming.DeviceSet, Count: new(ptr.Deref(osds.Count, 1)), Portable: new(false), Encrypted: new(ptr.Deref(osds.Encrypted, false)),
		TuneFast: new(osds.Tune == "" || osds.Tune == "Fast"), TuneSlow: new(osds.Tune == "Slow"),
		Resources: osdResources(osds), Placement: placement(p), PreparePlacement: preparePlacement(p),
	}
	claim := corev1ac.PersistentVolumeClaimSpec().
		WithAccessModes(corev1.ReadWriteOnce).
		WithVolumeMode(corev1.PersistentVolumeBlock).
		WithStorageClassName(backingClass(p))
	if osds.Size != nil {
		claim.WithResources(corev1ac.VolumeResourceRequirements().WithRequests(corev1.ResourceList{corev1.ResourceStorage: *osds.Size}))
	}
	set.Claims = []rook.VolumeClaim{{
		Metadata: &rook.ClaimMetadata{Name: "data", Annotations: map[string]string{"crushDeviceClass": osds.DeviceClass}},
		Spec:     claim,
	}}
	return &rook.Storage{AllowOSDCrushWeightUpdate: new(true), DeviceSets: []rook.DeviceSet{set}}
}

// osdResources: Rook has Ceph take the memory that is requested for its target.
func osdResources(osds v1alpha1.CephOSDs) *corev1ac.ResourceRequirementsApplyConfiguration {
	return corev1ac.ResourceRequirements().
		WithRequests(corev1.ResourceList{corev1.ResourceCPU: osds.CPU, corev1.ResourceMemory: osds.MemoryTarget}).
		WithLimits(corev1.ResourceList{corev1.ResourceMemory: memoryLimit(osds.MemoryTarget)})
}

// memoryLimit of a target: a quarter more, in whole Mi.
func memoryLimit(target resource.Quantity) resource.Quantity {
	const mi = 1 << 20
	return *resource.NewQuantity((target.Value()*5/4+mi-1)/mi*mi, resource.BinarySI)
}

const hostname = "kubernetes.io/hostname"

// topologyKeys of failure domains above a node (Rook, OSD Topology).
var topologyKeys = map[string]string{"rack": "topology.rook.io/rack", "zone": "topology.kubernetes.io/zone"}

// placement returns where OSDs run. They spread evenly over nodes, and over racks or zones
// where these are the failure domain.
func placement(p *v1alpha1.PgStorageProfile) *rook.Placement {
	out := &rook.Placement{}
	unsatisfiable := corev1.DoNotSchedule
	if clusterOf(p).OSDs.Spread == "Preferred" {
		unsatisfiable = corev1.ScheduleAnyway
	}
	for _, key := range []string{topologyKeys[p.Spec.CephRBD.FailureDomain], hostname} {
		if key != "" {
			out.TopologySpreadConstraints = append(out.TopologySpreadConstraints, spread(key, unsatisfiable))
		}
	}
	return out
}

// preparePlacement returns where the jobs run that create OSDs, which decides where an OSD
// stays. Only new OSDs need the labels of spec.nodeSelector. An OSD whose node lost them has
// its data there and must start again. So placement does not have them. It is nil where it
// would be the same.
func preparePlacement(p *v1alpha1.PgStorageProfile) *rook.Placement {
	if len(p.Spec.NodeSelector) == 0 {
		return nil
	}
	out := placement(p)
	out.NodeAffinity = affinity(p.Spec.NodeSelector)
	return out
}

func spread(key string, unsatisfiable corev1.UnsatisfiableConstraintAction) corev1ac.TopologySpreadConstraintApplyConfiguration {
	return *corev1ac.TopologySpreadConstraint().
		WithMaxSkew(1).
		WithTopologyKey(key).
		WithWhenUnsatisfiable(unsatisfiable).
		WithLabelSelector(metav1ac.LabelSelector().WithMatchExpressions(metav1ac.LabelSelectorRequirement().
			WithKey("app").WithOperator("In").WithValues("rook-ceph-osd", "rook-ceph-osd-prepare")))
}

func affinity(selector map[string]string) *corev1ac.NodeAffinityApplyConfiguration {
	term := corev1ac.NodeSelectorTerm()
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		term.WithMatchExpressions(corev1ac.NodeSelectorRequirement().WithKey(key).WithOperator(corev1.NodeSelectorOpIn).WithValues(selector[key]))
	}
	return corev1ac.NodeAffinity().WithRequiredDuringSchedulingIgnoredDuringExecution(corev1ac.NodeSelector().WithNodeSelectorTerms(term))
}
