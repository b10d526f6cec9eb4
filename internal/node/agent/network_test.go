package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/blockdev"
	"github.com/pgstorage/pgstorage/internal/node/decide"
	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/node/nbd"
	"github.com/pgstorage/pgstorage/internal/testing/facts"
	"github.com/pgstorage/pgstorage/internal/zerofs"
	"github.com/pgstorage/pgstorage/internal/zerofs/exports"
)

// fakeNetwork is the kernel's NBD driver and one server with its exports.
type fakeNetwork struct {
	f      *fake
	states []nbd.State
	dead   bool
	// deadIndex is a device that fails what it is asked; -1: none.
	deadIndex int
	exports   []exports.Export
	// locks of the servers, which are held while they live.
	locks map[string]*os.File
	// refuses a reconnection.
	refuses error
	// meanwhile happens before a reconnection is confirmed.
	meanwhile func()
	// did what changed something.
	did []string
}

// note an effect of the agent on the kernel or on a server.
func (n *fakeNetwork) note(effect string) {
	n.did = append(n.did, effect)
	n.f.effect(effect)
}

func (n *fakeNetwork) Attach(_ context.Context, d nbd.Device) (string, error) {
	n.note(fmt.Sprintf("attach %s to %d as %s, %s, %s", d.Export, d.Index, d.Identifier, d.Timeout, d.DeadConnTimeout))
	n.states = append(n.states, nbd.State{Index: d.Index, Identifier: d.Identifier, Bytes: 8 << 20})
	n.f.write(fmt.Sprintf("dev/nbd%d", d.Index), string(make([]byte, 8<<20)))
	return nbd.Path(d.Index), nil
}

func (n *fakeNetwork) Reconnect(_ context.Context, d nbd.Device, confirm func() error) error {
	if n.meanwhile != nil {
		n.meanwhile()
	}
	if n.refuses != nil {
		return n.refuses
	}
	if err := confirm(); err != nil {
		return err
	}
	n.note(fmt.Sprintf("reconnect %d of %s", d.Index, d.Identifier))
	return nil
}

func (n *fakeNetwork) Disconnect(_ context.Context, index int, identifier string) error {
	n.note("disconnect " + identifier)
	n.states = slices.DeleteFunc(n.states, func(s nbd.State) bool { return s.Index == index })
	return nil
}

func (n *fakeNetwork) Status(context.Context) ([]nbd.State, error) { return n.states, nil }

func (n *fakeNetwork) Probe(_ context.Context, index int) error {
	if n.dead || index == n.deadIndex {
		return nbd.ErrDead
	}
	return nil
}

func (n *fakeNetwork) Exports(context.Context) ([]exports.Export, error) { return n.exports, nil }

func (n *fakeNetwork) Create(_ context.Context, export string, bytes uint64) error {
	n.note(fmt.Sprintf("create %s of %d", export, bytes))
	n.exports = append(n.exports, exports.Export{Name: export, Bytes: bytes})
	return nil
}

func (n *fakeNetwork) Grow(_ context.Context, export string, bytes uint64) error {
	n.note(fmt.Sprintf("grow %s to %d", export, bytes))
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
	net := &fakeNetwork{f: f, deadIndex: -1, locks: map[string]*os.File{}}
	net.lives(t, "first", zerofs.StateRunning)
	n := f.node()
	n.NBD = net
	n.Exports = func(string) Exports { return net }
	n.Restart = func() error { net.note("restart"); return nil }
	return net, n
}

// lives gives server a a life, which has the lock if it runs.
func (n *fakeNetwork) lives(t *testing.T, id string, s zerofs.State, inherits ...string) {
	t.Helper()
	n.begins(t, "a", zerofs.Incarnation{ID: id, BootID: "boot", State: s, Inherits: inherits})
}

func (n *fakeNetwork) begins(t *testing.T, server string, life zerofs.Incarnation) {
	t.Helper()
	dir := filepath.Join(n.f.root, "servers", server)
	must(os.MkdirAll(dir, 0o700))
	must(zerofs.WriteIncarnation(dir, life))
	n.release(server)
	lock, err := os.OpenFile(filepath.Join(dir, zerofs.LockFile), os.O_CREATE|os.O_RDWR, 0o600)
	must(err)
	n.locks[server] = lock
	t.Cleanup(func() { n.release(server) })
	if life.State == zerofs.StateRunning {
		must(unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB))
	}
}

// release the lock of a server, as the kernel does where it is killed.
func (n *fakeNetwork) release(server string) {
	_ = n.locks[server].Close()
	delete(n.locks, server)
}

// reports writes a phase of a life.
func (n *fakeNetwork) reports(life string, phase zerofs.Phase) {
	must(zerofs.WriteStatus(filepath.Join(n.f.root, "servers/a"), zerofs.ServerStatus{Life: life, Phase: phase, Reason: zerofs.ReasonStoreLost}))
}

