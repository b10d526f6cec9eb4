package branches

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// remove the branch: its database, then the volumes, then the snapshots that they were made of.
// A promoted one keeps its database.
func (p *pass) remove() {
	const c = v1alpha1.ConditionDatabaseReady
	switch {
	case p.s.Independent:
	case p.facts.Cluster != nil:
		p.delete(p.facts.Cluster)
		p.wait(outcome.WaitFor(c, v1alpha1.ReasonDeleting, msgDeletingCluster))
		return
	case p.facts.Database != nil || len(p.facts.Claims) > 0:
		p.wait(outcome.WaitFor(c, v1alpha1.ReasonDeleting, p.claimsLeft()))
		return
	case len(p.s.Children) > 0:
		// Some drivers report a volume as deleted, and delete it once no clone of it is left.
		p.wait(outcome.WaitFor(c, v1alpha1.ReasonWaitingForChildren, fmt.Sprintf(msgChildren, p.s.Children)))
		return
	case len(p.facts.Held) > 0:
		p.wait(outcome.WaitFor(c, v1alpha1.ReasonDeleting, fmt.Sprintf(msgVolumesGo, p.facts.Held)))
		return
	}
	if p.deleteSnapshots() {
		p.wait(outcome.WaitFor(c, v1alpha1.ReasonDeleting, msgSnapshotsGo+p.hindered()))
		return
	}
	p.decision.Released = true
}

// claimsLeft says what the deletion waits for. The garbage collector deletes the claims of a
// database that is gone. A user has to delete a database that was retained.
func (p *pass) claimsLeft() string {
	var foreign []string
	for _, c := range p.facts.Claims {
		if c.Foreign {
			foreign = append(foreign, c.Name)
		}
	}
	if len(foreign) == 0 {
		return msgDeletingClaims
	}
	slices.Sort(foreign)
	return fmt.Sprintf(msgRetainedClaims, foreign, p.b.Name, p.b.Namespace)
}

// deleteSnapshots says whether any is left.
func (p *pass) deleteSnapshots() bool {
	for _, name := range slices.Sorted(maps.Keys(p.facts.Snapshots)) {
		p.delete(p.facts.Snapshots[name])
	}
	return len(p.facts.Snapshots) > 0
}

// hindered is what the driver says about snapshots that are not gone.
func (p *pass) hindered() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(p.facts.Snapshots)) {
		if text := complaint(p.facts.Snapshots[name]); text != "" {
			all = append(all, name+text)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "; " + strings.Join(all, "; ")
}
