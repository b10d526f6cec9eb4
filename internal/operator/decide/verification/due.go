package verification

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/cron"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
)

// idle begins a verification that is due, and notes when the next one is.
func (p *pass) idle() {
	spec := declared(p.cr)
	times, err := cron.Parse(spec.Schedule, "")
	if err != nil { // the condition BackedUp says so
		p.s.NextTime = nil
		return
	}
	due := p.asked()
	if spec.Suspend != nil && *spec.Suspend {
		p.s.NextTime = nil
	} else {
		due = due || p.due(times)
		next := times.Next(p.now)
		p.s.NextTime = timeOf(next)
		p.again(next.Sub(p.now))
	}
	switch {
	case !due || !recoverable(p.cr):
	case p.cr.Status.Backup.LastArchivedWAL == "" && p.now.Sub(p.cr.Status.Backup.LastSuccessfulBackup.Time) < patience:
		p.again(patience)
	default:
		p.begin()
	}
}

// patience is how long after a backup a verification waits to know what is archived, which is
// read from the primary every few minutes. Without it, a missing WAL file cannot be found.
const patience = 10 * time.Minute

// due says that a time has come since the last verification ended. The first one of a folder
// is due at once.
func (p *pass) due(times cron.Times) bool {
	if p.s.StartTime == nil || !clusters.OfArchive(p.cr, &p.s) {
		return true
	}
	since := p.s.StartTime.Time
	if last := p.s.Last; last != nil && last.CompletionTime != nil && last.CompletionTime.After(since) {
		since = last.CompletionTime.Time
	}
	return !times.Last(since, p.now).IsZero()
}

// asked says that the annotation asks for a verification that has not started.
func (p *pass) asked() bool {
	at, err := time.Parse(time.RFC3339, p.cr.Annotations[naming.AnnotationVerify])
	if err != nil || p.s.StartTime != nil && !at.After(p.s.StartTime.Time) {
		return false
	}
	if at.After(p.now) { // the clock of who asks may be ahead
		p.again(at.Sub(p.now))
		return false
	}
	return true
}

// recoverable says that there is something to restore, as the status has it.
func recoverable(cr *v1alpha1.PgStorageCluster) bool {
	return cr.Status.Backup != nil && cr.Status.Backup.LastSuccessfulBackup != nil && cr.Status.ObservedGeneration == cr.Generation &&
		meta.IsStatusConditionTrue(cr.Status.Conditions, v1alpha1.ConditionBackedUp)
}
