package status

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Writer is what writing a status needs.
type Writer interface {
	Status() client.SubResourceWriter
}

// Apply writes want as the status of obj by server-side apply as owner, unless it
// equals have. It reports whether it wrote.
func Apply[T any](ctx context.Context, w Writer, owner client.FieldOwner, obj client.Object, gvk schema.GroupVersionKind, have, want T) (bool, error) {
	return write(ctx, w, owner, obj, "", gvk, have, want)
}

// ApplyLocked is Apply to the version of obj that was read, and a conflict where it is
// not the newest: for a status that keeps records, of which one that an old copy lacks
// would be lost.
func ApplyLocked[T any](ctx context.Context, w Writer, owner client.FieldOwner, obj client.Object, gvk schema.GroupVersionKind, have, want T) (bool, error) {
	return write(ctx, w, owner, obj, obj.GetResourceVersion(), gvk, have, want)
}

func write[T any](ctx context.Context, w Writer, owner client.FieldOwner, obj client.Object, version string, gvk schema.GroupVersionKind, have, want T) (bool, error) {
	if equality.Semantic.DeepEqual(have, want) {
		return false, nil
	}
	raw, err := json.Marshal(want)
	if err != nil {
		return false, fmt.Errorf("marshal status: %w", err)
	}
	content := map[string]any{}
	if err := json.Unmarshal(raw, &content); err != nil {
		return false, fmt.Errorf("unmarshal status: %w", err)
	}
	u := &unstructured.Unstructured{Object: map[string]any{"status": content}}
	u.SetGroupVersionKind(gvk)
	u.SetName(obj.GetName())
	u.SetNamespace(obj.GetNamespace())
	// The UID makes the write fail, rather than land on a namesake, when the
	// object was deleted and made again meanwhile.
	u.SetUID(obj.GetUID())
	if version != "" {
		u.SetResourceVersion(version)
	}
	err = w.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(u), owner, client.ForceOwnership)
	if err != nil {
		return false, fmt.Errorf("apply status of %s %s: %w", gvk.Kind, client.ObjectKeyFromObject(obj), err)
	}
	return true, nil
}
