package branch

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/status"
	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// Goal is a state that a branch is to reach.
type Goal int

const (
	// Ready branches can be used.
	Ready Goal = iota
	// Independent branches share nothing with their source.
	Independent
	// Gone branches do not exist any more.
	Gone
)

// String completes a message such as "the branch is not ...".
func (g Goal) String() string {
	return [...]string{"Ready", "independent", "deleted"}[g]
}

// Reached reports whether a branch has reached the goal, or cannot reach it without the user.
// The error then says why.
func (g Goal) Reached(b *v1alpha1.PgStorageBranch) (bool, error) {
	if g == Gone {
		return false, nil
	}
	if b.DeletionTimestamp != nil {
		return true, fmt.Errorf("PgStorageBranch %s is being deleted", b.Name)
	}
	state, reason, message := status.StateOf(b.Generation, b.Status.ObservedGeneration, b.Status.Conditions)
	switch {
	case state == view.Stalled:
		return true, errors.New(view.Clean(fmt.Sprintf("PgStorageBranch %s: %s: %s", b.Name, reason, message)))
	case g == Independent:
		return b.Status.Independent, nil
	}
	return state == view.Ready, nil
}

// Line returns what a branch does on the way to the goal, on one line.
func (g Goal) Line(b *v1alpha1.PgStorageBranch) string {
	head := ""
	reason, message := ready(b)
	switch g {
	case Ready:
		head = steps(b)
	case Gone:
		head = b.Name + "  "
	case Independent:
		if c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionIndependent); c != nil {
			reason, message = c.Reason, c.Message
		}
	}
	return view.Clean(head + reason + "  " + message)
}

// ready returns the condition Ready, or that the operator has not observed the spec.
func ready(b *v1alpha1.PgStorageBranch) (reason, message string) {
	_, reason, message = status.StateOf(b.Generation, b.Status.ObservedGeneration, b.Status.Conditions)
	if reason == status.NotObserved {
		return "Pending", "Waiting for the manager; check it with kubectl pgstorage doctor"
	}
	return reason, message
}

// steps counts the conditions that are True of those that a new branch needs.
func steps(b *v1alpha1.PgStorageBranch) string {
	needed := []string{v1alpha1.ConditionDatabaseReady, v1alpha1.ConditionReady}
	if b.Spec.Source.Backup == nil {
		needed = append(needed, v1alpha1.ConditionSnapshotReady)
	}
	if b.Spec.Masking != nil {
		needed = append(needed, v1alpha1.ConditionMasked)
	}
	done := 0
	for _, c := range needed {
		if b.Status.ObservedGeneration == b.Generation && meta.IsStatusConditionTrue(b.Status.Conditions, c) {
			done++
		}
	}
	return fmt.Sprintf("%d of %d  ", done, len(needed))
}

// Follower waits for a goal, and shows each change.
type Follower struct {
	Get func(context.Context) (*v1alpha1.PgStorageBranch, error)
	// Pause waits a moment before the object is read again.
	Pause func(context.Context) error
	// Show shows a line.
	Show func(line string)
}

// Follow waits until the branch with the UID reaches a goal, and returns it as last read. A
// connection that is lost meanwhile does not end it.
func (f *Follower) Follow(ctx context.Context, uid types.UID, goal Goal) (*v1alpha1.PgStorageBranch, error) {
	var last *v1alpha1.PgStorageBranch
	for {
		b, err := f.Get(ctx)
		if ctx.Err() != nil {
			return last, context.Cause(ctx)
		}
		if err == nil && b.UID == uid {
			last = b
		}
		if ended, err := f.look(b, err, uid, goal); ended {
			return last, err
		}
		if err := f.Pause(ctx); err != nil {
			return last, errors.Join(context.Cause(ctx), err)
		}
	}
}

// look shows what was read, and reports whether it ends the wait, and how.
func (f *Follower) look(b *v1alpha1.PgStorageBranch, err error, uid types.UID, goal Goal) (bool, error) {
	switch {
	case apierrors.IsNotFound(err) || err == nil && b.UID != uid:
		if goal == Gone {
			return true, nil
		}
		return true, errors.New("the PgStorageBranch was deleted")
	case apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err):
		return true, fmt.Errorf("read the PgStorageBranch: %w", err)
	case err != nil:
		f.Show(view.Clean(err.Error()) + "; trying again")
		return false, nil
	}
	f.Show(goal.Line(b))
	return goal.Reached(b)
}

// Outcome returns what a branch that is Ready gives its user.
func Outcome(b *v1alpha1.PgStorageBranch) string {
	rows := [][]string{{"Endpoint", view.Or(b.Status.Endpoint)}, {"Secret", view.Or(b.Status.Secret)}}
	if e := b.Status.ExpirationTime; e != nil {
		rows = append(rows, []string{"Expires", e.UTC().Format(time.RFC3339)})
	}
	return view.Columns(append(rows, []string{"psql", fmt.Sprintf("kubectl pgstorage branch psql %s -n %s", b.Name, b.Namespace)})...)
}
