package blockdev

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pgstorage/pgstorage/internal/node/host/hosttest"
)

const device = "/dev/disk/by-id/virtio-disk7"

// node answers as one with a blank disk, but for what is changed.
type node struct {
	lsblk, wipefs, blkid hosttest.Answer
	files                fs.FS
	disk                 disk
	openErr              error
}

func blankNode() *node {
	return &node{
		lsblk:  hosttest.Answer{Stdout: lsblkOf("")},
		wipefs: hosttest.Answer{Stdout: `{"signatures":[]}`},
		blkid:  hosttest.Answer{Exit: 2},
		files:  fstest.MapFS{},
		disk:   disk{size: size},
	}
}

// lsblkOf one disk with further members.
func lsblkOf(members string) string {
	return fmt.Sprintf(`{"blockdevices":[{"kname":"/dev/vdk","type":"disk","size":%d%s}]}`, size, members)
}

func (n *node) client() (*Client, *hosttest.Replay) {
	r := &hosttest.Replay{Answers: map[string]hosttest.Answer{
		list + " " + device:            n.lsblk,
		"wipefs -J -n " + device:       n.wipefs,
		"blkid -p -o export " + device: n.blkid,
		"udevadm settle --timeout=20":  {},
	}}
	return &Client{Runner: r, FS: n.files, Open: func(path string) (Content, error) {
		if path != device || n.openErr != nil {
			return nil, errors.Join(n.openErr, fmt.Errorf("open %s", path))
		}
		return n.disk, nil
	}}, r
}

func TestBlank(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*testing.T, *node)
		// says is what was found, clean and inUse what follows.
		says         string
		clean, inUse bool
	}{
		{"blank", func(*testing.T, *node) {}, "blank", true, false},
		{"blank to wipefs of another release", func(_ *testing.T, n *node) { n.wipefs.Stdout = "\n" }, "blank", true, false},
		{"blank sample", func(t *testing.T, n *node) { n.wipefs.Stdout = sample(t, "wipefs-blank.json") }, "blank", true, false},
		{"a blank partition", func(t *testing.T, n *node) {
			n.blkid = hosttest.Answer{Stdout: sample(t, "blkid-gptpart.txt")}
		}, "blank", true, false},
		{"data", func(_ *testing.T, n *node) { n.disk.data = map[int64]string{8192: "x"} },
			"data without a known signature", true, false},
		{"ext4 by wipefs", func(t *testing.T, n *node) { n.wipefs.Stdout = sample(t, "wipefs-ext4.json") }, "ext4", false, false},
		{"ext4 by blkid", func(t *testing.T, n *node) { n.blkid = hosttest.Answer{Stdout: sample(t, "blkid-ext4.txt")} },
			"ext4", false, false},
		{"ext4 by both", func(t *testing.T, n *node) {
			n.wipefs.Stdout = sample(t, "wipefs-ext4.json")
			n.blkid = hosttest.Answer{Stdout: sample(t, "blkid-ext4.txt")}
		}, "ext4", false, false},
		{"gpt", func(t *testing.T, n *node) { n.wipefs.Stdout = sample(t, "wipefs-gpt.json") }, "PMBR, gpt", false, false},
		{"gpt by blkid", func(t *testing.T, n *node) { n.blkid = hosttest.Answer{Stdout: sample(t, "blkid-gpt.txt")} },
			"gpt", false, false},
		{"lvm", func(t *testing.T, n *node) {
			n.wipefs.Stdout = sample(t, "wipefs-lvm.json")
			n.blkid = hosttest.Answer{Stdout: sample(t, "blkid-lvm.txt")}
		}, "LVM2_member", false, false},
		{"zfs", func(t *testing.T, n *node) {
			n.wipefs.Stdout = sample(t, "wipefs-zfsmemberpart.json")
			n.blkid = hosttest.Answer{Stdout: sample(t, "blkid-zfsmemberpart.txt")}
		}, "zfs_member", false, false},
		{"ambivalent", func(_ *testing.T, n *node) { n.blkid = hosttest.Answer{Exit: 8} },
			"several signatures at once", false, false},
		{"ambivalent in words", func(_ *testing.T, n *node) { n.blkid = hosttest.Answer{Stdout: "USAGE=ambivalent\n"} },
			"ambivalent", false, false},
		{"BlueStore that only the content shows", func(_ *testing.T, n *node) {
			n.disk.data = map[int64]string{0: "bluestore block device\n"}
		}, "Ceph BlueStore label", false, false},
		{"a partition that nothing uses", func(_ *testing.T, n *node) {
			n.lsblk.Stdout = lsblkOf(`,"children":[{"kname":"/dev/vdk1","type":"part","size":1}]`)
		}, "partition /dev/vdk1", false, false},
		{"a mounted partition", func(_ *testing.T, n *node) {
			n.lsblk.Stdout = lsblkOf(`,"children":[{"kname":"/dev/vdk1","type":"part","size":1,"mountpoint":"/"}]`)
		}, "/dev/vdk1 mounted at /, partition /dev/vdk1", false, true},
		{"a logical volume", func(_ *testing.T, n *node) {
			n.lsblk.Stdout = lsblkOf(`,"children":[{"kname":"/dev/dm-0","type":"lvm","size":1}]`)
		}, "device of type lvm /dev/dm-0", false, true},
		{"mounted", func(_ *testing.T, n *node) { n.lsblk.Stdout = lsblkOf(`,"mountpoint":"/srv"`) },
			"/dev/vdk mounted at /srv", false, true},
		{"swap", func(_ *testing.T, n *node) { n.lsblk.Stdout = lsblkOf(`,"mountpoint":"[SWAP]"`) },
			"/dev/vdk mounted at [SWAP]", false, true},
		{"read-only", func(_ *testing.T, n *node) { n.lsblk.Stdout = lsblkOf(`,"ro":true`) }, "read-only device", false, true},
		{"no medium", func(_ *testing.T, n *node) {
			n.lsblk.Stdout = `{"blockdevices":[{"kname":"/dev/nbd0","type":"disk","size":0}]}`
		}, "device without a medium", false, true},
		{"too large", func(_ *testing.T, n *node) {
			n.lsblk.Stdout = `{"blockdevices":[{"kname":"/dev/nbd0","type":"disk","size":18446744073709551615}]}`
		}, "device without a medium", false, true},
		{"held", func(_ *testing.T, n *node) {
			n.files = fstest.MapFS{"sys/class/block/vdk/holders/dm-3": {}}
		}, "/dev/vdk held by dm-3", false, true},
		{"a held partition", func(_ *testing.T, n *node) {
			n.lsblk.Stdout = lsblkOf(`,"children":[{"kname":"/dev/vdk1","type":"part","size":1}]`)
			n.files = fstest.MapFS{"sys/class/block/vdk1/holders/md0": {}}
		}, "/dev/vdk1 held by md0, partition /dev/vdk1", false, true},
		// ZFS has no holder in /sys: only the kernel's refusal shows the use.
		{"an imported pool", func(_ *testing.T, n *node) { n.openErr = ErrInUse }, "device held by the kernel", false, true},
	} {
		n := blankNode()
		c.change(t, n)
		client, r := n.client()
		got, err := client.Blank(t.Context(), device)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got.String() != c.says || got.Clean() != c.clean || got.InUse() != c.inUse ||
			got.Blank() != (c.says == "blank") || got.Device != device {
			t.Errorf("%s: %s, clean %v, in use %v, blank %v", c.name, got, got.Clean(), got.InUse(), got.Blank())
		}
		if len(r.Changes()) > 0 {
			t.Errorf("%s: changed %q", c.name, r.Changes())
		}
	}
}

