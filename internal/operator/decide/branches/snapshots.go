package branches

import (
	"fmt"
	"slices"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/branch"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/nodevolumes"
)

// mostSaid is how much of a text of others is kept, in bytes.
const mostSaid = 512

// mostBetween is how much later than that of the data the snapshot of the WAL may be taken. The
// source recycles WAL, and a recovery of the data needs all since its last checkpoint.
const mostBetween = 5 * time.Minute

// early are CSI drivers that report a creation time when they accept a request. Their nodes take
// the snapshot later, and only readyToUse shows it (zfs-localpv and lvm-localpv,
// pkg/driver/controller.go, CreateSnapshot).
var early = []string{nodevolumes.Driver, "local.csi.openebs.io"}

// snapshots of the source: first of the data, then of the WAL. In this order the WAL has all
// that a recovery of the data needs.
func (p *pass) snapshots() (bool, error) {
	const c = v1alpha1.ConditionSnapshotReady
	if p.s.Independent {
		return true, nil
	}
	if p.s.Snapshots != nil {
		p.add(outcome.DoneWith(c, v1alpha1.ReasonSnapshotReady, fmt.Sprintf(msgSnapshots, p.s.Snapshots.Instance)))
		return true, nil
	}
	if p.facts.Cluster != nil && p.b.Spec.Source.Backup != nil {
		return true, nil
	}
	if o := p.admitted(); o.Kind != outcome.Done {
		return p.wait(o), nil
	}
	if p.b.Spec.Source.Backup != nil {
		return true, nil
	}
	if p.facts.Refusal != "" {
		return p.wait(outcome.InvalidBecause(c, v1alpha1.ReasonRejected, fmt.Sprintf(msgRejected, p.facts.Refusal))), nil
	}
	if o := p.sourceReady(); o.Kind != outcome.Done {
		return p.wait(o), nil
	}
	return p.take(), nil
}

// take the snapshots. Where the primary changed meanwhile, both are taken again: the WAL of
// another timeline does not fit the data.
func (p *pass) take() bool {
	const c = v1alpha1.ConditionSnapshotReady
	source := p.facts.SourceCluster
	class := p.snapshotClass()
	data := p.facts.Snapshots[naming.BranchSnapshot(p.b.Name, string(p.b.UID))]
	if data == nil {
		p.decision.Snapshot = branch.DataSnapshot(p.b, class, source.Status.CurrentPrimary, source.Status.CurrentPrimaryTimestamp)
		return p.wait(outcome.WaitFor(c, v1alpha1.ReasonSnapshotPending, fmt.Sprintf(msgTaking, "data")))
	}
	if branch.Instance(data) != source.Status.CurrentPrimary || data.Annotations[naming.AnnotationPrimarySince] != source.Status.CurrentPrimaryTimestamp {
		return p.takeAgain(msgPrimaryChanged)
	}
	if !p.cut(data) {
		return p.awaits(data, "data")
	}
	if source.Spec.WalStorage == nil {
		return p.taken(data, nil)
	}
	wal := p.facts.Snapshots[naming.BranchWALSnapshot(data.Name, string(data.UID))]
	if p.tooFarApart(data, wal) {
		return p.takeAgain(msgTooFarApart)
	}
	if wal == nil {
		p.decision.Snapshot = branch.WALSnapshot(p.b, class, data)
		return p.wait(outcome.WaitFor(c, v1alpha1.ReasonSnapshotPending, fmt.Sprintf(msgTaking, "WAL")))
	}
	return p.taken(data, wal)
}

// taken records the snapshots once volumes can be made of them. There is none of the WAL where
// that is on the data volume.
func (p *pass) taken(data, wal *snapshotv1.VolumeSnapshot) bool {
	if _, ready := usable(data); !ready {
		return p.awaits(data, "data")
	}
	taken := &v1alpha1.BranchSnapshots{Data: data.Name, Instance: branch.Instance(data), Time: data.Status.CreationTime}
	if wal != nil {
		if _, ready := usable(wal); !ready {
			return p.awaits(wal, "WAL")
		}
		taken.WAL = wal.Name
	}
	p.s.Snapshots = taken
	// The status goes first. Then the PgStorageCluster is made of what it has.
	p.again(time.Second)
	p.add(outcome.DoneWith(v1alpha1.ConditionSnapshotReady, v1alpha1.ReasonSnapshotReady, fmt.Sprintf(msgSnapshots, taken.Instance)))
	p.add(outcome.WaitFor(v1alpha1.ConditionDatabaseReady, v1alpha1.ReasonClusterCreating, msgCreating))
	return false
}

