package decide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

// LocalDecision is what the agent does next about caches and logs on disks of its node, for a
// pool on network devices. Besides Wipe, at most one member is set.
type LocalDecision struct {
	// Remove lists vdevs to remove, by their name in zpool status.
	Remove []string
	// Wipe lists devices to wipe before they are added.
	Wipe []string
	// Caches and Log list devices to add. Two devices of a log form a mirror.
	Caches, Log []string
	// Problem is the condition DevicesHealthy where a device cannot be added, or nil.
	Problem *outcome.Outcome
}

// None reports whether there is nothing to do.
func (l LocalDecision) None() bool { return len(l.Remove)+len(l.Caches)+len(l.Log) == 0 }

// LocalDevices decides about caches and logs. It removes a vdev before it adds another.
func LocalDevices(s *v1alpha1.PgNodeStorage, seen Seen) LocalDecision {
	remove, caches, logs := localChanges(s, seen)
	if len(remove) > 0 {
		return LocalDecision{Remove: remove}
	}
	guard := layouter{seen: seen, taken: map[string]bool{}}
	decision := LocalDecision{}
	for _, part := range []struct {
		field   string
		devices []v1alpha1.ZFSDevice
		into    *[]string
	}{{"l2arc", caches, &decision.Caches}, {"slog", logs, &decision.Log}} {
		for _, device := range part.devices {
			if problem := guard.name(part.field, device); problem != nil {
				problem.Condition = v1alpha1.ConditionDevicesHealthy
				return LocalDecision{Problem: problem}
			}
			*part.into = append(*part.into, device.Path)
		}
	}
	decision.Wipe = guard.wipe
	if len(decision.Caches) > 0 {
		decision.Log = nil // with the next pass
	}
	return decision
}

// LocalCandidates returns the paths of devices to add, whose contents decide.
func LocalCandidates(s *v1alpha1.PgNodeStorage, seen Seen) []string {
	_, caches, logs := localChanges(s, seen)
	var out []string
	for _, d := range slices.Concat(caches, logs) {
		out = append(out, d.Path)
	}
	return out
}

func localChanges(s *v1alpha1.PgNodeStorage, seen Seen) (remove []string, caches, logs []v1alpha1.ZFSDevice) {
	if s.Spec.NetworkDevices == nil || seen.Pool == nil || !seen.Serves() {
		return nil, nil, nil
	}
	caches, logs = slices.Clone(s.Spec.NetworkDevices.Caches), slices.Clone(s.Spec.NetworkDevices.Logs)
	for _, v := range seen.Status.Vdevs {
		switch v.Class {
		case zfs.Cache:
			i := slices.IndexFunc(caches, func(d v1alpha1.ZFSDevice) bool { return isLocal(v, d.Path) })
			if i < 0 {
				remove = append(remove, v.Name)
				continue
			}
			caches = slices.Delete(caches, i, i+1)
		case zfs.Logs:
			if v.Type == "indirect" { // the remains of a log that was removed
				continue
			}
			if !isLog(v, s.Spec.NetworkDevices.Logs) {
				remove = append(remove, v.Name)
				continue
			}
			logs = nil
		}
	}
	return remove, caches, logs
}

// isLocal reports whether a disk of the pool is the one at a path, or its partition. For
// a missing disk ZFS may report the path only in its note.
func isLocal(v zfs.VdevStatus, path string) bool {
	return v.Name == path || zfs.WholeDisk(v.Name) == path || strings.HasPrefix(v.Note, "was "+path)
}

// isLog reports whether a log consists of exactly these devices.
func isLog(v zfs.VdevStatus, devices []v1alpha1.ZFSDevice) bool {
	disks := v.Disks()
	if len(disks) != len(devices) {
		return false
	}
	for _, d := range devices {
		if !slices.ContainsFunc(disks, func(disk zfs.VdevStatus) bool { return isLocal(disk, d.Path) }) {
			return false
		}
	}
	return true
}

// networkShape is the declared shape of a pool's data vdevs, comparable to shapeSeen.
func networkShape(d *v1alpha1.NodeNetworkDevices) []string {
	var out []string
	for range d.Exports {
		if d.Layout == v1alpha1.VdevMirror {
			out = append(out, fmt.Sprintf("data mirror of %d", len(d.Servers)))
			continue
		}
		for range d.Servers {
			out = append(out, "data disk")
		}
	}
	return out
}

// dataShape is shapeSeen without caches and logs, which may change.
func dataShape(s zfs.Status) []string {
	return slices.DeleteFunc(shapeSeen(s), func(v string) bool { return !strings.HasPrefix(v, string(zfs.Data)+" ") })
}
