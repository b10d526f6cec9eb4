// Package verify requests a verification of the backups of a database, and follows it. It is
// pure otherwise: its caller reads the object, and gives the time.
package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// Refusal returns an error if the operator would not verify the backups of a database.
func Refusal(cr *v1alpha1.PgStorageCluster) error {
	switch {
	case cr.DeletionTimestamp != nil:
		return fmt.Errorf("PgStorageCluster %s is being deleted", cr.Name)
	case cr.Spec.Backup == nil || cr.Spec.Backup.Verify == nil:
		return fmt.Errorf("PgStorageCluster %s does not declare spec.backup.verify; set it first, see kubectl explain pgsc.spec.backup.verify", cr.Name)
	case cr.Spec.Suspend != nil && *cr.Spec.Suspend:
		return fmt.Errorf("spec.suspend of PgStorageCluster %s is true, so the operator does nothing for it; set it to false first", cr.Name)
	}
	return nil
}

// Time of a request, in whole seconds. It is after the start of the last verification, because
// the operator skips older requests. The clock of this machine may be behind the operator's.
func Time(cr *v1alpha1.PgStorageCluster, now time.Time) time.Time {
	now = now.UTC().Truncate(time.Second)
	if s := cr.Status.BackupVerification; s != nil && s.StartTime != nil && !now.After(s.StartTime.Time) {
		return s.StartTime.UTC().Add(time.Second)
	}
	return now
}

// Patch is the JSON merge patch that requests a verification.
func Patch(at time.Time) []byte {
	raw, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{naming.AnnotationVerify: at.Format(time.RFC3339)}}})
	if err != nil {
		panic(err) // a bug: the map has strings only
	}
	return raw
}

// Follower waits for the result of a request, and prints each phase.
type Follower struct {
	Get func(context.Context) (*v1alpha1.PgStorageCluster, error)
	Now func() time.Time
	// Pause waits a moment before the object is read again.
	Pause func(context.Context) error
	Out   io.Writer

	last string
}

// Follow waits for the result of the request of a time. A connection that is lost meanwhile
// does not end it.
func (f *Follower) Follow(ctx context.Context, at time.Time) (v1alpha1.BackupVerificationResult, error) {
	for {
		cr, err := f.Get(ctx)
		switch {
		case ctx.Err() != nil:
			return v1alpha1.BackupVerificationResult{}, context.Cause(ctx)
		case apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err):
			return v1alpha1.BackupVerificationResult{}, fmt.Errorf("read the PgStorageCluster: %w", err)
		case err != nil:
			f.say("%s; trying again", err)
		default:
			if err := Refusal(cr); err != nil {
				return v1alpha1.BackupVerificationResult{}, err
			}
			if s := cr.Status.BackupVerification; ended(s, at) {
				f.say("%s: %s", s.Last.Reason, s.Last.Message)
				return *s.Last, nil
			}
			f.say("%s", state(cr, at))
		}
		if err := f.Pause(ctx); err != nil {
			return v1alpha1.BackupVerificationResult{}, errors.Join(context.Cause(ctx), err)
		}
	}
}

// say prints a line with the time, unless it repeats the last one. It ignores a failed write,
// because writing the result to the same stream fails too.
func (f *Follower) say(format string, args ...any) {
	text := view.Clean(fmt.Sprintf(format, args...))
	if text == f.last {
		return
	}
	f.last = text
	_, _ = fmt.Fprintf(f.Out, "%s  %s\n", f.Now().UTC().Format(time.RFC3339), text)
}

// started reports whether a verification has started since a request.
func started(s *v1alpha1.BackupVerificationStatus, at time.Time) bool {
	return s != nil && s.StartTime != nil && !s.StartTime.Time.Before(at)
}

// ended reports whether the verification of a request has a result. What it restored may not
// be deleted yet.
func ended(s *v1alpha1.BackupVerificationStatus, at time.Time) bool {
	return started(s, at) && s.Step != v1alpha1.VerifyRestoring && s.Step != v1alpha1.VerifyChecking &&
		s.Last != nil && s.Last.CompletionTime != nil && !s.Last.CompletionTime.Before(s.StartTime)
}

// state is what the verification of a request does, or what it waits for.
func state(cr *v1alpha1.PgStorageCluster, at time.Time) string {
	s := cr.Status.BackupVerification
	backedUp := meta.FindStatusCondition(cr.Status.Conditions, v1alpha1.ConditionBackedUp)
	switch {
	case started(s, at) && s.Step == v1alpha1.VerifyRestoring:
		return "Restoring: the newest backup, into Cluster " + s.Cluster
	case started(s, at) && s.Step == v1alpha1.VerifyChecking:
		return "Checking: the restored database"
	case s != nil && s.Step != "":
		return "Waiting for an earlier verification, which is " + s.Step
	case backedUp == nil:
		return "Waiting for the condition BackedUp"
	case backedUp.Status != metav1.ConditionTrue:
		return "Waiting for BackedUp=True: " + backedUp.Reason + ": " + backedUp.Message
	}
	return "Waiting for the operator"
}

// Text of a result, without its reason and message.
func Text(r v1alpha1.BackupVerificationResult) string {
	var figures []string
	if r.RestoreSeconds != nil {
		figures = append(figures, "restored in "+Duration(*r.RestoreSeconds))
	}
	if r.CheckSeconds != nil {
		figures = append(figures, "checked in "+Duration(*r.CheckSeconds))
	}
	if r.Size != nil {
		figures = append(figures, "size "+r.Size.String())
	}
	if r.RestoredWAL != "" {
		figures = append(figures, "to WAL file "+r.RestoredWAL)
	}
	out := ""
	if len(figures) > 0 {
		out = view.Clean(strings.Join(figures, ", ")) + "\n"
	}
	if len(r.Checks) == 0 {
		return out
	}
	rows := [][]string{{"CHECK", "RESULT", "MESSAGE"}}
	for _, c := range r.Checks {
		rows = append(rows, []string{c.Name, c.Result, view.Or(c.Message)})
	}
	return out + view.Columns(rows...)
}

// Duration of whole seconds, such as 1m5s.
func Duration(seconds int64) string { return (time.Duration(seconds) * time.Second).String() }
