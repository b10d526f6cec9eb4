//go:build linux

package tmpfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// machine is a client of a mount namespace that only the test has, with an empty /run.
func machine(t *testing.T) *Client {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not root: a mount namespace of the test's own needs CAP_SYS_ADMIN")
	}
	namespace, err := privateNamespace()
	if errors.Is(err, unix.EPERM) {
		t.Skipf("this machine lets root have no mount namespace: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = namespace.Close() })
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "proc/1/ns"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(fmt.Sprint("/proc/self/fd/", namespace.Fd()), filepath.Join(root, "proc/1/ns/mnt")); err != nil {
		t.Fatal(err)
	}
	return New(root)
}

// privateNamespace is like the one of the calling process, except for an empty /run. It lives
// as long as the file is open.
func privateNamespace() (*os.File, error) {
	var namespace *os.File
	failed := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		failed <- func() error {
			if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
				return err
			}
			if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
				return err
			}
			if err := unix.Mount("tmpfs", "/run", "tmpfs", 0, "mode=0755"); err != nil {
				return err
			}
			var err error
			namespace, err = os.Open("/proc/thread-self/ns/mnt")
			return err
		}()
	}()
	err := <-failed
	return namespace, err
}

// inside calls do in the namespace of a client.
func inside(t *testing.T, c *Client, do func() error) {
	t.Helper()
	if _, err := visit(t.Context(), c, func() (struct{}, error) { return struct{}{}, do() }); err != nil {
		t.Fatal(err)
	}
}

func listed(t *testing.T, c *Client) []Mount {
	t.Helper()
	seen, err := c.List(t.Context(), "fast")
	if err != nil {
		t.Fatal(err)
	}
	return seen.Mounts
}

func only(t *testing.T, c *Client) Mount {
	t.Helper()
	all := listed(t, c)
	if len(all) != 1 {
		t.Fatalf("mounted are %+v, want one", all)
	}
	return all[0]
}

func mounted(t *testing.T, c *Client, volumes ...Volume) {
	t.Helper()
	if err := c.Mount(t.Context(), volumes...); err != nil {
		t.Fatal(err)
	}
}

// fast is a volume of the profile that these tests list.
func fast(name string, bytes uint64) Volume { return Volume{Place{"fast", name}, bytes} }

func TestRealVolumesAreMountedReadAndUnmounted(t *testing.T) {
	c := machine(t)
	if found := listed(t, c); len(found) != 0 {
		t.Fatalf("mounted are %+v", found)
	}
	mounted(t, c, fast("a", 64<<20), fast("b", 1<<20), Volume{Place{"faster", "c"}, 1 << 20})
	all := listed(t, c)
	if len(all) != 2 || all[0].Name != "a" || all[1].Name != "b" {
		t.Fatalf("mounted are %+v", all)
	}
	a := all[0]
	if a.Size != 64<<20 || a.Used != 0 || a.Empty || len(a.Elsewhere) != 0 {
		t.Errorf("a is %+v", a)
	}
	if !incarnation.MatchString(a.Incarnation) || a.Incarnation == all[1].Incarnation {
		t.Errorf("incarnations %q and %q", a.Incarnation, all[1].Incarnation)
	}
	inside(t, c, func() error { return checkMount(a) })
	inside(t, c, func() error { return os.WriteFile(filepath.Join(a.Path(), "x"), make([]byte, 4<<20), 0o600) })
	if now := listed(t, c)[0]; now.Used != 4<<20 || now.Incarnation != a.Incarnation {
		t.Errorf("a with 4 MiB is %+v", now)
	}
	inside(t, c, func() error {
		err := os.WriteFile(filepath.Join(a.Path(), "x"), make([]byte, 65<<20), 0o600)
		if !errors.Is(err, unix.ENOSPC) {
			return fmt.Errorf("65 MiB in 64 MiB: %w", err)
		}
		return nil
	})
	if err := c.Unmount(t.Context(), a.Place, all[1].Place); err != nil {
		t.Fatal(err)
	}
	inside(t, c, func() error {
		if _, err := os.Stat(Base + "/fast"); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("the folder of the profile is left: %w", err)
		}
		_, err := os.Stat(Base + "/faster/c")
		return err
	})
}

// checkMount checks the flags of a mount and the rights of its folders.
func checkMount(m Mount) error {
	var s unix.Statfs_t
	if err := unix.Statfs(m.Path(), &s); err != nil {
		return err
	}
	const want = unix.ST_NOSUID | unix.ST_NODEV | unix.ST_NOEXEC
	if s.Flags&want != want || s.Files != leastInodes {
		return fmt.Errorf("flags %x and %d inodes", s.Flags, s.Files)
	}
	for path, mode := range map[string]os.FileMode{Base: 0o755, filepath.Dir(m.Path()): 0o755, m.Path(): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			return fmt.Errorf("%s is %v, want %v: %w", path, info.Mode().Perm(), mode, err)
		}
	}
	return nil
}

func TestRealVolumeHasNoSwapWhereTheKernelKnowsIt(t *testing.T) {
	c := machine(t)
	mounted(t, c, fast("a", 1<<20))
	knows := false
	inside(t, c, func() error {
		if err := os.Mkdir("/run/probe", 0o700); err != nil {
			return err
		}
		knows = unix.Mount("tmpfs", "/run/probe", "tmpfs", 0, noSwap) == nil
		return nil
	})
	if got := only(t, c).NoSwap; got != knows {
		t.Errorf("noswap is %v, and the kernel accepts it: %v", got, knows)
	}
}

