//go:build e2ezfs

package e2ezfs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
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

// TestJourney follows one database on ZFS through its life.
func TestJourney(t *testing.T) {
	report := reportOfZFS(t)
	create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	shop := database()
	step := live.InTurnOn(t, shop)
	step("from a blank disk to Ready", blankDiskToReady)
	step("the node's own zfs has what the profile says", propertiesOnTheNode)
	step("benchmark to a result", benchmarkToResult)
	step("retuned while it runs", retune)
	step("full_page_writes off, by proof", withoutFullPages)
	step("power cut while commits are acknowledged", func(t *testing.T, shop *v1alpha1.PgStorageCluster) { powerCut(t, shop, report) })
	step("the primary is lost with full_page_writes off, and returns by pg_rewind", func(t *testing.T, shop *v1alpha1.PgStorageCluster) { failover(t, shop, report) })
	step("deletion takes the volumes and leaves the pool", deletion)
}

func blankDiskToReady(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	declare(t, profile())
	eventually(t, "the profile to be Ready", func(ctx context.Context) error {
		p := &v1alpha1.PgStorageProfile{}
		if err := c.Get(ctx, client.ObjectKey{Name: profileName}, p); err != nil {
			return err
		}
		return live.AllTrue(p.Status.Conditions, p.Generation, v1alpha1.ConditionReady, v1alpha1.ConditionNodesReady, v1alpha1.ConditionDriverReady)
	})
	create(t, shop)
	ready(t, shop)
	parents := map[string]string{"Data": naming.DataDataset(pool), "WAL": naming.WALDataset(pool)}
	for _, v := range shop.Status.Volumes {
		if !strings.HasPrefix(v.Dataset, parents[v.Role]+"/") || v.Node != nodeName {
			t.Errorf("volume %+v is not where it belongs", v)
		}
		delete(parents, v.Role)
	}
	if len(parents) > 0 {
		t.Errorf("no volume for %v in %+v", parents, shop.Status.Volumes)
	}
	for _, name := range []string{"wal_init_zero", "wal_recycle"} {
		if got := mustPSQL(t, shop, "SHOW "+name); got != "off" {
			t.Errorf("%s is %s, with data and WAL on datasets", name, got)
		}
	}
}

func propertiesOnTheNode(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	for _, v := range shop.Status.Volumes {
		parent, _, _ := strings.Cut(strings.TrimPrefix(v.Dataset, pool+"/"), "/")
		parent = pool + "/" + parent
		wanted := map[string]zfsValue{}
		for name, value := range handedDown(parent) {
			wanted[name] = zfsValue{value, "inherited from " + parent}
		}
		// A mount on Linux turns it on, without effect where atime is off.
		delete(wanted, "relatime")
		same(t, v.Dataset, wanted, zfsGet(t, v.Dataset))
		for name, value := range handedDown(parent) {
			wanted[name] = zfsValue{value, "local"}
		}
		for name, value := range parentsOwn(parent) {
			wanted[name] = zfsValue{value, "local"}
		}
		same(t, parent, wanted, zfsGet(t, parent))
		class := &storagev1.StorageClass{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: map[string]string{"Data": naming.DataClass(profileName), "WAL": naming.WALClass(profileName)}[v.Role]}, class); err != nil {
			t.Fatal(err)
		}
		size := map[string]string{"Data": "2147483648", "WAL": "1073741824"}[v.Role]
		limit := map[bool]string{true: "refquota", false: "quota"}[class.Parameters["quotatype"] == "refquota"]
		same(t, v.Dataset, map[string]zfsValue{limit: {size, "local"}, "mountpoint": {"legacy", "local"}}, zfsGet(t, v.Dataset))
	}
	readBack(t)
	if got := must(t)(host(t.Context(), "/bin/cat", "/sys/module/zfs/parameters/zfs_arc_max")); got != strconv.Itoa(arcMax) {
		t.Errorf("zfs_arc_max is %s", got)
	}
	if got := must(t)(host(t.Context(), "/sbin/zpool", "get", "-Ho", "value,source", "autotrim", pool)); got != "on\tlocal" {
		t.Errorf("autotrim of the pool is %s", got)
	}
}

// readBack holds what the agent reports against what the node says.
func readBack(t *testing.T) {
	t.Helper()
	for _, d := range nodeStorage(t).Status.Datasets {
		have, reported := zfsGet(t, d.Name), map[string]zfsValue{}
		for _, p := range d.Properties {
			reported[p.Name] = zfsValue{p.Value, p.Source}
		}
		if len(reported) < 15 {
			t.Errorf("the agent reports %d properties of %s", len(reported), d.Name)
		}
		same(t, d.Name+", as reported", reported, have)
	}
}

