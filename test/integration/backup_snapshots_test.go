package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// simulatedBackup is a Backup of the schedule hourly that CloudNativePG completed.
func simulatedBackup(t *testing.T, c client.Client, ns, name string, ended time.Time, change func(*cnpgv1.Backup)) {
	t.Helper()
	b := &cnpgv1.Backup{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: map[string]string{"cnpg.io/scheduled-backup": "shop-hourly"}},
		Spec:       cnpgv1.BackupSpec{Cluster: cnpgv1.LocalObjectReference{Name: "shop"}, Method: cnpgv1.BackupMethodVolumeSnapshot},
	}
	if change != nil {
		change(b)
	}
	create(t, c, b)
	b.Status.Phase, b.Status.StoppedAt = cnpgv1.BackupPhaseCompleted, new(metav1.NewTime(ended))
	if err := c.Status().Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// The operator deletes the backups of a schedule beyond those that it keeps, and no other ones.
func TestSnapshotBackupsBeyondKeepAreDeleted(t *testing.T) {
	c := apiserver.Client(t, config)
	ns := namespace(t, c)
	w := &writes{within: "/namespaces/" + ns + "/"}
	manager.Start(t, w.into(config))
	const name = "snapshot-backups"
	create(t, c, lake(ns), storageClass(name), &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeExternal, External: &v1alpha1.ExternalProfile{StorageClassName: name, VolumeSnapshotClassName: name}},
	})
	cr := backedUp(ns, name)
	cr.Spec.Backup.Schedules[1] = v1alpha1.BackupSchedule{Name: "hourly", Schedule: "@hourly", Method: v1alpha1.BackupByVolumeSnapshot, Keep: new(int32(2))}
	key := client.ObjectKeyFromObject(cr)
	create(t, c, cr)
	get(t, c, key, &cnpgv1.Cluster{})
	simulatedHealthy(t, c, key)
	simulatedArchiving(t, c, key, metav1.ConditionTrue, "")
	simulatedWindow(t, c, ns, "shop", time.Now().Add(time.Second))
	scheduled(t, c, ns, "shop-nightly")
	hasCondition(t, c, cr, v1alpha1.ConditionBackedUp, metav1.ConditionFalse, v1alpha1.ReasonSnapshotClassNotFound)

	create(t, c, &snapshotv1.VolumeSnapshotClass{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Driver: "example.com/none", DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete,
	})
	wake := func(note string) {
		changed(t, c, cr, func() { cr.Annotations = map[string]string{"example.com/note": note} })
	}
	wake("the class exists")
	for _, b := range scheduled(t, c, ns, "shop-hourly", "shop-nightly") {
		if b.Name == "shop-hourly" && (b.Spec.Method != cnpgv1.BackupMethodVolumeSnapshot || b.Spec.PluginConfiguration != nil || b.Spec.BackupOwnerReference != "none") {
			t.Errorf("%+v", b.Spec)
		}
	}
	pg := get(t, c, key, &cnpgv1.Cluster{})
	if s := pg.Spec.Backup; s == nil || s.VolumeSnapshot == nil || s.VolumeSnapshot.ClassName != name || s.VolumeSnapshot.SnapshotOwnerReference != cnpgv1.SnapshotOwnerReferenceBackup {
		t.Errorf("%+v", s)
	}
	hasCondition(t, c, cr, v1alpha1.ConditionBackedUp, metav1.ConditionFalse, v1alpha1.ReasonFirstBackupPending)

	now := time.Now().Truncate(time.Second)
	for i := range 4 {
		simulatedBackup(t, c, ns, fmt.Sprintf("shop-hourly-%d", i), now.Add(time.Duration(i-4)*time.Minute), nil)
	}
	simulatedBackup(t, c, ns, "by-plugin", now.Add(-time.Hour), func(b *cnpgv1.Backup) {
		b.Spec.Method, b.Spec.PluginConfiguration = cnpgv1.BackupMethodPlugin, &cnpgv1.BackupPluginConfiguration{Name: "x"}
	})
	simulatedBackup(t, c, ns, "of-another", now.Add(-time.Hour), func(b *cnpgv1.Backup) { b.Spec.Cluster.Name = "bank" })
	simulatedBackup(t, c, ns, "by-hand", now.Add(-time.Hour), func(b *cnpgv1.Backup) { b.Labels = nil })
	wake("backups exist")
	want := "by-hand by-plugin of-another shop-hourly-2 shop-hourly-3"
	eventually(t, "the Backups "+want, func(ctx context.Context) error {
		list := &cnpgv1.BackupList{}
		if err := c.List(ctx, list, client.InNamespace(ns)); err != nil {
			return err
		}
		var names []string
		for _, b := range list.Items {
			names = append(names, b.Name)
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want {
			return fmt.Errorf("there are %s", got)
		}
		return nil
	})
	hasCondition(t, c, cr, v1alpha1.ConditionBackedUp, metav1.ConditionTrue, v1alpha1.ReasonRecoverable)
	wake("the old ones are gone")
	eventually(t, "the status to count them", func(ctx context.Context) error {
		if err := c.Get(ctx, key, cr); err != nil {
			return err
		}
		if s := cr.Status.Backup.VolumeSnapshots; s == nil || s.Count != 2 || s.Newest != "shop-hourly-3" {
			return fmt.Errorf("%+v", s)
		}
		return nil
	})
	rest := settled(t, w)
	wake("nothing to do")
	if n := settled(t, w) - rest; n != 0 {
		t.Errorf("%d writes at rest, the last one %v", n, w.last.Load())
	}
}
