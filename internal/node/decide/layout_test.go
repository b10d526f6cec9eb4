package decide

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/blockdev"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
	"github.com/pgstorage/pgstorage/internal/testing/facts"
)

const (
	stripe  = v1alpha1.VdevStripe
	mirror2 = v1alpha1.VdevMirror
)

// choose n devices.
func choose(n int32) v1alpha1.ZFSDeviceSelector { return v1alpha1.ZFSDeviceSelector{Count: n} }

// probe of the node of the layout tests: a to f are disks of 1 to 6 TiB.
func probe(changes ...func(*Seen)) Seen {
	seen := Seen{Loaded: true, Signatures: nothingOn("a", "b", "c", "d", "e", "f")}
	for i, name := range []string{"c", "a", "b", "d", "e", "f"} { // as lsblk orders them
		d := blank(name, uint64(name[0]-'a'+1)*tib)
		if i%2 == 1 {
			d.Transport, d.Model = "sata", "WDC "+name
		}
		seen.Devices = append(seen.Devices, d)
	}
	for _, change := range changes {
		change(&seen)
	}
	return seen
}

func holding(name string, s blockdev.Signatures) func(*Seen) {
	return func(seen *Seen) {
		s.Device = byID + name
		seen.Signatures[byID+name] = s
	}
}

// compact layout: each vdev as class:type(devices), wiped devices last.
func compact(l Layout) string {
	var out []string
	for _, part := range []struct {
		class string
		vdevs []zfs.Vdev
	}{{"data", l.Spec.Vdevs}, {"special", l.Spec.Special}, {"log", l.Spec.Logs}, {"cache", []zfs.Vdev{{Devices: l.Spec.Caches}}}} {
		for _, v := range part.vdevs {
			if len(v.Devices) > 0 {
				out = append(out, fmt.Sprintf("%s:%s(%s)", part.class, v.Type, bases(v.Devices)))
			}
		}
	}
	if len(l.Wipe) > 0 {
		out = append(out, fmt.Sprintf("wipe(%s)", bases(l.Wipe)))
	}
	return strings.Join(out, " ")
}

func bases(paths []string) string {
	var out []string
	for _, p := range paths {
		out = append(out, filepath.Base(p))
	}
	return strings.Join(out, " ")
}

