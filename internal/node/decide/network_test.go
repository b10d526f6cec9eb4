package decide

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/blockdev"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
	"github.com/pgstorage/pgstorage/internal/testing/facts"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// network is a storage of one server a with two exports, or a mirror with b.
func network(changes ...func(*v1alpha1.PgNodeStorage)) *v1alpha1.PgNodeStorage {
	return storage(append([]func(*v1alpha1.PgNodeStorage){func(s *v1alpha1.PgNodeStorage) {
		s.Spec.NetworkDevices = &v1alpha1.NodeNetworkDevices{
			Layout: v1alpha1.VdevStripe, Exports: []string{"x", "y"}, ExportSize: resource.MustParse("1Gi"),
			OnServerLost: v1alpha1.ServerLostWait, Ashift: new(int32(12)),
			Servers: []v1alpha1.NodeServer{{Name: "a", URL: "s3://a/n1", Directory: "/d/a"}},
		}
	}}, changes...)...)
}

func mirrored(s *v1alpha1.PgNodeStorage) {
	s.Spec.NetworkDevices.Layout = v1alpha1.VdevMirror
	s.Spec.NetworkDevices.Servers = append(s.Spec.NetworkDevices.Servers, v1alpha1.NodeServer{Name: "b", URL: "s3://b/n1", Directory: "/d/b"})
}

func reboots(s *v1alpha1.PgNodeStorage) {
	s.Spec.NetworkDevices.OnServerLost = v1alpha1.ServerLostRebootNode
}

func sized(size string) func(*v1alpha1.PgNodeStorage) {
	return func(s *v1alpha1.PgNodeStorage) { s.Spec.NetworkDevices.ExportSize = resource.MustParse(size) }
}

// seenNetwork of a storage as it is when all is well, changed for a test.
func seenNetwork(s *v1alpha1.PgNodeStorage, changes ...func(*Seen)) Seen {
	net := &Network{
		Driver: true, BootID: "boot", Mirror: s.Spec.NetworkDevices.Layout == v1alpha1.VdevMirror,
		Lives: map[string]Life{}, Servers: map[string]zerofs.ServerStatus{}, Devices: NetworkDevices(s),
		Record: NetworkRecord{Sizes: map[string]uint64{}},
	}
	var vdevs []zfs.VdevStatus
	for i := range net.Devices {
		d := &net.Devices[i]
		net.Lives[d.Server] = Life{ID: d.Server + "1", BootID: "boot", Running: true, Held: true}
		d.Attached = &Attachment{Index: i, Path: fmt.Sprintf("/dev/nbd%d", i), Bytes: gib, Life: d.Server + "1"}
		net.Record.Sizes[d.Name()] = gib
		vdevs = append(vdevs, zfs.VdevStatus{Class: zfs.Data, Type: "disk", Name: d.Link, State: zfs.Online})
	}
	if s.Spec.NetworkDevices.Layout == v1alpha1.VdevMirror {
		vdevs = []zfs.VdevStatus{mirror(vdevs[0], vdevs[2]), mirror(vdevs[1], vdevs[3])}
	}
	seen := converged(layout(vdevs...))
	seen.Network = net
	for _, change := range changes {
		change(&seen)
	}
	return seen
}

func inNetwork(change func(*Network)) func(*Seen) {
	return func(seen *Seen) { change(seen.Network) }
}

// lived gives a server another life, which has its lock if it runs.
func lived(server string, life Life) func(*Seen) {
	return inNetwork(func(n *Network) {
		if life.BootID == "" {
			life.BootID = "boot"
		}
		life.Held = life.Running
		n.Lives[server] = life
	})
}

// killed servers have the record of one that runs, and not the lock.
func killed(servers ...string) func(*Seen) {
	return inNetwork(func(n *Network) {
		for _, server := range servers {
			life := n.Lives[server]
			life.Held = false
			n.Lives[server] = life
		}
	})
}

// toldBefore gives a server the phase that it has, since so long ago.
func toldBefore(server string, ago time.Duration) func(*Seen) {
	return func(seen *Seen) {
		told := seen.Network.Servers[server]
		told.Since = noon.Add(-ago)
		seen.Network.Servers[server] = told
	}
}

// waiting devices, for so long.
func waiting(since time.Duration, devices ...int) func(*Seen) {
	return func(seen *Seen) {
		for _, i := range devices {
			seen.Network.Devices[i].Attached.Waits = since
		}
	}
}

func patient(s *v1alpha1.PgNodeStorage) { s.Spec.NetworkDevices.RequestTimeout = "10m" }

func tells(server string, phase zerofs.Phase, life string) func(*Seen) {
	return inNetwork(func(n *Network) {
		n.Servers[server] = zerofs.ServerStatus{
			Life: life, Phase: phase, Since: noon, Reason: zerofs.ReasonStoreLost, Message: "no route to host", Restarts: 7,
		}
	})
}

// leg changes one of the legs of the mirror of the first export, as ZFS reports them.
func leg(number int, change func(*zfs.VdevStatus)) func(*Seen) {
	return func(seen *Seen) { change(&seen.Status.Vdevs[0].Children[number]) }
}

func dropped(numbers ...int) func(*Seen) {
	return inNetwork(func(n *Network) {
		for _, i := range numbers {
			n.Devices[i].Attached.Dropped = true
		}
	})
}

func detached(numbers ...int) func(*Seen) {
	return inNetwork(func(n *Network) {
		for _, i := range numbers {
			n.Devices[i].Attached = nil
		}
	})
}

func dead(numbers ...int) func(*Seen) {
	return inNetwork(func(n *Network) {
		for _, i := range numbers {
			n.Devices[i].Attached.Dead = true
		}
	})
}

