package blockdev

import (
	"io/fs"
	"testing"
	"testing/fstest"
)

// A search for a pool reads no device whose requests may wait for the agent, Ceph or another
// pool. Nor does it read what is on such a device. It reads all others by all their names.
func TestSearchable(t *testing.T) {
	block := &fstest.MapFile{Mode: fs.ModeDevice | 0o660}
	char := &fstest.MapFile{Mode: fs.ModeDevice | fs.ModeCharDevice | 0o660}
	machine := fstest.MapFS{
		"dev/disk/by-id/ata-a":           link("../../sda"),
		"dev/disk/by-id/wwn-a":           link("../../sda"),
		"dev/disk/by-id/wwn-a-part1":     link("../../sda1"),
		"dev/disk/by-id/dm-uuid-local":   link("../../dm-0"),
		"dev/disk/by-id/dm-uuid-luks":    link("../../dm-1"),
		"dev/disk/by-id/dm-uuid-both":    link("../../dm-2"),
		"dev/disk/by-id/gone":            link("../../sdz"),
		"dev/disk/by-partuuid/on-nbd":    link("../../nbd1p1"),
		"dev/disk/by-partlabel/on-local": link("../../sda1"),
		"dev/by-hand":                    link("disk/by-id/wwn-a"),
		"dev/ring":                       link("ring"),
		"dev/fd":                         link("/proc/self/fd"),
		"dev/core":                       link("/proc/kcore"),
		"dev/cd":                         link("sr0"),
		"dev/remote":                     link("nbd0"),
		"proc/kcore":                     {},
		"proc/self/fd/0":                 {},
		"dev/null":                       char,
	}
	for _, name := range []string{
		"sda", "sda1", "sr0", "dm-0", "dm-1", "dm-2", "loop0", "nvme0n1", "ram0",
		"nbd0", "nbd1", "nbd1p1", "nbd7", "rbd0", "zd0", "zd0p1",
	} {
		machine["dev/"+name] = block
	}
	device := func(kernel string, on ...Device) Device {
		return Device{Kernel: "/dev/" + kernel, Children: on}
	}
	all := []Device{
		device("sda", device("sda1", device("dm-0"), device("dm-2"))),
		device("nbd0", device("dm-2")), device("nbd1", device("nbd1p1")), device("rbd0", device("dm-1")), device("zd0", device("zd0p1")),
		device("loop0"), device("nvme0n1"), device("sr0"),
	}
	always := []string{
		"/dev/disk/by-id/ata-a", "/dev/disk/by-id/dm-uuid-local", "/dev/disk/by-id/wwn-a", "/dev/disk/by-id/wwn-a-part1",
		"/dev/by-hand", "/dev/cd", "/dev/dm-0", "/dev/loop0", "/dev/nvme0n1", "/dev/ram0", "/dev/sda", "/dev/sda1", "/dev/sr0",
	}
	for _, c := range []struct{ named, want []string }{
		{nil, always},
		{[]string{"/dev/disk/by-partlabel/on-local", "/dev/disk/by-id/nothing"}, always},
		{
			[]string{"/dev/disk/by-partuuid/on-nbd"},
			[]string{
				"/dev/disk/by-id/ata-a", "/dev/disk/by-id/dm-uuid-local", "/dev/disk/by-id/wwn-a", "/dev/disk/by-id/wwn-a-part1",
				"/dev/by-hand", "/dev/cd", "/dev/dm-0", "/dev/loop0", "/dev/nbd1p1", "/dev/nvme0n1", "/dev/ram0", "/dev/sda", "/dev/sda1", "/dev/sr0",
			},
		},
		{
			[]string{"/dev/disk/by-id/dm-uuid-luks"},
			[]string{
				"/dev/disk/by-id/ata-a", "/dev/disk/by-id/dm-uuid-local", "/dev/disk/by-id/dm-uuid-luks", "/dev/disk/by-id/wwn-a", "/dev/disk/by-id/wwn-a-part1",
				"/dev/by-hand", "/dev/cd", "/dev/dm-0", "/dev/dm-1", "/dev/loop0", "/dev/nvme0n1", "/dev/ram0", "/dev/sda", "/dev/sda1", "/dev/sr0",
			},
		},
	} {
		got, err := (&Client{FS: machine}).Searchable(all, c.named...)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, c.want)
	}
	if got, err := (&Client{FS: fstest.MapFS{}}).Searchable(nil); err != nil || len(got) > 0 {
		t.Errorf("a node without devices: %q, %v", got, err)
	}
}
