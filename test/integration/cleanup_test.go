package integration

import (
	"context"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// removal bounds how long one object may take to go.
const removal = 10 * time.Second

// removedAtTheEnd of the test, if it is of our kinds. The managers of later tests would reconcile
// what is left. That was a third of this suite's processor time.
func removedAtTheEnd(t *testing.T, c client.Client, o client.Object) {
	t.Helper()
	gvk, err := apiutil.GVKForObject(o, c.Scheme())
	if err != nil {
		t.Fatal(err)
	}
	if gvk.Group != v1alpha1.GroupVersion.Group {
		return
	}
	if _, profile := o.(*v1alpha1.PgStorageProfile); profile {
		t.Cleanup(func() {
			removeAll(t, c, &v1alpha1.PgNodeStorageList{}, client.MatchingLabels{naming.LabelProfile: o.GetName()})
		})
	}
	t.Cleanup(func() { remove(t, c, o) })
}

// emptied at the end of the test: what the manager made of our kinds in a namespace goes too.
func emptied(t *testing.T, c client.Client, namespace string) {
	t.Cleanup(func() {
		for _, list := range []client.ObjectList{
			&v1alpha1.PgStorageBranchList{}, &v1alpha1.PgScheduledBenchmarkList{}, &v1alpha1.PgBenchmarkList{}, &v1alpha1.PgStorageClusterList{},
		} {
			removeAll(t, c, list, client.InNamespace(namespace))
		}
	})
}

func removeAll(t *testing.T, c client.Client, list client.ObjectList, opts ...client.ListOption) {
	t.Helper()
	if err := c.List(context.Background(), list, opts...); err != nil {
		t.Error(err)
		return
	}
	_ = meta.EachListItem(list, func(o runtime.Object) error {
		remove(t, c, o.(client.Object))
		return nil
	})
}

// remove deletes an object without what its finalizers wait for. A manager that still runs may
// put one back meanwhile.
func remove(t *testing.T, c client.Client, o client.Object) {
	t.Helper()
	key := client.ObjectKeyFromObject(o)
	err := wait.PollUntilContextTimeout(context.Background(), interval, removal, true, func(ctx context.Context) (bool, error) {
		err := errors.Join(
			client.IgnoreNotFound(c.Delete(ctx, o)),
			client.IgnoreNotFound(c.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))),
		)
		if err != nil {
			return false, err
		}
		err = c.Get(ctx, key, o)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	if err != nil {
		t.Errorf("remove %T %s: %v", o, key, err)
	}
}