func TestNewLayout(t *testing.T) {
	ext4 := blockdev.Signatures{Found: []blockdev.Signature{{What: "ext4", By: blockdev.ByWipefs}}}
	mounted := blockdev.Signatures{Found: []blockdev.Signature{{What: "/dev/b mounted at /srv", By: blockdev.ByKernel}}}
	partition := blockdev.Signatures{Found: []blockdev.Signature{{What: "partition /dev/b1", By: blockdev.ByKernel}, {What: "gpt", By: blockdev.ByWipefs}}}
	data := blockdev.Signatures{Data: true}
	wholeA := blockdev.Signatures{Is: blockdev.Identity{Kernel: "/dev/a"}}
	twoPaths := func(seen *Seen) {
		holding("a", wholeA)(seen)
		holding("ata-a", wholeA)(seen)
	}
	noProbe := func(name string) func(*Seen) {
		return func(seen *Seen) { delete(seen.Signatures, byID+name) }
	}
	missing := func(seen *Seen) { seen.Missing = []string{byID + "b"} }
	one := func(v ...v1alpha1.ZFSVdev) v1alpha1.ZFSPoolCreate { return v1alpha1.ZFSPoolCreate{Vdevs: v} }
	with := func(change func(*v1alpha1.ZFSDeviceSelector)) v1alpha1.ZFSPoolCreate {
		s := choose(1)
		change(&s)
		return one(selected(stripe, s))
	}
	for _, c := range []struct {
		name   string
		create v1alpha1.ZFSPoolCreate
		seen   Seen
		// want is a layout, or an outcome.
		want string
	}{
		// Named.
		{"stripe", one(vdev(stripe, "a", "b")), probe(), "data:(a b)"},
		{"as named, not sorted", one(vdev(mirror2, "b", "a")), probe(), "data:mirror(b a)"},
		{"raidz", one(vdev(v1alpha1.VdevRaidz1, "a", "b", "c")), probe(), "data:raidz1(a b c)"},
		{"raidz2", one(vdev(v1alpha1.VdevRaidz2, "a", "b", "c")), probe(), "data:raidz2(a b c)"},
		{"raidz3", one(vdev(v1alpha1.VdevRaidz3, "a", "b", "c", "d")), probe(), "data:raidz3(a b c d)"},
		{
			"every class",
			v1alpha1.ZFSPoolCreate{
				Vdevs:   []v1alpha1.ZFSVdev{vdev(mirror2, "a", "b")},
				Special: []v1alpha1.ZFSVdev{vdev(stripe, "c")},
				Logs:    []v1alpha1.ZFSVdev{vdev(stripe, "d")},
				Caches:  []v1alpha1.ZFSVdev{vdev(stripe, "e"), vdev(stripe, "f")},
			},
			probe(), "data:mirror(a b) special:(c) log:(d) cache:(e f)",
		},
		{"wipe of what is blank is none", one(vdev(stripe, "a!", "b!")), probe(), "data:(a b)"},
		{"wipe of a filesystem", one(vdev(stripe, "a!", "b!")), probe(holding("b", ext4)), "data:(a b) wipe(b)"},
		{"wipe of data without a signature", one(vdev(stripe, "a", "b!")), probe(holding("b", data)), "data:(a b) wipe(b)"},
		{"wipe of a table whose partitions nothing uses", one(vdev(stripe, "b!")), probe(holding("b", partition)), "data:(b) wipe(b)"},
		{
			"not blank", one(vdev(mirror2, "a", "b")), probe(holding("b", ext4)),
			"invalid DeviceNotBlank: pool.create.vdevs[0]: /dev/disk/by-id/b is not blank (ext4) and is not touched; name another device, or set wipe: true for it if nothing on it is needed",
		},
		{
			"data without a signature", one(vdev(stripe, "a"), vdev(stripe, "b")), probe(holding("b", data)),
			"invalid DeviceNotBlank: pool.create.vdevs[1]: /dev/disk/by-id/b is not blank (data without a known signature) and is not touched; name another device, or set wipe: true for it if nothing on it is needed",
		},
		{
			"partitions", one(vdev(stripe, "b")), probe(holding("b", partition)),
			"invalid DeviceNotBlank: pool.create.vdevs[0]: /dev/disk/by-id/b is not blank (partition /dev/b1, gpt) and is not touched; name another device, or set wipe: true for it if nothing on it is needed",
		},
		{
			"wipe: false is none", one(v1alpha1.ZFSVdev{Type: stripe, Devices: []v1alpha1.ZFSDevice{{Path: byID + "b", Wipe: new(false)}}}), probe(holding("b", ext4)),
			"invalid DeviceNotBlank: pool.create.vdevs[0]: /dev/disk/by-id/b is not blank (ext4) and is not touched; name another device, or set wipe: true for it if nothing on it is needed",
		},
		{
			"in use", one(vdev(stripe, "b")), probe(holding("b", mounted)),
			"invalid DeviceNotBlank: pool.create.vdevs[0]: /dev/disk/by-id/b is in use (/dev/b mounted at /srv) and is not touched; release it, or name another device",
		},
		{
			"in use, and wipe", one(vdev(stripe, "b!")), probe(holding("b", mounted)),
			"invalid DeviceNotBlank: pool.create.vdevs[0]: /dev/disk/by-id/b is in use (/dev/b mounted at /srv) and is not touched; release it, or name another device",
		},
		{
			"missing", one(vdev(mirror2, "a", "b")), probe(missing, noProbe("b")),
			"wait DeviceNotFound: pool.create.vdevs[0]: the node has no device /dev/disk/by-id/b; correct the path, or attach the device (ls -l /dev/disk/by-id on the node)",
		},
		{
			"missing log", v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{vdev(stripe, "a")}, Logs: []v1alpha1.ZFSVdev{vdev(stripe, "c"), vdev(stripe, "b")}}, probe(missing),
			"wait DeviceNotFound: pool.create.logs[1]: the node has no device /dev/disk/by-id/b; correct the path, or attach the device (ls -l /dev/disk/by-id on the node)",
		},
		{
			"not probed", one(vdev(stripe, "b!")), probe(noProbe("b")),
			"wait HostCommandFailed: pool.create.vdevs[0]: what is on /dev/disk/by-id/b could not be read",
		},
		{
			"named twice", v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{vdev(stripe, "a!")}, Caches: []v1alpha1.ZFSVdev{vdev(stripe, "a!")}}, probe(holding("a", ext4)),
			"invalid InvalidSpec: pool.create.caches[0]: /dev/disk/by-id/a is named twice; name each device once",
		},
		{
			"named by two paths", v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{vdev(stripe, "ata-a!")}, Caches: []v1alpha1.ZFSVdev{vdev(stripe, "a!")}}, probe(twoPaths),
			"invalid InvalidSpec: pool.create.caches[0]: /dev/disk/by-id/a is /dev/a, which another path names too; name each device once",
		},
		// Selected.
		{"named by another path are not for selectors", v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{selected(stripe, choose(1))}, Caches: []v1alpha1.ZFSVdev{vdev(stripe, "ata-a")}}, probe(twoPaths), "data:(b) cache:(ata-a)"},
		{"taken by another path", v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{vdev(stripe, "ata-a")}, Caches: []v1alpha1.ZFSVdev{selected(stripe, choose(1))}}, probe(twoPaths), "data:(ata-a) cache:(b)"},
		{"smallest paths first", one(selected(mirror2, choose(2))), probe(), "data:mirror(a b)"},
		{"all", one(selected(stripe, choose(6))), probe(), "data:(a b c d e f)"},
		{"two selectors share nothing", one(selected(mirror2, choose(2)), selected(mirror2, choose(2))), probe(), "data:mirror(a b) data:mirror(c d)"},
		{"named are not for selectors", v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{selected(mirror2, choose(2))}, Logs: []v1alpha1.ZFSVdev{vdev(stripe, "b")}}, probe(), "data:mirror(a c) log:(b)"},
		{
			"special is chosen ahead of logs and caches",
			v1alpha1.ZFSPoolCreate{
				Vdevs: []v1alpha1.ZFSVdev{selected(stripe, choose(1))}, Special: []v1alpha1.ZFSVdev{selected(mirror2, choose(2))},
				Logs: []v1alpha1.ZFSVdev{selected(stripe, choose(1))}, Caches: []v1alpha1.ZFSVdev{selected(stripe, choose(2))},
			},
			probe(), "data:(a) special:mirror(b c) log:(d) cache:(e f)",
		},
		{"least size", with(func(s *v1alpha1.ZFSDeviceSelector) { s.MinSize = quantity("3Ti") }), probe(), "data:(c)"},
		{"most size", with(func(s *v1alpha1.ZFSDeviceSelector) { s.MaxSize = quantity("1Ti") }), probe(), "data:(a)"},
		{"model", with(func(s *v1alpha1.ZFSDeviceSelector) { s.Model = "WDC [d-z]" }), probe(), "data:(d)"},
		{"transport", with(func(s *v1alpha1.ZFSDeviceSelector) { s.Transport = "nvme" }), probe(), "data:(b)"},
		{"negative sizes are no limits", with(func(s *v1alpha1.ZFSDeviceSelector) { s.MinSize, s.MaxSize = quantity("-1"), quantity("-1") }), probe(), "data:(a)"},
		{"what is not blank is passed over", one(selected(mirror2, choose(2))), probe(holding("a", ext4), holding("b", data)), "data:mirror(c d)"},
		{"what was not probed is passed over", one(selected(stripe, choose(1))), probe(noProbe("a")), "data:(b)"},
		{
			"what lsblk shows to hold something is passed over", one(selected(stripe, choose(1))),
			probe(func(seen *Seen) { seen.Devices[1].FSType = "xfs" }), "data:(b)",
		},
		{
			"too few", one(selected(stripe, choose(1)), selected(mirror2, choose(6))), probe(),
			"wait TooFewDevices: pool.create.vdevs[1].selector: 5 of 6 devices found that match, are blank and are not taken by another vdev (/dev/disk/by-id/b, /dev/disk/by-id/c, /dev/disk/by-id/d, /dev/disk/by-id/e, /dev/disk/by-id/f). Attach more, or widen the selector (status.devices lists all)",
		},
		{
			"none", with(func(s *v1alpha1.ZFSDeviceSelector) { s.Transport = "fc" }), probe(),
			"wait TooFewDevices: pool.create.vdevs[0].selector: 0 of 1 devices found that match, are blank and are not taken by another vdev. Attach more, or widen the selector (status.devices lists all)",
		},
		{
			"bad pattern", with(func(s *v1alpha1.ZFSDeviceSelector) { s.Model = "[" }), probe(),
			`invalid InvalidSpec: pool.create.vdevs[0].selector: invalid: model pattern "[": syntax error in pattern`,
		},
		{
			"sizes crossed", with(func(s *v1alpha1.ZFSDeviceSelector) { s.MinSize, s.MaxSize = quantity("2Ki"), quantity("1Ki") }), probe(),
			"invalid InvalidSpec: pool.create.vdevs[0].selector: invalid: sizes from 2048 to 1024 bytes; no disk has one",
		},
	} {
		got, problem := NewLayout(v1alpha1.NodePool{Name: "tank", Create: &c.create}, c.seen)
		if problem == nil {
			same(t, c.name, compact(got), c.want)
			continue
		}
		facts.Same(t, c.name, describe(*problem), "PoolReady "+c.want)
		if !reflect.DeepEqual(got, Layout{}) {
			t.Errorf("%s: a layout beside the problem: %+v", c.name, got)
		}
	}
}

