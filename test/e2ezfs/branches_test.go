//go:build e2ezfs

package e2ezfs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/acks"
	"github.com/pgstorage/pgstorage/internal/testing/live"
)

const (
	// branchScale is the scale of pgbench whose tables the source has: 150 MB.
	branchScale = "10"
	// fillerRows of 8 kB make it 600 MB. An emulated processor writes few large rows in a
	// fraction of the time that it takes for many small ones.
	fillerRows = 56_000
)

// TestBranches branches one database on ZFS, while it is written to, and deletes the branches in
// the order that a driver cannot follow.
func TestBranches(t *testing.T) {
	if err := helm("branches.enabled=true"); err != nil {
		t.Fatal(err)
	}
	create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	shop := branchable()
	shop.Spec.BranchPolicy = v1alpha1.BranchAny
	// The kernel shares processors by requests, and branches request less.
	shop.Spec.Resources.Requests[corev1.ResourceCPU] = resource.MustParse("1")
	f := &branchFigures{lost: confirmClones(t)}
	step := live.InTurnOn(t, shop)
	step("from a blank disk to Ready", blankDiskToReady)
	step("tables to copy", tablesToCopy)
	// Right before the branch, so that both start on a node that has made the tables.
	step("an empty database, to compare with", f.emptyDatabase)
	step("a branch of a source at rest", f.quietBranch)
	step("the source at its full rate while it is branched", f.branchedAtFullRate)
	step("the source at half of its rate while it is branched", f.branchedAtHalfRate)
	step("a branch while commits are acknowledged", branchUnderLoad)
	step("the branch is masked, and shares what nobody changed", branchIsMasked)
	step("a branch of a branch outlives it", branchOfBranch)
	step("a promoted branch stands alone", promotedBranch)
	step("a branch whose ttl has passed is gone", expiredBranch)
	step("nothing of the branches is left on the pool", nothingLeft)
	step("the figures reach their marks", f.publish)
}

// branchable is a database whose WAL volume takes branches. This driver counts snapshots against
// the limit of a volume, and half of it must be free.
func branchable() *v1alpha1.PgStorageCluster {
	cr := database()
	cr.Spec.Storage.WALSize = new(resource.MustParse("3Gi"))
	return cr
}

func tablesToCopy(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	// The tables of pgbench compress to a tenth, so that no branch would be small beside them.
	plain := profile()
	plain.Spec.ZFSLocalPV.Data.Compression = "off"
	declare(t, plain)
	eventually(t, "the data's dataset not to be compressed", func(ctx context.Context) error {
		have, err := zfsProperties(ctx, naming.DataDataset(pool))
		if err == nil && have["compression"].Value != "off" {
			err = errors.New(have["compression"].Value)
		}
		return err
	})
	// The server makes the rows, because the copies of a client take twice as long under emulation.
	for _, load := range [][]string{
		{"pgbench", "-i", "-I", "dtGvp", "-s", branchScale, "-q", "app"},
		{"psql", "-XAtq", "-d", "app", "-c", fmt.Sprintf("CREATE TABLE filler (b bytea STORAGE EXTERNAL); INSERT INTO filler SELECT decode(repeat(md5(i::text), 500), 'hex') FROM generate_series(1, %d) i", fillerRows)},
	} {
		out, err := live.Command(t.Context(), patience, "kubectl", append([]string{
			"-n", shop.Namespace, "exec", shop.Status.Database.Primary, "-c", "postgres", "--", "env", "PGOPTIONS=-crole=app",
		}, load...)...)
		if err != nil {
			t.Fatal(err, out)
		}
	}
	mustPSQL(t, shop, "CREATE TABLE people (name text); INSERT INTO people VALUES ('Ada Lovelace'); GRANT ALL ON people TO app; ALTER TABLE people OWNER TO app; CREATE EXTENSION amcheck")
	// Else autovacuum writes most pages again, and a branch replays that.
	mustPSQL(t, shop, "VACUUM (FREEZE, ANALYZE)")
	mustPSQL(t, shop, "CHECKPOINT")
}

func branchOf(source, name string) *v1alpha1.PgStorageBranch {
	return &v1alpha1.PgStorageBranch{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       v1alpha1.PgStorageBranchSpec{Source: v1alpha1.BranchSource{Cluster: source}, Resources: fewProcessors("768Mi")},
	}
}

