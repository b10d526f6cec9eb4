// Package apply is the only writer of children: it applies what a plan wants and
// prunes what it no longer wants.
package apply

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
)

// Writer is what applying needs.
type Writer interface {
	Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error
	Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error
}

// Change is one write that was made.
type Change struct {
	Key plan.Key
	// Drift is the path of a field that another writer changed, or "" when the intent
	// itself is new.
	Drift string
}

// Rejection is an object that the API server rejects, of a stage that no other builds on.
type Rejection struct {
	Stage plan.Stage
	Err   error
}

// Result is what became of a plan.
type Result struct {
	Changes  []Change
	Rejected []Rejection
}

// Plan applies every object whose stage is open and which the API server does
// not hold already. It stops at the first error, because later stages build on
// earlier ones; a rejected object of a stage that is alone becomes a Rejection. A
// write is never repeated while neither intent nor object changed. An object that was seen
// is written only while it exists: Outdated reports that it does not.
func Plan(ctx context.Context, w Writer, p *plan.Plan, live plan.Live) (Result, error) {
	var done Result
	for _, o := range p.Open() {
		drift, needed, err := needs(o, live[o.Key()])
		if err != nil {
			return done, err
		}
		if !needed {
			continue
		}
		// Children are ours alone: another owner's edit of a field that we claim
		// is drift, and is taken back.
		err = w.Apply(ctx, client.ApplyConfigurationFromUnstructured(sent(o, live[o.Key()])), client.FieldOwner(naming.FieldOwner), client.ForceOwnership)
		if err != nil {
			err = fmt.Errorf("apply %s: %w", o.Key(), err)
			if !o.Stage.Alone() || !Rejected(err) {
				return done, err
			}
			done.Rejected = append(done.Rejected, Rejection{Stage: o.Stage, Err: err})
			continue
		}
		done.Changes = append(done.Changes, Change{Key: o.Key(), Drift: drift})
	}
	return done, nil
}

// sent is the content of a write. With the UID of the object that was seen, the API server
// does not create another one in place of it.
func sent(o plan.Object, seen plan.Seen) *unstructured.Unstructured {
	u := o.Content.DeepCopy()
	if seen != nil {
		u.SetUID(seen.GetUID())
	}
	return u
}

func needs(o plan.Object, seen plan.Seen) (drift string, needed bool, err error) {
	if seen == nil {
		return "", true, nil
	}
	if o.Stale(seen.GetAnnotations(), naming.AnnotationIntent) {
		return "", true, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(seen)
	if err != nil {
		return "", false, fmt.Errorf("read %s: %w", o.Key(), err)
	}
	gvk := o.Content.GroupVersionKind()
	// Typed objects from the cache have no kind.
	content["apiVersion"], content["kind"] = gvk.ToAPIVersionAndKind()
	if drift = o.Missing(content, o.Content.Object); drift != "" {
		drift = o.Missing(content, shown(o.Content.Object, seen)) // seldom: at rest nothing is missing
	}
	return drift, drift != "", nil
}

// shown is what remains of wanted content in the Go type of an object that was read. All
// remains in one without a type, and in one that does not hold the content.
func shown(want map[string]any, seen plan.Seen) map[string]any {
	if _, untyped := seen.(runtime.Unstructured); untyped {
		return want
	}
	typed := reflect.New(reflect.TypeOf(seen).Elem()).Interface()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(want, typed); err != nil {
		return want
	}
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return want
	}
	return out
}

// Delete removes an object that was seen, and no other one of its name that came
// after it.
func Delete(ctx context.Context, w Writer, obj client.Object, opts ...client.DeleteOption) error {
	uid, version := obj.GetUID(), obj.GetResourceVersion()
	opts = append(opts, client.Preconditions(metav1.Preconditions{UID: &uid, ResourceVersion: &version}), client.PropagationPolicy(metav1.DeletePropagationBackground))
	if err := client.IgnoreNotFound(w.Delete(ctx, obj, opts...)); err != nil {
		return fmt.Errorf("delete %T %s: %w", obj, client.ObjectKeyFromObject(obj), err)
	}
	return nil
}

// Rejected says whether the API server will refuse the same object again: a user must
// change something.
func Rejected(err error) bool {
	return !Outdated(err) && (apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || mistyped(err))
}

// Outdated says whether the object that was seen has changed, is gone, or is another one
// by now. A pass over what there is now is the answer to that, and not an error.
func Outdated(err error) bool {
	return apierrors.IsConflict(err) || otherUID(err)
}

// OutdatedDelay is when the pass is repeated that met an outdated object.
const OutdatedDelay = time.Second

// otherUID recognises a write to an object whose UID is not that of the one that was seen.
// The API server calls that invalid.
func otherUID(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}

// mistyped recognises an object that does not fit its schema, which server-side
// apply reports as an internal error without a reason of its own.
func mistyped(err error) bool {
	return err != nil && strings.Contains(err.Error(), "failed to create typed patch object")
}