func offered(server string, exports map[string]uint64) func(*Seen) {
	return inNetwork(func(n *Network) {
		if n.Exports == nil {
			n.Exports = map[string]map[string]uint64{}
		}
		n.Exports[server] = exports
	})
}

func recorded(change func(*NetworkRecord)) func(*Seen) {
	return inNetwork(func(n *Network) { change(&n.Record) })
}

func unrecorded(r *NetworkRecord) { *r = NetworkRecord{} }

func unreadPool(seen *Seen) {
	absent(seen)
	seen.Network.Unread = true
}

func suspended(seen *Seen) { seen.Status.Suspended = true }

// inWordsOf an action; none is empty.
func inWordsOf(a NetworkAction) string {
	if a == nil {
		return ""
	}
	return a.String()
}

func TestNetworkDecision(t *testing.T) {
	stripe, pair := network(), network(mirrored)
	next := Life{ID: "a2", Running: true}
	nextB := Life{ID: "b2", Running: true}
	heir, heirB := Life{ID: "a3", Running: true, Inherits: []string{"a2", "a1"}}, Life{ID: "b2", Running: true, Inherits: []string{"b1"}}
	both := map[string]uint64{"x": gib, "y": gib}
	for _, c := range []struct {
		name   string
		s      *v1alpha1.PgNodeStorage
		seen   []func(*Seen)
		action string
		want   string
		says   string
	}{
		{"at rest", stripe, nil, "", "done DevicesAttached", "2 devices are attached"},
		{"not imported, all attached", stripe, []func(*Seen){absent}, "", "done DevicesAttached", ""},
		// Attaching, while the pool is not imported.
		{"no driver", stripe, []func(*Seen){absent, inNetwork(func(n *Network) { n.Driver = false }), detached(0, 1)}, "load driver", "wait Attaching", "nbd"},
		{"never attached", network(fresh), []func(*Seen){absent, detached(0, 1), recorded(unrecorded), offered("a", nil)}, "create a/x of 1073741824; create a/y of 1073741824", "wait Exporting", ""},
		{"exported", stripe, []func(*Seen){absent, detached(0, 1), offered("a", both)}, "attach a/x, a/y", "wait Attaching", ""},
		{"half attached", stripe, []func(*Seen){absent, detached(1), offered("a", both)}, "attach a/y", "wait Attaching", ""},
		{"exports that grow", network(sized("2Gi")), []func(*Seen){absent, detached(0, 1), offered("a", both)}, "grow a/x of 2147483648; grow a/y of 2147483648", "wait Exporting", ""},
		{"exports that are larger", network(sized("512Mi")), []func(*Seen){absent, detached(0, 1), offered("a", both)}, "attach a/x, a/y", "wait Attaching", ""},
		{"an export that shrank", stripe, []func(*Seen){absent, detached(0, 1), offered("a", map[string]uint64{"x": gib, "y": mib})}, "", "invalid ExportShrunk", "a/y has 1048576 bytes and had 1073741824"},
		{"an export that is gone", stripe, []func(*Seen){absent, detached(0, 1), recorded(unrecorded), offered("a", map[string]uint64{"x": gib})}, "", "invalid ExportShrunk", "a/y has 0 bytes"},
		{"a server that does not tell", stripe, []func(*Seen){absent, detached(0, 1), inNetwork(func(n *Network) { n.Unasked = map[string]string{"a": "refused"} })}, "", "wait ServerNotRunning", "exports: refused"},
		{"a server that stopped", stripe, []func(*Seen){absent, detached(0, 1), lived("a", Life{ID: "a1", Clean: true})}, "", "wait ServerNotRunning", "does not run"},
		{"a record from before the boot", stripe, []func(*Seen){absent, detached(0, 1), lived("a", Life{ID: "a1", Running: true, BootID: "old"})}, "", "wait ServerNotRunning", "has not started since the node did"},
		{"no record", stripe, []func(*Seen){absent, detached(0, 1), lived("a", Life{Problem: "no such file"})}, "", "wait ServerNotRunning", "no such file"},
		{"devices of a former life", stripe, []func(*Seen){absent, lived("a", next)}, "detach a/x, a/y", "wait Attaching", ""},
		{"devices of a life that ended", stripe, []func(*Seen){absent, lived("a", Life{ID: "a1"})}, "detach a/x, a/y", "wait Attaching", ""},
		{"devices of a server without a record stay", stripe, []func(*Seen){absent, lived("a", Life{Problem: "no such file"})}, "", "wait ServerNotRunning", ""},
		{"half of a mirror does not make a pool", pair, []func(*Seen){absent, detached(2, 3), lived("b", Life{ID: "b1"})}, "", "wait ServerNotRunning", "may lack commits that the others have"},
		{"half of a mirror is attached", pair, []func(*Seen){absent, detached(0, 1, 2, 3), lived("b", Life{ID: "b1"}), offered("a", both)}, "attach a/x, a/y", "wait Attaching", ""},
		{"small devices", network(sized("2Gi")), []func(*Seen){absent}, "detach a/x, a/y", "wait Attaching", ""},
		{"small devices of a server that offers no more", network(sized("2Gi")), []func(*Seen){absent, recorded(func(r *NetworkRecord) { r.Grown = 2 * gib })}, "", "done DevicesAttached", ""},
		{"a store that is away", stripe, []func(*Seen){absent, tells("a", zerofs.PhaseHolding, "a1")}, "", "wait StoreUnavailable", "… 2026-11-21T12:00:00Z … 7 times): StoreLost: no route to host …"},
		{"a store that was away in a former life", stripe, []func(*Seen){absent, tells("a", zerofs.PhaseHolding, "a0")}, "", "done DevicesAttached", ""},
		{"a store that is away before anything is attached", stripe, []func(*Seen){absent, detached(0, 1), tells("a", zerofs.PhaseStarting, "a1")}, "", "wait StoreUnavailable", "is starting"},
		{"another writer", stripe, []func(*Seen){absent, detached(0, 1), tells("a", zerofs.PhaseFenced, "a1")}, "", "invalid Fenced", "Find and stop the other writer"},
		{"a server that was killed", stripe, []func(*Seen){absent, killed("a")}, "detach a/x, a/y", "wait Attaching", ""},
		{"a successor", stripe, []func(*Seen){absent, lived("a", heir)}, "reconnect a/x, a/y", "wait Reconnecting", ""},
		// Under an imported pool a stripe is connected only to a server that has everything it
		// wrote.
		{"a successor that inherits", stripe, []func(*Seen){lived("a", heir)}, "reconnect a/x, a/y", "wait Reconnecting", "none is lost"},
		{"a successor that starts", stripe, []func(*Seen){lived("a", heir), tells("a", zerofs.PhaseStarting, "a3")}, "", "wait StoreUnavailable", "is starting"},
		{"a successor that was killed", stripe, []func(*Seen){lived("a", heir), killed("a")}, "", "invalid ServerLost", "ended uncleanly"},
		{"a successor, and ZFS not read", stripe, []func(*Seen){unreadPool, lived("a", heir)}, "reconnect a/x, a/y", "wait Reconnecting", ""},
		{"a connection that broke", stripe, []func(*Seen){inNetwork(func(n *Network) { n.Devices[1].Attached.Silent = true })}, "reconnect a/y", "wait Reconnecting", ""},
		{"stopped in order", stripe, []func(*Seen){lived("a", Life{ID: "a1", Clean: true})}, "", "wait Reconnecting", "successor"},
		{"a server that stops", stripe, []func(*Seen){tells("a", zerofs.PhaseStopping, "a1")}, "", "wait Reconnecting", "store a … pool tank"},
		{"a store is away", stripe, []func(*Seen){tells("a", zerofs.PhaseHolding, "a1")}, "", "wait StoreUnavailable", "… 7 times): StoreLost: no route to host; requests to pool tank wait …"},
		{"a store was away", stripe, []func(*Seen){tells("a", zerofs.PhaseHolding, "a0")}, "", "done DevicesAttached", ""},
		{"fenced", network(reboots), []func(*Seen){tells("a", zerofs.PhaseFenced, "a1")}, "", "invalid Fenced", "the agent does not restart the node for it"},
		{"fenced, and ended since", network(reboots), []func(*Seen){tells("a", zerofs.PhaseFenced, "a1"), killed("a")}, "", "invalid Fenced", ""},
		{"the lock is free", stripe, []func(*Seen){killed("a")}, "", "invalid ServerLost", "ended uncleanly"},
		{"killed", stripe, []func(*Seen){lived("a", next)}, "", "invalid ServerLost", "a ended uncleanly"},
		{"failed", stripe, []func(*Seen){lived("a", Life{ID: "a1"})}, "", "invalid ServerLost", "ended uncleanly"},
		{"dead, though the record says that it runs", stripe, []func(*Seen){suspended, dead(0)}, "", "invalid ServerLost", "lost a/x: the connection to the server of store a broke"},
		{"dead, without a record", stripe, []func(*Seen){suspended, dead(0), lived("a", Life{Problem: "no such file"})}, "", "invalid ServerLost", "unknown: no such file"},
		{"disconnected by hand", stripe, []func(*Seen){detached(1), offered("a", both)}, "", "invalid ServerLost", "lost a/y: a device of store a was disconnected"},
		{"without a record alone", stripe, []func(*Seen){lived("a", Life{Problem: "no such file"})}, "", "wait ServerNotRunning", "unknown"},
		{"without a word of ZFS", stripe, []func(*Seen){unreadPool, lived("a", next), dead(0, 1)}, "", "invalid ServerLost", "do not run zpool clear"},
		{"without a word of ZFS, and well", stripe, []func(*Seen){unreadPool}, "", "done DevicesAttached", ""},
		{"a pool on other devices", stripe, []func(*Seen){layout(disk("a")), detached(0, 1)}, "", "invalid LayoutDiffers", "not on the network devices"},
		// A restart of the node.
		{"lost for good", network(reboots), []func(*Seen){lived("a", next)}, "announce restart", "invalid ServerLost", "is being restarted, and not again within 10m0s"},
		{"killed, and to be restarted", network(reboots), []func(*Seen){killed("a")}, "announce restart", "invalid ServerLost", ""},
		{"a store that is away is no reason", network(reboots), []func(*Seen){tells("a", zerofs.PhaseHolding, "a1")}, "", "wait StoreUnavailable", ""},
		{"a successor that is awaited is no reason", network(reboots), []func(*Seen){lived("a", Life{ID: "a1", Clean: true})}, "", "wait Reconnecting", ""},
		{"lost for good, unread", network(reboots), []func(*Seen){unreadPool, lived("a", next), dead(0, 1)}, "announce restart", "invalid ServerLost", ""},
		{"told", network(reboots), []func(*Seen){lived("a", next), dead(0, 1), restartedAt("boot", time.Second, false)}, "", "invalid ServerLost", "is being restarted"},
		{"told a while ago", network(reboots), []func(*Seen){lived("a", next), dead(0, 1), restartedAt("boot", RestartDelay, false)}, "restart node", "invalid ServerLost", "is being restarted"},
		{"asked for", network(reboots), []func(*Seen){lived("a", next), dead(0, 1), restartedAt("boot", time.Hour, true)}, "", "invalid ServerLost", "which did not happen"},
		{"soon after another", network(reboots), []func(*Seen){lived("a", next), dead(0, 1), restartedAt("old", time.Minute, true)}, "", "invalid ServerLost", "restarted the node at 2026-11-21T11:59:00Z and leaves 10m0s between"},
		{"told, and lost otherwise since", network(reboots), []func(*Seen){lived("a", next), detached(1), restartedAt("boot", RestartDelay, false)}, "announce restart", "invalid ServerLost", ""},
		{"told long ago, and healed since", network(reboots), []func(*Seen){lived("a", next), dead(0, 1), restartedAt("boot", time.Hour, false)}, "announce restart", "invalid ServerLost", ""},
		{"nothing attached, and ZFS not read", network(reboots), []func(*Seen){unreadPool, detached(0, 1)}, "", "invalid ServerLost", "no device is attached that a restart would bring back"},
		{"no driver, and ZFS not read", network(reboots), []func(*Seen){unreadPool, detached(0, 1), recorded(unrecorded), inNetwork(func(n *Network) { n.Driver = false })}, "", "invalid ServerLost", ""},
		{"long after another", network(reboots), []func(*Seen){lived("a", next), dead(0, 1), restartedAt("old", time.Hour, true)}, "announce restart", "invalid ServerLost", ""},
		{"a mirror that serves is no reason", network(mirrored, reboots), []func(*Seen){lived("b", Life{ID: "b1"}), dead(2, 3), dropped(2, 3)}, "", "wait ServerNotRunning", "serving without b/x, b/y"},
		{"a mirror that lost both", network(mirrored, reboots), []func(*Seen){suspended, lived("a", next), lived("b", nextB), dead(0, 1, 2, 3)}, "announce restart", "invalid ServerLost", ""},
		{"a mirror of which ZFS tells nothing is no reason", network(mirrored, reboots), []func(*Seen){unreadPool, lived("b", nextB)}, "", "wait ServerNotRunning", "pool tank is unknown"},
		{"a mirror that lost both, and of which ZFS tells nothing", network(mirrored, reboots), []func(*Seen){unreadPool, lived("a", next), lived("b", nextB)}, "announce restart", "invalid ServerLost", ""},
		// A mirror serves without some of its devices, lets go of them, and takes them back.
		{"one server away", pair, []func(*Seen){lived("b", Life{ID: "b1"})}, "drop b/x, b/y", "wait ServerNotRunning", "serving without b/x, b/y: the server of store b ended uncleanly"},
		{"one server away, and let go of", pair, []func(*Seen){lived("b", Life{ID: "b1"}), dropped(2, 3)}, "", "wait ServerNotRunning", "does not run; pool tank keeps serving without b/x, b/y"},
		{"one server back, not yet let go of", pair, []func(*Seen){lived("b", nextB), offered("b", both)}, "drop b/x, b/y", "wait ServerNotRunning", ""},
		{"one server back", pair, []func(*Seen){lived("b", nextB), dropped(2, 3), offered("b", both)}, "reattach b/x, b/y", "wait Returning", ""},
		{"one connection broke, not yet let go of", pair, []func(*Seen){dead(2), offered("b", both)}, "drop b/x", "wait ServerNotRunning", "the connection to the server of store b broke"},
		{"one connection broke", pair, []func(*Seen){dead(2), dropped(2), offered("b", both)}, "reattach b/x", "wait Returning", ""},
		{"one connection broke, and its store is away", pair, []func(*Seen){dead(2), dropped(2), tells("b", zerofs.PhaseHolding, "b1")}, "", "wait StoreUnavailable", "pool tank keeps serving without b/x"},
		{"one store away", pair, []func(*Seen){tells("b", zerofs.PhaseHolding, "b1")}, "", "wait StoreUnavailable", "pool tank waits up to requestTimeout"},
		{"one store away for long", pair, []func(*Seen){tells("b", zerofs.PhaseHolding, "b1"), toldBefore("b", time.Minute)}, "drop b/x, b/y", "wait StoreUnavailable", "has waited for b/x, b/y longer than requestTimeout"},
		{"one store away for less than is declared", network(mirrored, patient), []func(*Seen){tells("b", zerofs.PhaseHolding, "b1"), toldBefore("b", time.Minute)}, "", "wait StoreUnavailable", ""},
		{"one store away for long, and let go of", pair, []func(*Seen){tells("b", zerofs.PhaseHolding, "b1"), toldBefore("b", time.Hour), dead(2, 3), dropped(2, 3)}, "", "wait StoreUnavailable", "pool tank keeps serving without b/x, b/y"},
		{"both stores away for long", pair, []func(*Seen){tells("a", zerofs.PhaseHolding, "a1"), tells("b", zerofs.PhaseHolding, "b1"), toldBefore("a", time.Hour), toldBefore("b", time.Hour)}, "", "wait StoreUnavailable", ""},
		{"one part answers nothing for long", pair, []func(*Seen){waiting(time.Minute, 2)}, "drop b/x", "wait StoreUnavailable", ""},
		{"one part answers nothing for a while", pair, []func(*Seen){waiting(time.Minute-1, 2)}, "", "done DevicesAttached", ""},
		{"no part answers anything", pair, []func(*Seen){waiting(time.Minute, 0, 2)}, "", "wait StoreUnavailable", "pool tank waits for a/x, b/x"},
		{"one part answers nothing for long, the other for a while", pair, []func(*Seen){waiting(time.Minute, 2), waiting(survivorWaits, 0)}, "", "wait StoreUnavailable", ""},
		{"one part of a stripe answers nothing", stripe, []func(*Seen){waiting(time.Hour, 0)}, "", "done DevicesAttached", ""},
		{"one successor that is awaited for long", pair, []func(*Seen){lived("b", Life{ID: "b1", Clean: true}), tells("b", zerofs.PhaseStopping, "b1"), toldBefore("b", time.Minute)}, "drop b/x, b/y", "wait StoreUnavailable", ""},
		{"one fenced", pair, []func(*Seen){tells("b", zerofs.PhaseFenced, "b1")}, "drop b/x, b/y", "wait ServerNotRunning", "another writer"},
		{"one fenced, and let go of", pair, []func(*Seen){tells("b", zerofs.PhaseFenced, "b1"), dropped(2, 3)}, "", "invalid Fenced", "pool tank keeps serving without b/x, b/y"},
		{"one successor that inherits", pair, []func(*Seen){lived("b", heirB)}, "reconnect b/x, b/y", "wait Reconnecting", ""},
		{"one successor that is awaited", pair, []func(*Seen){lived("b", Life{ID: "b1", Clean: true})}, "", "wait Reconnecting", "pool tank waits up to requestTimeout"},
		{"one successor that inherits, of devices that failed", pair, []func(*Seen){lived("b", heirB), dead(2, 3), dropped(2, 3), offered("b", both)}, "reattach b/x, b/y", "wait Returning", ""},
		{"one device away", pair, []func(*Seen){detached(3), offered("b", both)}, "reattach b/y", "wait Returning", ""},
		{"one device of each mirror away, on two servers", pair, []func(*Seen){detached(0, 3), offered("a", both), offered("b", both)}, "reattach a/x, b/y", "wait Returning", ""},
		{"a whole mirror away", pair, []func(*Seen){detached(1, 3), offered("a", both), offered("b", both)}, "", "invalid ServerLost", ""},
		{"back with an empty bucket", pair, []func(*Seen){lived("b", nextB), dropped(2, 3), offered("b", nil)}, "", "invalid ExportShrunk", ""},
		{"suspended", pair, []func(*Seen){suspended, lived("b", nextB), offered("b", both)}, "", "invalid ServerLost", ""},
		{"unread", pair, []func(*Seen){unreadPool, lived("b", nextB), offered("b", both)}, "", "wait ServerNotRunning", ""},
		// What is left of a mirror has to be proven whole.
		{"the other part failed", pair, []func(*Seen){detached(2), offered("b", both), leg(0, func(v *zfs.VdevStatus) { v.State = zfs.Degraded })}, "", "wait ServerNotRunning", "without b/x"},
		{"the other part had a write error", pair, []func(*Seen){detached(2), offered("b", both), leg(0, func(v *zfs.VdevStatus) { v.Write = 1 })}, "", "wait ServerNotRunning", ""},
		{"the other part had a read error", pair, []func(*Seen){detached(2), offered("b", both), leg(0, func(v *zfs.VdevStatus) { v.Read = 1 })}, "", "wait ServerNotRunning", ""},
		{"the other part had a checksum error", pair, []func(*Seen){detached(2), offered("b", both), leg(0, func(v *zfs.VdevStatus) { v.Checksum = 1 })}, "", "wait ServerNotRunning", ""},
		{"the other part resilvers", pair, []func(*Seen){lived("b", nextB), resilvering, leg(0, func(v *zfs.VdevStatus) { v.Note = "(resilvering)" })}, "", "wait ServerNotRunning", "resilver"},
		{"parts that resilver are lost", pair, []func(*Seen){lived("b", nextB), resilvering, func(seen *Seen) {
			for i := range seen.Status.Vdevs {
				seen.Status.Vdevs[i].Children[1].Note = "(resilvering)"
			}
		}}, "drop b/x, b/y", "wait ServerNotRunning", ""},
		{"a part resilvers, and the other mirror may too", pair, []func(*Seen){lived("b", nextB), resilvering, leg(1, func(v *zfs.VdevStatus) { v.Note = "(resilvering)" })}, "", "wait ServerNotRunning", ""},
		{"a part resilvers, and ZFS does not say which", pair, []func(*Seen){lived("b", nextB), resilvering}, "", "wait ServerNotRunning", ""},
		{"the other part is on its way back", pair, []func(*Seen){detached(2), offered("b", both), recorded(func(r *NetworkRecord) { r.Returning = []string{"a/x"} })}, "", "wait ServerNotRunning", ""},
		{"the other part is back since a moment", pair, []func(*Seen){detached(2), offered("b", both), recorded(func(r *NetworkRecord) { r.Returned = map[string]time.Time{"a/x": noon} })}, "", "wait ServerNotRunning", ""},
		{"the other part is still to be scrubbed", pair, []func(*Seen){detached(2), offered("b", both), recorded(func(r *NetworkRecord) { r.Scrub, r.Suspect = true, []string{"a/x"} })}, "", "wait ServerNotRunning", ""},
		{"a part that is away is not given up for one that is still to be scrubbed", pair, []func(*Seen){tells("b", zerofs.PhaseHolding, "b1"), toldBefore("b", time.Hour), recorded(func(r *NetworkRecord) { r.Scrub, r.Suspect = true, []string{"a/y"} })}, "", "wait StoreUnavailable", ""},
		{"the other part's store is away", pair, []func(*Seen){detached(2), offered("b", both), tells("a", zerofs.PhaseHolding, "a1")}, "", "wait ServerNotRunning", ""},
		// A scrub looks at everything.
		{"attached again", pair, []func(*Seen){recorded(func(r *NetworkRecord) { r.Returning = []string{"b/x"}; r.Scrub = true })}, "online b/x", "wait Returning", ""},
		{"back, and resilvers", pair, []func(*Seen){due(0), resilvering}, "", "done DevicesAttached", ""},
		{"back, and resilvered", pair, []func(*Seen){due(0), scanned(zfs.ScanFinished, true, 0)}, "start scrub", "done DevicesAttached", ""},
		{"back, and a disk of it is not", pair, []func(*Seen){due(0), leg(1, func(v *zfs.VdevStatus) { v.State = zfs.Faulted })}, "", "done DevicesAttached", ""},
		{"back, and a person paused a scrub", pair, []func(*Seen){due(0), scanned(zfs.ScanPaused, false, 0)}, "", "done DevicesAttached", ""},
		{"a scrub from before", pair, []func(*Seen){due(0), scanned(zfs.ScanFinished, false, 0)}, "start scrub", "done DevicesAttached", ""},
		{"a scrub is under way", pair, []func(*Seen){due(time.Minute), scanned(zfs.ScanInProgress, false, time.Minute)}, "", "done DevicesAttached", ""},
		{"the scrub has ended", pair, []func(*Seen){due(time.Minute), scanned(zfs.ScanFinished, false, time.Second)}, "finish scrub", "done DevicesAttached", ""},
		{"the scrub did not begin", pair, []func(*Seen){due(time.Minute), scanned(zfs.ScanFinished, false, time.Hour)}, "start scrub", "done DevicesAttached", ""},
		{"a resilver took the scrub's place", pair, []func(*Seen){due(time.Minute), scanned(zfs.ScanFinished, true, time.Second)}, "start scrub", "done DevicesAttached", ""},
		{"the scrub was stopped", pair, []func(*Seen){due(time.Minute), scanned(zfs.ScanCanceled, false, time.Second)}, "start scrub", "done DevicesAttached", ""},
		// Growing.
		{"grows, mounted", network(sized("2Gi")), []func(*Seen){inNetwork(func(n *Network) { n.Mounted = true })}, "", "done Growing", "from 1073741824 to 2147483648 bytes"},
		{"grows", network(sized("2Gi")), nil, "release pool", "wait Growing", ""},
		{"grew in vain", network(sized("2Gi")), []func(*Seen){recorded(func(r *NetworkRecord) { r.Grown = 2 * gib })}, "", "done Growing", "1073741824 bytes"},
		{"grown", stripe, []func(*Seen){pools("expandsize=1073741824")}, "expand a/x, a/y", "done DevicesAttached", ""},
		{"does not shrink", network(sized("512Mi")), nil, "", "done DevicesAttached", ""},
	} {
		seen := seenNetwork(c.s, c.seen...)
		decision := NetworkDecisionFor(c.s, seen, noon)
		same(t, c.name, inWordsOf(decision.Action), c.action)
		got := describe(decision.Outcome)
		facts.Same(t, c.name, got, "DevicesAttached "+c.want+": … "+c.says+" …")
	}
}

