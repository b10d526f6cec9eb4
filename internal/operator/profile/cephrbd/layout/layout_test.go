package layout

import (
	"strings"
	"testing"
)

// The figures of RAID-Z are calculated by hand beside each. They count sectors of 4
// KiB, data and parity for each row of it, rounded up to a multiple of parity + 1.
func TestRedundancy(t *testing.T) {
	for _, tc := range []struct {
		name  string
		vdev  Vdev
		block int
		want  float64
	}{
		{"one disk", Vdev{"stripe", 1}, 4096, 1},
		{"two disks striped", Vdev{"stripe", 2}, 4096, 1},
		{"mirror of two", Vdev{"mirror", 2}, 4096, 2},
		{"mirror of three", Vdev{"mirror", 3}, 16384, 3},
		// 1 data + 1 parity = 2 sectors.
		{"raidz1 of three, 4k", Vdev{"raidz1", 3}, 4096, 2},
		// 2 data in 1 row of 2 + 1 = 3, rounded up to 4.
		{"raidz1 of three, 8k", Vdev{"raidz1", 3}, 8192, 2},
		// 4 data in 2 rows of 2 + 2 = 6.
		{"raidz1 of three, 16k", Vdev{"raidz1", 3}, 16384, 1.5},
		// 4 data in 1 row of 4 + 1 = 5, rounded up to 6.
		{"raidz1 of five, 16k", Vdev{"raidz1", 5}, 16384, 1.5},
		// 1 data + 2 = 3.
		{"raidz2 of six, 4k", Vdev{"raidz2", 6}, 4096, 3},
		// 16 data in 4 rows of 4 + 8 = 24.
		{"raidz2 of six, 64k", Vdev{"raidz2", 6}, 65536, 1.5},
		// 1 data + 3 = 4.
		{"raidz3 of eight, 4k", Vdev{"raidz3", 8}, 4096, 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, text := tc.vdev.redundancy(tc.block, 4096); got != tc.want {
				t.Errorf("%g (%s), want %g", got, text, tc.want)
			}
		})
	}
	mixed := &ZFS{Vdevs: []Vdev{{"stripe", 1}, {"mirror", 2}}, Sector: 4096, Volblock: 4096}
	if f, _ := mixed.redundancy(); f != 2 {
		t.Errorf("the dearest vdev is not counted: %g", f)
	}
	if n := mixed.survives(); n != 0 {
		t.Errorf("the weakest vdev is not counted: %d", n)
	}
}

func mirrored() *ZFS {
	return &ZFS{Vdevs: []Vdev{{"mirror", 2}}, Sector: 4096, Volblock: 4096}
}

func striped() *ZFS {
	return &ZFS{Vdevs: []Vdev{{"stripe", 1}}, Sector: 4096, Volblock: 4096}
}

func TestCopies(t *testing.T) {
	for _, tc := range []struct {
		name      string
		ceph      Ceph
		instances int
		want      float64
		text      string
	}{
		{"three times three on mirrors", Ceph{Size: 3, ZFS: mirrored()}, 3, 18, "3 instances x 3 copies of the pool x 2 of the mirror = 18"},
		{"the write-up", Ceph{Size: 2, ZFS: striped()}, 1, 2, "1 instances x 2 copies of the pool x 1 of disks without redundancy = 2"},
		{"one copy of each of three", Ceph{Size: 1, ZFS: striped()}, 3, 3, "3 instances x 1 copies of the pool x 1 of disks without redundancy = 3"},
		{"raw devices", Ceph{Size: 3}, 2, 6, "2 instances x 3 copies of the pool = 6"},
		{"4+2", Ceph{Size: 3, DataChunks: 4, CodingChunks: 2}, 2, 3, "2 instances x (4+2)/4 of the erasure code = 3"},
		{"2+2 on a mirror", Ceph{Size: 3, DataChunks: 2, CodingChunks: 2, ZFS: mirrored()}, 3, 12, "3 instances x (2+2)/2 of the erasure code x 2 of the mirror = 12"},
		{"a pool that was there", Ceph{Size: 3, ZFS: &ZFS{Sector: 4096, Volblock: 4096}}, 3, 9, "3 instances x 3 copies of the pool x 1 of a pool whose vdevs are not declared here = 9"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, text := tc.ceph.Copies(tc.instances); got != tc.want || text != tc.text {
				t.Errorf("%g: %s\nwant %g: %s", got, text, tc.want, tc.text)
			}
		})
	}
}