func benchmarkToResult(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	b := &v1alpha1.PgBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, GenerateName: "first-"},
		Spec: v1alpha1.PgBenchmarkSpec{
			Cluster: shop.Name,
			Pgbench: v1alpha1.PgbenchSpec{Scale: 1, Clients: []int32{1, 4}, Duration: "10s", WarmUp: "2s", Repeats: 1},
		},
	}
	create(t, b)
	eventually(t, "the benchmark's result", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		if b.Status.Phase != "Succeeded" {
			return fmt.Errorf("%s: %s", b.Status.Phase, summary(b.Status.Conditions))
		}
		return live.AllTrue(b.Status.Conditions, b.Generation, v1alpha1.ConditionComplete, v1alpha1.ConditionCleanedUp)
	})
	if tps, err := strconv.ParseFloat(b.Status.BestTPS, 64); err != nil || tps <= 0 || b.Status.Durability != v1alpha1.DurabilityLocal {
		t.Errorf("best TPS %q, durability %s", b.Status.BestTPS, b.Status.Durability)
	}
	for _, r := range b.Status.Run.Results {
		t.Logf("%d clients: %s TPS, p99 %s ms", r.Clients, r.TPS, r.LatencyP99)
	}
	if len(b.Status.Run.Results) != 2 || len(b.Status.Run.Integrity) == 0 {
		t.Errorf("result is not whole: %+v", b.Status.Run)
	}
	for _, check := range b.Status.Run.Integrity {
		if check.Result != "Passed" {
			t.Errorf("integrity: %+v", check)
		}
	}
}

// retune changes the profile and looks for it in the running volume. It reads what ZFS reports
// of the dataset, and the files that Postgres writes and has written.
func retune(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	before := pods(t, shop)
	older := fileOf(t, shop, "older")
	p := profile()
	p.Spec.ZFSLocalPV.Data.Recordsize, p.Spec.ZFSLocalPV.Data.Compression = "32k", "zstd-3"
	declare(t, p)
	parent := naming.DataDataset(pool)
	wanted := handedDown(parent)
	maps.Copy(wanted, map[string]string{"recordsize": "32768", "compression": "zstd-3"})
	inherited := map[string]zfsValue{}
	for name, value := range wanted {
		inherited[name] = zfsValue{value, "inherited from " + parent}
	}
	dataset := volume(t, shop, "Data").Dataset
	eventually(t, "the running volume to have the new properties", func(ctx context.Context) error {
		have, err := zfsProperties(ctx, dataset)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(inherited, only(have, inherited)); diff != "" {
			return fmt.Errorf("%s differs:\n%s", dataset, diff)
		}
		return nil
	})
	eventually(t, "the status to say so", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(shop), shop); err != nil {
			return err
		}
		if got := volume(t, shop, "Data").Recordsize; got != 32768 {
			return fmt.Errorf("recordsize %d", got)
		}
		return nil
	})
	ready(t, shop)
	verified := meta.FindStatusCondition(shop.Status.Conditions, v1alpha1.ConditionVolumesVerified)
	if !strings.Contains(verified.Message, "recordsize is for new files only") {
		t.Errorf("VolumesVerified does not say what the new recordsize is for: %s", verified.Message)
	}
	newer := fileOf(t, shop, "newer")
	if got := blockSize(t, shop, older); got != "8192" {
		t.Errorf("a file from before has records of %s", got)
	}
	if got := blockSize(t, shop, newer); got != "32768" {
		t.Errorf("a new file has records of %s", got)
	}
	if diff := cmp.Diff(before, pods(t, shop)); diff != "" {
		t.Errorf("retuning touched Postgres: %s", diff)
	}
	readBack(t)
}

// fileOf makes a table of several records, and returns its file.
func fileOf(t *testing.T, shop *v1alpha1.PgStorageCluster, table string) string {
	t.Helper()
	mustPSQL(t, shop, fmt.Sprintf("DROP TABLE IF EXISTS %[1]s; CREATE TABLE %[1]s AS SELECT i, repeat('x', 100) FROM generate_series(1, 5000) i", table))
	mustPSQL(t, shop, "CHECKPOINT")
	return mustPSQL(t, shop, fmt.Sprintf("SELECT current_setting('data_directory') || '/' || pg_relation_filepath('%s')", table))
}

// blockSize of a file is, on ZFS, the size of its records.
func blockSize(t *testing.T, shop *v1alpha1.PgStorageCluster, file string) string {
	t.Helper()
	return must(t)(command(t.Context(), "kubectl", "-n", shop.Namespace, "exec", shop.Status.Database.Primary, "-c", "postgres", "--", "stat", "-c", "%o", file))
}

