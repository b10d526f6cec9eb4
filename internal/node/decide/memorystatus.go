package decide

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/tmpfs"
)

// maxMemoryVolumes is what the status lists at most, as the schema bounds it.
const maxMemoryVolumes = 512

// MemoryStatus returns what was read back of volumes in memory. It lists the declared volumes
// that are mounted or lost, and then the mounts that are not declared any more. A volume that
// waits for its first tmpfs is not in it.
func MemoryStatus(s *v1alpha1.PgNodeStorage, seen tmpfs.Seen, d MemoryDecision) v1alpha1.PgNodeStorageStatus {
	last := map[string]v1alpha1.ObservedMemoryVolume{}
	if s.Status.Memory != nil {
		for _, v := range s.Status.Memory.Volumes {
			last[v.Name] = v
		}
	}
	var declared, others []v1alpha1.ObservedMemoryVolume
	lost := map[string]bool{}
	for _, l := range d.Lost {
		lost[l.Name] = true
		declared = append(declared, lostVolume(l, d.Swap, last[l.Name]))
	}
	for _, m := range seen.Mounts {
		switch is := declaresVolume(s, m.Name); {
		case lost[m.Name], m.Incarnation == "":
		case is:
			declared = append(declared, mountedVolume(m, d.Swap, last[m.Name]))
		default:
			others = append(others, mountedVolume(m, d.Swap, last[m.Name]))
		}
	}
	return v1alpha1.PgNodeStorageStatus{
		ObservedGeneration: s.Generation,
		Memory:             &v1alpha1.ObservedMemory{Volumes: first(append(inOrder(s, declared), others...), maxMemoryVolumes)},
	}
}

// inOrder sorts observed volumes as the spec declares them.
func inOrder(s *v1alpha1.PgNodeStorage, observed []v1alpha1.ObservedMemoryVolume) []v1alpha1.ObservedMemoryVolume {
	byName := map[string]v1alpha1.ObservedMemoryVolume{}
	for _, v := range observed {
		byName[v.Name] = v
	}
	var out []v1alpha1.ObservedMemoryVolume
	for _, v := range s.Spec.Memory.Volumes {
		if o, is := byName[v.Name]; is {
			out = append(out, o)
		}
	}
	return out
}

func mountedVolume(m tmpfs.Mount, swap bool, last v1alpha1.ObservedMemoryVolume) v1alpha1.ObservedMemoryVolume {
	if last.Incarnation != m.Incarnation {
		last = v1alpha1.ObservedMemoryVolume{}
	}
	out := v1alpha1.ObservedMemoryVolume{
		Name: m.Name, State: v1alpha1.MemoryVolumeMounted, Incarnation: m.Incarnation, Path: m.Path(),
		Size: amount(m.Size), Used: settle(last.Used, m.Used, m.Size), Swap: v1alpha1.SwapPossible,
	}
	if m.NoSwap || !swap {
		out.Swap = v1alpha1.SwapNever
	}
	return out
}

// lostVolume has no path, because no pod must start on what is mounted in place of a volume.
func lostVolume(l LostVolume, swap bool, last v1alpha1.ObservedMemoryVolume) v1alpha1.ObservedMemoryVolume {
	out := v1alpha1.ObservedMemoryVolume{Name: l.Name}
	if l.Found != nil {
		out = mountedVolume(*l.Found, swap, last)
		out.Path = ""
	}
	out.State = v1alpha1.MemoryVolumeLost
	return out
}