func restartedAt(boot string, ago time.Duration, done bool) func(*Seen) {
	return recorded(func(r *NetworkRecord) {
		r.Restart = &Restart{BootID: boot, Lost: "a/x@a1,a/y@a1", At: noon.Add(-ago), Done: done}
	})
}

// due is a scrub, begun a while ago; 0: not yet.
func due(ago time.Duration) func(*Seen) {
	return recorded(func(r *NetworkRecord) {
		r.Scrub = true
		if ago > 0 {
			r.ScrubSince = noon.Add(-ago)
		}
	})
}

func scanned(is zfs.ScanState, resilver bool, ago time.Duration) func(*Seen) {
	return func(seen *Seen) { seen.Status.Scan = zfs.Scan{State: is, Resilver: resilver, At: noon.Add(-ago)} }
}

func resilvering(seen *Seen) { scanned(zfs.ScanInProgress, true, 0)(seen) }

// Restarts that follow each other come ever later.
func TestRestartsBackOff(t *testing.T) {
	s := network(reboots)
	var last *Restart
	var got []string
	now := noon
	for _, after := range []time.Duration{0, 0, 0, 0, 0, 0, 0, restartForgotten, 0} {
		if last != nil {
			now = now.Add(max(after, last.Wait))
		}
		seen := seenNetwork(s, lived("a", Life{ID: "a2", Running: true}), recorded(func(r *NetworkRecord) { r.Restart = last }))
		if last != nil {
			early := NetworkDecisionFor(s, seen, now.Add(-max(after, last.Wait)+last.Wait-time.Second))
			if early.Action != nil {
				t.Errorf("got %s before %s, want none", early.Action, last.Wait)
			}
		}
		announced, is := NetworkDecisionFor(s, seen, now).Action.(AnnounceRestart)
		if !is {
			t.Fatalf("got no restart after %v", got)
		}
		last = &announced.Restart
		last.BootID, last.Done = "old", true
		got = append(got, last.Wait.String())
	}
	same(t, "waits", strings.Join(got, " "), "10m0s 20m0s 40m0s 1h20m0s 2h40m0s 4h0m0s 4h0m0s 10m0s 20m0s")
	// A restart that was announced and did not happen changes nothing.
	last.Done, last.Wait = false, time.Hour
	seen := seenNetwork(s, lived("a", Life{ID: "a2", Running: true}), recorded(func(r *NetworkRecord) { r.Restart = last }))
	if got, is := NetworkDecisionFor(s, seen, now).Action.(AnnounceRestart); !is || got.Restart.Wait != time.Hour {
		t.Errorf("got %+v, want a restart with a wait of 1h", got)
	}
}

