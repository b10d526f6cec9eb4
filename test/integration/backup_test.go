package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// backedUp is a database with a backup every night into the ObjectStore lake.
func backedUp(ns, profile string) *v1alpha1.PgStorageCluster {
	cr := cluster(ns, "shop", profile)
	cr.Spec.Backup = &v1alpha1.BackupSpec{
		ObjectStore: v1alpha1.BackupObjectStore{Name: "lake"},
		Schedules:   []v1alpha1.BackupSchedule{{Name: "nightly", Schedule: "30 2 * * *"}, {Name: "weekly", Schedule: "@weekly"}},
	}
	return cr
}

// lake is an ObjectStore that no plugin looks after.
func lake(ns string) *unstructured.Unstructured {
	key := func(name string) map[string]any { return map[string]any{"name": "keys", "key": name} }
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "barmancloud.cnpg.io/v1", "kind": "ObjectStore",
		"spec": map[string]any{
			"retentionPolicy": "30d",
			"configuration": map[string]any{
				"destinationPath": "s3://lake/backups", "endpointURL": "http://s3.example",
				"s3Credentials": map[string]any{"accessKeyId": key("ACCESS_KEY_ID"), "secretAccessKey": key("ACCESS_SECRET_KEY")},
				"wal":           map[string]any{"compression": "gzip", "encryption": "AES256"},
			},
		},
	}}
	o.SetNamespace(ns)
	o.SetName("lake")
	return o
}

// simulatedWindow writes what the plugin reports of a server.
func simulatedWindow(t *testing.T, c client.Client, ns, server string, first time.Time) {
	t.Helper()
	store := lake(ns)
	changedStatus(t, c, store, func() error {
		return unstructured.SetNestedMap(store.Object, map[string]any{server: map[string]any{
			"firstRecoverabilityPoint": first.UTC().Format(time.RFC3339), "lastSuccessfulBackupTime": time.Now().UTC().Format(time.RFC3339),
		}}, "status", "serverRecoveryWindow")
	})
}

// changedStatus of an object of another operator.
func changedStatus(t *testing.T, c client.Client, o *unstructured.Unstructured, change func() error) {
	t.Helper()
	eventually(t, "the simulated status of "+o.GetName(), func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		if err := change(); err != nil {
			return err
		}
		return c.Status().Update(ctx, o)
	})
}

// scheduled waits until these are the ScheduledBackups of a namespace.
func scheduled(t *testing.T, c client.Client, ns string, names ...string) []cnpgv1.ScheduledBackup {
	t.Helper()
	list := &cnpgv1.ScheduledBackupList{}
	eventually(t, fmt.Sprintf("the ScheduledBackups %v", names), func(ctx context.Context) error {
		if err := c.List(ctx, list, client.InNamespace(ns)); err != nil {
			return err
		}
		var have []string
		for _, b := range list.Items {
			have = append(have, b.Name)
		}
		if slices.Sort(have); !slices.Equal(have, names) {
			return fmt.Errorf("%v", have)
		}
		return nil
	})
	return list.Items
}

