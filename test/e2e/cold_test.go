//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/long"
)

// TestCachesAreEmptiedBeforeEachRun reads a table that is in no memory, on a cluster that is there for it.
// That the caches were empty is what the runner proves before it measures, or it fails.
func TestCachesAreEmptiedBeforeEachRun(t *testing.T) {
	long.Skip(t, "make test-e2e")
	if err := helm("matrixClusters.enabled=true"); err != nil {
		t.Fatal(err)
	}
	profile(t)
	b := tiers(namespace(t))
	b.Name, b.Spec.Template.Durability = "cold", v1alpha1.DurabilityLocal
	b.Spec.Matrix = &v1alpha1.BenchmarkMatrix{Repeats: 1, Rest: "0s"}
	b.Spec.Pgbench = v1alpha1.PgbenchSpec{Scale: 8, Script: v1alpha1.ScriptSelectOnly, Clients: []int32{4}, Duration: "5s", WarmUp: "0s", ColdCache: true}
	create(t, b)
	eventually(t, "the matrix to end", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		if b.Status.CompletionTime == nil || !meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionCleanedUp) {
			return fmt.Errorf("phase %s, runs %s", b.Status.Phase, progressOf(b.Status.Matrix))
		}
		return nil
	})
	if m := b.Status.Matrix; m.Succeeded != 1 {
		t.Fatalf("%+v", m.Variants)
	}
	text, err := command(t.Context(), os.Getenv("PGSTORAGE_PLUGIN"), "report", b.Name, "-n", b.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "emptied before each run") {
		t.Errorf("the report does not say that the caches were empty:\n%s", text)
	}
}
