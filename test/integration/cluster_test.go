package integration

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

func create(t *testing.T, c client.Client, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		removedAtTheEnd(t, c, o)
	}
}

func get[T client.Object](t *testing.T, c client.Client, key client.ObjectKey, into T) T {
	t.Helper()
	eventually(t, fmt.Sprintf("%T %s", into, key), func(ctx context.Context) error { return c.Get(ctx, key, into) })
	return into
}

func TestClusterFromApplyToReady(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "ready")
	cr := cluster(ns, "shop", "ready")
	cr.Spec.Postgres.Parameters = map[string]string{"work_mem": "32MB"}
	create(t, c, cr)

	pg := get(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{})
	if len(pg.OwnerReferences) != 0 {
		t.Errorf("the database has ownerReferences %v: garbage collection could take it", pg.OwnerReferences)
	}
	if got := pg.Spec.ImageName; got != "registry.example/postgresql:17" {
		t.Errorf("image %s", got)
	}
	if got := pg.Spec.PostgresConfiguration.Parameters["work_mem"]; got != "32MB" {
		t.Errorf("work_mem %s", got)
	}
	if pg.Spec.Bootstrap == nil || pg.Spec.Bootstrap.InitDB == nil || pg.Spec.Bootstrap.InitDB.DataChecksums == nil || !*pg.Spec.Bootstrap.InitDB.DataChecksums {
		t.Error("data checksums are not on")
	}
	get(t, c, client.ObjectKeyFromObject(cr), &monitoringv1.PodMonitor{})
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonClusterNotHealthy)

	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	hasCondition(t, c, cr, v1alpha1.ConditionMonitored, metav1.ConditionTrue, v1alpha1.ReasonPodMonitorApplied)
	if cr.Status.Endpoints == nil || cr.Status.Endpoints.ReadWrite != "shop-rw."+ns+".svc" {
		t.Errorf("endpoints %+v", cr.Status.Endpoints)
	}
	if cr.Status.Secrets == nil || cr.Status.Secrets.Application != "shop-app" {
		t.Errorf("secrets %+v", cr.Status.Secrets)
	}
	if cr.Status.Durability == nil || len(cr.Status.Durability.Losses) == 0 {
		t.Errorf("durability %+v", cr.Status.Durability)
	}
	sources := map[string]string{}
	for _, p := range cr.Status.Parameters {
		sources[p.Name] = p.Source
		if p.Reason == "" {
			t.Errorf("parameter %s has no reason", p.Name)
		}
	}
	if sources["work_mem"] != "User" || sources["shared_buffers"] != "Computed" {
		t.Errorf("sources %v", sources)
	}
}

func TestQuorumAsksForASynchronousStandby(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "quorum")
	cr := cluster(ns, "bank", "quorum")
	three := int32(3)
	cr.Spec.Instances, cr.Spec.Durability = &three, v1alpha1.DurabilityQuorum
	create(t, c, cr)
	pg := get(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{})
	s := pg.Spec.PostgresConfiguration.Synchronous
	if s == nil || s.Method != cnpgv1.SynchronousReplicaConfigurationMethodAny || s.Number != 1 || s.DataDurability != cnpgv1.DataDurabilityLevelRequired || !s.FailoverQuorum {
		t.Errorf("synchronous %+v", s)
	}
	if got := pg.Spec.PostgresConfiguration.Parameters["synchronous_commit"]; got != "on" {
		t.Errorf("synchronous_commit %q", got)
	}
}

func TestClusterWaitsForItsProfile(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	ns := namespace(t, c)
	w.within = "/namespaces/" + ns + "/"
	cr := cluster(ns, "early", "late")
	create(t, c, cr)
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonProfileNotFound)
	profile(t, c, "late")
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonProfileNotReady)
	absent(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{})
	class := storageClass("late")
	create(t, c, class)
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonClusterNotHealthy)
	settled(t, w)
	pg := get(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{})
	monitor := get(t, c, client.ObjectKeyFromObject(cr), &monitoringv1.PodMonitor{})

	// The class vanishing later holds back changes and touches nothing.
	if err := c.Delete(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonProfileNotReady)
	settled(t, w)
	untouched(t, c, pg, &cnpgv1.Cluster{})
	untouched(t, c, monitor, &monitoringv1.PodMonitor{})
}

