package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

// branched writes the status of a branch as the operator would.
func branched(t *testing.T, c client.Client, key client.ObjectKey, change func(*v1alpha1.PgStorageBranch)) {
	t.Helper()
	b := &v1alpha1.PgStorageBranch{}
	if err := c.Get(t.Context(), key, b); err != nil {
		t.Fatal(err)
	}
	b.Status.ObservedGeneration = b.Generation
	change(b)
	if err := c.Status().Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func branchCondition(b *v1alpha1.PgStorageBranch, kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message})
}

// TestBranchIsCreatedPromotedAndDeleted runs the branch commands. The test writes the status as
// the operator would, and a fake kubectl stands for psql in a pod.
func TestBranchIsCreatedPromotedAndDeleted(t *testing.T) {
	c := apiserver.Client(t, config)
	const ns = "plugin-branch"
	namespace(t, c, ns)
	for _, name := range []string{"shop", "pr-123"} {
		cr := documents(t, samples+"cluster-quorum.yaml")[0]
		cr.SetNamespace(ns)
		cr.SetName(name)
		create(t, c, cr)
	}
	key := client.ObjectKey{Namespace: ns, Name: "pr-123"}
	if out := must(t, "branch", "list", "-n", ns); out != "No PgStorageBranches found in namespace plugin-branch.\n" {
		t.Error(out)
	}
	if _, err := plugin(t, "branch", "create", "other", "--name", "pr-123", "-n", ns); err == nil || !strings.Contains(err.Error(), "PgStorageCluster other does not exist") {
		t.Error(err)
	}
	named := []string{"branch", "create", "shop", "--name", "pr-123", "-n", ns, "-o"}
	if _, err := plugin(t, append(named, "wide", "--wait=false")...); err == nil || !strings.Contains(err.Error(), `--output: unknown format "wide"`) {
		t.Error(err)
	}
	if out := must(t, append(named, "name", "--dry-run", "server")...); out != "pgstoragebranch.pgstorage.dev/pr-123\n" {
		t.Error(out)
	}
	out, err := plugin(t, "branch", "create", "shop", "--name", "pr-123", "--ttl", "24h", "-n", ns, "--timeout", "200ms")
	if err == nil || !strings.HasPrefix(err.Error(), "timeout expired; PgStorageBranch pr-123 is not Ready: 0 of 3  Pending  ") || !strings.Contains(out, `patch pgsc shop --type=merge -p '{"spec":{"branchPolicy":"Any"}}'`) {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := plugin(t, "branch", "psql", "pr-123", "-n", ns); err == nil || !strings.Contains(err.Error(), "PgStorageBranch pr-123 is not Ready: Pending") {
		t.Error(err)
	}
	if out := must(t, "branch", "delete", "pr-123", "-n", ns); !strings.HasSuffix(out, "Nothing was deleted. --apply deletes these branches.\n") {
		t.Error(out)
	}
	if out := must(t, "branch", "delete", "pr-123", "-n", ns, "--apply", "--wait"); !strings.HasSuffix(out, "pgstoragebranch.pgstorage.dev/pr-123 deleted\n") {
		t.Error(out)
	}
	createsBranch(t, c, key)
	runsPsql(t, c, key)
	promotesBranch(t, c, key)
	deletesHeldBranch(t, c, key)
}

func createsBranch(t *testing.T, c client.Client, key client.ObjectKey) {
	t.Helper()
	f := follow(t, "branch", "create", "shop", "--name", key.Name, "-n", key.Namespace)
	f.holds(t, "0 of 3  Pending")
	branched(t, c, key, func(b *v1alpha1.PgStorageBranch) {
		branchCondition(b, v1alpha1.ConditionSnapshotReady, metav1.ConditionTrue, v1alpha1.ReasonSnapshotReady, "usable")
		branchCondition(b, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonClusterCreating, "waits for pr-123")
	})
	f.holds(t, "1 of 3  ClusterCreating  waits for pr-123")
	branched(t, c, key, func(b *v1alpha1.PgStorageBranch) {
		b.Status.Endpoint, b.Status.Secret, b.Status.Cluster = "pr-123-rw.plugin-branch.svc", "pr-123-app", key.Name
		branchCondition(b, v1alpha1.ConditionDatabaseReady, metav1.ConditionTrue, v1alpha1.ReasonHealthy, "ready")
		branchCondition(b, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady, "everything is as declared")
	})
	f.holds(t, "3 of 3  Ready")
	if err := <-f.done; err != nil || !strings.Contains(f.rest.String(), "Secret     pr-123-app\n") {
		t.Errorf("%v\n%s", err, f.rest.String())
	}
	if out := must(t, "status", "shop", "-n", key.Namespace); !strings.Contains(out, "PgStorageBranch plugin-branch/pr-123  Ready  of shop\n") {
		t.Error(out)
	}
	if out := must(t, "status", "branch/pr-123", "-n", key.Namespace); !strings.Contains(out, "of shop, endpoint pr-123-rw.plugin-branch.svc\n") || !strings.Contains(out, "PgStorageCluster plugin-branch/pr-123") {
		t.Error(out)
	}
	if out := must(t, "branch", "list", "-A"); !strings.Contains(out, "plugin-branch   pr-123   shop     True    Ready") {
		t.Error(out)
	}
	if out := must(t, "__complete", "branch", "psql", "-n", key.Namespace, ""); !strings.HasPrefix(out, "pr-123\n") {
		t.Error(out)
	}
}

func runsPsql(t *testing.T, c client.Client, key client.ObjectKey) {
	t.Helper()
	cr := &v1alpha1.PgStorageCluster{}
	if err := c.Get(t.Context(), key, cr); err != nil {
		t.Fatal(err)
	}
	cr.Status.Database = &v1alpha1.DatabaseStatus{Primary: "pr-123-1"}
	if err := c.Status().Update(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "kubectl"), []byte("#!/bin/sh\necho \"$@\"\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	out, err := plugin(t, "branch", "psql", key.Name, "-n", key.Namespace, "--as", "admin", "--as-group", "system:masters", "--", "-c", "SELECT 1")
	if err == nil || err.Error() != "exit status 3" || !strings.HasPrefix(out, "--as=admin --as-group=system:masters --cache-dir=") ||
		!strings.HasSuffix(out, " --namespace=plugin-branch exec -i pr-123-1 -c postgres -- psql "+cr.Spec.Postgres.Database+" -c SELECT 1\n") {
		t.Errorf("%v\n%s", err, out)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := plugin(t, "branch", "psql", key.Name, "-n", key.Namespace); err == nil || !strings.Contains(err.Error(), "this command runs kubectl exec: ") {
		t.Error(err)
	}
}

func promotesBranch(t *testing.T, c client.Client, key client.ObjectKey) {
	t.Helper()
	if out := must(t, "branch", "promote", key.Name, "-n", key.Namespace); !strings.HasSuffix(out, "It cannot be undone.\nNothing was changed. --apply promotes the branch.\n") {
		t.Error(out)
	}
	f := follow(t, "branch", "promote", key.Name, "-n", key.Namespace, "--apply", "--wait")
	f.holds(t, "Pending  Waiting for the manager")
	branched(t, c, key, func(b *v1alpha1.PgStorageBranch) {
		if !b.Spec.Promote {
			t.Error("spec.promote is not set")
		}
		branchCondition(b, v1alpha1.ConditionIndependent, metav1.ConditionFalse, v1alpha1.ReasonCopying, "copies 12Mi")
	})
	f.holds(t, "Copying  copies 12Mi")
	branched(t, c, key, func(b *v1alpha1.PgStorageBranch) {
		b.Status.Independent = true
		branchCondition(b, v1alpha1.ConditionIndependent, metav1.ConditionTrue, v1alpha1.ReasonIndependent, "shares nothing")
	})
	f.holds(t, "Independent  shares nothing")
	if err := <-f.done; err != nil || !strings.Contains(f.rest.String(), "PgStorageBranch pr-123 is independent of shop.\n") {
		t.Errorf("%v\n%s", err, f.rest.String())
	}
}

func deletesHeldBranch(t *testing.T, c client.Client, key client.ObjectKey) {
	t.Helper()
	finalizers := func(list string) {
		b := &v1alpha1.PgStorageBranch{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		if err := c.Patch(t.Context(), b, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":`+list+`}}`))); err != nil {
			t.Fatal(err)
		}
	}
	finalizers(`["` + naming.BranchFinalizer + `"]`)
	branched(t, c, key, func(b *v1alpha1.PgStorageBranch) {
		b.Status.Children = []string{"pr-123-a"}
		branchCondition(b, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonWaitingForChildren, "waits for pr-123-a")
	})
	f := follow(t, "branch", "delete", key.Name, "-n", key.Namespace, "--apply", "--wait")
	f.holds(t, "pr-123 is held by pr-123-a")
	f.holds(t, "pgstoragebranch.pgstorage.dev/pr-123 deletion requested")
	finalizers("[]")
	if err := <-f.done; err != nil || !strings.Contains(f.rest.String(), "pgstoragebranch.pgstorage.dev/pr-123 deleted\n") {
		t.Errorf("%v\n%s", err, f.rest.String())
	}
	if err := c.Get(t.Context(), key, &v1alpha1.PgStorageBranch{}); !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}
