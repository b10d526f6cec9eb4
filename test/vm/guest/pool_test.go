//go:build guest

package guest_test

import (
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/agent"
	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/testing/long"
)

// A mirror is created on blank disks, with every property read back. A pass on it when it is as
// declared runs at most six commands and changes nothing.
func TestMirrorIsCreatedOnBlankDisks(t *testing.T) {
	erase(t, "made", 0, 1)
	n, counter := newAgent(nil)
	s := declared("made", madeOf(v1alpha1.VdevMirror, 0, 1))
	ready(t, n, s)
	if got := run(t, "zfs", "get", "-Hp", "-o", "value,source", "recordsize", "made/pgdata"); got != "8192\tlocal" {
		t.Errorf("recordsize %q", got)
	}
	if s.Status.Pool.Health != "ONLINE" || s.Status.Pool.GUID == "" || len(s.Status.Pool.Vdevs) != 3 || len(s.Status.Datasets) != 2 {
		t.Errorf("status %+v", s.Status)
	}
	before := total(counter)
	again := pass(t, n, s)
	if commands := total(counter) - before; commands > 6 || again.Changed {
		t.Errorf("a pass at rest ran %d commands, changed %v", commands, again.Changed)
	}
}

// vdev of named disks.
func vdev(kind v1alpha1.ZFSVdevType, disks ...int) v1alpha1.ZFSVdev {
	out := v1alpha1.ZFSVdev{Type: kind}
	for _, d := range disks {
		out.Devices = append(out.Devices, v1alpha1.ZFSDevice{Path: disk(d)})
	}
	return out
}

// selected vdev of the tests' disks: those of the machine itself are smaller, or
// not blank.
func selected(kind v1alpha1.ZFSVdevType, count int32) v1alpha1.ZFSVdev {
	return v1alpha1.ZFSVdev{Type: kind, Selector: &v1alpha1.ZFSDeviceSelector{
		Count: count, MinSize: new(resource.MustParse("500Mi")), Transport: "virtio",
	}}
}

// made declares a pool of several data vdevs.
func made(vdevs ...v1alpha1.ZFSVdev) func(*v1alpha1.PgNodeStorageSpec) {
	return func(spec *v1alpha1.PgNodeStorageSpec) {
		spec.Pool.Create = &v1alpha1.ZFSPoolCreate{Vdevs: vdevs, Ashift: new(int32(12))}
	}
}

// tree of the pool in one line, as status has it: the class of each top vdev, its
// name, and its disks.
func tree(s *v1alpha1.PgNodeStorage) string {
	var tops []string
	for _, v := range s.Status.Pool.Vdevs {
		name := strings.TrimSuffix(strings.TrimPrefix(path.Base(v.Name), "virtio-"), "-part1")
		if v.Depth > 0 {
			tops[len(tops)-1] += " " + name
			continue
		}
		tops = append(tops, v.Class+" "+name)
	}
	return strings.Join(tops, ", ")
}

