// Package zfslocalpv is ZFS on the nodes' own devices, provisioned by OpenEBS
// zfs-localpv: a PgNodeStorage for each selected node, from which its agent makes
// the pool and the parent datasets, and a StorageClass for each parent.
package zfslocalpv

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/naming"
	"github.com/pgstorage/pgstorage/internal/plan"
	"github.com/pgstorage/pgstorage/internal/postgres"
	"github.com/pgstorage/pgstorage/internal/profile"
	"github.com/pgstorage/pgstorage/internal/state"
)

// Driver is the name of the CSI driver, and TopologyKey what it knows a node by
// first (zfs-localpv pkg/driver/agent.go, NodeGetInfo).
const (
	Driver      = "zfs.csi.openebs.io"
	TopologyKey = "openebs.io/nodeid"
)

// Type is ZFSLocalPV.
type Type struct{}

// Name is ZFSLocalPV.
func (Type) Name() v1alpha1.ProfileType { return v1alpha1.ProfileTypeZFSLocalPV }

// Classes that the profile makes.
func (Type) Classes(p *v1alpha1.PgStorageProfile) []string {
	names := []string{naming.DataClass(p.Name), naming.WALClass(p.Name)}
	if z := p.Spec.ZFSLocalPV; z != nil && z.Block != nil {
		names = append(names, naming.BlockClass(p.Name))
	}
	return names
}

// Volumes are datasets of the profile's own classes.
func (Type) Volumes(p *v1alpha1.PgStorageProfile) profile.Volumes {
	v := profile.Volumes{
		StorageClass:    naming.DataClass(p.Name),
		WALStorageClass: naming.WALClass(p.Name),
		Medium:          postgres.Medium(v1alpha1.MediumSSD),
		// PostgreSQL, runtime-config-wal: both only cost on copy-on-write file
		// systems. Data and WAL of this profile are always datasets.
		Parameters: map[string]postgres.Recommendation{
			"wal_init_zero": {Value: "off", Reason: "ZFS allocates new blocks on every write, so zero-filling a WAL file reserves nothing"},
			"wal_recycle":   {Value: "off", Reason: "ZFS allocates new blocks on every write, so a recycled WAL file is no faster than a new one"},
		},
	}
	if z := p.Spec.ZFSLocalPV; z != nil && z.Medium != "" {
		v.Medium = postgres.Medium(z.Medium)
	}
	return v
}

// Build the PgNodeStorages and classes, and judge what was seen.
func (Type) Build(p *v1alpha1.PgStorageProfile, facts state.ProfileFacts) (profile.Built, error) {
	var b profile.Built
	for _, node := range facts.Nodes {
		object, err := plan.FromApply(plan.StageNodes, nodeStorage(p, node.Name))
		if err != nil {
			return b, err
		}
		b.Plan.Add(object)
	}
	nodes := judgeNodes(p, facts)
	classes, err := classes(p, facts, usable(nodes))
	if err != nil {
		return b, err
	}
	b.Plan.Add(classes...)
	b.Outcomes = []state.Outcome{driverOutcome(facts, nodes), nodesOutcome(p, nodes), classOutcome(p, facts)}
	if o := budgetOutcome(facts); o != nil {
		b.Outcomes = append(b.Outcomes, *o)
	}
	for _, n := range nodes {
		b.Nodes = append(b.Nodes, n.reported())
	}
	holdClasses(&b, facts, usable(nodes))
	return b, nil
}

// holdClasses keeps classes from being made that no node could serve, or that
// are somebody else's.
func holdClasses(b *profile.Built, facts state.ProfileFacts, usable []verdict) {
	for _, o := range b.Outcomes {
		if o.Kind == state.Done || o.Informative {
			continue
		}
		switch {
		case o.Reason == v1alpha1.ReasonStorageClassNotOwned, len(usable) == 0, !facts.ZFSLocalPV:
			b.Plan.Hold(plan.StageStorage, o.Reason, o.Message)
			return
		}
	}
}
