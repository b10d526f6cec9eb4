//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/record"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/benchmarks"
	"github.com/pgstorage/pgstorage/internal/testing/document"
	"github.com/pgstorage/pgstorage/internal/testing/live"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

const (
	// suite names the page of the results.
	suite      = "tmpfs-v-disk"
	coldScale  = 8
	coldClient = 4
	coldRuns   = 3
	// warmFor is the time of a run before the caches are dropped, and coldRun that of a run.
	warmFor = time.Minute
	coldRun = "2m30s"
	// slowDisk is where hack/slow-disk.sh mounts the disk in the node.
	slowDisk = "/mnt/slow"
)

// slowRead is how much longer a read of the slow disk takes; empty where there is none.
var slowRead = os.Getenv("PGSTORAGE_SLOW_DISK")

// coldCaches is a database on the node's own disk. It has a read pool on a disk whose reads are
// slow, and one in memory.
type coldCaches struct {
	namespace string
	node      string
	shop      *v1alpha1.PgStorageCluster
}

// TestTmpfsVDisk drops the caches of a node while its read pools are measured. One is on a slow
// disk, and one in memory. It records how each recovers.
func TestTmpfsVDisk(t *testing.T) {
	if slowRead == "" {
		t.Fatal("PGSTORAGE_SLOW_DISK is not set: run make test-e2e-tmpfs, which makes the disk")
	}
	if err := helm(forPools...); err != nil {
		t.Fatal(err)
	}
	profile(t)
	m := &coldCaches{node: lastNode(t), namespace: namespace(t)}
	if !t.Run("a read pool on disk and one in memory", m.made) {
		return
	}
	disk, memory := m.measured(t, "disk"), m.measured(t, "memory")
	m.publish(t, disk, memory)
}

func (m *coldCaches) made(t *testing.T) {
	m.slowVolume(t)
	create(t, &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "slow"},
		Spec:       v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeExternal, External: &v1alpha1.ExternalProfile{StorageClassName: "slow"}},
	}, &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "memory"},
		Spec: v1alpha1.PgStorageProfileSpec{
			Type: v1alpha1.ProfileTypeMemory, NodeSelector: map[string]string{memoryLabel: "yes"},
			Memory: &v1alpha1.MemoryProfile{MaxPerNode: resource.MustParse("2Gi")},
		},
	})
	m.shop = cluster(m.namespace, "shop")
	m.shop.Spec.Storage.Size, m.shop.Spec.DeletionPolicy = resource.MustParse("3Gi"), v1alpha1.DeletionDelete
	// The benchmark loads its tables faster than the pool on the slow disk takes them.
	m.shop.Spec.Postgres.Parameters = map[string]string{"wal_keep_size": "1GB"}
	// Both pools have little memory of their own, so the caches of the node matter.
	small := map[string]string{"shared_buffers": "16MB"}
	m.shop.Spec.ReadPools = []v1alpha1.ReadPool{
		{Name: "disk", Profile: "slow", Storage: &v1alpha1.ReadPoolStorage{Size: resource.MustParse("3Gi")}, Parameters: small},
		{Name: "memory", Profile: "memory", Storage: &v1alpha1.ReadPoolStorage{Size: resource.MustParse("1280Mi")}, Parameters: small},
	}
	create(t, m.shop)
	ready(t, m.shop)
	for _, p := range m.shop.Spec.ReadPools {
		cr := m.pool(p.Name)
		ready(t, cr)
		patch(t, cr, func(s *v1alpha1.PgStorageClusterSpec) { s.BenchmarkPolicy = v1alpha1.BenchmarkAny })
	}
	if out := kubectl(t, "-n", m.namespace, "exec", m.pool("disk").Name+"-1", "-c", "postgres", "--", "df", "--output=source", "/var/lib/postgresql/data"); !strings.Contains(out, "slow") {
		t.Errorf("the pool disk is on %s", out)
	}
}

// slowVolume of a class of its own, on the slow disk.
func (m *coldCaches) slowVolume(t *testing.T) {
	if out, err := onNode(t, m.node, "mkdir -p "+slowDisk+"/volume && mountpoint "+slowDisk); err != nil {
		t.Fatal(out, err)
	}
	wait := storagev1.VolumeBindingWaitForFirstConsumer
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "slow"}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &wait}
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "slow"},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName: class.Name, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("3Gi")},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: slowDisk + "/volume"}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{m.node}}},
			}}}},
		},
	}
	create(t, class, volume) // they end with the kind cluster of this test
}

func (m *coldCaches) pool(name string) *v1alpha1.PgStorageCluster {
	return &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: naming.ReadPool(m.shop.Name, name)}}
}

// measured is how a pool recovers in each run of a benchmark, which has the pool's name.
func (m *coldCaches) measured(t *testing.T, name string) []benchmarks.Recovery {
	t.Helper()
	b := &v1alpha1.PgBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: name},
		Spec: v1alpha1.PgBenchmarkSpec{
			Cluster: m.pool(name).Name,
			Pgbench: v1alpha1.PgbenchSpec{Scale: coldScale, Script: v1alpha1.ScriptSelectOnly, Clients: []int32{coldClient}, Duration: coldRun, WarmUp: "1m30s", Repeats: coldRuns},
		},
	}
	create(t, b)
	var dropped []time.Time
	for run := range coldRuns {
		begins(t, b, run+1)
		dropped = append(dropped, m.drop(t))
	}
	eventually(t, "the result of "+name, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		return live.AllTrue(b.Status.Conditions, b.Generation, v1alpha1.ConditionComplete, v1alpha1.ConditionCleanedUp)
	})
	if b.Status.Durability != v1alpha1.DurabilityReadOnly {
		t.Errorf("the tier is %s", b.Status.Durability)
	}
	return recoveries(t, b, dropped)
}

