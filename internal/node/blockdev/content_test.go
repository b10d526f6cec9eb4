package blockdev

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// disk is zero but for some bytes.
type disk struct {
	size int64
	data map[int64]string
	err  error
}

func (d disk) ReadAt(p []byte, at int64) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	clear(p)
	for offset, text := range d.data {
		for i := range text {
			if j := offset + int64(i) - at; j >= 0 && j < int64(len(p)) {
				p[j] = text[i]
			}
		}
	}
	if at+int64(len(p)) > d.size {
		return int(max(0, d.size-at)), io.EOF
	}
	return len(p), nil
}

func (disk) Close() error { return nil }

const size = 536870912 // of the samples' disks

func TestContentOfDevices(t *testing.T) {
	const zeros = int64(size)
	for _, c := range []struct {
		what string
		disk disk
	}{
		{"", disk{size: zeros}},
		{"", disk{size: 512}},
		{"Ceph BlueStore label", disk{size, map[int64]string{0: "bluestore block device\n"}, nil}},
		{"Ceph BlueStore label copy", disk{20 << 30, map[int64]string{10 << 30: "bluestore block device\n"}, nil}},
		{"GPT", disk{size, map[int64]string{512: "EFI PART"}, nil}},
		{"GPT", disk{size, map[int64]string{4096: "EFI PART"}, nil}},
		{"GPT backup", disk{size, map[int64]string{size - 512: "EFI PART"}, nil}},
		{"GPT backup", disk{size, map[int64]string{size - 4096: "EFI PART"}, nil}},
		{"MBR or boot sector", disk{size, map[int64]string{510: "\x55\xaa"}, nil}},
		{"LUKS header", disk{size, map[int64]string{0: "LUKS\xba\xbe\x00\x02"}, nil}},
		{"LUKS secondary header", disk{size, map[int64]string{16384: "SKUL\xba\xbe"}, nil}},
		{"LVM physical volume", disk{size, map[int64]string{512: "LABELONE", 512 + 24: "LVM2 001"}, nil}},
		{"XFS", disk{size, map[int64]string{0: "XFSB"}, nil}},
		{"ext filesystem", disk{size, map[int64]string{0x438: "\x53\xef"}, nil}},
		{"btrfs", disk{size, map[int64]string{0x10040: "_BHRfS_M"}, nil}},
		{"swap", disk{size, map[int64]string{4086: "SWAPSPACE2"}, nil}},
		{"swap", disk{size, map[int64]string{65526: "SWAPSPACE2"}, nil}},
		{"MD RAID 1.1", disk{size, map[int64]string{0: mdMagic}, nil}},
		{"MD RAID 1.2", disk{size, map[int64]string{4096: mdMagic}, nil}},
		{"MD RAID 1.0", disk{size, map[int64]string{size - 8192: mdMagic}, nil}},
		{"MD RAID 0.90", disk{size, map[int64]string{size - 65536: mdMagic}, nil}},
		// The size is not a multiple of anything.
		{"MD RAID 0.90", disk{size + 4608, map[int64]string{size - 65536: mdMagic}, nil}},
		{"MD RAID 1.0", disk{size + 512, map[int64]string{size - 8192: mdMagic}, nil}},
		{"ZFS label", disk{size, map[int64]string{zfsUberblocks + 28*1024: "\x0c\xb1\xba\x00\x00\x00\x00\x00"}, nil}},
		{"ZFS label", disk{size, map[int64]string{zfsLabel + zfsUberblocks: "\x00\x00\x00\x00\x00\xba\xb1\x0c"}, nil}},
		{"ZFS label", disk{size, map[int64]string{size - 2*zfsLabel + zfsUberblocks: "\x0c\xb1\xba\x00\x00\x00\x00\x00"}, nil}},
		{"ZFS label", disk{size + 5000, map[int64]string{size - zfsLabel + 20<<10: "pool_guid"}, nil}},
	} {
		found, zero, err := inspect(c.disk, c.disk.size)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		if got := (Signatures{Found: found, Data: !zero}).String(); c.what == "" && got != "blank" || c.what != "" && got != c.what {
			t.Errorf("%q: %s", c.what, got)
		}
		// A copy of BlueStore's label is not at an edge.
		if atEdge := !strings.HasSuffix(c.what, "copy"); atEdge && zero != (c.what == "") {
			t.Errorf("%s: zero is %v", c.what, zero)
		}
	}
}

