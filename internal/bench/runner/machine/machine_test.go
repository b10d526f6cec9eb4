package machine

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// v2 is a container with a CPU limit, as a kernel of version 6 shows it.
func v2() map[string]string {
	return map[string]string{
		cpuStat:   "usage_usec 5000000\nuser_usec 4000000\nsystem_usec 1000000\nnr_periods 600\nnr_throttled 30\nthrottled_usec 2500000\nnr_bursts 0\nburst_usec 0\n",
		cpuMax:    "50000 100000\n",
		memoryMax: "4294967296\n",
		cpuStall:  "some avg10=1.00 avg60=0.50 avg300=0.10 total=1000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=500000\n",
		ioStall:   "some avg10=0.00 avg60=0.00 avg300=0.00 total=2000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
		memStall:  "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
		nodeStat:  "cpu  100 10 50 800 20 5 5 10 3 2\ncpu0 100 10 50 800 20 5 5 10 3 2\nintr 5 0\n",

		nodeMemory:   "MemTotal:       16777216 kB\nMemFree:         1000000 kB\n",
		nodeCPUStall: "some avg10=1.00 avg60=0.50 avg300=0.10 total=9000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
		nodeIOStall:  "some avg10=1.00 avg60=0.50 avg300=0.10 total=8000000\n",
		nodeMemStall: "some avg10=1.00 avg60=0.50 avg300=0.10 total=7000000\n",
		bootID:       "0f5c8a0e-1111-2222-3333-444444444444\n",
		kernel:       "6.12.0-1-amd64\n",
		hostname:     "shop-1\n",
		arcStats:     "9 1 0x01 123 33456 1000 2000\nname                            type data\nc                               4    4000000000\nc_max                           4    8589934592\n",
		mounts:       "overlay / overlay rw 0 0\n/dev/sda1 /var/lib/postgresql/data ext4 rw,relatime 0 0\ntank/pgdata /var/lib/postgresql/wal zfs rw,noatime 0 0\n",
	}
}

func TestRead(t *testing.T) {
	want := Snapshot{
		Host: "shop-1", Boot: "0f5c8a0e-1111-2222-3333-444444444444", Kernel: "6.12.0-1-amd64",
		Throttling: &Throttling{Periods: 600, Throttled: 30, Time: 2500 * time.Millisecond},
		PodStalls:  &validity.Stalls{CPU: time.Second, IO: 2 * time.Second},
		NodeStalls: &validity.Stalls{CPU: 9 * time.Second, IO: 8 * time.Second, Memory: 7 * time.Second},
		Processor:  &Processor{All: 1000, Stolen: 10},
		Processors: new(0.5), MemoryLimit: new(int64(4 << 30)), Memory: new(int64(16 << 30)), ARCMax: new(int64(8 << 30)),
	}
	got := Read(v2())
	if len(got.mounts) != 3 {
		t.Errorf("mounts %+v", got.mounts)
	}
	got.mounts = nil
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Snapshot{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Snapshot{}, Read(nil), cmp.AllowUnexported(Snapshot{})); diff != "" {
		t.Error("of nothing something follows:", diff)
	}
}

func TestReadOfVersion1(t *testing.T) {
	got := Read(map[string]string{
		cpuStat:    "usage_usec 5\n", // the root of version 2 beside it counts no throttling
		oldCPUStat: "nr_periods 10\nnr_throttled 4\nthrottled_time 300000000\n",
		oldQuota:   "5000\n", oldPeriod: "100000\n", oldMemoryMax: "9223372036854771712\n",
	})
	want := Snapshot{Throttling: &Throttling{Periods: 10, Throttled: 4, Time: 300 * time.Millisecond}, Processors: new(0.05)}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Snapshot{})); diff != "" {
		t.Error(diff)
	}
}

