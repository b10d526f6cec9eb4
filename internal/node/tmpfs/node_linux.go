package tmpfs

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// enter moves the calling goroutine into a mount namespace, whose root becomes its root. The
// goroutine keeps its thread and never unlocks it, so the thread ends with the goroutine.
func enter(namespace string) error {
	runtime.LockOSThread()
	f, err := os.Open(namespace)
	if err != nil {
		return fmt.Errorf("mount namespace of the node: %w", err)
	}
	defer f.Close() //nolint:errcheck // read-only
	// The kernel lets only a thread with its own root and working directory in.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("enter the mount namespace of the node: %w", err)
	}
	unix.Umask(0o022)
	return nil
}

// mounts of the namespace of this thread. /proc/self would be those of the process.
func mounts() ([]mount, error) {
	text, err := os.ReadFile("/proc/thread-self/mountinfo")
	if err != nil {
		return nil, err
	}
	return parseMountinfo(string(text))
}

func list(profile string) (Seen, error) {
	all, err := mounts()
	if err != nil {
		return Seen{}, err
	}
	swaps, err := os.ReadFile("/proc/swaps")
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a kernel without swap has no such file
		return Seen{}, err
	}
	out := Seen{Swap: hasSwap(string(swaps))}
	for place, m := range at(all, profile) {
		one, err := inspect(place, m)
		if err != nil {
			return Seen{}, err
		}
		one.Elsewhere = elsewhere(all, m)
		out.Mounts = append(out.Mounts, one)
	}
	slices.SortFunc(out.Mounts, func(a, b Mount) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func inspect(place Place, m mount) (Mount, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(m.point, &s); err != nil {
		return Mount{}, fmt.Errorf("statfs of %s: %w", m.point, err)
	}
	entries, err := os.ReadDir(m.point)
	if err != nil {
		return Mount{}, err
	}
	block := uint64(s.Bsize) //nolint:gosec // G115: the size of a page
	return Mount{
		Place: place, Incarnation: incarnationOf(entries), Empty: len(entries) == 0,
		Size: s.Blocks * block, Used: (s.Blocks - s.Bfree) * block, NoSwap: hasOption(m.options, noSwap),
	}, nil
}

// incarnationOf returns the name of the only folder whose name is that of an incarnation.
func incarnationOf(entries []fs.DirEntry) string {
	found := ""
	for _, e := range entries {
		switch {
		case !e.IsDir() || !incarnation.MatchString(e.Name()):
		case found != "":
			return ""
		default:
			found = e.Name()
		}
	}
	return found
}

func mountVolume(v Volume) error {
	dir, err := v.Dir()
	if err != nil {
		return err
	}
	if v.Bytes == 0 {
		return errors.New("it has no size") // the kernel takes 0 for unlimited
	}
	all, err := mounts()
	if err != nil {
		return err
	}
	if there := top(all, dir); there != nil {
		return fmt.Errorf("a file system of type %s is mounted at %s", there.kind, dir)
	}
	if err := makeFolders(dir); err != nil {
		return err
	}
	if err := mountAt(dir, v.options()); err != nil {
		return fmt.Errorf("mount %s: %w", dir, err)
	}
	id := make([]byte, 8)
	rand.Read(id) // it never fails
	return os.Mkdir(path.Join(dir, hex.EncodeToString(id)), 0o700)
}

// mountAt mounts a tmpfs without swap, or where the kernel does not know noswap, with it.
func mountAt(dir, options string) error {
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	err := unix.Mount("pgstorage", dir, "tmpfs", flags, options+","+noSwap)
	if errors.Is(err, unix.EINVAL) {
		err = unix.Mount("pgstorage", dir, "tmpfs", flags, options)
	}
	return err
}

// makeFolders creates the folders below /run. One that is a link is an error: mount(2) would
// follow it out of the folder.
func makeFolders(dir string) error {
	at := "/run"
	for part := range strings.SplitSeq(strings.TrimPrefix(dir, at+"/"), "/") {
		at = path.Join(at, part)
		if err := os.Mkdir(at, 0o755); err != nil && !errors.Is(err, fs.ErrExist) { //nolint:gosec // G301: the kubelet and containers pass through it
			return err
		}
		info, err := os.Lstat(at)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is not a folder", at)
		}
	}
	return nil
}

func unmount(p Place) error {
	dir, err := p.Dir()
	if err != nil {
		return err
	}
	all, err := mounts()
	if err != nil {
		return err
	}
	m := top(all, dir)
	switch {
	case m == nil:
	case m.kind != "tmpfs":
		return fmt.Errorf("a file system of type %s is mounted at %s", m.kind, dir)
	default:
		// To the kernel, a pod with a folder of the tmpfs does not use this mount of it.
		if others := elsewhere(all, *m); len(others) > 0 {
			return fmt.Errorf("%w: also mounted at %s", ErrInUse, strings.Join(others, ", "))
		}
		if err := unmountAt(dir); err != nil {
			return err
		}
	}
	return removeFolders(dir)
}

func unmountAt(dir string) error {
	err := unix.Unmount(dir, unix.UMOUNT_NOFOLLOW)
	if errors.Is(err, unix.EBUSY) {
		return fmt.Errorf("%w: a process has a file of it open", ErrInUse)
	}
	return err
}

// removeFolders removes the mount point, and the folder of the profile if it is empty. The
// kernel then also detaches the copies of the mount in other mount namespaces. Without that, a
// container that has / of the node would keep the memory of the volume.
func removeFolders(dir string) error {
	err := unix.Rmdir(dir)
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	_ = unix.Rmdir(path.Dir(dir)) // other volumes may be in it
	return nil
}