func onNetwork(s *v1alpha1.PgNodeStorage) {
	s.Spec.NetworkDevices = &v1alpha1.NodeNetworkDevices{
		Layout: v1alpha1.VdevStripe, Exports: []string{"x"}, ExportSize: resource.MustParse("8Mi"),
		OnServerLost: v1alpha1.ServerLostWait, Ashift: new(int32(12)),
		Servers: []v1alpha1.NodeServer{{Name: "a", URL: "s3://a/n1", Directory: "/servers/a"}},
	}
}

// passes until nothing changes, or nine.
func passes(t *testing.T, n *Node, s *v1alpha1.PgNodeStorage) PassResult {
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
	return PassResult{}
}

// The agent creates a pool on a network device step by step, and then runs the same commands as
// for any other pool. It releases the pool cleanly.
func TestNetworkPasses(t *testing.T) {
	net, n := newNetwork(t)
	s := storage(fresh, onNetwork)
	r := passes(t, n, s)
	facts.Same(t, "outcome", line(r.Outcomes[0]), "DevicesAttached done DevicesAttached: … 1 …")
	same(t, "network", strings.Join(net.did, "; "), "create x of 8388608; attach x to 0 as fast/a/x@first, 0s, 87600h0m0s")
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
	if err := n.Release(t.Context(), s); !errors.Is(err, ErrNotReleased) {
		t.Errorf("with a volume: %v", err)
	}
	same(t, "with a volume", len(net.did)+len(net.f.changes), 0)
	if _, err := os.Stat(n.records(s).path); err != nil {
		t.Errorf("the record of a pool that stays: %v", err)
	}
	put(answer{begin: "zfs get", stdout: replaced(zfsGet, "tank/pgdata/pvc-1", "tank/other")})(net.f)
	must(n.Release(t.Context(), s))
	same(t, "let go", strings.Join(append(net.f.changes, net.did...), "; "), "zpool export tank; disconnect fast/a/x@first")
	must(n.Release(t.Context(), s))
	if _, err := os.Stat(n.records(s).path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the record is left: %v", err)
	}
}

// The record has a pool that the status lost: the agent does not create it again.
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

// No pool is created on a network device that cannot be read.
func TestNetworkDeviceThatCannotBeRead(t *testing.T) {
	net, n := newNetwork(t)
	put(answer{begin: "wipefs -J", end: "/nbd0", stderr: "Input/output error\n", exit: 1})(net.f)
	r := passes(t, n, storage(fresh, onNetwork))
	same(t, "pool", line(r.Outcomes[1]), "PoolReady wait HostCommandFailed: the agent could not read what is on /dev/nbd0 (a/x): probe of /dev/nbd0: wipefs -J: exit status 1: Input/output error")
	same(t, "commands", strings.Join(net.f.changes, "; "), "modprobe nbd")
}

// The agent does not detach foreign devices, and leaves a number in use to its owner.
func TestNetworkLeavesOthersAlone(t *testing.T) {
	net, n := newNetwork(t)
	net.states = []nbd.State{{Index: 0, Identifier: "other"}, {Index: 1, Identifier: "fast/a/xx@first"}}
	put(answer{begin: "lsblk", end: "/nbd2", stdout: `{"blockdevices": [{"name": "/dev/nbd2", "kname": "/dev/nbd2", "type": "disk", "size": 8388608}]}`})(net.f)
	s := storage(fresh, onNetwork)
	passes(t, n, s)
	same(t, "network", strings.Join(net.did, "; "), "create x of 8388608; attach x to 2 as fast/a/x@first, 0s, 87600h0m0s")
}

// A server ended under the pool. The agent connects nothing, also where ZFS does not answer,
// and restarts the node where the profile says so.
func TestNetworkLost(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		net, n := newNetwork(t)
		s := storage(fresh, onNetwork)
		passes(t, n, s)
		net.did, net.f.changes = nil, nil
		net.release("a")
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
			if o := r.Outcomes[0]; o.Reason != v1alpha1.ReasonServerLost || o.Kind != outcome.Invalid {
				t.Errorf("stuck %v: %s", stuck, line(o))
			}
			if r.Restarting {
				restarting++
			}
			net.f.clock.SetTime(net.f.clock.Now().Add(decide.RestartDelay))
		}
		same(t, fmt.Sprintf("stuck %v", stuck), strings.Join(append(net.did, net.f.changes...), "; "), "restart")
		same(t, "told", restarting, 1)
		record, err := n.records(s).load()
		if err != nil || record.Restart == nil || !record.Restart.Done {
			t.Errorf("recorded %+v: %v", record, err)
		}
	}
}

