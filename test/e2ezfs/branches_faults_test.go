//go:build e2ezfs

package e2ezfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/acks"
	"github.com/pgstorage/pgstorage/internal/testing/faults"
	"github.com/pgstorage/pgstorage/internal/testing/live"
)

const (
	// atOnce branches are made at once, in so many rounds.
	atOnce = 10
	rounds = 2
)

// branchFaults are the runs of faults of one test.
type branchFaults struct{ report faults.Report }

// TestBranchFaults cuts the power of the node at each step of a branch, and fills the pool while
// a branch exists. It makes many branches of a small database at once while it is written to.
func TestBranchFaults(t *testing.T) {
	if err := helm("branches.enabled=true"); err != nil {
		t.Fatal(err)
	}
	create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	shop := branchable()
	shop.Spec.BranchPolicy = v1alpha1.BranchAny
	f := &branchFaults{report: faults.Report{Accelerator: os.Getenv("PGSTORAGE_VM_ACCELERATOR"), Seconds: "s until the branch is as declared"}}
	f.report.WhenDone(t, os.Getenv("PGSTORAGE_BRANCHES_REPORT"))
	confirmClones(t)
	step := live.InTurnOn(t, shop)
	step("from a blank disk to Ready", func(t *testing.T, shop *v1alpha1.PgStorageCluster) {
		blankDiskToReady(t, shop)
		f.report.Versions = storageVersions(t, shop)
	})
	step("power is cut while a snapshot is taken", f.cutInSnapshot)
	step("power is cut while the volumes are cloned", f.cutInClone)
	step("power is cut while a branch is deleted", f.cutInDeletion)
	step("the pool fills while a branch exists", f.poolFills)
	step("twenty branches of a database that is written to, ten at once", f.manyBranches)
	step("nothing of the branches is left on the pool", nothingLeft)
}

// cut the power of the node while clients write, once a branch has come so far. It has every row
// that was acknowledged before it was created.
func (f *branchFaults) cut(t *testing.T, shop *v1alpha1.PgStorageCluster, name string, reached func(ctx context.Context, b *v1alpha1.PgStorageBranch) error) {
	t.Helper()
	boot, writer := bootID(t), loaded(t, shop)
	rows := acks.Rows(must(t)(logs(t.Context(), writer)))
	b := branchOf(shop.Name, name)
	create(t, b)
	eventually(t, "the moment to cut", func(ctx context.Context) error { return reached(ctx, b) })
	began := f.restart(t, boot)
	copied := branched(t, b)
	f.report.Ended("power cut: "+name, len(rows), holds(t, copied, rows), time.Since(began))
	ready(t, shop)
	nothingLost(t, shop, writer)
	removeBranch(t, b)
}

// restart the node without a shutdown.
func (f *branchFaults) restart(t *testing.T, boot string) time.Time {
	t.Helper()
	began := time.Now()
	node(t, "cut", nodeName)
	node(t, "boot", nodeName)
	eventually(t, "the node to have booted", func(ctx context.Context) error {
		return live.Rebooted(ctx, c, nodeName, boot)
	})
	return began
}

// manyBranches are made at once of a source that is written to. Each has every row that was
// acknowledged before it was created, and no damaged page. The writer ends once all snapshots
// are taken: two emulated processors cannot serve it beside eleven databases.
func (f *branchFaults) manyBranches(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	for round := range rounds {
		writer := loaded(t, shop)
		rows := acks.Rows(must(t)(logs(t.Context(), writer)))
		began := time.Now()
		branches := createAtOnce(t, shop, round)
		snapshotted(t, branches)
		nothingLost(t, shop, writer)
		var copies []*v1alpha1.PgStorageCluster
		for _, b := range branches {
			copies = append(copies, branched(t, b))
		}
		took, missing := time.Since(began), 0
		for _, copied := range copies {
			missing += holds(t, copied, rows)
		}
		f.report.Ended(fmt.Sprintf("no fault: %d branches at once under load", atOnce), atOnce*len(rows), missing, took)
		for _, b := range branches {
			if err := c.Delete(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		for _, b := range branches {
			branchGone(t, b)
		}
	}
}

// createAtOnce creates the branches of a round without waiting for any.
func createAtOnce(t *testing.T, shop *v1alpha1.PgStorageCluster, round int) (branches []*v1alpha1.PgStorageBranch) {
	for i := range atOnce {
		b := branchOf(shop.Name, fmt.Sprintf("many-%d-%d", round+1, i+1))
		b.Spec.Resources = fewProcessors("384Mi")
		branches = append(branches, b)
		create(t, b)
	}
	return branches
}

// snapshotted waits until the database of each branch is created, of snapshots that are ready.
func snapshotted(t *testing.T, branches []*v1alpha1.PgStorageBranch) {
	t.Helper()
	for _, b := range branches {
		eventually(t, "the snapshots of branch "+b.Name, func(ctx context.Context) error {
			return c.Get(ctx, client.ObjectKeyFromObject(b), &v1alpha1.PgStorageCluster{})
		})
	}
}

func (f *branchFaults) cutInSnapshot(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	f.cut(t, shop, "snapshot", func(ctx context.Context, b *v1alpha1.PgStorageBranch) error {
		return c.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: naming.BranchSnapshot(b.Name, string(b.UID))}, &snapshotv1.VolumeSnapshot{})
	})
}

