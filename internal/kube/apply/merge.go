package apply

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// MergeSpec merges fields into the spec of an object that was seen, and of no other one of its
// name that came after it. obj gets what the API server then has.
func MergeSpec(ctx context.Context, p Patcher, obj client.Object, spec map[string]any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": obj.GetUID()}, "spec": spec})
	if err == nil {
		err = p.Patch(ctx, obj, client.RawPatch(types.MergePatchType, patch))
	}
	if err != nil {
		return fmt.Errorf("change the spec of %T %s: %w", obj, client.ObjectKeyFromObject(obj), err)
	}
	return nil
}
