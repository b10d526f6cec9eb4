//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"

	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// knownPassword is what a tenant puts into a Secret that the operator is to create.
const knownPassword = "known-to-the-tenant"

// attempts are statements by which a role would get beyond its own database. All of them
// must fail because the role lacks a right: any other end ends the benchmark. A block cannot try
// CREATE DATABASE, DROP DATABASE, CREATE TABLESPACE and ALTER SYSTEM, because Postgres refuses
// them there whatever the role may do. So it reads the rights that they need.
const attempts = `DO $do$
DECLARE statement text;
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls))
    OR EXISTS (SELECT FROM pg_database WHERE datname = 'app' AND pg_has_role(datdba, 'USAGE'))
    OR has_parameter_privilege('fsync', 'ALTER SYSTEM') THEN
    RAISE EXCEPTION '% has rights beyond its database', current_user;
  END IF;
  FOREACH statement IN ARRAY ARRAY[
    'CREATE ROLE mallory', 'ALTER DATABASE app OWNER TO CURRENT_USER', 'ALTER DATABASE app CONNECTION LIMIT 0',
    'ALTER ROLE postgres PASSWORD ''x''', 'ALTER ROLE CURRENT_USER SUPERUSER', 'ALTER ROLE CURRENT_USER REPLICATION', 'ALTER ROLE CURRENT_USER BYPASSRLS',
    'SELECT pg_reload_conf()', 'SELECT pg_switch_wal()', 'CHECKPOINT', 'SET ROLE postgres', 'SET SESSION AUTHORIZATION postgres',
    'SET ROLE streaming_replica', 'GRANT pg_monitor TO CURRENT_USER', 'GRANT pg_read_all_data TO CURRENT_USER', 'GRANT pg_execute_server_program TO CURRENT_USER',
    'COPY (SELECT 1) TO PROGRAM ''id''', 'COPY (SELECT 1) TO ''/tmp/mallory''', 'CREATE TABLE stolen (line text); COPY stolen FROM ''/etc/passwd''',
    'SELECT pg_read_file(''PG_VERSION'')', 'SELECT pg_ls_dir(''.'')', 'SELECT pg_stat_file(''PG_VERSION'')', 'SELECT lo_import(''/etc/passwd'')',
    'SELECT passwd FROM pg_shadow', 'SELECT rolpassword FROM pg_authid', 'SELECT * FROM pg_hba_file_rules',
    'CREATE EXTENSION dblink', 'CREATE EXTENSION postgres_fdw', 'CREATE EXTENSION file_fdw', 'CREATE EXTENSION pageinspect',
    'CREATE LANGUAGE mallory HANDLER plpgsql_call_handler', 'CREATE FUNCTION f() RETURNS int LANGUAGE c AS ''libc'', ''getpid''', 'LOAD ''auto_explain''',
    'CREATE SUBSCRIPTION s CONNECTION ''host=127.0.0.1'' PUBLICATION p WITH (connect = false)', 'CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION pg_catalog.suppress_redundant_updates_trigger()',
    'SET session_preload_libraries = ''x''', 'SET log_statement = ''none''', 'SET session_replication_role = replica',
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ''postgres''', 'SELECT pg_create_physical_replication_slot(''s'')', 'SELECT pg_promote()'
  ] LOOP
    BEGIN
      EXECUTE statement;
    EXCEPTION
      WHEN insufficient_privilege THEN
        CONTINUE;
      WHEN OTHERS THEN
        RAISE EXCEPTION 'this failed, and not because the role lacks a right: % (% %)', statement, SQLSTATE, SQLERRM;
    END;
    IF statement NOT LIKE 'SELECT pg_terminate_backend%' THEN
      RAISE EXCEPTION 'this was allowed: %', statement;
    END IF;
  END LOOP;
END $do$;
`

// outcry fails with a text that would clear a terminal, and is longer than an event.
const outcry = `DO $do$ BEGIN RAISE EXCEPTION '%', E'\x1b[2J\x1b]0;title\x07' || repeat('too much ', 1000); END $do$;
`

