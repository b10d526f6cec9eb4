// Package layout calculates what a layout of replicated storage costs and survives. It
// counts the copies of each byte on the disks, and the capacity of volumes. It counts
// the bytes that one write becomes at each layer, and what a loss takes. It knows no
// objects; every result comes with its calculation in words.
package layout

import (
	"fmt"
	"strconv"
	"strings"
)

// Ceph is a pool and what is below it.
type Ceph struct {
	// Size and MinSize of a replicated pool.
	Size, MinSize int
	// DataChunks and CodingChunks of an erasure coded pool; 0 with a replicated one.
	DataChunks, CodingChunks int
	// Domain is what copies lie apart on: host, osd, rack, zone; Domains counts those
	// that have an OSD, and OSDs the daemons with OSDBytes each.
	Domain        string
	Domains, OSDs int
	OSDBytes      int64
	// AllocBytes is BlueStore's unit of allocation.
	AllocBytes int
	// ZFS below the OSDs; nil: disks or volumes of which nothing is known.
	ZFS *ZFS
	// Pinned: each volume is on one host alone (size 1).
	Pinned bool
}

// ZFS below the OSDs.
type ZFS struct {
	// Vdevs that hold the data; none where the pool was not made by the operator.
	Vdevs []Vdev
	// Sector is 2^ashift.
	Sector int
	// Volblock in bytes.
	Volblock int
	// Indirect: logbias=throughput, by which a synchronous write goes to its place once.
	Indirect bool
}

// Vdev of a pool.
type Vdev struct {
	// Type: stripe, mirror, raidz1, raidz2, raidz3.
	Type    string
	Devices int
}

// pageBytes of Postgres.
const pageBytes = 8192

func (c Ceph) erasureCoded() bool { return c.DataChunks > 0 }

// needed is how many failure domains one block is spread across.
func (c Ceph) needed() int {
	if c.erasureCoded() {
		return c.DataChunks + c.CodingChunks
	}
	return c.Size
}

// Needed failure domains for the pool and its data pool.
func (c Ceph) Needed() int { return max(c.needed(), c.Size) }

// expansion is how many bytes the OSDs hold for one.
func (c Ceph) expansion() float64 {
	if c.erasureCoded() {
		return float64(c.DataChunks+c.CodingChunks) / float64(c.DataChunks)
	}
	return float64(c.Size)
}

func (c Ceph) expansionText() string {
	if c.erasureCoded() {
		return fmt.Sprintf("(%d+%d)/%d of the erasure code", c.DataChunks, c.CodingChunks, c.DataChunks)
	}
	return fmt.Sprintf("%d copies of the pool", c.Size)
}

// roundUp n to a multiple of unit.
func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// Number as a decimal with at most two places.
func Number(f float64) string {
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(f, 'f', 2, 64), "0"), ".")
}
