package verification

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

const (
	// poll is when a verification that runs is looked at again.
	poll = 5 * time.Second
	// limit is the default of timeout, which the API server sets.
	limit = time.Hour
)

// Decision is what one pass does. The status is written first: it is the record that what is
// made and deleted follows from.
type Decision struct {
	// Status is nil where nothing is verified.
	Status *v1alpha1.BackupVerificationStatus
	// Plan of what is to be made.
	Plan plan.Plan
	// Delete these objects, all of which were made for a verification.
	Delete []plan.Seen
	// Events to emit once the status is written.
	Events []outcome.Event
	// After is when to look again. Zero: when a watch reports a change.
	After time.Duration
}

// pass is what one reconcile knows.
type pass struct {
	cr       *v1alpha1.PgStorageCluster
	facts    observed.Verification
	config   clusters.Config
	now      time.Time
	s        v1alpha1.BackupVerificationStatus
	decision Decision
}

// Concerns says whether there is anything to decide about a database.
func Concerns(cr *v1alpha1.PgStorageCluster) bool {
	return declared(cr) != nil || cr.Status.BackupVerification != nil
}

// Running says whether a verification has children to be observed.
func Running(cr *v1alpha1.PgStorageCluster) bool {
	s := cr.Status.BackupVerification
	return s != nil && s.Step != ""
}

// Decide what is next. It does not change its arguments.
func Decide(cr *v1alpha1.PgStorageCluster, facts observed.Verification, config clusters.Config, now time.Time) (Decision, error) {
	p := &pass{cr: cr, facts: facts, config: config, now: now}
	if s := cr.Status.BackupVerification; s != nil {
		p.s = *s.DeepCopy()
	}
	if p.s.Step == "" && declared(cr) == nil {
		return Decision{}, nil
	}
	if err := p.next(); err != nil {
		return Decision{}, err
	}
	p.decision.Status = &p.s
	return p.decision, nil
}

func (p *pass) next() error {
	switch {
	case p.s.Step == "":
		p.idle()
		return nil
	case p.s.Step == v1alpha1.VerifyRemoving:
		p.remove()
		return nil
	case p.unwanted():
		p.s.Step = v1alpha1.VerifyRemoving
		p.again(time.Second)
		return nil
	}
	p.again(poll)
	if p.facts.Refusal != "" {
		p.fail(v1alpha1.ReasonRejected, msgRejected, p.facts.Refusal)
		return nil
	}
	if p.facts.Foreign != "" {
		p.fail(v1alpha1.ReasonClusterNotOwned, msgForeign, p.facts.Foreign)
		return nil
	}
	if p.facts.NoRoom != "" {
		p.fail(v1alpha1.ReasonNotEnoughSpace, msgNoRoom, p.facts.NoRoom)
		return nil
	}
	if p.facts.Source == nil {
		p.expire(msgNoSource)
		return nil
	}
	if p.s.Step == v1alpha1.VerifyRestoring {
		return p.restore()
	}
	return p.check()
}

// unwanted says that the verification that runs says nothing of use: spec.backup does not
// declare any, or names another folder by now.
func (p *pass) unwanted() bool {
	return declared(p.cr) == nil || !clusters.OfArchive(p.cr, &p.s)
}

// declared is nil where no verification is.
func declared(cr *v1alpha1.PgStorageCluster) *v1alpha1.BackupVerifySpec {
	if cr.Spec.Backup == nil {
		return nil
	}
	return cr.Spec.Backup.Verify
}

func (p *pass) timeout() time.Duration {
	d, err := time.ParseDuration(declared(p.cr).Timeout)
	if err != nil {
		return limit
	}
	return d
}

// again asks for a look after some time, or earlier.
func (p *pass) again(after time.Duration) {
	if p.decision.After == 0 || after < p.decision.After {
		p.decision.After = after
	}
}

// remove what was made. What has another owner stays.
func (p *pass) remove() {
	gone := p.facts.Foreign != "" || p.facts.Claims == 0
	if j := p.facts.Job; j != nil {
		gone = false
		p.delete(j)
	}
	if c := p.facts.Restored; c != nil {
		gone = false
		p.delete(c)
	}
	if gone {
		p.s.Step, p.s.Cluster = "", ""
	}
	p.again(poll)
}

func (p *pass) delete(o plan.Seen) {
	if o.GetDeletionTimestamp() == nil {
		p.decision.Delete = append(p.decision.Delete, o)
	}
}

func (p *pass) event(kind, reason, message string) {
	p.decision.Events = append(p.decision.Events, outcome.Event{Type: kind, Reason: reason, Message: message})
}

// begin a verification. What was found in another folder is not about this one.
func (p *pass) begin() {
	kept := p.cr.Status.Backup
	if !clusters.OfArchive(p.cr, &p.s) {
		p.s.ObjectStore, p.s.Server = p.cr.Spec.Backup.ObjectStore.Name, cnpg.Server(p.cr)
		p.s.Last, p.s.LastVerified = nil, nil
	}
	p.s.Step, p.s.Cluster = v1alpha1.VerifyRestoring, naming.Verification(p.cr.Name, string(p.cr.UID))
	p.s.StartTime, p.s.RestoredTime = timeOf(p.now), nil
	p.s.ExpectedWAL, p.s.BackupTime = kept.LastArchivedWAL, kept.LastSuccessfulBackup
	p.event(corev1.EventTypeNormal, EventStarted, msgStarted)
	p.again(time.Second)
}

func timeOf(t time.Time) *metav1.Time { return new(metav1.NewTime(t.UTC()).Rfc3339Copy()) }
