package decide

import (
	"slices"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/tmpfs"
)

// MemoryDecision is what a pass found of a profile's volumes in memory, and what it does next.
type MemoryDecision struct {
	// Mount lists the declared volumes that never had a tmpfs.
	Mount []tmpfs.Volume
	// Unmount lists what is mounted and not declared. It also has half-made mounts without
	// any contents, which the next pass mounts again.
	Unmount []tmpfs.Place
	// InUse lists what would be in Unmount if no pod used it.
	InUse []tmpfs.Mount
	// Lost lists declared volumes whose tmpfs is gone. The agent mounts none in their place.
	Lost []LostVolume
	// HalfMade lists declared volumes whose tmpfs is not one of the agent, and is not empty.
	HalfMade []tmpfs.Mount
	// Refused lists volumes whose name cannot be that of a folder.
	Refused []string
	// Mounted lists the declared volumes that have their tmpfs.
	Mounted []tmpfs.Mount
	// Swap is true if the node has swap.
	Swap bool
}

// LostVolume is a declared volume without its tmpfs. Found is what is mounted there, or nil.
type LostVolume struct {
	Name  string
	Found *tmpfs.Mount
}

// MemoryDecisionFor decides about the volumes in memory of s. The agent never mounts a tmpfs
// in place of one that the spec identifies, and never unmounts a declared one with contents.
func MemoryDecisionFor(s *v1alpha1.PgNodeStorage, seen tmpfs.Seen) MemoryDecision {
	d := MemoryDecision{Swap: seen.Swap}
	mounted := map[string]tmpfs.Mount{}
	for _, m := range seen.Mounts {
		mounted[m.Name] = m
		if !declaresVolume(s, m.Name) {
			d.undeclared(m)
		}
	}
	for _, v := range s.Spec.Memory.Volumes {
		place := tmpfs.Place{Profile: s.Spec.Profile, Name: v.Name}
		m, is := mounted[v.Name]
		switch {
		case is && v.Incarnation != "":
			d.identified(v, m)
		case is:
			d.found(m)
		case v.Incarnation != "":
			d.Lost = append(d.Lost, LostVolume{Name: v.Name})
		default:
			d.absent(place, v)
		}
	}
	return d
}

func declaresVolume(s *v1alpha1.PgNodeStorage, name string) bool {
	return slices.ContainsFunc(s.Spec.Memory.Volumes, func(v v1alpha1.NodeMemoryVolume) bool { return v.Name == name })
}

// undeclared decides about a mount that is not declared any more.
func (d *MemoryDecision) undeclared(m tmpfs.Mount) {
	if len(m.Elsewhere) > 0 {
		d.InUse = append(d.InUse, m)
		return
	}
	d.Unmount = append(d.Unmount, m.Place)
}

// identified decides about a mount where the spec says which one it must be.
func (d *MemoryDecision) identified(v v1alpha1.NodeMemoryVolume, m tmpfs.Mount) {
	if m.Incarnation == v.Incarnation {
		d.Mounted = append(d.Mounted, m)
		return
	}
	d.Lost = append(d.Lost, LostVolume{Name: v.Name, Found: &m})
}

// found decides about a mount that the spec does not identify yet.
func (d *MemoryDecision) found(m tmpfs.Mount) {
	switch {
	case m.Incarnation != "":
		d.Mounted = append(d.Mounted, m)
	case m.Empty:
		d.Unmount = append(d.Unmount, m.Place)
	default:
		d.HalfMade = append(d.HalfMade, m)
	}
}

// absent decides about a volume that never had a tmpfs.
func (d *MemoryDecision) absent(place tmpfs.Place, v v1alpha1.NodeMemoryVolume) {
	bytes := v.Size.Value()
	if _, err := place.Dir(); err != nil || bytes <= 0 {
		d.Refused = append(d.Refused, v.Name)
		return
	}
	d.Mount = append(d.Mount, tmpfs.Volume{Place: place, Bytes: uint64(bytes)})
}

// None reports whether nothing is due.
func (d MemoryDecision) None() bool { return len(d.Mount)+len(d.Unmount) == 0 }
