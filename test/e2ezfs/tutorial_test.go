//go:build e2ezfs

package e2ezfs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

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
	step("the page", func(t *testing.T, shop *v1alpha1.PgStorageCluster) {
		reader := walkthrough.Reader(t)
		migrations(t, reader.Dir)
		reader.Walk(t, walkthrough.Branches, "branches", gather)
		eventually(t, "the branch of the migration to be deleted", func(ctx context.Context) error {
			all := &v1alpha1.PgStorageBranchList{}
			if err := c.List(ctx, all, client.InNamespace(shop.Namespace)); err != nil || len(all.Items) == 0 {
				return err
			}
			return fmt.Errorf("%d branches are left", len(all.Items))
		})
	})
}

// TestTutorialOfZFS types the commands of the tutorial as they stand. In a run of 3 s, as of the
// other tutorials, an emulated processor may end no transaction.
func TestTutorialOfZFS(t *testing.T) {
	reader := walkthrough.Reader(t, "SCALE=2", "DURATION=15s", "DISK=/dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_A")
	reader.Walk(t, walkthrough.ZFS, "zfs-node", gather)
}

// migrations writes what a reader with an application has: a migration, and a test that reads what
// it changed and what the branch has masked.
func migrations(t *testing.T, dir string) {
	t.Helper()
	for name, content := range map[string]string{
		"migrations/next.sql": "ALTER TABLE customers ADD COLUMN country text NOT NULL DEFAULT 'NL';\n",
		"test.sh":             "#!/bin/sh\ntest \"$(psql -XAtqc \"SELECT count(*) FROM customers WHERE country = 'NL' AND email LIKE 'customer-%@example.com'\")\" = 100000\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
