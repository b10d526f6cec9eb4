//go:build e2ezfs

package e2ezfs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
	// suite names the page of the results, and the taint that keeps the runner off the machine.
	suite      = "tmpfs-v-disk"
	coldScale  = 8
	coldClient = 4
	coldRuns   = 3
	// warmFor is the time of a run before the caches are dropped, and coldRun that of a run.
	warmFor = time.Minute
	coldRun = "3m"
	// mostARC is what the ARC may hold after it was emptied: its least size, and what ZFS
	// itself needs. The tables of coldScale have 120 MB.
	leastARC, mostARC = 32 << 20, 72 << 20
)

// coldCaches is a database on the control plane's disk. It has a read pool on ZFS and one in
// memory, both on the machine whose disk is slow.
type coldCaches struct {
	shop *v1alpha1.PgStorageCluster
	// arc is the size of the ARC after each drop, in bytes.
	arc []int64
}

// TestTmpfsVDisk drops the caches of a machine while its read pools are measured. One is on its
// disk, and one in its memory. It records how each recovers.
func TestTmpfsVDisk(t *testing.T) {
	if err := helm("readPools.enabled=true", "memory.enabled=true", "agent.dryRun=false"); err != nil {
		t.Fatal(err)
	}
	create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	m := &coldCaches{}
	if !t.Run("a read pool on disk and one in memory", m.made) {
		return
	}
	taint(t)
	disk, memory := m.measured(t, "disk"), m.measured(t, "memory")
	m.publish(t, disk, memory)
}

func (m *coldCaches) made(t *testing.T) {
	onZFS := profile()
	onZFS.Spec.ZFSLocalPV.ARCMax = resource.NewQuantity(768<<20, resource.BinarySI)
	// Compressed, the tables would fit into the least ARC that ZFS accepts.
	onZFS.Spec.ZFSLocalPV.Data.Compression = "off"
	slow := &v1alpha1.InstanceProbes{Reason: "emulated processors, and a slow disk", Timeout: "60s", Liveness: "20m", Startup: "2h"}
	onZFS.Spec.InstanceProbes = slow
	declare(t, onZFS)
	declare(t, &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "standard"},
		Spec:       v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeExternal, External: &v1alpha1.ExternalProfile{StorageClassName: "standard"}},
	})
	declare(t, &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "memory"},
		Spec: v1alpha1.PgStorageProfileSpec{
			Type: v1alpha1.ProfileTypeMemory, NodeSelector: map[string]string{"pgstorage.dev/pool": pool},
			Memory: &v1alpha1.MemoryProfile{MaxPerNode: resource.MustParse("1536Mi")}, InstanceProbes: slow,
		},
	})
	m.shop = database()
	m.shop.Spec.Profile, m.shop.Spec.Storage = "standard", v1alpha1.ClusterStorage{Size: resource.MustParse("3Gi")}
	m.shop.Spec.CNPG = &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(onControlPlane)}}
	// The benchmark loads its tables faster than the pool on the slow disk takes them.
	// An emulated machine answers later than CloudNativePG's timeouts of 5 s.
	patient := map[string]string{"wal_sender_timeout": "10min", "wal_receiver_timeout": "10min"}
	m.shop.Spec.Postgres.Parameters = maps.Clone(patient)
	m.shop.Spec.Postgres.Parameters["wal_keep_size"] = "1GB"
	// Both pools have little memory of their own, so the caches of the node matter.
	small := maps.Clone(patient)
	small["shared_buffers"] = "16MB"
	m.shop.Spec.ReadPools = []v1alpha1.ReadPool{
		{Name: "disk", Profile: onZFS.Name, Storage: &v1alpha1.ReadPoolStorage{Size: resource.MustParse("3Gi")}, Parameters: small},
		{Name: "memory", Profile: "memory", Storage: &v1alpha1.ReadPoolStorage{Size: resource.MustParse("1280Mi")}, Parameters: small},
	}
	create(t, m.shop)
	allTrue(t, m.shop, v1alpha1.ConditionReady) // External volumes are not read back
	for _, p := range m.shop.Spec.ReadPools {
		cr := m.pool(p.Name)
		ready(t, cr)
		before := cr.DeepCopy()
		cr.Spec.BenchmarkPolicy = v1alpha1.BenchmarkAny
		if err := c.Patch(t.Context(), cr, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
		if v := cr.Status.Volumes; len(v) != 1 || v[0].Node != nodeName {
			t.Errorf("the volumes of %s are %+v", cr.Name, v)
		}
	}
	must(t)(host(t.Context(), "/bin/sh", "-c", fmt.Sprintf("echo %d > /sys/module/zfs/parameters/zfs_arc_min", leastARC)))
}

func (m *coldCaches) pool(name string) *v1alpha1.PgStorageCluster {
	return &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: naming.ReadPool(m.shop.Name, name)}}
}

// taint keeps the runners off the machine. They then have the clock of this test, and take
// nothing from the pools.
func taint(t *testing.T) {
	t.Helper()
	change := func(ctx context.Context, edit func(*corev1.Node)) error {
		n := &corev1.Node{}
		if err := c.Get(ctx, client.ObjectKey{Name: nodeName}, n); err != nil {
			return err
		}
		before := n.DeepCopy()
		edit(n)
		return c.Patch(ctx, n, client.MergeFrom(before))
	}
	key := "pgstorage.dev/" + suite
	if err := change(t.Context(), func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := change(context.WithoutCancel(t.Context()), func(n *corev1.Node) {
			n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
		}); err != nil {
			t.Error(err)
		}
	})
}

// measured is how a pool recovers in each run of a benchmark, which has the pool's name.
func (m *coldCaches) measured(t *testing.T, name string) []benchmarks.Recovery {
	t.Helper()
	b := &v1alpha1.PgBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
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
			t.Fatalf("%s ended: %s", b.Name, summary(b.Status.Conditions))
		}
		if b.Status.Run == nil || !strings.HasPrefix(b.Status.Run.Message, prefix) {
			return fmt.Errorf("%s: %s", b.Status.Phase, summary(b.Status.Conditions))
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

// drop the page cache and the ARC of the machine, and return when that was.
func (m *coldCaches) drop(t *testing.T) time.Time {
	t.Helper()
	const script = `sync
for i in 1 2 3 4 5 6 7 8; do
  echo 3 > /proc/sys/vm/drop_caches
  while read -r name _ size; do [ "$name" != size ] || break; done < /proc/spl/kstat/zfs/arcstats
  [ "$size" -gt %d ] || break
done
echo "$size"`
	out := must(t)(host(t.Context(), "/bin/sh", "-c", fmt.Sprintf(script, mostARC)))
	now := time.Now()
	size, err := strconv.ParseInt(strings.TrimSpace(out), 10, 64)
	if err != nil || size > mostARC {
		t.Fatalf("the ARC has %q bytes after its caches were dropped, at most %d: %v", out, mostARC, err)
	}
	m.arc = append(m.arc, size)
	return now
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
	must(t)(command(t.Context(), os.Getenv("PGSTORAGE_PLUGIN"), "report", "disk", "memory", "-n", namespace, "-f", curves))
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
	_, _ = fmt.Fprintf(&b, "%d runs of %s each, scale %d, %d clients. A read of the disk takes %s longer than one of the host's memory. After each drop the ARC had %d MiB at most.\n\n",
		coldRuns, coldRun, coldScale, coldClient, os.Getenv("PGSTORAGE_ZFS_NODE_READ_DELAY"), slices.Max(m.arc)>>20)
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
