package clusters

import (
	"fmt"
	"slices"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/cron"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// keptSnapshots is the default of keep.
const keptSnapshots = 7

// takeSnapshots decides on base backups as VolumeSnapshots, and which of them are too old.
func (c *Cluster) takeSnapshots(cr *v1alpha1.PgStorageCluster, facts observed.Cluster, volumes profile.Volumes, config Config) {
	if c.snapshots = snapshotable(cr, facts, volumes, config); !possible(c.snapshots) {
		return
	}
	for _, s := range cr.Spec.Backup.Schedules {
		for _, b := range tooOld(s, facts.Backup.Snapshots[s.Name]) {
			c.OldBackups = append(c.OldBackups, b)
		}
	}
}

func possible(snapshots *outcome.Outcome) bool {
	return snapshots != nil && snapshots.Kind == outcome.Done
}

// snapshotClass of base backups; empty where none is a VolumeSnapshot.
func snapshotClass(snapshots *outcome.Outcome, volumes profile.Volumes) string {
	if !possible(snapshots) {
		return ""
	}
	return volumes.SnapshotClass
}

// snapshotable says whether the storage takes the VolumeSnapshots that a schedule declares; nil
// where none does.
func snapshotable(cr *v1alpha1.PgStorageCluster, facts observed.Cluster, volumes profile.Volumes, config Config) *outcome.Outcome {
	const c = v1alpha1.ConditionBackedUp
	if cr.Spec.Backup == nil {
		return nil
	}
	i := slices.IndexFunc(cr.Spec.Backup.Schedules, cnpg.TakesSnapshots)
	if i < 0 {
		return nil
	}
	name := cr.Spec.Backup.Schedules[i].Name
	o := outcome.DoneWith(c, v1alpha1.ReasonRecoverable, msgRecoverable)
	switch {
	case !config.Branches:
		o = outcome.InvalidBecause(c, v1alpha1.ReasonInvalidSpec, fmt.Sprintf(msgSnapshotsOff, name))
	case volumes.SnapshotsOnNode:
		o = outcome.InvalidBecause(c, v1alpha1.ReasonInvalidSpec, fmt.Sprintf(msgSnapshotsOnNode, fmt.Sprintf("spec.backup.schedules[%s].method", name)))
	case volumes.SnapshotClass == "":
		o = outcome.InvalidBecause(c, v1alpha1.ReasonInvalidSpec, fmt.Sprintf(msgNoSnapshots, name))
	case !facts.VolumeSnapshots:
		o = outcome.WaitFor(c, v1alpha1.ReasonCRDNotInstalled, fmt.Sprintf(msgSnapshotsMissing, name))
	case !facts.Backup.SnapshotClass:
		o = outcome.WaitFor(c, v1alpha1.ReasonSnapshotClassNotFound, fmt.Sprintf(msgSnapshotClass, name, volumes.SnapshotClass))
	}
	return &o
}

// snapshotsOnNode refuses an override by which CloudNativePG takes VolumeSnapshots that bind each
// later standby to their node.
func snapshotsOnNode(cr *v1alpha1.PgStorageCluster, volumes profile.Volumes) []string {
	_, found, _ := unstructured.NestedFieldNoCopy(overrides(cr), "spec", "backup", "volumeSnapshot")
	if !found || !volumes.SnapshotsOnNode {
		return nil
	}
	return []string{fmt.Sprintf(msgSnapshotsOnNode, "spec.cnpg.spec.backup.volumeSnapshot")}
}

// snapshotted says how the backups as VolumeSnapshots are, of a database whose other backups are
// as declared.
func snapshotted(cr *v1alpha1.PgStorageCluster, facts observed.Cluster, snapshots outcome.Outcome) outcome.Outcome {
	const c = v1alpha1.ConditionBackedUp
	if snapshots.Kind != outcome.Done {
		return snapshots
	}
	for _, s := range cr.Spec.Backup.Schedules {
		times, err := cron.Parse(s.Schedule, "")
		if !cnpg.TakesSnapshots(s) || s.Suspend != nil && *s.Suspend || err != nil {
			continue
		}
		last := newest(facts.Backup.Snapshots[s.Name])
		if last == nil {
			return outcome.WaitFor(c, v1alpha1.ReasonFirstBackupPending, fmt.Sprintf(msgNoSnapshotYet, s.Name))
		}
		if twice(times, ended(last), facts.Backup.At) {
			return outcome.InvalidBecause(c, v1alpha1.ReasonBackupOverdue, fmt.Sprintf(msgBackupOverdue, s.Name))
		}
	}
	return snapshots
}

// complete Backups, the newest first.
func complete(backups []*cnpgv1.Backup) []*cnpgv1.Backup {
	out := slices.DeleteFunc(slices.Clone(backups), func(b *cnpgv1.Backup) bool {
		return b.Status.Phase != cnpgv1.BackupPhaseCompleted || b.Status.StoppedAt == nil
	})
	slices.SortFunc(out, func(a, b *cnpgv1.Backup) int { return ended(b).Compare(ended(a)) })
	return out
}

func newest(backups []*cnpgv1.Backup) *cnpgv1.Backup {
	if all := complete(backups); len(all) > 0 {
		return all[0]
	}
	return nil
}

func ended(b *cnpgv1.Backup) time.Time { return b.Status.StoppedAt.Time }

// tooOld are the Backups of a schedule beyond those that are kept. A failed one goes with them,
// once it is older than all that are kept.
func tooOld(s v1alpha1.BackupSchedule, backups []*cnpgv1.Backup) []*cnpgv1.Backup {
	keep := keptSnapshots
	if s.Keep != nil {
		keep = int(*s.Keep)
	}
	all := complete(backups)
	if len(all) < keep {
		return nil
	}
	oldest := all[keep-1].CreationTimestamp
	return slices.DeleteFunc(slices.Clone(backups), func(b *cnpgv1.Backup) bool {
		beyond := slices.Contains(all[keep:], b) || b.Status.Phase == cnpgv1.BackupPhaseFailed && b.CreationTimestamp.Before(&oldest)
		return !beyond || b.DeletionTimestamp != nil
	})
}

// snapshotStatus is nil where no VolumeSnapshot was taken.
func snapshotStatus(facts observed.Cluster) *v1alpha1.VolumeSnapshotBackups {
	var every []*cnpgv1.Backup
	for _, backups := range facts.Backup.Snapshots {
		every = append(every, backups...)
	}
	all := complete(every)
	if len(all) == 0 {
		return nil
	}
	return &v1alpha1.VolumeSnapshotBackups{Count: int32(min(len(all), 1<<30)), Newest: all[0].Name, NewestTime: all[0].Status.StoppedAt}
}