// inPod runs a program beside Postgres.
func inPod(ctx context.Context, shop *v1alpha1.PgStorageCluster, pod string, argv ...string) (string, error) {
	return command(ctx, "kubectl", append([]string{"-n", shop.Namespace, "exec", pod, "-c", "postgres", "--"}, argv...)...)
}

// withoutFullPages also makes the power cut that follows a harder one.
func withoutFullPages(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	patched := shop.DeepCopy()
	patched.Spec.Postgres.Parameters = map[string]string{"full_page_writes": "off"}
	if err := c.Patch(t.Context(), patched, client.MergeFrom(shop)); err != nil {
		t.Fatal(err)
	}
	ready(t, shop)
	if got := mustPSQL(t, shop, "SHOW full_page_writes"); got != "off" {
		t.Errorf("full_page_writes is %s", got)
	}
}

// beforeFault is how many commits a client has had acknowledged before a fault, and afterFault how
// many more it must have after it. Some storage does one a second here.
var beforeFault, afterFault = 100, 50

// loaded starts a client, and returns once it has had commits acknowledged.
func loaded(t *testing.T, shop *v1alpha1.PgStorageCluster) *corev1.Pod {
	t.Helper()
	mustPSQL(t, shop, "SET ROLE app; DROP TABLE IF EXISTS stop, acked; CREATE TABLE acked (id int PRIMARY KEY)")
	writer := loader(shop)
	create(t, writer)
	acknowledgedAtLeast(t, writer, beforeFault)
	return writer
}

// nothingLost ends the client, and looks for each acknowledged row. It returns how many there
// were, and how many are lost.
func nothingLost(t *testing.T, shop *v1alpha1.PgStorageCluster, writer *corev1.Pod) (all, lost int) {
	t.Helper()
	mustPSQL(t, shop, "SET ROLE app; CREATE TABLE stop ()")
	eventually(t, "the client to end", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(writer), writer); err != nil {
			return err
		}
		if writer.Status.Phase != corev1.PodSucceeded {
			return fmt.Errorf("it is %s", writer.Status.Phase)
		}
		return nil
	})
	told := acks.Rows(must(t)(logs(t.Context(), writer)))
	all = len(told)
	for id := range strings.SplitSeq(mustPSQL(t, shop, "SELECT id FROM acked"), "\n") {
		delete(told, id)
	}
	if len(told) > 0 {
		t.Errorf("%d of %d acknowledged rows are lost: %v", len(told), all, told)
		return all, len(told)
	}
	t.Logf("%d rows were acknowledged, none is lost", all)
	return all, 0
}

// reportOfZFS has the runs of faults of a test, on a page whose seconds are those of test/vm.
func reportOfZFS(t *testing.T) *faults.Report {
	t.Helper()
	report := &faults.Report{Accelerator: os.Getenv("PGSTORAGE_VM_ACCELERATOR"), Seconds: "s to writes"}
	report.WhenDone(t, os.Getenv("PGSTORAGE_ZFS_REPORT"))
	return report
}

// ended looks for each acknowledged row after a fault, and records its run.
func ended(t *testing.T, report *faults.Report, fault string, shop *v1alpha1.PgStorageCluster, writer *corev1.Pod, began time.Time) {
	t.Helper()
	all, lost := nothingLost(t, shop, writer)
	report.Versions = "CloudNativePG " + must(t)(live.CNPGVersion(t.Context())) + ", " + storageVersions(t, shop)
	report.Ended(fault, all, lost, acks.Pause(must(t)(logs(t.Context(), writer)), began))
}

// storageVersions below a database, and its own.
func storageVersions(t *testing.T, shop *v1alpha1.PgStorageCluster) string {
	t.Helper()
	return "zfs-localpv " + os.Getenv("PGSTORAGE_ZFS_LOCALPV") + ", PostgreSQL " + strings.Fields(mustPSQL(t, shop, "SHOW server_version"))[0]
}

// intact reads every page of an instance, with its checksum, and holds indexes
// against tables.
func intact(t *testing.T, shop *v1alpha1.PgStorageCluster, pod string) {
	t.Helper()
	// pg_amcheck installs the extension wherever it runs, which no standby allows.
	mustPSQL(t, shop, "CREATE EXTENSION IF NOT EXISTS amcheck")
	eventually(t, "the extension on "+pod, func(ctx context.Context) error {
		out, err := inPod(ctx, shop, pod, "psql", "-XAtq", "-d", "app", "-c", "SELECT count(*) FROM pg_extension WHERE extname = 'amcheck'")
		if err == nil && out != "1" {
			err = errors.New("it is not there")
		}
		return err
	})
	must(t)(inPod(t.Context(), shop, pod, "pg_amcheck", "--heapallindexed", "-d", "app"))
}

