package tmpfs

import (
	"fmt"
	"strconv"
	"strings"
)

// mount is a line of mountinfo. Source: proc_pid_mountinfo(5).
type mount struct {
	// device is major:minor of the file system: equal for all its mounts.
	device string
	// root is the folder of the file system that is mounted at point.
	root, point string
	// options are those of the file system; the mount has more of its own.
	kind, options string
}

// parseMountinfo returns all mounts of a mount namespace, in the order in which they cover
// each other.
func parseMountinfo(text string) ([]mount, error) {
	var all []mount
	for line := range strings.Lines(text) {
		m, err := parseMount(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// parseMount parses a line such as
// "36 35 98:0 /root /mnt rw,noatime shared:1 - ext4 /dev/root rw,errors=continue".
func parseMount(line string) (mount, error) {
	// A file system may have an empty source, so fields are separated by one blank.
	before, after, found := strings.Cut(line, " - ")
	own, super := strings.Split(before, " "), strings.Split(after, " ")
	if !found || len(own) < 6 || len(super) < 3 {
		return mount{}, fmt.Errorf("unknown format of mountinfo: %q", line)
	}
	return mount{device: own[2], root: unescape(own[3]), point: unescape(own[4]), kind: super[0], options: super[len(super)-1]}, nil
}

// unescape replaces \ooo of blanks, tabs, newlines and backslashes.
func unescape(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+4 <= len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				out.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// top returns the mount that is visible at a point, or nil.
func top(all []mount, point string) *mount {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].point == point {
			return &all[i]
		}
	}
	return nil
}

// at returns the places of a profile at which a tmpfs is mounted, and the mount of each.
func at(all []mount, profile string) map[Place]mount {
	out := map[Place]mount{}
	for _, m := range all {
		name, below := strings.CutPrefix(m.point, Base+"/"+profile+"/")
		if !below || !element(name) {
			continue
		}
		if visible := top(all, m.point); visible.kind == "tmpfs" {
			out[Place{profile, name}] = *visible
		}
	}
	return out
}

// elsewhere returns the mount points of folders of the tmpfs m. Another mount of all of it is
// not one. Where the node shares /run at a second place, the kernel copies the mount there, and
// ends both together.
func elsewhere(all []mount, m mount) []string {
	var out []string
	for _, other := range all {
		if other.device == m.device && other.root != "/" {
			out = append(out, other.point)
		}
	}
	return out
}

// hasSwap reports whether the text of /proc/swaps lists one below its heading.
func hasSwap(text string) bool {
	return strings.Count(strings.TrimSpace(text), "\n") > 0
}
