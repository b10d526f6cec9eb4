//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/restorecheck"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/long"
)

// yearly is a schedule that does not come during the test.
const yearly = "0 4 1 1 *"

// verifiedAtOnce has the first backup restored and checked without being asked.
func (v *vault) verifiedAtOnce(t *testing.T) {
	patch(t, v.shop, func(s *v1alpha1.PgStorageClusterSpec) { s.Backup.Verify = &v1alpha1.BackupVerifySpec{Schedule: yearly} })
	has(t, v.shop, v1alpha1.ConditionRestoreVerified, metav1.ConditionTrue, v1alpha1.ReasonVerified)
	v.nothingLeft(t)
	if b := v.shop.Status.Backup; b == nil || b.LastVerified == nil {
		t.Errorf("status.backup is %+v", b)
	}
}

// rowsAreVerified declares what must be in the restored database.
func (v *vault) rowsAreVerified(t *testing.T) {
	long.Skip(t, "make test-e2e-backup")
	patch(t, v.shop, func(s *v1alpha1.PgStorageClusterSpec) {
		s.Backup.Verify.Tables = []v1alpha1.VerifiedTable{{Name: "public.sales", MinRows: 2000}}
		s.Backup.Verify.Query = "SELECT count(*) = 2000 AND max(id) = 2000 FROM sales -- $(PGPASSWORD)"
	})
	last := v.verify(t)
	if last.Reason != v1alpha1.ReasonVerified || len(last.Checks) != 6 || last.RestoredWAL < v.shop.Status.BackupVerification.ExpectedWAL || last.Size == nil || last.Size.Value() < 1<<20 {
		t.Errorf("%+v", last)
	}
	t.Logf("verified in %d s of restore and %d s of checks: %+v", *last.RestoreSeconds, *last.CheckSeconds, last.Checks)
	patch(t, v.shop, func(s *v1alpha1.PgStorageClusterSpec) {
		s.Backup.Verify.Query = ""
		s.Backup.Verify.Tables = []v1alpha1.VerifiedTable{{Name: "public.sales", MinRows: 9000}, {Name: "public.orders", MinRows: 1}}
	})
	last = v.verify(t)
	if last.Reason != v1alpha1.ReasonRestoreDamaged || !strings.Contains(last.Message, "public.sales has 2000 rows") || !strings.Contains(last.Message, "public.orders") {
		t.Errorf("%+v", last)
	}
	has(t, v.shop, v1alpha1.ConditionRestoreVerified, metav1.ConditionFalse, v1alpha1.ReasonRestoreDamaged)
	patch(t, v.shop, func(s *v1alpha1.PgStorageClusterSpec) { s.Backup.Verify.Tables = nil })
}

// missingWAL removes one file of WAL from the store, behind which more was archived. Postgres
// takes it for the end of the archive, and serves.
func (p *protection) missingWAL(t *testing.T) {
	before := rows(t, p.shop)
	ns, primary := p.shop.Namespace, p.shop.Status.Database.Primary
	removed := psql(t, ns, primary, "SELECT pg_walfile_name(pg_switch_wal())")
	p.archived(t)
	// The position of the archive is read every few minutes.
	eventually(t, "the status to have WAL behind "+removed, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(p.shop), p.shop); err != nil {
			return err
		}
		if b := p.shop.Status.Backup; b == nil || b.LastArchivedWAL <= removed[8:] {
			return fmt.Errorf("%+v", b)
		}
		return nil
	})
	p.s3(t, fmt.Sprintf("key = %q\ns.head_object(Bucket='lake', Key=key)\ns.delete_object(Bucket='lake', Key=key)", fmt.Sprintf("backups/shop/wals/%s/%s.gz", removed[:16], removed)))
	began := time.Now()
	last := p.verify(t)
	if last.Reason != v1alpha1.ReasonRestoreDamaged || !strings.Contains(last.Message, restorecheck.CheckWAL) || last.RestoredWAL >= removed[8:] {
		t.Errorf("%s was removed: %+v", removed, last)
	}
	t.Logf("RestoreVerified: %s", last.Message)
	p.report.Ended("a WAL file is missing in the store: until a verification finds it", rows(t, p.shop)-before, 0, time.Since(began))
}

// s3 runs statements of Python against the store, as the sidecar of the primary reaches it.
func (v *vault) s3(t *testing.T, statements string) {
	t.Helper()
	script := fmt.Sprintf("import boto3\ns = boto3.client('s3', endpoint_url=%q, region_name='us-east-1', aws_access_key_id=%q, aws_secret_access_key=%q)\n%s",
		v.store.Endpoint(), v.store.AccessKey, v.store.SecretKey, statements)
	if out, err := command(t.Context(), "kubectl", "-n", v.shop.Namespace, "exec", v.shop.Status.Database.Primary, "-c", "plugin-barman-cloud", "--", "python3", "-c", script); err != nil {
		t.Fatal(out, err)
	}
}

// verify asks for a verification, and waits for its result.
func (v *vault) verify(t *testing.T) v1alpha1.BackupVerificationResult {
	t.Helper()
	return v.result(t, v.ask(t))
}

// ask for a verification, and say when.
func (v *vault) ask(t *testing.T) time.Time {
	t.Helper()
	began := time.Now().UTC().Truncate(time.Second)
	ask := fmt.Sprintf(`{"metadata": {"annotations": {%q: %q}}}`, naming.AnnotationVerify, began.Format(time.RFC3339))
	if err := c.Patch(t.Context(), v.shop, client.RawPatch(types.MergePatchType, []byte(ask))); err != nil {
		t.Fatal(err)
	}
	return began
}

// result of a verification that started after a time.
func (v *vault) result(t *testing.T, after time.Time) v1alpha1.BackupVerificationResult {
	t.Helper()
	eventually(t, "a verification to end", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(v.shop), v.shop); err != nil {
			return err
		}
		s := v.shop.Status.BackupVerification
		if s == nil || s.Step != "" || s.StartTime == nil || s.StartTime.Time.Before(after) || s.Last == nil || s.Last.CompletionTime.Before(s.StartTime) {
			return fmt.Errorf("%+v", s)
		}
		return nil
	})
	v.nothingLeft(t)
	return *v.shop.Status.BackupVerification.Last
}

// nothingLeft of a verification that has ended.
func (v *vault) nothingLeft(t *testing.T) {
	t.Helper()
	name := naming.Verification(v.shop.Name, string(v.shop.UID))
	eventually(t, "nothing to be left of the verification", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKey{Namespace: v.shop.Namespace, Name: name}, &cnpgv1.Cluster{}); err == nil || client.IgnoreNotFound(err) != nil {
			return errors.Join(err, fmt.Errorf("Cluster %s", name))
		}
		claims := &corev1.PersistentVolumeClaimList{}
		if err := c.List(ctx, claims, client.InNamespace(v.shop.Namespace), client.MatchingLabels{"cnpg.io/cluster": name}); err != nil || len(claims.Items) > 0 {
			return errors.Join(err, fmt.Errorf("%d volumes", len(claims.Items)))
		}
		return nil
	})
}