// A server was stopped cleanly under the pool. The agent connects its device to the successor,
// once, and again after each crash of the agent in between.
func TestNetworkReconnects(t *testing.T) {
	net, n := newNetwork(t)
	s := storage(fresh, onNetwork)
	passes(t, n, s)
	net.did, net.f.changes = nil, nil
	net.lives(t, "first", zerofs.StateStopped)
	r := passes(t, n, s)
	facts.Same(t, "stopped", line(r.Outcomes[0]), "DevicesAttached wait Reconnecting: … store a … tank …")
	same(t, "state", s.Status.NetworkDevices[0].State, "Reconnecting")

	net.lives(t, "second", zerofs.StateRunning, "first")
	net.reports("second", zerofs.PhaseStarting)
	r = passes(t, n, s)
	same(t, "starting", r.Outcomes[0].Reason, v1alpha1.ReasonStoreUnavailable)
	same(t, "too early", len(net.did), 0)

	net.reports("second", zerofs.PhaseServing)
	r = passes(t, n, s)
	same(t, "served", r.Outcomes[0].Reason, v1alpha1.ReasonDevicesAttached)
	same(t, "life", s.Status.NetworkDevices[0].Incarnation, "second")
	same(t, "network", strings.Join(append(net.did, net.f.changes...), "; "), "reconnect 0 of fast/a/x@first")

	// An agent that ended before it could note it does it again; a new one knows it.
	record, err := n.records(s).load()
	must(err)
	known := record.Reconnected
	record.Reconnected = nil
	must(n.records(s).save(record))
	net.did = nil
	net.refuses = nbd.ErrConnected // the server has one client at a time
	passes(t, n, s)
	record, err = n.records(s).load()
	must(err)
	same(t, "noted", record.Reconnected, known)
	net.refuses = nil

	// The next successor; then one that does not inherit.
	net.did = nil
	net.lives(t, "third", zerofs.StateRunning, "second", "first")
	passes(t, n, s)
	same(t, "third", strings.Join(net.did, "; "), "reconnect 0 of fast/a/x@first")
	net.lives(t, "fourth", zerofs.StateRunning)
	r = passes(t, n, s)
	same(t, "fourth", r.Outcomes[0].Reason, v1alpha1.ReasonServerLost)
	same(t, "network", strings.Join(net.did, "; "), "reconnect 0 of fast/a/x@first")
}

// A server that is replaced while its device is being reconnected does not get it.
func TestNetworkReconnectsToWhatItDecidedOn(t *testing.T) {
	for name, meanwhile := range map[string]func(*testing.T, *fakeNetwork){
		"replaced": func(t *testing.T, net *fakeNetwork) { net.lives(t, "third", zerofs.StateRunning) },
		"poorer":   func(t *testing.T, net *fakeNetwork) { net.lives(t, "second", zerofs.StateRunning) },
		"killed":   func(_ *testing.T, net *fakeNetwork) { net.release("a") },
		"stopped":  func(t *testing.T, net *fakeNetwork) { net.lives(t, "second", zerofs.StateStopped, "first") },
	} {
		net, n := newNetwork(t)
		s := storage(fresh, onNetwork)
		passes(t, n, s)
		net.did = nil
		net.lives(t, "second", zerofs.StateRunning, "first")
		net.meanwhile = func() { meanwhile(t, net) }
		r, err := n.Pass(t.Context(), s)
		must(err)
		if o := r.Outcomes[0]; o.Reason != v1alpha1.ReasonHostCommandFailed || !strings.Contains(o.Message, ErrReplaced.Error()) {
			t.Errorf("%s: %s", name, line(o))
		}
		record, err := n.records(s).load()
		must(err)
		if len(net.did)+len(record.Reconnected) > 0 {
			t.Errorf("%s: did %q, noted %v", name, net.did, record.Reconnected)
		}
	}
}

// While the server holds requests nothing else is asked of the pool, or of its device.
func TestNetworkHeld(t *testing.T) {
	net, n := newNetwork(t)
	net.reports("first", zerofs.PhaseServing)
	s := storage(fresh, onNetwork)
	passes(t, n, s)
	before := asStored(t, s)
	net.did, net.f.changes, net.f.reads = nil, nil, nil
	net.dead = true // a device that was asked would be taken for dead
	net.reports("first", zerofs.PhaseHolding)
	s.Spec.Pool.Properties[0].Value = "panic"
	r := passes(t, n, s)
	same(t, "condition", r.Outcomes[0].Reason, v1alpha1.ReasonStoreUnavailable)
	same(t, "pool", r.Outcomes[1].Reason, v1alpha1.ReasonStoreUnavailable)
	same(t, "soon", r.Soon, true)
	same(t, "servers", r.Seen.Network.Servers["a"].Phase, zerofs.PhaseHolding)
	same(t, "asked", brief(net.f.reads), "lsblk -J, zpool get, zpool status")
	same(t, "done", strings.Join(append(net.did, net.f.changes...), "; "), "")
	if len(s.Status.Volumes) == 0 || s.Status.Volumes[0].Name != "tank/pgdata/pvc-1" {
		t.Errorf("the volumes are forgotten: %+v", s.Status.Volumes)
	}
	net.dead = false
	net.reports("first", zerofs.PhaseServing)
	s.Spec.Pool.Properties[0].Value = "wait"
	r = passes(t, n, s)
	same(t, "soon", r.Soon, false)
	same(t, "served again", asStored(t, s), before)
}