func TestBackupFromDeclaredToRetained(t *testing.T) {
	c := apiserver.Client(t, config)
	ns := namespace(t, c)
	w := &writes{within: "/namespaces/" + ns + "/"}
	manager.Start(t, w.into(config))
	storage(t, c, "backups")
	cr := backedUp(ns, "backups")
	cr.Spec.Backup.Target = v1alpha1.BackupPrimary
	key := client.ObjectKeyFromObject(cr)
	create(t, c, cr)
	hasCondition(t, c, cr, v1alpha1.ConditionBackedUp, metav1.ConditionFalse, v1alpha1.ReasonObjectStoreNotFound)
	absent(t, c, key, &cnpgv1.Cluster{})

	create(t, c, lake(ns))
	// A change has the operator look before its next round.
	changed(t, c, cr, func() { cr.Spec.Postgres.Parameters = map[string]string{"work_mem": "8MB"} })
	pg := get(t, c, key, &cnpgv1.Cluster{})
	if p := pg.Spec.Plugins; len(p) != 1 || p[0].Name != cnpg.Plugin || p[0].IsWALArchiver == nil || !*p[0].IsWALArchiver || p[0].Parameters["barmanObjectName"] != "lake" || p[0].Parameters["serverName"] != "shop" || pg.Spec.Backup == nil || pg.Spec.Backup.Target != cnpgv1.BackupTargetPrimary {
		t.Errorf("plugins %+v, backup %+v", p, pg.Spec.Backup)
	}
	simulatedHealthy(t, c, key)
	scheduled(t, c, ns) // a backup would wait for the archive
	simulatedArchiving(t, c, key, metav1.ConditionTrue, "")
	for _, b := range scheduled(t, c, ns, "shop-nightly", "shop-weekly") {
		if o := b.OwnerReferences; len(o) != 1 || o[0].UID != pg.UID || b.Spec.Method != cnpgv1.BackupMethodPlugin || !b.IsImmediate() {
			t.Errorf("%s: owners %+v, spec %+v", b.Name, o, b.Spec)
		}
	}
	hasCondition(t, c, cr, v1alpha1.ConditionBackedUp, metav1.ConditionFalse, v1alpha1.ReasonFirstBackupPending)
	// The database serves while it has no backup yet.
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)

	first := time.Now().Add(time.Second).Truncate(time.Second)
	simulatedWindow(t, c, ns, "shop", first)
	hasCondition(t, c, cr, v1alpha1.ConditionBackedUp, metav1.ConditionTrue, v1alpha1.ReasonRecoverable)
	if b := cr.Status.Backup; b == nil || b.Server != "shop" || b.Retention != "30d" || b.WALCompression != "gzip" || b.Encryption != "AES256" || !b.FirstRecoverabilityPoint.Time.Equal(first) {
		t.Errorf("status.backup is %+v", b)
	}
	rest := settled(t, w)
	changed(t, c, cr, func() { cr.Annotations = map[string]string{"example.com/note": "wake up"} })
	if n := settled(t, w) - rest; n != 0 {
		t.Errorf("%d writes at rest", n)
	}
	simulatedArchiving(t, c, key, metav1.ConditionFalse, "exit status 4")
	hasCondition(t, c, cr, v1alpha1.ConditionBackedUp, metav1.ConditionFalse, v1alpha1.ReasonArchivingFailing)
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)

	changed(t, c, cr, func() { cr.Spec.Backup.Schedules = cr.Spec.Backup.Schedules[:1] })
	scheduled(t, c, ns, "shop-nightly")

	if err := c.Delete(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	gone(t, c, key, &v1alpha1.PgStorageCluster{})
	if left := scheduled(t, c, ns, "shop-nightly")[0]; len(left.Labels) != 0 || left.DeletionTimestamp != nil || left.Spec.Cluster.Name != "shop" {
		t.Errorf("the retained ScheduledBackup is %+v", left.ObjectMeta)
	}
}

