package integration

import (
	"context"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
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

// listless is the client of a manager whose cache lists nothing yet.
type listless struct{ client.Client }

func (listless) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// readersBehind read from such a cache.
func readersBehind(c client.Client) (observe.Readers, *observe.ForeignAPIs) {
	kinds := catalog.All()
	return observe.Readers{Cache: behind{c}, Live: c, Kinds: kinds, Scheme: c.Scheme()},
		&observe.ForeignAPIs{Reader: c, Clock: clock.RealClock{}, CRDs: kinds.CRDs()}
}

// profilesBehind reconciles profiles by what such caches have.
func profilesBehind(c client.Client, readers observe.Readers, apis *observe.ForeignAPIs) *pgstorageprofile.Reconciler {
	return &pgstorageprofile.Reconciler{
		Client: c, Readers: readers, APIs: apis, Kinds: catalog.All(), Clock: clock.RealClock{}, Events: events.NewFakeRecorder(100),
		Operator: observed.Operator{Namespace: manager.Namespace},
		Enabled:  map[v1alpha1.ProfileType]bool{v1alpha1.ProfileTypeMemory: true, v1alpha1.ProfileTypeCephRBD: true, v1alpha1.ProfileTypeS3NBD: true},
	}
}

// deletionWaits reconciles a deleted profile, which must then wait for an object.
func deletionWaits(t *testing.T, c client.Client, r *pgstorageprofile.Reconciler, p *v1alpha1.PgStorageProfile, reason string, o client.Object) {
	t.Helper()
	if _, err := r.Reconcile(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
		t.Fatalf("it went before %T %s: %v", o, o.GetName(), err)
	}
	ready := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionReady)
	// What uses the profile can be followed by what to do about it.
	if ready == nil || ready.Reason != reason || !strings.HasSuffix(ready.Message, " "+o.GetName()) &&
		(reason != v1alpha1.ReasonInUse || !strings.Contains(ready.Message, o.GetName())) {
		t.Errorf("it waits for %T %s, and Ready is %+v", o, o.GetName(), ready)
	}
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
	r := profilesBehind(behind{c}, readers, apis)
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
		deletionWaits(t, c, r, p, v1alpha1.ReasonDeleting, o)
		if err := c.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Reconcile(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	absent(t, c, key, p)
}

// A profile of CephRBD deletes nothing while the API server has a database or a volume on it,
// also where the caches list none yet.
func TestCephIsNotDeletedBelowWhatTheCacheLacks(t *testing.T) {
	c := apiserver.Client(t, config)
	readers, apis := readersBehind(c)
	empty := listless{c}
	readers.Cache = empty
	readers.BySource = map[observe.SourceGroup]client.Reader{
		{Type: v1alpha1.ProfileTypeCephRBD}: empty, {Type: v1alpha1.ProfileTypeCephRBD, Group: "instances"}: empty,
	}
	r := profilesBehind(empty, readers, apis)
	p := &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "ceph-behind", Finalizers: []string{naming.ProfileFinalizer}},
		Spec: v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeCephRBD, CephRBD: &v1alpha1.CephRBDProfile{
			External: new(true), Rook: v1alpha1.RookNames{Namespace: "rook-behind"}, DeletionPolicy: v1alpha1.DeletionDelete,
		}},
	}
	create(t, c, p)
	class := storageClass(p.Name)
	class.Labels = naming.ProfileLabels(p.Name, string(p.UID))
	user := cluster(namespace(t, c), "shop", p.Name)
	volume := simulatedPV("pvc-behind", p.Name, "rook-ceph.rbd.csi.ceph.com", &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: user.Namespace, Name: "shop-1"}})
	create(t, c, class, user, volume)
	key := client.ObjectKeyFromObject(p)
	p = ending(t, c, p)
	for _, o := range []client.Object{user, volume} {
		deletionWaits(t, c, r, p, v1alpha1.ReasonInUse, o)
		get(t, c, client.ObjectKeyFromObject(class), class)
		deleted(t, c, o)
	}
	deletionWaits(t, c, r, p, v1alpha1.ReasonDeleting, class)
	absent(t, c, client.ObjectKeyFromObject(class), class)
	if _, err := r.Reconcile(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	absent(t, c, key, p)
}

// Servers stay while the API server has a PgNodeStorage, whose agent has their devices in a
// pool, also where the cache lists none yet.
func TestServersStayForTheAgentsThatTheCacheLacks(t *testing.T) {
	c := apiserver.Client(t, config)
	readers, apis := readersBehind(c)
	r := profilesBehind(behind{c}, readers, apis)
	p := s3Profile("s3-behind", nil)
	p.Finalizers = []string{naming.ProfileFinalizer}
	create(t, c, p)
	labels := naming.ProfileLabels(p.Name, string(p.UID))
	pod := map[string]string{"test": p.Name}
	servers := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: manager.Namespace, Name: naming.Server(p.Name, "main"), Labels: labels},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: pod},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: pod},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "zerofs", Image: "registry.example/zerofs:2.3.0"}}},
			},
		},
	}
	left := &v1alpha1.PgNodeStorage{
		ObjectMeta: metav1.ObjectMeta{Name: naming.NodeStorage(p.Name, "behind"), Labels: labels},
		Spec:       v1alpha1.PgNodeStorageSpec{Profile: p.Name, NodeName: "behind", Pool: v1alpha1.NodePool{Name: "lake"}},
	}
	create(t, c, servers, left)
	key := client.ObjectKeyFromObject(p)
	p = ending(t, c, p)
	deletionWaits(t, c, r, p, v1alpha1.ReasonDeleting, left)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(servers), servers); err != nil || servers.DeletionTimestamp != nil {
		t.Errorf("the servers: %v, deleted %v", err, servers.DeletionTimestamp)
	}
	deleted(t, c, left)
	if _, err := r.Reconcile(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	absent(t, c, client.ObjectKeyFromObject(servers), servers)
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