// fewProcessors are resources of a branch that yields to its source.
func fewProcessors(memory string) *v1alpha1.ClusterResources {
	size := resource.MustParse(memory)
	return &v1alpha1.ClusterResources{
		Requests: map[corev1.ResourceName]resource.Quantity{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: size},
		Limits:   map[corev1.ResourceName]resource.Quantity{corev1.ResourceMemory: size},
	}
}

// branched waits until a branch is Ready, and returns its database.
func branched(t *testing.T, b *v1alpha1.PgStorageBranch) *v1alpha1.PgStorageCluster {
	t.Helper()
	eventually(t, "branch "+b.Name+" to be Ready", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		return live.AllTrue(b.Status.Conditions, b.Generation, v1alpha1.ConditionReady)
	})
	cr := &v1alpha1.PgStorageCluster{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(b), cr); err != nil {
		t.Fatal(err)
	}
	return cr
}

// branchUnderLoad has every row that was acknowledged before the branch was created, and no
// page of it is damaged.
func branchUnderLoad(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	writer := loaded(t, shop)
	create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "mask"}, Data: map[string]string{"mask.sql": "UPDATE people SET name = 'masked';"}})
	before := acks.Rows(must(t)(logs(t.Context(), writer)))
	b := branchOf(shop.Name, "pr-1")
	b.Spec.Masking = &v1alpha1.BranchMasking{ConfigMap: v1alpha1.MaskingConfigMap{Name: "mask", Key: "mask.sql"}}
	began := time.Now()
	create(t, b)
	copied := branched(t, b)
	t.Logf("the branch was Ready %s after it was created, under load", time.Since(began).Round(time.Second))
	// The writer ends here, so that it takes no processor from pg_amcheck.
	nothingLost(t, shop, writer)
	holds(t, copied, before)
}

// holds each acknowledged row, and no damaged page. It returns how many rows are missing.
func holds(t *testing.T, copied *v1alpha1.PgStorageCluster, rows map[string]bool) (missing int) {
	t.Helper()
	have := map[string]bool{}
	for id := range strings.Lines(mustPSQL(t, copied, "SELECT id FROM acked")) {
		have[strings.TrimSpace(id)] = true
	}
	for id := range rows {
		if !have[id] {
			missing++
		}
	}
	t.Logf("%d rows were acknowledged before %s was created, and %d of them are missing in it; it has %d", len(rows), copied.Name, missing, len(have))
	if len(rows) == 0 || missing > 0 {
		t.Errorf("%d of %d acknowledged rows are missing in %s", missing, len(rows), copied.Name)
	}
	sound(t, copied)
	return missing
}

// sound says that no page and no index of a database is damaged.
func sound(t *testing.T, cr *v1alpha1.PgStorageCluster) {
	t.Helper()
	out, err := live.Command(t.Context(), patience, "kubectl", "-n", cr.Namespace, "exec", cr.Status.Database.Primary, "-c", "postgres", "--",
		"pg_amcheck", "--install-missing", "--heapallindexed", "app")
	if err != nil {
		t.Errorf("pg_amcheck of %s: %v %s", cr.Name, err, out)
	}
}

func branchIsMasked(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	copied := branched(t, branchOf(shop.Name, "pr-1"))
	if got := mustPSQL(t, copied, "SELECT name FROM people"); got != "masked" {
		t.Errorf("the branch has %q", got)
	}
	if got := mustPSQL(t, shop, "SELECT name FROM people"); got != "Ada Lovelace" {
		t.Errorf("the source has %q", got)
	}
	if got := mustPSQL(t, copied, "SELECT count(*) FROM pg_hba_file_rules WHERE auth_method = 'reject'"); got != "0" {
		t.Errorf("%s rules still reject connections", got)
	}
	for _, role := range []string{"Data", "WAL"} {
		dataset := volume(t, copied, role).Dataset
		origin := zfsGet(t, dataset)["origin"].Value
		if !strings.HasPrefix(origin, volume(t, shop, role).Dataset+"@") {
			t.Errorf("%s is a clone of %q", dataset, origin)
		}
	}
}

