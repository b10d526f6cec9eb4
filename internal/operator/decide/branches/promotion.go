package branches

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
)

// promotion copies the data onto volumes of their own. A second instance copies them by
// pg_basebackup and becomes the primary. Then the first one goes with its volumes.
func (p *pass) promotion() {
	const c = v1alpha1.ConditionIndependent
	switch {
	case !p.b.Spec.Promote || p.b.Spec.Masking != nil && p.s.Masked == "":
		return
	case p.s.Independent || p.b.Spec.Source.Backup != nil:
		p.independent()
		return
	}
	if o := p.promotable(); o.Kind != outcome.Done {
		p.wait(o)
		return
	}
	shared, own := p.instances()
	if len(shared) > 0 || !p.standsAlone(own) {
		p.wait(outcome.WaitFor(c, v1alpha1.ReasonCopying, p.copy(shared, own)))
		return
	}
	p.letGo()
}

// standsAlone says that an instance with volumes of its own is the primary, and healthy.
func (p *pass) standsAlone(own map[string]bool) bool {
	database := p.facts.Database
	return database != nil && own[database.Status.CurrentPrimary] && clusters.Healthy(p.facts.Cluster, database)
}

// copy the data to an instance of its own, and remove the one that shares volumes.
func (p *pass) copy(shared, own map[string]bool) (waits string) {
	database := p.facts.Database
	switch {
	case len(shared) == 0 && len(own) > 0:
		return fmt.Sprintf(msgSettling, p.b.Name)
	case len(shared) == 0: // the claims of the database do not exist yet
		return msgCopying
	case len(own) == 0:
		p.decision.Instances = 2
		return msgCopying
	case database == nil || !clusters.Healthy(p.facts.Cluster, database):
		return msgCopying
	case !shared[database.Status.CurrentPrimary]:
		p.decision.Instances = 1
		return msgDropping
	}
	if database.Status.TargetPrimary == database.Status.CurrentPrimary {
		p.decision.Primary = slices.Sorted(maps.Keys(own))[0]
	}
	return msgSwitching
}

// letGo of the snapshots once no volume is made of them any more.
func (p *pass) letGo() {
	const c = v1alpha1.ConditionIndependent
	if len(p.s.Children) > 0 {
		p.wait(outcome.WaitFor(c, v1alpha1.ReasonWaitingForChildren, fmt.Sprintf(msgChildren, p.s.Children)))
		return
	}
	if len(p.facts.Held) > 0 {
		p.wait(outcome.WaitFor(c, v1alpha1.ReasonCopying, fmt.Sprintf(msgVolumesGo, p.facts.Held)))
		return
	}
	if p.deleteSnapshots() {
		p.wait(outcome.WaitFor(c, v1alpha1.ReasonCopying, msgSnapshotsGo))
		return
	}
	p.independent()
}

// independent databases are not copies any more, and have the deletionPolicy of others. Users may
// change it afterwards.
func (p *pass) independent() {
	if !p.s.Independent {
		p.decision.Keep = true
		p.event(corev1.EventTypeNormal, EventIndependent, msgIndependent)
	}
	p.s.Independent, p.s.Snapshots = true, nil
	p.add(outcome.DoneWith(v1alpha1.ConditionIndependent, v1alpha1.ReasonIndependent, msgIndependent))
}

// promotable says whether the data can be copied in this way.
func (p *pass) promotable() outcome.Outcome {
	const c = v1alpha1.ConditionIndependent
	spec := p.facts.Cluster.Spec
	shared, own := p.instances()
	switch {
	case spec.Backup != nil && len(own) == 0:
		// CloudNativePG would make the second instance of the snapshots, too.
		return outcome.InvalidBecause(c, v1alpha1.ReasonBranchRefused, fmt.Sprintf(msgPromoteBackup, p.b.Name))
	case len(shared) > 1, len(shared) == 1 && len(own) > 1:
		// With two instances that share volumes, CloudNativePG adds no third one as the copy. Of
		// several further ones, it may remove another than the one that shares volumes.
		return outcome.InvalidBecause(c, v1alpha1.ReasonBranchRefused, fmt.Sprintf(msgPromoteInstances, p.b.Name))
	case p.facts.NoRoom != "" && len(own) == 0:
		return outcome.WaitFor(c, v1alpha1.ReasonNotEnoughSpace, fmt.Sprintf(msgNoRoom, p.facts.NoRoom))
	}
	return outcome.DoneWith(c, v1alpha1.ReasonIndependent, "")
}

// instances that share volumes with the source, and those that have their own.
func (p *pass) instances() (shared, own map[string]bool) {
	shared, own = map[string]bool{}, map[string]bool{}
	for _, c := range p.facts.Claims {
		if c.FromSnapshot {
			shared[c.Instance] = true
		}
	}
	for _, c := range p.facts.Claims {
		if !shared[c.Instance] && c.Instance != "" {
			own[c.Instance] = true
		}
	}
	return shared, own
}
