package blockdev

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/internal/node/host"
)

// Client reads the disks of one node.
type Client struct {
	host.Runner
	// FS is the node's /, for the links in /dev/disk and the holders in /sys; one that
	// can read links, as os.DirFS.
	FS fs.FS
	// Open a device to read it, exclusively: ErrInUse where the kernel uses it. See
	// OpenExclusive.
	Open func(device string) (Content, error)
	// Patience with one device that is opened and read. 0 is DefaultPatience.
	Patience time.Duration

	visits visits
}

// Errors to compare with errors.Is.
var (
	// ErrNoSuchDevice: the node has no block device of that path.
	ErrNoSuchDevice = errors.New("no such block device")
	// ErrInUse: the device is mounted, or part of something.
	ErrInUse = errors.New("in use")
	// ErrNotWiped: signatures are left that wipefs does not know.
	ErrNotWiped = errors.New("not wiped")
	// ErrReplaced: another device has come to the path.
	ErrReplaced = errors.New("another device is at this path now")
	// ErrFormat: an output is not of the form that this version knows.
	ErrFormat = errors.New("unknown output format")
	// ErrInvalid: an argument was refused before any command ran.
	ErrInvalid = errors.New("invalid")
)

// Device is a block device as lsblk sees it. Sizes are bytes; fields that the device does not
// have are empty.
type Device struct {
	// Path by which the device is known after a restart too, or empty where it has
	// none. See stable.go.
	Path string
	// Kernel name, such as /dev/sda: another device may have it after a restart.
	Kernel string
	// Type is disk, part, loop, lvm, crypt, raid1, rom...
	Type string
	Size uint64
	// Model, Serial and WWN of the maker. Transport is sata, sas, nvme, usb, virtio...
	Model, Serial, WWN, Transport string
	Rotational, ReadOnly, Hotplug bool
	LogicalSector, PhysicalSector uint64
	FSType, UUID, Label           string
	PartitionType, PartitionTable string
	// Mountpoints that the agent can see: one where there are several; swap is [SWAP].
	Mountpoints []string
	// Parent is the kernel name of the disk of a partition.
	Parent   string
	Children []Device
}

// columns that every util-linux since 2.33 knows: one that it does not fails lsblk, as
// MOUNTPOINTS before 2.37.
const columns = "NAME,KNAME,PATH,TYPE,SIZE,MODEL,SERIAL,WWN,TRAN,ROTA,RO,FSTYPE,PARTTYPE,PTTYPE," +
	"MOUNTPOINT,PKNAME,LOG-SEC,PHY-SEC,HOTPLUG,UUID,LABEL"

// Inventory of all devices, those of a disk as its children, in the order of lsblk.
func (c *Client) Inventory(ctx context.Context) ([]Device, error) {
	return c.lsblk(ctx)
}

// Device by any of its paths, with its children.
func (c *Client) Device(ctx context.Context, device string) (Device, error) {
	if err := validPath(device); err != nil {
		return Device{}, err
	}
	found, err := c.lsblk(ctx, device)
	if failed, ok := errors.AsType[*host.Error](err); ok && strings.Contains(failed.Stderr, "not a block device") {
		return Device{}, fmt.Errorf("%w: %s: %w", ErrNoSuchDevice, device, err)
	}
	if err != nil {
		return Device{}, err
	}
	if len(found) != 1 {
		return Device{}, fmt.Errorf("%w: lsblk %s: %d devices", ErrFormat, device, len(found))
	}
	return found[0], nil
}

func (c *Client) lsblk(ctx context.Context, devices ...string) ([]Device, error) {
	out, err := c.Run(ctx, "lsblk", append([]string{"-J", "-b", "-p", "-o", columns}, devices...)...)
	if err != nil {
		return nil, err
	}
	found, err := parseLsblk(out.Stdout)
	if err != nil {
		return nil, err
	}
	links, err := c.links()
	if err != nil {
		return nil, err
	}
	name(found, links)
	return found, nil
}

