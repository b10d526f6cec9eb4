package runner

import (
	"os"
	"path/filepath"
	"syscall"
)

// zfsMagic is what statfs says of a ZFS dataset (ZFS_SUPER_MAGIC).
const zfsMagic = 0x2fc12fc1

// unbuffered says whether a folder's file system writes past the page cache
// (O_DIRECT). ZFS takes the flag and, before 2.3, writes through the ARC all the same;
// it is not asked to.
func unbuffered(dir string) bool {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil || s.Type == zfsMagic {
		return false
	}
	path := filepath.Join(dir, "unbuffered")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|syscall.O_DIRECT, 0o600)
	if err != nil {
		return false
	}
	_ = f.Close()
	return os.Remove(path) == nil
}