// The pool is made with what is declared of it, and is never mounted.
func TestNewLayoutProperties(t *testing.T) {
	pool := v1alpha1.NodePool{Name: "tank", Properties: properties("autotrim=on", "failmode=wait")}
	for _, c := range []struct {
		name   string
		ashift *int32
		want   map[string]string
	}{
		{"ashift", new(int32(12)), map[string]string{"autotrim": "on", "failmode": "wait", "ashift": "12"}},
		{"its default", nil, map[string]string{"autotrim": "on", "failmode": "wait"}},
	} {
		create := mirrors("a", "b")
		create.Ashift = c.ashift
		pool.Create = &create
		got, problem := NewLayout(pool, probe())
		if problem != nil {
			t.Fatal(describe(*problem))
		}
		want := zfs.PoolSpec{
			Name: "tank", Vdevs: []zfs.Vdev{{Type: "mirror", Devices: []string{byID + "a", byID + "b"}}},
			Properties: c.want, FSProperties: map[string]string{"canmount": "off", "mountpoint": "none"},
		}
		if !reflect.DeepEqual(got.Spec, want) {
			t.Errorf("%s: %+v, wanted %+v", c.name, got.Spec, want)
		}
	}
}

// The devices of all classes are named in what is said of a new pool.
func TestCreationNamesItsDevices(t *testing.T) {
	s := storage(fresh, creates(v1alpha1.ZFSPoolCreate{
		Vdevs: []v1alpha1.ZFSVdev{vdev(stripe, "a")}, Special: []v1alpha1.ZFSVdev{vdev(stripe, "b")},
		Logs: []v1alpha1.ZFSVdev{vdev(stripe, "c")}, Caches: []v1alpha1.ZFSVdev{vdev(stripe, "d")},
	}))
	facts.Same(t, "outcome", describe(Pool(s, probe()).Outcome),
		"PoolReady wait CreatingPool: … tank … /dev/disk/by-id/a, /dev/disk/by-id/b, /dev/disk/by-id/c, /dev/disk/by-id/d")
}

