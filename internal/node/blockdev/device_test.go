package blockdev

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pgstorage/pgstorage/internal/node/host/hosttest"
)

// sample is an output of util-linux 2.38 of a virtual machine with disks made for it.
func sample(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func equal(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwanted\n%+v", got, want)
	}
}

func link(target string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
}

// links of the sample's machine.
func links() fstest.MapFS {
	return fstest.MapFS{
		"dev/disk/by-id/virtio-root":                  link("../../vda"),
		"dev/disk/by-id/virtio-payload":               link("../../vdb"),
		"dev/disk/by-id/virtio-disk0":                 link("../../vdd"),
		"dev/disk/by-id/virtio-disk0-part1":           link("../../vdd1"),
		"dev/disk/by-id/virtio-disk7":                 link("../../vdk"),
		"dev/disk/by-path/pci-0000:00:0b.0":           link("../../vdk"),
		"dev/disk/by-path/virtio-pci-0000:00:0b.0":    link("../../vdk"),
		"dev/disk/by-id/not-a-link":                   {},
		"sys/class/block/vdd/holders":                 {Mode: fs.ModeDir},
		"sys/class/block/vdk1/holders/dm-0":           {},
		"sys/class/block/cciss!c0d0/holders/md0":      {},
		"dev/disk/by-id/lvm-pv-uuid-NIhkSt-RhSV-7Mp8": link("../../vda"),
	}
}

const list = "lsblk -J -b -p -o " + columns

func TestInventory(t *testing.T) {
	c := &Client{FS: links(), Runner: &hosttest.Replay{Answers: map[string]hosttest.Answer{
		list: {Stdout: sample(t, "lsblk.json")},
	}}}
	all, err := c.Inventory(t.Context())
	if err != nil || len(all) != 5 {
		t.Fatalf("%d, %v", len(all), err)
	}
	equal(t, all[1], Device{
		Path: "/dev/disk/by-id/virtio-root", Kernel: "/dev/vda", Type: "disk", Size: 4294967296, Serial: "root", Transport: "virtio",
		Rotational: true, LogicalSector: 512, PhysicalSector: 512, FSType: "ext4",
		UUID: "620bc873-cbf7-4d86-9197-9450c9d0f377", Mountpoints: []string{"/"},
	})
	if nbd := all[0]; nbd.Path != "/dev/nbd0" || nbd.Size != 0 || nbd.Rotational {
		t.Errorf("%+v", nbd)
	}
	if !all[2].ReadOnly {
		t.Errorf("%+v", all[2])
	}
	pool := all[3]
	if pool.PartitionTable != "gpt" || len(pool.Children) != 2 {
		t.Fatalf("%+v", pool)
	}
	part := pool.Children[0]
	if part.Path != "/dev/disk/by-id/virtio-disk0-part1" || part.Parent != "/dev/vdd" || part.FSType != "zfs_member" ||
		part.PartitionType != "6a898cc3-1dd2-11b2-99a6-080020736631" || part.Label != "stripe" {
		t.Errorf("%+v", part)
	}
	if pool.Children[1].Path != "" {
		t.Errorf("a partition without a link has the path %s", pool.Children[1].Path)
	}
}