// A manager dies after any write of a deletion with Retain, and the next one completes it.
// Nothing keeps our labels, and an event says how to delete the database.
func TestRetainSurvivesACrashAfterAnyWrite(t *testing.T) {
	c := apiserver.Client(t, config)
	storage(t, c, "retain-cut")
	cuts := int64(0)
	for ended := false; !ended && !t.Failed(); cuts++ {
		t.Run(fmt.Sprintf("write %d", cuts+1), func(t *testing.T) {
			ns := namespace(t, c)
			stop := manager.Start(t, config)
			cr := backedUp(ns, "retain-cut")
			key := client.ObjectKeyFromObject(cr)
			create(t, c, lake(ns), cr)
			simulatedHealthy(t, c, key)
			simulatedArchiving(t, c, key, metav1.ConditionTrue, "")
			scheduled(t, c, ns, "shop-nightly", "shop-weekly")
			stop()
			if err := c.Delete(t.Context(), cr); err != nil {
				t.Fatal(err)
			}
			w := &writes{failAfter: cuts + 1, within: "/namespaces/" + ns + "/"}
			stop = manager.Start(t, w.into(config))
			eventually(t, "the cut or the end", func(ctx context.Context) error {
				if w.count.Load() > w.failAfter {
					return nil
				}
				err := c.Get(ctx, key, &v1alpha1.PgStorageCluster{})
				if ended = apierrors.IsNotFound(err); ended {
					return nil
				}
				return errors.Join(fmt.Errorf("%d writes", w.count.Load()), err)
			})
			if len(get(t, c, key, &cnpgv1.Cluster{}).Labels) == 0 {
				emitted(t, c, ns, "DatabaseRetained")
			}
			stop()
			stop = manager.Start(t, config)
			gone(t, c, key, &v1alpha1.PgStorageCluster{})
			emitted(t, c, ns, "DatabaseRetained")
			if left := get(t, c, key, &cnpgv1.Cluster{}).Labels; len(left) != 0 {
				t.Errorf("the Cluster has labels %v", left)
			}
			for _, b := range scheduled(t, c, ns, "shop-nightly", "shop-weekly") {
				if len(b.Labels) != 0 {
					t.Errorf("ScheduledBackup %s has labels %v", b.Name, b.Labels)
				}
			}
			stop()
		})
	}
	// Two ScheduledBackups, the Cluster and the finalizer.
	if cuts < 4 {
		t.Errorf("the deletion took %d writes: too few to be all of them", cuts)
	}
}

// emitted waits for an event with a reason in a namespace.
func emitted(t *testing.T, c client.Client, ns, reason string) {
	t.Helper()
	eventually(t, "the event "+reason, func(ctx context.Context) error {
		list := &corev1.EventList{}
		if err := c.List(ctx, list, client.InNamespace(ns)); err != nil {
			return err
		}
		if !slices.ContainsFunc(list.Items, func(e corev1.Event) bool { return e.Reason == reason }) {
			return fmt.Errorf("not among %d events", len(list.Items))
		}
		return nil
	})
}

// simulatedArchiving writes what CloudNativePG reports of the archive.
func simulatedArchiving(t *testing.T, c client.Client, key client.ObjectKey, status metav1.ConditionStatus, message string) {
	t.Helper()
	simulatedStatus(t, c, key, func(s *cnpgv1.ClusterStatus) {
		meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: string(cnpgv1.ConditionContinuousArchiving), Status: status, Reason: "Simulated", Message: message})
	})
}

// A ScheduledBackup of another database keeps its own.
func TestScheduleOfAnotherDatabaseIsLeftAlone(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "backups-foreign")
	other := &cnpgv1.ScheduledBackup{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "shop-nightly"},
		Spec:       cnpgv1.ScheduledBackupSpec{Schedule: "0 0 5 * * *", Cluster: cnpgv1.LocalObjectReference{Name: "other"}, Method: cnpgv1.BackupMethodPlugin},
	}
	create(t, c, lake(ns), other)
	cr := backedUp(ns, "backups-foreign")
	create(t, c, cr)
	simulatedHealthy(t, c, client.ObjectKeyFromObject(cr))
	hasCondition(t, c, cr, v1alpha1.ConditionBackedUp, metav1.ConditionFalse, v1alpha1.ReasonClusterNotOwned)
	if got := get(t, c, client.ObjectKeyFromObject(other), &cnpgv1.ScheduledBackup{}); got.Spec.Schedule != "0 0 5 * * *" || got.Labels[naming.LabelManagedBy] != "" {
		t.Errorf("it became %+v", got.Spec)
	}
}

