package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/host"
	"github.com/pgstorage/pgstorage/internal/nbd"
	"github.com/pgstorage/pgstorage/internal/ninep"
	"github.com/pgstorage/pgstorage/internal/nodestorage"
	"github.com/pgstorage/pgstorage/internal/state"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// fakeNetwork is the kernel's NBD driver and one server with its exports.
type fakeNetwork struct {
	f       *fake
	states  []nbd.State
	dead    bool
	exports []ninep.Export
	// did what changed something.
	did []string
}

func (n *fakeNetwork) Attach(_ context.Context, d nbd.Device) (string, error) {
	n.did = append(n.did, fmt.Sprintf("attach %s to %d as %s, %s", d.Export, d.Index, d.Identifier, d.Timeout))
	n.states = append(n.states, nbd.State{Index: d.Index, Identifier: d.Identifier, Bytes: 8 << 20})
	n.f.write(fmt.Sprintf("dev/nbd%d", d.Index), string(make([]byte, 8<<20)))
	return nbd.Path(d.Index), nil
}

func (n *fakeNetwork) Disconnect(_ context.Context, index int, identifier string) error {
	n.did = append(n.did, "disconnect "+identifier)
	n.states = slices.DeleteFunc(n.states, func(s nbd.State) bool { return s.Index == index })
	return nil
}

func (n *fakeNetwork) Status(context.Context) ([]nbd.State, error) { return n.states, nil }

func (n *fakeNetwork) Probe(context.Context, int) error {
	if n.dead {
		return nbd.ErrDead
	}
	return nil
}

func (n *fakeNetwork) Exports(context.Context) ([]ninep.Export, error) { return n.exports, nil }

func (n *fakeNetwork) Create(_ context.Context, export string, bytes uint64) error {
	n.did = append(n.did, fmt.Sprintf("create %s of %d", export, bytes))
	n.exports = append(n.exports, ninep.Export{Name: export, Bytes: bytes})
	return nil
}

func (n *fakeNetwork) Grow(_ context.Context, export string, bytes uint64) error {
	n.did = append(n.did, fmt.Sprintf("grow %s to %d", export, bytes))
	for i := range n.exports {
		if n.exports[i].Name == export {
			n.exports[i].Bytes = bytes
		}
	}
	return nil
}

// networkStatus is zpool status of the pool on the network device.
var networkStatus = replaced(poolStatus,
	"	  mirror-0                        ONLINE       0     0     0\n", "",
	"	    /dev/disk/by-id/wwn-b-part1   ONLINE       0     0     0\n", "",
	"    /dev/disk/by-id/wwn-c-part1 ", "  /run/pgstorage/fast/a.x ")

// newNetwork is a machine without a pool and a server that runs, in its first life.
func newNetwork(t *testing.T, changes ...func(*fake)) (*fakeNetwork, *Node) {
	t.Helper()
	f := newFake(t, append([]func(*fake){gone, put(
		answer{begin: "zpool import -d /run/pgstorage/fast", stderr: "no pools available to import\n", exit: 1},
		answer{begin: "zpool status", stdout: networkStatus},
		answer{begin: "lsblk", end: "/nbd0", stdout: `{"blockdevices": [{"name": "/dev/nbd0", "kname": "/dev/nbd0", "type": "disk", "size": 8388608}]}`},
		answer{begin: "zpool create", then: put(answer{begin: "zpool get", stdout: poolGet})},
		answer{begin: "zpool export", then: gone},
		answer{begin: "modprobe nbd", then: func(f *fake) { f.write("sys/module/nbd/version", "") }},
	)}, changes...)...)
	f.write("proc/sys/kernel/random/boot_id", "boot\n")
	f.write("proc/1/mounts", "/dev/vda / ext4 rw 0 0\n")
	net := &fakeNetwork{f: f}
	net.lives(t, "first", zerofs.StateRunning)
	n := f.node()
	n.NBD = net
	n.Exports = func(string) Exports { return net }
	n.Restart = func() error { net.did = append(net.did, "restart"); return nil }
	return net, n
}

func (n *fakeNetwork) lives(t *testing.T, id string, s zerofs.State) {
	t.Helper()
	dir := filepath.Join(n.f.root, "servers/a")
	must(os.MkdirAll(dir, 0o700))
	must(zerofs.WriteIncarnation(dir, zerofs.Incarnation{ID: id, BootID: "boot", State: s}))
}

func onNetwork(s *v1alpha1.PgNodeStorage) {
	s.Spec.NetworkDevices = &v1alpha1.NodeNetworkDevices{
		Layout: v1alpha1.VdevStripe, Exports: []string{"x"}, ExportSize: resource.MustParse("8Mi"),
		RequestTimeout: "10m", OnServerLost: v1alpha1.ServerLostWait, Ashift: new(int32(12)),
		Servers: []v1alpha1.NodeServer{{Name: "a", URL: "s3://a/n1", Directory: "/servers/a"}},
	}
}