// The pools have each kind of vdev, with as few disks as it can have and survive, and each
// class.
func TestEveryKindOfVdevIsCreated(t *testing.T) {
	long.Skip(t, "make test-vm")
	mirror, stripe := v1alpha1.VdevMirror, v1alpha1.VdevStripe
	for name, c := range map[string]struct {
		create v1alpha1.ZFSPoolCreate
		ashift int32
		want   string
	}{
		"stripe": {v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{vdev(stripe, 0, 1)}}, 9, "data disk0, data disk1"},
		"raidz1": {v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{vdev("raidz1", 0, 1, 2)}}, 12, "data raidz1-0 disk0 disk1 disk2"},
		"raidz2": {v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{vdev("raidz2", 0, 1, 2, 3)}}, 13, "data raidz2-0 disk0 disk1 disk2 disk3"},
		"raidz3": {v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{vdev("raidz3", 0, 1, 2, 3, 4)}}, 12, "data raidz3-0 disk0 disk1 disk2 disk3 disk4"},
		"every class": {v1alpha1.ZFSPoolCreate{
			Vdevs: []v1alpha1.ZFSVdev{vdev(mirror, 0, 1), vdev(mirror, 2, 3)}, Special: []v1alpha1.ZFSVdev{vdev(mirror, 4, 5)},
			Logs: []v1alpha1.ZFSVdev{vdev(mirror, 6, 7), vdev(stripe, 8)}, Caches: []v1alpha1.ZFSVdev{vdev(stripe, 9, 10)},
		}, 12, "data mirror-0 disk0 disk1, data mirror-1 disk2 disk3, special mirror-2 disk4 disk5, logs disk8, logs mirror-4 disk6 disk7, cache disk9, cache disk10"},
	} {
		t.Run(name, func(t *testing.T) {
			erase(t, "made", used(c.create)...)
			c.create.Ashift = &c.ashift
			s := declared("made", func(spec *v1alpha1.PgNodeStorageSpec) { spec.Pool.Create = &c.create })
			n, _ := newAgent(nil)
			ready(t, n, s)
			if got := tree(s); got != c.want {
				t.Errorf("made of %s, want %s", got, c.want)
			}
			says(t, s, v1alpha1.ConditionDevicesHealthy, metav1.ConditionTrue, v1alpha1.ReasonHealthy)
			wantAshift(t, "made", c.ashift)
		})
	}
}

// used disks of a pool.
func used(c v1alpha1.ZFSPoolCreate) []int {
	var out []int
	for _, v := range slices.Concat(c.Vdevs, c.Special, c.Logs, c.Caches) {
		for _, d := range v.Devices {
			number, _ := strconv.Atoi(strings.TrimPrefix(d.Path, "/dev/disk/by-id/virtio-disk"))
			out = append(out, number)
		}
	}
	return out
}

// wantAshift of the pool, and of each of its vdevs as its labels have it.
func wantAshift(t *testing.T, pool string, want int32) {
	t.Helper()
	if got := run(t, "zpool", "get", "-Hp", "-o", "value", "ashift", pool); got != fmt.Sprint(want) {
		t.Errorf("ashift %s, want %d", got, want)
	}
	vdevs := 0
	for line := range strings.Lines(run(t, "zdb", "-C", pool)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "ashift: "); ok {
			vdevs++
			if value != fmt.Sprint(want) {
				t.Errorf("a vdev has ashift %s, want %d", value, want)
			}
		}
	}
	if vdevs == 0 {
		t.Error("zdb shows no ashift")
	}
}

// A selector takes the smallest paths of the disks that are blank and that no other vdev names.
func TestSelectorTakesTheSmallestBlankPaths(t *testing.T) {
	erase(t, "chosen", 0, 1, 10, 11, 2)
	text(0, "bluestore block device\n")(t, disk(10))
	before := digests(t, 10)
	s := declared("chosen", made(selected(v1alpha1.VdevMirror, 2), vdev(v1alpha1.VdevMirror, 0, 1)))
	n, _ := newAgent(nil)
	ready(t, n, s)
	if got, want := tree(s), "data mirror-0 disk11 disk2, data mirror-1 disk0 disk1"; got != want {
		t.Errorf("made of %s, want %s", got, want)
	}
	wantDigests(t, before, 10)
}