// A database is Ready although the API server rejects its ScheduledBackups and its
// PodMonitor. What else belongs to it is applied.
func TestRejectedBackupAndPodMonitorLeaveTheDatabaseReady(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "backups-rejected")
	create(t, c, lake(ns))
	quota := admitsNone(t, c, ns, "scheduledbackups.postgresql.cnpg.io", "podmonitors.monitoring.coreos.com")
	cr := backedUp(ns, "backups-rejected")
	cr.Spec.Benchmark = &v1alpha1.InlineBenchmark{}
	key := client.ObjectKeyFromObject(cr)
	create(t, c, cr)
	simulatedHealthy(t, c, key)
	simulatedArchiving(t, c, key, metav1.ConditionTrue, "")
	for _, kind := range []string{v1alpha1.ConditionBackedUp, v1alpha1.ConditionMonitored} {
		if got := hasCondition(t, c, cr, kind, metav1.ConditionFalse, v1alpha1.ReasonRejected); !strings.Contains(got.Message, "exceeded quota") {
			t.Errorf("%s: %s", kind, got.Message)
		}
	}
	hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	benchmarks := &v1alpha1.PgBenchmarkList{}
	if err := c.List(t.Context(), benchmarks, client.InNamespace(ns)); err != nil || len(benchmarks.Items) != 1 {
		t.Errorf("%d benchmarks, %v", len(benchmarks.Items), err)
	}
	scheduled(t, c, ns)

	if err := c.Delete(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	changed(t, c, cr, func() { cr.Annotations = map[string]string{"example.com/note": "wake up"} })
	scheduled(t, c, ns, "shop-nightly", "shop-weekly")
	hasCondition(t, c, cr, v1alpha1.ConditionMonitored, metav1.ConditionTrue, v1alpha1.ReasonPodMonitorApplied)
}

// A store that disappears leaves the database as it is.
func TestDatabaseOutlivesItsObjectStore(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	storage(t, c, "backups-gone")
	cr := backedUp(ns, "backups-gone")
	key := client.ObjectKeyFromObject(cr)
	create(t, c, lake(ns), cr)
	simulatedHealthy(t, c, key)
	simulatedArchiving(t, c, key, metav1.ConditionTrue, "")
	scheduled(t, c, ns, "shop-nightly", "shop-weekly")
	if err := c.Delete(t.Context(), lake(ns)); err != nil {
		t.Fatal(err)
	}
	changed(t, c, cr, func() { cr.Spec.Postgres.Parameters = map[string]string{"work_mem": "8MB"} })
	eventually(t, "the parameter in the Cluster", func(ctx context.Context) error {
		pg := &cnpgv1.Cluster{}
		if err := c.Get(ctx, key, pg); err != nil {
			return err
		}
		if !cnpg.HasPlugin(pg) || pg.Spec.PostgresConfiguration.Parameters["work_mem"] != "8MB" {
			return fmt.Errorf("plugins %+v, parameters %v", pg.Spec.Plugins, pg.Spec.PostgresConfiguration.Parameters)
		}
		return nil
	})
	hasCondition(t, c, cr, v1alpha1.ConditionBackedUp, metav1.ConditionFalse, v1alpha1.ReasonObjectStoreNotFound)
	scheduled(t, c, ns, "shop-nightly", "shop-weekly")
}

