//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/faults"
	"github.com/pgstorage/pgstorage/internal/testing/live"
)

const (
	// costRounds is how often TPS is measured in each way.
	costRounds = 4
	// leastBackedUpTPS during a base backup, compared with TPS without archive and backup.
	leastBackedUpTPS = 0.90
	// mostVerified is how long a verification of the database of 1 GB may take.
	mostVerified = 3 * time.Minute
	// gigabyte is the scale of pgbench whose database has 1 GB.
	gigabyte = "70"
)

// costly is a database of 1 GB. Postgres and the sidecar of the plugin have a limit each, so
// that a backup takes no processor from Postgres.
type costly struct {
	*vault
	report faults.Report
}

// TestBackupCost measures what an archive and a base backup cost the primary, and how long the
// verification of 1 GB takes.
func TestBackupCost(t *testing.T) {
	v := &costly{vault: vaultIn(t), report: faults.Report{Seconds: "seconds"}}
	v.report.WhenDone(t, os.Getenv("PGSTORAGE_PROTECTION_REPORT"))
	step := live.InTurn(t)
	step("a database of 1 GB", v.begin)
	step("transactions without archive, with it, and during a base backup", v.rounds)
	step("1 GB is verified", v.verified)
}

func (v *costly) begin(t *testing.T) {
	store := v.store.ObjectStore("lake")
	limits := map[string]any{"limits": map[string]any{"cpu": "500m"}, "requests": map[string]any{"cpu": "100m"}}
	if err := unstructured.SetNestedMap(store.Object, limits, "spec", "instanceSidecarConfiguration", "resources"); err != nil {
		t.Fatal(err)
	}
	// gzip of 1 GB takes the sidecar minutes with its limit. snappy and lz4, which are faster, are
	// in the published image only.
	unstructured.RemoveNestedField(store.Object, "spec", "configuration", "data")
	create(t, store)
	v.shop.Spec.Resources.Limits = amounts("1", "1Gi")
	v.shop.Spec.Resources.Requests[corev1.ResourceMemory] = v.shop.Spec.Resources.Limits[corev1.ResourceMemory]
	v.shop.Spec.Storage.Size = amounts("1", "8Gi")[corev1.ResourceMemory]
	v.shop.Spec.Backup.Verify = &v1alpha1.BackupVerifySpec{Schedule: yearly, Suspend: new(true)}
	create(t, v.shop)
	ready(t, v.shop)
	has(t, v.shop, v1alpha1.ConditionBackedUp, metav1.ConditionTrue, v1alpha1.ReasonRecoverable)
	pgbench(t, v.shop, "-i", "-s", gigabyte, "-q")
	size := psql(t, v.shop.Namespace, v.shop.Status.Database.Primary, "CHECKPOINT; SELECT pg_size_pretty(pg_database_size('app'))")
	t.Logf("the database has %s", size)
	v.report.Versions = "Barman Cloud plugin 0.15.0, PostgreSQL " + serverVersion(t, v.shop)
	v.archived(t)
}

// rounds measures in turn, because a machine is not as fast in each minute.
func (v *costly) rounds(t *testing.T) {
	var bare, archiving, during []float64
	for round := range costRounds {
		v.archiver(t, "STOP")
		bare = append(bare, tps(t, v.shop, roundSeconds))
		v.archiver(t, "CONT")
		v.archived(t)
		archiving = append(archiving, tps(t, v.shop, roundSeconds))
		v.archived(t)
		name := fmt.Sprintf("cost-%d", round)
		v.backUp(t, name)
		v.inPhase(t, name, cnpgv1.BackupPhaseRunning, cnpgv1.BackupPhaseStarted)
		during = append(during, tps(t, v.shop, roundSeconds))
		b := &cnpgv1.Backup{}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: v.shop.Namespace, Name: name}, b); err != nil {
			t.Fatal(err)
		}
		if b.Status.Phase == cnpgv1.BackupPhaseCompleted {
			t.Errorf("the backup ended before pgbench did")
		}
		v.inPhase(t, name, cnpgv1.BackupPhaseCompleted)
		v.archived(t)
	}
	t.Logf("TPS without archive %.0f, with it %.0f, during a base backup %.0f", bare, archiving, during)
	err := faults.WriteCost(os.Getenv("PGSTORAGE_PROTECTION_REPORT"), "a backup", time.Now().UTC().Format(time.DateOnly),
		faults.Way{Name: "without archive", TPS: bare},
		faults.Way{Name: "WAL is archived", TPS: archiving},
		faults.Way{Name: "WAL is archived, and a base backup runs", TPS: during, Mark: leastBackedUpTPS})
	if err != nil {
		t.Error(err)
	}
}

// inPhase waits until a Backup is in one of some phases.
func (v *vault) inPhase(t *testing.T, name string, phases ...cnpgv1.BackupPhase) {
	t.Helper()
	eventually(t, "Backup "+name, func(ctx context.Context) error {
		b := &cnpgv1.Backup{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: v.shop.Namespace, Name: name}, b); err != nil {
			return err
		}
		if !slices.Contains(phases, b.Status.Phase) {
			return fmt.Errorf("it is %s: %s", b.Status.Phase, b.Status.Error)
		}
		return nil
	})
}

func (v *costly) verified(t *testing.T) {
	began := time.Now()
	last := v.verify(t)
	took := time.Since(began)
	if last.Reason != v1alpha1.ReasonVerified {
		t.Fatalf("%+v", last)
	}
	t.Logf("%s were verified in %d s of restore and %d s of checks; nothing was left of it after %s", last.Size, *last.RestoreSeconds, *last.CheckSeconds, took.Round(time.Second))
	if took > mostVerified {
		t.Errorf("it took %s, want at most %s", took, mostVerified)
	}
	v.report.Ended("a database of 1 GB is verified: from the request until nothing is left of it", 0, 0, took)
}