func TestContentThatCannotBeRead(t *testing.T) {
	fault := errors.New("input/output error")
	if _, _, err := inspect(disk{size: size, err: fault}, size); !errors.Is(err, fault) {
		t.Error(err)
	}
	for _, short := range []int64{0, 5 << 20, 19 << 30} { // shorter than lsblk says
		if _, _, err := inspect(disk{size: short}, 20<<30); !errors.Is(err, io.EOF) {
			t.Errorf("%d: %v", short, err)
		}
	}
	if _, _, err := inspect(failing{at: 1 << 30}, 20<<30); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

type failing struct{ at int64 }

func (f failing) ReadAt(p []byte, at int64) (int, error) {
	if at == f.at {
		return 0, errBroken
	}
	return len(p), nil
}

// at gives the bytes of the device wherever an edge holds them, and otherwise none.
func TestEdges(t *testing.T) {
	for _, size := range []int64{1, 511, 4096, edge - 1, edge, edge + 1, 2*edge - 1, 2 * edge, 3*edge + 5} {
		whole := make([]byte, size)
		for i := range whole {
			whole[i] = byte(i ^ i>>8 ^ i>>16)
		}
		n := min(size, edge)
		e := edges{head: whole[:n], tail: whole[size-n:], size: size}
		for _, at := range []int64{0, 1, 510, 4096, edge - 8, edge - 1, edge, size / 2, size - edge, size - 512, size - 8, size - 1, size} {
			for _, n := range []int64{1, 8, 512} {
				if at < 0 {
					continue // would count from the end
				}
				got := e.at(at, n)
				inside := at+n <= size
				known := inside && (at+n <= edge || at >= size-edge)
				if known != (got != nil) || known && !bytes.Equal(got, whole[at:at+n]) {
					t.Errorf("%d bytes at %d of %d: %d bytes", n, at, size, len(got))
				}
			}
		}
		if e.absolute(-1) != size-1 || e.absolute(1) != 1 {
			t.Error("offsets from the end")
		}
	}
}

// A device of any size can be read, and zeros are blank.
func TestSmallDevices(t *testing.T) {
	for _, size := range []int64{1, 512, 4095, 8191, 64 << 10, 256<<10 - 1, 1<<20 - 1, 1 << 20, edge + 1} {
		found, zero, err := inspect(disk{size: size}, size)
		if err != nil || !zero || len(found) > 0 {
			t.Errorf("%d: %v, zero %v, %v", size, found, zero, err)
		}
	}
	if at := zfsLabels(1<<20 - 1); at != nil {
		t.Errorf("labels at %d of a device that has no room for four", at)
	}
	equal(t, zfsLabels(1<<20+77), []int64{0, 256 << 10, 512 << 10, 768 << 10})
	if !isZFSLabel(append(make([]byte, zfsPairs), append([]byte("pool_guid"), make([]byte, zfsLabel)...)...)[:zfsLabel]) ||
		isZFSLabel(nil) || isZFSLabel(make([]byte, zfsLabel)) {
		t.Error("what a label is")
	}
}

// Whatever is at the ends of a device, it is either all zero or not blank.
func FuzzContent(f *testing.F) {
	f.Add("EFI PART", int64(512), int64(size))
	f.Add("pool_guid", int64(20<<10), int64(1<<20))
	f.Add("x", int64(0), int64(1))
	f.Fuzz(func(t *testing.T, text string, at, size int64) {
		if size <= 0 || size > 1<<31 || at < 0 || at+int64(len(text)) > size {
			return
		}
		_, zero, err := inspect(disk{size: size, data: map[int64]string{at: text}}, size)
		inEdge := at+int64(len(text)) <= edge || at >= size-edge
		if err != nil || inEdge && zero != (strings.Trim(text, "\x00") == "") {
			t.Errorf("%q at %d of %d: zero %v, %v", text, at, size, zero, err)
		}
	})
}