func TestUsable(t *testing.T) {
	const gi = 1 << 30
	for _, tc := range []struct {
		name string
		ceph Ceph
		want float64 // in GiB
		text string
	}{
		// 75 x 0.85 = 63.75; x 2/3 = 42.5; / 2 = 21.25.
		{"the write-up", Ceph{Size: 2, Domain: "host", Domains: 3, OSDs: 3, OSDBytes: 25 * gi}, 21.25, "3 OSDs x 25Gi x 0.85 until OSD_NEARFULL x 2/3 to heal the loss of one host / 2 copies of the pool, less what BlueStore keeps for itself"},
		// 75 x 0.85 / 3 = 21.25: with three copies on three hosts nothing can heal.
		{"corrected", Ceph{Size: 3, Domain: "host", Domains: 3, OSDs: 3, OSDBytes: 25 * gi}, 21.25, "3 OSDs x 25Gi x 0.85 until OSD_NEARFULL / 3 copies of the pool, less what BlueStore keeps for itself"},
		// 1000 x 0.85 / (4/2) = 425.
		{"2+2 on four hosts", Ceph{Size: 3, DataChunks: 2, CodingChunks: 2, Domain: "host", Domains: 4, OSDs: 10, OSDBytes: 100 * gi}, 425, ""},
		// 1000 x 0.85 x 4/5 / 2 = 340.
		{"2+2 on five", Ceph{Size: 3, DataChunks: 2, CodingChunks: 2, Domain: "host", Domains: 5, OSDs: 10, OSDBytes: 100 * gi}, 340, ""},
		// 300 x 0.85: one copy heals from nowhere.
		{"one copy", Ceph{Size: 1, Domain: "host", Domains: 3, OSDs: 3, OSDBytes: 100 * gi}, 255, ""},
		{"nothing known", Ceph{Size: 3, Domain: "host"}, 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, text := tc.ceph.Usable()
			if diff := float64(got) - tc.want*gi; diff > 1 || diff < -1 {
				t.Errorf("%g GiB, want %g", float64(got)/gi, tc.want)
			}
			if tc.text != "" && text != tc.text {
				t.Errorf("%s\nwant %s", text, tc.text)
			}
		})
	}
}

func TestWrites(t *testing.T) {
	for _, tc := range []struct {
		name   string
		ceph   Ceph
		layers string
		total  float64
	}{
		// 2 x 1 x 2 x 2 x 1: page and image, two copies, log and place, one disk.
		{"the write-up", Ceph{Size: 2, AllocBytes: 4096, ZFS: striped()}, "Postgres 2, RBD 1, OSD 2, Zvol 2, Pool 1", 8},
		// 2 x 3 x 2 x 2.
		{"three copies on mirrors", Ceph{Size: 3, AllocBytes: 4096, ZFS: mirrored()}, "Postgres 2, RBD 1, OSD 3, Zvol 2, Pool 2", 24},
		{"logbias=throughput", Ceph{Size: 3, AllocBytes: 4096, ZFS: &ZFS{Vdevs: []Vdev{{"mirror", 2}}, Sector: 4096, Volblock: 4096, Indirect: true}}, "Postgres 2, RBD 1, OSD 3, Zvol 1, Pool 2", 12},
		// A page of 8k is half a unit of 16k: deferred. On a zvol of 16k, 8k become 16k at
		// their place and 8k in the log: 24k/8k = 3.
		{"units of 16k", Ceph{Size: 3, AllocBytes: 16384, ZFS: &ZFS{Vdevs: []Vdev{{"stripe", 1}}, Sector: 4096, Volblock: 16384}}, "Postgres 2, RBD 1, OSD 6, Zvol 3, Pool 1", 36},
		{"raw devices", Ceph{Size: 3, AllocBytes: 4096}, "Postgres 2, RBD 1, OSD 3", 6},
		// A stripe of 2 x 4k is the page; with 2 coding chunks 16k are written: 2.
		{"2+2", Ceph{Size: 3, DataChunks: 2, CodingChunks: 2, AllocBytes: 4096}, "Postgres 2, RBD 1, OSD 2", 4},
		// A stripe of 4 x 4k is two pages; x 6/4 = 24k for 8k: 3.
		{"4+2", Ceph{Size: 3, DataChunks: 4, CodingChunks: 2, AllocBytes: 4096}, "Postgres 2, RBD 1, OSD 3", 6},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var names []string
			total := 0.0
			for _, l := range tc.ceph.Writes() {
				names = append(names, l.Name+" "+Number(l.Factor))
				total = l.Total
				if l.Formula == "" {
					t.Errorf("%s has no formula", l.Name)
				}
			}
			if got := strings.Join(names, ", "); got != tc.layers || total != tc.total {
				t.Errorf("%s = %g\nwant %s = %g", got, total, tc.layers, tc.total)
			}
		})
	}
}