// begins waits until a run of a benchmark has been under way for the time that is warm.
func begins(t *testing.T, b *v1alpha1.PgBenchmark, run int) {
	t.Helper()
	prefix := fmt.Sprintf("run %d of %d: %d clients, ", run, coldRuns, coldClient)
	var since time.Time
	eventually(t, fmt.Sprintf("run %d of %s", run, b.Name), func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		if b.Status.CompletionTime != nil {
			t.Fatalf("%s ended: %+v", b.Name, b.Status.Conditions)
		}
		if b.Status.Run == nil || !strings.HasPrefix(b.Status.Run.Message, prefix) {
			return fmt.Errorf("%s: %+v", b.Status.Phase, b.Status.Conditions)
		}
		if since.IsZero() {
			since = time.Now()
		}
		if warm := time.Since(since); warm < warmFor {
			return fmt.Errorf("it is warm for %s", warm.Round(time.Second))
		}
		return nil
	})
}

// drop the page cache of the node, which is the machine's, and return when that was.
func (m *coldCaches) drop(t *testing.T) time.Time {
	t.Helper()
	if out, err := onNode(t, m.node, "sync && echo 3 > /proc/sys/vm/drop_caches"); err != nil {
		t.Fatal(out, err)
	}
	return time.Now()
}

// recoveries of the runs in the record of a benchmark.
func recoveries(t *testing.T, b *v1alpha1.PgBenchmark, dropped []time.Time) []benchmarks.Recovery {
	t.Helper()
	kept := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: b.Namespace, Name: b.Status.Run.Record}, kept); err != nil {
		t.Fatal(err)
	}
	r, err := record.Decode(kept.BinaryData)
	if err == nil && (len(r.Runs) != len(dropped) || r.Thinned > 1) {
		err = errors.New("the record has not every second of every run")
	}
	if err != nil {
		t.Fatal(err)
	}
	var out []benchmarks.Recovery
	for i, run := range r.Runs {
		one, err := benchmarks.RecoveryOf(run, dropped[i])
		if err != nil {
			t.Fatalf("run %d of %s: %v", i+1, b.Name, err)
		}
		t.Logf("%s, run %d: %.0f TPS before the caches were dropped, %.0f in the 10 s after, %.0f at the end", b.Name, i+1, one.Warm, one.Cold, one.Last)
		out = append(out, one)
	}
	return out
}

// publish the figures and the curves in docs/benchmarks, and judge the figures.
func (m *coldCaches) publish(t *testing.T, disk, memory []benchmarks.Recovery) {
	t.Helper()
	compared, err := benchmarks.Compare(memory, disk)
	if err != nil {
		t.Fatal(err)
	}
	missed := compared.Missed()
	folder := filepath.Join(repository.Root(), "docs", "benchmarks")
	place := document.Place{Begin: "<!-- written by make test-e2e-tmpfs -->", End: "<!-- end of what make test-e2e-tmpfs writes -->"}
	if err := place.Write(filepath.Join(folder, suite+".md"), m.page(disk, memory, compared, missed)); err != nil {
		t.Error(err)
	}
	curves := filepath.Join(folder, suite+".svg")
	if out, err := command(t.Context(), os.Getenv("PGSTORAGE_PLUGIN"), "report", "disk", "memory", "-n", m.namespace, "-f", curves); err != nil {
		t.Fatal(out, err)
	}
	drawn, err := os.ReadFile(curves)
	if err != nil || !strings.Contains(string(drawn), "TPS over time, all runs") {
		t.Errorf("the report has no chart of both curves: %v", err)
	}
	for _, text := range missed {
		t.Error("missed:", text)
	}
}

// page has the figures in Markdown.
func (m *coldCaches) page(disk, memory []benchmarks.Recovery, c benchmarks.Comparison, missed []string) string {
	verdict := "PASS"
	if len(missed) > 0 {
		verdict = "MISS: " + strings.Join(missed, "; ")
	}
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "Date: %s. %d runs of %s each, scale %d, %d clients. A read of the disk takes %s longer than one of the host's memory.\n\n",
		time.Now().UTC().Format(time.DateOnly), coldRuns, coldRun, coldScale, coldClient, slowRead)
	_, _ = fmt.Fprintf(&b, "Medians: in the first 10 s the pool in memory has %.2f x the TPS of the pool on disk (mark %d). It keeps %.0f%% of its warm rate (mark %.0f%%), the pool on disk %.0f%%. %s\n\n",
		c.Gain, benchmarks.LeastGain, c.MemoryKept*100, (1-benchmarks.MostLoss)*100, c.DiskKept*100, verdict)
	b.WriteString("| pool | run | TPS before | TPS in the first 10 s | TPS in the last 30 s |\n|---|---|---|---|---|\n")
	for _, side := range []struct {
		name string
		runs []benchmarks.Recovery
	}{{"disk", disk}, {"memory", memory}} {
		for i, r := range side.runs {
			_, _ = fmt.Fprintf(&b, "| %s | %d | %.0f | %.0f | %.0f |\n", side.name, i+1, r.Warm, r.Cold, r.Last)
		}
	}
	b.WriteString("\n![TPS over time](" + suite + ".svg)\n")
	return b.String()
}