// States of a device, and what they mean for the pool.
func TestNetworkStalls(t *testing.T) {
	stripe, pair := network(), network(mirrored)
	for _, c := range []struct {
		name   string
		s      *v1alpha1.PgNodeStorage
		seen   []func(*Seen)
		state  DeviceState
		stalls bool
	}{
		{"well", stripe, nil, DeviceAttached, false},
		{"held", stripe, []func(*Seen){tells("a", zerofs.PhaseHolding, "a1")}, DeviceAttached, true},
		{"fenced", stripe, []func(*Seen){tells("a", zerofs.PhaseFenced, "a1")}, DeviceLost, true},
		{"killed", stripe, []func(*Seen){killed("a")}, DeviceLost, true},
		{"parted", stripe, []func(*Seen){lived("a", Life{ID: "a1", Clean: true})}, DeviceReconnecting, true},
		{"unknown", stripe, []func(*Seen){lived("a", Life{Problem: "x"})}, DeviceUnknown, false},
		{"a mirror", pair, []func(*Seen){tells("a", zerofs.PhaseHolding, "a1")}, DeviceAttached, false},
	} {
		seen := seenNetwork(c.s, c.seen...)
		same(t, c.name, seen.Network.State(seen.Network.Devices[0]), c.state)
		if seen.Network.Stalls() != c.stalls || seen.Serves() == c.stalls {
			t.Errorf("%s: stalls %v, serves %v", c.name, seen.Network.Stalls(), seen.Serves())
		}
	}
	seen := seenNetwork(stripe, tells("a", zerofs.PhaseHolding, "a1"))
	facts.Same(t, "pool", describe(Pool(stripe, seen).Outcome), "PoolReady wait StoreUnavailable: … tank …")
	if decision := NetworkDecisionFor(stripe, seen, noon); !decision.PoolWaits {
		t.Error("more is changed on a pool whose requests wait")
	}
}