// Where a pool does not exist and cannot be created, the condition says what to do, and nothing
// is changed.
func TestPoolThatCannotBeCreatedIsExplained(t *testing.T) {
	selector := func(change func(*v1alpha1.ZFSDeviceSelector)) func(*v1alpha1.PgNodeStorageSpec) {
		v := selected(v1alpha1.VdevStripe, 1)
		change(v.Selector)
		return made(v)
	}
	few := func(found, of int, which string) string {
		return fmt.Sprintf("pool.create.vdevs[0].selector: %d of %d devices found that match, are blank and are not taken by another vdev%s. Attach more, or widen the selector (status.devices lists all)", found, of, which)
	}
	for name, c := range map[string]struct {
		spec            func(*v1alpha1.PgNodeStorageSpec)
		reason, message string
	}{
		"no create":       {nil, v1alpha1.ReasonPoolNotFound, "the node has no pool absent, imported or importable. Create it with zpool create, attach its devices, or declare spec.zfsLocalPV.pool.create in the profile"},
		"no such device":  {madeOf(v1alpha1.VdevMirror, 0, 99), v1alpha1.ReasonDeviceNotFound, "pool.create.vdevs[0]: the node has no device /dev/disk/by-id/virtio-disk99; correct the path, or attach the device (ls -l /dev/disk/by-id on the node)"},
		"too few devices": {made(selected(v1alpha1.VdevStripe, 13)), v1alpha1.ReasonTooFewDevices, few(12, 13, " ("+everyDisk()+")")},
		"other transport": {selector(func(s *v1alpha1.ZFSDeviceSelector) { s.Transport = "nvme" }), v1alpha1.ReasonTooFewDevices, few(0, 1, "")},
		"other model":     {selector(func(s *v1alpha1.ZFSDeviceSelector) { s.Model = "SAMSUNG*" }), v1alpha1.ReasonTooFewDevices, few(0, 1, "")},
		"larger":          {selector(func(s *v1alpha1.ZFSDeviceSelector) { s.MinSize = new(resource.MustParse("513Mi")) }), v1alpha1.ReasonTooFewDevices, few(0, 1, "")},
		"smaller": {selector(func(s *v1alpha1.ZFSDeviceSelector) {
			s.MinSize, s.MaxSize = new(resource.MustParse("400Mi")), new(resource.MustParse("511Mi"))
		}), v1alpha1.ReasonTooFewDevices, few(0, 1, "")},
		"the same disk twice":        {madeOf(v1alpha1.VdevMirror, 0, 0), v1alpha1.ReasonInvalidSpec, "pool.create.vdevs[0]: " + disk(0) + " is named twice; name each device once"},
		"named disks are not chosen": {made(vdev(v1alpha1.VdevMirror, 0, 1), selected(v1alpha1.VdevMirror, 11)), v1alpha1.ReasonTooFewDevices, strings.Replace(few(10, 11, " ("+strings.TrimPrefix(everyDisk(), disk(0)+", "+disk(1)+", ")+")"), "vdevs[0]", "vdevs[1]", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			erase(t, "absent")
			n, counter := newAgent(nil)
			s := declared("absent", c.spec)
			converge(t, n, s)
			if got := says(t, s, v1alpha1.ConditionPoolReady, metav1.ConditionFalse, c.reason); got != c.message {
				t.Errorf("message\n%s\nwant\n%s", got, c.message)
			}
			says(t, s, v1alpha1.ConditionReady, metav1.ConditionFalse, c.reason)
			if got := changes(counter); len(got) > 0 {
				t.Errorf("ran %v", got)
			}
		})
	}
}