// untouched says that an object is the one that was read before, with the same spec. now is an
// empty one of its type.
func untouched[T client.Object](t *testing.T, c client.Client, before, now T) {
	t.Helper()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(before), now); err != nil {
		t.Fatal(err)
	}
	if now.GetUID() != before.GetUID() || now.GetGeneration() != before.GetGeneration() || !now.GetDeletionTimestamp().IsZero() {
		t.Errorf("%T %s has UID %s and generation %d, deleted %v; before UID %s and generation %d",
			now, now.GetName(), now.GetUID(), now.GetGeneration(), now.GetDeletionTimestamp(), before.GetUID(), before.GetGeneration())
	}
}

func absent[T client.Object](t *testing.T, c client.Client, key client.ObjectKey, obj T) {
	t.Helper()
	if err := c.Get(t.Context(), key, obj); !apierrors.IsNotFound(err) {
		t.Errorf("%T %s exists (%v)", obj, key, err)
	}
}

func gone[T client.Object](t *testing.T, c client.Client, key client.ObjectKey, obj T) {
	t.Helper()
	eventually(t, fmt.Sprintf("%T %s to be gone", obj, key), func(ctx context.Context) error {
		err := c.Get(ctx, key, obj)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it exists"), err)
	})
}

func TestNamesakeIsNotTakenOver(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "namesake")
	strange := &cnpgv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "shop"},
		Spec:       cnpgv1.ClusterSpec{Instances: 2, StorageConfiguration: cnpgv1.StorageConfiguration{Size: "5Gi"}},
	}
	create(t, c, strange)
	cr := cluster(ns, "shop", "namesake")
	create(t, c, cr)
	got := hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonClusterNotOwned)
	if !strings.Contains(got.Message, naming.AnnotationAdopt) {
		t.Errorf("the message does not tell how to adopt: %s", got.Message)
	}
	hasCondition(t, c, cr, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonClusterNotOwned)
	version := strange.ResourceVersion
	pg := get(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{})
	if pg.ResourceVersion != version {
		t.Error("a stranger's Cluster was written to")
	}

	// Deleting the PgStorageCluster leaves it alone too.
	if err := c.Delete(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	gone(t, c, client.ObjectKeyFromObject(cr), &v1alpha1.PgStorageCluster{})
	pg = get(t, c, client.ObjectKeyFromObject(strange), &cnpgv1.Cluster{})
	if pg.ResourceVersion != version || pg.DeletionTimestamp != nil {
		t.Error("a stranger's Cluster was touched by a deletion")
	}
}

func TestNamesakeIsAdoptedWithConsent(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "adopt")
	old := &cnpgv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "shop", Annotations: map[string]string{naming.AnnotationAdopt: "shop"}},
		Spec:       cnpgv1.ClusterSpec{Instances: 1, StorageConfiguration: cnpgv1.StorageConfiguration{Size: "1Gi"}},
	}
	create(t, c, old)
	cr := cluster(ns, "shop", "adopt")
	create(t, c, cr)
	eventually(t, "the adoption", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(old), old); err != nil {
			return err
		}
		if old.Labels[naming.LabelOwnerUID] != string(cr.UID) {
			return fmt.Errorf("labels %v", old.Labels)
		}
		return nil
	})
}

// A Cluster with settings that are refused is not taken over, and nothing of it changes.
func TestUnsafeNamesakeIsNotAdopted(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "unsafe-adopt")
	old := &cnpgv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "shop", Annotations: map[string]string{naming.AnnotationAdopt: "shop"}},
		Spec:       cnpgv1.ClusterSpec{Instances: 1, StorageConfiguration: cnpgv1.StorageConfiguration{Size: "1Gi"}},
	}
	old.Spec.PostgresConfiguration.Parameters = map[string]string{"fsync": "off"}
	create(t, c, old)
	version := old.ResourceVersion
	cr := cluster(ns, "shop", "unsafe-adopt")
	create(t, c, cr)
	got := hasCondition(t, c, cr, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonAdoptionRefused)
	if !strings.Contains(got.Message, "spec.postgresql.parameters[fsync]: off is unsafe") {
		t.Errorf("message %s", got.Message)
	}
	if pg := get(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{}); pg.ResourceVersion != version {
		t.Error("the Cluster was written to")
	}
}