// What becomes of the pool itself.
func TestNetworkPool(t *testing.T) {
	on := func(name string) []zfs.VdevStatus {
		return []zfs.VdevStatus{{Class: zfs.Data, Type: "disk", Name: name}, {Class: zfs.Logs, Type: "disk", Name: "wwn-l"}}
	}
	found := zfs.Importable{Name: "tank", GUID: 42, State: zfs.Online, Vdevs: on("a.x")}
	elsewhere := zfs.Importable{Name: "tank", GUID: 42, State: zfs.Online, Vdevs: on("wwn-x")}
	blanks := func(seen *Seen) {
		seen.Signatures = map[string]blockdev.Signatures{"/dev/nbd0": {}, "/dev/nbd1": {}, "/dev/nbd2": {}, "/dev/nbd3": {}}
	}
	for _, c := range []struct {
		name   string
		s      *v1alpha1.PgNodeStorage
		seen   []func(*Seen)
		create string
		want   string
	}{
		{"devices first", network(fresh), []func(*Seen){importing(), blanks, detached(0)}, "", "wait Attaching: … tank …"},
		{"made", network(fresh), []func(*Seen){importing(), blanks}, " /run/pgstorage/fast/a.x /run/pgstorage/fast/a.y; ashift=12 autotrim=on cachefile=none failmode=wait", "wait CreatingPool: … tank … /run/pgstorage/fast/a.x, /run/pgstorage/fast/a.y"},
		{"made as mirrors", network(fresh, mirrored), []func(*Seen){importing(), blanks}, "mirror /run/pgstorage/fast/a.x /run/pgstorage/fast/b.x mirror /run/pgstorage/fast/a.y /run/pgstorage/fast/b.y; ashift=12 autotrim=on cachefile=none failmode=wait", "wait CreatingPool: … tank … /run/pgstorage/fast/a.x, /run/pgstorage/fast/b.x, /run/pgstorage/fast/a.y, /run/pgstorage/fast/b.y"},
		{
			"not made of what holds something", network(fresh), []func(*Seen){importing(), blanks, func(seen *Seen) { seen.Signatures["/dev/nbd1"] = blockdev.Signatures{Data: true} }}, "",
			"invalid DeviceNotBlank: … tank can be imported from the network devices, and a/y …",
		},
		{"not made of what was not read", network(fresh), []func(*Seen){importing()}, "", "wait HostCommandFailed: … /dev/nbd0 (a/x) …"},
		{"imported", network(), []func(*Seen){importing(found)}, "", "wait ImportingPool: … tank (GUID 42) …"},
		{"of this name on the disks of a log", network(fresh), []func(*Seen){importing(elsewhere), blanks}, "", "invalid LayoutDiffers: … tank (GUID 42) … 42 NEWNAME), or name another pool in a new profile"},
		{"of this name on other disks too", network(fresh), []func(*Seen){importing(elsewhere, zfs.Importable{Name: "tank", GUID: 43, State: zfs.Online, Vdevs: on("nbd0")})}, "", "wait ImportingPool: … tank (GUID 43) …"},
		{"never made anew", network(), []func(*Seen){importing(), blanks}, "", "invalid PoolLost: … tank (GUID 42) … 42 in pool.abandonedGUIDs …"},
		{"suspended", network(), []func(*Seen){suspended}, "", "invalid PoolSuspended: … tank is suspended: … ZFS says: "},
	} {
		seen := seenNetwork(c.s, c.seen...)
		step := Pool(c.s, seen)
		facts.Same(t, c.name, describe(step.Outcome), "PoolReady "+c.want)
		create := ""
		if step.Create != nil {
			for _, v := range step.Create.Spec.Vdevs {
				create += v.Type + " " + strings.Join(v.Devices, " ") + " "
			}
			create = strings.TrimSuffix(create, " ") + ";"
			for _, p := range []string{"ashift", "autotrim", "cachefile", "failmode"} {
				create += " " + p + "=" + step.Create.Spec.Properties[p]
			}
		}
		same(t, c.name, create, c.create)
	}
}

