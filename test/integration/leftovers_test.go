package integration

import (
	"context"
	"strings"
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers/pgstoragecluster"
	"github.com/pgstorage/pgstorage/controllers/pgstorageprofile"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// behind is the client of a manager whose cache has not seen any object of these kinds yet.
type behind struct{ client.Client }

func (b behind) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	switch list.(type) {
	case *v1alpha1.PgNodeStorageList, *v1alpha1.PgStorageClusterList, *storagev1.StorageClassList:
		return nil
	}
	return b.Client.List(ctx, list, opts...)
}

func (b behind) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if _, class := obj.(*storagev1.StorageClass); class {
		return apierrors.NewNotFound(schema.GroupResource{Group: storagev1.GroupName, Resource: "storageclasses"}, key.Name)
	}
	return b.Client.Get(ctx, key, obj, opts...)
}

// readersBehind read from such a cache.
func readersBehind(c client.Client) (observe.Readers, *observe.ForeignAPIs) {
	kinds := catalog.All()
	return observe.Readers{Cache: behind{c}, Live: c, Kinds: kinds, Scheme: c.Scheme()},
		&observe.ForeignAPIs{Reader: c, Clock: clock.RealClock{}, CRDs: kinds.CRDs()}
}

// ending is an object as it is after a user deleted it.
func ending[T client.Object](t *testing.T, c client.Client, o T) T {
	t.Helper()
	if err := c.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return get(t, c, client.ObjectKeyFromObject(o), o)
}

// A profile stays until the API server has none of its objects, also those that the cache
// does not have yet.
func TestProfileStaysForWhatTheCacheLacks(t *testing.T) {
	c := apiserver.Client(t, config)
	readers, apis := readersBehind(c)
	r := &pgstorageprofile.Reconciler{
		Client: behind{c}, Readers: readers, APIs: apis, Kinds: catalog.All(), Clock: clock.RealClock{}, Events: events.NewFakeRecorder(100),
		Operator: observed.Operator{Namespace: manager.Namespace}, Enabled: map[v1alpha1.ProfileType]bool{v1alpha1.ProfileTypeMemory: true},
	}
	p := &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "mem-behind", Finalizers: []string{naming.ProfileFinalizer}},
		Spec: v1alpha1.PgStorageProfileSpec{
			Type: v1alpha1.ProfileTypeMemory, NodeSelector: map[string]string{"test": "mem-behind"},
			Memory: &v1alpha1.MemoryProfile{MaxPerNode: resource.MustParse("2Gi")},
		},
	}
	create(t, c, p)
	labels := naming.ProfileLabels(p.Name, string(p.UID))
	class := storageClass(p.Name)
	class.Labels = labels
	left := &v1alpha1.PgNodeStorage{
		ObjectMeta: metav1.ObjectMeta{Name: naming.NodeStorage(p.Name, "behind"), Labels: labels},
		Spec:       v1alpha1.PgNodeStorageSpec{Profile: p.Name, NodeName: "behind", Memory: &v1alpha1.NodeMemory{}},
	}
	create(t, c, class, left)
	key := client.ObjectKeyFromObject(p)
	p = ending(t, c, p)
	for _, o := range []client.Object{left, class} {
		if _, err := r.Reconcile(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if err := c.Get(t.Context(), key, p); err != nil {
			t.Fatalf("it went before %T %s: %v", o, o.GetName(), err)
		}
		ready := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil || ready.Reason != v1alpha1.ReasonDeleting || !strings.HasSuffix(ready.Message, " "+o.GetName()) {
			t.Errorf("it waits for %T %s, and Ready is %+v", o, o.GetName(), ready)
		}
		if err := c.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Reconcile(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	absent(t, c, key, p)
}

// A PgStorageCluster stays until its read pools are gone, also those that the cache does not
// have yet.
func TestClusterStaysForThePoolsThatTheCacheLacks(t *testing.T) {
	c := apiserver.Client(t, config)
	readers, apis := readersBehind(c)
	ns := namespace(t, c)
	r := &pgstoragecluster.Reconciler{
		Client: c, Readers: readers, APIs: apis, Config: clusters.Config{ReadPools: true},
		ReadBack: &observe.ReadBack{Pods: c, Clock: clock.RealClock{}}, Sites: &observe.Sites{Live: c},
		Backups: observe.Backups{Cache: behind{c}, Live: c, Clock: clock.RealClock{}, Kinds: catalog.All()},
		Clock:   clock.RealClock{}, Events: events.NewFakeRecorder(100),
		Watch: func(observed.ForeignAPIs) error { return nil },
	}
	cr := cluster(ns, "shop", "pools-behind")
	cr.Finalizers = []string{naming.ClusterFinalizer}
	create(t, c, cr)
	pool := cluster(ns, naming.ReadPool("shop", "reports"), "pools-behind")
	pool.Labels = naming.DataBearing("shop", string(cr.UID))
	pool.Labels[naming.LabelReadPool] = "reports"
	create(t, c, pool)
	key := client.ObjectKeyFromObject(cr)
	cr = ending(t, c, cr)
	if _, err := r.Reconcile(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), key, cr); err != nil {
		t.Fatalf("it went before its pool: %v", err)
	}
	absent(t, c, client.ObjectKeyFromObject(pool), pool)
	if _, err := r.Reconcile(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	absent(t, c, key, cr)
}
