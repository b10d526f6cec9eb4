package decide

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/tmpfs"
)

const (
	first16, other16 = "0123456789abcdef", "fedcba9876543210"
	volumeHasRunbook = "create it again"
)

// memory declares volumes of 1Gi, each as "name" or "name=incarnation".
func memory(volumes ...string) *v1alpha1.PgNodeStorage {
	s := &v1alpha1.PgNodeStorage{
		ObjectMeta: metav1.ObjectMeta{Name: "fast.n1", Generation: 3},
		Spec:       v1alpha1.PgNodeStorageSpec{NodeName: "n1", Profile: "fast", Memory: &v1alpha1.NodeMemory{}},
	}
	for _, v := range volumes {
		name, incarnation, _ := strings.Cut(v, "=")
		s.Spec.Memory.Volumes = append(s.Spec.Memory.Volumes, v1alpha1.NodeMemoryVolume{Name: name, Size: resource.MustParse("1Gi"), Incarnation: incarnation})
	}
	return s
}

// inMemory is a mount of 1Gi of which a quarter is used.
func inMemory(name, incarnation string, changes ...func(*tmpfs.Mount)) tmpfs.Mount {
	m := tmpfs.Mount{Place: tmpfs.Place{Profile: "fast", Name: name}, Incarnation: incarnation, Size: gib, Used: gib / 4, NoSwap: true}
	for _, change := range changes {
		change(&m)
	}
	return m
}

func empty(m *tmpfs.Mount)   { m.Empty, m.Used = true, 0 }
func usedAt(m *tmpfs.Mount)  { m.Elsewhere = []string{"/var/lib/kubelet/pods/u/v"} }
func swapped(m *tmpfs.Mount) { m.NoSwap = false }

func used(bytes uint64) func(*tmpfs.Mount) { return func(m *tmpfs.Mount) { m.Used = bytes } }