func (f *branchFaults) cutInClone(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	f.cut(t, shop, "clone", func(ctx context.Context, b *v1alpha1.PgStorageBranch) error {
		list := &corev1.PersistentVolumeClaimList{}
		if err := c.List(ctx, list, client.InNamespace(b.Namespace), client.MatchingLabels{naming.LabelCNPGCluster: b.Name}); err != nil {
			return err
		}
		if len(list.Items) == 0 {
			return errors.New("it has no claim")
		}
		return nil
	})
}

func (f *branchFaults) cutInDeletion(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	boot, b := bootID(t), branchOf(shop.Name, "deletion")
	create(t, b)
	branched(t, b)
	if err := c.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the database of the branch to go", func(ctx context.Context) error {
		pg := &cnpgv1.Cluster{}
		err := c.Get(ctx, client.ObjectKeyFromObject(b), pg)
		if apierrors.IsNotFound(err) || err == nil && pg.DeletionTimestamp != nil {
			return nil
		}
		return errors.Join(err, errors.New("it is there"))
	})
	began := f.restart(t, boot)
	branchGone(t, b)
	f.report.Ended("power cut: deletion", 0, 0, time.Since(began))
	ready(t, shop)
}

// filler is a dataset of the pool. The root of the node is read-only.
const filler, fillerMount = pool + "/filler", "/node/filler"

// fill the pool until 18% of it are free, 2% less than its headroom. The databases need the rest:
// the reservation of the WAL takes from it too.
func fill(t *testing.T) {
	t.Helper()
	must(t)(zfs(t.Context(), "create", "-o", "compression=off", "-o", "mountpoint="+fillerMount, filler))
	must(t)(host(t.Context(), "/bin/mountpoint", fillerMount))
	var size, allocated int64
	if _, err := fmt.Sscan(must(t)(host(t.Context(), "/sbin/zpool", "list", "-Hp", "-o", "size,allocated", pool)), &size, &allocated); err != nil {
		t.Fatal(err)
	}
	must(t)(host(t.Context(), "/bin/dd", "if=/dev/zero", "of="+fillerMount+"/file", "bs=1M", fmt.Sprintf("count=%d", (size*82/100-allocated)>>20), "conv=fsync"))
}

// poolFills until the agent says that it has too little space. The branch that exists
// continues, and another one waits until there is space again.
func (f *branchFaults) poolFills(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	older, younger := branchOf(shop.Name, "full-1"), branchOf(shop.Name, "full-2")
	create(t, older)
	copied := branched(t, older)
	fill(t)
	eventually(t, "the agent to report PoolNearlyFull", func(context.Context) error {
		if c := meta.FindStatusCondition(nodeStorage(t).Status.Conditions, v1alpha1.ConditionCapacityHealthy); c == nil || c.Reason != v1alpha1.ReasonPoolNearlyFull {
			return fmt.Errorf("it reports %+v", c)
		}
		return nil
	})
	create(t, younger)
	eventually(t, "the younger branch to wait for space", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(younger), younger); err != nil {
			return err
		}
		if r := meta.FindStatusCondition(younger.Status.Conditions, v1alpha1.ConditionReady); r == nil || r.Reason != v1alpha1.ReasonNotEnoughSpace {
			return errors.New(summary(younger.Status.Conditions))
		}
		return nil
	})
	for _, cr := range []*v1alpha1.PgStorageCluster{shop, copied} {
		if got := mustPSQL(t, cr, "CREATE TABLE written AS SELECT generate_series(1, 1000) i; SELECT count(*) FROM written"); got != "1000" {
			t.Errorf("%s has %s rows", cr.Name, got)
		}
	}
	snapshots := must(t)(zfs(t.Context(), "list", "-H", "-o", "name", "-t", "snapshot", "-r", pool))
	if n := strings.Count(snapshots, "@"); n != 2 {
		t.Errorf("%d snapshots while the pool is full:\n%s", n, snapshots)
	}
	began := time.Now()
	must(t)(zfs(t.Context(), "destroy", "-r", filler))
	branched(t, younger)
	f.report.Ended("the pool is full, and then has space", 0, 0, time.Since(began))
	removeBranch(t, younger)
	removeBranch(t, older)
	mustPSQL(t, shop, "DROP TABLE written")
}
