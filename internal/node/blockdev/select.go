package blockdev

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Criteria by which disks are chosen; the zero value of each chooses all.
type Criteria struct {
	// MinSize and MaxSize in bytes, both included.
	MinSize, MaxSize uint64
	// Model is a pattern with *, ? and [...], of the whole model.
	Model string
	// Transport such as nvme, sata or virtio.
	Transport string
	// Rotational or not.
	Rotational *bool
	// BlankOnly leaves out what lsblk shows to hold something. It is a first choice, by
	// what udev knew; only Client.Blank proves that a device is blank.
	BlankOnly bool
}

// Select the whole disks that can be written, have a stable link and meet all criteria,
// sorted by their paths. So none is chosen that another program made, as zvols, RBD and
// NBD devices: those are named. ErrInvalid for a pattern that is none.
func Select(devices []Device, c Criteria) ([]Device, error) {
	if _, err := path.Match(c.Model, ""); err != nil {
		return nil, fmt.Errorf("%w: model pattern %q: %w", ErrInvalid, c.Model, err)
	}
	if c.MaxSize > 0 && c.MinSize > c.MaxSize {
		return nil, fmt.Errorf("%w: sizes from %d to %d bytes; no disk has one", ErrInvalid, c.MinSize, c.MaxSize)
	}
	var out []Device
	for _, d := range devices {
		if usable(d) && c.meets(d) {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b Device) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

func usable(d Device) bool {
	return d.Type == "disk" && strings.HasPrefix(d.Path, "/dev/disk/") && d.Size > 0 && !d.ReadOnly
}

func (c Criteria) meets(d Device) bool {
	switch {
	case d.Size < c.MinSize, c.MaxSize > 0 && d.Size > c.MaxSize:
		return false
	case c.Model != "" && !matches(c.Model, d.Model):
		return false
	case c.Transport != "" && c.Transport != d.Transport:
		return false
	case c.Rotational != nil && *c.Rotational != d.Rotational:
		return false
	}
	return !c.BlankOnly || looksBlank(d)
}

func looksBlank(d Device) bool {
	return len(d.Children) == 0 && len(d.Mountpoints) == 0 && d.FSType == "" && d.PartitionTable == ""
}

// matches as path.Match, to which a slash is special and in a model is not.
func matches(pattern, model string) bool {
	flat := strings.NewReplacer("/", "\x01")
	ok, err := path.Match(flat.Replace(pattern), flat.Replace(model))
	return err == nil && ok
}
