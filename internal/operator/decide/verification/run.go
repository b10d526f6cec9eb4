package verification

import (
	"fmt"
	"strings"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/amcheck"
	"github.com/pgstorage/pgstorage/internal/bench/restorecheck"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
	"github.com/pgstorage/pgstorage/internal/operator/component/verification"
)

// mostMessage is how much of a message is kept, in bytes.
const mostMessage = 1024

// restore waits until the restored database serves.
func (p *pass) restore() error {
	restored := p.facts.Restored
	switch {
	case restored == nil:
		o, err := verification.Cluster(p.cr, p.facts.Source)
		if err != nil {
			return err
		}
		p.decision.Plan.Add(o)
	case serves(restored):
		p.s.Step, p.s.RestoredTime = v1alpha1.VerifyChecking, timeOf(p.now)
		p.again(time.Second)
		return nil
	case failed(p.facts.Recovery):
		p.fail(v1alpha1.ReasonRestoreFailed, msgRecoveryFailed, p.facts.Recovery.Name)
		return nil
	}
	p.expire(msgRestoreLate)
	return nil
}

// serves says that a restore has ended, and CloudNativePG has nothing left to do.
func serves(c *cnpgv1.Cluster) bool {
	return c.DeletionTimestamp == nil && c.Status.ReadyInstances > 0 && c.Status.Phase == cnpgv1.PhaseHealthy
}

func failed(j *batchv1.Job) bool {
	if j == nil {
		return false
	}
	for _, c := range j.Status.Conditions {
		if c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// check waits for the report of the Job.
func (p *pass) check() error {
	switch {
	case p.facts.Report != "":
		p.judge()
		return nil
	case failed(p.facts.Job):
		p.fail(v1alpha1.ReasonRestoreNotChecked, msgNotChecked, p.said())
		return nil
	case p.facts.Job != nil || p.facts.Source.Status.SystemID == "":
	default:
		o, err := verification.Job(verification.JobInputs{
			CR: p.cr, Image: p.facts.Source.Status.Image, ProgramImage: p.config.BenchImage, PlatformUsers: p.config.PlatformUsers,
			System: p.facts.Source.Status.SystemID, Seconds: int64(p.timeout() / time.Second),
		})
		if err != nil {
			return err
		}
		p.decision.Plan.Add(o)
	}
	if p.late() {
		p.fail(v1alpha1.ReasonRestoreNotChecked, msgCheckLate, p.timeout(), p.said())
	}
	return nil
}

func (p *pass) said() string {
	if p.facts.Said == "" {
		return "the pod said nothing"
	}
	return p.facts.Said
}

// judge the report.
func (p *pass) judge() {
	r, err := restorecheck.Decode(p.facts.Report)
	if err != nil {
		p.fail(v1alpha1.ReasonRestoreNotChecked, msgNotChecked, err.Error())
		return
	}
	reason, message := verdict(r)
	p.end(reason, message)
	p.s.Last.Checks, p.s.Last.RestoredWAL, p.s.Last.Size = r.Checks, r.WAL, resource.NewQuantity(r.Size, resource.BinarySI)
	if p.s.RestoredTime != nil {
		p.s.Last.CheckSeconds = seconds(p.now.Sub(p.s.RestoredTime.Time))
	}
	if p.s.Last.Passed() {
		p.s.LastVerified = p.s.Last.CompletionTime
	}
}

// verdict on a report. What failed comes first. Without pg_amcheck not all data was read.
func verdict(r restorecheck.Report) (reason, message string) {
	var wrong, unread []string
	for _, c := range r.Checks {
		text := c.Name + ": " + c.Message
		switch {
		case c.Result == v1alpha1.CheckFailed:
			wrong = append(wrong, text)
		case c.Result != v1alpha1.CheckPassed && (c.Name == amcheck.Name || c.Name == restorecheck.CheckWAL):
			unread = append(unread, text)
		}
	}
	switch {
	case len(wrong) > 0:
		return v1alpha1.ReasonRestoreDamaged, fmt.Sprintf(msgDamaged, strings.Join(wrong, "; "))
	case len(unread) > 0:
		return v1alpha1.ReasonPartlyChecked, fmt.Sprintf(msgPartly, strings.Join(unread, "; "))
	}
	return v1alpha1.ReasonVerified, msgVerified
}

// late says that a verification takes longer than it may.
func (p *pass) late() bool { return p.now.Sub(p.s.StartTime.Time) >= p.timeout() }

// expire ends a restore that takes too long.
func (p *pass) expire(format string) {
	if !p.late() {
		return
	}
	phase := "nothing reported"
	if c := p.facts.Restored; c != nil && c.Status.Phase != "" {
		phase = excerpt.Truncate(c.Status.Phase+" "+c.Status.PhaseReason, mostMessage/4)
	}
	p.fail(v1alpha1.ReasonRestoreFailed, format, p.timeout(), phase)
}

func (p *pass) fail(reason, format string, args ...any) { p.end(reason, fmt.Sprintf(format, args...)) }

// end a verification with its result.
func (p *pass) end(reason, message string) {
	result := &v1alpha1.BackupVerificationResult{
		Reason: reason, Message: excerpt.Truncate(message, mostMessage), CompletionTime: timeOf(p.now), BackupTime: p.s.BackupTime,
	}
	if p.s.RestoredTime != nil {
		result.RestoreSeconds = seconds(p.s.RestoredTime.Sub(p.s.StartTime.Time))
	}
	p.s.Last, p.s.Step = result, v1alpha1.VerifyRemoving
	kind := corev1.EventTypeWarning
	if result.Passed() {
		kind = corev1.EventTypeNormal
	}
	p.event(kind, reason, result.Message)
	p.decision.Plan.Objects = nil
	p.again(time.Second)
}

func seconds(d time.Duration) *int64 { return new(int64(d.Round(time.Second) / time.Second)) }
