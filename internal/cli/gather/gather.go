// Package gather reads what the commands show. What may not be read, or is of a kind
// that is not installed, is noted and no failure: a person sees what they may see.
package gather

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
)

// Reader of a cluster, which it never writes to.
type Reader struct{ client.Reader }

// notes are what could not be read.
type notes []snapshot.Unread

// note an error that leaves something unknown. Others are returned.
func (n *notes) note(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsForbidden(err):
		*n = append(*n, snapshot.Unread{What: what, Why: "you may not read it: " + strings.TrimSpace(message(err))})
		return nil
	case meta.IsNoMatchError(err):
		*n = append(*n, snapshot.Unread{What: what, Why: "its kind is not installed"})
		return nil
	}
	return fmt.Errorf("read %s: %w", what, err)
}

// message of an API error without Go's wrapping.
func message(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Message
	}
	return err.Error()
}

// get an object; false where it does not exist or could not be read.
func (r Reader) get(ctx context.Context, n *notes, what string, key client.ObjectKey, into client.Object) (bool, error) {
	err := r.Get(ctx, key, into)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, n.note(what, err)
}

// list objects into a list.
func (r Reader) list(ctx context.Context, n *notes, what string, into client.ObjectList, options ...client.ListOption) error {
	return n.note(what, r.List(ctx, into, options...))
}

// objects of a kind without a Go type here, sorted. A kind that is not installed has
// none.
func (r Reader) objects(ctx context.Context, n *notes, gvk schema.GroupVersionKind, options ...client.ListOption) ([]unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	err := r.List(ctx, list, options...)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err := n.note(gvk.Kind+"s", err); err != nil {
		return nil, err
	}
	slices.SortFunc(list.Items, func(a, b unstructured.Unstructured) int {
		return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
	})
	return list.Items, nil
}