func TestLocalDevices(t *testing.T) {
	local := func(caches, logs []string) *v1alpha1.PgNodeStorage {
		return network(func(s *v1alpha1.PgNodeStorage) {
			s.Spec.NetworkDevices.Caches = vdev(v1alpha1.VdevStripe, caches...).Devices
			s.Spec.NetworkDevices.Logs = vdev(v1alpha1.VdevStripe, logs...).Devices
		})
	}
	has := func(vdevs ...zfs.VdevStatus) func(*Seen) {
		return func(seen *Seen) { seen.Status.Vdevs = append(seen.Status.Vdevs, vdevs...) }
	}
	part := func(c zfs.Class, name string) zfs.VdevStatus { return class(c, disk(name+"-part1")) }
	holds := func(name string, s blockdev.Signatures) func(*Seen) {
		return func(seen *Seen) {
			if seen.Signatures == nil {
				seen.Signatures = map[string]blockdev.Signatures{}
			}
			seen.Signatures[byID+name] = s
		}
	}
	empty := blockdev.Signatures{}
	logMirror := class(zfs.Logs, group("mirror").of(part(zfs.Logs, "l"), part(zfs.Logs, "m")))
	for _, c := range []struct {
		name string
		s    *v1alpha1.PgNodeStorage
		seen []func(*Seen)
		want string
	}{
		{"none", local(nil, nil), nil, ""},
		{"a cache is added", local([]string{"c"}, nil), []func(*Seen){holds("c", empty)}, "cache " + byID + "c"},
		{"a cache first, then logs", local([]string{"c"}, []string{"l", "m"}), []func(*Seen){holds("c", empty), holds("l", empty), holds("m", empty)}, "cache " + byID + "c"},
		{"logs", local(nil, []string{"l", "m"}), []func(*Seen){holds("l", empty), holds("m", empty)}, "log " + byID + "l " + byID + "m"},
		{"all there", local([]string{"c"}, []string{"l", "m"}), []func(*Seen){has(part(zfs.Cache, "c"), logMirror)}, ""},
		{"a cache that goes", local(nil, nil), []func(*Seen){has(part(zfs.Cache, "c"))}, "remove " + byID + "c-part1"},
		{"one goes before another comes", local([]string{"d"}, nil), []func(*Seen){has(part(zfs.Cache, "c")), holds("d", empty)}, "remove " + byID + "c-part1"},
		{"a mirror of logs goes whole", local(nil, []string{"l"}), []func(*Seen){has(logMirror)}, "remove mirror-0"},
		{"a missing cache is told by its note", local([]string{"c"}, nil), []func(*Seen){has(zfs.VdevStatus{Class: zfs.Cache, Name: "123", Note: "was " + byID + "c-part1"})}, ""},
		{"what is left of a log", local(nil, nil), []func(*Seen){has(zfs.VdevStatus{Class: zfs.Logs, Type: "indirect", Name: "indirect-3"})}, ""},
		{"not blank", local([]string{"c"}, nil), []func(*Seen){holds("c", blockdev.Signatures{Data: true})}, "DevicesHealthy invalid DeviceNotBlank: l2arc: " + byID + "c is not blank (data without a known signature) and is not touched; name another device, or set wipe: true for it if nothing on it is needed"},
		{"wiped", local([]string{"c!"}, nil), []func(*Seen){holds("c", blockdev.Signatures{Data: true})}, "wipe " + byID + "c cache " + byID + "c"},
		{"not there", local([]string{"c"}, nil), []func(*Seen){func(seen *Seen) { seen.Missing = []string{byID + "c"} }}, "DevicesHealthy wait DeviceNotFound: l2arc: the node has no device " + byID + "c; correct the path, or attach the device (ls -l /dev/disk/by-id on the node)"},
		{"suspended", local([]string{"c"}, nil), []func(*Seen){suspended, holds("c", empty)}, ""},
		{"not imported", local([]string{"c"}, nil), []func(*Seen){absent, holds("c", empty)}, ""},
	} {
		step := LocalDevices(c.s, seenNetwork(c.s, c.seen...))
		var got []string
		for _, part := range []struct {
			word string
			list []string
		}{{"remove", step.Remove}, {"wipe", step.Wipe}, {"cache", step.Caches}, {"log", step.Log}} {
			if len(part.list) > 0 {
				got = append(got, part.word+" "+strings.Join(part.list, " "))
			}
		}
		if step.Problem != nil {
			got = append(got, describe(*step.Problem))
		}
		same(t, c.name, strings.Join(got, " "), c.want)
	}
}

