//go:build linux

package vm

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestArguments(t *testing.T) {
	m := &Machine{options: Options{Dir: "/d", Image: Image{Dir: "/image", Accelerator: "tcg"}}.withDefaults()}
	args := m.arguments([]Disk{
		{Serial: "remote", NBD: "/run/a,b"},
		{Serial: "big", NBD: "/s", SectorBytes: 4096},
	})
	for _, want := range []string{
		"if=none,id=root,format=raw,snapshot=on,cache=unsafe,file=/image/root.img",
		"if=none,id=remote,driver=nbd,server.type=unix,server.path=/run/a,,b,discard=unmap,cache=writeback",
		"virtio-blk-pci,drive=big,serial=big,werror=report,rerror=report,logical_block_size=4096,physical_block_size=4096",
		"2048",
	} {
		if !slices.Contains(args, want) {
			t.Errorf("no argument %q in %q", want, args)
		}
	}
}

func TestAcceleration(t *testing.T) {
	for _, test := range []struct{ accelerator, model, want string }{
		{"kvm", "", "-accel kvm -cpu host"},
		{"kvm", "Nehalem", "-accel kvm -cpu host"},
		{"tcg", "", "-accel tcg,thread=multi"},
		{"tcg", "Nehalem", "-accel tcg,thread=multi -cpu Nehalem"},
	} {
		if got := strings.Join(Image{Accelerator: test.accelerator}.acceleration(test.model), " "); got != test.want {
			t.Errorf("%s, %q: %q, want %q", test.accelerator, test.model, got, test.want)
		}
	}
}

func TestPrepareDiskRefuses(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "absent")
	for name, disk := range map[string]Disk{
		"no serial":   {Path: absent, SizeBytes: 1},
		"long serial": {Serial: strings.Repeat("x", 21), Path: absent, SizeBytes: 1},
		"no size":     {Serial: "x", Path: absent},
		"no path":     {Serial: "x", SizeBytes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := (&Machine{}).prepareDisk(t.Context(), disk); err == nil {
				t.Error("no error")
			}
		})
	}
}

// A disk that is there keeps what it has: machines come and go, disks stay.
func TestMakeDiskKeepsContent(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "disk"), "content")
	if err := makeDisk(path, 1<<20); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "content")
}

func TestExportArguments(t *testing.T) {
	e := Export{Path: "/disk", Filters: []string{"log", "delay"}, Parameters: []string{"wdelay=1ms"}}
	want := "--foreground --filter=log --filter=delay file /disk wdelay=1ms"
	if got := strings.Join(e.arguments(), " "); got != want {
		t.Errorf("arguments %q, want %q", got, want)
	}
}
