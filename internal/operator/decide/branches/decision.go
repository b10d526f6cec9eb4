package branches

import (
	"slices"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/branch"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// poll is when a branch is looked at again for what no watch covers: sources, classes,
// ConfigMaps, Jobs and volumes.
const poll = 10 * time.Second

// Decision is what one pass does. The PgStorageCluster is made of snapshots that the status
// has already, because its controller admits them by it. The status is written before anything
// is deleted, because a deletion awaits the volumes in it.
type Decision struct {
	Status   v1alpha1.PgStorageBranchStatus
	Outcomes outcome.Set
	// Snapshot and Cluster are to be created; nil where none is.
	Snapshot *snapshotv1.VolumeSnapshot
	Cluster  *v1alpha1.PgStorageCluster
	// Plan of the Job that masks the data.
	Plan plan.Plan
	// Delete these objects, all of which were made for the branch.
	Delete []plan.Seen
	// Expired: the branch itself is to be deleted.
	Expired bool
	// Instances that the PgStorageCluster of the branch is to have; 0: as many as it has.
	Instances int32
	// Primary is the instance that is to become the primary; empty: none is.
	Primary string
	// Keep: the PgStorageCluster is to keep its data when it is deleted.
	Keep bool
	// Released: nothing of a branch that is being deleted is left.
	Released bool
	// Events to emit once the status is written.
	Events []outcome.Event
	// After is when to look again. Zero: when a watch reports a change.
	After time.Duration
}

// pass is what one reconcile knows.
type pass struct {
	b        *v1alpha1.PgStorageBranch
	facts    observed.Branch
	kinds    profile.Catalog
	config   clusters.Config
	now      time.Time
	s        v1alpha1.PgStorageBranchStatus
	decision Decision
}

// Decide what is next. It does not change its arguments.
func Decide(b *v1alpha1.PgStorageBranch, facts observed.Branch, kinds profile.Catalog, config clusters.Config, now time.Time) (Decision, error) {
	p := &pass{b: b, facts: facts, kinds: kinds, config: config, now: now, s: *b.Status.DeepCopy()}
	p.s.ObservedGeneration, p.s.Conditions = b.Generation, nil
	if !config.Branches {
		p.add(outcome.InvalidBecause(v1alpha1.ConditionSnapshotReady, v1alpha1.ReasonBranchRefused, msgOff))
		return Decision{Status: p.s, Outcomes: p.decision.Outcomes}, nil
	}
	p.observe()
	if err := p.next(); err != nil {
		return Decision{}, err
	}
	p.decision.Status = p.s
	return p.decision, nil
}

func (p *pass) next() error {
	switch {
	case !p.b.DeletionTimestamp.IsZero():
		p.remove()
		return nil
	case p.expired():
		p.decision.Expired = true
		p.add(outcome.WaitFor(v1alpha1.ConditionDatabaseReady, v1alpha1.ReasonDeleting, msgExpired))
		p.event(corev1.EventTypeNormal, EventExpired, msgExpired)
		return nil
	}
	return p.make()
}

// make the branch, one step after the other.
func (p *pass) make() error {
	for _, step := range []func() (bool, error){p.snapshots, p.database, p.masking} {
		if done, err := step(); err != nil || !done {
			return err
		}
	}
	p.promotion()
	p.s.Endpoint = naming.ServiceHost(naming.ReadWriteService(p.b.Name), p.b.Namespace)
	p.s.Secret = naming.ApplicationSecret(p.b.Name)
	return nil
}

// observe is what the status reports whatever the step is.
func (p *pass) observe() {
	p.s.Children = children(p.b, p.facts.Branches)
	p.s.ExpirationTime = branch.Expiration(p.b)
	p.s.Endpoint, p.s.Secret = "", ""
	if p.facts.Cluster != nil {
		p.s.Cluster = p.b.Name
	}
	if p.facts.Space != nil || p.s.Independent {
		p.s.Space = p.facts.Space
	}
	// A volume stays listed until it is gone. No watch shows its end.
	volumes := slices.Clone(p.facts.Held)
	if len(volumes) > 0 {
		p.again(poll)
	}
	for _, c := range p.facts.Claims {
		if c.Volume != "" {
			volumes = append(volumes, c.Volume)
		}
	}
	slices.Sort(volumes)
	volumes = slices.Compact(volumes)
	p.s.Volumes = volumes[:min(len(volumes), mostVolumes)]
	if len(p.s.Volumes) == 0 {
		p.s.Volumes = nil
	}
}

func (p *pass) expired() bool {
	at := p.s.ExpirationTime
	if at == nil {
		return false
	}
	if left := at.Sub(p.now); left > 0 {
		p.again(left)
		return false
	}
	return true
}

// children are the branches that share volumes with this one.
func children(b *v1alpha1.PgStorageBranch, others []v1alpha1.PgStorageBranch) []string {
	var out []string
	for i := range others {
		o := &others[i]
		if o.Spec.Source.Cluster == b.Name && o.Spec.Source.Backup == nil && !o.Status.Independent && o.Status.Snapshots != nil {
			out = append(out, o.Name)
		}
	}
	slices.Sort(out)
	return out[:min(len(out), mostChildren)]
}

// mostChildren and mostVolumes that a status lists, as the schema bounds it. Volumes are
// two of each of 16 instances, and those that instances before them had.
const (
	mostChildren = 64
	mostVolumes  = 64
)

func (p *pass) add(o outcome.Outcome) { p.decision.Outcomes.Add(o) }

// again asks for a look after some time, or earlier.
func (p *pass) again(after time.Duration) {
	if p.decision.After == 0 || after < p.decision.After {
		p.decision.After = after
	}
}

// wait with a condition that no watch will change.
func (p *pass) wait(o outcome.Outcome) bool {
	p.add(o)
	p.again(poll)
	return false
}

func (p *pass) delete(o plan.Seen) {
	if o.GetDeletionTimestamp() == nil {
		p.decision.Delete = append(p.decision.Delete, o)
	}
}

func (p *pass) event(kind, reason, message string) {
	p.decision.Events = append(p.decision.Events, outcome.Event{Type: kind, Reason: reason, Message: message})
}
