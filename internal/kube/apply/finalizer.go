package apply

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Patcher is what adding and removing a finalizer needs.
type Patcher interface {
	Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error
}

// AddFinalizer adds a finalizer unless it is there. It goes before anything that the
// finalizer is to undo.
func AddFinalizer(ctx context.Context, p Patcher, obj client.Object, finalizer string) error {
	return patchFinalizers(ctx, p, obj, func() bool { return controllerutil.AddFinalizer(obj, finalizer) })
}

// RemoveFinalizer removes a finalizer; an object that is gone already is not an error.
func RemoveFinalizer(ctx context.Context, p Patcher, obj client.Object, finalizer string) error {
	return client.IgnoreNotFound(patchFinalizers(ctx, p, obj, func() bool { return controllerutil.RemoveFinalizer(obj, finalizer) }))
}

// patchFinalizers writes a change with an optimistic lock: the list is replaced
// whole, and must be the one that was read.
func patchFinalizers(ctx context.Context, p Patcher, obj client.Object, change func() bool) error {
	before, ok := obj.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("copy of %T is not an object", obj)
	}
	if !change() {
		return nil
	}
	return p.Patch(ctx, obj, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}