// Before 2.33 lsblk printed numbers and truths as strings.
func TestOldLsblk(t *testing.T) {
	got, err := parseLsblk([]byte(`{"blockdevices": [{"name":"/dev/sda","kname":"/dev/sda","type":"disk","size":"512110190592",
		"model":"SAMSUNG MZ7L3  ","serial":" S1 ","wwn":"0x5002538f","tran":"sata","rota":"1","ro":"0","hotplug":"1",
		"mountpoint":"[SWAP]","log-sec":"512","phy-sec":"4096"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, []Device{{
		Kernel: "/dev/sda", Type: "disk", Size: 512110190592, Model: "SAMSUNG MZ7L3", Serial: "S1", WWN: "0x5002538f",
		Transport: "sata", Rotational: true, Hotplug: true, LogicalSector: 512, PhysicalSector: 4096,
		Mountpoints: []string{"[SWAP]"},
	}})
}

func TestLsblkOfUnknownForm(t *testing.T) {
	for _, out := range []string{
		"", "NAME KNAME", `{"blockdevices":[{}]}`, `{"blockdevices":[{"kname":"sda","type":"disk"}]}`,
		`{"blockdevices":[{"kname":"/dev/sda","type":"disk","size":"1G"}]}`,
		`{"blockdevices":[{"kname":"/dev/sda","type":"disk","size":-1}]}`,
		`{"blockdevices":[{"kname":"/dev/sda","type":"disk","size":1,"children":[{"kname":"/dev/sda1"}]}]}`,
		`{"blockdevices":[{"kname":"\x","type":"disk"}]}`,
	} {
		c := &Client{FS: fstest.MapFS{}, Runner: &hosttest.Replay{Answers: map[string]hosttest.Answer{list: {Stdout: out}}}}
		if _, err := c.Inventory(t.Context()); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", out, err)
		}
	}
}

func TestDevice(t *testing.T) {
	answer := func(a hosttest.Answer) *Client {
		return &Client{FS: links(), Runner: &hosttest.Replay{Answers: map[string]hosttest.Answer{
			list + " /dev/disk/by-id/virtio-disk7": a,
		}}}
	}
	get := func(c *Client, device string) error {
		_, err := c.Device(t.Context(), device)
		return err
	}
	gone := hosttest.Answer{Stderr: "lsblk: /dev/disk/by-id/virtio-disk7: not a block device", Exit: 32}
	for _, c := range []struct {
		name   string
		answer hosttest.Answer
		device string
		want   error
	}{
		{"gone", gone, "/dev/disk/by-id/virtio-disk7", ErrNoSuchDevice},
		{"none", hosttest.Answer{Stdout: `{"blockdevices":[]}`}, "/dev/disk/by-id/virtio-disk7", ErrFormat},
		{"other", gone, "/dev/sdz", hosttest.ErrNoAnswer},
		{"relative", gone, "sda", ErrInvalid},
		{"outside", gone, "/dev/../etc/passwd", ErrInvalid},
		{"file", gone, "/var/lib/x", ErrInvalid},
		{"option", gone, "-f", ErrInvalid},
		{"blank", gone, "/dev/a b", ErrInvalid},
	} {
		if err := get(answer(c.answer), c.device); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// brokenFS fails to read one directory or link.
type brokenFS struct {
	fstest.MapFS
	at string
}

var errBroken = errors.New("input/output error")

func (b brokenFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == b.at {
		return nil, errBroken
	}
	return b.MapFS.ReadDir(name)
}

func (b brokenFS) ReadLink(name string) (string, error) {
	if name == b.at {
		return "", errBroken
	}
	return b.MapFS.ReadLink(name)
}

func TestLinksThatCannotBeRead(t *testing.T) {
	for _, at := range []string{"dev/disk/by-id", "dev/disk/by-id/virtio-root"} {
		c := &Client{FS: brokenFS{links(), at}, Runner: &hosttest.Replay{Answers: map[string]hosttest.Answer{
			list: {Stdout: sample(t, "lsblk.json")},
		}}}
		if _, err := c.Inventory(t.Context()); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", at, err)
		}
	}
	// On a real directory, and with absolute links.
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "dev/disk/by-id"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/sda", filepath.Join(root, "dev/disk/by-id/ata-x")); err != nil {
		t.Fatal(err)
	}
	got, err := (&Client{FS: os.DirFS(root)}).links()
	if err != nil {
		t.Error(err)
	}
	equal(t, got, map[string][]string{"/dev/sda": {"/dev/disk/by-id/ata-x"}})
}

func TestStablePath(t *testing.T) {
	const id = "/dev/disk/by-id/"
	for _, c := range []struct {
		kernel string
		links  []string
		want   string
	}{
		{"/dev/sda", []string{id + "ata-A", id + "scsi-S", id + "wwn-0x5"}, id + "wwn-0x5"},
		{"/dev/sda", []string{id + "scsi-S", id + "ata-A"}, id + "ata-A"},
		{"/dev/nvme0n1", []string{id + "nvme-S_1", id + "nvme-eui.00", id + "nvme-S"}, id + "nvme-eui.00"},
		{"/dev/nvme0n1", []string{id + "nvme-S_1", id + "nvme-S"}, id + "nvme-S"},
		{"/dev/nvme0n1", []string{id + "nvme-B", id + "nvme-A"}, id + "nvme-A"},
		{"/dev/vda", []string{"/dev/disk/by-path/pci-0", id + "virtio-x"}, id + "virtio-x"},
		{"/dev/vda", []string{"/dev/disk/by-path/pci-0"}, "/dev/disk/by-path/pci-0"},
		{"/dev/sdb", []string{id + "usb-X"}, id + "usb-X"},
		{"/dev/sdb", []string{id + "lvm-pv-uuid-x"}, ""},
		{"/dev/sdb", []string{"/dev/disk/by-label/root"}, ""},
		{"/dev/sdb", nil, ""},
		{"/dev/vdb", nil, ""},
		{"/dev/nbd3", nil, "/dev/nbd3"},
		{"/dev/loop0", nil, "/dev/loop0"},
		{"/dev/zd0", nil, ""},
	} {
		if got := stablePath(c.kernel, c.links); got != c.want {
			t.Errorf("%s %q: %q", c.kernel, c.links, got)
		}
	}
}

func FuzzLsblk(f *testing.F) {
	f.Add(sample(f, "lsblk.json"))
	f.Add(`{"blockdevices":[{"kname":"/dev/a","type":"disk","size":null,"ro":true,"children":[]}]}`)
	f.Fuzz(func(t *testing.T, out string) {
		all, err := parseLsblk([]byte(out))
		for _, d := range all {
			if err == nil && (d.Type == "" || !strings.HasPrefix(d.Kernel, "/dev/")) {
				t.Errorf("%+v", d)
			}
		}
	})
}

func TestOpenExclusive(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "dev"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "dev/sda"), []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := OpenExclusive(root)("/dev/sda")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readAt(in, 1, 2); err != nil || string(got) != "bc" {
		t.Errorf("%q, %v", got, err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if in, err := OpenExclusive(root)("/dev/sdb"); !errors.Is(err, fs.ErrNotExist) || in != nil {
		t.Errorf("%v, %v", in, err)
	}
}

// A device that is mounted on this machine is refused by the kernel.
func TestOpenExclusiveOfAMountedDevice(t *testing.T) {
	mounts, err := os.ReadFile("/proc/mounts")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(mounts)) {
		device, _, _ := strings.Cut(line, " ")
		info, err := os.Stat(device)
		if !strings.HasPrefix(device, "/dev/") || err != nil || info.Mode()&fs.ModeDevice == 0 {
			continue
		}
		in, err := OpenExclusive("")(device)
		if errors.Is(err, fs.ErrPermission) {
			t.Skip(err)
		}
		if !errors.Is(err, ErrInUse) || in != nil {
			t.Errorf("%s: %v, %v", device, in, err)
		}
		return
	}
	t.Skip("nothing is mounted from a device")
}