// branchOfBranch deletes the older of two branches first. Its database goes at once, and its
// volumes stay until the younger one is deleted.
func branchOfBranch(t *testing.T, _ *v1alpha1.PgStorageCluster) {
	older, younger := branchOf("shop", "pr-1"), branchOf("pr-1", "pr-1-a")
	create(t, younger)
	copied := branched(t, younger)
	if got := mustPSQL(t, copied, "SELECT name FROM people"); got != "masked" {
		t.Errorf("the branch of the branch has %q", got)
	}
	if err := c.Delete(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the older branch to wait for the younger", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(older), older); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(older.Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil || ready.Reason != v1alpha1.ReasonWaitingForChildren || !strings.Contains(ready.Message, "pr-1-a") {
			return errors.New(summary(older.Status.Conditions))
		}
		return nil
	})
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(older), &cnpgv1.Cluster{}); !apierrors.IsNotFound(err) {
		t.Errorf("the database of the older branch: %v", err)
	}
	if got := mustPSQL(t, copied, "SELECT count(*) FROM pgbench_accounts"); got == "0" {
		t.Error("the younger branch lost its tables")
	}
	began := time.Now()
	if err := c.Delete(t.Context(), younger); err != nil {
		t.Fatal(err)
	}
	branchGone(t, younger)
	branchGone(t, older)
	t.Logf("both branches were gone %s after the younger was deleted", time.Since(began).Round(time.Second))
}

func branchGone(t *testing.T, b *v1alpha1.PgStorageBranch) {
	t.Helper()
	eventually(t, "branch "+b.Name+" to be gone", func(ctx context.Context) error {
		err := c.Get(ctx, client.ObjectKeyFromObject(b), b)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err == nil {
			err = errors.New(summary(b.Status.Conditions))
		}
		return err
	})
}

func promotedBranch(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	b := branchOf(shop.Name, "pr-2")
	create(t, b)
	branched(t, b)
	began := time.Now()
	if err := c.Patch(t.Context(), b, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"promote":true}}`))); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the branch to be independent", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		return live.AllTrue(b.Status.Conditions, b.Generation, v1alpha1.ConditionReady, v1alpha1.ConditionIndependent)
	})
	t.Logf("the branch was independent after %s", time.Since(began).Round(time.Second))
	alone := branched(t, b)
	ready(t, alone)
	for _, role := range []string{"Data", "WAL"} {
		// A dataset that is not a clone has no such property.
		dataset := volume(t, alone, role).Dataset
		if origin := zfsGet(t, dataset)["origin"].Value; origin != "" {
			t.Errorf("%s is a clone of %s", dataset, origin)
		}
	}
	if err := c.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	branchGone(t, b)
	ready(t, alone)
	if got := mustPSQL(t, alone, "SELECT name FROM people"); got != "Ada Lovelace" {
		t.Errorf("the promoted branch has %q", got)
	}
	// A promoted branch keeps its volumes, which is the default of every database.
	if err := c.Patch(t.Context(), alone, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"deletionPolicy":"Delete"}}`))); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), alone); err != nil {
		t.Fatal(err)
	}
	gone(t, alone)
}

func expiredBranch(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	b := branchOf(shop.Name, "pr-3")
	b.Spec.TTL = "1h"
	create(t, b)
	branched(t, b)
	if err := c.Patch(t.Context(), b, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"ttl":"1m"}}`))); err != nil {
		t.Fatal(err)
	}
	branchGone(t, b)
}

// nothingLeft of the branches: the pool has the volumes of the source alone, and no snapshot.
func nothingLeft(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	wanted := map[string]bool{}
	for _, v := range shop.Status.Volumes {
		wanted[v.Dataset] = true
	}
	eventually(t, "the pool to have the source alone", func(ctx context.Context) error {
		out, err := zfs(ctx, "list", "-H", "-o", "name", "-t", "filesystem,snapshot", "-r", naming.DataDataset(pool), naming.WALDataset(pool))
		if err != nil {
			return err
		}
		for name := range strings.Lines(out) {
			name = strings.TrimSpace(name)
			if strings.Count(name, "/") > 1 && !wanted[name] || strings.Contains(name, "@") {
				return fmt.Errorf("%s is left", name)
			}
		}
		return nil
	})
}
