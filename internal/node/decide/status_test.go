package decide

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/blockdev"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

// asStored is a status in the bytes that the API server keeps.
func asStored(t *testing.T, s v1alpha1.PgNodeStorageStatus) string {
	t.Helper()
	s.Conditions = nil // those of the outcomes
	out, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// All of a status, of a healthy node that is seen for the first time.
func TestStatus(t *testing.T) {
	fullAt := time.Date(2027, 1, 2, 3, 0, 0, 0, time.UTC)
	s := storage(fresh)
	want := v1alpha1.PgNodeStorageStatus{
		ObservedGeneration: 3,
		ZFSVersion:         &v1alpha1.ZFSVersion{Userland: "zfs-2.2.4-1", Kernel: "zfs-kmod-2.2.4-1"},
		Pool: &v1alpha1.ObservedPool{
			Name: "tank", GUID: "42", Health: "ONLINE",
			Size: at(100 * gib), Allocated: at(40 * gib), Free: at(60 * gib),
			UsedPercent: new(int32(40)), FragmentationPercent: new(int32(12)),
			FullAt: new(metav1.NewTime(fullAt)),
			Properties: []v1alpha1.ObservedProperty{
				{Name: "autotrim", Value: "on", Source: "local"},
				{Name: "failmode", Value: "wait", Source: "default"},
			},
			Vdevs: []v1alpha1.ObservedVdev{
				{Name: "mirror-0", Class: "data", State: "ONLINE"},
				{Name: byID + "a", Depth: 1, Class: "data", State: "ONLINE"},
				{Name: byID + "b", Depth: 1, Class: "data", State: "ONLINE"},
			},
			Scrub: &v1alpha1.ObservedScrub{State: "Finished", Text: "scrub repaired 0B in 00:00:01 with 0 errors on Sat Nov 21 07:30:11 2026"},
		},
		Datasets: []v1alpha1.ObservedDataset{
			{
				Name: "tank/pgdata", Used: at(30 * gib), Available: at(55 * gib), UsedBySnapshots: at(5 * gib),
				Properties: []v1alpha1.ObservedProperty{
					{Name: "recordsize", Value: "8192", Source: "local"},
					{Name: "compression", Value: "lz4", Source: "local"},
					{Name: "quota", Value: "0", Source: "local"},
				},
			},
			{
				Name: "tank/pgwal", Used: at(2 * gib), Available: at(55 * gib), UsedBySnapshots: at(0),
				Properties: []v1alpha1.ObservedProperty{{Name: "recordsize", Value: "131072", Source: "local"}},
			},
		},
		Volumes: []v1alpha1.ObservedVolume{{
			Name: "tank/pgdata/pvc-1", Type: "Filesystem", Used: at(20 * gib), UsedBySnapshots: at(4 * gib), Recordsize: 8192, Encrypted: new(false),
		}},
		VolumeCount: new(int32(1)),
		ARC:         &v1alpha1.ObservedARC{Size: at(4 * gib), Min: at(gib), Max: at(8 * gib)},
		Devices: []v1alpha1.ObservedDevice{
			{Path: byID + "a", Size: at(tib), Model: "Disk a", Transport: "nvme", Rotational: "No"},
			{Path: byID + "b", Size: at(2 * tib), Model: "Disk b", Transport: "nvme", Rotational: "No"},
		},
	}
	if diff := cmp.Diff(asStored(t, want), asStored(t, Status(s, converged(), fullAt))); diff != "" {
		t.Error(diff)
	}
	want.Pool.FullAt = nil
	if diff := cmp.Diff(asStored(t, want), asStored(t, Status(s, converged(), never))); diff != "" {
		t.Errorf("without a forecast: %s", diff)
	}
}

// What stays of the last status, where less than all could be read.
func TestStatusOfLess(t *testing.T) {
	before := storage()
	before.Status = Status(before, converged(), never)
	only := &v1alpha1.ObservedPool{Name: "tank", GUID: "42"}
	version := &v1alpha1.ZFSVersion{Userland: "zfs-2.2.4-1", Kernel: "zfs-kmod-2.2.4-1"}
	last := before.Status
	for _, c := range []struct {
		name string
		s    *v1alpha1.PgNodeStorage
		seen Seen
		want v1alpha1.PgNodeStorageStatus
	}{
		{"no module", before, converged(unloaded), v1alpha1.PgNodeStorageStatus{Pool: only}},
		{"no module, ever", storage(fresh), converged(unloaded), v1alpha1.PgNodeStorageStatus{}},
		{"no pool: its GUID stays, and nothing that is old", before, converged(absent), v1alpha1.PgNodeStorageStatus{Pool: only, ZFSVersion: version, ARC: last.ARC}},
		{"no pool, ever", storage(fresh), converged(absent), v1alpha1.PgNodeStorageStatus{ZFSVersion: version, ARC: last.ARC}},
		{"another pool of its name is not told of as this one", before, converged(pools("guid=43")), v1alpha1.PgNodeStorageStatus{Pool: only, ZFSVersion: version, ARC: last.ARC}},
		{
			"suspended: figures of datasets stay", before,
			converged(pools("health=SUSPENDED"), func(seen *Seen) { seen.Datasets = nil }),
			v1alpha1.PgNodeStorageStatus{Pool: sick(last.Pool, "SUSPENDED"), Datasets: last.Datasets, Volumes: last.Volumes, VolumeCount: last.VolumeCount, ZFSVersion: version, ARC: last.ARC},
		},
		{
			"suspended as its status has it", before,
			converged(reported(func(s *zfs.Status) { s.Suspended = true }), func(seen *Seen) { seen.Datasets = nil }),
			v1alpha1.PgNodeStorageStatus{Pool: sick(last.Pool, "SUSPENDED"), Datasets: last.Datasets, Volumes: last.Volumes, VolumeCount: last.VolumeCount, ZFSVersion: version, ARC: last.ARC},
		},
		{
			"faulted: its datasets cannot be read either", before,
			converged(pools("health=FAULTED"), func(seen *Seen) { seen.Datasets = nil }),
			v1alpha1.PgNodeStorageStatus{Pool: sick(last.Pool, "FAULTED"), Datasets: last.Datasets, Volumes: last.Volumes, VolumeCount: last.VolumeCount, ZFSVersion: version, ARC: last.ARC},
		},
		{
			"degraded is read in full", before, converged(pools("health=DEGRADED")),
			v1alpha1.PgNodeStorageStatus{Pool: sick(last.Pool, "DEGRADED"), Datasets: last.Datasets, Volumes: last.Volumes, VolumeCount: last.VolumeCount, ZFSVersion: version, ARC: last.ARC},
		},
		{
			"a dataset that is gone is not listed", before, converged(without("tank/pgwal"), without("tank/pgdata/pvc-1")),
			v1alpha1.PgNodeStorageStatus{
				Pool: last.Pool, Datasets: []v1alpha1.ObservedDataset{snapshots(last.Datasets[0], gib)}, VolumeCount: new(int32(0)), ZFSVersion: version, ARC: last.ARC,
			},
		},
	} {
		c.want.ObservedGeneration, c.want.Devices = 3, last.Devices
		if diff := cmp.Diff(asStored(t, c.want), asStored(t, Status(c.s, c.seen, never))); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func sick(p *v1alpha1.ObservedPool, health string) *v1alpha1.ObservedPool {
	p = p.DeepCopy()
	p.Health = health
	return p
}

func snapshots(d v1alpha1.ObservedDataset, n int64) v1alpha1.ObservedDataset {
	d.UsedBySnapshots = at(n)
	return d
}

// A figure is renewed once it moved by 1% of its whole, here a GiB, in either direction.
func TestSettle(t *testing.T) {
	const old = 40 * gib
	for _, c := range []struct {
		name       string
		now, whole uint64
		want       int64
	}{
		{"the same", old, 100 * gib, old},
		{"just below 1% more", old + gib - 1, 100 * gib, old},
		{"1% more", old + gib, 100 * gib, old + gib},
		{"just above 1% more", old + gib + 1, 100 * gib, old + gib + 1},
		{"just below 1% less", old - gib + 1, 100 * gib, old},
		{"1% less", old - gib, 100 * gib, old - gib},
		{"just above 1% less", old - gib - 1, 100 * gib, old - gib - 1},
		{"gone", 0, 100 * gib, 0},
		{"the same of an unknown whole", old, 0, old},
		{"a byte of an unknown whole", old + 1, 0, old + 1},
		{"a byte of a whole of a few", old + 1, 99, old + 1},
	} {
		if got := settle(at(old), c.now, c.whole); got.Value() != c.want {
			t.Errorf("%s: %d, wanted %d", c.name, got.Value(), c.want)
		}
	}
	if got := settle(nil, 7, 100*gib); got.Value() != 7 {
		t.Errorf("the first: %s", got)
	}
	if kept := at(old); settle(kept, old, gib) == kept {
		t.Error("a figure is shared with the last status")
	}
	large := quantity("40Gi") // as it was stored, in other words
	if got := settle(large, old, 100*gib); got.String() != "40Gi" {
		t.Errorf("%s", got)
	}
}

// An idle node writes nothing. No figure that moved by less than 1% of its whole since the last
// write changes the status, wherever it began.
func TestStatusAtRest(t *testing.T) {
	const whole = 100 * gib
	figures := func(used, percent uint64) Seen {
		return converged(
			pools(fmt.Sprint("allocated=", used), fmt.Sprint("free=", whole-used), fmt.Sprint("capacity=", used*100/whole), fmt.Sprint("fragmentation=", percent)),
			in("tank/pgdata", fmt.Sprint("used=", used), fmt.Sprint("available=", whole-used), fmt.Sprint("usedbysnapshots=", used/2)),
			in("tank/pgdata/pvc-1", fmt.Sprint("used=", used), fmt.Sprint("usedbysnapshots=", used/4)),
			func(seen *Seen) { seen.ARC.Size = used / 20 },
		)
	}
	for _, start := range []uint64{0, 1, gib - 1, gib, 20*gib - 1, 20 * gib, 50*gib + 1, whole - gib, whole - 1} {
		s := storage()
		s.Status = Status(s, figures(start, 12), never)
		want := asStored(t, s.Status)
		for _, moved := range []int64{1, -1, 4096, -4096, gib / 2, -gib / 2, gib - 1, -(gib - 1), 1, 0} {
			now := min(uint64(max(0, int64(start)+moved)), whole)
			for fragmentation := range uint64(3) {
				s.Status = Status(s, figures(now, 11+fragmentation), never)
				if diff := cmp.Diff(want, asStored(t, s.Status)); diff != "" {
					t.Fatalf("%d moved by %d: %s", start, moved, diff)
				}
			}
		}
	}
}

// And what moved by more is news.
func TestStatusOfNews(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Seen)
	}{
		{"allocated", pools(fmt.Sprint("allocated=", 41*gib))},
		{"free", pools(fmt.Sprint("free=", 61*gib))},
		{"size", pools(fmt.Sprint("size=", 101*gib))},
		{"fragmentation", pools("fragmentation=14")},
		{"fragmentation not told", pools("fragmentation=- -")},
		{"health", pools("health=DEGRADED")},
		{"pool property", pools("failmode=panic")},
		{"source of a pool property", pools("failmode=wait local")},
		{"used", in("tank/pgdata", fmt.Sprint("used=", 31*gib))},
		{"available", in("tank/pgwal", fmt.Sprint("available=", 54*gib))},
		{"property", in("tank/pgdata", "compression=off")},
		{"snapshots of a volume", in("tank/pgdata/pvc-1", fmt.Sprint("usedbysnapshots=", 5*gib))},
		{"property of a volume", in("tank/pgdata/pvc-1", "compression=off")},
		{"volume gone", without("tank/pgdata/pvc-1")},
		{"volume made", func(seen *Seen) { seen.Datasets = append(seen.Datasets, dataset("tank/pgdata/pvc-2")) }},
		{"device gone", func(seen *Seen) { seen.Devices = seen.Devices[1:] }},
		{"device used", func(seen *Seen) { seen.Devices[0].FSType = "xfs" }},
		{"an error counted", func(seen *Seen) { seen.Status.Vdevs[0].Children[1].Read++ }},
		{"scrubbed", func(seen *Seen) { seen.Status.Scan.Text = "scrub repaired 0B in 00:00:02" }},
		{"ZFS said", func(seen *Seen) { seen.Status.Explanation = "Some supported features are not enabled." }},
		{"the ARC by a tenth", func(seen *Seen) { seen.ARC.Size += seen.ARC.Max/10 + 1 }},
		{"the ARC's limit", func(seen *Seen) { seen.ARC.Max++ }},
		{"module", func(seen *Seen) { seen.Version.Kernel.Text = "zfs-kmod-2.2.5-1" }},
	} {
		s := storage()
		s.Status = Status(s, converged(), never)
		if asStored(t, s.Status) == asStored(t, Status(s, converged(c.change), never)) {
			t.Errorf("%s: no other status", c.name)
		}
	}
}

// Equal input gives equal bytes.
func TestStatusIsDeterministic(t *testing.T) {
	changes := func(seen *Seen) {
		for i := range 40 {
			seen.Datasets = append(seen.Datasets, dataset(fmt.Sprint("tank/pgwal/pvc-", i), "used", i*gib))
			seen.Devices = append(seen.Devices, blank(fmt.Sprint("disk", 40-i), tib))
		}
	}
	want := asStored(t, Status(storage(), converged(changes), never))
	for range 20 {
		if diff := cmp.Diff(want, asStored(t, Status(storage(), converged(changes), never))); diff != "" {
			t.Fatal(diff)
		}
	}
}

// Building a status does not change what was read.
func TestStatusTakesNothing(t *testing.T) {
	s, seen := storage(), converged()
	s.Status = Status(s, seen, never)
	before := s.DeepCopy()
	out := Status(s, converged(pools("health=SUSPENDED")), never)
	out.Pool.Name, out.Pool.Allocated = "changed", at(1)
	_ = Status(s, seen, never)
	if diff := cmp.Diff(asStored(t, before.Status), asStored(t, s.Status)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(converged(), seen, cmp.AllowUnexported(zfs.Version{})); diff != "" {
		t.Error(diff)
	}
}

func TestScanText(t *testing.T) {
	at := time.Date(2026, 11, 21, 7, 30, 19, 0, time.UTC)
	running := func(text string) zfs.Scan { return zfs.Scan{State: zfs.ScanInProgress, At: at, Text: text} }
	for _, c := range []struct {
		name        string
		first, then zfs.Scan
		want        string
	}{
		{"none", zfs.Scan{State: zfs.ScanNone, Text: "none requested"}, zfs.Scan{State: zfs.ScanNone, Text: "none requested"}, "none requested"},
		{
			"a scrub runs", running("scrub in progress since Sat Nov 21 07:30:19 2026 70.6M scanned at 70.6M/s, 15.8M issued at 15.8M/s, 70.6M total 0B repaired, 22.42% done, 00:00:03 to go"),
			running("scrub in progress since Sat Nov 21 07:30:19 2026 70.6M scanned at 23.5M/s, 60.1M issued at 20.0M/s, 70.6M total 0B repaired, 85.12% done, 00:00:00 to go"),
			"scrub in progress since 2026-11-21T07:30:19Z",
		},
		{
			"a resilver runs, of OpenZFS 2.2", func() zfs.Scan {
				s := running("resilver in progress since Sat Nov 21 07:30:19 2026 0B / 5.2G scanned, 0B / 5.2G issued 0B resilvered, 0.00% done, no estimated completion time")
				s.Resilver = true
				return s
			}(),
			zfs.Scan{State: zfs.ScanInProgress, Resilver: true, At: at, Text: "resilver in progress since Sat Nov 21 07:30:19 2026 5.2G / 5.2G scanned, 1G / 5.2G issued at 1G/s 1G resilvered, 19.00% done, 00:00:04 to go"},
			"resilver in progress since 2026-11-21T07:30:19Z",
		},
		{"a scrub runs, of the JSON", running("scrub scanning"), running("scrub scanning"), "scrub in progress since 2026-11-21T07:30:19Z"},
		{"a time that was not told", zfs.Scan{State: zfs.ScanInProgress, Text: "scrub in progress since then 1G scanned"}, zfs.Scan{State: zfs.ScanInProgress, Text: "scrub in progress since then 2G scanned"}, "scrub in progress"},
		{
			"paused", zfs.Scan{State: zfs.ScanPaused, At: at, Text: "scrub paused since Sat Nov 21 07:30:19 2026"}, zfs.Scan{State: zfs.ScanPaused, At: at, Text: "scrub paused since Sat Nov 21 07:30:19 2026"},
			"scrub paused since Sat Nov 21 07:30:19 2026",
		},
	} {
		if c.first.State != c.then.State {
			t.Fatal(c.name)
		}
		same(t, c.name, scanText(c.first), c.want)
		same(t, c.name+", a while later", scanText(c.then), c.want)
	}
}

func TestVolumes(t *testing.T) {
	relatime := func(s *v1alpha1.PgNodeStorage) {
		s.Spec.Datasets[0].Properties = append(s.Spec.Datasets[0].Properties, properties("relatime=off")...)
	}
	zvol := dataset("tank/pgblock/pvc-9", "used", 3*gib, "usedbysnapshots", gib, "volblocksize", 16384)
	zvol.Kind = zfs.Volume
	encrypted := dataset("tank/pgdata/pvc-2", "encryption", "aes-256-gcm")
	plain := dataset("tank/pgdata/pvc-3", "encryption", "off")
	odd := dataset("tank/pgdata/pvc-4", "recordsize", "-")
	block := func(s *v1alpha1.PgNodeStorage) {
		s.Spec.Datasets = append(s.Spec.Datasets, v1alpha1.NodeDataset{Name: "tank/pgblock", Properties: properties("compression=lz4", "reservation=none")})
	}
	nested := func(s *v1alpha1.PgNodeStorage) {
		s.Spec.Datasets = append([]v1alpha1.NodeDataset{{Name: "tank"}}, s.Spec.Datasets...)
	}
	with := func(more ...zfs.Dataset) func(*Seen) {
		return func(seen *Seen) { seen.Datasets = append(seen.Datasets, more...) }
	}
	for _, c := range []struct {
		name string
		s    *v1alpha1.PgNodeStorage
		seen Seen
		// want has each volume as name type used/snapshots block encrypted differs.
		want  string
		count int32
	}{
		{"one", storage(), converged(), "[tank/pgdata/pvc-1 Filesystem 20Gi/4Gi 8192 false []]", 1},
		{"none", storage(), converged(without("tank/pgdata/pvc-1")), "[]", 0},
		{"none of what is not declared", storage(func(s *v1alpha1.PgNodeStorage) { s.Spec.Datasets = nil }), converged(), "[]", 0},
		{"a zvol", storage(block), converged(without("tank/pgdata/pvc-1"), with(dataset("tank/pgblock"), zvol)), "[tank/pgblock/pvc-9 Volume 3Gi/1Gi 16384 false []]", 1},
		{"children of children are none", storage(), converged(with(dataset("tank/pgdata/pvc-1/x"))), "[tank/pgdata/pvc-1 Filesystem 20Gi/4Gi 8192 false []]", 1},
		{"nor those of a name that begins alike", storage(), converged(with(dataset("tank/pgdata2/pvc-1"))), "[tank/pgdata/pvc-1 Filesystem 20Gi/4Gi 8192 false []]", 1},
		{"nor parents beneath a parent", storage(nested), converged(), "[tank/pgdata/pvc-1 Filesystem 20Gi/4Gi 8192 false []]", 1},
		{
			"encrypted and not", storage(), converged(without("tank/pgdata/pvc-1"), with(encrypted, plain, odd)),
			"[tank/pgdata/pvc-2 Filesystem 0/0 0 true [] tank/pgdata/pvc-3 Filesystem 0/0 0 false [] tank/pgdata/pvc-4 Filesystem 0/0 0 false [recordsize=- -]]", 3,
		},
		{
			"differs", storage(), converged(in("tank/pgdata/pvc-1", "recordsize=131072", "compression=off local")),
			"[tank/pgdata/pvc-1 Filesystem 20Gi/4Gi 131072 false [recordsize=131072 local compression=off local]]", 1,
		},
		{"its own quota does not differ", storage(), converged(in("tank/pgdata/pvc-1", "quota=1", "reservation=1")), "[tank/pgdata/pvc-1 Filesystem 20Gi/4Gi 8192 false []]", 1},
		{
			"a mount's relatime does not differ where there is no atime", storage(relatime), converged(in("tank/pgdata/pvc-1", "atime=off", "relatime=on temporary")),
			"[tank/pgdata/pvc-1 Filesystem 20Gi/4Gi 8192 false []]", 1,
		},
		{
			"and does where there is", storage(relatime), converged(in("tank/pgdata/pvc-1", "atime=on", "relatime=on temporary")),
			"[tank/pgdata/pvc-1 Filesystem 20Gi/4Gi 8192 false [relatime=on temporary]]", 1,
		},
		{"the same in another notation does not differ", storage(), converged(in("tank/pgdata/pvc-1", "recordsize=8192 local")), "[tank/pgdata/pvc-1 Filesystem 20Gi/4Gi 8192 false []]", 1},
		{"a property that it has not does not differ", storage(), converged(func(seen *Seen) { delete(seen.dataset("tank/pgdata/pvc-1").Properties, "compression") }), "[tank/pgdata/pvc-1 Filesystem 20Gi/4Gi 8192 false []]", 1},
	} {
		out := Status(c.s, c.seen, never)
		got := []string{}
		for _, v := range out.Volumes {
			differs := []string{}
			for _, d := range v.Differs {
				differs = append(differs, fmt.Sprintf("%s=%s %s", d.Name, d.Value, d.Source))
			}
			got = append(got, fmt.Sprintf("%s %s %s/%s %d %v %v", v.Name, v.Type, v.Used, v.UsedBySnapshots, v.Recordsize+v.Volblocksize, *v.Encrypted, differs))
		}
		same(t, c.name, got, c.want)
		if *out.VolumeCount != c.count {
			t.Errorf("%s: counted %d", c.name, *out.VolumeCount)
		}
	}
}

// At most 1024 volumes and 256 devices are listed, the same ones each time, and what is
// not listed is reported.
func TestListsAreBounded(t *testing.T) {
	for _, n := range []int{255, 256, 257, 600, 1024, 1025, 3000} {
		seen := converged(without("tank/pgdata/pvc-1"), func(seen *Seen) {
			seen.Devices = nil
			for i := range n {
				parent := []string{"tank/pgdata", "tank/pgwal"}[i%2]
				seen.Datasets = append(seen.Datasets, dataset(fmt.Sprintf("%s/pvc-%04d", parent, i)))
				seen.Devices = append(seen.Devices, blank(fmt.Sprintf("%04d", n-1-i), gib)) // the last by path first
			}
		})
		out := Status(storage(), seen, never)
		if len(out.Volumes) != min(n, 1024) || *out.VolumeCount != int32(n) {
			t.Errorf("%d volumes: %d listed, %d counted", n, len(out.Volumes), *out.VolumeCount)
		}
		if len(out.Devices) != min(n, 256) || out.Devices[0].Path != byID+"0000" {
			t.Errorf("%d devices: %d listed, from %s", n, len(out.Devices), out.Devices[0].Path)
		}
		o := Complete(out, seen)
		if (o != nil) != (n > 256) {
			t.Errorf("%d: %+v", n, o)
		}
		for _, says := range []struct {
			text string
			when bool
		}{{fmt.Sprintf("status.volumes lists 1024 of %d volumes", n), n > 1024}, {fmt.Sprintf("status.devices lists 256 of %d disks", n), n > 256}} {
			if o != nil && strings.Contains(o.Message, says.text) != says.when {
				t.Errorf("%d: %q", n, o.Message)
			}
		}
		slices.Reverse(seen.Devices)
		if diff := cmp.Diff(asStored(t, out), asStored(t, Status(storage(), seen, never))); diff != "" {
			t.Errorf("%d in another order: %s", n, diff)
		}
	}
}

// A new volume never displaces one that was listed before, and one that is gone makes
// room.
func TestListedVolumesStay(t *testing.T) {
	seen := converged(without("tank/pgdata/pvc-1"))
	for i := range 1100 {
		seen.Datasets = append(seen.Datasets, dataset(fmt.Sprintf("tank/pgdata/pvc-%04d", 1000+i)))
	}
	s := storage()
	s.Status = Status(s, seen, never)
	seen.Datasets = append([]zfs.Dataset{dataset("tank/pgdata/pvc-0000")}, seen.Datasets...)
	again := Status(s, seen, never)
	if diff := cmp.Diff(volumeNames(s.Status.Volumes), volumeNames(again.Volumes)); diff != "" {
		t.Errorf("others are listed: %s", diff)
	}
	seen.Datasets = slices.DeleteFunc(seen.Datasets, func(d zfs.Dataset) bool { return d.Name == "tank/pgdata/pvc-1000" })
	if got := volumeNames(Status(s, seen, never).Volumes); len(got) != 1024 || got[0] != "tank/pgdata/pvc-0000" {
		t.Errorf("%d listed, from %s", len(got), got[0])
	}
}

// Volumes that differ in much are listed only as far as an object has room.
func TestListedVolumesFitAnObject(t *testing.T) {
	s, seen := storage(), converged(without("tank/pgdata/pvc-1"))
	for i := range 1000 {
		d := dataset(fmt.Sprintf("tank/pgdata/pvc-%s-%04d", strings.Repeat("f", 200), i))
		for _, p := range s.Spec.Datasets[0].Properties {
			d.Properties[p.Name] = zfs.Property{Value: strings.Repeat("x", 200), Source: "local"}
		}
		seen.Datasets = append(seen.Datasets, d)
	}
	out := Status(s, seen, never)
	text, err := json.Marshal(out.Volumes)
	if err != nil || len(text) > 400<<10 || len(out.Volumes) == 0 {
		t.Errorf("%d volumes of %d bytes: %v", len(out.Volumes), len(text), err)
	}
	if o := Complete(out, seen); o == nil || !o.Informative || !strings.Contains(o.Message, "of 1000 volumes") {
		t.Errorf("%+v", o)
	}
}

func volumeNames(volumes []v1alpha1.ObservedVolume) []string {
	var out []string
	for _, v := range volumes {
		out = append(out, v.Name)
	}
	return out
}

func TestDevices(t *testing.T) {
	change := func(f func(*blockdev.Device)) blockdev.Device {
		d := blank("x", gib)
		f(&d)
		return d
	}
	part := func(fs, mounted string) blockdev.Device {
		p := blockdev.Device{Type: "part", FSType: fs}
		if mounted != "" {
			p.Mountpoints = []string{mounted}
		}
		return p
	}
	for _, c := range []struct {
		name string
		d    blockdev.Device
		// want is rotational and contents.
		want string
	}{
		{"blank", blank("x", gib), "No: "},
		{"rotational", change(func(d *blockdev.Device) { d.Rotational = true }), "Yes: "},
		{"a filesystem", change(func(d *blockdev.Device) { d.FSType = "ext4" }), "No: ext4"},
		{"mounted", change(func(d *blockdev.Device) { d.FSType, d.Mountpoints = "ext4", []string{"/srv"} }), "No: ext4, mounted at /srv"},
		{"a table", change(func(d *blockdev.Device) { d.PartitionTable = "gpt" }), "No: gpt partition table"},
		{
			"partitions", change(func(d *blockdev.Device) {
				d.PartitionTable, d.Children = "gpt", []blockdev.Device{part("vfat", "/boot/efi"), part("ext4", "/"), part("", "")}
			}), "No: gpt partition table, vfat, mounted at /boot/efi, ext4, mounted at /",
		},
		{"partitions alike are told once", change(func(d *blockdev.Device) {
			d.Children = []blockdev.Device{part("zfs_member", ""), part("zfs_member", "")}
		}), "No: zfs_member"},
		// Not listed.
		{"a partition", change(func(d *blockdev.Device) { d.Type = "part" }), "not listed"},
		{"no stable path", change(func(d *blockdev.Device) { d.Path = "" }), "not listed"},
		{"no medium", change(func(d *blockdev.Device) { d.Size = 0 }), "not listed"},
	} {
		got := "not listed"
		for _, d := range disks(Seen{Devices: []blockdev.Device{c.d}}) {
			got = d.Rotational + ": " + d.Contents
		}
		same(t, c.name, got, c.want)
	}
}

func TestPercent(t *testing.T) {
	for value, want := range map[string]string{"0": "0", "40": "40", "40%": "40", "100": "100", "101": "none", "-": "none", "": "none"} {
		got := "none"
		if p := percent(zfs.Property{Value: value}); p != nil {
			got = fmt.Sprint(*p)
		}
		same(t, value, got, want)
	}
}

// Snapshots of a parent and of all datasets below it are summed, and no others.
func TestSnapshotsAreSummed(t *testing.T) {
	seen := Seen{Datasets: []zfs.Dataset{
		dataset("tank", "usedbysnapshots", 1),
		dataset("tank/pgdata", "usedbysnapshots", 2),
		dataset("tank/pgdata/pvc-1", "usedbysnapshots", 4),
		dataset("tank/pgdata/pvc-1/x", "usedbysnapshots", 8),
		dataset("tank/pgdata/pvc-2"),
		dataset("tank/pgdata2", "usedbysnapshots", 16),
	}}
	for parent, want := range map[string]uint64{"tank": 31, "tank/pgdata": 14, "tank/pgdata/pvc-2": 0, "tank/pgdata2": 16, "tank/none": 0} {
		if got := snapshotsBeneath(parent, seen); got != want {
			t.Errorf("%s: %d, wanted %d", parent, got, want)
		}
	}
}
