package decide

import (
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/blockdev"
)

// disks of the node with a stable path, by that path.
func disks(seen Seen) []v1alpha1.ObservedDevice {
	var out []v1alpha1.ObservedDevice
	for _, d := range seen.Devices {
		if d.Type != "disk" || d.Path == "" || d.Size == 0 {
			continue
		}
		out = append(out, v1alpha1.ObservedDevice{
			Path: d.Path, Size: amount(d.Size), Model: d.Model, Transport: d.Transport,
			Rotational: map[bool]string{true: "Yes", false: "No"}[d.Rotational],
			Contents:   contents(d),
		})
	}
	slices.SortFunc(out, func(a, b v1alpha1.ObservedDevice) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// contents as lsblk shows them, in words; what else is on a device is probed only
// before it is used.
func contents(d blockdev.Device) string {
	var out []string
	if d.PartitionTable != "" {
		out = append(out, d.PartitionTable+" partition table")
	}
	for _, part := range append([]blockdev.Device{d}, d.Children...) {
		if part.FSType != "" {
			out = append(out, part.FSType)
		}
		for _, m := range part.Mountpoints {
			out = append(out, "mounted at "+m)
		}
	}
	return strings.Join(slices.Compact(out), ", ")
}
