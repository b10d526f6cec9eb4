package sites

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// ErrRefused ends a run that has printed its refusals.
var ErrRefused = errors.New("refused")

// Access reads and patches the PgStorageCluster of one site.
type Access interface {
	Get(ctx context.Context) (*v1alpha1.PgStorageCluster, error)
	// Patch applies a JSON merge patch.
	Patch(ctx context.Context, patch []byte) error
}

// Target is a site that a run reads and patches.
type Target struct {
	Place
	Access
}

// Read the site.
func (t Target) Read(ctx context.Context) (Site, error) {
	o, err := t.Get(ctx)
	if err != nil {
		return Site{}, fmt.Errorf("read PgStorageCluster %s: %w", t.Place, err)
	}
	return Site{Place: t.Place, Object: o}, nil
}

// Runner does steps and waits between them.
type Runner struct {
	// Timeout of each step.
	Timeout time.Duration
	Now     func() time.Time
	// Pause waits a moment before the objects are read again.
	Pause func(context.Context) error
	// Out gets the steps, refusals and advice. ErrOut gets refusals and advice that Out does
	// not take, such as a pipe whose reader has ended.
	Out, ErrOut io.Writer

	began     bool
	step      Step
	deadline  time.Time
	heard     map[string]string
	lastError string
}

// pass of a run. It returns true if it changed something, so that the next one follows at
// once, and errEnd if nothing is left to do.
type pass func(ctx context.Context) (changed bool, err error)

// errEnd ends a run that succeeded.
var errEnd = errors.New("done")

// final is an error that another attempt does not change.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// loop passes until one ends the run. overdue is the error after a timeout or an
// interruption, which its argument names.
func (r *Runner) loop(ctx context.Context, next pass, overdue func(why string) error) error {
	r.heard = map[string]string{}
	r.deadline = r.Now().Add(r.Timeout)
	for {
		changed, err := next(ctx)
		switch {
		case errors.Is(err, errEnd):
			return nil
		case ctx.Err() != nil:
			return overdue("interrupted")
		case err != nil && !r.passing(err):
			return err
		case err != nil:
			r.failed(err)
		case changed:
			continue
		}
		if r.Now().After(r.deadline) {
			return overdue("timeout expired")
		}
		if r.Pause(ctx) != nil {
			return overdue("interrupted")
		}
	}
}

// passing reports whether another attempt can succeed. Before the first step none is waited
// for. Afterwards writes can be paused, so a run does not end for a lost connection.
func (r *Runner) passing(err error) bool {
	if apierrors.IsConflict(err) {
		return true
	}
	permanent := errors.Is(err, ErrRefused) || errors.As(err, &final{}) || apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
	return r.began && !permanent
}

// failed prints an error once. A conflict is none: the operator writes the object, too.
func (r *Runner) failed(err error) {
	if text := view.Clean(err.Error()); !apierrors.IsConflict(err) && text != r.lastError {
		r.lastError = text
		r.say("  %s; trying again", text)
	}
}

// enter a step. Each step has its own time, but one that comes again has not.
func (r *Runner) enter(step Step) (first bool) {
	first = !r.began || step > r.step
	if first {
		r.began, r.step = true, step
		r.deadline = r.Now().Add(r.Timeout)
	}
	return first
}

// hear prints what the operator says of the role of a site, when it changes.
func (r *Runner) hear(s Site) {
	if text := s.state(); text != r.heard[s.self()] {
		r.heard[s.self()] = text
		r.say("  %s: %s", s.self(), text)
	}
}

// say prints a line with the time. A failed write does not end a run: writes can be paused.
func (r *Runner) say(format string, args ...any) {
	_, _ = fmt.Fprintf(r.Out, "%s  %s\n", r.Now().UTC().Format(time.RFC3339), fmt.Sprintf(format, args...))
}

// refuse prints refusals.
func (r *Runner) refuse(refusals []string) error {
	r.print(Refusals(refusals))
	return ErrRefused
}

func (r *Runner) print(text string) {
	if _, err := io.WriteString(r.Out, text); err != nil {
		_, _ = io.WriteString(r.ErrOut, text)
	}
}
