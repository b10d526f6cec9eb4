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

// Writer writes the status of an object. A controller-runtime client is one.
type Writer interface {
	Status() client.SubResourceWriter
}

// Apply writes want as the status of obj by server-side apply, with owner as the field
// manager, unless want equals have. It reports whether it wrote.
func Apply[T any](ctx context.Context, w Writer, owner client.FieldOwner, obj client.Object, gvk schema.GroupVersionKind, have, want T) (bool, error) {
	return write(ctx, w, owner, obj, "", gvk, have, want)
}

// ApplyLocked is Apply for a status that is a record: it returns a conflict unless obj is
// the newest version. Otherwise a status built from an older copy would drop entries that
// the newer one has.
func ApplyLocked[T any](ctx context.Context, w Writer, owner client.FieldOwner, obj client.Object, gvk schema.GroupVersionKind, have, want T) (bool, error) {
	return write(ctx, w, owner, obj, obj.GetResourceVersion(), gvk, have, want)
}

func write[T any](ctx context.Context, w Writer, owner client.FieldOwner, obj client.Object, version string, gvk schema.GroupVersionKind, have, want T) (bool, error) {
	if equality.Semantic.DeepEqual(have, want) {
		return false, nil
	}
	content, same, err := sent(have, want)
	if err != nil || same {
		return false, err
	}
	u := &unstructured.Unstructured{Object: map[string]any{"status": content}}
	u.SetGroupVersionKind(gvk)
	u.SetName(obj.GetName())
	u.SetNamespace(obj.GetNamespace())
	// With the UID the write fails where the object was deleted and created again. Without
	// it the write would change the new object.
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

// sent is the content of a write, and whether the API server has it already. It has no object
// without fields: where an object loses its last field, server-side apply makes null of it. The
// schema refuses that.
func sent[T any](have, want T) (content map[string]any, same bool, err error) {
	raw, err := json.Marshal(want)
	if err != nil {
		return nil, false, fmt.Errorf("marshal status: %w", err)
	}
	if err := json.Unmarshal(raw, &content); err != nil {
		return nil, false, fmt.Errorf("unmarshal status: %w", err)
	}
	if !withoutEmpty(content) {
		return content, false, nil
	}
	var stored T
	if raw, err = json.Marshal(content); err == nil {
		err = json.Unmarshal(raw, &stored)
	}
	if err != nil {
		return nil, false, fmt.Errorf("read status without empty objects: %w", err)
	}
	return content, equality.Semantic.DeepEqual(have, stored), nil
}

// withoutEmpty removes fields whose value is an object without fields. It says whether there was
// one.
func withoutEmpty(content map[string]any) bool {
	found := false
	for key, value := range content {
		switch v := value.(type) {
		case map[string]any:
			found = withoutEmpty(v) || found
			if len(v) == 0 {
				delete(content, key)
				found = true
			}
		case []any:
			for _, item := range v {
				if m, is := item.(map[string]any); is {
					found = withoutEmpty(m) || found
				}
			}
		}
	}
	return found
}
