//go:build linux

// Package measure runs in a virtual machine and measures databases side by side. It
// fills them with the same pages, loads them in turns, and reads the counters of disk and
// processors around each run.
package measure

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Counters of a block device, from /sys/block/*/stat.
type Counters struct {
	ReadBytes, Writes, WriteBytes, Flushes int64
	// FlushMillis is how long all flushes took together.
	FlushMillis int64
}

// Since returns what was counted after then.
func (c Counters) Since(then Counters) Counters {
	return Counters{c.ReadBytes - then.ReadBytes, c.Writes - then.Writes, c.WriteBytes - then.WriteBytes, c.Flushes - then.Flushes, c.FlushMillis - then.FlushMillis}
}

// FlushTime is the mean time of a flush, in milliseconds.
func (c Counters) FlushTime() float64 { return float64(c.FlushMillis) / float64(max(1, c.Flushes)) }

// sector is the unit of /sys/block/*/stat, whatever the disk has.
const sector = 512

// Device returns the counters of a device by its path, which may be a link. The kernel
// documents them in Documentation/block/stat.rst.
func Device(path string) (Counters, error) {
	device, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Counters{}, err
	}
	text, err := os.ReadFile(filepath.Join("/sys/block", filepath.Base(device), "stat"))
	if err != nil {
		return Counters{}, err
	}
	n, err := numbers(strings.Fields(string(text)))
	if err != nil || len(n) < 17 {
		return Counters{}, fmt.Errorf("%s's stat is %q: %w", device, text, err)
	}
	return Counters{ReadBytes: n[2] * sector, Writes: n[4], WriteBytes: n[6] * sector, Flushes: n[15], FlushMillis: n[16]}, nil
}

// CPU is the time of all processors, in ticks.
type CPU struct{ idle, total int64 }

// BusySince is the share of the time in which the processors worked, 0 to 1.
func (c CPU) BusySince(then CPU) float64 {
	return 1 - float64(c.idle-then.idle)/float64(c.total-then.total)
}

// Processors returns the time since boot.
func Processors() (CPU, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return CPU{}, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	n, err := numbers(strings.Fields(line)[1:])
	if err != nil || len(n) < 8 {
		return CPU{}, fmt.Errorf("/proc/stat begins with %q: %w", line, err)
	}
	c := CPU{idle: n[3] + n[4]} // with waiting for a disk
	for _, ticks := range n[:8] {
		c.total += ticks
	}
	return c, nil
}

func numbers(fields []string) ([]int64, error) {
	out := make([]int64, len(fields))
	for i, field := range fields {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}
