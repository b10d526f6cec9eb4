package decide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/blockdev"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

// Layout of a new pool, every device named.
type Layout struct {
	Spec zfs.PoolSpec
	// Wipe are the devices that carry something and are named with wipe: true.
	Wipe []string
}

// Candidates are the devices whose contents decide whether a pool can be made:
// those that are named, and those that a selector could choose.
func Candidates(create *v1alpha1.ZFSPoolCreate, devices []blockdev.Device) []string {
	var out []string
	for _, v := range slices.Concat(create.Vdevs, create.Logs, create.Caches, create.Special) {
		for _, d := range v.Devices {
			out = append(out, d.Path)
		}
		if v.Selector == nil {
			continue
		}
		chosen, err := blockdev.Select(devices, criteria(*v.Selector))
		if err != nil {
			continue // reported by NewLayout
		}
		for _, d := range chosen {
			out = append(out, d.Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// criteria always ask for blank devices: only one that is named can be wiped.
func criteria(s v1alpha1.ZFSDeviceSelector) blockdev.Criteria {
	c := blockdev.Criteria{Model: s.Model, Transport: s.Transport, BlankOnly: true}
	if s.MinSize != nil {
		c.MinSize = uint64(max(0, s.MinSize.Value()))
	}
	if s.MaxSize != nil {
		c.MaxSize = uint64(max(0, s.MaxSize.Value()))
	}
	return c
}

// layouter fills vdevs one after the other, each device at most once.
type layouter struct {
	seen Seen
	// taken devices, by path and by the kernel's name: a disk has several paths.
	taken map[string]bool
	wipe  []string
	// named devices are not for selectors. They are known as taken ones are.
	named map[string]bool
}

// mark a device in a set, by its path and by the kernel's name where that is known.
func (l *layouter) mark(set map[string]bool, path string) {
	set[path] = true
	if kernel := l.seen.Signatures[path].Is.Kernel; kernel != "" {
		set[kernel] = true
	}
}

// marked reports whether a device was marked, also by another path.
func (l *layouter) marked(set map[string]bool, path string) bool {
	return set[path] || set[l.seen.Signatures[path].Is.Kernel]
}

// NewLayout names the devices of a new pool, or says why there can be none yet.
func NewLayout(pool v1alpha1.NodePool, seen Seen) (Layout, *outcome.Outcome) {
	l := layouter{seen: seen, taken: map[string]bool{}, named: map[string]bool{}}
	create := pool.Create
	for _, d := range DevicesOf(create) {
		l.mark(l.named, d.Path)
	}
	spec := zfs.PoolSpec{
		Name:         pool.Name,
		Properties:   map[string]string{},
		FSProperties: map[string]string{"mountpoint": "none", "canmount": "off"},
	}
	for _, part := range []struct {
		field string
		vdevs []v1alpha1.ZFSVdev
		into  func(zfs.Vdev)
	}{
		{"vdevs", create.Vdevs, func(v zfs.Vdev) { spec.Vdevs = append(spec.Vdevs, v) }},
		{"special", create.Special, func(v zfs.Vdev) { spec.Special = append(spec.Special, v) }},
		{"logs", create.Logs, func(v zfs.Vdev) { spec.Logs = append(spec.Logs, v) }},
		{"caches", create.Caches, func(v zfs.Vdev) { spec.Caches = append(spec.Caches, v.Devices...) }},
	} {
		for i, v := range part.vdevs {
			vdev, problem := l.vdev(fmt.Sprintf("pool.create.%s[%d]", part.field, i), v)
			if problem != nil {
				return Layout{}, problem
			}
			part.into(vdev)
		}
	}
	for _, p := range pool.Properties {
		spec.Properties[p.Name] = p.Value
	}
	if create.Ashift != nil {
		spec.Properties["ashift"] = fmt.Sprint(*create.Ashift)
	}
	return Layout{Spec: spec, Wipe: l.wipe}, nil
}

func (l *layouter) vdev(field string, v v1alpha1.ZFSVdev) (zfs.Vdev, *outcome.Outcome) {
	out := zfs.Vdev{Type: string(v.Type)}
	if v.Type == v1alpha1.VdevStripe {
		out.Type = ""
	}
	for _, d := range v.Devices {
		if problem := l.name(field, d); problem != nil {
			return out, problem
		}
		out.Devices = append(out.Devices, d.Path)
	}
	if v.Selector == nil {
		return out, nil
	}
	chosen, problem := l.choose(field, *v.Selector)
	out.Devices = append(out.Devices, chosen...)
	return out, problem
}

// name takes a device by its path. One that carries anything at all is refused
// unless it is named with wipe: true, and one that is in use is refused always.
func (l *layouter) name(field string, d v1alpha1.ZFSDevice) *outcome.Outcome {
	if slices.Contains(l.seen.Missing, d.Path) {
		return refuse(v1alpha1.ReasonDeviceNotFound, outcome.Wait, msgDeviceMissing, field, d.Path)
	}
	found, probed := l.seen.Signatures[d.Path]
	if !probed {
		return refuse(v1alpha1.ReasonHostCommandFailed, outcome.Wait, msgDeviceNotRead, field, d.Path, l.seen.unreadable(d.Path))
	}
	if problem := l.unfit(field, d, found); problem != nil {
		return problem
	}
	l.mark(l.taken, d.Path)
	return nil
}

// unfit says why a device that was probed is not taken; one that may be wiped is noted.
func (l *layouter) unfit(field string, d v1alpha1.ZFSDevice, found blockdev.Signatures) *outcome.Outcome {
	switch {
	case l.taken[d.Path]:
		return refuse(v1alpha1.ReasonInvalidSpec, outcome.Invalid, msgDeviceTwice, field, d.Path)
	case l.marked(l.taken, d.Path):
		return refuse(v1alpha1.ReasonInvalidSpec, outcome.Invalid, msgDeviceTwoPaths, field, d.Path, found.Is.Kernel)
	case d.Serial != "" && !diskAt(l.seen, d.Path).is(d.Serial):
		return refuse(v1alpha1.ReasonDeviceNotFound, outcome.Wait, msgDeviceSerial, field, d.Path, diskAt(l.seen, d.Path), d.Serial)
	case found.InUse():
		return refuse(v1alpha1.ReasonDeviceNotBlank, outcome.Invalid, msgDeviceInUse, field, d.Path, found)
	case !found.Blank() && !wipes(d):
		return refuse(v1alpha1.ReasonDeviceNotBlank, outcome.Invalid, msgDeviceNotBlank, field, d.Path, found)
	case !found.Blank():
		if problem := l.mayWipe(field, d, found); problem != nil {
			return problem
		}
		l.wipe = append(l.wipe, d.Path)
	}
	return nil
}

func (l *layouter) choose(field string, s v1alpha1.ZFSDeviceSelector) ([]string, *outcome.Outcome) {
	matching, err := blockdev.Select(l.seen.Devices, criteria(s))
	if err != nil {
		return nil, refuse(v1alpha1.ReasonInvalidSpec, outcome.Invalid, msgSelector, field, err)
	}
	var out []string
	for _, d := range matching {
		found, probed := l.seen.Signatures[d.Path]
		if len(out) == int(s.Count) || l.marked(l.taken, d.Path) || l.marked(l.named, d.Path) || !probed || !found.Blank() {
			continue
		}
		l.mark(l.taken, d.Path)
		out = append(out, d.Path)
	}
	if len(out) < int(s.Count) {
		which := ""
		if len(out) > 0 {
			which = " (" + strings.Join(out, ", ") + ")"
		}
		return nil, refuse(v1alpha1.ReasonTooFewDevices, outcome.Wait, msgTooFewDevices, field, len(out), s.Count, which)
	}
	return out, nil
}

// networkCreation of a pool on devices that are all blank.
func networkCreation(s *v1alpha1.PgNodeStorage, seen Seen) PoolDecision {
	for _, d := range seen.Network.Devices {
		found, probed := seen.Signatures[d.Attached.Path]
		switch {
		case !probed:
			return wait(v1alpha1.ReasonHostCommandFailed, msgDeviceUnread, d.Attached.Path, d.Name(), seen.unreadable(d.Attached.Path))
		case !found.Blank():
			return invalid(v1alpha1.ReasonDeviceNotBlank, msgNetworkNotBlank, s.Spec.Pool.Name, d.Name(), found)
		}
	}
	spec := zfs.PoolSpec{
		Name:         s.Spec.Pool.Name,
		Vdevs:        networkVdevs(s, seen.Network.Devices),
		Properties:   map[string]string{"cachefile": "none"},
		FSProperties: map[string]string{"mountpoint": "none", "canmount": "off"},
	}
	for _, p := range s.Spec.Pool.Properties {
		spec.Properties[p.Name] = p.Value
	}
	if a := s.Spec.NetworkDevices.Ashift; a != nil {
		spec.Properties["ashift"] = fmt.Sprint(*a)
	}
	decision := wait(v1alpha1.ReasonCreatingPool, msgCreating, s.Spec.Pool.Name, strings.Join(devicesOf(spec), ", "))
	decision.Create = &Layout{Spec: spec}
	return decision
}

func refuse(reason string, kind outcome.Kind, format string, args ...any) *outcome.Outcome {
	return &outcome.Outcome{Condition: v1alpha1.ConditionPoolReady, Kind: kind, Reason: reason, Message: fmt.Sprintf(format, args...)}
}
