package blockdev

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestSelect(t *testing.T) {
	const gib = 1 << 30
	disk := func(path string, size uint64, change func(*Device)) Device {
		d := Device{Path: "/dev/disk/by-id/" + path, Kernel: "/dev/x", Type: "disk", Size: size, Model: "SAMSUNG MZ7L3/A",
			Transport: "nvme"}
		if change != nil {
			change(&d)
		}
		return d
	}
	all := []Device{
		disk("c", 4*gib, nil),
		disk("a", 1*gib, nil),
		disk("b", 2*gib, func(d *Device) { d.Rotational, d.Transport, d.Model = true, "sata", "WDC WD40" }),
		disk("table", 4*gib, func(d *Device) { d.PartitionTable = "gpt" }),
		disk("parts", 4*gib, func(d *Device) { d.Children = []Device{{Type: "part"}} }),
		disk("mounted", 4*gib, func(d *Device) { d.Mountpoints = []string{"/"} }),
		disk("fs", 4*gib, func(d *Device) { d.FSType = "ext4" }),
		// Never chosen:
		disk("ro", 4*gib, func(d *Device) { d.ReadOnly = true }),
		disk("rom", 4*gib, func(d *Device) { d.Type = "rom" }),
		disk("part", 4*gib, func(d *Device) { d.Type = "part" }),
		disk("empty", 0, nil),
		disk("zvol", 4*gib, func(d *Device) { d.Path = "" }),
		disk("nbd", 4*gib, func(d *Device) { d.Path = "/dev/nbd0" }),
	}
	yes, no := true, false
	for _, c := range []struct {
		name string
		c    Criteria
		want string
	}{
		{"all", Criteria{}, "a b c fs mounted parts table"},
		{"blank", Criteria{BlankOnly: true}, "a b c"},
		{"large", Criteria{BlankOnly: true, MinSize: 2 * gib}, "b c"},
		{"small", Criteria{BlankOnly: true, MaxSize: 2 * gib}, "a b"},
		{"exact", Criteria{MinSize: 2 * gib, MaxSize: 2 * gib}, "b"},
		{"model", Criteria{BlankOnly: true, Model: "SAMSUNG *"}, "a c"},
		{"whole model", Criteria{Model: "SAMSUNG"}, ""},
		{"transport", Criteria{Transport: "sata"}, "b"},
		{"rotational", Criteria{Rotational: &yes}, "b"},
		{"solid", Criteria{Rotational: &no, BlankOnly: true}, "a c"},
	} {
		got, err := Select(all, c.c)
		if err != nil {
			t.Error(err)
		}
		var names []string
		for _, d := range got {
			names = append(names, filepath.Base(d.Path))
		}
		if strings.Join(names, " ") != c.want {
			t.Errorf("%s: %q", c.name, names)
		}
	}
	for _, bad := range []Criteria{{Model: "[a"}, {MinSize: 2, MaxSize: 1}} {
		if _, err := Select(all, bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
