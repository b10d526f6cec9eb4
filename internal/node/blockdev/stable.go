package blockdev

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// linkDirs hold links of udev to devices, the better ones first.
var linkDirs = []string{"dev/disk/by-id", "dev/disk/by-path"}

// preferred links by how they begin, the best first: what the maker made unique, then
// model and serial number, then the slot.
var preferred = []string{
	"/dev/disk/by-id/wwn-", "/dev/disk/by-id/nvme-eui.", "/dev/disk/by-id/nvme-uuid.",
	"/dev/disk/by-id/virtio-", "/dev/disk/by-id/nvme-", "/dev/disk/by-id/ata-", "/dev/disk/by-id/scsi-",
	"/dev/disk/by-id/md-uuid-", "/dev/disk/by-id/dm-uuid-", "/dev/disk/by-id/", "/dev/disk/by-path/",
}

// passing links are named by what was written on the device, or by an administrator.
var passing = []string{"/dev/disk/by-id/lvm-pv-uuid-", "/dev/disk/by-id/dm-name-", "/dev/disk/by-id/md-name-"}

// attached devices have a number that the attaching program chose.
var attached = []string{"/dev/nbd", "/dev/loop"}

// links to each device, by its kernel name.
func (c *Client) links() (map[string][]string, error) {
	all := map[string][]string{}
	for _, dir := range linkDirs {
		entries, err := fs.ReadDir(c.FS, dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a node without such a disk
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			link := path.Join(dir, e.Name())
			target, err := fs.ReadLink(c.FS, link)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
				continue // gone since, or no link
			}
			if err != nil {
				return nil, err
			}
			if !path.IsAbs(target) {
				target = path.Join("/", dir, target)
			}
			all[target] = append(all[target], "/"+link)
		}
	}
	return all, nil
}

// stablePath is the best of the links; of equals the shortest, then the first by name.
// A device without links has none, except where its kernel name was chosen.
func stablePath(kernel string, links []string) string {
	best := slices.Clone(links)
	best = slices.DeleteFunc(best, func(l string) bool { return hasPrefix(l, passing) >= 0 || hasPrefix(l, preferred) < 0 })
	if len(best) == 0 {
		if hasPrefix(kernel, attached) >= 0 {
			return kernel
		}
		return ""
	}
	return slices.MinFunc(best, func(a, b string) int {
		return cmp.Or(
			cmp.Compare(hasPrefix(a, preferred), hasPrefix(b, preferred)),
			cmp.Compare(len(a), len(b)),
			strings.Compare(a, b),
		)
	})
}

// NamesOneDisk reports whether a path is udev's name of one disk, by what its maker wrote into
// it. A by-path name is that of a slot. The other names come from data on a disk, which a copy
// of the disk has too.
func NamesOneDisk(path string) bool {
	return strings.HasPrefix(path, "/dev/disk/by-id/") && hasPrefix(path, passing) < 0
}

// hasPrefix gives the first of the prefixes that s has, or -1.
func hasPrefix(s string, prefixes []string) int {
	return slices.IndexFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

func validPath(device string) error {
	if !strings.HasPrefix(device, "/dev/") || path.Clean(device) != device || strings.ContainsAny(device, " \t\n\x00") {
		return fmt.Errorf("%w: device %q; name it by its full path below /dev", ErrInvalid, device)
	}
	return nil
}
