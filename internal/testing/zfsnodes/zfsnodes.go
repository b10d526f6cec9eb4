// Package zfsnodes builds what is observed of nodes with a ZFS pool, for the tests of all
// kinds of storage on ZFS.
package zfsnodes

import (
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// generation of the PgNodeStorages that Answered returns.
const generation = 3

// Node returns a selected node whose CSI driver lists a pool.
func Node(name, pool string) observed.Node {
	return observed.Node{Name: name, Selected: true, TopologyKey: zfsvolumes.TopologyKey, TopologyValue: name, Pools: []string{pool}}
}

// Answered returns the PgNodeStorage of a node whose agent has reported these conditions
// for its generation. Default: Ready.
func Answered(profile, node string, conditions ...metav1.Condition) *v1alpha1.PgNodeStorage {
	if conditions == nil {
		conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReady}}
	}
	return &v1alpha1.PgNodeStorage{
		ObjectMeta: metav1.ObjectMeta{Name: naming.NodeStorage(profile, node), Generation: generation},
		Spec:       v1alpha1.PgNodeStorageSpec{NodeName: node, Profile: profile},
		Status:     v1alpha1.PgNodeStorageStatus{ObservedGeneration: generation, Conditions: conditions},
	}
}

// Healthy returns the facts of a profile whose nodes n1 and n2 are as it declares, with a
// driver that lists their pools.
func Healthy(profile, pool string) observed.Profile {
	f := observed.Profile{
		ForeignAPIs: observed.ForeignAPIs{ZFSLocalPV: true, VolumeSnapshots: true},
		Classes:     map[string]*storagev1.StorageClass{},
		Reachable:   map[string]observed.Reachability{},
	}
	for _, name := range []string{"n1", "n2"} {
		f.Nodes, f.Storages = append(f.Nodes, Node(name, pool)), append(f.Storages, Answered(profile, name))
		f.Reachable[name] = observed.Reachability{Status: metav1.ConditionTrue}
	}
	return f
}

// Properties are those of a dataset whose profile declares none, as the API server
// completes them.
func Properties() v1alpha1.ZFSDatasetProperties {
	return v1alpha1.ZFSDatasetProperties{
		Compression: "lz4", Atime: "off", Relatime: "off", Logbias: "latency", Primarycache: "all", Xattr: "sa", Dnodesize: "legacy",
		RedundantMetadata: "all", Checksum: "on", Sync: "standard", SpecialSmallBlocks: "0", Dedup: "off",
	}
}
