//go:build guest

package guest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/agent"
	"github.com/pgstorage/pgstorage/internal/node/tmpfs"
)

// inMemory declares volumes of 64Mi of a profile, which are unmounted at the end.
func inMemory(t *testing.T, profile string, volumes ...string) (*agent.Node, *v1alpha1.PgNodeStorage) {
	t.Helper()
	n, commands := newAgent(nil)
	s := &v1alpha1.PgNodeStorage{
		ObjectMeta: metav1.ObjectMeta{Name: profile + ".guest", Generation: 1},
		Spec:       v1alpha1.PgNodeStorageSpec{NodeName: "guest", Profile: profile, Memory: &v1alpha1.NodeMemory{}},
	}
	declareInMemory(s, volumes...)
	t.Cleanup(func() {
		if err := n.Release(context.WithoutCancel(t.Context()), s); err != nil {
			t.Error(err)
		}
		if ran := total(commands); ran != 0 {
			t.Errorf("%d commands were run for volumes in memory", ran)
		}
	})
	return n, s
}

func declareInMemory(s *v1alpha1.PgNodeStorage, volumes ...string) {
	s.Spec.Memory.Volumes = nil
	for _, name := range volumes {
		s.Spec.Memory.Volumes = append(s.Spec.Memory.Volumes, v1alpha1.NodeMemoryVolume{Name: name, Size: resource.MustParse("64Mi")})
	}
}

// identify the volumes as the manager does, once it has created their PersistentVolumes.
func identify(s *v1alpha1.PgNodeStorage) {
	for i := range s.Spec.Memory.Volumes {
		for _, seen := range s.Status.Memory.Volumes {
			if v := &s.Spec.Memory.Volumes[i]; v.Name == seen.Name {
				v.Incarnation = seen.Incarnation
			}
		}
	}
}

// onlyVolume is the single volume of the status.
func onlyVolume(t *testing.T, s *v1alpha1.PgNodeStorage, state v1alpha1.MemoryVolumeState) v1alpha1.ObservedMemoryVolume {
	t.Helper()
	if s.Status.Memory == nil || len(s.Status.Memory.Volumes) != 1 || s.Status.Memory.Volumes[0].State != state {
		t.Fatalf("status %+v, want one volume that is %s", s.Status.Memory, state)
	}
	return s.Status.Memory.Volumes[0]
}

// volumeDir is the mount point of a volume of a profile.
func volumeDir(t *testing.T, profile, volume string) string {
	t.Helper()
	dir, err := tmpfs.Place{Profile: profile, Name: volume}.Dir()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// superOptions of a mount, as the kernel shows them to process 1.
func superOptions(t *testing.T, point string) string {
	t.Helper()
	text, err := os.ReadFile("/proc/1/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); f[4] == point {
			return f[len(f)-1]
		}
	}
	return ""
}

// kernelKnowsNoSwap is read from a mount by hand, so that the agent does not judge itself.
func kernelKnowsNoSwap(t *testing.T) bool {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "noswap"); err != nil {
		return false
	}
	if err := unix.Unmount(dir, 0); err != nil {
		t.Error(err)
	}
	return true
}