// passes until nothing changes, or nine.
func passes(t *testing.T, n *Node, s *v1alpha1.PgNodeStorage) Result {
	t.Helper()
	for range 9 {
		r, err := n.Pass(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		store(s, r, n.Clock.Now())
		if !r.Changed {
			return r
		}
	}
	t.Fatalf("nine passes did not converge: %+v", s.Status.Conditions)
	return Result{}
}

// A pool on a network device is made step by step, is as declared with the commands of
// any other, and is let go of in order.
func TestNetworkPasses(t *testing.T) {
	net, n := newNetwork(t)
	s := storage(fresh, onNetwork)
	r := passes(t, n, s)
	same(t, "outcome", line(r.Outcomes[0]), "DevicesAttached done DevicesAttached: 1 devices are attached to servers that run")
	same(t, "network", strings.Join(net.did, "; "), "create x of 8388608; attach x to 0 as fast/a/x@first, 10m0s")
	same(t, "commands", strings.Join(net.f.changes, "; "), "modprobe nbd; zpool create -o ashift=12 -o autotrim=on -o cachefile=none -o failmode=wait -O canmount=off -O mountpoint=none tank /run/pgstorage/fast/a.x")
	if to, err := os.Readlink(filepath.Join(net.f.root, "run/pgstorage/fast/a.x")); err != nil || to != "/dev/nbd0" {
		t.Errorf("the link is to %q: %v", to, err)
	}
	net.f.reads, net.f.changes, net.did = nil, nil, nil
	before := asStored(t, s)
	passes(t, n, s)
	same(t, "at rest", brief(net.f.reads), "lsblk -J, zpool get, zpool status, zfs get")
	if now := asStored(t, s); now != before || len(net.did) > 0 {
		t.Errorf("at rest: did %q, status\n%s", net.did, now)
	}
	// A volume is on it.
	if err := n.LetGo(t.Context(), s); !errors.Is(err, ErrNotReleased) {
		t.Errorf("with a volume: %v", err)
	}
	same(t, "with a volume", len(net.did)+len(net.f.changes), 0)
	if _, err := os.Stat(n.records(s).path); err != nil {
		t.Errorf("the record of a pool that stays: %v", err)
	}
	put(answer{begin: "zfs get", stdout: replaced(zfsGet, "tank/pgdata/pvc-1", "tank/other")})(net.f)
	must(n.LetGo(t.Context(), s))
	same(t, "let go", strings.Join(append(net.f.changes, net.did...), "; "), "zpool export tank; disconnect fast/a/x@first")
	must(n.LetGo(t.Context(), s))
	if _, err := os.Stat(n.records(s).path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the record is left: %v", err)
	}
}

// The record knows a pool that the status forgot: it is not made anew.
func TestNetworkPoolIsRemembered(t *testing.T) {
	net, n := newNetwork(t)
	s := storage(fresh, onNetwork)
	passes(t, n, s)
	gone(net.f)
	net.f.changes = nil
	forgotten := storage(fresh, onNetwork)
	r := passes(t, n, forgotten)
	if r.Outcomes[1].Reason != v1alpha1.ReasonPoolLost || len(net.f.changes) > 0 {
		t.Errorf("%s; changed %q", line(r.Outcomes[1]), net.f.changes)
	}
	net.f.write("var/lib/pgstorage/agent/fast-n1.json", "{")
	if r, err := n.Pass(t.Context(), forgotten); err == nil || len(r.Outcomes) != 5 || !r.Outcomes[0].Unknown {
		t.Errorf("with a damaged record: %v, %+v", err, r.Outcomes)
	}
}

// Devices that are somebody else's are not let go of, and a number that is taken is
// left to whom it belongs.
func TestNetworkLeavesOthersAlone(t *testing.T) {
	net, n := newNetwork(t)
	net.states = []nbd.State{{Index: 0, Identifier: "other"}, {Index: 1, Identifier: "fast/a/xx@first"}}
	put(answer{begin: "lsblk", end: "/nbd2", stdout: `{"blockdevices": [{"name": "/dev/nbd2", "kname": "/dev/nbd2", "type": "disk", "size": 8388608}]}`})(net.f)
	s := storage(fresh, onNetwork)
	passes(t, n, s)
	same(t, "network", strings.Join(net.did, "; "), "create x of 8388608; attach x to 2 as fast/a/x@first, 10m0s")
}

// A server that ended beneath the pool: nothing is connected, also where ZFS does not
// answer, and the node is restarted where the profile says so.
func TestNetworkLost(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		net, n := newNetwork(t)
		s := storage(fresh, onNetwork)
		passes(t, n, s)
		net.did, net.f.changes = nil, nil
		net.dead = true
		net.lives(t, "second", zerofs.StateRunning)
		if stuck {
			put(answer{begin: "zpool get", err: host.ErrStuck})(net.f)
		}
		s.Spec.NetworkDevices.OnServerLost = v1alpha1.ServerLostRebootNode
		restarting := 0
		for range 4 {
			r, err := n.Pass(t.Context(), s)
			if (err != nil) != stuck {
				t.Fatal(err)
			}
			if o := r.Outcomes[0]; o.Reason != v1alpha1.ReasonServerLost || o.Kind != state.Invalid {
				t.Errorf("stuck %v: %s", stuck, line(o))
			}
			if r.Restarting {
				restarting++
			}
			net.f.clock.SetTime(net.f.clock.Now().Add(nodestorage.RestartDelay))
		}
		same(t, fmt.Sprintf("stuck %v", stuck), strings.Join(append(net.did, net.f.changes...), "; "), "restart")
		same(t, "told", restarting, 1)
		record, err := n.records(s).load()
		if err != nil || record.Restart == nil || !record.Restart.Done {
			t.Errorf("recorded %+v: %v", record, err)
		}
	}
}

