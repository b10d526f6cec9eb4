package zfsvolumes

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	storagev1ac "k8s.io/client-go/applyconfigurations/storage/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/nodes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// thinprovision in the driver's words.
var thinprovision = map[string]string{"Thin": "yes", "Thick": "no"}

// classes for each parent dataset, on the nodes where volumes can be provisioned.
// Volumes inherit recordsize and compression from the parent. A value in the class
// would be local on each volume, and the parent could not retune it.
func (s Storage) classes(facts observed.Profile, usable []nodes.Verdict) ([]plan.Object, error) {
	p := s.Profile
	filesystem := func(name, parent string) *storagev1ac.StorageClassApplyConfiguration {
		parameters := map[string]string{"poolname": parent, "fstype": "zfs"}
		if limitsLiveDataOnly(facts, name) {
			parameters["quotatype"] = "refquota"
		}
		return class(p, name, usable, parameters)
	}
	wanted := []*storagev1ac.StorageClassApplyConfiguration{
		filesystem(naming.DataClass(p.Name), naming.DataDataset(s.Pool)),
		filesystem(naming.WALClass(p.Name), naming.WALDataset(s.Pool)),
	}
	var out []plan.Object
	for _, w := range wanted {
		object, err := plan.FromApply(plan.StageStorage, w)
		if err != nil {
			return nil, err
		}
		out = append(out, object)
	}
	if s.Block != nil {
		object, err := s.blockClass(plan.StageStorage, usable)
		if err != nil {
			return nil, err
		}
		out = append(out, object)
	}
	if facts.VolumeSnapshots {
		out = append(out, snapshotClass(p))
	}
	return out, nil
}

// blockClass is without fstype: with it, the driver would make datasets.
func (s Storage) blockClass(stage plan.Stage, usable []nodes.Verdict) (plan.Object, error) {
	return plan.FromApply(stage, class(s.Profile, naming.BlockClass(s.Profile.Name), usable, map[string]string{
		"poolname":      naming.BlockDataset(s.Pool),
		"volblocksize":  s.Block.Volblocksize,
		"thinprovision": thinprovision[s.Block.Provisioning],
	}))
}

// limitsLiveDataOnly: a volume's size limits its data but not its snapshots,
// where the driver can (zfs-localpv issue 542). What a class has stays, because
// its parameters are immutable.
func limitsLiveDataOnly(facts observed.Profile, name string) bool {
	if existing := facts.Classes[name]; existing != nil {
		return existing.Parameters["quotatype"] == "refquota"
	}
	return facts.ZFSQuotaType
}

func class(p *v1alpha1.PgStorageProfile, name string, usable []nodes.Verdict, parameters map[string]string) *storagev1ac.StorageClassApplyConfiguration {
	c := storagev1ac.StorageClass(name).
		WithLabels(naming.ProfileLabels(p.Name, string(p.UID))).
		WithProvisioner(Driver).
		WithParameters(parameters).
		WithReclaimPolicy(corev1.PersistentVolumeReclaimDelete).
		WithVolumeBindingMode(storagev1.VolumeBindingWaitForFirstConsumer).
		WithAllowVolumeExpansion(true)
	for _, topology := range topologies(usable) {
		c.WithAllowedTopologies(topology)
	}
	return c
}

// topologies of the nodes, by the key that the driver has on them.
func topologies(usable []nodes.Verdict) []*corev1ac.TopologySelectorTermApplyConfiguration {
	values := map[string][]string{}
	for _, v := range usable {
		values[v.TopologyKey] = append(values[v.TopologyKey], v.TopologyValue)
	}
	var out []*corev1ac.TopologySelectorTermApplyConfiguration
	for _, key := range slices.Sorted(maps.Keys(values)) {
		slices.Sort(values[key])
		out = append(out, corev1ac.TopologySelectorTerm().WithMatchLabelExpressions(
			corev1ac.TopologySelectorLabelRequirement().WithKey(key).WithValues(values[key]...)))
	}
	return out
}

func snapshotClass(p *v1alpha1.PgStorageProfile) plan.Object {
	labels := map[string]any{}
	for k, v := range naming.ProfileLabels(p.Name, string(p.UID)) {
		labels[k] = v
	}
	return plan.FromContent(plan.StageStorage, map[string]any{
		"apiVersion":     "snapshot.storage.k8s.io/v1",
		"kind":           "VolumeSnapshotClass",
		"metadata":       map[string]any{"name": naming.DataClass(p.Name), "labels": labels},
		"driver":         Driver,
		"deletionPolicy": "Delete",
	})
}
