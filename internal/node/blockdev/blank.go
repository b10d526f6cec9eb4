package blockdev

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pgstorage/pgstorage/internal/node/host"
)

// These are the sources of a signature.
const (
	ByWipefs  = "wipefs"
	ByBlkid   = "blkid"
	ByContent = "content"
	ByKernel  = "kernel"
)

// Signature is something that says the device is not blank.
type Signature struct {
	// What in words, such as "ext4" or "partition /dev/sda1".
	What string
	// By what it was found.
	By string
	// Offset in bytes where By is wipefs or content.
	Offset int64
}

// Signatures of one device.
type Signatures struct {
	// Device is the path of the caller.
	Device string
	// Is the device that was found there.
	Is Identity
	// Found, sorted.
	Found []Signature
	// Data says that the ends of the device are not all zero.
	Data bool
}

// Identity of a device, as lsblk has it: another one can come to its path.
type Identity struct {
	Kernel, Serial, WWN string
	Size                uint64
}

// Blank devices have no signature, no use, and zeros at both ends. Data without a signature is
// not blank, as a volume of plain dm-crypt or a database on the raw device has none. Users who
// do not need the data name the device with wipe.
func (s Signatures) Blank() bool { return s.Clean() && !s.Data }

// Clean devices have no signature and no use, but may hold data: so is what was wiped.
func (s Signatures) Clean() bool { return len(s.Found) == 0 }

// InUse reports whether the kernel uses the device, so that not even wipe applies to it. An
// unused partition does not count.
func (s Signatures) InUse() bool {
	return slices.ContainsFunc(s.Found, func(f Signature) bool { return f.By == ByKernel && !strings.HasPrefix(f.What, "partition ") })
}

// String names what was found, each kind once, or says that it is blank.
func (s Signatures) String() string {
	var words []string
	for _, f := range s.Found {
		if w := f.What; !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	switch {
	case len(words) > 0:
		return strings.Join(words, ", ")
	case s.Data:
		return "data without a known signature"
	}
	return "blank"
}

// Blank reads what is on one device, and changes nothing. Signatures.Blank is true only
// where wipefs, blkid, lsblk, the kernel and the content all show none. An error means
// that it could not be found out, so that the device is not to be taken for blank.
func (c *Client) Blank(ctx context.Context, device string) (Signatures, error) {
	d, err := c.Device(ctx, device)
	if err != nil {
		return Signatures{}, err
	}
	s := Signatures{Device: device, Found: uses(d), Is: Identity{Kernel: d.Kernel, Serial: d.Serial, WWN: d.WWN, Size: d.Size}}
	for _, probe := range []func(context.Context, Device, *Signatures) error{
		c.holders, c.wipefs, c.blkid, c.content,
	} {
		if err := probe(ctx, d, &s); err != nil {
			return Signatures{}, fmt.Errorf("probe of %s: %w", device, err)
		}
	}
	slices.SortStableFunc(s.Found, func(a, b Signature) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.What, b.What), cmp.Compare(a.By, b.By))
	})
	return s, nil
}

// uses that lsblk shows of a device and all on it.
func uses(d Device) []Signature {
	var found []Signature
	add := func(format string, args ...any) {
		found = append(found, Signature{What: fmt.Sprintf(format, args...), By: ByKernel})
	}
	if d.ReadOnly {
		add("read-only device")
	}
	if d.Size == 0 || d.Size > math.MaxInt64 {
		add("device without a medium")
	}
	for _, m := range d.Mountpoints {
		add("%s mounted at %s", d.Kernel, m)
	}
	for _, child := range d.Children {
		kind := "partition"
		if child.Type != "part" {
			kind = "device of type " + child.Type
		}
		add("%s %s", kind, child.Kernel)
		found = append(found, uses(child)...)
	}
	return found
}

// holders of the device and its partitions, which lsblk shows only where they are block
// devices themselves.
func (c *Client) holders(_ context.Context, d Device, s *Signatures) error {
	all := []Device{d}
	for i := 0; i < len(all); i++ {
		all = append(all, all[i].Children...)
		dir := path.Join("sys/class/block", strings.ReplaceAll(strings.TrimPrefix(all[i].Kernel, "/dev/"), "/", "!"), "holders")
		entries, err := fs.ReadDir(c.FS, dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			s.Found = append(s.Found, Signature{What: all[i].Kernel + " held by " + e.Name(), By: ByKernel})
		}
	}
	return nil
}

func (c *Client) wipefs(ctx context.Context, _ Device, s *Signatures) error {
	out, err := c.Run(ctx, "wipefs", "-J", "-n", s.Device)
	if err != nil {
		return err
	}
	found, err := parseWipefs(out.Stdout)
	s.Found = append(s.Found, found...)
	return err
}

func parseWipefs(out []byte) ([]Signature, error) {
	if strings.TrimSpace(string(out)) == "" {
		return nil, nil // how some releases print that there are none
	}
	var all struct {
		Signatures []struct {
			Type   string `json:"type"`
			Offset string `json:"offset"`
		} `json:"signatures"`
	}
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, fmt.Errorf("%w: wipefs: %w", ErrFormat, err)
	}
	var found []Signature
	for _, f := range all.Signatures {
		offset, err := strconv.ParseInt(f.Offset, 0, 64)
		if err != nil || f.Type == "" {
			return nil, fmt.Errorf("%w: wipefs: type %q at offset %q", ErrFormat, f.Type, f.Offset)
		}
		found = append(found, Signature{What: f.Type, By: ByWipefs, Offset: offset})
	}
	return found, nil
}

// Exit codes of blkid -p. Source: blkid(8).
const (
	blkidNothing    = 2
	blkidAmbivalent = 8
)

func (c *Client) blkid(ctx context.Context, _ Device, s *Signatures) error {
	out, err := c.Run(ctx, "blkid", "-p", "-o", "export", s.Device)
	failed, _ := errors.AsType[*host.Error](err)
	switch {
	case err == nil:
		s.Found = append(s.Found, parseBlkid(string(out.Stdout))...)
		return nil
	case failed != nil && failed.ExitCode == blkidNothing && strings.TrimSpace(failed.Stderr) == "":
		return nil
	case failed != nil && failed.ExitCode == blkidAmbivalent:
		s.Found = append(s.Found, Signature{What: "several signatures at once", By: ByBlkid})
		return nil
	}
	return err
}

// parseBlkid parses lines KEY=value. blkid prints the table entry of a blank partition, which
// does not count as a signature.
func parseBlkid(out string) []Signature {
	var found []Signature
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\n"), "=")
		if key == "TYPE" || key == "PTTYPE" || key == "USAGE" && value == "ambivalent" {
			found = append(found, Signature{What: value, By: ByBlkid})
		}
	}
	return found
}

// inspection of the content of a device.
type inspection struct {
	found []Signature
	zero  bool
}

func (c *Client) content(ctx context.Context, d Device, s *Signatures) error {
	if d.Size == 0 || d.Size > math.MaxInt64 {
		return nil // found already
	}
	size := int64(d.Size)
	read, err := visit(ctx, c, s.Device, func(in Content) (inspection, error) {
		found, zero, err := inspect(in, size)
		return inspection{found, zero}, err
	})
	if errors.Is(err, ErrInUse) {
		s.Found = append(s.Found, Signature{What: "device held by the kernel", By: ByKernel})
		return nil
	}
	s.Found = append(s.Found, read.found...)
	s.Data = !read.zero
	return err
}
