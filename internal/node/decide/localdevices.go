package decide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

// LocalStep changes the caches and logs that a pool on network devices has on disks of
// its node: at most one of its members is set, besides Wipe.
type LocalStep struct {
	// Remove vdevs by their name in zpool status.
	Remove []string
	// Wipe devices before they are added.
	Wipe []string
	// Caches and Log to add. Two devices of a log are mirrored.
	Caches, Log []string
	// Problem is why a device cannot be added, as the condition DevicesHealthy.
	Problem *outcome.Outcome
}

// None says that nothing is to be done.
func (l LocalStep) None() bool { return len(l.Remove)+len(l.Caches)+len(l.Log) == 0 }

// LocalDevices decides about caches and logs. A vdev goes before another one comes.
func LocalDevices(s *v1alpha1.PgNodeStorage, seen Seen) LocalStep {
	remove, caches, logs := localChanges(s, seen)
	if len(remove) > 0 {
		return LocalStep{Remove: remove}
	}
	guard := layouter{seen: seen, taken: map[string]bool{}}
	step := LocalStep{}
	for _, part := range []struct {
		field   string
		devices []v1alpha1.ZFSDevice
		into    *[]string
	}{{"l2arc", caches, &step.Caches}, {"slog", logs, &step.Log}} {
		for _, device := range part.devices {
			if problem := guard.name(part.field, device); problem != nil {
				problem.Condition = v1alpha1.ConditionDevicesHealthy
				return LocalStep{Problem: problem}
			}
			*part.into = append(*part.into, device.Path)
		}
	}
	step.Wipe = guard.wipe
	if len(step.Caches) > 0 {
		step.Log = nil // with the next pass
	}
	return step
}

// LocalCandidates are the devices that are to be added, whose contents decide.
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
			if v.Type == "indirect" { // what is left of a log that was removed
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

// isLocal says that a disk of the pool is the one at a path, or its partition. Of one
// that is missing ZFS may tell the path in its note only.
func isLocal(v zfs.VdevStatus, path string) bool {
	return v.Name == path || zfs.WholeDisk(v.Name) == path || strings.HasPrefix(v.Note, "was "+path)
}

// isLog says that a log stands on just these devices.
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

// networkShape of a pool's data vdevs, as shapeSeen tells them.
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

// dataShape leaves out caches and logs, which come and go.
func dataShape(s zfs.Status) []string {
	return slices.DeleteFunc(shapeSeen(s), func(v string) bool { return !strings.HasPrefix(v, string(zfs.Data)+" ") })
}