// TestMemory has what is declared, what is mounted, what is due, and what the status and the
// condition VolumesMounted show before it is done.
func TestMemory(t *testing.T) {
	quarter := " 1Gi 256Mi Never"
	for _, c := range []struct {
		name     string
		declared []string
		mounted  []tmpfs.Mount
		due      string
		status   string
		says     string
	}{
		{"nothing is declared or mounted", nil, nil, "", "", "done VolumesMounted: 0 volumes"},
		{"a new volume is mounted", []string{"a", "b"}, nil, "mount a, mount b", "", "informative wait Mounting: … mounted: a, b"},
		{"a volume has the incarnation that is seen", []string{"a"}, []tmpfs.Mount{inMemory("a", first16)},
			"", "a Mounted " + first16 + " /run/pgstorage/memory/fast/a/" + first16 + quarter, "done VolumesMounted: 1 volumes"},
		{"a volume is the one of the spec", []string{"a=" + first16}, []tmpfs.Mount{inMemory("a", first16)},
			"", "a Mounted " + first16 + " /run/pgstorage/memory/fast/a/" + first16 + quarter, "done VolumesMounted: 1 volumes"},
		{"a volume that is gone is never mounted again", []string{"a=" + first16}, nil,
			"", "a Lost", "informative invalid VolumeLost: … a; … " + volumeHasRunbook},
		{"another tmpfs is left alone", []string{"a=" + first16}, []tmpfs.Mount{inMemory("a", other16)},
			"", "a Lost " + other16 + " -" + quarter, "informative invalid VolumeLost: … a (mounted there is incarnation " + other16 + "); …"},
		{"an empty tmpfs in place of a lost one is left alone", []string{"a=" + first16}, []tmpfs.Mount{inMemory("a", "", empty)},
			"", "a Lost - - 1Gi 0 Never", "informative invalid VolumeLost: … a (mounted there is a tmpfs without an incarnation); …"},
		{"a lost volume does not hold back a new one", []string{"a=" + first16, "b"}, nil,
			"mount b", "a Lost", "informative invalid VolumeLost: lost … a; …"},
		{"a volume that is not declared is unmounted", []string{"b"}, []tmpfs.Mount{inMemory("a", first16), inMemory("b", other16)},
			"unmount a", "b Mounted " + other16 + " /run/pgstorage/memory/fast/b/" + other16 + quarter + "; a Mounted " + first16 + " /run/pgstorage/memory/fast/a/" + first16 + quarter,
			"informative wait Mounting: … unmounted: a"},
		{"a volume that a pod uses is not unmounted", nil, []tmpfs.Mount{inMemory("a", first16, usedAt)},
			"", "a Mounted " + first16 + " /run/pgstorage/memory/fast/a/" + first16 + quarter, "informative wait Mounting: … a (used at /var/lib/kubelet/pods/u/v)"},
		{"a half-made mount is begun again", []string{"a"}, []tmpfs.Mount{inMemory("a", "", empty)},
			"unmount a", "", "informative wait Mounting: … unmounted: a"},
		{"a half-made mount with contents is left alone", []string{"a", "b"}, []tmpfs.Mount{inMemory("a", "")},
			"mount b", "", "invalid HostCommandFailed: at /run/pgstorage/memory/fast/a a tmpfs …"},
		{"a half-made mount that is not declared is unmounted", nil, []tmpfs.Mount{inMemory("a", "", empty)},
			"unmount a", "", "informative wait Mounting: … unmounted: a"},
		{"a name that leaves its folder is refused", []string{"../../etc", ".."}, nil,
			"", "", `invalid HostCommandFailed: volume "../../etc" is not mounted: …; volume ".." is not mounted: …`},
		{"a kernel without noswap may swap", []string{"a"}, []tmpfs.Mount{inMemory("a", first16, swapped)},
			"", "a Mounted " + first16 + " /run/pgstorage/memory/fast/a/" + first16 + " 1Gi 256Mi Possible", "done VolumesMounted: 1 volumes"},
		{"the size is the mounted one", []string{"a"}, []tmpfs.Mount{inMemory("a", first16, func(m *tmpfs.Mount) { m.Size = 2 * gib })},
			"", "a Mounted " + first16 + " /run/pgstorage/memory/fast/a/" + first16 + " 2Gi 256Mi Never", "done VolumesMounted: 1 volumes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, seen := memory(c.declared...), tmpfs.Seen{Mounts: c.mounted, Swap: true}
			d := MemoryDecisionFor(s, seen)
			status := MemoryStatus(s, seen, d)
			equal(t, "due", dueInMemory(d), c.due)
			equal(t, "status", showMemory(status.Memory), c.status)
			matches(t, line(MemoryOutcomes(status.Memory, d, nil)[0]), c.says)
			if d.None() != (c.due == "") {
				t.Errorf("none is due: %v", d.None())
			}
		})
	}
}

func dueInMemory(d MemoryDecision) string {
	var out []string
	for _, v := range d.Mount {
		out = append(out, "mount "+v.Name)
		if v.Profile != "fast" || v.Bytes != gib {
			out = append(out, fmt.Sprintf("%+v", v))
		}
	}
	for _, p := range d.Unmount {
		out = append(out, "unmount "+p.Name)
	}
	return strings.Join(out, ", ")
}

