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

// PoolDecision is what the agent does next about the pool: it imports one, creates one,
// or does neither.
type PoolDecision struct {
	// Import is the GUID of the pool to import, or 0. With TakeOver the import is forced,
	// because another machine imported the pool last.
	Import   uint64
	TakeOver bool
	// Create is the pool to create, or nil.
	Create *Layout
	// Outcome is the condition PoolReady, before the import or creation.
	Outcome outcome.Outcome
}

// Pool decides about the pool. The agent never creates a pool again that the node once
// had: a user decides what becomes of a lost one.
func Pool(s *v1alpha1.PgNodeStorage, seen Seen) PoolDecision {
	name := s.Spec.Pool.Name
	if !seen.Loaded {
		return wait(v1alpha1.ReasonZFSNotLoaded, msgZFSNotLoaded)
	}
	if seen.Pool != nil {
		return imported(s, seen)
	}
	if seen.Network != nil && !seen.Network.Complete() {
		return wait(v1alpha1.ReasonAttaching, msgPoolNeedsDevices, name)
	}
	known := knownGUID(s)
	decision, candidates := importable(name, known, seen)
	switch {
	case candidates > 0:
		return decision
	case known != "":
		return invalid(v1alpha1.ReasonPoolLost, msgPoolLost, name, known)
	case seen.Network != nil:
		return networkCreation(s, seen)
	case s.Spec.Pool.Create == nil:
		return wait(v1alpha1.ReasonPoolNotFound, msgPoolNotFound, name)
	}
	return creation(s, seen)
}

// MayCreate reports whether the pool may be created. The profile must declare it, the node must
// never have had it, and no pool of its name may be importable. Only then the agent probes the
// contents of devices.
func MayCreate(s *v1alpha1.PgNodeStorage, seen Seen) bool {
	_, candidates := importable(s.Spec.Pool.Name, knownGUID(s), seen)
	declared := s.Spec.Pool.Create != nil || seen.Network != nil && seen.Network.Complete()
	return declared && candidates == 0 && knownGUID(s) == ""
}

// WithKnownPool returns s with the pool of the node in its status. That is the pool that the
// status already shows, else spec.pool.guid, else the first GUID that the node recorded.
// Abandoned pools do not count.
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

// knownGUID is the GUID of the pool in the status, or empty.
func knownGUID(s *v1alpha1.PgNodeStorage) string {
	if s.Status.Pool == nil {
		return ""
	}
	return s.Status.Pool.GUID
}

func imported(s *v1alpha1.PgNodeStorage, seen Seen) PoolDecision {
	name, guid := s.Spec.Pool.Name, seen.Pool["guid"].Value
	if known := knownGUID(s); replaced(s, seen) {
		return invalid(v1alpha1.ReasonPoolReplaced, msgPoolReplaced, name, guid, known)
	}
	const c = v1alpha1.ConditionPoolReady
	switch seen.health() {
	case zfs.Suspended:
		if seen.Network != nil {
			return invalid(v1alpha1.ReasonPoolSuspended, msgPoolSuspendedNet, name, said(seen.Status))
		}
		return invalid(v1alpha1.ReasonPoolSuspended, msgPoolSuspended, name, said(seen.Status), name)
	case zfs.Online, zfs.Degraded:
		if seen.Network.Stalls() {
			return wait(v1alpha1.ReasonStoreUnavailable, msgPoolStalls, name)
		}
		return PoolDecision{Outcome: outcome.DoneWith(c, v1alpha1.ReasonPoolOnline, fmt.Sprintf(msgPoolOnline, name, seen.health()))}
	}
	return invalid(v1alpha1.ReasonPoolUnhealthy, msgPoolUnhealthy, name, seen.health(), said(seen.Status))
}

// replaced reports whether another pool with the name of the known one is imported.
func replaced(s *v1alpha1.PgNodeStorage, seen Seen) bool {
	known := knownGUID(s)
	return seen.Pool != nil && known != "" && known != seen.Pool["guid"].Value
}

// importable finds the pool among those that are not imported. It identifies a known
// pool by its GUID, and so never imports another one of its name.
func importable(name, known string, seen Seen) (decision PoolDecision, candidates int) {
	found, others := named(name, known, seen)
	switch {
	case len(found)+len(others) == 0:
		return PoolDecision{}, 0
	case len(found) == 0:
		return invalid(v1alpha1.ReasonLayoutDiffers, msgPoolOnOtherDisks, name, others[0].GUID), 1
	case len(found) == 1:
		return importOne(name, found[0], seen), 1
	}
	var guids []string
	for _, p := range found {
		guids = append(guids, strconv.FormatUint(p.GUID, 10))
	}
	return invalid(v1alpha1.ReasonPoolAmbiguous, msgPoolAmbiguous, len(found), name, strings.Join(guids, ", ")), len(found)
}

// named returns the known pool, or all pools of the name. With network devices, only
// pools on these count as found; the others are elsewhere.
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

func importOne(name string, p zfs.Importable, seen Seen) PoolDecision {
	if p.State != zfs.Online && p.State != zfs.Degraded {
		return invalid(v1alpha1.ReasonPoolUnhealthy, msgPoolImportState, name, p.State, said(zfs.Status{Explanation: p.Explanation, Action: p.Action}))
	}
	decision := wait(v1alpha1.ReasonImportingPool, msgImporting, name, p.GUID)
	if p.Foreign() && seen.Network.MayTakeOver(p) {
		decision = wait(v1alpha1.ReasonImportingPool, msgTakingOver, name, p.GUID)
		decision.TakeOver = true
	}
	decision.Import = p.GUID
	return decision
}

func creation(s *v1alpha1.PgNodeStorage, seen Seen) PoolDecision {
	layout, problem := NewLayout(s.Spec.Pool, seen)
	if problem != nil {
		return PoolDecision{Outcome: *problem}
	}
	decision := wait(v1alpha1.ReasonCreatingPool, msgCreating, s.Spec.Pool.Name, strings.Join(devicesOf(layout.Spec), ", "))
	decision.Create = &layout
	return decision
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

// said is what ZFS says about a pool, in one line.
func said(s zfs.Status) string {
	return strings.Join(strings.Fields(s.Explanation+" "+s.Action), " ")
}

func wait(reason, format string, args ...any) PoolDecision {
	return PoolDecision{Outcome: outcome.WaitFor(v1alpha1.ConditionPoolReady, reason, fmt.Sprintf(format, args...))}
}

func invalid(reason, format string, args ...any) PoolDecision {
	return PoolDecision{Outcome: outcome.InvalidBecause(v1alpha1.ConditionPoolReady, reason, fmt.Sprintf(format, args...))}
}
