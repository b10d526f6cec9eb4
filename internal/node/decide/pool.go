package decide

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

// PoolStep is what has to be done about the pool first: at most one of its
// members is set.
type PoolStep struct {
	// Import the pool with this GUID, which another machine had last where it is to be
	// taken over.
	Import   uint64
	TakeOver bool
	// Create the pool, once the devices were wiped that the layout says.
	Create *Layout
	// Outcome is the condition PoolReady, before the step.
	Outcome outcome.Outcome
}

// Pool decides about the pool. A pool that was once there is never made anew:
// when it is lost, a person decides.
func Pool(s *v1alpha1.PgNodeStorage, seen Seen) PoolStep {
	name := s.Spec.Pool.Name
	if !seen.Loaded {
		return wait(v1alpha1.ReasonZFSNotLoaded, "the node's kernel has no ZFS module loaded; install OpenZFS on the node (zfs-dkms, or the distribution's package) and run modprobe zfs")
	}
	if seen.Pool != nil {
		return imported(s, seen)
	}
	if seen.Network != nil && !seen.Network.Complete() {
		return wait(v1alpha1.ReasonAttaching, "pool %s is looked for once its network devices are attached; the condition DevicesAttached says what is missing", name)
	}
	known := knownGUID(s)
	step, candidates := importable(name, known, seen)
	switch {
	case candidates > 0:
		return step
	case known != "":
		return invalid(v1alpha1.ReasonPoolLost, "pool %s (GUID %s) was on this node and is gone, and no device carries it; it is not made anew: attach its devices again, or list %[2]s in pool.abandonedGUIDs of the profile once nothing of it is needed", name, known)
	case seen.Network != nil:
		return networkCreation(s, seen)
	case s.Spec.Pool.Create == nil:
		return wait(v1alpha1.ReasonPoolNotFound, "the node has no pool %s, imported or importable; create it with zpool create, attach its devices, or declare spec.zfsLocalPV.pool.create in the profile", name)
	}
	return creation(s, seen)
}

// MayCreate says that the pool could be made: it is declared, it was never there, and
// none of its name can be imported. Only then is it worth to look at devices.
func MayCreate(s *v1alpha1.PgNodeStorage, seen Seen) bool {
	_, candidates := importable(s.Spec.Pool.Name, knownGUID(s), seen)
	declared := s.Spec.Pool.Create != nil || seen.Network != nil && seen.Network.Complete()
	return declared && candidates == 0 && knownGUID(s) == ""
}

// WithKnownPool returns the PgNodeStorage with a status that knows the pool of the node:
// the one that status has shown, else that of spec.pool.guid, else the first of those
// that the node has recorded. Pools that are abandoned are not known.
func WithKnownPool(s *v1alpha1.PgNodeStorage, recorded ...string) *v1alpha1.PgNodeStorage {
	abandoned := func(guid string) bool {
		return slices.Contains(s.Spec.Pool.AbandonedGUIDs, v1alpha1.PoolGUID(guid))
	}
	if shown := knownGUID(s); shown != "" && !abandoned(shown) {
		return s
	}
	out := s.DeepCopy()
	if knownGUID(s) != "" {
		out.Status.Pool = nil
	}
	for _, guid := range append([]string{string(s.Spec.Pool.GUID)}, recorded...) {
		if guid != "" && !abandoned(guid) {
			out.Status.Pool = &v1alpha1.ObservedPool{Name: s.Spec.Pool.Name, GUID: guid}
			break
		}
	}
	return out
}

// knownGUID of the pool that status has shown.
func knownGUID(s *v1alpha1.PgNodeStorage) string {
	if s.Status.Pool == nil {
		return ""
	}
	return s.Status.Pool.GUID
}

func imported(s *v1alpha1.PgNodeStorage, seen Seen) PoolStep {
	name, guid := s.Spec.Pool.Name, seen.Pool["guid"].Value
	if known := knownGUID(s); replaced(s, seen) {
		return invalid(v1alpha1.ReasonPoolReplaced, "the imported pool %s has GUID %s, but the pool of this node had %s; export the wrong one and import the right one by GUID, or list %[3]s in pool.abandonedGUIDs of the profile to adopt the new one", name, guid, known)
	}
	const c = v1alpha1.ConditionPoolReady
	switch seen.health() {
	case zfs.Suspended:
		if seen.Network != nil {
			return invalid(v1alpha1.ReasonPoolSuspended, "pool %s is suspended: all I/O to it waits, until the node is restarted. Do not run zpool clear: the condition DevicesAttached says what became of its devices. ZFS says: %s", name, said(seen.Status))
		}
		return invalid(v1alpha1.ReasonPoolSuspended, "pool %s is suspended: all I/O to it waits. ZFS says: %s Bring its devices back, then run zpool clear %s on the node", name, said(seen.Status), name)
	case zfs.Online, zfs.Degraded:
		if seen.Network.Stalls() {
			return wait(v1alpha1.ReasonStoreUnavailable, "pool %s is imported, and requests to it wait: the condition DevicesAttached says for what", name)
		}
		return PoolStep{Outcome: outcome.DoneWith(c, v1alpha1.ReasonPoolOnline, fmt.Sprintf("pool %s is imported, %s", name, seen.health()))}
	}
	return invalid(v1alpha1.ReasonPoolUnhealthy, "pool %s is %s. ZFS says: %s", name, seen.health(), said(seen.Status))
}

