// Package memory is storage in the memory of nodes: a tmpfs for each volume, which the next
// boot of its node loses. It has a PgNodeStorage for each selected node and a StorageClass.
// Package memoryvolumes adds the volumes that claims ask for.
package memory

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	storagev1ac "k8s.io/client-go/applyconfigurations/storage/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	v1alpha1ac "github.com/pgstorage/pgstorage/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/durability"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/nodes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// Type is Memory.
type Type struct{}

// Name is Memory.
func (Type) Name() v1alpha1.ProfileType { return v1alpha1.ProfileTypeMemory }

// Classes that the profile makes.
func (Type) Classes(p *v1alpha1.PgStorageProfile) []string {
	return []string{naming.DataClass(p.Name)}
}

// Build the PgNodeStorages and the class, and judge what was seen.
func (t Type) Build(p *v1alpha1.PgStorageProfile, facts observed.Profile) (profile.Built, error) {
	var b profile.Built
	for _, node := range facts.Nodes {
		object, err := plan.FromApply(plan.StageNodes, nodeStorage(p, node.Name))
		if err != nil {
			return b, err
		}
		b.Plan.Add(object)
	}
	judged := nodes.Judge(facts, nil)
	usable := nodes.Usable(judged)
	object, err := plan.FromApply(plan.StageStorage, class(p, usable))
	if err != nil {
		return b, err
	}
	b.Plan.Add(object)
	stored := nodes.ClassOutcome(v1alpha1.ConditionStorageReady, p.Name, t.Classes(p), facts)
	onNodes := nodes.Outcome(p, judged, "agents can mount volumes in memory")
	b.Outcomes = append(b.Outcomes, onNodes, stored)
	if o := budgetOutcome(p, facts); o != nil {
		b.Outcomes = append(b.Outcomes, *o)
	}
	for _, n := range judged {
		b.Status.Nodes = append(b.Status.Nodes, n.Reported())
	}
	switch {
	case stored.Reason == v1alpha1.ReasonStorageClassNotOwned:
		b.Plan.AddGate(plan.StageStorage, stored.Reason, stored.Message)
	case len(usable) == 0:
		b.Plan.AddGate(plan.StageStorage, onNodes.Reason, onNodes.Message)
	}
	return b, nil
}

// nodeStorage declares that a node has volumes in memory. The list of them has another
// owner, which adds and removes them.
func nodeStorage(p *v1alpha1.PgStorageProfile, node string) *v1alpha1ac.PgNodeStorageApplyConfiguration {
	return v1alpha1ac.PgNodeStorage(naming.NodeStorage(p.Name, node)).
		WithLabels(naming.ProfileLabels(p.Name, string(p.UID))).
		WithSpec(v1alpha1ac.PgNodeStorageSpec().WithNodeName(node).WithProfile(p.Name).WithMemory(v1alpha1ac.NodeMemory()))
}

// class lets the scheduler choose a node first, whose memory then has the volume. A volume
// does not grow: a read pool is cloned again in place of it.
func class(p *v1alpha1.PgStorageProfile, usable []nodes.Verdict) *storagev1ac.StorageClassApplyConfiguration {
	var names []string
	for _, v := range usable {
		names = append(names, v.Hostname)
	}
	slices.Sort(names)
	return storagev1ac.StorageClass(naming.DataClass(p.Name)).
		WithLabels(naming.ProfileLabels(p.Name, string(p.UID))).
		WithProvisioner(naming.MemoryProvisioner).
		WithReclaimPolicy(corev1.PersistentVolumeReclaimDelete).
		WithVolumeBindingMode(storagev1.VolumeBindingWaitForFirstConsumer).
		WithAllowVolumeExpansion(false).
		WithAllowedTopologies(corev1ac.TopologySelectorTerm().WithMatchLabelExpressions(
			corev1ac.TopologySelectorLabelRequirement().WithKey(corev1.LabelHostname).WithValues(names...)))
}

// Volumes are tmpfs of the profile's own class.
func (Type) Volumes(p *v1alpha1.PgStorageProfile) profile.Volumes {
	class := naming.DataClass(p.Name)
	return profile.Volumes{
		StorageClass: class, WALStorageClass: class, InMemory: true,
		Medium: postgres.Medium(v1alpha1.MediumSSD),
		// PostgreSQL, runtime-config-query and runtime-config-wal.
		Parameters: map[string]postgres.Recommendation{
			"random_page_cost": {Value: "1", Reason: "every page of a tmpfs is in memory, so a random one costs as much as the next one"},
			"wal_init_zero":    {Value: "off", Reason: "zero-filling a WAL file would take memory before it has WAL"},
			"wal_recycle":      {Value: "off", Reason: "a removed WAL file gives its memory back, and a new one is as fast"},
		},
		Flush: durability.Flush{
			To:   "to the memory of its node, which keeps nothing",
			Node: "the volume is gone with the next boot of its node",
			Site: durability.Loss{Event: "SiteLoss", AcknowledgedCommits: "Lost", Detail: "every volume is in the memory of a node of the site"},
		},
	}
}

// Verify says which volumes of a database have their tmpfs, and which are lost.
func (Type) Verify(_ *v1alpha1.PgStorageProfile, instances int, claims []observed.Claim) (*outcome.Outcome, postgres.Proof) {
	const c = v1alpha1.ConditionVolumesVerified
	var waits, lost []string
	data := 0
	for _, claim := range claims {
		switch {
		case claim.Lost != "":
			lost = append(lost, fmt.Sprintf("volume %s of claim %s: %s", claim.Volume, claim.Name, claim.Lost))
		case claim.Volume == "":
			waits = append(waits, fmt.Sprintf("claim %s is not bound yet", claim.Name))
		case claim.Memory == nil:
			waits = append(waits, fmt.Sprintf("claim %s: %s", claim.Name, claim.Unproved))
		case !claim.WAL:
			data++
		}
	}
	if data < instances && len(lost) == 0 {
		waits = append(waits, fmt.Sprintf("%d of %d data volumes were read back", data, instances))
	}
	o := outcome.DoneWith(c, v1alpha1.ReasonVerified, fmt.Sprintf("%d volumes were read back in the memory of their nodes", len(claims)))
	switch {
	case len(lost) > 0:
		o = outcome.WaitFor(c, v1alpha1.ReasonVolumeLost, joined(lost)+"; what was in them is gone")
	case len(waits) > 0:
		o = outcome.WaitFor(c, v1alpha1.ReasonNotReadBack, joined(waits))
	}
	return &o, postgres.Proof{}
}

// Hooks of Memory.
func (Type) Hooks() profile.Hooks {
	return profile.Hooks{
		Alpha:    "docs/adr/0062-volumes-in-memory.md lists their limits",
		Nodes:    true,
		Teardown: teardown,
	}
}

// teardown waits for the volumes: with the PgNodeStorages, the agents would unmount them
// below databases.
func teardown(_ *v1alpha1.PgStorageProfile, facts observed.Profile) profile.Teardown {
	if len(facts.ClassesInUse) == 0 {
		return profile.Teardown{}
	}
	return profile.Teardown{
		Reason:    v1alpha1.ReasonInUse,
		Waits:     fmt.Sprintf("PersistentVolumes of StorageClass %s exist; delete their claims, which kubectl get pv shows", joined(facts.ClassesInUse)),
		Unwatched: true,
	}
}