// TestTenantsReachNeitherEachOtherNorTheOperator: two tenants have a namespace, a token and a database each. What one of them
// tries reaches neither the other's database nor what the operator may do.
func TestTenantsReachNeitherEachOtherNorTheOperator(t *testing.T) {
	t.Parallel()
	profile(t)
	a, b := namespace(t), namespace(t)
	mallory, alice := authorOf(t, a), authorOf(t, b)
	own, vault := cluster(a, "own"), cluster(b, "vault")
	early := measuring(own, "early", "attempts.sql")
	scripts := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: a, Name: "scripts"}, Data: map[string]string{
		"attempts.sql": attempts, "outcry.sql": outcry, "long.sql": "SELECT pg_sleep(1);\n",
	}}
	by(t, alice, vault)
	by(t, mallory, own, scripts, early)
	secretsFirst(t, mallory, early)
	ready(t, vault)
	before := podUIDs(t, vault)
	for _, step := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"another namespace", func(t *testing.T) { anotherNamespace(t, mallory, a, vault) }},
		{"a status of one's own", func(t *testing.T) { statusOfOnesOwn(t, mallory, early) }},
		{"statements beyond one's database", func(t *testing.T) { beyondOnesDatabase(t, early) }},
		{"the runner's token", func(t *testing.T) { runnersToken(t, early, b) }},
		{"an error that clears terminals", func(t *testing.T) { loudError(t, mallory, own) }},
		{"a finalizer removed", func(t *testing.T) { finalizerRemoved(t, mallory, own) }},
		{"names that are none", func(t *testing.T) { namesThatAreNone(t, mallory, own) }},
	} {
		t.Run(step.name, step.run)
	}
	ready(t, vault)
	if after := podUIDs(t, vault); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the other tenant's pods are %v, and were %v", after, before)
	}
}

// authorOf a namespace may also create ConfigMaps and Secrets, and read neither.
func authorOf(t *testing.T, ns string) client.Client {
	t.Helper()
	author := tenantOf(t, ns)
	create(t, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "author"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps", "secrets"}, Verbs: []string{"create"}}},
	}, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "author"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "author"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: ns, Name: "tenant"}},
	})
	eventually(t, "the author to have its rights", func(ctx context.Context) error {
		return author.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "rights"}}, client.DryRunAll)
	})
	return author
}

// by a tenant, who has the right to.
func by(t *testing.T, tenant client.Client, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := tenant.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

func measuring(cr *v1alpha1.PgStorageCluster, name, script string) *v1alpha1.PgBenchmark {
	return &v1alpha1.PgBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: cr.Namespace, Name: name},
		Spec: v1alpha1.PgBenchmarkSpec{Cluster: cr.Name, Pgbench: v1alpha1.PgbenchSpec{
			Scale: 1, Clients: []int32{1}, Duration: "2s", WarmUp: "0s", Cleanup: v1alpha1.CleanupNever,
			CustomScripts: []v1alpha1.CustomScript{{ConfigMap: "scripts", Key: script}},
		}},
	}
}

// secretsFirst creates the Secrets of a benchmark before the operator does.
func secretsFirst(t *testing.T, tenant client.Client, b *v1alpha1.PgBenchmark) {
	t.Helper()
	for _, name := range []string{naming.BenchmarkObject(b.Name, string(b.UID)), naming.BenchmarkChecker(b.Name, string(b.UID))} {
		by(t, tenant, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: name, Labels: naming.BenchmarkLabels(b.Name)},
			Type:       corev1.SecretTypeBasicAuth,
			StringData: map[string]string{corev1.BasicAuthUsernameKey: "mallory", corev1.BasicAuthPasswordKey: knownPassword},
		})
	}
}