// The manager reverts manual changes of the child, also where the default of Postgres is meant.
func TestUnsafeEditsOfTheChildAreReverted(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "unsafe-edit")
	cr := cluster(ns, "shop", "unsafe-edit")
	create(t, c, cr)
	key := client.ObjectKeyFromObject(cr)
	pg := get(t, c, key, &cnpgv1.Cluster{})
	queries := client.ObjectKey{Namespace: ns, Name: naming.DurabilityQueries(cr.Name, string(cr.UID))}
	text := get(t, c, queries, &corev1.ConfigMap{}).Data[naming.DurabilityQueriesKey]
	before := pg.DeepCopy()
	unsafe := map[string]string{"fsync": "off", "full_page_writes": "off", "zero_damaged_pages": "on"}
	maps.Copy(pg.Spec.PostgresConfiguration.Parameters, unsafe)
	if err := c.Patch(t.Context(), pg, client.MergeFrom(before), client.FieldOwner("somebody")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the repair", func(ctx context.Context) error {
		if err := c.Get(ctx, key, pg); err != nil {
			return err
		}
		for name, value := range unsafe {
			if pg.Spec.PostgresConfiguration.Parameters[name] == value {
				return fmt.Errorf("%s is %s", name, value)
			}
		}
		return nil
	})
	if !strings.Contains(text, "pg_db_role_setting") {
		t.Errorf("queries %s", text)
	}
	if m := pg.Spec.Monitoring; m == nil || len(m.CustomQueriesConfigMap) != 1 || m.CustomQueriesConfigMap[0].Name != queries.Name {
		t.Errorf("monitoring %+v", m)
	}
	// Nothing is promised that was not read back.
	eventually(t, "the statement", func(ctx context.Context) error {
		if err := c.Get(ctx, key, cr); err != nil {
			return err
		}
		if d := cr.Status.Durability; d == nil || len(d.Losses) == 0 {
			return fmt.Errorf("durability %+v", d)
		}
		for _, l := range cr.Status.Durability.Losses {
			if l.AcknowledgedCommits == "Kept" {
				return fmt.Errorf("%+v", l)
			}
		}
		return nil
	})
}

func TestDeletedDatabaseIsCreatedAgainOnlyBeforeItHeldData(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "byhand")
	cr := cluster(ns, "shop", "byhand")
	create(t, c, cr)
	key := client.ObjectKeyFromObject(cr)
	first := get(t, c, key, &cnpgv1.Cluster{})
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonClusterNotHealthy)

	// Before it held data, it is made again.
	if err := c.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	second := &cnpgv1.Cluster{}
	eventually(t, "a second Cluster", func(ctx context.Context) error {
		if err := c.Get(ctx, key, second); err != nil {
			return err
		}
		if second.UID == first.UID {
			return errors.New("still the first")
		}
		return nil
	})

	// After it held data, an empty one never takes its place.
	simulatedHealthy(t, c, key)
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	if err := c.Delete(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonClusterDeleted)
	absent(t, c, key, &cnpgv1.Cluster{})

	// With consent it does.
	before := cr.DeepCopy()
	cr.Annotations = map[string]string{naming.AnnotationRecreate: string(second.UID)}
	if err := c.Patch(t.Context(), cr, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	get(t, c, key, &cnpgv1.Cluster{})
}

