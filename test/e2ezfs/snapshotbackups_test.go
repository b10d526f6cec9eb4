//go:build e2ezfs

package e2ezfs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/live"
	"github.com/pgstorage/pgstorage/internal/testing/s3pod"
	"github.com/pgstorage/pgstorage/internal/testing/walkthrough"
)

const (
	vaultNamespace = "e2e-vault"
	// archive is the name of the ObjectStore.
	archive = "archive"
	// kept backups of the schedule of VolumeSnapshots.
	kept = 2
)

// snapshotVault is a database with backups as VolumeSnapshots.
type snapshotVault struct {
	store s3pod.Store
	shop  *v1alpha1.PgStorageCluster
	// chosen is the Backup that the tests restore; half is a time of the server after it, when
	// a part of the rows was there.
	chosen, half string
}

// TestSnapshotBackups takes backups as VolumeSnapshots by the real zfs-localpv, and restores them
// with WAL of a real S3 server. A profile of type ZFSLocalPV refuses the method, because a standby
// would be on the node of its primary. So a profile of type External selects the same classes, for
// a database of one instance.
func TestSnapshotBackups(t *testing.T) {
	if err := live.Needs("test-e2e-snapshot-backups", "PGSTORAGE_S3_IMAGE"); err != nil {
		t.Fatal(err)
	}
	if err := helm("branches.enabled=true"); err != nil {
		t.Fatal(err)
	}
	create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: vaultNamespace}})
	v := &snapshotVault{shop: branchable()}
	v.shop.Namespace, v.shop.Spec.Profile = vaultNamespace, vaultNamespace
	v.shop.Spec.Backup = &v1alpha1.BackupSpec{
		ObjectStore:   v1alpha1.BackupObjectStore{Name: archive},
		MaxArchiveAge: "5m",
		Schedules: []v1alpha1.BackupSchedule{
			{Name: "nightly", Schedule: "30 2 * * *"},
			{Name: "often", Schedule: "30 3 * * *", Method: v1alpha1.BackupByVolumeSnapshot, Keep: new(int32(kept))},
		},
	}
	confirmClones(t)
	step := live.InTurn(t)
	step("a profile selects the classes of another one", v.classes)
	step("both first backups", v.first)
	step("everything is restored of VolumeSnapshots", v.everything)
	step("a time after the VolumeSnapshots is restored", v.aTime)
	step("older backups are deleted with their VolumeSnapshots", v.keeps)
	step("the backups outlive the database, and nothing else does", v.outlive)
	step("the page", v.page)
}

// selecting is a profile that selects the classes of the profile of the pool.
func selecting(name string) *v1alpha1.PgStorageProfile {
	return &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.PgStorageProfileSpec{
			Type: v1alpha1.ProfileTypeExternal,
			External: &v1alpha1.ExternalProfile{
				StorageClassName: naming.DataClass(profileName), WALStorageClassName: naming.WALClass(profileName), VolumeSnapshotClassName: naming.DataClass(profileName),
			},
			AllowedOverrides: []string{"bootstrap.recovery", "externalClusters"},
		},
	}
}

// classes are made by the profile of the pool.
func (v *snapshotVault) classes(t *testing.T) {
	declare(t, profile())
	declare(t, selecting(vaultNamespace))
	for _, name := range []string{profileName, vaultNamespace} {
		eventually(t, "profile "+name+" to be Ready", func(ctx context.Context) error {
			p := &v1alpha1.PgStorageProfile{}
			if err := c.Get(ctx, client.ObjectKey{Name: name}, p); err != nil {
				return err
			}
			return live.AllTrue(p.Status.Conditions, p.Generation, v1alpha1.ConditionReady)
		})
	}
}

