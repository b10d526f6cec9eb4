package blockdev

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// searched are the directories with names of devices that may carry a pool on disks, the
// better ones first.
var searched = []string{"dev/disk/by-id", "dev"}

// remote devices have requests that can wait without end: for a server, for a Ceph cluster,
// or for another pool.
var remote = []string{"/dev/nbd", "/dev/rbd", "/dev/zd"}

// linksToFollow bounds links to links, which may form a ring.
const linksToFollow = 8

// Searchable returns the names in /dev/disk/by-id and /dev of all devices that may carry a
// pool on disks. It leaves out NBD and RBD devices, zvols, and whatever is on one of them,
// unless a device is named. A read of an NBD device may wait for the agent itself. The
// argument all is the result of Inventory.
func (c *Client) Searchable(all []Device, named ...string) ([]string, error) {
	s := search{named: map[string]bool{}, kept: map[string]bool{}, left: map[string]bool{}}
	for _, name := range named {
		s.named[c.target(name)] = true
	}
	s.sort(all, false, false)
	var out []string
	for _, dir := range searched {
		entries, err := fs.ReadDir(c.FS, dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			name := path.Join("/", dir, e.Name())
			if device := c.target(name); s.takes(device) && c.hasBlocks(device) {
				out = append(out, name)
			}
		}
	}
	return out, nil
}

// target returns the device that a name is a link to, or the name of a device itself.
func (c *Client) target(name string) string {
	for range linksToFollow {
		to, err := fs.ReadLink(c.FS, strings.TrimPrefix(name, "/"))
		if err != nil {
			break // it is not a link
		}
		if !path.IsAbs(to) {
			to = path.Join(path.Dir(name), to)
		}
		name = path.Clean(to)
	}
	return name
}

// hasBlocks reports whether a path is a block device. zpool import reads regular files too.
func (c *Client) hasBlocks(device string) bool {
	if !strings.HasPrefix(device, "/dev/") {
		return false
	}
	info, err := fs.Lstat(c.FS, strings.TrimPrefix(device, "/"))
	return err == nil && (info.Mode().IsRegular() || info.Mode().Type() == fs.ModeDevice)
}

// search sorts devices by their kernel names. The remote ones and what is on them are left
// out, except the named ones and what is on these. A device can be on several others.
type search struct{ named, kept, left map[string]bool }

func (s search) sort(devices []Device, kept, left bool) {
	for _, d := range devices {
		kept, left := kept || s.named[d.Kernel], left || hasPrefix(d.Kernel, remote) >= 0
		s.kept[d.Kernel] = s.kept[d.Kernel] || kept
		s.left[d.Kernel] = s.left[d.Kernel] || left && !kept
		s.sort(d.Children, kept, left)
	}
}

// takes a device by its kernel name, also one that was not in the inventory.
func (s search) takes(kernel string) bool {
	return !s.left[kernel] && (s.kept[kernel] || hasPrefix(kernel, remote) < 0)
}