func TestNetworkStatus(t *testing.T) {
	s := network(mirrored)
	seen := seenNetwork(s, detached(0), lived("b", Life{ID: "b2", Running: true}), inNetwork(func(n *Network) { n.FlushLatency = 80 * time.Millisecond }))
	out := Status(s, seen, time.Time{})
	var got []string
	for _, d := range out.NetworkDevices {
		size := "none"
		if d.Size != nil {
			size = d.Size.String()
		}
		got = append(got, strings.Join([]string{d.Path, d.Server, d.Export, d.URL, d.State, size, d.Incarnation}, " "))
	}
	same(t, "devices", strings.Join(got, "\n"), strings.Join([]string{
		"/dev/nbd1 a y s3://a/n1 Attached 1Gi a1",
		"/dev/nbd2 b x s3://b/n1 Lost 1Gi b1",
		"/dev/nbd3 b y s3://b/n1 Lost 1Gi b1",
		"/run/pgstorage/fast/a.x a x s3://a/n1 Detached none ",
	}, "\n"))
	for _, c := range []struct {
		old       time.Duration
		now, want time.Duration
	}{
		{0, 80 * time.Millisecond, 80 * time.Millisecond}, {80 * time.Millisecond, 99 * time.Millisecond, 80 * time.Millisecond},
		{80 * time.Millisecond, 100 * time.Millisecond, 100 * time.Millisecond}, {80 * time.Millisecond, 50 * time.Millisecond, 50 * time.Millisecond},
		{80 * time.Millisecond, 0, 80 * time.Millisecond},
	} {
		var old *metav1.Duration
		if c.old > 0 {
			old = &metav1.Duration{Duration: c.old}
		}
		if got := flushLatency(old, c.now); got.Duration != c.want {
			t.Errorf("%s after %s: %s, want %s", c.now, c.old, got.Duration, c.want)
		}
	}
	if o := DevicesOutcome(s, seenNetwork(network())); o.Reason != v1alpha1.ReasonLayoutDiffers || o.Kind != outcome.Invalid {
		t.Errorf("a stripe that is declared a mirror: %+v", o)
	}
}