func showMemory(m *v1alpha1.ObservedMemory) string {
	var out []string
	for _, v := range m.Volumes {
		text := v.Name + " " + string(v.State)
		if v.Size != nil {
			text += fmt.Sprintf(" %s %s %s %s %s", orDash(v.Incarnation), orDash(v.Path), v.Size, v.Used, v.Swap)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// line of an outcome, in the words of a table.
func line(o outcome.Outcome) string {
	text := map[outcome.Kind]string{outcome.Done: "done", outcome.Wait: "wait", outcome.Invalid: "invalid"}[o.Kind]
	if o.Informative {
		text = "informative " + text
	}
	return text + " " + o.Reason + ": " + o.Message
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

// matches checks that a text has the parts of a pattern around each "…", one after the other.
func matches(t *testing.T, text, pattern string) {
	t.Helper()
	rest := text
	for i, part := range strings.Split(pattern, "…") {
		part = strings.TrimSpace(part)
		at := strings.Index(rest, part)
		if at < 0 || i == 0 && at > 0 {
			t.Fatalf("%q does not match %q", text, pattern)
		}
		rest = rest[at+len(part):]
	}
}

func TestFailedChangesOfVolumesInMemory(t *testing.T) {
	inUse := fmt.Errorf("unmount volume old: %w: a process has a file of it open", tmpfs.ErrInUse)
	broken := errors.New("mount volume b: cannot allocate memory")
	for _, c := range []struct {
		name     string
		declared []string
		mounted  []tmpfs.Mount
		failed   error
		says     string
	}{
		{"a failed mount counts for Ready", []string{"b"}, nil, errors.Join(broken), "invalid HostCommandFailed: … cannot allocate memory"},
		{"a failed mount does not hide what is lost", []string{"a=" + first16, "b"}, nil, errors.Join(broken), "invalid HostCommandFailed: … cannot allocate memory; lost … a; …"},
		{"a failed unmount counts for Ready", nil, []tmpfs.Mount{inMemory("old", first16)}, errors.New("no"), "invalid HostCommandFailed: … no"},
		{"a volume in use is waited for", nil, []tmpfs.Mount{inMemory("old", first16)}, errors.Join(inUse), "informative wait Mounting: … unmount volume old: in use: …"},
		{"a failure counts beside one in use", nil, []tmpfs.Mount{inMemory("old", first16)}, errors.Join(errors.Join(inUse), errors.Join(broken)), "invalid HostCommandFailed: …"},
		{"lost ones are named before one in use", []string{"a=" + first16}, []tmpfs.Mount{inMemory("old", first16)}, errors.Join(inUse), "informative invalid VolumeLost: … a; …"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, seen := memory(c.declared...), tmpfs.Seen{Mounts: c.mounted}
			d := MemoryDecisionFor(s, seen)
			matches(t, line(MemoryOutcomes(MemoryStatus(s, seen, d).Memory, d, c.failed)[0]), c.says)
		})
	}
}

func TestUsedOfAVolumeInMemoryMovesInStepsOfOnePercent(t *testing.T) {
	s := memory("a")
	for _, c := range []struct {
		name        string
		incarnation string
		used        uint64
		want        string
	}{
		{"at first", first16, 100 * mib, "100Mi"},
		{"less than 1% more", first16, 110 * mib, "100Mi"},
		{"more than 1% more", first16, 111 * mib, "111Mi"},
		{"of another tmpfs", other16, 112 * mib, "112Mi"},
	} {
		seen := tmpfs.Seen{Mounts: []tmpfs.Mount{inMemory("a", c.incarnation, used(c.used))}}
		s.Status = MemoryStatus(s, seen, MemoryDecisionFor(s, seen))
		if got := s.Status.Memory.Volumes[0].Used.String(); got != c.want {
			t.Errorf("%s: used is %s, want %s", c.name, got, c.want)
		}
		if s.Status.ObservedGeneration != 3 {
			t.Errorf("observed generation %d", s.Status.ObservedGeneration)
		}
	}
}

func TestSwapIsImpossibleWithoutSwapOnTheNode(t *testing.T) {
	s, seen := memory("a"), tmpfs.Seen{Mounts: []tmpfs.Mount{inMemory("a", first16, swapped)}}
	if got := MemoryStatus(s, seen, MemoryDecisionFor(s, seen)).Memory.Volumes[0].Swap; got != v1alpha1.SwapNever {
		t.Errorf("swap is %s", got)
	}
}

func TestCapacityOfVolumesInMemory(t *testing.T) {
	const tenth = gib / 10
	for _, c := range []struct {
		name     string
		declared []string
		mounted  []tmpfs.Mount
		says     string
	}{
		{"no volume", nil, nil, "informative done Healthy: … 10% free"},
		{"a tenth is free", []string{"a"}, []tmpfs.Mount{inMemory("a", first16, used(gib-tenth-1))}, "informative done Healthy: …"},
		{"less than a tenth is free", []string{"a", "b", "c"},
			[]tmpfs.Mount{inMemory("a", first16), inMemory("b", first16, used(gib-tenth+mib)), inMemory("c", first16, used(gib))},
			"informative invalid VolumeNearlyFull: less than 10% is free: b (922 of 1024 MiB), c (1024 of 1024 MiB); …"},
		{"what is not declared does not count", nil, []tmpfs.Mount{inMemory("a", first16, used(gib), usedAt)}, "informative done Healthy: …"},
		{"what is lost does not count", []string{"a=" + other16}, []tmpfs.Mount{inMemory("a", first16, used(gib))}, "informative done Healthy: …"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, seen := memory(c.declared...), tmpfs.Seen{Mounts: c.mounted}
			d := MemoryDecisionFor(s, seen)
			matches(t, line(MemoryOutcomes(MemoryStatus(s, seen, d).Memory, d, nil)[1]), c.says)
		})
	}
}

func TestVolumesThatCannotBeReadAreUnknown(t *testing.T) {
	got := MemoryUnread(errors.New("no such file"))
	matches(t, line(got[0]), "wait HostCommandFailed: … no such file")
	matches(t, line(got[1]), "informative wait NotReadBack: …")
	if !got[0].Unknown || !got[1].Unknown {
		t.Errorf("outcomes %+v", got)
	}
}

func TestStatusListsDeclaredVolumesFirst(t *testing.T) {
	var names []string
	var seen tmpfs.Seen
	for i := range maxMemoryVolumes {
		seen.Mounts = append(seen.Mounts, inMemory(fmt.Sprintf("a%03d", i), first16))
	}
	names = append(names, "z", "a100=")
	seen.Mounts = append(seen.Mounts, inMemory("z", first16))
	s := memory(names...)
	got := MemoryStatus(s, seen, MemoryDecisionFor(s, seen)).Memory.Volumes
	if len(got) != maxMemoryVolumes || got[0].Name != "z" || got[1].Name != "a100" || got[2].Name != "a000" {
		t.Errorf("%d volumes, the first are %+v", len(got), got[:3])
	}
}

// A decision is a function of what is declared and seen: nothing that is due in one pass is due
// again once it is done.
func TestVolumesInMemoryConverge(t *testing.T) {
	s := memory("new", "half", "kept", "known="+first16, "lost="+first16, "other="+first16)
	seen := tmpfs.Seen{Mounts: []tmpfs.Mount{
		inMemory("half", "", empty), inMemory("kept", first16), inMemory("known", first16), inMemory("other", other16), inMemory("old", first16),
	}}
	for range 3 {
		d := MemoryDecisionFor(s, seen)
		for _, p := range d.Unmount {
			var left []tmpfs.Mount
			for _, m := range seen.Mounts {
				if m.Place != p {
					left = append(left, m)
				}
			}
			seen.Mounts = left
		}
		for _, v := range d.Mount {
			seen.Mounts = append(seen.Mounts, inMemory(v.Name, other16))
		}
	}
	d := MemoryDecisionFor(s, seen)
	var mounted, lost []string
	for _, m := range d.Mounted {
		mounted = append(mounted, m.Name+" "+m.Incarnation)
	}
	for _, l := range d.Lost {
		lost = append(lost, l.Name)
	}
	if !d.None() || !reflect.DeepEqual(lost, []string{"lost", "other"}) {
		t.Errorf("due %q, lost %q", dueInMemory(d), lost)
	}
	equal(t, "mounted", strings.Join(mounted, ", "), "new "+other16+", half "+other16+", kept "+first16+", known "+first16)
}