// A pool that grows while something uses it waits, and is well.
func TestNetworkGrowsLater(t *testing.T) {
	net, n := newNetwork(t)
	s := storage(fresh, onNetwork)
	passes(t, n, s)
	put(answer{begin: "zpool export", stderr: "cannot export 'tank': pool is busy\n", exit: 1})(net.f)
	s.Spec.NetworkDevices.ExportSize = resource.MustParse("16Mi")
	net.did = nil
	r := passes(t, n, s)
	if o := r.Outcomes[0]; o.Reason != v1alpha1.ReasonGrowing || o.Kind != state.Done || len(net.did) > 0 {
		t.Errorf("%s; did %q", line(o), net.did)
	}
	// Mounted, it is not even tried.
	net.f.write("proc/1/mounts", "tank/pgdata/pvc-1 /var/lib/kubelet/x zfs rw 0 0\n")
	net.f.changes = nil
	if r := passes(t, n, s); r.Outcomes[0].Reason != v1alpha1.ReasonGrowing || len(net.f.changes) > 0 {
		t.Errorf("%s; changed %q", line(r.Outcomes[0]), net.f.changes)
	}
	net.f.write("proc/1/mounts", "")
	put(
		answer{begin: "zpool export", then: func(f *fake) {
			gone(f)
			put(answer{begin: "zpool import -d /run/pgstorage/fast", stdout: blankPool})(f)
		}},
		answer{begin: "zpool import -N", then: put(answer{begin: "zpool get", stdout: poolGet})},
	)(net.f)
	r = passes(t, n, s)
	same(t, "grown", line(r.Outcomes[0]), "DevicesAttached done Growing: 1 devices are attached to servers that run; they have 8388608 bytes, and no more were offered when they were attached last")
	same(t, "network", strings.Join(net.did, "; "), "disconnect fast/a/x@first; grow x to 16777216; attach x to 0 as fast/a/x@first, 10m0s")
	same(t, "commands", strings.Join(net.f.changes, "; "), "zpool export tank; zpool import -N -o cachefile=none -d /run/pgstorage/fast 42")
}

// A device whose connection broke while no pool was imported from it is attached anew.
func TestNetworkDeadBeneathNothing(t *testing.T) {
	net, n := newNetwork(t)
	s := storage(fresh, onNetwork)
	passes(t, n, s)
	gone(net.f)
	net.dead, net.did = true, nil
	for range 2 {
		if _, err := n.Pass(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		net.dead = false
	}
	same(t, "network", strings.Join(net.did, "; "), "disconnect fast/a/x@first; attach x to 0 as fast/a/x@first, 10m0s")
}

// A dry run changes nothing.
func TestNetworkDryRun(t *testing.T) {
	net, n := newNetwork(t)
	var would []string
	n.DryRun = func(argv []string) { would = append(would, strings.Join(argv, " ")) }
	net.f.write("sys/module/nbd/version", "")
	r, err := n.Pass(t.Context(), storage(fresh, onNetwork))
	if err != nil || r.Changed || len(net.did) > 0 || len(net.f.changes) > 0 {
		t.Errorf("%v, changed %v, did %q %q", err, r.Changed, net.did, net.f.changes)
	}
	same(t, "would", strings.Join(would, "; "), "network devices: 1 exports are being made or grown to 8388608 bytes")
}

// Figures of the kernel's files.
func TestNetworkFigures(t *testing.T) {
	net, n := newNetwork(t)
	s := storage(fresh, onNetwork)
	passes(t, n, s)
	stat := func(flushes, ms int) {
		net.f.write("sys/block/nbd0/stat", fmt.Sprintf("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 %d %d\n", flushes, ms))
		net.f.write("sys/block/nbd0/inflight", "  1  2\n")
	}
	var got []string
	for _, f := range [][2]int{{10, 100}, {10, 100}, {20, 1100}, {20, 1100}, {5, 10}, {6, 30}} {
		stat(f[0], f[1])
		r, err := n.Pass(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Seen.Network.FlushLatency.String())
		same(t, "in flight", r.Seen.Network.Devices[0].Attached.InFlight, 3)
	}
	// The first pass had no file to begin from, which counts as nothing flushed.
	same(t, "latencies", strings.Join(got, " "), "10ms 10ms 100ms 100ms 100ms 20ms")
}
