package tmpfs

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const gib = 1 << 30

func TestPlaceIsBelowTheFolderOfItsProfileOrAnError(t *testing.T) {
	for _, c := range []struct{ profile, name, want string }{
		{"fast", "pvc-1", "/run/pgstorage/memory/fast/pvc-1"},
		{"fast.example", "a", "/run/pgstorage/memory/fast.example/a"},
		{"fast", "", ""},
		{"", "a", ""},
		{"fast", "..", ""},
		{"..", "a", ""},
		{".", "a", ""},
		{"fast", "a/b", ""},
		{"../..", "etc", ""},
		{"fast", "/etc", ""},
		{"fast", "a\x00b", ""},
	} {
		got, err := Place{c.profile, c.name}.Dir()
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q/%q is %q (%v), want %q", c.profile, c.name, got, err, c.want)
		}
	}
}

func TestOptionsLimitBytesAndInodes(t *testing.T) {
	for _, c := range []struct {
		bytes uint64
		want  string
	}{
		{4096, "mode=0755,size=4096,nr_inodes=4096"},
		{64 << 20, "mode=0755,size=67108864,nr_inodes=4096"},
		{gib, "mode=0755,size=1073741824,nr_inodes=65536"},
		{16 * gib, "mode=0755,size=17179869184,nr_inodes=1048576"},
	} {
		if got := (Volume{Bytes: c.bytes}).options(); got != c.want {
			t.Errorf("options of %d bytes are %s, want %s", c.bytes, got, c.want)
		}
	}
}

func TestCommandsOfADryRunAreThoseOfAnAdministrator(t *testing.T) {
	v := Volume{Place: Place{"fast", "a"}, Bytes: gib}
	want := "mount -t tmpfs -o nosuid,nodev,noexec,noswap,mode=0755,size=1073741824,nr_inodes=65536 pgstorage /run/pgstorage/memory/fast/a"
	if got := strings.Join(v.Command(), " "); got != want {
		t.Errorf("mount: %s", got)
	}
	if got := strings.Join(v.Place.Command(), " "); got != "umount /run/pgstorage/memory/fast/a" {
		t.Errorf("unmount: %s", got)
	}
}

func TestOptionIsFoundAsAWhole(t *testing.T) {
	for options, want := range map[string]bool{
		"rw,size=1024k,noswap": true, "noswap": true, "rw,size=1024k": false, "rw,noswapping": false, "": false,
	} {
		if got := hasOption(options, noSwap); got != want {
			t.Errorf("%q: %v", options, got)
		}
	}
}

func TestMountIsParsed(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       *mount
	}{
		{"of the manual", "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue",
			&mount{device: "98:0", root: "/mnt1", point: "/mnt2", kind: "ext3", options: "rw,errors=continue"}},
		{"without optional fields", "70 20 0:43 / /run/pgstorage/memory/fast/a rw,nosuid,nodev,noexec,relatime - tmpfs pgstorage rw,size=1048576k,noswap",
			&mount{device: "0:43", root: "/", point: "/run/pgstorage/memory/fast/a", kind: "tmpfs", options: "rw,size=1048576k,noswap"}},
		{"with several optional fields", "1 2 0:1 / / rw shared:1 master:2 propagate_from:3 - tmpfs x rw",
			&mount{device: "0:1", root: "/", point: "/", kind: "tmpfs", options: "rw"}},
		{"with escapes", `1 2 0:1 /a\134b /a\040b\011c\012 rw - tmpfs x rw`,
			&mount{device: "0:1", root: `/a\b`, point: "/a b\tc\n", kind: "tmpfs", options: "rw"}},
		{"with what is no escape", `1 2 0:1 / /a\9 rw - tmpfs x rw`,
			&mount{device: "0:1", root: "/", point: `/a\9`, kind: "tmpfs", options: "rw"}},
		{"with an empty source", "1 2 0:1 / /a rw - tmpfs  rw",
			&mount{device: "0:1", root: "/", point: "/a", kind: "tmpfs", options: "rw"}},
		{"without the separator", "1 2 0:1 / /a rw tmpfs x rw", nil},
		{"cut off", "1 2 0:1", nil},
		{"empty", "", nil},
	} {
		got, err := parseMountinfo(c.line + "\n")
		if c.want == nil {
			if err == nil {
				t.Errorf("%s: no error, but %+v", c.name, got)
			}
			continue
		}
		if err != nil || len(got) != 1 || got[0] != *c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, *c.want)
		}
	}
}

func TestMountsAreFoundBelowTheFolderOfTheProfileOnly(t *testing.T) {
	all, err := parseMountinfo(strings.Join([]string{
		"1 0 8:1 / / rw - ext4 /dev/sda1 rw",
		"2 1 0:20 / /run rw - tmpfs tmpfs rw,size=1024k",
		"3 2 0:41 / /run/pgstorage/memory/fast/a rw - tmpfs pgstorage rw,noswap",
		"4 2 0:42 / /run/pgstorage/memory/fast/b rw - tmpfs pgstorage rw",
		"5 2 0:43 / /run/pgstorage/memory/faster/c rw - tmpfs pgstorage rw",
		"6 2 0:44 / /run/pgstorage/memory/fast/a/deeper rw - tmpfs pgstorage rw",
		"7 2 0:45 / /run/pgstorage/memory/fast rw - tmpfs pgstorage rw",
		"8 2 8:2 / /run/pgstorage/memory/fast/disk rw - ext4 /dev/sda2 rw",
		"9 2 0:46 / /run/pgstorage/memory/fast/covered rw - tmpfs pgstorage rw",
		"10 9 8:2 / /run/pgstorage/memory/fast/covered rw - ext4 /dev/sda2 rw",
		"11 4 0:47 / /run/pgstorage/memory/fast/b rw - tmpfs pgstorage rw,noswap",
		"12 1 0:41 /0123456789abcdef /var/lib/kubelet/pods/u/volumes/kubernetes.io~local-volume/a rw - tmpfs pgstorage rw,noswap",
		"13 1 0:41 / /var/run/pgstorage/memory/fast/a rw - tmpfs pgstorage rw,noswap",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	found := at(all, "fast")
	var devices []string
	for _, place := range slices.SortedFunc(maps.Keys(found), func(a, b Place) int { return strings.Compare(a.Name, b.Name) }) {
		devices = append(devices, place.Name+" "+found[place].device)
	}
	if diff := cmp.Diff([]string{"a 0:41", "b 0:47"}, devices); diff != "" {
		t.Errorf("places: %s", diff)
	}
	if diff := cmp.Diff([]string{"/var/lib/kubelet/pods/u/volumes/kubernetes.io~local-volume/a"}, elsewhere(all, found[Place{"fast", "a"}])); diff != "" {
		t.Errorf("uses of a: %s", diff)
	}
}

func TestSwapIsALineBelowTheHeading(t *testing.T) {
	const heading = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
	for text, want := range map[string]bool{
		"": false, heading: false, heading + "/dev/sda2                               partition\t1048572\t\t0\t\t-2\n": true,
	} {
		if got := hasSwap(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