func (v *snapshotVault) first(t *testing.T) {
	v.store = s3pod.Store{
		Namespace: vaultNamespace, Image: os.Getenv("PGSTORAGE_S3_IMAGE"), AccessKey: rand.Text(), SecretKey: rand.Text(),
		NodeSelector: map[string]string{"node-role.kubernetes.io/control-plane": ""},
	}
	create(t, append(v.store.Objects(), v.store.Keys(archive), v.store.ObjectStore(archive), v.shop)...)
	allTrue(t, v.shop, v1alpha1.ConditionReady, v1alpha1.ConditionParametersApplied)
	mustPSQL(t, v.shop, "SET ROLE app; CREATE TABLE sales AS SELECT g AS id FROM generate_series(1, 1000) g; RESET ROLE; CHECKPOINT")
	eventually(t, "both backups", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(v.shop), v.shop); err != nil {
			return err
		}
		if err := live.AllTrue(v.shop.Status.Conditions, v.shop.Generation, v1alpha1.ConditionBackedUp); err != nil {
			return err
		}
		s := v.shop.Status.Backup.VolumeSnapshots
		if s == nil || s.Newest == "" {
			return fmt.Errorf("status.backup.volumeSnapshots is %+v", s)
		}
		v.chosen = s.Newest
		return nil
	})
	t.Logf("%s was complete; %s", v.chosen, summary(v.shop.Status.Conditions))
	mustPSQL(t, v.shop, "INSERT INTO sales SELECT generate_series(1001, 2000)")
	// A time to restore has whole seconds, of the server's clock.
	mustPSQL(t, v.shop, "SELECT pg_sleep(2)")
	v.half = mustPSQL(t, v.shop, `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`)
	mustPSQL(t, v.shop, "SELECT pg_sleep(2)")
	mustPSQL(t, v.shop, "INSERT INTO sales SELECT generate_series(2001, 3000)")
	file := mustPSQL(t, v.shop, "SELECT pg_walfile_name(pg_switch_wal())")
	eventually(t, file+" in the archive", func(ctx context.Context) error {
		return live.Archived(file, func(sql string) (string, error) { return psql(ctx, v.shop, sql) })
	})
}

// restored is a database of the chosen Backup, and of the WAL up to a time.
func (v *snapshotVault) restored(t *testing.T, name, until string) *v1alpha1.PgStorageCluster {
	t.Helper()
	cr := database()
	cr.Namespace, cr.Name, cr.Spec.Profile, cr.Spec.Storage = vaultNamespace, name, vaultNamespace, v.shop.Spec.Storage
	cr.Spec.Origin = &v1alpha1.OriginSpec{
		VolumeSnapshots: &v1alpha1.OriginVolumeSnapshots{Data: v.chosen, WAL: v.chosen + "-wal"},
		ObjectStore:     archive, Server: v.shop.Status.Backup.Server, TargetTime: until,
	}
	began := time.Now()
	create(t, cr)
	allTrue(t, cr, v1alpha1.ConditionReady, v1alpha1.ConditionParametersApplied)
	t.Logf("%s was Ready after %s", name, time.Since(began).Round(time.Second))
	return cr
}

func (v *snapshotVault) removed(t *testing.T, cr *v1alpha1.PgStorageCluster) {
	t.Helper()
	if err := c.Delete(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	gone(t, cr)
	gone(t, &cnpgv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: cr.Namespace, Name: cr.Name}})
}

func (v *snapshotVault) everything(t *testing.T) {
	copied := v.restored(t, "copied", "")
	if got := mustPSQL(t, copied, "SELECT count(*), max(id) FROM sales"); got != "3000|3000" {
		t.Errorf("it has %s", got)
	}
	sound(t, copied)
	v.removed(t, copied)
}

func (v *snapshotVault) aTime(t *testing.T) {
	past := v.restored(t, "past", v.half)
	if got := mustPSQL(t, past, "SELECT count(*), max(id) FROM sales"); got != "2000|2000" {
		t.Errorf("at %s there were %s", v.half, got)
	}
	v.removed(t, past)
}