func TestRealPlaceIsTakenOnce(t *testing.T) {
	c := machine(t)
	mounted(t, c, fast("a", 1<<20))
	before := only(t, c)
	if err := c.Mount(t.Context(), fast("a", 1<<20), fast("b", 1<<20)); err == nil || !strings.Contains(err.Error(), "mount volume a: a file system of type tmpfs is mounted at") {
		t.Errorf("error %v", err)
	}
	all := listed(t, c)
	if len(all) != 2 || all[0].Incarnation != before.Incarnation {
		t.Errorf("mounted are %+v", all)
	}
}

func TestRealHalfMadeMountIsShownAsOne(t *testing.T) {
	c := machine(t)
	mounted(t, c, fast("a", 1<<20))
	whole := only(t, c)
	for _, step := range []struct {
		name        string
		change      func() error
		incarnation string
		empty       bool
	}{
		{"another file", func() error { return os.WriteFile(filepath.Join(filepath.Dir(whole.Path()), "note"), nil, 0o600) }, whole.Incarnation, false},
		{"a second incarnation", func() error { return os.Mkdir(filepath.Join(filepath.Dir(whole.Path()), "0123456789abcdef"), 0o700) }, "", false},
		{"no folder", func() error {
			return errors.Join(os.Remove(whole.Path()), os.Remove(filepath.Join(filepath.Dir(whole.Path()), "0123456789abcdef")))
		}, "", false},
		{"nothing", func() error { return os.Remove(filepath.Join(filepath.Dir(whole.Path()), "note")) }, "", true},
	} {
		inside(t, c, step.change)
		if got := only(t, c); got.Incarnation != step.incarnation || got.Empty != step.empty {
			t.Errorf("%s: %+v", step.name, got)
		}
	}
}

func TestRealVolumeInUseStaysMounted(t *testing.T) {
	c := machine(t)
	mounted(t, c, fast("a", 1<<20))
	a := only(t, c)
	var open *os.File
	pod := "/run/pod"
	for _, use := range []struct {
		name       string
		begin, end func() error
		says       string
	}{
		{"an open file", func() (err error) { open, err = os.Create(filepath.Join(a.Path(), "x")); return err }, func() error { return open.Close() }, "in use: a process"},
		{"the mount of a pod", func() error {
			return errors.Join(os.Mkdir(pod, 0o700), unix.Mount(a.Path(), pod, "", unix.MS_BIND, ""))
		}, func() error { return unix.Unmount(pod, 0) }, "in use: also mounted at /run/pod"},
	} {
		inside(t, c, use.begin)
		err := c.Unmount(t.Context(), a.Place)
		if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), use.says) {
			t.Errorf("%s: error %v", use.name, err)
		}
		if now := only(t, c); now.Incarnation != a.Incarnation {
			t.Errorf("%s: mounted is %+v", use.name, now)
		}
		inside(t, c, use.end)
	}
	if err := c.Unmount(t.Context(), a.Place); err != nil {
		t.Error(err)
	}
}

// A container with / of the node, and without propagation of mounts, has a copy of the mount.
// The memory is free once the volume is unmounted, and not only once that container ends.
func TestRealUnmountEndsCopiesInOtherNamespaces(t *testing.T) {
	c := machine(t)
	mounted(t, c, fast("a", 1<<20))
	a := only(t, c)
	left := -1
	inside(t, c, func() error { // in a namespace copied from that of the client
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			return err
		}
		// The turn of this visit would be waited for, so the other one enters alone.
		failed := make(chan error)
		go func() {
			if err := enter(c.namespace); err != nil {
				failed <- err
				return
			}
			failed <- unmount(a.Place)
		}()
		if err := <-failed; err != nil {
			return err
		}
		all, err := mounts()
		left = len(at(all, "fast"))
		return err
	})
	if left != 0 {
		t.Errorf("%d copies are left", left)
	}
}

func TestRealLinkInThePathIsNotFollowed(t *testing.T) {
	c := machine(t)
	inside(t, c, func() error {
		return errors.Join(os.MkdirAll(Base, 0o755), os.Mkdir("/run/other", 0o755), os.Symlink("/run/other", Base+"/fast"))
	})
	if err := c.Mount(t.Context(), fast("a", 1<<20)); err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Errorf("error %v", err)
	}
}

func TestRealVolumeWithoutASizeIsRefused(t *testing.T) {
	c := machine(t)
	if err := c.Mount(t.Context(), fast("a", 0)); err == nil {
		t.Error("a volume without a limit was mounted")
	}
}

func TestNamespaceThatIsAbsentIsAnError(t *testing.T) {
	c := New(t.TempDir())
	for range 2 { // the turn is given back
		if _, err := c.List(t.Context(), "fast"); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "mount namespace of the node") {
			t.Errorf("error %v", err)
		}
	}
}

func TestVisitWaitsForTheOneBeforeAndEndsWithItsContext(t *testing.T) {
	c := machine(t)
	release, began := make(chan struct{}), make(chan struct{})
	ended := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := visit(ctx, c, func() (struct{}, error) { close(began); <-release; return struct{}{}, nil })
		ended <- err
	}()
	<-began
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := c.List(ctx, "fast"); err == nil || !strings.Contains(err.Error(), "an earlier visit to the node has not ended") {
		t.Errorf("error %v", err)
	}
	close(release)
	if _, err := c.List(t.Context(), "fast"); err != nil {
		t.Error(err)
	}
}
