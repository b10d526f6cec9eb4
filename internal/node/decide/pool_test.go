package decide

import (
	"fmt"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/blockdev"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
	"github.com/pgstorage/pgstorage/internal/testing/facts"
)

// What is done about the pool, with the condition to every word. The step is import
// GUID, create, or none.
func TestPool(t *testing.T) {
	tank := zfs.Importable{Name: "tank", GUID: 42, State: zfs.Online}
	twin := zfs.Importable{Name: "tank", GUID: 43, State: zfs.Online}
	other := zfs.Importable{Name: "other", GUID: 44, State: zfs.Online}
	mirrored := creates(mirrors("a", "b"))
	probed := func(seen *Seen) { seen.Signatures = nothingOn("a", "b") }
	said := func(state zfs.Health, explanation, action string) func(*Seen) {
		return reported(func(s *zfs.Status) { s.State, s.Explanation, s.Action = state, explanation, action })
	}
	for _, c := range []struct {
		name string
		s    *v1alpha1.PgNodeStorage
		seen Seen
		step string
		want string
	}{
		{
			"no module", storage(), converged(unloaded), "none",
			"wait ZFSNotLoaded: the node's kernel has no ZFS module loaded; install OpenZFS on the node (zfs-dkms, or the distribution's package) and run modprobe zfs",
		},
		// Imported.
		{"online", storage(), converged(), "none", "done PoolOnline: pool tank is imported, ONLINE"},
		{"online, seen for the first time", storage(fresh), converged(), "none", "done PoolOnline: pool tank is imported, ONLINE"},
		{"online, its status was without a GUID", storage(func(s *v1alpha1.PgNodeStorage) { s.Status.Pool.GUID = "" }), converged(), "none", "done PoolOnline: pool tank is imported, ONLINE"},
		{"online, and to be made", storage(mirrored), converged(), "none", "done PoolOnline: pool tank is imported, ONLINE"},
		{"online, a twin importable", storage(), converged(func(seen *Seen) { seen.Importable = []zfs.Importable{twin} }), "none", "done PoolOnline: pool tank is imported, ONLINE"},
		{"degraded", storage(), converged(pools("health=DEGRADED")), "none", "done PoolOnline: pool tank is imported, DEGRADED"},
		{
			"suspended by its health", storage(),
			converged(pools("health=SUSPENDED"), said(zfs.Suspended, "One or more devices are faulted in response to IO failures.", "Make sure the affected devices are connected, then run 'zpool clear'.")), "none",
			"invalid PoolSuspended: pool tank is suspended: all I/O to it waits. ZFS says: One or more devices are faulted in response to IO failures. Make sure the affected devices are connected, then run 'zpool clear'. Bring its devices back, then run zpool clear tank on the node",
		},
		{
			"suspended by its status, as the JSON breaks lines", storage(),
			converged(reported(func(s *zfs.Status) {
				s.Suspended, s.Explanation, s.Action = true, "One or more devices are faulted in response to\n\tIO failures.", "Run zpool clear."
			})), "none",
			"invalid PoolSuspended: pool tank is suspended: all I/O to it waits. ZFS says: One or more devices are faulted in response to IO failures. Run zpool clear. Bring its devices back, then run zpool clear tank on the node",
		},
		{
			"faulted", storage(), converged(pools("health=FAULTED"), said(zfs.Faulted, "The pool metadata is corrupted.", "Destroy and re-create the pool from a backup source.")), "none",
			"invalid PoolUnhealthy: pool tank is FAULTED. ZFS says: The pool metadata is corrupted. Destroy and re-create the pool from a backup source.",
		},
		{
			"unavailable", storage(mirrored), converged(pools("health=UNAVAIL"), said(zfs.Unavail, "One or more devices could not be opened.", "")), "none",
			"invalid PoolUnhealthy: pool tank is UNAVAIL. ZFS says: One or more devices could not be opened.",
		},
		{
			"another pool of its name", storage(), converged(pools("guid=43")), "none",
			"invalid PoolReplaced: the imported pool tank has GUID 43, but the pool of this node had 42. Export the wrong one and import the right one by GUID, or list 42 in pool.abandonedGUIDs of the profile to adopt the new one",
		},
		{
			"another pool of its name, suspended", storage(), converged(pools("guid=43", "health=SUSPENDED")), "none",
			"invalid PoolReplaced: the imported pool tank has GUID 43, but the pool of this node had 42. Export the wrong one and import the right one by GUID, or list 42 in pool.abandonedGUIDs of the profile to adopt the new one",
		},
		// Importable.
		{"importable", storage(fresh), converged(importing(other, tank)), "import 42", "wait ImportingPool: … tank (GUID 42) …"},
		{"importable, known", storage(), converged(importing(tank)), "import 42", "wait ImportingPool: … tank (GUID 42) …"},
		{"importable, and to be made", storage(fresh, mirrored), converged(importing(tank), probed), "import 42", "wait ImportingPool: … tank (GUID 42) …"},
		{
			"importable, degraded", storage(fresh), converged(importing(zfs.Importable{Name: "tank", GUID: 7, State: zfs.Degraded})), "import 7",
			"wait ImportingPool: … tank (GUID 7) …",
		},
		{
			"importable, unavailable", storage(),
			converged(importing(zfs.Importable{Name: "tank", GUID: 42, State: zfs.Unavail, Explanation: "One or more devices are missing from the system.", Action: "Attach the missing devices and try again."})), "none",
			"invalid PoolUnhealthy: pool tank can be imported only in state UNAVAIL. ZFS says: One or more devices are missing from the system. Attach the missing devices and try again.",
		},
		{
			"importable, of which only an action is said", storage(mirrored),
			converged(importing(zfs.Importable{Name: "tank", GUID: 42, State: zfs.Faulted, Action: "The pool cannot be imported due to damaged devices or data."})), "none",
			"invalid PoolUnhealthy: pool tank can be imported only in state FAULTED. ZFS says: The pool cannot be imported due to damaged devices or data.",
		},
		{
			"several importable", storage(fresh, mirrored), converged(importing(tank, other, twin), probed), "none",
			"invalid PoolAmbiguous: 2 pools named tank can be imported (GUIDs 42, 43). Import the right one with zpool import GUID on the node, or detach the devices of the others",
		},
		{"several importable, one known", storage(), converged(importing(twin, tank)), "import 42", "wait ImportingPool: … tank (GUID 42) …"},
		// Gone.
		{
			"lost", storage(), converged(absent), "none",
			"invalid PoolLost: … tank (GUID 42) … 42 in pool.abandonedGUIDs …",
		},
		{
			"lost, and to be made on blank devices", storage(mirrored), converged(absent, probed), "none",
			"invalid PoolLost: … tank (GUID 42) … 42 in pool.abandonedGUIDs …",
		},
		{
			"lost, and another of its name importable", storage(mirrored), converged(importing(twin), probed), "none",
			"invalid PoolLost: … tank (GUID 42) … 42 in pool.abandonedGUIDs …",
		},
		// Never there.
		{
			"not found", storage(fresh), converged(absent), "none",
			"wait PoolNotFound: the node has no pool tank, imported or importable. Create it with zpool create, attach its devices, or declare spec.zfsLocalPV.pool.create in the profile",
		},
		{
			"not found, others importable", storage(fresh), converged(importing(other)), "none",
			"wait PoolNotFound: the node has no pool tank, imported or importable. Create it with zpool create, attach its devices, or declare spec.zfsLocalPV.pool.create in the profile",
		},
		{"made", storage(fresh, mirrored), converged(absent, probed), "create", "wait CreatingPool: … tank … " + byID + "a, " + byID + "b"},
		{"made beside others", storage(fresh, mirrored), converged(importing(other), probed), "create", "wait CreatingPool: … tank … " + byID + "a, " + byID + "b"},
		{
			"not made for want of a device", storage(fresh, mirrored),
			converged(absent, probed, func(seen *Seen) { seen.Missing = []string{byID + "b"} }), "none",
			"wait DeviceNotFound: pool.create.vdevs[0]: the node has no device " + byID + "b; correct the path, or attach the device (ls -l /dev/disk/by-id on the node)",
		},
	} {
		got := Pool(c.s, c.seen)
		facts.Same(t, c.name, describe(got.Outcome), "PoolReady "+c.want)
		step := "none"
		if got.Import != 0 {
			step = fmt.Sprint("import ", got.Import)
		}
		if got.Create != nil {
			step = "create"
		}
		if step != c.step || got.Import != 0 && got.Create != nil {
			t.Errorf("%s: step %s, wanted %s", c.name, step, c.step)
		}
	}
}

