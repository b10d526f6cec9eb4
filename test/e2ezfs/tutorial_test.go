//go:build e2ezfs

package e2ezfs

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/live"
	"github.com/pgstorage/pgstorage/internal/testing/process"
	"github.com/pgstorage/pgstorage/internal/testing/s3pod"
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

// TestTutorialOfS3NBD types the commands of the tutorial as they stand. A stand-in for Amazon's APIs
// answers those for Amazon. All others use a store that runs beside the node.
func TestTutorialOfS3NBD(t *testing.T) {
	if err := live.Needs("test-e2e-s3nbd-tutorial", "PGSTORAGE_ZEROFS_IMAGE", "PGSTORAGE_S3_IMAGE"); err != nil {
		t.Fatal(err)
	}
	walkthrough.Reader(t, amazon(t)...).Walk(t, walkthrough.S3NBD, "aws", gather)
	store := s3pod.Store{
		Namespace: storeNamespace, Image: os.Getenv("PGSTORAGE_S3_IMAGE"), AccessKey: rand.Text(), SecretKey: rand.Text(),
		NodeSelector: map[string]string{"node-role.kubernetes.io/control-plane": ""}, OnNode: true,
	}
	create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: storeNamespace}})
	create(t, store.Objects()...)
	// The page labels a node that no other profile has.
	must(t)(command(t.Context(), "kubectl", "label", "node", nodeName, "pgstorage.dev/pool-"))
	reader := walkthrough.Reader(t, "NODE="+nodeName, "ENDPOINT="+address(t), "ADMIN_KEY_ID="+store.AccessKey, "ADMIN_SECRET="+store.SecretKey,
		"ZEROFS_IMAGE="+os.Getenv("PGSTORAGE_ZEROFS_IMAGE"), "DEBUG_IMAGE="+driverImage(t))
	reader.Walk(t, walkthrough.S3NBD, "own-store", gather)
	reader.Walk(t, walkthrough.S3NBD, "s3nbd", gather)
}

// amazon starts a stand-in for Amazon's APIs, and returns the environment by which the AWS CLI
// finds it.
func amazon(t *testing.T) []string {
	t.Helper()
	at := must(t)(process.Address(t.Context()))
	host, port, err := net.SplitHostPort(at)
	if err != nil {
		t.Fatal(err)
	}
	server, err := process.Start(exec.Command("moto_server", "-H", host, "-p", port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Kill() })
	url := "http://" + at
	if err := server.UntilReady(t.Context(), time.Minute, func(ctx context.Context) error {
		_, err := command(ctx, "curl", "-fsS", url)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return []string{"AWS_ENDPOINT_URL=" + url, "AWS_ACCESS_KEY_ID=stand-in", "AWS_SECRET_ACCESS_KEY=stand-in"}
}

// address of the store, once it runs.
func address(t *testing.T) (url string) {
	t.Helper()
	eventually(t, "the store to run", func(ctx context.Context) error {
		list := &corev1.PodList{}
		if err := c.List(ctx, list, client.InNamespace(storeNamespace)); err != nil {
			return err
		}
		if len(list.Items) != 1 || list.Items[0].Status.Phase != corev1.PodRunning {
			return fmt.Errorf("%d pods, or it is not running", len(list.Items))
		}
		url = s3pod.Address(&list.Items[0])
		_, err := command(ctx, "curl", "-sS", "-o", "/dev/null", url)
		return err
	})
	return url
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