// everyDisk lists the disks in the order in which a selector takes them.
func everyDisk() string {
	var out []string
	for i := range blankDisks {
		out = append(out, disk(i))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// poolByHand creates a pool as an administrator does, and returns its GUID.
func poolByHand(t *testing.T, pool string, disks ...int) string {
	t.Helper()
	args := []string{"create", "-m", "none", pool}
	for _, d := range disks {
		args = append(args, disk(d))
	}
	run(t, "zpool", args...)
	return guid(t, pool)
}

func guid(t *testing.T, pool string) string {
	t.Helper()
	return run(t, "zpool", "get", "-Hp", "-o", "value", "guid", pool)
}

// file writes one, or reads it.
func file(t *testing.T, name, content string) string {
	t.Helper()
	if content != "" {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The agent adopts an existing pool with its data: it sets what is declared, and leaves
// everything else.
func TestExistingPoolIsAdoptedWithItsData(t *testing.T) {
	erase(t, "adopted", 0, 1)
	known := poolByHand(t, "adopted", 0, 1)
	run(t, "zpool", "set", "failmode=panic", "adopted")
	run(t, "zpool", "set", "comment=kept", "adopted")
	run(t, "zfs", "create", "-o", "mountpoint=/mnt/pgdata", "-o", "copies=2", "-o", "snapdir=visible", "-o", "org:note=kept", "adopted/pgdata")
	run(t, "zfs", "create", "-o", "mountpoint=/mnt/other", "-o", "recordsize=64K", "-o", "compression=gzip-9", "adopted/other")
	file(t, "/mnt/pgdata/rows", "of before")
	file(t, "/mnt/other/rows", "of others")
	untouched := func() string {
		return run(t, "zfs", "get", "-Hp", "-s", "local", "all", "adopted/other") + "\n" +
			run(t, "zfs", "get", "-Hp", "-o", "name,property,value,source", "copies,snapdir,org:note,mountpoint,canmount,mounted", "adopted/pgdata", "adopted") + "\n" +
			run(t, "zpool", "get", "-Hp", "comment,guid,autoreplace,autoexpand", "adopted")
	}
	before := untouched()
	n, counter := newAgent(nil)
	s := declared("adopted", nil)
	ready(t, n, s)
	if after := untouched(); after != before {
		t.Errorf("what is not declared was\n%s\nand is\n%s", before, after)
	}
	if s.Status.Pool.GUID != known || s.Status.Pool.Properties[1].Value != "wait" {
		t.Errorf("status %+v", s.Status.Pool)
	}
	if got := run(t, "zfs", "get", "-Hp", "-o", "value,source", "recordsize,atime,compression", "adopted/pgdata"); got != "8192\tlocal\noff\tlocal\nlz4\tlocal" {
		t.Errorf("declared properties %q", got)
	}
	if got := file(t, "/mnt/pgdata/rows", "") + file(t, "/mnt/other/rows", ""); got != "of beforeof others" {
		t.Errorf("data %q", got)
	}
	if got := changes(counter); !maps.Equal(got, map[string]int{"zpool set": 1, "zfs set": 1, "zfs create": 1}) {
		t.Errorf("ran %v", got)
	}
}

// recording is an agent that records its imports.
func recording(imports *[]string) (*agent.Node, *host.Counter) {
	return newAgent(func(argv []string) error {
		if command := strings.Join(argv, " "); strings.HasPrefix(command, "zpool import -N") {
			*imports = append(*imports, command)
		}
		return nil
	})
}

// A pool that was exported is imported again, by its GUID, with nothing mounted.
func TestExportedPoolIsImportedByItsGUID(t *testing.T) {
	for name, keep := range map[string]bool{"status kept": true, "status lost": false} {
		t.Run(name, func(t *testing.T) {
			erase(t, "away", 0)
			known := poolByHand(t, "away", 0)
			run(t, "zfs", "create", "-o", "mountpoint=/mnt/away", "away/volume")
			s := declared("away", nil)
			n, _ := newAgent(nil)
			ready(t, n, s)
			alone(t, "zpool", "export", "away")
			if !keep {
				s.Status = v1alpha1.PgNodeStorageStatus{}
			}
			var imports []string
			n, _ = recording(&imports)
			pass(t, n, s)
			if got, want := says(t, s, v1alpha1.ConditionPoolReady, metav1.ConditionFalse, v1alpha1.ReasonImportingPool), fmt.Sprintf("Waiting for pool away (GUID %s) to be imported", known); got != want {
				t.Errorf("message\n%s\nwant\n%s", got, want)
			}
			ready(t, n, s)
			if len(imports) != 1 || !strings.HasPrefix(imports[0], "zpool import -N -d /dev/disk/by-id/") || !strings.HasSuffix(imports[0], " "+known) {
				t.Errorf("ran %q, want one import by the GUID", imports)
			}
			if got := run(t, "zfs", "get", "-H", "-o", "value", "mounted", "away/volume"); got != "no" || s.Status.Pool.GUID != known {
				t.Errorf("mounted: %s; GUID %s, want %s", got, s.Status.Pool.GUID, known)
			}
		})
	}
}

// The agent imports neither of two pools of one name, unless the status has the GUID of one.
func TestAmbiguousPoolIsNotImported(t *testing.T) {
	erase(t, "twin", 0, 1)
	guids := make([]string, 2)
	for i := range guids {
		guids[i] = poolByHand(t, "twin", i)
		alone(t, "zpool", "export", "twin")
	}
	n, counter := newAgent(nil)
	s := declared("twin", madeOf(v1alpha1.VdevStripe, 2))
	converge(t, n, s)
	message := says(t, s, v1alpha1.ConditionPoolReady, metav1.ConditionFalse, v1alpha1.ReasonPoolAmbiguous)
	want := func(a, b string) string {
		return fmt.Sprintf("2 pools named twin can be imported (GUIDs %s, %s). Import the right one with zpool import GUID on the node, or detach the devices of the others", a, b)
	}
	if message != want(guids[0], guids[1]) && message != want(guids[1], guids[0]) {
		t.Errorf("message\n%s\nwant\n%s", message, want(guids[0], guids[1]))
	}
	if got := changes(counter); len(got) > 0 {
		t.Errorf("ran %v", got)
	}
	for i, known := range guids {
		s := declared("twin", nil)
		s.Status.Pool = &v1alpha1.ObservedPool{Name: "twin", GUID: known}
		var imports []string
		n, _ := recording(&imports)
		ready(t, n, s)
		if got := guid(t, "twin"); got != known || tree(s) != fmt.Sprintf("data disk%d", i) || len(imports) != 1 {
			t.Errorf("imported %s by %q: %s, want %s", got, imports, tree(s), known)
		}
		alone(t, "zpool", "export", "twin")
	}
}

// The agent neither uses nor changes another pool of the name, whether that is imported or
// could be.
func TestReplacedPoolIsNotUsed(t *testing.T) {
	erase(t, "other", 0)
	found := poolByHand(t, "other", 0)
	s := declared("other", madeOf(v1alpha1.VdevStripe, 1))
	s.Status.Pool = &v1alpha1.ObservedPool{Name: "other", GUID: "1234"}
	n, counter := newAgent(nil)
	converge(t, n, s)
	want := fmt.Sprintf("the imported pool other has GUID %s, but the pool of this node had 1234. Export the wrong one and import the right one by GUID, or list 1234 in pool.abandonedGUIDs of the profile to adopt the new one", found)
	if got := says(t, s, v1alpha1.ConditionPoolReady, metav1.ConditionFalse, v1alpha1.ReasonPoolReplaced); got != want {
		t.Errorf("message\n%s\nwant\n%s", got, want)
	}
	says(t, s, v1alpha1.ConditionPropertiesApplied, metav1.ConditionUnknown, v1alpha1.ReasonNotReadBack)
	converge(t, n, s) // still, with the status of the first
	says(t, s, v1alpha1.ConditionPoolReady, metav1.ConditionFalse, v1alpha1.ReasonPoolReplaced)
	alone(t, "zpool", "export", "other")
	s.Status.Pool = &v1alpha1.ObservedPool{Name: "other", GUID: "1234"}
	converge(t, n, s)
	says(t, s, v1alpha1.ConditionPoolReady, metav1.ConditionFalse, v1alpha1.ReasonPoolLost)
	if got := changes(counter); len(got) > 0 {
		t.Errorf("ran %v", got)
	}
}

// The agent does not create a pool again that is gone, though its disks are blank.
func TestLostPoolIsNotCreatedAgain(t *testing.T) {
	erase(t, "lost", 0, 1)
	s := declared("lost", madeOf(v1alpha1.VdevMirror, 0, 1))
	n, _ := newAgent(nil)
	ready(t, n, s)
	known := s.Status.Pool.GUID
	alone(t, "zpool", "destroy", "lost")
	blank(t, 0)
	blank(t, 1)
	n, counter := newAgent(nil)
	want := fmt.Sprintf("pool lost (GUID %s) was on this node, and no device has it now; the agent does not create it again. Attach its devices again, or list %[1]s in pool.abandonedGUIDs of the profile once you no longer need its data", known)
	for range 3 {
		pass(t, n, s)
		if got := says(t, s, v1alpha1.ConditionPoolReady, metav1.ConditionFalse, v1alpha1.ReasonPoolLost); got != want {
			t.Errorf("message\n%s\nwant\n%s", got, want)
		}
	}
	if got := changes(counter); len(got) > 0 {
		t.Errorf("ran %v", got)
	}
	for i := range 2 {
		if found, err := n.Devices.Blank(t.Context(), disk(i)); err != nil || !found.Blank() {
			t.Errorf("disk %d: %v, %v", i, found, err)
		}
	}
}

// A pool is created once, whatever object is deleted. The agent creates another only for the
// GUID that an administrator abandoned. What was wiped for the first is not wiped for the
// second.
func TestPoolIsCreatedOnce(t *testing.T) {
	erase(t, "once", 0, 1)
	text(0, "bluestore block device\n")(t, disk(0))
	create := func(spec *v1alpha1.PgNodeStorageSpec) {
		madeOf(v1alpha1.VdevStripe, 0)(spec)
		spec.Pool.Create.Vdevs[0].Devices[0].Wipe = new(true)
	}
	s := declared("once", create)
	n, _ := newAgent(nil)
	ready(t, n, s)
	known := s.Status.Pool.GUID
	if record := file(t, poolRecord("once"), ""); !strings.Contains(record, known) {
		t.Fatalf("the node records %s, and not GUID %s", record, known)
	}
	alone(t, "zpool", "destroy", "once")
	blank(t, 0)
	text(0, "bluestore block device\n")(t, disk(0))
	before := digests(t, 0)
	n, counter := newAgent(nil)
	for name, again := range map[string]*v1alpha1.PgNodeStorage{
		"the same object":     s,
		"deleted and created": declared("once", create),
		"another profile's":   declared("once", func(spec *v1alpha1.PgNodeStorageSpec) { create(spec); spec.Profile = "other" }),
	} {
		pass(t, n, again)
		if got := says(t, again, v1alpha1.ConditionPoolReady, metav1.ConditionFalse, v1alpha1.ReasonPoolLost); !strings.Contains(got, known) {
			t.Errorf("%s: %s", name, got)
		}
	}
	abandoned := declared("once", create)
	abandoned.Spec.Pool.AbandonedGUIDs = []v1alpha1.PoolGUID{v1alpha1.PoolGUID(known)}
	pass(t, n, abandoned)
	if got := says(t, abandoned, v1alpha1.ConditionPoolReady, metav1.ConditionFalse, v1alpha1.ReasonWipeRefused); !strings.Contains(got, "used up for pool GUID "+known) || !strings.Contains(got, "add serial: disk0 ") {
		t.Error(got)
	}
	other := abandoned.DeepCopy()
	other.Spec.Pool.Create.Vdevs[0].Devices[0].Serial = "disk1"
	pass(t, n, other)
	says(t, other, v1alpha1.ConditionPoolReady, metav1.ConditionFalse, v1alpha1.ReasonDeviceNotFound)
	if got := changes(counter); len(got) > 0 {
		t.Errorf("ran %v", got)
	}
	wantDigests(t, before, 0)

	abandoned.Spec.Pool.Create.Vdevs[0].Devices[0].Serial = "disk0"
	ready(t, n, abandoned)
	if got := abandoned.Status.Pool.GUID; got == known {
		t.Errorf("the GUID is still %s", got)
	}
}

// The agent reports a layout that differs from the declared one, and does not change it; the
// pool serves.
func TestDifferentLayoutIsReportedAndUnchanged(t *testing.T) {
	erase(t, "layout", 0, 1, 2)
	s := declared("layout", madeOf(v1alpha1.VdevMirror, 0, 1))
	n, counter := newAgent(nil)
	ready(t, n, s)
	before := changes(counter)
	run(t, "zpool", "add", "-f", "layout", disk(2))
	ready(t, n, s)
	want := "the pool is data disk, data mirror of 2, and pool.create declares data mirror of 2; the agent changes no layout: change the pool with zpool(8), or correct pool.create"
	if got := says(t, s, v1alpha1.ConditionDevicesHealthy, metav1.ConditionFalse, v1alpha1.ReasonLayoutDiffers); got != want {
		t.Errorf("message\n%s\nwant\n%s", got, want)
	}
	if got := changes(counter); !maps.Equal(got, before) {
		t.Errorf("ran %v, before %v", got, before)
	}
}

// The agent sets the ARC's limit, reads it back, and sets it again after a manual change.
func TestARCLimitIsRestored(t *testing.T) {
	keepARCMax(t)
	erase(t, "arc", 0)
	s := declared("arc", madeOf(v1alpha1.VdevStripe, 0))
	s.Spec.ARCMax = new(resource.MustParse("256Mi"))
	n, _ := newAgent(nil)
	ready(t, n, s)
	if got := strings.TrimSpace(file(t, arcMaxFile, "")); got != "268435456" || s.Status.ARC.Max.Value() != 256<<20 {
		t.Errorf("zfs_arc_max is %s, status has %v", got, s.Status.ARC.Max)
	}
	file(t, arcMaxFile, "536870912")
	result := pass(t, n, s)
	if want := []string{"zfs_arc_max of the node is 536870912, declared is 256Mi"}; !slices.Equal(result.Drift, want) {
		t.Errorf("drift %q, want %q", result.Drift, want)
	}
	ready(t, n, s)
	if got := strings.TrimSpace(file(t, arcMaxFile, "")); got != "268435456" {
		t.Errorf("zfs_arc_max is %s", got)
	}
}

// dry is an agent that only reports.
func dry() (*agent.Node, *[]string) {
	var reported []string
	report := func(argv []string) { reported = append(reported, strings.Join(argv, " ")) }
	n := agent.New("", host.DryRun(&host.Exec{}, report))
	n.DryRun = report
	return n, &reported
}

// A dry run reports the command that would create the pool, and does not touch the disks.
func TestDryRunCreatesNoPool(t *testing.T) {
	erase(t, "dry", 0, 1)
	before := digests(t, 0, 1)
	n, reported := dry()
	pass(t, n, declared("dry", madeOf(v1alpha1.VdevMirror, 0, 1)))
	want := []string{"zpool create -o ashift=12 -o autotrim=off -o failmode=wait -O canmount=off -O mountpoint=none dry mirror " + disk(0) + " " + disk(1)}
	if !slices.Equal(*reported, want) {
		t.Errorf("reported %q, want %q", *reported, want)
	}
	wantDigests(t, before, 0, 1)
}

// A dry run reports what it would wipe, and wipes nothing.
func TestDryRunWipesNothing(t *testing.T) {
	erase(t, "dry", 0)
	run(t, "mkfs.ext4", "-q", disk(0))
	before := digests(t, 0)
	n, reported := dry()
	s := declared("dry", madeOf(v1alpha1.VdevStripe, 0))
	s.Spec.Pool.Create.Vdevs[0].Devices[0].Wipe = new(true)
	pass(t, n, s)
	if want := []string{"wipefs -a " + disk(0)}; !slices.Equal(*reported, want) {
		t.Errorf("reported %q, want %q", *reported, want)
	}
	wantDigests(t, before, 0)
}

// A dry run on a pool reports what it would set, the ARC's limit included, and sets nothing.
func TestDryRunSetsNoProperty(t *testing.T) {
	keepARCMax(t)
	erase(t, "dry", 0)
	poolByHand(t, "dry", 0)
	run(t, "zfs", "create", "-o", "compression=lz4", "dry/pgdata")
	seen := func() string {
		return run(t, "zfs", "get", "-Hp", "-r", "-s", "local,default,inherited", "all", "dry") + file(t, arcMaxFile, "")
	}
	before := seen()
	s := declared("dry", nil)
	s.Spec.Datasets = []v1alpha1.NodeDataset{
		{Name: "dry/pgdata", Properties: []v1alpha1.ZFSProperty{{Name: "recordsize", Value: "8192"}, {Name: "compression", Value: "lz4"}}},
		{Name: "dry/pgwal", Properties: []v1alpha1.ZFSProperty{{Name: "atime", Value: "off"}}},
	}
	s.Spec.ARCMax = new(resource.MustParse("256Mi"))
	n, reported := dry()
	pass(t, n, s)
	want := []string{
		"zfs set recordsize=8192 dry/pgdata",
		"zfs create -o atime=off -o canmount=off -o mountpoint=none dry/pgwal",
		"write 268435456 " + arcMaxFile,
	}
	if !slices.Equal(*reported, want) {
		t.Errorf("reported %q, want %q", *reported, want)
	}
	if after := seen(); after != before {
		t.Errorf("was\n%s\nis\n%s", before, after)
	}
}
