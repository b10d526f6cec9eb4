//go:build e2e

package e2e

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/live"
	"github.com/pgstorage/pgstorage/internal/testing/long"
	"github.com/pgstorage/pgstorage/internal/testing/s3pod"
)

// restores is the profile that allows to restore.
const restores = "e2e-restores"

// vault is a database with backups in a store of its own.
type vault struct {
	store s3pod.Store
	shop  *v1alpha1.PgStorageCluster
	// half is when the first half of the rows was there.
	half time.Time
}

// TestBackup archives, restores, and loses the store, by the real plugin into a real S3
// server.
func TestBackup(t *testing.T) {
	t.Parallel()
	v := vaultIn(t)
	step := live.InTurn(t)
	step("a database waits for its ObjectStore", v.waits)
	step("the first backup", v.first)
	step("the first backup is verified", v.verifiedAtOnce)
	step("rows of a backup are verified", v.rowsAreVerified)
	step("a restore needs consent", v.unconsented)
	step("everything is restored", v.latest)
	step("a time is restored", v.toTime)
	step("a time before the first backup is refused", v.tooEarly)
	step("the store is away", v.away)
	step("a schedule is removed", v.unscheduled)
	step("a database of the same name archives into no foreign WAL", v.again)
}

func vaultIn(t *testing.T) *vault {
	t.Helper()
	profile(t)
	allows := &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: restores},
		Spec: v1alpha1.PgStorageProfileSpec{
			Type: v1alpha1.ProfileTypeExternal, External: &v1alpha1.ExternalProfile{StorageClassName: "standard"},
			AllowedOverrides: []string{"bootstrap.recovery", "externalClusters"},
		},
	}
	if err := client.IgnoreAlreadyExists(c.Create(t.Context(), allows)); err != nil {
		t.Fatal(err)
	}
	v := &vault{store: storeIn(t, namespace(t))}
	v.shop = v.database("shop")
	return v
}

// storeIn a namespace, with the keys that ObjectStores use.
func storeIn(t *testing.T, ns string) s3pod.Store {
	t.Helper()
	s := s3pod.Store{Namespace: ns, Image: os.Getenv("PGSTORAGE_S3_IMAGE"), AccessKey: rand.Text(), SecretKey: rand.Text()}
	create(t, s.Objects()...)
	create(t, s.Keys("lake"))
	return s
}

// database with a backup every night, that is not created yet.
func (v *vault) database(name string) *v1alpha1.PgStorageCluster {
	cr := cluster(v.store.Namespace, name)
	cr.Spec.Backup = &v1alpha1.BackupSpec{
		ObjectStore:   v1alpha1.BackupObjectStore{Name: "lake"},
		Schedules:     []v1alpha1.BackupSchedule{{Name: "nightly", Schedule: "30 2 * * *"}, {Name: "weekly", Schedule: "@weekly"}},
		MaxArchiveAge: "1m",
	}
	return cr
}

func (v *vault) waits(t *testing.T) {
	create(t, v.shop)
	has(t, v.shop, v1alpha1.ConditionBackedUp, metav1.ConditionFalse, v1alpha1.ReasonObjectStoreNotFound)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(v.shop), &cnpgv1.Cluster{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("a database exists without an archive: %v", err)
	}
	create(t, v.store.ObjectStore("lake"))
}

func (v *vault) first(t *testing.T) {
	began := time.Now()
	ready(t, v.shop)
	has(t, v.shop, v1alpha1.ConditionBackedUp, metav1.ConditionTrue, v1alpha1.ReasonRecoverable)
	t.Logf("the database was recoverable %s after its ObjectStore was there", time.Since(began).Round(time.Second))
	b := v.shop.Status.Backup
	if b == nil || b.Server != "shop" || b.Retention != "30d" || b.WALCompression != "gzip" || b.FirstRecoverabilityPoint == nil {
		t.Fatalf("status.backup is %+v", b)
	}
	if site, err := loss(v.shop, "SiteLoss"); err != nil || site.AcknowledgedCommits != "MayBeLost" {
		t.Errorf("%+v, %v", site, err)
	}
	primary := v.shop.Status.Database.Primary
	if got := psql(t, v.shop.Namespace, primary, "SHOW archive_timeout"); got != "1min" {
		t.Errorf("archive_timeout is %s", got)
	}
	psql(t, v.shop.Namespace, primary, "CREATE TABLE sales AS SELECT g AS id FROM generate_series(1, 1000) g; ALTER TABLE sales OWNER TO app")
	v.half = time.Now()
	v.tick(t)
	psql(t, v.shop.Namespace, primary, "INSERT INTO sales SELECT generate_series(1001, 2000)")
	v.archived(t)
}

// tick lets two seconds of the server pass, because a time to restore has whole seconds.
func (v *vault) tick(t *testing.T) {
	t.Helper()
	psql(t, v.shop.Namespace, v.shop.Status.Database.Primary, "SELECT pg_sleep(2)")
	v.half = v.half.Add(time.Second)
}

// archived waits until all WAL up to now is in the store.
func (v *vault) archived(t *testing.T) {
	t.Helper()
	ns, primary := v.shop.Namespace, v.shop.Status.Database.Primary
	file := psql(t, ns, primary, "SELECT pg_walfile_name(pg_switch_wal())")
	eventually(t, file+" in the archive", func(ctx context.Context) error {
		return live.Archived(file, func(sql string) (string, error) {
			return command(ctx, "kubectl", "-n", ns, "exec", primary, "-c", "postgres", "--", "psql", "-XAtq", "-c", sql)
		})
	})
}

