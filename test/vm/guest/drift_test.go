//go:build guest

package guest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/agent"
)

// tamperings are manual changes of a pool "d", and how the agent reports them.
var tamperings = []struct {
	command string
	says    string
}{
	{"zfs set recordsize=16k d/pgdata", "recordsize of d/pgdata is 16384, declared is 8192"},
	{"zfs set compression=gzip d/pgdata", "compression of d/pgdata is gzip, declared is lz4"},
	{"zfs set atime=on d/pgdata", "atime of d/pgdata is on, declared is off"},
	{"zfs set relatime=on d/pgdata", "relatime of d/pgdata is on, declared is off"},
	{"zfs set logbias=throughput d/pgdata", "logbias of d/pgdata is throughput, declared is latency"},
	{"zfs set primarycache=metadata d/pgdata", "primarycache of d/pgdata is metadata, declared is all"},
	{"zfs set secondarycache=none d/pgdata", "secondarycache of d/pgdata is none, declared is all"},
	{"zfs set xattr=dir d/pgdata", "xattr of d/pgdata is on, declared is sa"},
	{"zfs set dnodesize=auto d/pgdata", "dnodesize of d/pgdata is auto, declared is legacy"},
	{"zfs set redundant_metadata=most d/pgdata", "redundant_metadata of d/pgdata is most, declared is all"},
	{"zfs set checksum=sha256 d/pgdata", "checksum of d/pgdata is sha256, declared is on"},
	{"zfs set sync=disabled d/pgdata", "sync of d/pgdata is disabled, declared is standard"},
	{"zfs set special_small_blocks=8k d/pgdata", "special_small_blocks of d/pgdata is 8192, declared is 0"},
	{"zfs set dedup=on d/pgdata", "dedup of d/pgdata is on, declared is off"},
	{"zfs set quota=100M d/pgdata", "quota of d/pgdata is 104857600, declared is none"},
	{"zfs set reservation=10M d/pgdata", "reservation of d/pgdata is 10485760, declared is none"},
	// d itself has another recordsize, and the same compression.
	{"zfs inherit recordsize d/pgwal", "recordsize of d/pgwal is 131072, declared is 32768"},
	{"zfs inherit compression d/pgwal", "compression of d/pgwal is lz4 only as inherited from d, declared is lz4"},
	{"zfs inherit atime d/pgwal", "atime of d/pgwal is on, declared is off"},
	{"zpool set autotrim=on d", "autotrim of d is on, declared is off"},
	{"zpool set failmode=continue d", "failmode of d is continue, declared is wait"},
	{"zfs_arc_max 268435456", "zfs_arc_max of the node is 268435456, declared is 512Mi"},
}

// tamper runs a command of tamperings.
func tamper(t *testing.T, command string) {
	t.Helper()
	words := strings.Fields(command)
	if words[0] != "zfs_arc_max" {
		run(t, words[0], words[1:]...)
		return
	}
	if err := os.WriteFile(arcMaxFile, []byte(words[1]), 0o600); err != nil {
		t.Fatal(err)
	}
}

// drifting creates a pool d that is as declared.
func drifting(t *testing.T, policy v1alpha1.DriftPolicy) (*agent.Node, *v1alpha1.PgNodeStorage) {
	t.Helper()
	erase(t, "d", 0)
	keepARCMax(t)
	n, _ := newAgent(nil)
	s := declared("d", madeOf(v1alpha1.VdevStripe, 0))
	s.Spec.ARCMax = resource.NewQuantity(512<<20, resource.BinarySI)
	s.Spec.DriftPolicy = policy
	ready(t, n, s)
	run(t, "zfs", "set", "compression=lz4", "d")
	return n, s
}