func TestDriftIsRepaired(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "drift")
	cr := cluster(ns, "shop", "drift")
	create(t, c, cr)
	key := client.ObjectKeyFromObject(cr)
	pg := get(t, c, key, &cnpgv1.Cluster{})
	wanted := pg.Spec.PostgresConfiguration.Parameters["shared_buffers"]
	before := pg.DeepCopy()
	pg.Spec.PostgresConfiguration.Parameters["shared_buffers"] = "1MB"
	pg.Spec.Description = "somebody's own field"
	if err := c.Patch(t.Context(), pg, client.MergeFrom(before), client.FieldOwner("somebody")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the repair", func(ctx context.Context) error {
		if err := c.Get(ctx, key, pg); err != nil {
			return err
		}
		if got := pg.Spec.PostgresConfiguration.Parameters["shared_buffers"]; got != wanted {
			return fmt.Errorf("shared_buffers %s", got)
		}
		return nil
	})
	if pg.Spec.Description == "" {
		t.Error("a field that we do not claim was taken from its owner")
	}
}

func TestDeletionPolicyDecidesWhatStays(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	ns := namespace(t, c)
	w.within = "/namespaces/" + ns + "/"
	storage(t, c, "deletion")
	for _, policy := range []v1alpha1.DeletionPolicy{v1alpha1.DeletionRetain, v1alpha1.DeletionDelete} {
		t.Run(string(policy), func(t *testing.T) {
			cr := cluster(ns, "del-"+strings.ToLower(string(policy)), "deletion")
			cr.Spec.DeletionPolicy = policy
			create(t, c, cr)
			key := client.ObjectKeyFromObject(cr)
			get(t, c, key, &cnpgv1.Cluster{})
			simulatedHealthy(t, c, key)
			hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
			settled(t, w)
			before := get(t, c, key, &cnpgv1.Cluster{})
			if err := c.Delete(t.Context(), cr); err != nil {
				t.Fatal(err)
			}
			gone(t, c, key, &v1alpha1.PgStorageCluster{})
			if policy == v1alpha1.DeletionDelete {
				gone(t, c, key, &cnpgv1.Cluster{})
				return
			}
			settled(t, w)
			pg := &cnpgv1.Cluster{}
			untouched(t, c, before, pg)
			if pg.Labels[naming.LabelManagedBy] != "" {
				t.Errorf("the retained Cluster has labels %v", pg.Labels)
			}
		})
	}
}

// A claim without a volume is named, on any storage, until it has one.
func TestClaimsWithoutAVolumeAreNamed(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	ns := namespace(t, c)
	w.within = "/namespaces/" + ns + "/"
	storage(t, c, "pending")
	cr := cluster(ns, "shop", "pending")
	create(t, c, cr)
	key := client.ObjectKeyFromObject(cr)
	get(t, c, key, &cnpgv1.Cluster{})
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonClusterNotHealthy)
	claims := map[string]*corev1.PersistentVolumeClaim{}
	owner := controlled(t, c, cr)
	for name, database := range map[string]string{"shop-1": cr.Name, "shop-1-wal": cr.Name, "shop-2": cr.Name, "other-1": "other", "kept-1": cr.Name} {
		claims[name] = unboundClaim(ns, name, database)
		if name != "kept-1" {
			claims[name].OwnerReferences = owner
		}
		create(t, c, claims[name])
	}
	simulatedStatus(t, c, key, func(s *cnpgv1.ClusterStatus) {
		s.Phase, s.PhaseReason, s.DanglingPVC = cnpgv1.PhaseFirstPrimary, "Creating primary instance shop-1", []string{"shop-2"}
	})
	want := "0 of 1 instances are ready; claims without a volume: shop-1, shop-1-wal (see kubectl -n " + ns + " describe pvc); CloudNativePG: Setting up primary: Creating primary instance shop-1"
	// A pass may have seen some of the claims alone.
	eventually(t, want, func(ctx context.Context) error {
		database, err := condition{v1alpha1.ConditionDatabaseReady, metav1.ConditionFalse, v1alpha1.ReasonVolumesPending}.on(ctx, c, cr)
		if err == nil && database.Message != want {
			err = errors.New(database.Message)
		}
		return err
	})
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonVolumesPending)
	settled(t, w)
	for name, claim := range claims {
		if name != "other-1" {
			changed(t, c, claim, func() { claim.Spec.VolumeName = "pv-" + name })
		}
	}
	hasCondition(t, c, cr, v1alpha1.ConditionDatabaseReady, metav1.ConditionFalse, v1alpha1.ReasonClusterNotHealthy)
	simulatedHealthy(t, c, key)
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
}