// What cannot be found out is not blank.
func TestProbesThatFail(t *testing.T) {
	fault := errors.New("input/output error")
	for _, c := range []struct {
		name   string
		change func(*node)
		says   string
	}{
		{"lsblk", func(n *node) { n.lsblk = hosttest.Answer{Exit: 1, Stderr: "bad"} }, "bad"},
		{"no such device", func(n *node) { n.lsblk = hosttest.Answer{Exit: 32, Stderr: "x: not a block device"} }, "no such block"},
		{"wipefs", func(n *node) { n.wipefs = hosttest.Answer{Exit: 1, Stderr: "probing failed"} }, "probing failed"},
		{"wipefs of unknown form", func(n *node) { n.wipefs.Stdout = "DEVICE OFFSET" }, "unknown output format"},
		{"wipefs without offset", func(n *node) { n.wipefs.Stdout = `{"signatures":[{"type":"x"}]}` }, "unknown output format"},
		{"wipefs without type", func(n *node) { n.wipefs.Stdout = `{"signatures":[{"offset":"0x1"}]}` }, "unknown output format"},
		{"blkid", func(n *node) { n.blkid = hosttest.Answer{Exit: 4} }, "exit"},
		{"blkid that cannot read", func(n *node) { n.blkid = hosttest.Answer{Exit: 2, Stderr: "Input/output error"} }, "Input/output"},
		{"open", func(n *node) { n.openErr = fault }, "input/output error"},
		{"read", func(n *node) { n.disk.err = fault }, "input/output error"},
		{"shorter than told", func(n *node) { n.disk.size = 5 }, "EOF"},
		{"holders", func(n *node) { n.files = brokenFS{fstest.MapFS{}, "sys/class/block/vdk/holders"} }, "input/output error"},
	} {
		n := blankNode()
		c.change(n)
		client, _ := n.client()
		got, err := client.Blank(t.Context(), device)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
		if got.Device != "" {
			t.Errorf("%s: a result besides the error: %+v", c.name, got)
		}
	}
}

func FuzzProbes(f *testing.F) {
	for _, name := range []string{"wipefs-gpt.json", "wipefs-blank.json", "blkid-gpt.txt", "blkid-gptpart.txt"} {
		f.Add(sample(f, name))
	}
	f.Fuzz(func(t *testing.T, out string) {
		if found, err := parseWipefs([]byte(out)); err == nil {
			for _, s := range found {
				if s.What == "" || s.By != ByWipefs {
					t.Errorf("%+v", s)
				}
			}
		}
		for _, s := range parseBlkid(out) {
			if s.By != ByBlkid {
				t.Errorf("%+v", s)
			}
		}
	})
}