func TestLosses(t *testing.T) {
	for _, tc := range []struct {
		name string
		ceph Ceph
		want string
	}{
		{"three copies", Ceph{Size: 3, MinSize: 2, Domain: "host"}, "DiskLoss Kept, OSDLoss Kept, NodeLoss Kept, TwoNodesLoss Unavailable"},
		{"two copies, both answer", Ceph{Size: 2, MinSize: 2, Domain: "host"}, "DiskLoss Unavailable, OSDLoss Unavailable, NodeLoss Unavailable, TwoNodesLoss Lost"},
		{"two copies, one answers", Ceph{Size: 2, MinSize: 1, Domain: "host"}, "DiskLoss Kept, OSDLoss Kept, NodeLoss Kept, TwoNodesLoss Lost"},
		{"two copies on mirrors", Ceph{Size: 2, MinSize: 2, Domain: "host", ZFS: mirrored()}, "DiskLoss Kept, OSDLoss Unavailable, NodeLoss Unavailable, TwoNodesLoss Lost"},
		{"apart by OSD", Ceph{Size: 2, MinSize: 2, Domain: "osd"}, "DiskLoss Unavailable, OSDLoss Unavailable, NodeLoss Lost"},
		{"one copy on a pinned host", Ceph{Size: 1, MinSize: 1, Domain: "host", Pinned: true, ZFS: striped()}, "DiskLoss Lost, OSDLoss Lost, NodeLoss Lost"},
		{"2+2", Ceph{Size: 3, MinSize: 2, DataChunks: 2, CodingChunks: 2, Domain: "host"}, "DiskLoss Kept, OSDLoss Kept, NodeLoss Kept, TwoNodesLoss Unavailable"},
		{"2+1", Ceph{Size: 3, MinSize: 2, DataChunks: 2, CodingChunks: 1, Domain: "host"}, "DiskLoss Unavailable, OSDLoss Unavailable, NodeLoss Unavailable, TwoNodesLoss Lost"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, l := range tc.ceph.Losses() {
				got = append(got, l.Event+" "+l.Data)
				if l.Detail == "" {
					t.Errorf("%s has no detail", l.Event)
				}
			}
			if text := strings.Join(got, ", "); text != tc.want {
				t.Errorf("%s\nwant %s", text, tc.want)
			}
		})
	}
}

func TestShared(t *testing.T) {
	instances := map[string][]string{"n1": {"prod/shop shop-2", "prod/shop shop-1"}, "n4": {"prod/shop shop-3"}}
	const both = "these nodes have instances and OSDs, so the loss of one takes both: n1 (prod/shop shop-1, prod/shop shop-2). "
	for _, tc := range []struct {
		name string
		ceph Ceph
		osds []string
		want string
	}{
		{"apart", Ceph{Size: 2, MinSize: 2, Domain: "host"}, []string{"n2", "n3"}, ""},
		{"three copies", Ceph{Size: 3, MinSize: 2, Domain: "host"}, []string{"n1", "n2", "n3"}, both + "Every other instance continues: without a node 2 of 3 copies are left"},
		{"two copies", Ceph{Size: 2, MinSize: 2, Domain: "host"}, []string{"n1", "n2"}, both + "Every other instance stops too, until the node or its copies are back: without a node 1 of 2 copies are left, and the pool answers from 2 on"},
		{"apart by OSD", Ceph{Size: 2, MinSize: 2, Domain: "osd"}, []string{"n1"}, both + "Every other instance may lose its data too: copies are apart by OSD only, and all of them may be on one node"},
		{"pinned", Ceph{Size: 1, MinSize: 1, Domain: "host", Pinned: true}, []string{"n1"}, both + "Each instance has its data on its own node, so the others continue; two instances on one node are lost together"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.ceph.Shared(instances, tc.osds); got != tc.want {
				t.Errorf("%q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestNeeded(t *testing.T) {
	for _, tc := range []struct {
		ceph Ceph
		want int
	}{{Ceph{Size: 3}, 3}, {Ceph{Size: 3, DataChunks: 2, CodingChunks: 2}, 4}, {Ceph{Size: 4, DataChunks: 2, CodingChunks: 1}, 4}} {
		if got := tc.ceph.Needed(); got != tc.want {
			t.Errorf("%+v needs %d, want %d", tc.ceph, got, tc.want)
		}
	}
}