// restored is a database that comes from the backups of another.
func (v *vault) restored(name, on string, at *time.Time) *v1alpha1.PgStorageCluster {
	cr := cluster(v.store.Namespace, name)
	cr.Spec.Profile = on
	cr.Spec.Origin = &v1alpha1.OriginSpec{ObjectStore: "lake", Server: "shop"}
	if at != nil {
		cr.Spec.Origin.TargetTime = at.UTC().Format(time.RFC3339Nano)
	}
	return cr
}

func (v *vault) unconsented(t *testing.T) {
	thief := v.restored("thief", profileName, nil)
	create(t, thief)
	has(t, thief, v1alpha1.ConditionParametersAccepted, metav1.ConditionFalse, v1alpha1.ReasonOverrideRefused)
	if err := c.Delete(t.Context(), thief); err != nil {
		t.Fatal(err)
	}
}

func (v *vault) latest(t *testing.T) {
	long.Skip(t, "make test-e2e-backup")
	began := time.Now()
	copied := v.restored("copied", restores, nil)
	copied.Spec.Backup = v.shop.Spec.Backup.DeepCopy()
	create(t, copied)
	ready(t, copied)
	t.Logf("restored in %s", time.Since(began).Round(time.Second))
	if got := patientClient(t, copied, "reader", `psql -XAtq -v ON_ERROR_STOP=1 -c "SELECT count(*) FROM sales"`); got != "2000" {
		t.Errorf("the owner reads %q rows", got)
	}
	has(t, copied, v1alpha1.ConditionBackedUp, metav1.ConditionTrue, v1alpha1.ReasonRecoverable)
	discard(t, copied)
}

// discard deletes a database with its volumes.
func discard(t *testing.T, cr *v1alpha1.PgStorageCluster) {
	t.Helper()
	patch(t, cr, func(s *v1alpha1.PgStorageClusterSpec) { s.DeletionPolicy = v1alpha1.DeletionDelete })
	if err := c.Delete(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	eventually(t, cr.Name+" to be gone", func(ctx context.Context) error {
		key := client.ObjectKeyFromObject(cr)
		for _, o := range []client.Object{&v1alpha1.PgStorageCluster{}, &cnpgv1.Cluster{}} {
			if err := c.Get(ctx, key, o); err == nil || client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("%T: %w", o, err)
			}
		}
		return nil
	})
}

func (v *vault) toTime(t *testing.T) {
	past := v.restored("past", restores, &v.half)
	create(t, past)
	ready(t, past)
	if got := patientClient(t, past, "past-reader", `psql -XAtq -v ON_ERROR_STOP=1 -c "SELECT count(*), max(id) FROM sales"`); got != "1000|1000" {
		t.Errorf("at %s there were %q rows", v.half, got)
	}
	discard(t, past)
}

func (v *vault) tooEarly(t *testing.T) {
	before := v.shop.Status.Backup.FirstRecoverabilityPoint.Add(-time.Hour)
	early := v.restored("early", restores, &before)
	create(t, early)
	has(t, early, v1alpha1.ConditionSourceReady, metav1.ConditionFalse, v1alpha1.ReasonOriginRefused)
	if err := c.Delete(t.Context(), early); err != nil {
		t.Fatal(err)
	}
}

// away has the store's Service lead nowhere, and back.
func (v *vault) away(t *testing.T) {
	v.lead(t, "nowhere")
	primary := v.shop.Status.Database.Primary
	psql(t, v.shop.Namespace, primary, "SELECT pg_logical_emit_message(false, 'test', 'x'); SELECT pg_switch_wal()")
	has(t, v.shop, v1alpha1.ConditionBackedUp, metav1.ConditionFalse, v1alpha1.ReasonArchivingFailing)
	now := meta.FindStatusCondition(v.shop.Status.Conditions, v1alpha1.ConditionBackedUp)
	t.Logf("BackedUp: %s", now.Message)
	psql(t, v.shop.Namespace, primary, "INSERT INTO sales SELECT generate_series(2001, 3000)")
	if err := live.AllTrue(v.shop.Status.Conditions, v.shop.Generation, v1alpha1.ConditionReady); err != nil {
		t.Errorf("a database that serves is not Ready: %v", err)
	}
	v.lead(t, "s3")
	v.archived(t)
	has(t, v.shop, v1alpha1.ConditionBackedUp, metav1.ConditionTrue, v1alpha1.ReasonRecoverable)
}

func (v *vault) unscheduled(t *testing.T) {
	patch(t, v.shop, func(s *v1alpha1.PgStorageClusterSpec) { s.Backup.Schedules = s.Backup.Schedules[:1] })
	eventually(t, "one ScheduledBackup", func(ctx context.Context) error {
		out, err := command(ctx, "kubectl", "-n", v.shop.Namespace, "get", "scheduledbackups.postgresql.cnpg.io", "-o", "name")
		if got := strings.Fields(out); err != nil || len(got) != 1 || !strings.HasSuffix(got[0], "/shop-nightly") {
			return fmt.Errorf("%s: %w", out, err)
		}
		return nil
	})
}

// again deletes the database, and creates another one of its name.
func (v *vault) again(t *testing.T) {
	long.Skip(t, "make test-e2e-backup")
	discard(t, v.shop)
	other := v.database("shop")
	create(t, other)
	has(t, other, v1alpha1.ConditionBackedUp, metav1.ConditionFalse, v1alpha1.ReasonArchiveNotEmpty)
	patch(t, other, func(s *v1alpha1.PgStorageClusterSpec) { s.Backup.ObjectStore.Archive = "2" })
	has(t, other, v1alpha1.ConditionBackedUp, metav1.ConditionTrue, v1alpha1.ReasonRecoverable)
	if got := other.Status.Backup.Server; got != "shop.2" {
		t.Errorf("the server is %s", got)
	}
}