// name the devices by their stable paths.
func name(devices []Device, links map[string][]string) {
	for i := range devices {
		d := &devices[i]
		d.Path = stablePath(d.Kernel, links[d.Kernel])
		name(d.Children, links)
	}
}

// raw is a device as lsblk -J prints it. Numbers and truths are strings in releases
// before 2.33.
type raw struct {
	Name       word  `json:"name"`
	KName      word  `json:"kname"`
	Type       word  `json:"type"`
	Size       word  `json:"size"`
	Model      word  `json:"model"`
	Serial     word  `json:"serial"`
	WWN        word  `json:"wwn"`
	Tran       word  `json:"tran"`
	Rota       word  `json:"rota"`
	RO         word  `json:"ro"`
	FSType     word  `json:"fstype"`
	PartType   word  `json:"parttype"`
	PTType     word  `json:"pttype"`
	Mountpoint word  `json:"mountpoint"`
	PKName     word  `json:"pkname"`
	LogSec     word  `json:"log-sec"`
	PhySec     word  `json:"phy-sec"`
	Hotplug    word  `json:"hotplug"`
	UUID       word  `json:"uuid"`
	Label      word  `json:"label"`
	Children   []raw `json:"children"`
}

// word of JSON: a string, number or truth as its text; null is empty.
type word string

// UnmarshalJSON takes all of them.
func (w *word) UnmarshalJSON(data []byte) error {
	*w = ""
	if data[0] == '"' {
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		*w = word(strings.TrimSpace(s))
		return nil
	}
	if s := string(data); s != "null" {
		*w = word(s)
	}
	return nil
}

func (w word) truth() bool { return w == "true" || w == "1" }

func (w word) number() (uint64, error) {
	if w == "" {
		return 0, nil
	}
	return strconv.ParseUint(string(w), 10, 64)
}

func parseLsblk(out []byte) ([]Device, error) {
	var all struct {
		Devices []raw `json:"blockdevices"`
	}
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, fmt.Errorf("%w: lsblk: %w", ErrFormat, err)
	}
	return devices(all.Devices)
}

func devices(from []raw) ([]Device, error) {
	var all []Device
	for _, r := range from {
		d, err := r.device()
		if err != nil {
			return nil, fmt.Errorf("%w: lsblk: %s: %w", ErrFormat, r.Name, err)
		}
		all = append(all, d)
	}
	return all, nil
}

// transport is virtio where lsblk says so; before 2.39 it said nothing.
func (r raw) transport() string {
	if r.Tran == "" && r.Type == "disk" && strings.HasPrefix(string(r.KName), "/dev/vd") {
		return "virtio"
	}
	return string(r.Tran)
}

func (r raw) device() (Device, error) {
	d := Device{
		Kernel: string(r.KName), Type: string(r.Type),
		Model: string(r.Model), Serial: string(r.Serial), WWN: string(r.WWN), Transport: r.transport(),
		Rotational: r.Rota.truth(), ReadOnly: r.RO.truth(), Hotplug: r.Hotplug.truth(),
		FSType: string(r.FSType), UUID: string(r.UUID), Label: string(r.Label),
		PartitionType: string(r.PartType), PartitionTable: string(r.PTType), Parent: string(r.PKName),
	}
	if !strings.HasPrefix(d.Kernel, "/dev/") || d.Type == "" {
		return d, errors.New("kernel name or type is missing")
	}
	if r.Mountpoint != "" {
		d.Mountpoints = []string{string(r.Mountpoint)}
	}
	var err error
	for to, from := range map[*uint64]word{
		&d.Size: r.Size, &d.LogicalSector: r.LogSec, &d.PhysicalSector: r.PhySec,
	} {
		if *to, err = from.number(); err != nil {
			return d, err
		}
	}
	d.Children, err = devices(r.Children)
	return d, err
}
