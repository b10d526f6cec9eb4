package integration

import (
	"context"
	"errors"
	"fmt"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// pooled is a cluster with one read pool, whose database is healthy.
func pooled(t *testing.T, c client.Client, storageName string) (cr, pool *v1alpha1.PgStorageCluster) {
	t.Helper()
	ns := namespace(t, c)
	storage(t, c, storageName)
	cr = cluster(ns, "shop", storageName)
	cr.Spec.Postgres.Parameters = map[string]string{"max_connections": "150"}
	cr.Spec.ReadPools = []v1alpha1.ReadPool{{Name: "reports", Workload: v1alpha1.WorkloadAnalytics}}
	create(t, c, cr)
	pool = get(t, c, client.ObjectKey{Namespace: ns, Name: "shop-reports"}, &v1alpha1.PgStorageCluster{})
	return cr, pool
}

func TestReadPoolFollowsItsCluster(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr, pool := pooled(t, c, "pool-follows")
	if len(pool.OwnerReferences) != 0 || pool.Labels[naming.LabelReadPool] != "reports" {
		t.Errorf("ownerReferences %v, labels %v", pool.OwnerReferences, pool.Labels)
	}
	key := client.ObjectKeyFromObject(pool)
	hasCondition(t, c, pool, v1alpha1.ConditionSourceReady, metav1.ConditionFalse, v1alpha1.ReasonSourceNotReady)
	hasCondition(t, c, cr, v1alpha1.ConditionReadPoolsReady, metav1.ConditionFalse, v1alpha1.ReasonReadPoolNotReady)
	absent(t, c, key, &cnpgv1.Cluster{})

	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	pg := get(t, c, key, &cnpgv1.Cluster{})
	if r := pg.Spec.ReplicaCluster; r == nil || r.Enabled == nil || !*r.Enabled || r.Source != "shop" || pg.Spec.Bootstrap.PgBaseBackup == nil || pg.Spec.Bootstrap.InitDB != nil {
		t.Errorf("replica %+v, bootstrap %+v", pg.Spec.ReplicaCluster, pg.Spec.Bootstrap)
	}
	if got := pg.Spec.PostgresConfiguration.Parameters["max_connections"]; got != "150" {
		t.Errorf("max_connections is %s: a standby with less than its primary does not replay its WAL", got)
	}
	source := get(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{})
	if source.Spec.PostgresConfiguration.Synchronous != nil || pg.Annotations[naming.AnnotationSource] != string(source.UID) {
		t.Errorf("synchronous %+v, source %s", source.Spec.PostgresConfiguration.Synchronous, pg.Annotations[naming.AnnotationSource])
	}
	simulatedHealthy(t, c, key)
	hasCondition(t, c, pool, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	hasCondition(t, c, cr, v1alpha1.ConditionReadPoolsReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	// No simulated instance answers, so nothing is known of the lag.
	hasCondition(t, c, cr, v1alpha1.ConditionFollowersCaughtUp, metav1.ConditionUnknown, v1alpha1.ReasonNotReadBack)
	eventually(t, "the pool in the status", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(cr), cr); err != nil {
			return err
		}
		if s := cr.Status.ReadPools; len(s) != 1 || s[0].Read != fmt.Sprintf("shop-reports-r.%s.svc", cr.Namespace) || s[0].CertificateAuthority != "shop-reports-ca" || s[0].Ready == nil || !*s[0].Ready {
			return fmt.Errorf("%+v", s)
		}
		return nil
	})
	if got := get(t, c, key, pool).Status; got.Endpoints.ReadWrite != "" || got.Secrets.Application != "shop-app" || len(got.Durability.Losses) != 0 {
		t.Errorf("endpoints %+v, secrets %+v, durability %+v", got.Endpoints, got.Secrets, got.Durability)
	}
}

// deletedFirst waits until a pool is gone, and its Cluster with it: the volumes are its.
func deletedFirst(t *testing.T, c client.Client, key client.ObjectKey, uid, database types.UID) {
	t.Helper()
	eventually(t, "the pool to be deleted with its database", func(ctx context.Context) error {
		pool, pg := &v1alpha1.PgStorageCluster{}, &cnpgv1.Cluster{}
		if err := client.IgnoreNotFound(c.Get(ctx, key, pool)); err != nil || pool.UID == uid {
			return errors.Join(err, fmt.Errorf("PgStorageCluster %s is still there", pool.UID))
		}
		if err := client.IgnoreNotFound(c.Get(ctx, key, pg)); err != nil || pg.UID == database {
			return errors.Join(err, fmt.Errorf("Cluster %s is still there", pg.UID))
		}
		return nil
	})
}

func TestReadPoolMovesToAnotherProfile(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr, pool := pooled(t, c, "pool-moves")
	storage(t, c, "pool-moved")
	key := client.ObjectKeyFromObject(pool)
	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	first := get(t, c, key, &cnpgv1.Cluster{}).UID
	simulatedHealthy(t, c, key)
	hasCondition(t, c, cr, v1alpha1.ConditionReadPoolsReady, metav1.ConditionTrue, v1alpha1.ReasonReady)

	// While the cluster is not healthy, the pool may have the last copy.
	simulatedStatus(t, c, client.ObjectKeyFromObject(cr), func(s *cnpgv1.ClusterStatus) { s.ReadyInstances = 0 })
	hasCondition(t, c, cr, v1alpha1.ConditionDatabaseReady, metav1.ConditionFalse, v1alpha1.ReasonClusterNotHealthy)
	changed(t, c, cr, func() { cr.Spec.ReadPools[0].Profile = "pool-moved" })
	hasCondition(t, c, cr, v1alpha1.ConditionReadPoolsReady, metav1.ConditionFalse, v1alpha1.ReasonCloningAgain)
	if now := get(t, c, key, &v1alpha1.PgStorageCluster{}); now.UID != pool.UID || !now.DeletionTimestamp.IsZero() {
		t.Fatalf("pool %s, deleted %v, while its cluster is not healthy", now.UID, now.DeletionTimestamp)
	}

	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	deletedFirst(t, c, key, pool.UID, first)
	again := get(t, c, key, &cnpgv1.Cluster{})
	if got := again.Spec.StorageConfiguration.StorageClass; got == nil || *got != "pool-moved" {
		t.Errorf("storage class %v", got)
	}
	simulatedHealthy(t, c, key)
	hasCondition(t, c, cr, v1alpha1.ConditionReadPoolsReady, metav1.ConditionTrue, v1alpha1.ReasonReady)

	// A pool that is removed goes with its volumes, although deletionPolicy is Retain.
	moved := get(t, c, key, &v1alpha1.PgStorageCluster{})
	changed(t, c, cr, func() { cr.Spec.ReadPools = nil })
	deletedFirst(t, c, key, moved.UID, again.UID)
	absent(t, c, key, &v1alpha1.PgStorageCluster{})
}

// While spec.suspend is true, the operator does not delete a pool that is removed from the spec.
func TestSuspendKeepsARemovedReadPool(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	cr, pool := pooled(t, c, "pool-suspended")
	w.within = "/namespaces/" + cr.Namespace + "/"
	key := client.ObjectKeyFromObject(pool)
	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	pg := get(t, c, key, &cnpgv1.Cluster{})
	simulatedHealthy(t, c, key)
	hasCondition(t, c, cr, v1alpha1.ConditionReadPoolsReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	changed(t, c, cr, func() { cr.Spec.Suspend, cr.Spec.ReadPools = new(true), nil })
	hasCondition(t, c, cr, v1alpha1.ConditionReadPoolsReady, metav1.ConditionFalse, v1alpha1.ReasonDeleting)
	settled(t, w)
	if now := get(t, c, key, &v1alpha1.PgStorageCluster{}); now.UID != pool.UID || !now.DeletionTimestamp.IsZero() {
		t.Errorf("pool %s, deleted %v; before %s", now.UID, now.DeletionTimestamp, pool.UID)
	}
	if now := get(t, c, key, &cnpgv1.Cluster{}); now.UID != pg.UID || !now.DeletionTimestamp.IsZero() {
		t.Errorf("Cluster %s, deleted %v; before %s", now.UID, now.DeletionTimestamp, pg.UID)
	}
	changed(t, c, cr, func() { cr.Spec.Suspend = nil })
	deletedFirst(t, c, key, pool.UID, pg.UID)
	absent(t, c, key, &v1alpha1.PgStorageCluster{})
}

// The policy of a cluster is that of its pools: with Retain, CloudNativePG goes on alone
// with both.
func TestReadPoolIsRetainedWithItsCluster(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr, pool := pooled(t, c, "pool-retained")
	key := client.ObjectKeyFromObject(pool)
	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	pg := get(t, c, key, &cnpgv1.Cluster{})
	if err := c.Delete(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	gone(t, c, key, &v1alpha1.PgStorageCluster{})
	gone(t, c, client.ObjectKeyFromObject(cr), &v1alpha1.PgStorageCluster{})
	if now := get(t, c, key, &cnpgv1.Cluster{}); now.UID != pg.UID || now.Labels[naming.LabelOwnerUID] != "" {
		t.Errorf("Cluster %s with labels %v", now.UID, now.Labels)
	}
}

func TestFollowerNeedsTheConsentOfItsCluster(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	cr, _ := pooled(t, c, "pool-consent")
	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	// A follower that no pool names, and a PgStorageCluster that has a pool's name.
	thief, taken := cluster(cr.Namespace, "thief", "pool-consent"), cluster(cr.Namespace, "shop-taken", "pool-consent")
	thief.Spec.Follow = &v1alpha1.FollowSpec{Cluster: "shop"}
	create(t, c, thief, taken)
	hasCondition(t, c, thief, v1alpha1.ConditionSourceReady, metav1.ConditionFalse, v1alpha1.ReasonConsentRequired)
	absent(t, c, client.ObjectKeyFromObject(thief), &cnpgv1.Cluster{})
	changed(t, c, cr, func() { cr.Spec.ReadPools = append(cr.Spec.ReadPools, v1alpha1.ReadPool{Name: "taken"}) })
	hasCondition(t, c, cr, v1alpha1.ConditionReadPoolsReady, metav1.ConditionFalse, v1alpha1.ReasonClusterNotOwned)
	if now := get(t, c, client.ObjectKeyFromObject(taken), &v1alpha1.PgStorageCluster{}); now.Spec.Follow != nil || now.Labels[naming.LabelReadPool] != "" {
		t.Errorf("the other's PgStorageCluster became %+v", now.Spec)
	}
}

func TestReadPoolAtRestIsNotWritten(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	cr, pool := pooled(t, c, "pool-rests")
	w.within = "/namespaces/" + cr.Namespace + "/"
	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	get(t, c, client.ObjectKeyFromObject(pool), &cnpgv1.Cluster{})
	simulatedHealthy(t, c, client.ObjectKeyFromObject(pool))
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	hasCondition(t, c, pool, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	rest := settled(t, w)
	for _, object := range []*v1alpha1.PgStorageCluster{cr, pool} {
		changed(t, c, object, func() { metav1.SetMetaDataAnnotation(&object.ObjectMeta, "example.com/note", "wake up") })
	}
	if n := settled(t, w) - rest; n != 0 {
		t.Errorf("%d writes at rest, the last one %v", n, w.last.Load())
	}
	receives(t, c, w, pool)
}

// receives has another instance of a pool receive WAL. One write of its Cluster has the instances
// reload, and no further one.
func receives(t *testing.T, c client.Client, w *writes, pool *v1alpha1.PgStorageCluster) {
	t.Helper()
	key, before := client.ObjectKeyFromObject(pool), w.objects.Load()
	simulatedStatus(t, c, key, func(s *cnpgv1.ClusterStatus) { s.CurrentPrimary, s.TargetPrimary = pool.Name+"-2", pool.Name+"-2" })
	eventually(t, "the parameter that names the instance", func(ctx context.Context) error {
		pg := &cnpgv1.Cluster{}
		if err := c.Get(ctx, key, pg); err != nil {
			return err
		}
		if got := pg.Spec.PostgresConfiguration.Parameters[cnpg.ParameterReceiver]; got != pool.Name+"-2" {
			return fmt.Errorf("it is %q", got)
		}
		return nil
	})
	settled(t, w)
	if n := w.objects.Load() - before; n != 1 {
		t.Errorf("%d writes of objects for another instance, want one; the last one is %v", n, w.last.Load())
	}
}

// cloneIsCut waits until a write was cut, or until the next clone of a pool has all that it
// can have before its database runs. It reports whether a write was cut.
func cloneIsCut(t *testing.T, c client.Client, w *writes, before *v1alpha1.PgStorageCluster) bool {
	t.Helper()
	waits := condition{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonClusterNotHealthy}
	eventually(t, "the cut or the last write", func(ctx context.Context) error {
		if w.count.Load() > w.failAfter {
			return nil
		}
		now := &v1alpha1.PgStorageCluster{}
		now.Namespace, now.Name = before.Namespace, before.Name
		if _, err := waits.on(ctx, c, now); err != nil {
			return err
		}
		if now.UID == before.UID {
			return errors.New("the pool is still the former one")
		}
		return nil
	})
	return w.count.Load() > w.failAfter || settled(t, w) > w.failAfter
}

// A manager that is killed after any write, while a pool is cloned again, is followed by one
// that ends up in the same place.
func TestCloneOfAReadPoolSurvivesACrashAfterAnyWrite(t *testing.T) {
	c := apiserver.Client(t, config)
	storage(t, c, "pool-cut-after")
	cuts := int64(0)
	for ended := false; !ended && !t.Failed(); {
		t.Run(fmt.Sprintf("write %d", cuts+1), func(t *testing.T) {
			stop := manager.Start(t, config)
			cr, pool := pooled(t, c, fmt.Sprintf("pool-cut-%d", cuts+1))
			key := client.ObjectKeyFromObject(pool)
			simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
			database := get(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{})
			before := get(t, c, key, &cnpgv1.Cluster{})
			simulatedHealthy(t, c, key)
			hasCondition(t, c, cr, v1alpha1.ConditionReadPoolsReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
			stop()

			w := &writes{failAfter: cuts + 1, within: "/namespaces/" + cr.Namespace + "/"}
			stop = manager.Start(t, w.into(config))
			changed(t, c, cr, func() { cr.Spec.ReadPools[0].Profile = "pool-cut-after" })
			ended = !cloneIsCut(t, c, w, pool)
			stop()

			stop = manager.Start(t, config)
			deletedFirst(t, c, key, pool.UID, before.UID)
			again := get(t, c, key, &cnpgv1.Cluster{})
			if got := again.Spec.StorageConfiguration.StorageClass; got == nil || *got != "pool-cut-after" {
				t.Errorf("storage class %v", got)
			}
			simulatedHealthy(t, c, key)
			hasCondition(t, c, cr, v1alpha1.ConditionReadPoolsReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
			if now := get(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{}); now.UID != database.UID {
				t.Errorf("the database is another one: %s, before %s", now.UID, database.UID)
			}
			stop()
		})
		cuts++
	}
	// Two statuses, the policy, two deletions, two finalizers, and the objects of another clone.
	if cuts < 8 {
		t.Errorf("a clone took %d writes: too few to be all of them", cuts)
	}
	t.Logf("cut after each of %d writes", cuts-1)
}