// unboundClaim is one of the database, as CloudNativePG makes it.
func unboundClaim(namespace, name, database string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{naming.LabelCNPGCluster: database}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
}

func TestSuspendTouchesNothing(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "suspend")
	cr := cluster(ns, "shop", "suspend")
	yes := true
	create(t, c, cr)
	key := client.ObjectKeyFromObject(cr)
	get(t, c, key, &cnpgv1.Cluster{})
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonClusterNotHealthy)
	before := cr.DeepCopy()
	cr.Spec.Suspend = &yes
	cr.Spec.Postgres.Parameters = map[string]string{"work_mem": "77MB"}
	if err := c.Patch(t.Context(), cr, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSuspended)
	pg := get(t, c, key, &cnpgv1.Cluster{})
	if pg.Spec.PostgresConfiguration.Parameters["work_mem"] == "77MB" {
		t.Error("a suspended cluster was changed")
	}
	// What another writer does is reported all the same.
	edited := pg.DeepCopy()
	pg.Spec.PostgresConfiguration.Parameters["synchronous_commit"] = "off"
	if err := c.Patch(t.Context(), pg, client.MergeFrom(edited), client.FieldOwner("somebody")); err != nil {
		t.Fatal(err)
	}
	hasCondition(t, c, cr, v1alpha1.ConditionDurabilityVerified, metav1.ConditionFalse, v1alpha1.ReasonDurabilityWeakened)
	before = cr.DeepCopy()
	cr.Spec.Suspend = nil
	if err := c.Patch(t.Context(), cr, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the change after suspend", func(ctx context.Context) error {
		if err := c.Get(ctx, key, pg); err != nil {
			return err
		}
		if got := pg.Spec.PostgresConfiguration.Parameters["work_mem"]; got != "77MB" {
			return fmt.Errorf("work_mem %s", got)
		}
		return nil
	})
}

// While spec.suspend is true a deletion waits, and deletionPolicy Delete deletes nothing.
func TestSuspendHoldsADeletion(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	ns := namespace(t, c)
	w.within = "/namespaces/" + ns + "/"
	storage(t, c, "suspend-deletion")
	cr := cluster(ns, "shop", "suspend-deletion")
	cr.Spec.DeletionPolicy = v1alpha1.DeletionDelete
	create(t, c, cr)
	key := client.ObjectKeyFromObject(cr)
	simulatedHealthy(t, c, key)
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	pg := get(t, c, key, &cnpgv1.Cluster{})
	changed(t, c, cr, func() { cr.Spec.Suspend = new(true) })
	if err := c.Delete(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	got := hasCondition(t, c, cr, v1alpha1.ConditionDatabaseReady, metav1.ConditionFalse, v1alpha1.ReasonSuspended)
	if !strings.Contains(got.Message, "the deletion waits") {
		t.Errorf("message %s", got.Message)
	}
	settled(t, w)
	if now := get(t, c, key, &cnpgv1.Cluster{}); now.UID != pg.UID || !now.DeletionTimestamp.IsZero() {
		t.Errorf("Cluster %s, deleted %v; before %s", now.UID, now.DeletionTimestamp, pg.UID)
	}
	changed(t, c, cr, func() { cr.Spec.Suspend = nil })
	gone(t, c, key, &v1alpha1.PgStorageCluster{})
	gone(t, c, key, &cnpgv1.Cluster{})
}

func TestRefusedParametersChangeNothing(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "refused")
	cr := cluster(ns, "shop", "refused")
	create(t, c, cr)
	key := client.ObjectKeyFromObject(cr)
	get(t, c, key, &cnpgv1.Cluster{})
	before := cr.DeepCopy()
	cr.Spec.Postgres.Parameters = map[string]string{"work_mem": "88MB", "work_men": "1MB"}
	if err := c.Patch(t.Context(), cr, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	hasCondition(t, c, cr, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonInvalidParameters)
	pg := get(t, c, key, &cnpgv1.Cluster{})
	if pg.Spec.PostgresConfiguration.Parameters["work_mem"] == "88MB" {
		t.Error("a refused spec was half applied")
	}
}

func TestEscapeHatchReachesTheDatabase(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "hatch")
	cr := cluster(ns, "shop", "hatch")
	cr.Spec.CNPG = &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(`{"affinity":{"topologyKey":"topology.kubernetes.io/zone"},"postgresql":{"shared_preload_libraries":["auto_explain"]}}`)}}
	create(t, c, cr)
	pg := get(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{})
	if pg.Spec.Affinity.TopologyKey != "topology.kubernetes.io/zone" || len(pg.Spec.PostgresConfiguration.AdditionalLibraries) != 1 {
		t.Errorf("overrides did not arrive: %+v", pg.Spec.Affinity)
	}
	unsafe := cluster(ns, "unsafe", "hatch")
	unsafe.Spec.CNPG = &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(`{"postgresql":{"parameters":{"fsync":"off"}}}`)}}
	create(t, c, unsafe)
	hasCondition(t, c, unsafe, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonOverrideRefused)
	absent(t, c, client.ObjectKeyFromObject(unsafe), &cnpgv1.Cluster{})
	wrong := cluster(ns, "wrong", "hatch")
	wrong.Spec.CNPG = &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(`{"affinity":{"podAntiAffinityType":7}}`)}}
	create(t, c, wrong)
	hasCondition(t, c, wrong, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonOverrideRefused)
}