func TestDriftIsRepaired(t *testing.T) {
	n, s := drifting(t, v1alpha1.DriftRepair)
	before := allOf(t, "d")
	for _, tc := range tamperings {
		tamper(t, tc.command)
	}
	r := pass(t, n, s)
	for _, tc := range tamperings {
		t.Run(tc.command, func(t *testing.T) {
			if !slices.Contains(r.Drift, tc.says) {
				t.Errorf("drift %q, want %q", r.Drift, tc.says)
			}
		})
	}
	if len(r.Drift) != len(tamperings) {
		t.Errorf("drift is told that there was not: %q", r.Drift)
	}
	if r = pass(t, n, s); r.Changed || len(r.Drift) > 0 {
		t.Errorf("the pass after the repair changed %v: %q", r.Changed, r.Drift)
	}
	says(t, s, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	if after := allOf(t, "d"); after != before || arcMax(t) != "536870912" {
		t.Errorf("repaired to\n%s\nfrom\n%s\nARC limit %s", after, before, arcMax(t))
	}
	alone(t, "zfs", "destroy", "d/pgwal")
	if r := pass(t, n, s); !slices.Equal(r.Drift, []string{"d/pgwal does not exist"}) {
		t.Errorf("drift %q", r.Drift)
	}
	ready(t, n, s)
	if got := run(t, "zfs", "get", "-Hp", "-o", "value,source", "recordsize", "d/pgwal"); got != "32768\tlocal" {
		t.Errorf("recordsize of the dataset made again: %q", got)
	}
}

// Under Report, the agent reports all drift at once, and changes nothing. This is so in the
// next pass, after a restart of the agent, and after the pool was exported.
func TestReportedDriftIsNotRepaired(t *testing.T) {
	n, s := drifting(t, v1alpha1.DriftReport)
	says(t, s, v1alpha1.ConditionPropertiesApplied, metav1.ConditionTrue, v1alpha1.ReasonApplied)
	for _, tc := range tamperings {
		tamper(t, tc.command)
	}
	before := allOf(t, "d")
	wantReported(t, n, s)
	restarted, _ := newAgent(nil)
	wantReported(t, restarted, s)
	alone(t, "zpool", "export", "d")
	if r := pass(t, restarted, s); !r.Changed {
		t.Error("the exported pool is not imported")
	}
	says(t, s, v1alpha1.ConditionPropertiesApplied, metav1.ConditionUnknown, v1alpha1.ReasonPropertyDrift)
	wantReported(t, restarted, s)
	if after := allOf(t, "d"); after != before {
		t.Errorf("changed though only to report:\n%s\nbefore:\n%s", after, before)
	}
	alone(t, "zfs", "destroy", "d/pgwal")
	wantReported(t, restarted, s, "d/pgwal does not exist")
	if out := run(t, "zfs", "list", "-H", "-o", "name"); strings.Contains(out, "d/pgwal") {
		t.Error("a destroyed dataset was made again though only to report")
	}
	s.Generation++ // an edit of the profile requests its present values
	ready(t, n, s)
}

// wantReported checks that the agent names every manual change, or these.
func wantReported(t *testing.T, n *agent.Node, s *v1alpha1.PgNodeStorage, others ...string) {
	t.Helper()
	r := pass(t, n, s)
	if r.Changed || len(r.Drift) > 0 {
		t.Errorf("changed %v: %q", r.Changed, r.Drift)
	}
	message := says(t, s, v1alpha1.ConditionPropertiesApplied, metav1.ConditionFalse, v1alpha1.ReasonPropertyDrift)
	says(t, s, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonPropertyDrift)
	allThere := len(others) == 0
	for _, tc := range tamperings {
		if allThere || !strings.Contains(tc.says, "d/pgwal") {
			others = append(others, tc.says)
		}
	}
	for _, want := range others {
		if !strings.Contains(message, want) {
			t.Errorf("the message lacks %q: %s", want, message)
		}
	}
}

// volumeAt creates a volume below pgdata and mounts it.
func volumeAt(t *testing.T, pool string) string {
	t.Helper()
	dir := t.TempDir()
	run(t, "zfs", "create", "-o", "mountpoint=legacy", "-o", "compression=off", pool+"/pgdata/volume")
	run(t, "mount", "-t", "zfs", pool+"/pgdata/volume", dir)
	t.Cleanup(func() { alone(t, "umount", dir) })
	return dir
}

// The status of an idle node stays equal, so it costs the API nothing. This holds for small
// writes, and while use varies around a whole percentage.
func TestStatusOfAnIdleNodeStaysEqual(t *testing.T) {
	erase(t, "rest", 0)
	n, counter := newAgent(nil)
	s := declared("rest", madeOf(v1alpha1.VdevStripe, 0))
	ready(t, n, s)
	dir := volumeAt(t, "rest")
	rises := fill(t, dir)
	// From here on the figures are current. Those of the empty pool may differ almost as far as
	// possible without an update.
	s.Status.Datasets, s.Status.Pool.Allocated, s.Status.Pool.Free = nil, nil, nil
	ready(t, n, s)
	percentages := map[string]bool{}
	for i := range 6 {
		if i%2 == 0 {
			run(t, "rm", rises)
		} else {
			writeFile(t, rises, 2<<20)
		}
		settleFrees(t, "rest")
		percentages[run(t, "zpool", "list", "-Hp", "-o", "capacity", "rest")] = true
		last, commands := s.Status.DeepCopy(), total(counter)
		if r := pass(t, n, s); r.Changed {
			t.Errorf("pass %d changed something: %q", i, r.Drift)
		}
		if !equality.Semantic.DeepEqual(*last, s.Status) {
			t.Errorf("pass %d would write\n%+v\nafter\n%+v", i, s.Status, *last)
		}
		if got := total(counter) - commands; got > 6 {
			t.Errorf("pass %d ran %d commands", i, got)
		}
	}
	if len(percentages) < 2 {
		t.Errorf("use stayed at %v: this does not test what it should", percentages)
	}
}

// fill fills a volume until the used percentage rises. It returns a file of 2 MiB without which
// the percentage is lower, by more than ZFS needs for itself meanwhile.
func fill(t *testing.T, dir string) string {
	t.Helper()
	first, before := "", ""
	for i := range 20 {
		path := filepath.Join(dir, fmt.Sprint("file", i))
		writeFile(t, path, 1<<20)
		settleFrees(t, "rest")
		now := run(t, "zpool", "list", "-Hp", "-o", "capacity", "rest")
		if first != "" && now != first {
			run(t, "rm", before)
			writeFile(t, path, 2<<20)
			return path
		}
		first, before = now, path
	}
	t.Fatal("20 MiB did not change the used percentage")
	return ""
}

func writeFile(t *testing.T, path string, size int) {
	t.Helper()
	if err := os.WriteFile(path, slices.Repeat([]byte("pgstorage"), size/9), 0o600); err != nil {
		t.Fatal(err)
	}
}

// settleFrees waits for freed space, which comes back after some transaction groups.
func settleFrees(t *testing.T, pool string) {
	t.Helper()
	for range 4 {
		run(t, "zpool", "sync", pool)
	}
}

// The agent warns before a pool is full, reports while it is, keeps working on it, and notices
// freed space.
func TestFullPoolIsReportedUntilItHasRoom(t *testing.T) {
	erase(t, "full", 0)
	n, _ := newAgent(nil)
	s := declared("full", madeOf(v1alpha1.VdevStripe, 0))
	s.Spec.Pool.HeadroomPercent = new(int32(40)) // of a pool this small ZFS keeps a quarter to itself
	ready(t, n, s)
	says(t, s, v1alpha1.ConditionCapacityHealthy, metav1.ConditionTrue, v1alpha1.ReasonHealthy)
	dir := volumeAt(t, "full")
	// Records are large, because blocks of Postgres size take an emulated processor minutes.
	run(t, "zfs", "set", "recordsize=1M", "full/pgdata/volume")
	file := filepath.Join(dir, "big")
	writeFile(t, file, 310<<20)
	wantNearlyFull(t, n, s)
	if err := os.WriteFile(filepath.Join(dir, "rest"), make([]byte, 200<<20), 0o600); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("the pool is not full: %v", err)
	}
	wantNearlyFull(t, n, s)
	run(t, "zfs", "set", "atime=on", "full/pgdata")
	if r := pass(t, n, s); !slices.Equal(r.Drift, []string{"atime of full/pgdata is on, declared is off"}) {
		t.Errorf("drift on a full pool: %q", r.Drift)
	}
	ready(t, n, s)
	run(t, "rm", file, filepath.Join(dir, "rest"))
	// ZFS frees a file of so many blocks beside other work, over several transaction groups.
	until(t, n, s, v1alpha1.ConditionCapacityHealthy, v1alpha1.ReasonHealthy, func() { settleFrees(t, "full") })
	ready(t, n, s)
	says(t, s, v1alpha1.ConditionCapacityHealthy, metav1.ConditionTrue, v1alpha1.ReasonHealthy)
}

