package tmpfs

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// bytesPerInode is the ratio of ext4. The kernel needs about 1 KiB for each inode, which
	// does not count for the size. So the files of a volume need at most a sixteenth more.
	bytesPerInode = 16 << 10
	// leastInodes are enough for a small database: initdb creates about a thousand files.
	leastInodes = 4096
)

// noSwap is the option of Linux 6.4 and later.
const noSwap = "noswap"

// options for mount(2).
func (v Volume) options() string {
	return fmt.Sprintf("mode=0755,size=%d,nr_inodes=%d", v.Bytes, max(v.Bytes/bytesPerInode, leastInodes))
}

// Command is the command that would do what Mount does, for a dry run.
func (v Volume) Command() []string {
	return []string{"mount", "-t", "tmpfs", "-o", "nosuid,nodev,noexec,noswap," + v.options(), "pgstorage", Base + "/" + v.Profile + "/" + v.Name}
}

// Command is the command that would do what Unmount does, for a dry run.
func (p Place) Command() []string { return []string{"umount", Base + "/" + p.Profile + "/" + p.Name} }

// hasOption reports whether the options of a mount contain one.
func hasOption(options, one string) bool { return slices.Contains(strings.Split(options, ","), one) }
