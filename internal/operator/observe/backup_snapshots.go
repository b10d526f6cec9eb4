package observe

import (
	"context"
	"fmt"
	"slices"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// labelSchedule is CloudNativePG's label of the Backups of a ScheduledBackup.
const labelSchedule = "cnpg.io/scheduled-backup"

// snapshots reads the backups of each schedule with VolumeSnapshots, and whether their class
// exists.
func (b Backups) snapshots(ctx context.Context, cr *v1alpha1.PgStorageCluster, facts *observed.Cluster) error {
	if cr.Spec.Backup == nil || !b.Snapshots || !facts.VolumeSnapshots || facts.Profile == nil {
		return nil
	}
	takes := func(s v1alpha1.BackupSchedule) bool { return s.Method == v1alpha1.BackupByVolumeSnapshot }
	if !slices.ContainsFunc(cr.Spec.Backup.Schedules, takes) {
		return nil
	}
	driver, err := snapshotDriver(ctx, b.Live, b.Kinds, facts.Profile)
	if err != nil {
		return err
	}
	facts.Backup.SnapshotClass = driver != ""
	for _, s := range cr.Spec.Backup.Schedules {
		if !takes(s) {
			continue
		}
		if err := b.snapshotsOf(ctx, cr, s.Name, facts); err != nil {
			return err
		}
	}
	return nil
}

// snapshotsOf a schedule. Backups from before the Cluster are of an earlier database of its name,
// and the label is anyone's to give.
func (b Backups) snapshotsOf(ctx context.Context, cr *v1alpha1.PgStorageCluster, schedule string, facts *observed.Cluster) error {
	if facts.Cluster == nil {
		return nil
	}
	list := &cnpgv1.BackupList{}
	if err := b.Live.List(ctx, list, client.InNamespace(cr.Namespace), client.MatchingLabels{labelSchedule: naming.ScheduledBackup(cr.Name, schedule)}); err != nil {
		return fmt.Errorf("list Backups of schedule %s of %s: %w", schedule, cr.Name, err)
	}
	for i := range list.Items {
		one := &list.Items[i]
		if one.Spec.Cluster.Name != cr.Name || one.Spec.Method != cnpgv1.BackupMethodVolumeSnapshot || one.CreationTimestamp.Before(&facts.Cluster.CreationTimestamp) {
			continue
		}
		if facts.Backup.Snapshots == nil {
			facts.Backup.Snapshots = map[string][]*cnpgv1.Backup{}
		}
		facts.Backup.Snapshots[schedule] = append(facts.Backup.Snapshots[schedule], one)
	}
	return nil
}