// A pool that replaced the known one is not adopted because status was written once.
func TestReplacedPoolIsNeverAdopted(t *testing.T) {
	s, seen := storage(), converged(pools("guid=43"))
	for pass := range 3 {
		if o := Pool(s, seen).Outcome; o.Reason != v1alpha1.ReasonPoolReplaced {
			t.Fatalf("pass %d: %s", pass, describe(o))
		}
		s.Status = Status(s, seen, never)
	}
	s.Status = Status(s, converged(absent), never)
	if o := Pool(s, converged()).Outcome; o.Reason != v1alpha1.ReasonPoolOnline {
		t.Errorf("the right pool again: %s", describe(o))
	}
}

// A new pool may be made only where none could be imported, and none was there before.
func TestMayCreate(t *testing.T) {
	tank := zfs.Importable{Name: "tank", GUID: 42, State: zfs.Unavail}
	mirrored := creates(mirrors("a", "b"))
	for _, c := range []struct {
		name string
		s    *v1alpha1.PgNodeStorage
		seen Seen
		want bool
	}{
		{"none declared", storage(fresh), converged(absent), false},
		{"no pool", storage(fresh, mirrored), converged(absent), true},
		{"another importable", storage(fresh, mirrored), converged(importing(zfs.Importable{Name: "other", GUID: 1})), true},
		{"importable", storage(fresh, mirrored), converged(importing(tank)), false},
		{"lost", storage(mirrored), converged(absent), false},
		{"known and importable", storage(mirrored), converged(importing(tank)), false},
	} {
		if got := MayCreate(c.s, c.seen); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// nothingOn returns the result of probing blank devices.
func nothingOn(names ...string) map[string]blockdev.Signatures {
	out := map[string]blockdev.Signatures{}
	for _, n := range names {
		out[byID+n] = blockdev.Signatures{Device: byID + n}
	}
	return out
}