// replaced says that the imported pool is another one of the known pool's name.
func replaced(s *v1alpha1.PgNodeStorage, seen Seen) bool {
	known := knownGUID(s)
	return seen.Pool != nil && known != "" && known != seen.Pool["guid"].Value
}

// importable finds the pool among those that are not imported. A known pool is
// told by its GUID, so that another one of its name is never taken for it.
func importable(name, known string, seen Seen) (step PoolStep, candidates int) {
	found, others := named(name, known, seen)
	switch {
	case len(found)+len(others) == 0:
		return PoolStep{}, 0
	case len(found) == 0:
		return invalid(v1alpha1.ReasonLayoutDiffers, "a pool %s (GUID %d) was found on devices that are none of the network devices, and is not imported; destroy or rename it if nothing of it is needed (zpool import %d NEWNAME), or name another pool in a new profile", name, others[0].GUID, others[0].GUID), 1
	case len(found) == 1:
		return importOne(name, found[0], seen), 1
	}
	var guids []string
	for _, p := range found {
		guids = append(guids, strconv.FormatUint(p.GUID, 10))
	}
	return invalid(v1alpha1.ReasonPoolAmbiguous, "%d pools named %s can be imported (GUIDs %s); import the right one with zpool import GUID on the node, or detach the devices of the others", len(found), name, strings.Join(guids, ", ")), len(found)
}

// named pools, or the known one: found on the node's devices, or where there are network
// devices on these; the others are elsewhere.
func named(name, known string, seen Seen) (found, others []zfs.Importable) {
	for _, p := range seen.Importable {
		switch {
		case p.Name != name || known != "" && known != strconv.FormatUint(p.GUID, 10):
		case seen.Network != nil && !seen.Network.carries(p):
			others = append(others, p)
		default:
			found = append(found, p)
		}
	}
	return found, others
}

func importOne(name string, p zfs.Importable, seen Seen) PoolStep {
	if p.State != zfs.Online && p.State != zfs.Degraded {
		return invalid(v1alpha1.ReasonPoolUnhealthy, "pool %s can be imported only in state %s. ZFS says: %s", name, p.State, said(zfs.Status{Explanation: p.Explanation, Action: p.Action}))
	}
	step := wait(v1alpha1.ReasonImportingPool, "pool %s (GUID %d) is being imported", name, p.GUID)
	if p.Foreign() && seen.Network.MayTakeOver(p) {
		step = wait(v1alpha1.ReasonImportingPool, "pool %s (GUID %d) is being taken over from another machine, which had it last and can write to its stores no more", name, p.GUID)
		step.TakeOver = true
	}
	step.Import = p.GUID
	return step
}

func creation(s *v1alpha1.PgNodeStorage, seen Seen) PoolStep {
	layout, problem := NewLayout(s.Spec.Pool, seen)
	if problem != nil {
		return PoolStep{Outcome: *problem}
	}
	step := wait(v1alpha1.ReasonCreatingPool, "pool %s is being made of %s", s.Spec.Pool.Name, strings.Join(devicesOf(layout.Spec), ", "))
	step.Create = &layout
	return step
}

func devicesOf(p zfs.PoolSpec) []string {
	var out []string
	for _, vdevs := range [][]zfs.Vdev{p.Vdevs, p.Special, p.Logs} {
		for _, v := range vdevs {
			out = append(out, v.Devices...)
		}
	}
	return append(out, p.Caches...)
}

// said by ZFS of a pool, in one line.
func said(s zfs.Status) string {
	return strings.Join(strings.Fields(s.Explanation+" "+s.Action), " ")
}

func wait(reason, format string, args ...any) PoolStep {
	return PoolStep{Outcome: outcome.WaitFor(v1alpha1.ConditionPoolReady, reason, fmt.Sprintf(format, args...))}
}

func invalid(reason, format string, args ...any) PoolStep {
	return PoolStep{Outcome: outcome.InvalidBecause(v1alpha1.ConditionPoolReady, reason, fmt.Sprintf(format, args...))}
}