// A snapshot skips text that is cut off, of another form or hostile.
func TestReadPassesOver(t *testing.T) {
	for name, change := range map[string]map[string]string{
		"no quota":        {cpuMax: "max 100000\n"},
		"quota of zero":   {cpuMax: "0 100000"},
		"period of zero":  {cpuMax: "1 0"},
		"half a quota":    {cpuMax: "100000"},
		"no limit":        {memoryMax: "max\n"},
		"limit below 0":   {memoryMax: "-4096"},
		"pressure is off": {cpuStall: "", nodeIOStall: "some avg10=1"},
		"negative":        {cpuStall: "some total=-1", nodeCPUStall: "some total=x"},
		"short stat":      {nodeStat: "cpu 1 2 3\n"},
		"words in stat":   {nodeStat: "cpu a b c d e f g h i\n"},
		"no periods":      {cpuStat: "nr_periods x\nnr_throttled 1\nthrottled_usec 1\n"},
		"no throttling":   {cpuStat: "nr_periods 1\nnr_throttled 1\n"},
		"memory too much": {nodeMemory: "MemTotal: 9223372036854775807 kB\n"},
		"arc of words":    {arcStats: "c_max 4 lots\nc_max 4\n"},
	} {
		texts := v2()
		maps.Copy(texts, change)
		whole, got := Read(v2()), Read(texts)
		for _, path := range slices.Sorted(maps.Keys(change)) {
			lost := map[string]bool{
				cpuMax: got.Processors == nil, memoryMax: got.MemoryLimit == nil, cpuStall: got.PodStalls == nil,
				nodeCPUStall: got.NodeStalls == nil, nodeIOStall: got.NodeStalls == nil, nodeStat: got.Processor == nil,
				cpuStat: got.Throttling == nil, nodeMemory: got.Memory == nil, arcStats: got.ARCMax == nil,
			}
			if !lost[path] {
				t.Errorf("%s: %s is believed: %+v of %+v", name, path, got, whole)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for path, text := range v2() {
		f.Add(path, text)
	}
	f.Fuzz(func(t *testing.T, path, text string) {
		before := Read(v2())
		texts := v2()
		texts[path] = text
		after := Read(texts)
		if p, ok := Pod(before, after); ok && (p.Periods < 0 || p.Throttled < 0 || p.ThrottledTime < 0) {
			t.Errorf("%+v", p)
		}
		if n, ok := Node(before, after); ok && n.Steal != nil && (*n.Steal < 0 || *n.Steal > 1) {
			t.Errorf("%v", *n.Steal)
		}
		if cache, _ := after.Cache(1, "/var/lib/postgresql/data/pgdata"); cache < 0 {
			t.Errorf("a cache of %d", cache)
		}
	})
}

// later is what v2 says after a run.
func later(change map[string]string) Snapshot {
	texts := v2()
	texts[cpuStat] = "nr_periods 1200\nnr_throttled 630\nthrottled_usec 32500000\n"
	texts[ioStall] = "some avg10=0.00 avg60=0.00 avg300=0.00 total=3000000\n"
	texts[nodeStat] = "cpu  150 10 100 850 20 5 5 60 3 2\n"
	texts[nodeCPUStall] = "some avg10=1.00 avg60=0.50 avg300=0.10 total=9500000\n"
	maps.Copy(texts, change)
	return Read(texts)
}

func TestBetween(t *testing.T) {
	before, after := Read(v2()), later(nil)
	pod, ok := Pod(before, after)
	wantPod := validity.Pod{Name: "shop-1", Periods: 600, Throttled: 600, ThrottledTime: 30 * time.Second, Quota: new(0.5), Stalled: &validity.Stalls{IO: time.Second}}
	if diff := cmp.Diff(wantPod, pod); diff != "" || !ok {
		t.Error(diff)
	}
	// A quota that was changed during the run is not known to be any limit.
	if resized, ok := Pod(before, later(map[string]string{cpuMax: "100000 100000\n"})); !ok || resized.Quota != nil {
		t.Errorf("%t %+v", ok, resized)
	}
	node, ok := Node(before, after)
	wantNode := validity.Node{Name: "of pod shop-1", Steal: new(0.25), Stalled: &validity.Stalls{CPU: 500 * time.Millisecond}}
	if diff := cmp.Diff(wantNode, node); diff != "" || !ok {
		t.Error(diff)
	}
}

// A pod that was created again meanwhile, on this node or on another, says nothing of the run.
func TestNothingBetweenStrangers(t *testing.T) {
	for name, after := range map[string]Snapshot{
		"another pod":     later(map[string]string{hostname: "shop-2"}),
		"another machine": later(map[string]string{bootID: "x"}),
		"began anew":      later(map[string]string{cpuStat: "nr_periods 1\nnr_throttled 0\nthrottled_usec 0\n"}),
		"not counted":     later(map[string]string{cpuStat: ""}),
	} {
		if p, ok := Pod(Read(v2()), after); ok {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for name, after := range map[string]Snapshot{
		"another pod":   later(map[string]string{hostname: "shop-2"}),
		"tells nothing": later(map[string]string{nodeStat: "", nodeIOStall: ""}),
		"went back":     later(map[string]string{nodeStat: "cpu 1 1 1 1 1 1 1 1 1\n", nodeIOStall: "some total=1"}),
	} {
		if n, ok := Node(Read(v2()), after); ok {
			t.Errorf("%s: %+v", name, n)
		}
	}
}

func TestClient(t *testing.T) {
	limited, free := Read(v2()), Snapshot{}
	if got := limited.Client(time.Second, 2, 8); got.Processors != 0.5 || got.Threads != 2 || got.CPU != time.Second {
		t.Errorf("%+v", got)
	}
	if got := free.Client(time.Second, 2, 8); got.Processors != 8 {
		t.Errorf("%+v", got)
	}
}

func TestCache(t *testing.T) {
	const gi = int64(1) << 30
	for name, tc := range map[string]struct {
		path   string
		change map[string]string
		want   int64
		arc    bool
	}{
		"page cache in the limit":    {"/var/lib/postgresql/data/pgdata", nil, 3 * gi, false},
		"page cache of the node":     {"/var/lib/postgresql/data", map[string]string{memoryMax: "max"}, 15 * gi, false},
		"not of a sibling":           {"/var/lib/postgresql/database", map[string]string{mounts: "x /var/lib/postgresql/data ext4 rw 0 0\n"}, 0, false},
		"ARC":                        {"/var/lib/postgresql/wal/pg_wal", nil, 8 * gi, true},
		"ZFS that does not tell":     {"/var/lib/postgresql/wal/pg_wal", map[string]string{arcStats: ""}, 0, false},
		"memory that is not told":    {"/var/lib/postgresql/data", map[string]string{nodeMemory: ""}, 0, false},
		"all of it in the server":    {"/var/lib/postgresql/data", map[string]string{memoryMax: "1024"}, 0, false},
		"no mounts at all":           {"/var/lib/postgresql/data", map[string]string{mounts: ""}, 0, false},
		"the root holds all else":    {"/srv", nil, 3 * gi, false},
		"a later mount on the place": {"/srv", map[string]string{mounts: "a /srv ext4 rw 0 0\nb /srv zfs rw 0 0\n"}, 8 * gi, true},
	} {
		texts := v2()
		maps.Copy(texts, tc.change)
		if got, arc := Read(texts).Cache(gi, tc.path); got != tc.want || arc != tc.arc {
			t.Errorf("%s: %d %t, want %d %t", name, got, arc, tc.want, tc.arc)
		}
	}
}