// Zero values that a user sets are not taken for drift: CloudNativePG's Go types omit them.
func TestOverridesWithZeroValuesAreNotDrift(t *testing.T) {
	c := apiserver.Client(t, config)
	w := &writes{}
	manager.Start(t, w.into(config))
	ns := namespace(t, c)
	w.within = "/namespaces/" + ns + "/"
	storage(t, c, "zeros")
	cr := cluster(ns, "shop", "zeros")
	cr.Spec.CNPG = &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(`{"failoverDelay":0,"nodeMaintenanceWindow":{"inProgress":false},"monitoring":{"tls":{"enabled":false}},"affinity":{"tolerations":[]},"managed":{"roles":[{"name":"app2","login":true,"superuser":false}]}}`)}}
	create(t, c, cr)
	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	rest := settled(t, w)
	changed(t, c, cr, func() { metav1.SetMetaDataAnnotation(&cr.ObjectMeta, "example.com/note", "wake up") })
	if n := settled(t, w) - rest; n != 0 {
		t.Errorf("%d writes at rest, the last one %v", n, w.last.Load())
	}
	list := &corev1.EventList{}
	if err := c.List(t.Context(), list, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	for _, e := range list.Items {
		if e.Reason == "DriftRepaired" {
			t.Errorf("%s", e.Message)
		}
	}
}

func TestStuckPhaseIsReported(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "stuck")
	cr := cluster(ns, "shop", "stuck")
	create(t, c, cr)
	simulatedPhase(t, c, client.ObjectKeyFromObject(cr), cnpgv1.PhaseUnrecoverable, "no primary")
	got := hasCondition(t, c, cr, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonClusterStuck)
	if !strings.Contains(got.Message, "no primary") {
		t.Errorf("message %s", got.Message)
	}
}

func TestProfileInUseIsNotDeleted(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "held")
	cr := cluster(ns, "user", "held")
	create(t, c, cr)
	get(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{})
	p := get(t, c, client.ObjectKey{Name: "held"}, &v1alpha1.PgStorageProfile{})
	if err := c.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the profile to say who uses it", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(p), p); err != nil {
			return err
		}
		for _, cond := range p.Status.Conditions {
			if cond.Type == v1alpha1.ConditionReady && cond.Reason == v1alpha1.ReasonInUse && strings.Contains(cond.Message, ns+"/user") {
				return nil
			}
		}
		return fmt.Errorf("conditions %+v", p.Status.Conditions)
	})
	if err := c.Delete(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	gone(t, c, client.ObjectKeyFromObject(p), &v1alpha1.PgStorageProfile{})
}