func powerCut(t *testing.T, shop *v1alpha1.PgStorageCluster, report *faults.Report) {
	guid, boot := nodeStorage(t).Status.Pool.GUID, bootID(t)
	writer := loaded(t, shop)
	cuts := strings.Count(must(t)(logs(t.Context(), writer)), "cut ")
	cut := time.Now()
	node(t, "cut", nodeName)
	eventually(t, "the client to lose its session", func(ctx context.Context) error {
		out, err := logs(ctx, writer)
		if err == nil && strings.Count(out, "cut ") == cuts {
			err = errors.New("not yet")
		}
		return err
	})
	before := len(acks.Rows(must(t)(logs(t.Context(), writer))))
	t.Logf("power was cut; %d commits had been acknowledged", before)
	node(t, "boot", nodeName)
	eventually(t, "the node to have booted", func(ctx context.Context) error {
		return live.Rebooted(ctx, c, nodeName, boot)
	})
	eventually(t, "the agent to have imported the pool", func(ctx context.Context) error {
		out, err := host(ctx, "/sbin/zpool", "history", pool)
		if err != nil {
			return err
		}
		if n := strings.Count(out, "zpool create "); n != 1 {
			return fmt.Errorf("the pool was made %d times:\n%s", n, out)
		}
		if !strings.Contains(out, "zpool import ") || strings.Contains(out, " -f ") {
			return fmt.Errorf("no import by the agent:\n%s", out)
		}
		return nil
	})
	acknowledgedAtLeast(t, writer, before+afterFault)
	t.Logf("%d more commits were acknowledged %s after the cut", afterFault, time.Since(cut).Round(time.Second))
	ready(t, shop)
	if got := nodeStorage(t).Status.Pool.GUID; got != guid {
		t.Errorf("pool %s is another one than %s", got, guid)
	}
	if got := must(t)(host(t.Context(), "/bin/cat", "/sys/module/zfs/parameters/zfs_arc_max")); got != strconv.Itoa(arcMax) {
		t.Errorf("zfs_arc_max is %s after the boot", got)
	}
	ended(t, report, "the node's power is cut, full_page_writes=off, on Kubernetes", shop, writer, cut)
	intact(t, shop, shop.Status.Database.Primary)
	readBack(t)
}

func deletion(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	guid := nodeStorage(t).Status.Pool.GUID
	if err := c.Delete(t.Context(), shop); err != nil {
		t.Fatal(err)
	}
	gone(t, shop)
	volumesGone(t)
	eventually(t, "no dataset to be left", func(ctx context.Context) error {
		out, err := zfs(ctx, "list", "-Hrt", "all", "-o", "name", pool)
		if want := strings.Join([]string{pool, naming.DataDataset(pool), naming.WALDataset(pool)}, "\n"); err == nil && out != want {
			err = fmt.Errorf("there are\n%s", out)
		}
		return err
	})
	p, s := profile(), nodeStorage(t)
	if err := c.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	gone(t, p)
	gone(t, s)
	for _, class := range []string{naming.DataClass(profileName), naming.WALClass(profileName)} {
		gone(t, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: class}})
	}
	if got := must(t)(host(t.Context(), "/sbin/zpool", "list", "-Ho", "name,health,guid")); got != pool+"\tONLINE\t"+guid {
		t.Errorf("after the profile the node has the pools %q", got)
	}
	wanted := map[string]zfsValue{"recordsize": {"32768", "local"}, "compression": {"zstd-3", "local"}}
	same(t, "a parent without its profile", wanted, zfsGet(t, naming.DataDataset(pool)))
}

// volumesGone waits until neither claims nor volumes of the driver are left.
func volumesGone(t *testing.T) {
	t.Helper()
	eventually(t, "the volumes to be gone", func(ctx context.Context) error {
		for _, kind := range []string{"pvc", "zfsvolumes.zfs.openebs.io"} {
			if out, err := command(ctx, "kubectl", "get", kind, "-A", "-o", "name"); err != nil || out != "" {
				return errors.Join(fmt.Errorf("there are %s", out), err)
			}
		}
		return nil
	})
}

func gone(t *testing.T, obj client.Object) {
	t.Helper()
	eventually(t, fmt.Sprintf("%T %s to be gone", obj, obj.GetName()), func(ctx context.Context) error {
		err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(fmt.Errorf("it is there, finalizers %v", obj.GetFinalizers()), err)
	})
}

func acknowledgedAtLeast(t *testing.T, pod *corev1.Pod, rows int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d acknowledged rows", rows), func(ctx context.Context) error {
		out, err := logs(ctx, pod)
		if err != nil {
			return errors.New("the client has not started")
		}
		if n := len(acks.Rows(out)); n < rows {
			return fmt.Errorf("%d so far", n)
		}
		return nil
	})
}