// cut says that the storage has taken a snapshot, so that a later one is younger. A driver may
// still upload it, which can take hours.
func (p *pass) cut(s *snapshotv1.VolumeSnapshot) bool {
	if _, ready := usable(s); ready {
		return true
	}
	return s.DeletionTimestamp == nil && s.Status != nil && s.Status.CreationTime != nil && s.Status.Error == nil && !slices.Contains(early, p.facts.SnapshotDriver)
}

// tooFarApart says that the snapshot of the WAL is, or would be, taken too late after that of the
// data.
func (p *pass) tooFarApart(data, wal *snapshotv1.VolumeSnapshot) bool {
	at := p.now
	if wal != nil {
		if wal.Status == nil || wal.Status.CreationTime == nil {
			return false
		}
		at = wal.Status.CreationTime.Time
	}
	return at.Sub(data.Status.CreationTime.Time) > mostBetween
}

// awaits a snapshot, with what the driver says about it.
func (p *pass) awaits(s *snapshotv1.VolumeSnapshot, of string) bool {
	text, _ := usable(s)
	return p.wait(outcome.WaitFor(v1alpha1.ConditionSnapshotReady, v1alpha1.ReasonSnapshotPending, fmt.Sprintf(msgTaking, of)+text))
}

// takeAgain deletes the snapshots, so that the next passes take both again.
func (p *pass) takeAgain(why string) bool {
	p.deleteSnapshots()
	return p.wait(outcome.WaitFor(v1alpha1.ConditionSnapshotReady, v1alpha1.ReasonSnapshotPending, why))
}

// usable says whether volumes can be made of a snapshot, and what hinders it.
func usable(s *snapshotv1.VolumeSnapshot) (hinders string, ready bool) {
	if s.DeletionTimestamp != nil {
		return ": it is being deleted", false
	}
	return complaint(s), s.Status != nil && s.Status.ReadyToUse != nil && *s.Status.ReadyToUse && s.Status.CreationTime != nil
}

// complaint of the driver about a snapshot.
func complaint(s *snapshotv1.VolumeSnapshot) string {
	if s.Status == nil || s.Status.Error == nil || s.Status.Error.Message == nil {
		return ""
	}
	return ": " + excerpt.Truncate(*s.Status.Error.Message, mostSaid)
}

// sourceReady says whether the source has a primary to copy now.
func (p *pass) sourceReady() outcome.Outcome {
	const c = v1alpha1.ConditionSnapshotReady
	source := p.facts.SourceCluster
	if source == nil || source.Status.CurrentPrimary == "" || source.Status.CurrentPrimary != source.Status.TargetPrimary || source.Status.ReadyInstances == 0 {
		return outcome.WaitFor(c, v1alpha1.ReasonSourceNotReady, fmt.Sprintf(msgSourceNotReady, p.b.Spec.Source.Cluster))
	}
	if r := source.Spec.ReplicaCluster; r != nil && source.IsReplica() {
		return outcome.InvalidBecause(c, v1alpha1.ReasonBranchRefused, fmt.Sprintf(msgSourceFollows, p.b.Spec.Source.Cluster))
	}
	if len(source.Spec.Tablespaces) > 0 {
		return outcome.InvalidBecause(c, v1alpha1.ReasonBranchRefused, fmt.Sprintf(msgTablespaces, p.b.Spec.Source.Cluster))
	}
	if clusters.Suspended(p.facts.Source) {
		return outcome.WaitFor(c, v1alpha1.ReasonSourceNotReady, fmt.Sprintf(msgSourceSuspended, p.b.Spec.Source.Cluster))
	}
	return outcome.DoneWith(c, v1alpha1.ReasonSnapshotReady, "")
}

func (p *pass) snapshotClass() string {
	kind, err := p.kinds.For(p.facts.Profile.Spec.Type)
	if err != nil {
		return ""
	}
	return kind.Volumes(p.facts.Profile).SnapshotClass
}