// Waiting requests show a connection that broke while the server lives.
func TestNetworkSilent(t *testing.T) {
	net, n := newNetwork(t)
	s := storage(fresh, onNetwork)
	passes(t, n, s)
	net.did = nil
	stat := func(reads, inFlight int) {
		net.f.write("sys/block/nbd0/stat", fmt.Sprintf("%d 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n", reads))
		net.f.write("sys/block/nbd0/inflight", fmt.Sprintf("  0  %d\n", inFlight))
	}
	for _, step := range []struct {
		reads, inFlight int
		after           time.Duration
		want            int
	}{
		{1, 1, 0, 0}, {1, 1, silentAfter - time.Second, 0}, {2, 1, time.Second, 0}, // answered in time
		{2, 0, silentAfter, 0}, {2, 1, time.Second, 0}, // nothing asked
		{2, 1, silentAfter, 1}, {2, 1, time.Second, 1}, // once, and not again at once
	} {
		net.f.clock.SetTime(net.f.clock.Now().Add(step.after))
		stat(step.reads, step.inFlight)
		if _, err := n.Pass(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("%+v", step), len(net.did), step.want)
	}
	same(t, "network", strings.Join(net.did, "; "), "reconnect 0 of fast/a/x@first")
	// A server that lets others wait has its client: the device is just slow.
	net.refuses = context.DeadlineExceeded
	net.f.clock.SetTime(net.f.clock.Now().Add(silentAfter))
	r, err := n.Pass(t.Context(), s)
	must(err)
	same(t, "slow", r.Outcomes[0].Reason, v1alpha1.ReasonReconnecting)
	r, err = n.Pass(t.Context(), s)
	must(err)
	same(t, "slow", r.Outcomes[0].Reason, v1alpha1.ReasonDevicesAttached)
}

