package blockdev

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// Content of a device.
type Content interface {
	io.ReaderAt
	io.Closer
}

// OpenExclusive returns a Client.Open of the devices of the node whose / is at root. The kernel
// refuses to open devices that are mounted or held, in any mount namespace. A container cannot
// see these in lsblk or /proc.
func OpenExclusive(root string) func(device string) (Content, error) {
	return func(device string) (Content, error) {
		f, err := os.OpenFile(filepath.Join(root, device), os.O_RDONLY|os.O_EXCL, 0)
		switch {
		case errors.Is(err, syscall.EBUSY):
			return nil, fmt.Errorf("%w: %w", ErrInUse, err)
		case err != nil:
			return nil, err // not *os.File(nil) in an interface
		}
		return f, nil
	}
}

// edge is how much is read at both ends: all that is known of is within it, but for
// BlueStore's copies.
const edge = 4 << 20

// magic of something at an offset of a device; a negative one counts from the end.
type magic struct {
	what   string
	offset int64
	bytes  string
}

// magics that are looked for, besides what wipefs and blkid of the node know. The node's
// may be old, or know less, as of BlueStore before util-linux 2.38.
var magics = []magic{
	{"Ceph BlueStore label", 0, blueStore},
	{"GPT", 512, "EFI PART"},
	{"GPT", 4096, "EFI PART"},
	{"GPT backup", -512, "EFI PART"},
	{"GPT backup", -4096, "EFI PART"},
	{"MBR or boot sector", 510, "\x55\xaa"},
	{"LUKS header", 0, "LUKS\xba\xbe"},
	{"LUKS secondary header", 16 << 10, "SKUL\xba\xbe"},
	// The type in LVM's label: wipefs removes that and leaves the word LABELONE.
	{"LVM physical volume", 24, "LVM2 001"},
	{"LVM physical volume", 512 + 24, "LVM2 001"},
	{"LVM physical volume", 1024 + 24, "LVM2 001"},
	{"LVM physical volume", 1536 + 24, "LVM2 001"},
	{"XFS", 0, "XFSB"},
	{"ext filesystem", 0x438, "\x53\xef"},
	{"btrfs", 0x10040, "_BHRfS_M"},
	{"bcache", 0x1018, "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"},
	{"swap", 4096 - 10, "SWAPSPACE2"},
	{"swap", 8192 - 10, "SWAPSPACE2"},
	{"swap", 16384 - 10, "SWAPSPACE2"},
	{"swap", 65536 - 10, "SWAPSPACE2"},
	{"MD RAID 1.1", 0, mdMagic},
	{"MD RAID 1.2", 4096, mdMagic},
}

// mdMagic is 0xa92b4efc on disk.
const mdMagic = "\xfc\x4e\x2b\xa9"

// blueStore begins every label of Ceph's, in a block of its own.
const (
	blueStore      = "bluestore block device"
	blueStoreBlock = 4096
)

// blueStoreCopies of the label, in Ceph since Squid. Source: ceph bluestore_types.
var blueStoreCopies = []int64{1 << 30, 10 << 30, 100 << 30, 1000 << 30}

// inspect the device's content. zero says that they hold nothing at all.
func inspect(c io.ReaderAt, size int64) (found []Signature, zero bool, err error) {
	head, err := readAt(c, 0, min(size, edge))
	if err != nil {
		return nil, false, err
	}
	tail, err := readAt(c, max(0, size-edge), min(size, edge))
	if err != nil {
		return nil, false, err
	}
	e := edges{head: head, tail: tail, size: size}
	for _, m := range append(mdAtEnd(size), magics...) {
		if e.has(m.offset, m.bytes) {
			found = append(found, Signature{What: m.what, By: ByContent, Offset: e.absolute(m.offset)})
		}
	}
	for _, at := range zfsLabels(size) {
		if label := e.at(at, zfsLabel); isZFSLabel(label) {
			found = append(found, Signature{What: "ZFS label", By: ByContent, Offset: at})
		}
	}
	copies, err := copiesOfBlueStore(c, size)
	return append(found, copies...), allZero(head) && allZero(tail), err
}

func copiesOfBlueStore(c io.ReaderAt, size int64) ([]Signature, error) {
	var found []Signature
	for _, at := range blueStoreCopies {
		if at+blueStoreBlock > size {
			break
		}
		block, err := readAt(c, at, blueStoreBlock)
		if err != nil {
			return nil, err
		}
		if bytes.HasPrefix(block, []byte(blueStore)) {
			found = append(found, Signature{What: "Ceph BlueStore label copy", By: ByContent, Offset: at})
		}
	}
	return found, nil
}

func readAt(c io.ReaderAt, offset, n int64) ([]byte, error) {
	data := make([]byte, n)
	if got, err := c.ReadAt(data, offset); int64(got) < n {
		return nil, fmt.Errorf("read %d bytes at %d: %w", n, offset, err)
	}
	return data, nil
}

// edges of a device of size bytes.
type edges struct {
	head, tail []byte
	size       int64
}

func (e edges) absolute(offset int64) int64 {
	if offset < 0 {
		return e.size + offset
	}
	return offset
}

// at gives n bytes, or nil where they are not within an edge.
func (e edges) at(offset, n int64) []byte {
	offset = e.absolute(offset)
	tailAt := e.size - int64(len(e.tail))
	switch {
	case offset < 0 || offset+n > e.size:
		return nil
	case offset+n <= int64(len(e.head)):
		return e.head[offset : offset+n]
	case offset >= tailAt:
		return e.tail[offset-tailAt : offset-tailAt+n]
	}
	return nil
}

func (e edges) has(offset int64, text string) bool {
	return string(e.at(offset, int64(len(text)))) == text
}

// mdAtEnd: version 0.90 is in the last whole 64 KiB but one, 1.0 in the last 8 to 12 KiB.
// Source: md(4).
func mdAtEnd(size int64) []magic {
	return []magic{
		{"MD RAID 0.90", size&^(64<<10-1) - 64<<10, mdMagic},
		{"MD RAID 1.0", (size/512 - 16) &^ 7 * 512, mdMagic},
	}
}

// zfsLabel in bytes: 8 KiB blank, boot header, 112 KiB of name-value pairs, 128 KiB of
// uberblocks. Two labels are at the start and two at the end. Source: sys/vdev_impl.h.
const (
	zfsLabel       = 256 << 10
	zfsPairs       = 16 << 10
	zfsUberblocks  = 128 << 10
	zfsUberblock   = 1 << 10
	zfsUberMagic   = 0x00bab10c
	zfsPairsMember = "pool_guid"
)

func zfsLabels(size int64) []int64 {
	end := size &^ (zfsLabel - 1)
	if end < 4*zfsLabel {
		return nil
	}
	return []int64{0, zfsLabel, end - 2*zfsLabel, end - zfsLabel}
}

func isZFSLabel(label []byte) bool {
	if label == nil {
		return false
	}
	if bytes.Contains(label[zfsPairs:zfsUberblocks], []byte(zfsPairsMember)) {
		return true
	}
	for at := zfsUberblocks; at < len(label); at += zfsUberblock {
		if binary.LittleEndian.Uint64(label[at:]) == zfsUberMagic || binary.BigEndian.Uint64(label[at:]) == zfsUberMagic {
			return true
		}
	}
	return false
}

func allZero(data []byte) bool {
	return len(bytes.Trim(data, "\x00")) == 0
}
