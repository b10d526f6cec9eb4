// Package zfsvolumes is shared by the kinds of storage whose volumes are datasets of a
// ZFS pool on the nodes, provisioned by OpenEBS zfs-localpv. It has the parent
// datasets, the StorageClasses, the conditions about nodes, the verification of
// volumes, and the memory budget. Each kind decides where the pool's devices come from.
package zfsvolumes

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/nodes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// Driver is the name of the CSI driver, and TopologyKey what it knows a node by
// first (zfs-localpv pkg/driver/agent.go, NodeGetInfo).
const (
	Driver      = "zfs.csi.openebs.io"
	TopologyKey = "openebs.io/nodeid"
)

// SnapshotClassKind is what a profile creates where volume snapshots are installed.
var SnapshotClassKind = schema.GroupVersionKind{Group: "snapshot.storage.k8s.io", Version: "v1", Kind: "VolumeSnapshotClass"}

// Field returns a function that finds where a profile's spec, below member, declares a
// pool or dataset.
func Field(member string) func(dataset string) []string {
	return func(dataset string) []string {
		pool, _, below := strings.Cut(dataset, "/")
		switch {
		case !below:
			return []string{"spec", member, "pool"}
		case dataset == naming.DataDataset(pool):
			return []string{"spec", member, "data"}
		case dataset == naming.WALDataset(pool):
			return []string{"spec", member, "wal"}
		}
		return []string{"spec", member, "block"}
	}
}

// Storage is what is said here of a profile of any such kind.
type Storage struct {
	Profile *v1alpha1.PgStorageProfile
	// Field of the spec that declares it, as messages name it: spec.zfsLocalPV.
	Field string
	// Pool on each node.
	Pool string
	// Abandoned are the pools that the profile's author abandoned.
	Abandoned []v1alpha1.PoolGUID
	// Block adds a class of zvols; nil: none.
	Block *v1alpha1.ZFSBlock
	// BlockOnly means that a kind uses zvols alone, and that they come before its own
	// objects.
	BlockOnly bool
	// ServerMemory in bytes that servers of the profile take of each node, and
	// Cache the L2ARC whose headers the ARC holds.
	ServerMemory int64
	Cache        *Cache
	// OSDMemory in bytes that OSDs are limited to, by node.
	OSDMemory map[string]int64
}

// ClassNames are the StorageClasses that the profile makes.
func (s Storage) ClassNames() []string {
	if s.BlockOnly {
		return []string{naming.BlockClass(s.Profile.Name)}
	}
	names := []string{naming.DataClass(s.Profile.Name), naming.WALClass(s.Profile.Name)}
	if s.Block != nil {
		names = append(names, naming.BlockClass(s.Profile.Name))
	}
	return names
}

// Volumes are datasets of the profile's own classes.
func Volumes(p *v1alpha1.PgStorageProfile, medium postgres.Medium) profile.Volumes {
	return profile.Volumes{
		StorageClass:    naming.DataClass(p.Name),
		WALStorageClass: naming.WALClass(p.Name),
		SnapshotClass:   naming.DataClass(p.Name),
		SnapshotsOnNode: true,
		Medium:          medium,
		// PostgreSQL, runtime-config-wal: both only cost on copy-on-write file
		// systems. Data and WAL of these profiles are always datasets.
		Parameters: map[string]postgres.Recommendation{
			"wal_init_zero": {Value: "off", Reason: "ZFS allocates new blocks on every write, so zero-filling a WAL file reserves nothing"},
			"wal_recycle":   {Value: "off", Reason: "ZFS allocates new blocks on every write, so recycling a WAL file saves nothing"},
		},
	}
}

// Complete what a kind has built with the classes, and judge what was seen.
func (s Storage) Complete(b *profile.Built, facts observed.Profile, judged []nodes.Verdict) error {
	ready := nodes.Usable(judged)
	classes, err := s.classes(facts, ready)
	if err != nil {
		return err
	}
	b.Plan.Add(classes...)
	driver := driverOutcome(facts, judged)
	b.Unwatched = b.Unwatched || driver.Kind != outcome.Done
	b.Outcomes = append(b.Outcomes, driver, s.nodesOutcome(judged), nodes.ClassOutcome(v1alpha1.ConditionStorageReady, s.Profile.Name, s.ClassNames(), facts))
	if o := s.Budget(facts); o != nil {
		b.Outcomes = append(b.Outcomes, *o)
	}
	for _, n := range judged {
		b.Status.Nodes = append(b.Status.Nodes, n.Reported())
	}
	holdClasses(b, facts, ready)
	return nil
}

// CompleteBacking is [Storage.Complete] for zvols below a kind: their class, and the
// conditions about the driver and the nodes. It holds the stage while no node can serve
// the class.
func (s Storage) CompleteBacking(b *profile.Built, facts observed.Profile, judged []nodes.Verdict) error {
	ready := nodes.Usable(judged)
	class, err := s.blockClass(plan.StageBacking, ready)
	if err != nil {
		return err
	}
	b.Plan.Add(class)
	driver := driverOutcome(facts, judged)
	b.Unwatched = b.Unwatched || driver.Kind != outcome.Done
	outcomes := []outcome.Outcome{nodes.ClassOutcome(v1alpha1.ConditionBackingReady, s.Profile.Name, s.ClassNames(), facts), driver, s.nodesOutcome(judged)}
	b.Outcomes = append(b.Outcomes, outcomes...)
	for _, n := range judged {
		b.Status.Nodes = append(b.Status.Nodes, n.Reported())
	}
	for _, o := range outcomes {
		switch {
		case o.Kind == outcome.Done:
		case o.Reason == v1alpha1.ReasonStorageClassNotOwned, len(ready) == 0 && o.Condition != v1alpha1.ConditionBackingReady, !facts.ZFSLocalPV && o.Condition == v1alpha1.ConditionDriverReady:
			b.Plan.AddGate(plan.StageBacking, o.Reason, o.Message)
			return nil
		}
	}
	return nil
}

// holdClasses prevents the creation of classes that no node can serve, or that belong
// to another owner.
func holdClasses(b *profile.Built, facts observed.Profile, usable []nodes.Verdict) {
	for _, o := range b.Outcomes {
		if o.Kind == outcome.Done || o.Informative {
			continue
		}
		switch {
		case o.Reason == v1alpha1.ReasonStorageClassNotOwned, len(usable) == 0, !facts.ZFSLocalPV:
			b.Plan.AddGate(plan.StageStorage, o.Reason, o.Message)
			return
		}
	}
}