// A manager is killed after any write of a database with backups. The next one ends up in
// the same place.
func TestBackupSurvivesACrashAfterAnyWrite(t *testing.T) {
	c := apiserver.Client(t, config)
	storage(t, c, "backups-crash")
	cuts := int64(0)
	for whole := false; !whole && !t.Failed(); cuts++ {
		t.Run(fmt.Sprintf("write %d", cuts+1), func(t *testing.T) {
			ns := namespace(t, c)
			cut := &writes{failAfter: cuts + 1, within: "/namespaces/" + ns + "/"}
			stop := manager.Start(t, cut.into(config))
			cr := backedUp(ns, "backups-crash")
			create(t, c, lake(ns), cr)
			key := client.ObjectKeyFromObject(cr)
			want := condition{v1alpha1.ConditionBackedUp, metav1.ConditionTrue, v1alpha1.ReasonRecoverable}
			eventually(t, "the cut or the last write", func(ctx context.Context) error {
				if cut.count.Load() > cut.failAfter {
					return nil
				}
				pg := &cnpgv1.Cluster{}
				if err := c.Get(ctx, key, pg); err == nil && pg.Status.ReadyInstances == 0 {
					simulatedHealthy(t, c, key)
					simulatedArchiving(t, c, key, metav1.ConditionTrue, "")
					simulatedWindow(t, c, ns, "shop", time.Now().Add(time.Second))
				}
				_, err := want.on(ctx, c, cr)
				return err
			})
			whole = cut.count.Load() <= cut.failAfter && settled(t, cut) <= cut.failAfter
			stop()
			manager.Start(t, config)
			simulatedHealthy(t, c, key)
			simulatedArchiving(t, c, key, metav1.ConditionTrue, "")
			simulatedWindow(t, c, ns, "shop", time.Now().Add(time.Second))
			hasCondition(t, c, cr, want.kind, want.status, want.reason)
			scheduled(t, c, ns, "shop-nightly", "shop-weekly")
		})
	}
	if cuts < 5 {
		t.Errorf("it took %d writes, too few to be all of them", cuts-1)
	}
	t.Logf("cut after each of %d writes", cuts-1)
}

func TestRestoreIsDeclaredOnce(t *testing.T) {
	c := apiserver.Client(t, config)
	manager.Start(t, config)
	ns := namespace(t, c)
	create(t, c, storageClass("backups-restore"))
	p := &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "backups-restore"},
		Spec: v1alpha1.PgStorageProfileSpec{
			Type: v1alpha1.ProfileTypeExternal, External: &v1alpha1.ExternalProfile{StorageClassName: "backups-restore"},
			AllowedOverrides: []string{"bootstrap.recovery", "externalClusters"},
		},
	}
	create(t, c, p, lake(ns))
	first := time.Now().Add(-time.Hour).Truncate(time.Second)
	simulatedWindow(t, c, ns, "old", first)
	cr := cluster(ns, "copied", p.Name)
	early := first.Add(-time.Minute).UTC().Format(time.RFC3339)
	cr.Spec.Origin = &v1alpha1.OriginSpec{ObjectStore: "lake", Server: "old", TargetTime: early}
	create(t, c, cr)
	hasCondition(t, c, cr, v1alpha1.ConditionSourceReady, metav1.ConditionFalse, v1alpha1.ReasonOriginRefused)
	absent(t, c, client.ObjectKeyFromObject(cr), &cnpgv1.Cluster{})

	again := cluster(ns, "again", p.Name)
	again.Spec.Origin = &v1alpha1.OriginSpec{ObjectStore: "lake", Server: "old"}
	create(t, c, again)
	pg := get(t, c, client.ObjectKeyFromObject(again), &cnpgv1.Cluster{})
	r := pg.Spec.Bootstrap.Recovery
	if r == nil || r.Source != "origin" || r.Database != "app" || r.Owner != "app" || len(pg.Spec.ExternalClusters) != 1 || pg.Spec.ExternalClusters[0].PluginConfiguration.Parameters["serverName"] != "old" {
		t.Errorf("recovery %+v, externalClusters %+v", r, pg.Spec.ExternalClusters)
	}
	simulatedHealthy(t, c, client.ObjectKeyFromObject(again))
	hasCondition(t, c, again, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	// CloudNativePG needs what it came from for as long as the Cluster names it.
	if err := c.Delete(t.Context(), lake(ns)); err != nil {
		t.Fatal(err)
	}
	changed(t, c, again, func() { again.Spec.Postgres.Parameters = map[string]string{"work_mem": "8MB"} })
	simulatedHealthy(t, c, client.ObjectKeyFromObject(again))
	hasCondition(t, c, again, v1alpha1.ConditionSourceReady, metav1.ConditionFalse, v1alpha1.ReasonObjectStoreNotFound)
	hasCondition(t, c, again, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonObjectStoreNotFound)
	create(t, c, lake(ns))
	hasCondition(t, c, again, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
}
