//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// seize puts a function and a view of its own before those of Postgres, in the database that
// the script owns. A superuser who uses them makes the author a superuser.
const seize = `CREATE SCHEMA IF NOT EXISTS evil;
GRANT USAGE ON SCHEMA evil TO PUBLIC;
DO $do$ BEGIN
  EXECUTE $s$ CREATE OR REPLACE FUNCTION evil.current_setting(text) RETURNS text LANGUAGE plpgsql AS $f$ BEGIN
    BEGIN EXECUTE pg_catalog.format('ALTER ROLE %I SUPERUSER', pg_catalog.current_database()); EXCEPTION WHEN OTHERS THEN NULL; END;
    RETURN pg_catalog.current_setting($1); END $f$ $s$;
  EXECUTE $s$ CREATE OR REPLACE VIEW evil.pg_stat_replication AS SELECT evil.current_setting('port') AS sync_state $s$;
  EXECUTE pg_catalog.format('ALTER DATABASE %I SET search_path = evil, pg_catalog, public', pg_catalog.current_database());
END $do$;
`

// integrity is what the runner checked after a benchmark, by name: each check that it has.
func integrity(t *testing.T, b *v1alpha1.PgBenchmark) map[string]v1alpha1.IntegrityCheck {
	t.Helper()
	checks := map[string]v1alpha1.IntegrityCheck{}
	for _, check := range b.Status.Run.Integrity {
		checks[check.Name] = check
	}
	for _, name := range []string{"Checksums", "Invariants", "Amcheck"} {
		if _, ran := checks[name]; !ran || len(checks) != 3 {
			t.Fatalf("%s is not one of 3 integrity checks: %+v", name, b.Status.Run.Integrity)
		}
	}
	return checks
}

// hostileScript runs a benchmark whose script attacks what observes and checks it, and
// keeps the database: what is left must have no superuser.
func hostileScript(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "hostile"}, Data: map[string]string{"seize.sql": seize}})
	b := &v1alpha1.PgBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "hostile"},
		Spec: v1alpha1.PgBenchmarkSpec{Cluster: shop.Name, Pgbench: v1alpha1.PgbenchSpec{
			Scale: 1, Clients: []int32{1}, Duration: "1s", WarmUp: "0s", Repeats: 2, Cleanup: v1alpha1.CleanupNever,
			CustomScripts: []v1alpha1.CustomScript{{ConfigMap: "hostile", Key: "seize.sql"}},
		}},
	}
	create(t, b)
	eventually(t, "the hostile benchmark to be kept", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		if cond := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionCleanedUp); cond == nil || cond.Reason != v1alpha1.ReasonKept {
			return fmt.Errorf("phase %s: %+v", b.Status.Phase, b.Status.Conditions)
		}
		return nil
	})
	if b.Status.Phase != "Succeeded" {
		t.Errorf("phase %s: %+v", b.Status.Phase, b.Status.Run)
	}
	if amcheck := integrity(t, b)["Amcheck"]; amcheck.Result != "Passed" {
		t.Errorf("%+v", amcheck)
	}
	uid := string(b.UID)
	supers := psql(t, shop.Namespace, shop.Status.Database.Primary, "SELECT rolname FROM pg_roles WHERE rolsuper AND rolname LIKE 'pgstorage%'")
	owner := psql(t, shop.Namespace, shop.Status.Database.Primary, "SELECT rolname FROM pg_roles WHERE rolname LIKE 'pgstorage%'")
	if supers != "" || owner != naming.BenchmarkDatabase(uid) {
		t.Errorf("superusers %q, roles %q", supers, owner)
	}
	err := c.Get(t.Context(), client.ObjectKey{Namespace: b.Namespace, Name: naming.BenchmarkChecker(b.Name, uid)}, &corev1.Secret{})
	if client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the superuser's Secret is left (%v)", err)
	}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: b.Namespace, Name: naming.BenchmarkObject(b.Name, uid)}, &batchv1.Job{}); err != nil {
		t.Errorf("the Job is not kept: %v", err)
	}
	if err := c.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the hostile benchmark to be gone", func(ctx context.Context) error {
		err := c.Get(ctx, client.ObjectKeyFromObject(b), b)
		if err == nil {
			return fmt.Errorf("it is there: %+v", b.Status.Conditions)
		}
		return client.IgnoreNotFound(err)
	})
}