// A server reports a request that waits while it answers others. A report of another life does
// not concern the device.
func TestNetworkWaits(t *testing.T) {
	_, n := newNetwork(t)
	for _, c := range []struct {
		life, export string
		want         time.Duration
	}{{"first", "x", 70 * time.Second}, {"first", "y", 0}, {"before", "x", 0}} {
		net := &decide.Network{
			Mirror:  true,
			Devices: []decide.NetworkDevice{{Server: "a", Export: "x", Attached: &decide.Attachment{Identifier: "x", Life: "first"}}},
			Servers: map[string]zerofs.ServerStatus{"a": {Life: c.life, WaitSeconds: map[string]int64{c.export: 70}}},
		}
		n.listen(net)
		if got := net.Devices[0].Attached.Waits; got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// The lock of a server shows whether it lives, and reading it disturbs no other process.
func TestLife(t *testing.T) {
	net, n := newNetwork(t)
	dir := filepath.Join(n.Root, "servers/a")
	if l := readLife(dir); !l.Held || l.ID != "first" {
		t.Errorf("%+v", l)
	}
	net.release("a")
	if l := readLife(dir); l.Held || !l.Running || l.Problem != "" {
		t.Errorf("killed: %+v", l)
	}
	net.lives(t, "second", zerofs.StateRunning, "first") // takes the lock
	if l := readLife(dir); !l.Held || !l.Has("first") || !l.Has("second") || l.Has("third") {
		t.Errorf("%+v", l)
	}
	must(os.Remove(filepath.Join(dir, zerofs.LockFile)))
	if l := readLife(dir); l.Problem == "" {
		t.Errorf("without a lock: %+v", l)
	}
}

// A name as long as Kubernetes allows stays distinct from others, in each life.
func TestNetworkLongNames(t *testing.T) {
	net, n := newNetwork(t)
	s := storage(fresh, onNetwork)
	s.Spec.Profile = strings.Repeat("p", 253)
	put(answer{begin: "zpool import -d /run/pgstorage/ppp", stderr: "no pools available to import\n", exit: 1})(net.f)
	put(answer{begin: "zpool status", stdout: replaced(networkStatus, "fast", s.Spec.Profile)})(net.f)
	r := passes(t, n, s)
	same(t, "outcome", r.Outcomes[0].Reason, v1alpha1.ReasonDevicesAttached)
	if id := net.states[0].Identifier; len(id) > nbd.MaxIdentifier || !strings.HasSuffix(id, "@first") {
		t.Errorf("attached as %q", id)
	}
}

// onMirror of two servers.
func onMirror(s *v1alpha1.PgNodeStorage) {
	onNetwork(s)
	s.Spec.NetworkDevices.Layout = v1alpha1.VdevMirror
	s.Spec.NetworkDevices.Servers = append(s.Spec.NetworkDevices.Servers, v1alpha1.NodeServer{Name: "b", URL: "s3://b/n1", Directory: "/servers/b"})
}

// mirrorStatus with a scan, and changes.
func mirrorStatus(scan string, pairs ...string) answer {
	text := replaced(poolStatus, "none requested", scan,
		"/dev/disk/by-id/wwn-b-part1 ", "/run/pgstorage/fast/a.x ", "/dev/disk/by-id/wwn-c-part1 ", "/run/pgstorage/fast/b.x ")
	return answer{begin: "zpool status", stdout: replaced(text, pairs...)}
}

func newMirror(t *testing.T) (*fakeNetwork, *Node, *v1alpha1.PgNodeStorage) {
	t.Helper()
	net, n := newNetwork(t)
	net.begins(t, "b", zerofs.Incarnation{ID: "one", BootID: "boot", State: zerofs.StateRunning})
	put(
		mirrorStatus("none requested"),
		answer{begin: "zpool scrub", then: put(mirrorStatus("scrub in progress since Sat Nov 21 08:00:00 2026"))},
		answer{begin: "lsblk", end: "/nbd1", stdout: `{"blockdevices": [{"name": "/dev/nbd1", "kname": "/dev/nbd1", "type": "disk", "size": 8388608}]}`},
	)(net.f)
	s := storage(fresh, onMirror)
	passes(t, n, s)
	net.did, net.f.changes = nil, nil
	return net, n, s
}

// since it was asked last.
func (n *fakeNetwork) since() string {
	defer func() { n.did, n.f.changes = nil, nil }()
	return strings.Join(append(n.did, n.f.changes...), "; ")
}

func recordOf(t *testing.T, n *Node, s *v1alpha1.PgNodeStorage) decide.NetworkRecord {
	t.Helper()
	record, err := n.records(s).load()
	must(err)
	return record
}

// The agent releases a leg of a mirror at once when its server was killed, and takes it back
// with the next server. A scrub then looks for what the killed server may have lost, until a
// scrub has read everything.
func TestNetworkMirrorReturns(t *testing.T) {
	net, n, s := newMirror(t)
	net.release("b")
	r := passes(t, n, s)
	same(t, "let go", net.since(), "disconnect fast/b/x@one")
	same(t, "condition", r.Outcomes[0].Reason, v1alpha1.ReasonServerNotRunning)
	net.begins(t, "b", zerofs.Incarnation{ID: "two", BootID: "boot", State: zerofs.StateRunning})
	passes(t, n, s)
	same(t, "returned", net.since(), "attach x to 1 as fast/b/x@two, 0s, 87600h0m0s; zpool online tank /run/pgstorage/fast/b.x; zpool clear tank /run/pgstorage/fast/b.x; zpool scrub tank")
	if record := recordOf(t, n, s); !record.Scrub || record.ScrubSince.IsZero() || len(record.Returning)+len(record.Left) > 0 {
		t.Errorf("recorded %+v", record)
	}
	put(mirrorStatus("resilvered 1M in 00:00:01 with 0 errors on Sat Nov 21 09:00:00 2026"))(net.f)
	passes(t, n, s)
	same(t, "resilvered in its place", net.since(), "zpool scrub tank")
	put(mirrorStatus("scrub repaired 0B in 00:00:01 with 0 errors on Sat Nov 21 10:00:00 2026"))(net.f)
	passes(t, n, s)
	same(t, "ended", net.since(), "")
	if record := recordOf(t, n, s); record.Scrub {
		t.Errorf("recorded %+v", record)
	}
}

// stalled is a device whose reads, or opens, wait until it is released.
type stalled struct {
	opens    bool
	released chan struct{}
}

func (d stalled) open(string) (blockdev.Content, error) {
	if d.opens {
		<-d.released
	}
	return d, nil
}

func (d stalled) ReadAt([]byte, int64) (int, error) {
	<-d.released
	return 0, unix.EIO
}

func (d stalled) Close() error { return nil }

// A server ends while the agent reads what is on its new device. The read waits for the server,
// and the pass does not wait for the read.
func TestNetworkReadThatWaits(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(t *testing.T, net *fakeNetwork)
		want string
	}{
		"a successor": {func(t *testing.T, net *fakeNetwork) {
			net.lives(t, "first", zerofs.StateStopped)
			net.lives(t, "second", zerofs.StateRunning, "first")
		}, "reconnect 0 of fast/a/x@first"},
		"another life": {func(t *testing.T, net *fakeNetwork) {
			net.lives(t, "second", zerofs.StateRunning)
		}, "disconnect fast/a/x@first"},
	} {
		t.Run(name, func(t *testing.T) {
			net, n := newNetwork(t)
			d := stalled{released: make(chan struct{})}
			defer close(d.released)
			n.Devices.Open, n.Devices.Patience = d.open, time.Millisecond
			s := storage(fresh, onNetwork)
			r := passes(t, n, s)
			facts.Same(t, "read", line(r.Outcomes[1]), "PoolReady wait HostCommandFailed: … /dev/nbd0 … no answer from /dev/nbd0 within 1ms: context deadline exceeded")
			net.did, net.f.changes = nil, nil
			c.end(t, net)
			_, err := n.Pass(t.Context(), s)
			must(err)
			same(t, "did", net.since(), c.want)
		})
	}
}

// A device that cannot even be opened is not detached: something may use it.
func TestNetworkOpenThatWaits(t *testing.T) {
	net, n := newNetwork(t)
	s := storage(fresh, onNetwork)
	passes(t, n, s)
	gone(net.f)
	net.dead, net.did, net.f.changes = true, nil, nil
	d := stalled{opens: true, released: make(chan struct{})}
	defer close(d.released)
	n.Devices.Open, n.Devices.Patience = d.open, time.Millisecond
	for _, want := range []string{"no answer from /dev/nbd0 within 1ms", "an earlier read of /dev/nbd0 has not ended"} {
		r, err := n.Pass(t.Context(), s)
		must(err)
		if o := r.Outcomes[0]; o.Reason != v1alpha1.ReasonHostCommandFailed || !strings.Contains(o.Message, "/dev/nbd0 (a/x) is not detached: "+want) {
			t.Errorf("%s, want %s", line(o), want)
		}
	}
	same(t, "did", net.since(), "")
}

// A cache that the node refuses is reported as such, and everything else is applied. One that
// does not end keeps the rest of the pass from being tried.
func TestNetworkPropertiesAreAppliedWithoutARefusedCache(t *testing.T) {
	const small = "cannot add to 'tank': one or more devices is less than the minimum size (64M)"
	created := strings.Join([]string{
		"zpool add tank cache /dev/disk/by-id/wwn-b",
		"zfs create -o canmount=off -o mountpoint=none -o recordsize=131072 tank/pgwal",
	}, "; ")
	for name, c := range map[string]struct {
		add           answer
		want, devices string
		changed       bool
	}{
		"refused": {answer{begin: "zpool add", stderr: small, exit: 1}, created, "DevicesHealthy invalid HostCommandFailed: … " + small, true},
		"stuck":   {answer{begin: "zpool add", err: host.ErrStuck}, "zpool add tank cache /dev/disk/by-id/wwn-b", "DevicesHealthy invalid HostCommandFailed: … stuck in the kernel", false},
		"added":   {answer{begin: "zpool add"}, "zpool add tank cache /dev/disk/by-id/wwn-b", "DevicesHealthy done Healthy: …", true},
	} {
		t.Run(name, func(t *testing.T) {
			net, n := newNetwork(t)
			s := storage(fresh, onNetwork)
			passes(t, n, s)
			s.Spec.NetworkDevices.Caches = []v1alpha1.ZFSDevice{{Path: "/dev/disk/by-id/wwn-b"}}
			put(c.add, answer{begin: "zfs get", stdout: replaced(zfsGet, "tank/pgwal\t", "tank/other\t")})(net.f)
			net.f.changes = nil
			r, err := n.Pass(t.Context(), s)
			must(err)
			same(t, "changes", strings.Join(net.f.changes, "; "), c.want)
			same(t, "changed", r.Changed, c.changed)
			facts.Same(t, "devices", line(r.Outcomes[3]), c.devices)
			if o := r.Outcomes[2]; o.Condition != v1alpha1.ConditionPropertiesApplied || o.Reason != v1alpha1.ReasonProgressing {
				t.Error(line(o))
			}
			if o := r.Outcomes[3]; !o.Informative {
				t.Error("a pool that serves is not ready")
			}
		})
	}
}

// A refused cache does not have the agent pass without a pause once all else is applied.
func TestNetworkRestsWithARefusedCache(t *testing.T) {
	net, n := newNetwork(t)
	s := storage(fresh, onNetwork)
	passes(t, n, s)
	s.Spec.NetworkDevices.Caches = []v1alpha1.ZFSDevice{{Path: "/dev/disk/by-id/wwn-b"}}
	put(answer{begin: "zpool add", stderr: "too small", exit: 1})(net.f)
	before := ""
	for range 2 {
		r := passes(t, n, s)
		same(t, "properties", r.Outcomes[2].Reason, v1alpha1.ReasonApplied)
		now := asStored(t, s)
		if before != "" && now != before {
			t.Errorf("the status changes:\n%s\n%s", before, now)
		}
		before = now
	}
}

// A cache that cannot be read is reported, and keeps the agent from nothing else.
func TestNetworkMirrorIsServedWithAnUnreadableCache(t *testing.T) {
	for name, failing := range map[string]answer{
		"errors": {begin: "wipefs -J", end: "/wwn-b", stderr: "Input/output error\n", exit: 1},
		"silent": {begin: "wipefs -J", end: "/wwn-b", err: host.ErrStuck},
	} {
		t.Run(name, func(t *testing.T) {
			net, n, s := newMirror(t)
			s.Spec.NetworkDevices.Caches = []v1alpha1.ZFSDevice{{Path: "/dev/disk/by-id/wwn-b"}}
			put(failing)(net.f)
			must(zerofs.WriteStatus(filepath.Join(n.Root, "servers/b"), zerofs.ServerStatus{
				Life: "one", Phase: zerofs.PhaseServing, WaitSeconds: map[string]int64{"x": 61},
			}))
			r, err := n.Pass(t.Context(), s)
			must(err)
			same(t, "did", net.since(), "disconnect fast/b/x@one")
			if o := r.Outcomes[1]; o.Condition != v1alpha1.ConditionPoolReady || o.Kind != outcome.Done {
				t.Error(line(o))
			}
			if o := r.Outcomes[3]; o.Reason != v1alpha1.ReasonHostCommandFailed || !o.Informative || !strings.Contains(line(o), "DevicesHealthy wait HostCommandFailed: l2arc: what is on /dev/disk/by-id/wwn-b could not be read: ") {
				t.Error(line(o))
			}
		})
	}
}

// Where its server has all that was written, no scrub is due.
func TestNetworkMirrorReturnsWhole(t *testing.T) {
	for name, life := range map[string]zerofs.Incarnation{
		"the same life": {ID: "one", BootID: "boot", State: zerofs.StateRunning},
		"a successor":   {ID: "two", BootID: "boot", State: zerofs.StateRunning, Inherits: []string{"one"}},
	} {
		t.Run(name, func(t *testing.T) {
			net, n, s := newMirror(t)
			net.begins(t, "b", zerofs.Incarnation{ID: "one", BootID: "boot", State: zerofs.StateStopped})
			net.deadIndex = 1
			put(mirrorStatus("none requested", "/run/pgstorage/fast/b.x   ONLINE       0     0", "/run/pgstorage/fast/b.x   FAULTED      3     1"))(net.f)
			for range 2 {
				_, err := n.Pass(t.Context(), s)
				must(err)
			}
			same(t, "let go", net.since(), "disconnect fast/b/x@one")
			net.deadIndex = -1
			net.begins(t, "b", life)
			passes(t, n, s)
			same(t, "returned", net.since(), "attach x to 1 as fast/b/x@"+life.ID+", 0s, 87600h0m0s; zpool online tank /run/pgstorage/fast/b.x; zpool clear tank /run/pgstorage/fast/b.x")
			if record := recordOf(t, n, s); record.Scrub {
				t.Errorf("recorded %+v", record)
			}
			for _, settled := range []bool{false, true} {
				seen, err := n.observeNetwork(t.Context(), s)
				must(err)
				same(t, "settled", len(seen.Record.Returned) == 0, settled)
				net.f.clock.SetTime(net.f.clock.Now().Add(decide.SettleTime))
			}
		})
	}
}

// A command that takes a part back waits for the end of a transaction group, for longer
// than it has where the store is slow. It is not begun again for that.
func TestNetworkMirrorReturnsSlowly(t *testing.T) {
	net, n, s := newMirror(t)
	net.release("b")
	passes(t, n, s)
	net.since()
	net.begins(t, "b", zerofs.Incarnation{ID: "two", BootID: "boot", State: zerofs.StateRunning})
	for _, step := range []struct {
		passes              int
		fails, status, want string
	}{
		{2, "zpool online", "UNAVAIL      0     0     0", "attach x to 1 as fast/b/x@two, 0s, 87600h0m0s; zpool online tank /run/pgstorage/fast/b.x"},
		{1, "zpool clear", "ONLINE       3     1     0  (resilvering)", "zpool clear tank /run/pgstorage/fast/b.x"},
		{2, "zpool clear", "ONLINE       0     0     0", "zpool scrub tank"},
	} {
		put(
			answer{begin: step.fails, exit: 1, stderr: "no end within 30s"}, answer{begin: "zpool online"}, answer{begin: "zpool clear"},
			mirrorStatus("none requested", "/run/pgstorage/fast/b.x   ONLINE       0     0     0", "/run/pgstorage/fast/b.x   "+step.status),
		)(net.f)
		for range step.passes {
			_, err := n.Pass(t.Context(), s)
			must(err)
		}
		same(t, step.status, net.since(), step.want)
	}
	if record := recordOf(t, n, s); len(record.Returning)+len(record.Asked) > 0 {
		t.Errorf("recorded %+v", record)
	}
}

// What ZFS says right before decides, not what it said when the pass began.
func TestNetworkMirrorLooksAgain(t *testing.T) {
	net, n, s := newMirror(t)
	net.release("b")
	worse := mirrorStatus("none requested", "/run/pgstorage/fast/a.x   ONLINE       0     0     0", "/run/pgstorage/fast/a.x   ONLINE       0     1     0")
	once := mirrorStatus("none requested")
	once.then = put(worse)
	put(once)(net.f)
	r, err := n.Pass(t.Context(), s)
	must(err)
	if o := r.Outcomes[0]; !strings.Contains(o.Message, ErrNoSurvivor.Error()) {
		t.Error(line(o))
	}
	same(t, "did", net.since(), "")
}

// The agent scrubs an imported mirror that was not released cleanly.
func TestNetworkMirrorImported(t *testing.T) {
	for _, released := range []bool{false, true} {
		net, n, s := newMirror(t)
		record := recordOf(t, n, s)
		record.Released = released
		must(n.records(s).save(record))
		exported(net.f)
		put(
			answer{begin: "zpool import -d", stdout: replaced(blankPool, "wwn-b", "a.x")},
			answer{begin: "zpool import -N", then: put(answer{begin: "zpool get", stdout: poolGet})},
		)(net.f)
		passes(t, n, s)
		want := "zpool import -N -o cachefile=none -d /run/pgstorage/fast 42"
		if !released {
			want += "; zpool scrub tank"
		}
		same(t, fmt.Sprintf("released %v", released), net.since(), want)
		if record := recordOf(t, n, s); record.Released || record.Scrub == released {
			t.Errorf("released %v: recorded %+v", released, record)
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
	if o := r.Outcomes[0]; o.Reason != v1alpha1.ReasonGrowing || o.Kind != outcome.Done || len(net.did) > 0 {
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
			put(answer{begin: "zpool import -d /run/pgstorage/fast", stdout: replaced(blankPool, "wwn-b", "a.x")})(f)
		}},
		answer{begin: "zpool import -N", then: put(answer{begin: "zpool get", stdout: poolGet})},
	)(net.f)
	r = passes(t, n, s)
	facts.Same(t, "grown", line(r.Outcomes[0]), "DevicesAttached done Growing: … 1 … 8388608 bytes …")
	same(t, "network", strings.Join(net.did, "; "), "disconnect fast/a/x@first; grow x to 16777216; attach x to 0 as fast/a/x@first, 0s, 87600h0m0s")
	same(t, "commands", strings.Join(net.f.changes, "; "), "zpool export tank; zpool import -N -o cachefile=none -d /run/pgstorage/fast 42")
}

// The agent attaches a device again whose connection broke while no pool used it.
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
	same(t, "network", strings.Join(net.did, "; "), "disconnect fast/a/x@first; attach x to 0 as fast/a/x@first, 0s, 87600h0m0s")
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
	facts.Same(t, "would", strings.Join(would, "; "), "network devices: … 1 exports … 8388608 bytes")
}