func anotherNamespace(t *testing.T, mallory client.Client, ns string, vault *v1alpha1.PgStorageCluster) {
	if err := mallory.Create(t.Context(), measuring(vault, "intruder", "attempts.sql")); !apierrors.IsForbidden(err) {
		t.Errorf("a PgBenchmark in another namespace: %v", err)
	}
	across := measuring(&v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: vault.Name}}, "across", "attempts.sql")
	across.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PgBenchmark", Name: "early", UID: vault.UID}}
	by(t, mallory, across)
	eventually(t, "the benchmark of another namespace's cluster to wait, or to be collected", func(ctx context.Context) error {
		err := c.Get(ctx, client.ObjectKeyFromObject(across), across)
		if apierrors.IsNotFound(err) {
			return nil
		}
		found := meta.FindStatusCondition(across.Status.Conditions, v1alpha1.ConditionTargetReady)
		if found == nil || found.Reason != v1alpha1.ReasonClusterNotFound {
			return errors.Join(fmt.Errorf("%+v", found), err)
		}
		return nil
	})
	jobs := &batchv1.JobList{}
	if err := c.List(t.Context(), jobs, client.InNamespace(vault.Namespace)); err != nil || len(jobs.Items) > 0 {
		t.Errorf("%d Jobs in the other namespace, %v", len(jobs.Items), err)
	}
}

func statusOfOnesOwn(t *testing.T, mallory client.Client, b *v1alpha1.PgBenchmark) {
	forged := &v1alpha1.PgBenchmark{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(b), forged); err != nil {
		t.Fatal(err)
	}
	before := forged.DeepCopy()
	forged.Status.Phase = "Succeeded"
	if err := mallory.Status().Patch(t.Context(), forged, client.MergeFrom(before)); !apierrors.IsForbidden(err) {
		t.Errorf("the status was written: %v", err)
	}
}

// beyondOnesDatabase waits for the benchmark, whose script ends with an error where one of
// its attempts succeeded, and whose Secrets existed before.
func beyondOnesDatabase(t *testing.T, b *v1alpha1.PgBenchmark) {
	ended(t, b, "Succeeded")
	secret := &corev1.Secret{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: b.Namespace, Name: naming.BenchmarkObject(b.Name, string(b.UID))}, secret); err != nil {
		t.Fatal(err)
	}
	if string(secret.Data[corev1.BasicAuthPasswordKey]) == knownPassword {
		t.Error("the role has the password of whoever created its Secret first")
	}
}

func ended(t *testing.T, b *v1alpha1.PgBenchmark, phase string) {
	t.Helper()
	eventually(t, b.Name+" to be "+phase, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		if b.Status.Phase != phase {
			return fmt.Errorf("it is %s: %+v", b.Status.Phase, b.Status.Run)
		}
		return nil
	})
}

// runnersToken reaches the status and the record of its own benchmark, and nothing else.
func runnersToken(t *testing.T, b *v1alpha1.PgBenchmark, other string) {
	user := "system:serviceaccount:" + b.Namespace + ":" + naming.BenchmarkObject(b.Name, string(b.UID))
	for want, asked := range map[bool][]authorizationv1.ResourceAttributes{
		true: {{Namespace: b.Namespace, Verb: "patch", Group: v1alpha1.GroupVersion.Group, Resource: "pgbenchmarks", Subresource: "status", Name: b.Name}},
		false: {
			{Namespace: b.Namespace, Verb: "patch", Group: v1alpha1.GroupVersion.Group, Resource: "pgbenchmarks", Subresource: "status", Name: "another"},
			{Namespace: b.Namespace, Verb: "patch", Group: v1alpha1.GroupVersion.Group, Resource: "pgbenchmarks", Name: b.Name},
			{Namespace: b.Namespace, Verb: "patch", Group: v1alpha1.GroupVersion.Group, Resource: "pgstorageclusters", Name: b.Spec.Cluster},
			{Namespace: b.Namespace, Verb: "get", Resource: "secrets", Name: b.Spec.Cluster + "-app"},
			{Namespace: b.Namespace, Verb: "patch", Resource: "configmaps", Name: "scripts"},
			{Namespace: b.Namespace, Verb: "create", Resource: "pods"},
			{Namespace: b.Namespace, Verb: "create", Resource: "pods", Subresource: "exec"},
			{Namespace: other, Verb: "patch", Group: v1alpha1.GroupVersion.Group, Resource: "pgbenchmarks", Subresource: "status", Name: b.Name},
		},
	} {
		for i := range asked {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &asked[i]}}
			if err := c.Create(t.Context(), review); err != nil {
				t.Fatal(err)
			}
			if review.Status.Allowed != want {
				t.Errorf("%+v: allowed %t", asked[i], review.Status.Allowed)
			}
		}
	}
}

