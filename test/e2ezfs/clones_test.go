//go:build e2ezfs

package e2ezfs

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// confirmClones does what the runbook VolumesPending says, until the test ends, and counts how
// often. It reports a clone as Ready that the node has made, and that the controller of
// zfs-localpv 1.9.3 waits for in vain. After version 2.6.2 the driver no longer needs it (its
// pull request 576).
func confirmClones(t *testing.T) *atomic.Int64 {
	t.Helper()
	ended, count := make(chan struct{}), &atomic.Int64{}
	go func() {
		defer close(ended)
		// The controller waits 10 s each time that it asks for the clone.
		wait.UntilWithContext(t.Context(), func(ctx context.Context) {
			names, err := confirmOnce(ctx)
			if err != nil && ctx.Err() == nil {
				t.Logf("clones that the driver has lost: %v", err)
			}
			for _, name := range names {
				t.Logf("the driver has lost track of the clone %s, which the test reports as Ready", name)
				count.Add(1)
			}
		}, 3*time.Second)
	}()
	// The context of a test ends before its cleanup.
	t.Cleanup(func() { <-ended })
	return count
}

// confirmOnce returns the names of the ZFSVolumes that it reported. The node sets the finalizer
// once it has made a volume, and from then on does not change the state.
func confirmOnce(ctx context.Context) (names []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "zfs.openebs.io", Version: "v1", Kind: "ZFSVolumeList"})
	if err := c.List(ctx, list); err != nil {
		return nil, err
	}
	for i := range list.Items {
		v := &list.Items[i]
		state, _, _ := unstructured.NestedString(v.Object, "status", "state")
		snapshot, _, _ := unstructured.NestedString(v.Object, "spec", "snapname")
		if state != "Pending" || snapshot == "" || len(v.GetFinalizers()) == 0 || v.GetDeletionTimestamp() != nil {
			continue
		}
		before := v.DeepCopy()
		if err := unstructured.SetNestedField(v.Object, "Ready", "status", "state"); err != nil {
			return names, err
		}
		if err := c.Patch(ctx, v, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return names, err
		}
		names = append(names, v.GetName())
	}
	return names, nil
}
