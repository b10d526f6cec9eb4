package clusters

import (
	"fmt"
	"strings"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/cron"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

const (
	// archiveAge is the default of maxArchiveAge, which the API server sets.
	archiveAge = 15 * time.Minute
	// mostForeign is how much of a text of CloudNativePG or the plugin is shown, in bytes.
	mostForeign = 512
)

// holdBackup holds back a new database whose WAL has nowhere to go.
func (c *Cluster) holdBackup(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) {
	if cr.Spec.Backup == nil {
		return
	}
	if o := backupStore(cr, facts); o.Kind != outcome.Done && existing(facts) == nil {
		c.Plan.AddGate(plan.StageDatabase, o.Reason, o.Message)
	}
}

// fromPrimary says that base backups are taken from the primary.
func fromPrimary(cr *v1alpha1.PgStorageCluster, in postgres.Inputs) bool {
	return in.StandbysCannotBackUp() || cr.Spec.Backup != nil && cr.Spec.Backup.Target == v1alpha1.BackupPrimary
}

// standbyBackups refuses base backups from standbys where Postgres takes none.
func standbyBackups(cr *v1alpha1.PgStorageCluster, cannot bool) []string {
	if b := cr.Spec.Backup; !cannot || b == nil || b.Target != v1alpha1.BackupPreferStandby {
		return nil
	}
	return []string{msgStandbyBackup}
}

// addBackups adds the ScheduledBackups. The first backups are taken once WAL is archived: before,
// a backup would wait for that, in a folder that may be another database's.
func (c *Cluster) addBackups(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) error {
	var cluster types.UID
	if facts.Cluster != nil {
		cluster = facts.Cluster.UID
	}
	for _, b := range cnpg.ScheduledBackups(cr, cluster, possible(c.snapshots)) {
		object, err := plan.FromApply(plan.StageBackups, b)
		if err != nil {
			return err
		}
		c.Plan.Add(object)
	}
	if cr.Spec.Backup == nil {
		return nil
	}
	if o := declared(cr, facts); o.Kind != outcome.Done {
		c.Plan.AddGate(plan.StageBackups, o.Reason, o.Message)
	} else if !archived(facts.Cluster) {
		c.Plan.AddGate(plan.StageBackups, v1alpha1.ReasonFirstBackupPending, msgBackupLater)
	}
	return nil
}

// archived says that the plugin has archived WAL of a Cluster.
func archived(c *cnpgv1.Cluster) bool {
	return c != nil && cnpg.HasPlugin(c) && meta.IsStatusConditionTrue(c.Status.Conditions, string(cnpgv1.ConditionContinuousArchiving))
}

// declared says whether what spec.backup declares can be had.
func declared(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) outcome.Outcome {
	const c = v1alpha1.ConditionBackedUp
	spec := cr.Spec.Backup
	if o := backupStore(cr, facts); o.Kind != outcome.Done {
		return o
	}
	if name := facts.Backup.ForeignSchedule; name != "" {
		return outcome.InvalidBecause(c, v1alpha1.ReasonClusterNotOwned, fmt.Sprintf(msgScheduleNotOwned, name))
	}
	for _, s := range spec.Schedules {
		if _, err := cron.Parse(s.Schedule, ""); err != nil {
			return outcome.InvalidBecause(c, v1alpha1.ReasonInvalidSpec, fmt.Sprintf("spec.backup.schedules[%s].%s", s.Name, strings.TrimPrefix(err.Error(), "spec.")))
		}
	}
	if v := spec.Verify; v != nil {
		if _, err := cron.Parse(v.Schedule, ""); err != nil {
			return outcome.InvalidBecause(c, v1alpha1.ReasonInvalidSpec, "spec.backup.verify."+strings.TrimPrefix(err.Error(), "spec."))
		}
	}
	return outcome.DoneWith(c, v1alpha1.ReasonRecoverable, msgRecoverable)
}

// backedUp is the condition BackedUp; nil where spec.backup is not set. What fails while
// the database runs does not keep it from Ready.
func backedUp(cr *v1alpha1.PgStorageCluster, facts observed.Cluster, snapshots *outcome.Outcome) *outcome.Outcome {
	if cr.Spec.Backup == nil || !facts.CNPGInstalled {
		return nil
	}
	o := declared(cr, facts)
	if o.Kind == outcome.Done {
		o = recoverable(cr, facts)
		if o.Kind == outcome.Done && snapshots != nil {
			o = snapshotted(cr, facts, *snapshots)
		}
		o.Informative = true
	}
	return &o
}

// recoverable says how the archive and the base backups of a database are.
func recoverable(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) outcome.Outcome {
	const c = v1alpha1.ConditionBackedUp
	if facts.Cluster == nil || !cnpg.HasPlugin(facts.Cluster) {
		return outcome.WaitFor(c, v1alpha1.ReasonFirstBackupPending, msgBackupLater)
	}
	if o, failing := archiving(cr, facts); failing {
		return o
	}
	last := meta.FindStatusCondition(facts.Cluster.Status.Conditions, string(cnpgv1.ConditionBackup))
	if last != nil && last.Status == metav1.ConditionFalse && last.Reason == string(cnpgv1.ConditionReasonLastBackupFailed) {
		return outcome.InvalidBecause(c, v1alpha1.ReasonBackupFailed, fmt.Sprintf(msgBackupFailed, excerpt.Truncate(last.Message, mostForeign)))
	}
	kept := window(facts)
	if kept.First.IsZero() || kept.LastSuccess.IsZero() {
		return outcome.WaitFor(c, v1alpha1.ReasonFirstBackupPending, msgNoBackupYet)
	}
	if name := overdue(cr.Spec.Backup.Schedules, kept.LastSuccess, facts.Backup.At); name != "" {
		return outcome.InvalidBecause(c, v1alpha1.ReasonBackupOverdue, fmt.Sprintf(msgBackupOverdue, name))
	}
	return outcome.DoneWith(c, v1alpha1.ReasonRecoverable, msgRecoverable)
}

// archiving says what is wrong with the WAL archive, and whether anything is.
func archiving(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) (outcome.Outcome, bool) {
	const c = v1alpha1.ConditionBackedUp
	if a := meta.FindStatusCondition(facts.Cluster.Status.Conditions, string(cnpgv1.ConditionContinuousArchiving)); a != nil && a.Status == metav1.ConditionFalse {
		text := excerpt.Truncate(a.Message, mostForeign)
		if notEmpty(a.Message, facts.ReadBack.Archive) {
			return outcome.InvalidBecause(c, v1alpha1.ReasonArchiveNotEmpty, fmt.Sprintf(msgArchiveNotEmpty, cnpg.Server(cr), cr.Spec.Backup.ObjectStore.Name)), true
		}
		return outcome.InvalidBecause(c, v1alpha1.ReasonArchivingFailing, fmt.Sprintf(msgArchivingFailing, text)), true
	}
	// The answer may be minutes old, and WAL was archived since. So its own time counts.
	seen, limit := facts.ReadBack.Archive, maxArchiveAge(cr)
	if seen.Read && seen.Waiting > 0 && !seen.Last.IsZero() && seen.At.Sub(seen.Last) > limit {
		return outcome.InvalidBecause(c, v1alpha1.ReasonArchiveLate, fmt.Sprintf(msgArchiveLate, limit)), true
	}
	return outcome.Outcome{}, false
}

// notEmpty says that the plugin refuses the folder, which it checks before the first WAL. Its
// message has no more of Barman's check than the exit status. Failures of the network, of
// arguments and others have 2 to 4 (barman/clients/cloud_cli.py).
func notEmpty(message string, seen observed.Archive) bool {
	return strings.HasSuffix(message, "exit status 1") && seen.Read && seen.Last.IsZero()
}

// window is what of the database can be restored. One that begins before its Cluster was made is
// of an earlier database of its name.
func window(facts observed.Cluster) observed.RecoveryWindow {
	store, c := facts.Backup.Store, facts.Cluster
	if store == nil || c == nil || store.Window.First.Before(c.CreationTimestamp.Time) {
		return observed.RecoveryWindow{}
	}
	return store.Window
}

func maxArchiveAge(cr *v1alpha1.PgStorageCluster) time.Duration {
	d, err := time.ParseDuration(cr.Spec.Backup.MaxArchiveAge)
	if err != nil {
		return archiveAge
	}
	return d
}

// overdue names a schedule that came twice since the last success; empty if there is none.
// One time may belong to a backup that still runs.
func overdue(all []v1alpha1.BackupSchedule, last, now time.Time) string {
	for _, s := range all {
		if cnpg.TakesSnapshots(s) {
			continue
		}
		times, err := cron.Parse(s.Schedule, "")
		if err != nil || s.Suspend != nil && *s.Suspend {
			continue
		}
		if twice(times, last, now) {
			return s.Name
		}
	}
	return ""
}

// twice says that a schedule came twice from one time to another.
func twice(times cron.Times, last, now time.Time) bool {
	first := times.Next(last)
	if first.IsZero() {
		return false
	}
	second := times.Next(first)
	return !second.IsZero() && second.Before(now)
}

// fromArchive adds to what is lost with a node or a site what can be restored. A site has no
// other copy, so that is all that is left of it.
func fromArchive(e *v1alpha1.LossEvent, cr *v1alpha1.PgStorageCluster, facts observed.Cluster) {
	if cr.Spec.Backup == nil || window(facts).First.IsZero() {
		return
	}
	store := cr.Spec.Backup.ObjectStore.Name
	switch {
	case e.Event == "SiteLoss" && e.AcknowledgedCommits == commitsLost:
		e.AcknowledgedCommits, e.Detail = commitsMayBeLost, fmt.Sprintf(msgSiteRestored, store, maxArchiveAge(cr))
	case e.Event == "NodeLoss" && e.AcknowledgedCommits != commitsKept:
		e.Detail += fmt.Sprintf(msgNodeRestored, store)
	}
}

// backupStatus is nil of a database that declares no backups, and while nothing is known.
func backupStatus(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) *v1alpha1.BackupStatus {
	store := facts.Backup.Store
	if cr.Spec.Backup == nil || store == nil {
		return nil
	}
	kept := window(facts)
	out := &v1alpha1.BackupStatus{
		ObjectStore: cr.Spec.Backup.ObjectStore.Name, Server: cnpg.Server(cr),
		FirstRecoverabilityPoint: moment(kept.First), LastSuccessfulBackup: moment(kept.LastSuccess), LastFailedBackup: moment(kept.LastFailure),
		VolumeSnapshots: snapshotStatus(facts),
		Retention:       store.Retention, WALCompression: store.WALCompression, DataCompression: store.DataCompression, Encryption: store.Encryption,
	}
	if seen := facts.ReadBack.Archive; seen.Read {
		waiting := int32(min(seen.Waiting, 1<<30)) //nolint:gosec // bounded
		out.LastArchived, out.LastArchivedWAL, out.WaitingWAL = moment(seen.Last), seen.WAL, &waiting
	} else if known := cr.Status.Backup; known != nil && known.Server == out.Server {
		out.LastArchived, out.LastArchivedWAL, out.WaitingWAL = known.LastArchived, known.LastArchivedWAL, known.WaitingWAL
	}
	if v := cr.Status.BackupVerification; v != nil && OfArchive(cr, v) {
		out.LastVerified = v.LastVerified
	}
	return out
}

// moment in a status; nil where it is not known.
func moment(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return new(metav1.NewTime(t))
}
