package branches

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
)

// admitted says whether a branch may be made, and can be.
func (p *pass) admitted() outcome.Outcome {
	const c = v1alpha1.ConditionSnapshotReady
	source := p.facts.Source
	switch {
	case p.facts.ForeignCluster:
		return outcome.InvalidBecause(c, v1alpha1.ReasonClusterNotOwned, fmt.Sprintf(msgNotOwned, p.b.Name))
	case p.facts.ForeignDatabase != "":
		return outcome.InvalidBecause(c, v1alpha1.ReasonClusterNotOwned, fmt.Sprintf(msgDatabaseNotOwned, p.b.Name))
	case p.facts.ForeignSnapshot != "":
		return outcome.InvalidBecause(c, v1alpha1.ReasonBranchRefused, fmt.Sprintf(msgSnapshotNotOwned, p.facts.ForeignSnapshot))
	case source == nil:
		return outcome.WaitFor(c, v1alpha1.ReasonSourceNotFound, fmt.Sprintf(msgSourceNotFound, p.b.Spec.Source.Cluster))
	case !source.DeletionTimestamp.IsZero():
		return outcome.InvalidBecause(c, v1alpha1.ReasonBranchRefused, fmt.Sprintf(msgSourceDeleted, source.Name))
	case p.unmasked():
		return outcome.WaitFor(c, v1alpha1.ReasonSourceNotReady, fmt.Sprintf(msgSourceUnmasked, source.Name))
	case source.Spec.BranchPolicy != v1alpha1.BranchAny:
		return outcome.WaitFor(c, v1alpha1.ReasonConsentRequired, fmt.Sprintf(msgConsent, source.Name))
	case p.facts.Profile == nil:
		return outcome.WaitFor(c, v1alpha1.ReasonProfileNotFound, fmt.Sprintf(msgNoProfile, source.Spec.Profile))
	}
	if o := p.copyable(); o.Kind != outcome.Done {
		return o
	}
	return p.room()
}

// unmasked says that the source is a branch whose data is not fit for its users yet.
func (p *pass) unmasked() bool {
	return slices.ContainsFunc(p.facts.Branches, func(o v1alpha1.PgStorageBranch) bool {
		return o.Name == p.b.Spec.Source.Cluster && o.Spec.Masking != nil && o.Status.Masked == ""
	})
}

// copyable says whether the source is a database that can be copied in the declared way.
func (p *pass) copyable() outcome.Outcome {
	const c = v1alpha1.ConditionSnapshotReady
	source := p.facts.Source
	refuse := func(format string, args ...any) outcome.Outcome {
		return outcome.InvalidBecause(c, v1alpha1.ReasonBranchRefused, fmt.Sprintf(format, args...))
	}
	switch {
	case source.Spec.Follow != nil:
		return refuse(msgSourceFollows, source.Name)
	case len(source.Spec.Resources.Requests) == 0 && p.b.Spec.Resources == nil:
		return refuse(msgNoResources, source.Name)
	case p.b.Spec.Source.Backup != nil && source.Spec.Backup == nil:
		return refuse(msgNoBackup, source.Name)
	case p.b.Spec.Source.Backup != nil:
		return outcome.DoneWith(c, v1alpha1.ReasonSnapshotReady, "")
	}
	return p.snapshotable()
}

// snapshotable says whether the storage of the source has snapshots.
func (p *pass) snapshotable() outcome.Outcome {
	const c = v1alpha1.ConditionSnapshotReady
	class, profile := p.snapshotClass(), p.facts.Profile
	switch {
	case class == "" && profile.Spec.Type == v1alpha1.ProfileTypeExternal:
		return outcome.InvalidBecause(c, v1alpha1.ReasonBranchRefused, fmt.Sprintf(msgNoClassNamed, profile.Name))
	case class == "":
		return outcome.InvalidBecause(c, v1alpha1.ReasonBranchRefused, fmt.Sprintf(msgNoSnapshots, profile.Spec.Type, profile.Name))
	case !p.facts.VolumeSnapshots:
		return outcome.WaitFor(c, v1alpha1.ReasonCRDNotInstalled, msgNotInstalled)
	case p.facts.SnapshotDriver == "":
		return outcome.WaitFor(c, v1alpha1.ReasonSnapshotClassNotFound, fmt.Sprintf(msgNoClass, class, profile.Name))
	}
	return outcome.DoneWith(c, v1alpha1.ReasonSnapshotReady, "")
}

// room says whether the storage and the limits of the profile admit one more branch.
func (p *pass) room() outcome.Outcome {
	const c = v1alpha1.ConditionSnapshotReady
	if p.facts.NoRoom != "" {
		return outcome.WaitFor(c, v1alpha1.ReasonNotEnoughSpace, fmt.Sprintf(msgNoRoom, p.facts.NoRoom))
	}
	if len(p.facts.Tight) > 0 {
		return outcome.WaitFor(c, v1alpha1.ReasonNotEnoughSpace, fmt.Sprintf(msgTight, strings.Join(p.facts.Tight, ", ")))
	}
	limits := p.facts.Profile.Spec.Branches
	if limits == nil {
		return outcome.DoneWith(c, v1alpha1.ReasonSnapshotReady, "")
	}
	number, space := p.before()
	if most := limits.MaxPerNamespace; most != nil && number >= *most {
		return outcome.WaitFor(c, v1alpha1.ReasonQuotaExceeded, fmt.Sprintf(msgTooMany, number, *most, p.facts.Profile.Name))
	}
	if most := limits.MaxSpacePerNamespace; most != nil && space.Cmp(*most) >= 0 {
		return outcome.WaitFor(c, v1alpha1.ReasonQuotaExceeded, fmt.Sprintf(msgTooLarge, most.String(), p.facts.Profile.Name))
	}
	return outcome.DoneWith(c, v1alpha1.ReasonSnapshotReady, "")
}

// before counts the branches of the namespace on the profile that count before this one, and
// their space.
func (p *pass) before() (number int32, space resource.Quantity) {
	for i := range p.facts.Branches {
		o := &p.facts.Branches[i]
		if !p.counts(o) {
			continue
		}
		number++
		if o.Status.Space != nil {
			space.Add(*o.Status.Space)
		}
	}
	return number, space
}

// counts says that another branch counts before this one. It has its snapshots or its database,
// or was created earlier. So two passes at once never admit one too many. A branch that exists
// and whose profile is unknown counts on every profile, so that no deletion lowers the count.
func (p *pass) counts(o *v1alpha1.PgStorageBranch) bool {
	made := o.Status.Snapshots != nil || o.Status.Cluster != ""
	switch profile := p.facts.ProfileOf[o.Name]; {
	case o.Status.Independent:
		return false
	case profile == "":
		return made
	case profile != p.facts.Profile.Name:
		return false
	}
	return made || earlier(o, p.b) && queued(o)
}

// queued says that a branch waits for nothing but its turn or its snapshots, as far as it
// reports.
func queued(b *v1alpha1.PgStorageBranch) bool {
	c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionSnapshotReady)
	return c == nil || slices.Contains([]string{v1alpha1.ReasonSnapshotPending, v1alpha1.ReasonQuotaExceeded, v1alpha1.ReasonNotEnoughSpace}, c.Reason)
}

func earlier(a, b *v1alpha1.PgStorageBranch) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.Name < b.Name
}
