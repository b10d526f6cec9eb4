package agent

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/tmpfs"
	"github.com/pgstorage/pgstorage/internal/node/tmpfs/tmpfstest"
)

// inMemory is a node without ZFS and without any program, and declares volumes of 1Gi.
func inMemory(t *testing.T, volumes ...string) (*Node, *tmpfstest.Fake, *fake, *v1alpha1.PgNodeStorage) {
	t.Helper()
	f, m := newFake(t, func(f *fake) { f.answers = nil }), &tmpfstest.Fake{Fails: map[string]error{}}
	n := f.node()
	n.Memory = m
	s := &v1alpha1.PgNodeStorage{
		ObjectMeta: metav1.ObjectMeta{Name: "fast.n1", Generation: 3},
		Spec:       v1alpha1.PgNodeStorageSpec{NodeName: "n1", Profile: "fast", Memory: &v1alpha1.NodeMemory{}},
	}
	declare(s, volumes...)
	return n, m, f, s
}

func declare(s *v1alpha1.PgNodeStorage, volumes ...string) {
	s.Spec.Memory.Volumes = nil
	for _, name := range volumes {
		s.Spec.Memory.Volumes = append(s.Spec.Memory.Volumes, v1alpha1.NodeMemoryVolume{Name: name, Size: resource.MustParse("1Gi")})
	}
}