func TestCandidates(t *testing.T) {
	large := choose(1)
	large.MinSize = quantity("5Ti")
	bad := choose(1)
	bad.Model = "["
	for _, c := range []struct {
		name   string
		create v1alpha1.ZFSPoolCreate
		want   string
	}{
		{"named, sorted", mirrors("b", "a"), "a b"},
		{"named, though the node has none", mirrors("x", "a"), "a x"},
		{"all that a selector could choose", v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{selected(stripe, choose(1))}}, "a b c d e f"},
		{"by size", v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{selected(stripe, large)}}, "e f"},
		{
			"of all classes, each once",
			v1alpha1.ZFSPoolCreate{
				Vdevs: []v1alpha1.ZFSVdev{vdev(stripe, "b")}, Logs: []v1alpha1.ZFSVdev{vdev(stripe, "x")},
				Caches: []v1alpha1.ZFSVdev{vdev(stripe, "e")}, Special: []v1alpha1.ZFSVdev{selected(stripe, large)},
			},
			"b e f x",
		},
		{"none of a bad selector, which the layout reports", v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{vdev(stripe, "a"), selected(stripe, bad)}}, "a"},
		{"none", v1alpha1.ZFSPoolCreate{}, ""},
	} {
		same(t, c.name, bases(Candidates(&c.create, probe().Devices)), c.want)
	}
}

// Whatever is declared, no device is in two vdevs, only named ones are wiped, and
// what is in use is in none.
func TestLayoutsAreSafe(t *testing.T) {
	ext4 := blockdev.Signatures{Found: []blockdev.Signature{{What: "ext4", By: blockdev.ByWipefs}}}
	used := blockdev.Signatures{Found: []blockdev.Signature{{What: "/dev/c held by md0", By: blockdev.ByKernel}}}
	seen := probe(holding("b", ext4), holding("c", used))
	parts := []v1alpha1.ZFSVdev{
		vdev(stripe, "a"), vdev(stripe, "b!"), vdev(stripe, "b"), vdev(stripe, "c!"), vdev(mirror2, "d", "e"),
		selected(stripe, choose(1)), selected(mirror2, choose(2)), selected(stripe, choose(3)),
	}
	made := 0
	for i := range len(parts) * len(parts) * len(parts) {
		create := v1alpha1.ZFSPoolCreate{
			Vdevs: []v1alpha1.ZFSVdev{parts[i%8]}, Logs: []v1alpha1.ZFSVdev{parts[i/8%8]}, Special: []v1alpha1.ZFSVdev{parts[i/64]},
		}
		got, problem := NewLayout(v1alpha1.NodePool{Name: "tank", Create: &create}, seen)
		if problem != nil {
			continue
		}
		made++
		taken := map[string]bool{}
		for _, d := range devicesOf(got.Spec) {
			if taken[d] || d == byID+"c" {
				t.Errorf("%s takes %s", compact(got), d)
			}
			taken[d] = true
		}
		if taken[byID+"b"] != (len(got.Wipe) == 1) || len(got.Wipe) > 1 {
			t.Errorf("%s", compact(got))
		}
	}
	if made < 20 {
		t.Errorf("only %d layouts", made)
	}
}