func wantNearlyFull(t *testing.T, n *agent.Node, s *v1alpha1.PgNodeStorage) {
	t.Helper()
	settleFrees(t, "full")
	ready(t, n, s)
	message := says(t, s, v1alpha1.ConditionCapacityHealthy, metav1.ConditionFalse, v1alpha1.ReasonPoolNearlyFull)
	if !strings.Contains(message, "delete snapshots") || s.Status.Pool.UsedPercent == nil || *s.Status.Pool.UsedPercent < 60 {
		t.Errorf("used %v: %s", s.Status.Pool.UsedPercent, message)
	}
}

// The agent names a device that was taken offline, or that is gone. The mirror keeps serving,
// and the agent notices the device's return.
func TestFailedDeviceOfAMirrorIsNamed(t *testing.T) {
	device, err := filepath.EvalSymlinks("/sys/class/block/" + kernelName(t, 11) + "/device")
	if err != nil {
		t.Fatal(err)
	}
	driver := func(file string) {
		if err := os.WriteFile("/sys/bus/virtio/drivers/virtio_blk/"+file, []byte(filepath.Base(device)), 0o200); err != nil {
			t.Fatal(err)
		}
	}
	part := disk(11) + "-part1"
	erase(t, "pair", 10, 11)
	n, _ := newAgent(nil)
	s := declared("pair", madeOf(v1alpha1.VdevMirror, 10, 11))
	ready(t, n, s)
	for _, tc := range []struct {
		name       string
		fail, mend func()
		says       string
	}{
		{"offline", func() { run(t, "zpool", "offline", "pair", part) }, func() { run(t, "zpool", "online", "pair", part) }, "virtio-disk11-part1 is OFFLINE"},
		{"gone", func() { driver("unbind") }, func() {
			driver("bind")
			settle(t)
			run(t, "zpool", "online", "pair", part)
			run(t, "zpool", "clear", "pair")
		}, "virtio-disk11-part1 is "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.fail()
			writeRoot(t, "pair", tc.name)
			wantDegraded(t, n, s, tc.says)
			tc.mend()
			run(t, "zpool", "wait", "-t", "resilver", "pair")
			ready(t, n, s)
			says(t, s, v1alpha1.ConditionDevicesHealthy, metav1.ConditionTrue, v1alpha1.ReasonHealthy)
		})
	}
}

// kernelName of a disk, such as vdk.
func kernelName(t *testing.T, number int) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(disk(number))
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Base(path)
}

// writeRoot has the pool write to all its devices.
func writeRoot(t *testing.T, pool, name string) {
	t.Helper()
	run(t, "zfs", "create", "-o", "mountpoint=legacy", pool+"/pgdata/"+name)
	settleFrees(t, pool)
}

func wantDegraded(t *testing.T, n *agent.Node, s *v1alpha1.PgNodeStorage, text string) {
	t.Helper()
	ready(t, n, s) // Ready: a degraded mirror serves
	message := says(t, s, v1alpha1.ConditionDevicesHealthy, metav1.ConditionFalse, v1alpha1.ReasonPoolUnhealthy)
	if !strings.Contains(message, text) || !strings.Contains(message, "ZFS says: ") || s.Status.Pool.Health != "DEGRADED" {
		t.Errorf("health %s, message %s", s.Status.Pool.Health, message)
	}
}
