package plugin

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

// TestVerifyAnnotatesAndFollows requests a verification. The test writes the status as the
// operator would.
func TestVerifyAnnotatesAndFollows(t *testing.T) {
	c := apiserver.Client(t, config)
	const ns = "plugin-verify"
	namespace(t, c, ns)
	cr := documents(t, samples+"cluster-quorum.yaml")[0]
	cr.SetNamespace(ns)
	cr.SetName("shop")
	backup := map[string]any{"objectStore": map[string]any{"name": "lake"}, "schedules": []any{map[string]any{"name": "nightly", "schedule": "@daily"}}}
	if err := unstructured.SetNestedMap(cr.Object, backup, "spec", "backup"); err != nil {
		t.Fatal(err)
	}
	create(t, c, cr)
	key := client.ObjectKey{Namespace: ns, Name: "shop"}
	if _, err := plugin(t, "verify", "shop", "-n", ns); err == nil || !strings.Contains(err.Error(), "does not declare spec.backup.verify") || requested(t, c, key) != "" {
		t.Errorf("%v, requested %q", err, requested(t, c, key))
	}
	if _, err := plugin(t, "verify", "other", "-n", ns); err == nil || !strings.Contains(err.Error(), "PgStorageCluster other does not exist") {
		t.Error(err)
	}
	if err := c.Patch(t.Context(), cr, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"backup":{"verify":{"schedule":"0 4 * * *"}}}}`))); err != nil {
		t.Fatal(err)
	}
	if out := must(t, "verify", "shop", "-n", ns); out != "Requested a verification of the backups of plugin-verify/shop.\nSee its result with: kubectl pgstorage status shop -n plugin-verify\n" {
		t.Error(out)
	}
	if at, err := time.Parse(time.RFC3339, requested(t, c, key)); err != nil || time.Since(at) > patience {
		t.Errorf("%s, %v", at, err)
	}
	if _, err := plugin(t, "verify", "shop", "-n", ns, "--wait", "--timeout", "200ms"); err == nil || !strings.HasPrefix(err.Error(), "timeout expired") {
		t.Error(err)
	}
	for reason, want := range map[string]error{v1alpha1.ReasonVerified: nil, v1alpha1.ReasonRestoreDamaged: cli.ErrFindings} {
		f := follow(t, "verify", "shop", "-n", ns, "--wait")
		f.holds(t, "Waiting for the condition BackedUp")
		started := metav1.NewTime(parseTime(t, requested(t, c, key)))
		verifying(t, c, key, &v1alpha1.BackupVerificationStatus{Step: v1alpha1.VerifyRestoring, Cluster: "shop-verify-1", StartTime: &started})
		f.holds(t, "Restoring: ")
		verifying(t, c, key, &v1alpha1.BackupVerificationStatus{Step: v1alpha1.VerifyRemoving, StartTime: &started, Last: &v1alpha1.BackupVerificationResult{
			Reason: reason, Message: "as found", CompletionTime: &started, RestoreSeconds: new(int64(42)),
			Checks: []v1alpha1.IntegrityCheck{{Name: "SystemIdentifier", Result: v1alpha1.CheckPassed, Message: "the backup is of this database"}},
		}})
		f.holds(t, reason+": as found")
		if err := <-f.done; !errors.Is(err, want) || !strings.Contains(f.rest.String(), "restored in 42s\n") || !strings.Contains(f.rest.String(), "SystemIdentifier   Passed") {
			t.Errorf("%s: %v\n%s", reason, err, f.rest.String())
		}
		verifying(t, c, key, nil)
	}
}

func parseTime(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// requested is the annotation that requests a verification.
func requested(t *testing.T, c client.Client, key client.ObjectKey) string {
	t.Helper()
	cr := &v1alpha1.PgStorageCluster{}
	if err := c.Get(t.Context(), key, cr); err != nil {
		t.Fatal(err)
	}
	return cr.Annotations[naming.AnnotationVerify]
}

// verifying writes the status that the operator would write.
func verifying(t *testing.T, c client.Client, key client.ObjectKey, s *v1alpha1.BackupVerificationStatus) {
	t.Helper()
	cr := &v1alpha1.PgStorageCluster{}
	if err := c.Get(t.Context(), key, cr); err != nil {
		t.Fatal(err)
	}
	before := cr.DeepCopy()
	cr.Status.BackupVerification = s
	if err := c.Status().Patch(t.Context(), cr, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// holds waits for a line that has a text behind its time.
func (f *following) holds(t *testing.T, want string) {
	t.Helper()
	for {
		got, err, ended := f.next()
		if ended {
			t.Fatalf("ended before %q: %v\n%s", want, err, f.rest.String())
		}
		if strings.Contains(got, want) {
			return
		}
	}
}
