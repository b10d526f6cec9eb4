//go:build e2ezfs

package e2ezfs

import (
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/live"
	"github.com/pgstorage/pgstorage/internal/testing/walkthrough"
)

// TestTutorialOfBranches types the commands of the tutorial as they stand. Its database is the
// one of the other tests, in the namespace of the page.
func TestTutorialOfBranches(t *testing.T) {
	if err := helm(); err != nil {
		t.Fatal(err)
	}
	shop := branchable()
	shop.Namespace = "default"
	confirmClones(t)
	step := live.InTurnOn(t, shop)
	step("from a blank disk to Ready", blankDiskToReady)
	step("the page", func(t *testing.T, _ *v1alpha1.PgStorageCluster) {
		walkthrough.Reader(t).Walk(t, walkthrough.Branches, "branches", gather)
	})
}