// A dry run lets go of nothing that is attached: the servers end with their PgNodeStorage, and
// the pool would wait for them.
func TestNetworkDryRunReleasesNothing(t *testing.T) {
	net, n := newNetwork(t)
	s := storage(fresh, onNetwork)
	passes(t, n, s)
	put(answer{begin: "zfs get", stdout: replaced(zfsGet, "tank/pgdata/pvc-1", "tank/other")})(net.f)
	net.f.changes, net.did = nil, nil
	before := recordOf(t, n, s)
	var would []string
	n.DryRun = func(argv []string) { would = append(would, strings.Join(argv, " ")) }
	if err := n.Release(t.Context(), s); !errors.Is(err, ErrNotReleased) || !strings.Contains(err.Error(), "(dry run)") {
		t.Errorf("error %v", err)
	}
	same(t, "would", strings.Join(would, "; "), "network devices: release pool; network devices: detach a/x")
	same(t, "did", len(net.did)+len(net.f.changes), 0)
	same(t, "record", recordOf(t, n, s), before)

	n.DryRun = nil
	must(n.releasePool(t.Context(), s, observed(t, n, s)))
	n.DryRun = func([]string) { t.Error("a dry run reports a change that is not due") }
	if err := n.Release(t.Context(), s); err != nil {
		t.Errorf("with nothing attached: %v", err)
	}
	if _, err := os.Stat(n.records(s).path); err != nil {
		t.Errorf("the record of a pool: %v", err)
	}
}