func memoryPass(t *testing.T, n *Node, s *v1alpha1.PgNodeStorage) PassResult {
	t.Helper()
	r, err := n.Pass(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	store(s, r, n.Clock.Now())
	return r
}

func TestVolumesInMemoryAreMountedInOnePassAndReadBackInTheNext(t *testing.T) {
	n, m, f, s := inMemory(t, "a", "b")
	if r := memoryPass(t, n, s); !r.Changed || len(r.Status.Memory.Volumes) != 0 {
		t.Errorf("changed %v, status %+v", r.Changed, r.Status.Memory)
	}
	for range 2 {
		r := memoryPass(t, n, s)
		if r.Changed || len(r.Status.Memory.Volumes) != 2 || r.Seen.Memory == nil {
			t.Errorf("changed %v, status %+v", r.Changed, r.Status.Memory)
		}
	}
	declare(s, "b")
	memoryPass(t, n, s)
	r := memoryPass(t, n, s)
	same(t, "changes", strings.Join(m.Changes, ", "), "mount a, mount b, unmount a")
	same(t, "condition", line(r.Outcomes[0]), "VolumesMounted done VolumesMounted: 1 volumes in memory are mounted")
	same(t, "commands", len(f.reads)+len(f.changes), 0)
}

func TestVolumeThatIsGoneIsReportedAndNotMounted(t *testing.T) {
	n, m, _, s := inMemory(t, "a")
	memoryPass(t, n, s)
	memoryPass(t, n, s)
	s.Spec.Memory.Volumes[0].Incarnation = s.Status.Memory.Volumes[0].Incarnation
	m.Mounts, m.Changes = nil, nil
	r := memoryPass(t, n, s)
	if v := r.Status.Memory.Volumes[0]; r.Changed || v.State != v1alpha1.MemoryVolumeLost || v.Path != "" {
		t.Errorf("changed %v, status %+v", r.Changed, v)
	}
	same(t, "changes", len(m.Changes), 0)
	for _, c := range s.Status.Conditions {
		if c.Type == v1alpha1.ConditionReady && c.Status != metav1.ConditionTrue {
			t.Errorf("Ready is %s: %s", c.Reason, c.Message)
		}
	}
}

func TestVolumeThatCannotBeMountedDoesNotHoldBackAnother(t *testing.T) {
	n, m, _, s := inMemory(t, "a", "b")
	m.Fails["a"] = errors.New("cannot allocate memory")
	r := memoryPass(t, n, s)
	same(t, "condition", line(r.Outcomes[0]), "VolumesMounted invalid HostCommandFailed: the node refused to mount or unmount a volume; the agent retries every minute: mount volume a: cannot allocate memory")
	r = memoryPass(t, n, s)
	if len(r.Status.Memory.Volumes) != 1 || r.Status.Memory.Volumes[0].Name != "b" {
		t.Errorf("status %+v", r.Status.Memory)
	}
}

func TestVolumeInUseIsNotTriedAgainAtOnce(t *testing.T) {
	n, m, _, s := inMemory(t)
	m.Mounts = []tmpfs.Mount{{Place: tmpfs.Place{Profile: "fast", Name: "old"}, Incarnation: "0123456789abcdef", Size: gib}}
	m.Fails["old"] = fmt.Errorf("%w: a process has a file of it open", tmpfs.ErrInUse)
	if r := memoryPass(t, n, s); r.Changed || r.Outcomes[0].Reason != v1alpha1.ReasonMounting {
		t.Errorf("changed %v, %s", r.Changed, line(r.Outcomes[0]))
	}
	m.Fails = nil
	if r := memoryPass(t, n, s); !r.Changed {
		t.Error("it was not unmounted once it was free")
	}
}

func TestVolumesThatCannotBeReadLeaveTheNodeAlone(t *testing.T) {
	n, m, _, s := inMemory(t, "a")
	m.Unread = errors.New("mount namespace of the node: permission denied")
	r, err := n.Pass(t.Context(), s)
	if !errors.Is(err, m.Unread) || len(m.Changes) != 0 {
		t.Errorf("error %v, changes %q", err, m.Changes)
	}
	same(t, "condition", line(r.Outcomes[0]), "VolumesMounted wait unknown HostCommandFailed: the volumes in memory could not be read: mount namespace of the node: permission denied")
}

func TestDryRunOfVolumesInMemoryOnlyReports(t *testing.T) {
	n, m, _, s := inMemory(t, "new")
	m.Mounts = []tmpfs.Mount{{Place: tmpfs.Place{Profile: "fast", Name: "old"}, Incarnation: "0123456789abcdef", Size: gib}}
	var reported []string
	n.DryRun = func(argv []string) { reported = append(reported, strings.Join(argv, " ")) }
	r := memoryPass(t, n, s)
	if err := n.Release(t.Context(), s); !errors.Is(err, tmpfs.ErrInUse) || !strings.Contains(err.Error(), "(dry run)") {
		t.Errorf("with a volume: %v", err)
	}
	if r.Changed || len(m.Changes) != 0 || !strings.HasSuffix(r.Outcomes[0].Message, msgDryRun) {
		t.Errorf("changed %v, %q: %s", r.Changed, m.Changes, line(r.Outcomes[0]))
	}
	same(t, "reported", strings.Join(reported, "; "), "umount /run/pgstorage/memory/fast/old; "+
		"mount -t tmpfs -o nosuid,nodev,noexec,noswap,mode=0755,size=1073741824,nr_inodes=65536 pgstorage /run/pgstorage/memory/fast/new; "+
		"umount /run/pgstorage/memory/fast/old")
	m.Mounts = nil
	if err := n.Release(t.Context(), s); err != nil {
		t.Errorf("without a volume: %v", err)
	}
}

func TestReleaseUnmountsTheVolumesOfTheProfileOnly(t *testing.T) {
	n, m, f, s := inMemory(t, "a", "b")
	memoryPass(t, n, s)
	m.Mounts = append(m.Mounts, tmpfs.Mount{Place: tmpfs.Place{Profile: "other", Name: "a"}})
	m.Changes, m.Fails["a"] = nil, tmpfs.ErrInUse
	if err := n.Release(t.Context(), s); !errors.Is(err, tmpfs.ErrInUse) {
		t.Errorf("error %v", err)
	}
	delete(m.Fails, "a")
	for range 2 {
		if err := n.Release(t.Context(), s); err != nil {
			t.Error(err)
		}
	}
	same(t, "changes", strings.Join(m.Changes, ", "), "unmount a, unmount b, unmount a")
	if len(m.Mounts) != 1 || m.Mounts[0].Profile != "other" {
		t.Errorf("left are %+v", m.Mounts)
	}
	same(t, "commands", len(f.reads)+len(f.changes), 0)
}