// keeps the newest backups of the schedule, which now takes one every two minutes.
func (v *snapshotVault) keeps(t *testing.T) {
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(v.shop), v.shop); err != nil {
		t.Fatal(err)
	}
	changed := v.shop.DeepCopy()
	changed.Spec.Backup.Schedules[1].Schedule = "*/2 * * * *"
	if err := c.Patch(t.Context(), changed, client.MergeFrom(v.shop)); err != nil {
		t.Fatal(err)
	}
	eventually(t, v.chosen+" to be deleted", func(ctx context.Context) error {
		key := client.ObjectKey{Namespace: vaultNamespace, Name: v.chosen}
		for _, o := range []client.Object{&cnpgv1.Backup{}, &snapshotv1.VolumeSnapshot{}} {
			if err := c.Get(ctx, key, o); !apierrors.IsNotFound(err) {
				return errors.Join(err, fmt.Errorf("%T is there", o))
			}
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(v.shop), v.shop); err != nil {
			return err
		}
		if s := v.shop.Status.Backup.VolumeSnapshots; s == nil || s.Count != kept {
			return fmt.Errorf("the status has %+v", s)
		}
		return nil
	})
	snapshots := &snapshotv1.VolumeSnapshotList{}
	if err := c.List(t.Context(), snapshots, client.InNamespace(vaultNamespace)); err != nil {
		t.Fatal(err)
	}
	if n := len(snapshots.Items); n < 2*kept || n > 2*(kept+1) {
		t.Errorf("%d VolumeSnapshots are there", n)
	}
	if cond := meta.FindStatusCondition(v.shop.Status.Conditions, v1alpha1.ConditionBackedUp); cond == nil || cond.Status != metav1.ConditionTrue {
		t.Errorf("%+v", cond)
	}
}

// outlive deletes the database, and then the Backups.
func (v *snapshotVault) outlive(t *testing.T) {
	v.removed(t, v.shop)
	backups := &cnpgv1.BackupList{}
	if err := c.List(t.Context(), backups, client.InNamespace(vaultNamespace), client.MatchingLabels{"cnpg.io/scheduled-backup": v.shop.Name + "-often"}); err != nil {
		t.Fatal(err)
	}
	if len(backups.Items) < kept {
		t.Errorf("%d Backups outlived the database", len(backups.Items))
	}
	for i := range backups.Items {
		if err := c.Delete(t.Context(), &backups.Items[i]); err != nil {
			t.Fatal(err)
		}
	}
	nothingLeft(t, &v1alpha1.PgStorageCluster{})
}

// page types what the tutorial says of snapshots, about a database like that of its earlier steps.
func (v *snapshotVault) page(t *testing.T) {
	const lake = "lake"
	page := v.store
	page.Namespace = metav1.NamespaceDefault
	objectStore := v.store.ObjectStore(lake)
	objectStore.SetNamespace(page.Namespace)
	ledger := database()
	ledger.Namespace, ledger.Name, ledger.Spec.Profile = page.Namespace, "ledger", "restores"
	ledger.Spec.Storage = v1alpha1.ClusterStorage{Size: resource.MustParse("1Gi")}
	ledger.Spec.Backup = &v1alpha1.BackupSpec{
		ObjectStore: v1alpha1.BackupObjectStore{Name: lake},
		Schedules:   []v1alpha1.BackupSchedule{{Name: "nightly", Schedule: "30 2 * * *"}},
	}
	declare(t, selecting(ledger.Spec.Profile))
	create(t, page.Keys(lake), objectStore, ledger)
	allTrue(t, ledger, v1alpha1.ConditionReady, v1alpha1.ConditionBackedUp)
	walkthrough.Reader(t).Walk(t, walkthrough.Backup, "snapshots", gather)
	past := ledger.DeepCopy()
	past.Name = "past"
	v.removed(t, past)
	v.removed(t, ledger)
}