// loudError holds a status, an event and the plugin's output to what a terminal and the API
// server take.
func loudError(t *testing.T, mallory client.Client, own *v1alpha1.PgStorageCluster) {
	b := measuring(own, "loud", "outcry.sql")
	by(t, mallory, b)
	ended(t, b, "Failed")
	if n := len(b.Status.Run.Message); n == 0 || n > 4096 {
		t.Errorf("a message of %d bytes", n)
	}
	eventually(t, "the event of the failure", func(ctx context.Context) error {
		events := &eventsv1.EventList{}
		if err := c.List(ctx, events, client.InNamespace(b.Namespace)); err != nil {
			return err
		}
		for _, e := range events.Items {
			if e.Regarding.Name == b.Name && e.Type == corev1.EventTypeWarning && e.Reason == "Failed" {
				return nil
			}
		}
		return fmt.Errorf("%d events, and none of it", len(events.Items))
	})
	loud := func(out string) bool {
		return strings.ContainsFunc(out, func(r rune) bool { return unicode.IsControl(r) && r != '\n' })
	}
	for _, args := range [][]string{{"bench", "list", own.Name}, {"status", own.Name}} {
		if out := plugin(t, b.Namespace, args...); loud(out) {
			t.Errorf("%v prints control characters: %q", args, out)
		}
	}
	out, err := command(t.Context(), os.Getenv("PGSTORAGE_PLUGIN"), "bench", "follow", b.Name, "-n", b.Namespace)
	if err == nil || loud(out+err.Error()) {
		t.Errorf("bench follow prints control characters, or no error: %q %q", out, err)
	}
}

// finalizerRemoved deletes a benchmark while it runs, without what would clean up: its
// roles go all the same.
func finalizerRemoved(t *testing.T, mallory client.Client, own *v1alpha1.PgStorageCluster) {
	b := measuring(own, "abandoned", "long.sql")
	b.Spec.Pgbench.Duration = "5m"
	by(t, mallory, b)
	ended(t, b, "Running")
	before := b.DeepCopy()
	b.Finalizers = nil
	if err := mallory.Patch(t.Context(), b, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	if err := mallory.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	roles := fmt.Sprintf("SELECT count(*) FROM pg_roles WHERE rolname IN ('%s', '%s')", naming.BenchmarkDatabase(string(b.UID)), naming.BenchmarkCheckRole(string(b.UID)))
	eventually(t, "the roles of the abandoned benchmark to be dropped", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(own), own); err != nil {
			return err
		}
		if left := psql(t, own.Namespace, own.Status.Database.Primary, roles); left != "0" {
			return fmt.Errorf("%s roles", left)
		}
		return nil
	})
}

// namesThatAreNone are reported, and keep no other benchmark waiting.
func namesThatAreNone(t *testing.T, mallory client.Client, own *v1alpha1.PgStorageCluster) {
	for name, script := range map[string]v1alpha1.CustomScript{
		"upward": {ConfigMap: "scripts", Key: ".."}, "upper": {ConfigMap: "Scripts/../x", Key: "a.sql"},
	} {
		b := measuring(own, name, "")
		b.Spec.Pgbench.CustomScripts = []v1alpha1.CustomScript{script}
		err := mallory.Create(t.Context(), b)
		if apierrors.IsInvalid(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, name+" to be reported", func(ctx context.Context) error {
			if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
				return err
			}
			found := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionReady)
			if found == nil || found.Status != metav1.ConditionFalse || found.Reason != v1alpha1.ReasonScriptNotFound {
				return fmt.Errorf("%+v", found)
			}
			return nil
		})
	}
}
