// Package gather reads from a cluster what the commands show. The package notes objects
// that the user may not read, or whose kind is not installed, and continues. So users
// see everything that they can read.
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

// Reader reads a cluster and never writes to it.
type Reader struct{ client.Reader }

// notes collect what could not be read.
type notes []snapshot.Unread

// note records an error that leaves something unknown, and returns any other.
func (n *notes) note(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsForbidden(err):
		*n = append(*n, snapshot.Unread{What: what, Why: "forbidden: " + strings.TrimSpace(message(err))})
		return nil
	case meta.IsNoMatchError(err):
		*n = append(*n, snapshot.Unread{What: what, Why: "the kind is not installed"})
		return nil
	}
	return fmt.Errorf("read %s: %w", what, err)
}

// message returns the message of the API server, without the context that Go adds.
func message(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Message
	}
	return err.Error()
}

// get reads an object, and reports false if it does not exist or could not be read.
func (r Reader) get(ctx context.Context, n *notes, what string, key client.ObjectKey, into client.Object) (bool, error) {
	err := r.Get(ctx, key, into)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, n.note(what, err)
}

// list reads a list of objects.
func (r Reader) list(ctx context.Context, n *notes, what string, into client.ObjectList, options ...client.ListOption) error {
	return n.note(what, r.List(ctx, into, options...))
}

// objects lists a kind that has no Go type here, sorted by namespace and name. A kind
// that is not installed has no objects.
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