// The mounts are those of process 1, and the status is what the kernel has.
func TestMemoryVolumesAreMountedReadBackAndUnmounted(t *testing.T) {
	n, s := inMemory(t, "memory", "a")
	ready(t, n, s)
	v := onlyVolume(t, s, v1alpha1.MemoryVolumeMounted)
	dir := volumeDir(t, "memory", "a")
	if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(v.Incarnation) || v.Path != filepath.Join(dir, v.Incarnation) {
		t.Errorf("incarnation %q, path %q", v.Incarnation, v.Path)
	}
	options := superOptions(t, dir)
	if v.Size.String() != "64Mi" || v.Used.Sign() != 0 || !strings.Contains(options, "size=65536k") {
		t.Errorf("size %s, used %s, options %q", v.Size, v.Used, options)
	}
	if knows := kernelKnowsNoSwap(t); strings.Contains(options, "noswap") != knows || knows && v.Swap != v1alpha1.SwapNever {
		t.Errorf("the kernel knows noswap: %v; options %q, swap %s", knows, options, v.Swap)
	}
	if err := os.WriteFile(filepath.Join(v.Path, "file"), make([]byte, 60<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	pass(t, n, s)
	if got := onlyVolume(t, s, v1alpha1.MemoryVolumeMounted); got.Used.String() != "60Mi" {
		t.Errorf("used %s", got.Used)
	}
	says(t, s, v1alpha1.ConditionCapacityHealthy, metav1.ConditionFalse, v1alpha1.ReasonVolumeNearlyFull)
	says(t, s, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	declareInMemory(s)
	ready(t, n, s)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) || len(s.Status.Memory.Volumes) != 0 {
		t.Errorf("%s is left: %v; status %+v", dir, err, s.Status.Memory)
	}
}

// The agent was killed between the mount and the folder.
func TestMemoryVolumeThatIsHalfMadeIsMadeAgain(t *testing.T) {
	n, s := inMemory(t, "memory-half", "a")
	dir := volumeDir(t, "memory-half", "a")
	if err := errors.Join(os.MkdirAll(dir, 0o755), unix.Mount("pgstorage", dir, "tmpfs", 0, "size=1m")); err != nil {
		t.Fatal(err)
	}
	ready(t, n, s)
	if v := onlyVolume(t, s, v1alpha1.MemoryVolumeMounted); v.Size.String() != "64Mi" || v.Incarnation == "" {
		t.Errorf("volume %+v", v)
	}
}

// What a container has of the volume is a mount of its folder. The kernel does not count that
// as a use of the volume's own mount.
func TestMemoryVolumeInUseStaysMounted(t *testing.T) {
	n, s := inMemory(t, "memory-busy", "a")
	ready(t, n, s)
	v := onlyVolume(t, s, v1alpha1.MemoryVolumeMounted)
	declareInMemory(s)
	waits := func() {
		t.Helper()
		pass(t, n, s)
		says(t, s, v1alpha1.ConditionVolumesMounted, metav1.ConditionFalse, v1alpha1.ReasonMounting)
		says(t, s, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
		if got := onlyVolume(t, s, v1alpha1.MemoryVolumeMounted); got.Incarnation != v.Incarnation {
			t.Errorf("mounted is %+v", got)
		}
		if err := n.Release(t.Context(), s); !errors.Is(err, tmpfs.ErrInUse) {
			t.Errorf("release: %v", err)
		}
	}
	f, err := os.Create(filepath.Join(v.Path, "file"))
	if err != nil {
		t.Fatal(err)
	}
	waits()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	pod := t.TempDir()
	if err := unix.Mount(v.Path, pod, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	waits()
	if err := unix.Unmount(pod, 0); err != nil {
		t.Error(err)
	}
	ready(t, n, s)
	if superOptions(t, volumeDir(t, "memory-busy", "a")) != "" {
		t.Error("it is mounted, and nothing uses it")
	}
}

// A boot ends every tmpfs, as umount does. No other one takes the place of a lost volume, also
// where an administrator mounts one there.
func TestMemoryVolumeThatIsLostStaysLost(t *testing.T) {
	n, s := inMemory(t, "memory-lost", "a")
	ready(t, n, s)
	v := onlyVolume(t, s, v1alpha1.MemoryVolumeMounted)
	identify(s)
	ready(t, n, s)
	dir := volumeDir(t, "memory-lost", "a")
	if err := unix.Unmount(dir, 0); err != nil {
		t.Fatal(err)
	}
	lost := func() {
		t.Helper()
		for range 2 {
			if r := pass(t, n, s); r.Changed {
				t.Error("something was changed")
			}
		}
		message := says(t, s, v1alpha1.ConditionVolumesMounted, metav1.ConditionFalse, v1alpha1.ReasonVolumeLost)
		if !strings.Contains(message, "lost with all that was in them: a") {
			t.Errorf("message %s", message)
		}
		says(t, s, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
		if got := onlyVolume(t, s, v1alpha1.MemoryVolumeLost); got.Path != "" || got.Incarnation == v.Incarnation {
			t.Errorf("volume %+v", got)
		}
	}
	lost()
	if superOptions(t, dir) != "" {
		t.Error("a tmpfs was mounted in place of the lost one")
	}
	if err := unix.Mount("pgstorage", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Fatal(err)
	}
	lost()
	if !strings.Contains(superOptions(t, dir), "size=1024k") {
		t.Error("the tmpfs of the administrator was unmounted")
	}
	s.Spec.Memory.Volumes[0].Incarnation = ""
	ready(t, n, s)
	if got := onlyVolume(t, s, v1alpha1.MemoryVolumeMounted); got.Incarnation == v.Incarnation {
		t.Errorf("volume %+v", got)
	}
}