// observed is what a pass reads.
func observed(t *testing.T, n *Node, s *v1alpha1.PgNodeStorage) decide.Seen {
	t.Helper()
	net, err := n.observeNetwork(t.Context(), s)
	must(err)
	seen, err := n.observe(t.Context(), s, net)
	must(err)
	return seen
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
	same(t, "latencies", strings.Join(got, " "), "10ms 10ms 32.5ms 32.5ms 32.5ms 29.375ms")
}

// What the kernel counts does not matter where the server reports the flushes of its store.
func TestFlushLatencyOfTheStore(t *testing.T) {
	net, n := newNetwork(t)
	s := storage(fresh, onNetwork)
	passes(t, n, s)
	r, err := n.Pass(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	seen := r.Seen.Network
	d := seen.Devices[0]
	var got []string
	for _, f := range []struct {
		flushes int64
		seconds float64
	}{{10, 1}, {20, 3}, {20, 3}, {30, 5}} {
		net.f.write("sys/block/nbd0/stat", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 1000 1\n")
		seen.Servers[d.Server] = zerofs.ServerStatus{Life: d.Attached.Life, StoreFlushes: f.flushes, StoreFlushSeconds: f.seconds}
		got = append(got, n.flushLatency(s.Name, seen).String())
	}
	same(t, "latencies", strings.Join(got, " "), "0s 200ms 200ms 200ms")
}
