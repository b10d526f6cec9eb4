package zfs

import (
	"regexp"
	"slices"
	"strings"
)

// Class of vdevs: what a pool uses them for.
type Class string

// Classes, in the order in which ZFS prints them.
const (
	Data    Class = "data"
	Dedup   Class = "dedup"
	Special Class = "special"
	Logs    Class = "logs"
	Cache   Class = "cache"
	Spares  Class = "spares"
)

// VdevStatus is one vdev of a pool: a device, or a group of them.
type VdevStatus struct {
	Class Class
	// Type is disk, mirror, raidz1, draid2, spare, replacing, indirect...
	Type string
	// Name is the path of a disk, or such as mirror-0 of a group. The path of a device
	// that is missing may be its GUID.
	Name string
	// State is empty for the caches and spares of a pool that is not imported.
	State Health
	// Errors counted since the pool was imported or cleared.
	Read, Write, Checksum uint64
	// Note that ZFS adds, such as "was /dev/sdb1" or "(resilvering)".
	Note     string
	Children []VdevStatus
}

// Disks of the vdev and all below it.
func (v VdevStatus) Disks() []VdevStatus {
	if len(v.Children) == 0 {
		return []VdevStatus{v}
	}
	var disks []VdevStatus
	for _, c := range v.Children {
		disks = append(disks, c.Disks()...)
	}
	return disks
}

var (
	partOfLink   = regexp.MustCompile(`^(/dev/disk/.+)-part\d+$`)
	partOfNumber = regexp.MustCompile(`^(/dev/(?:nvme\d+n|nbd|loop|mmcblk)\d+)p\d+$`)
	partOfLetter = regexp.MustCompile(`^(/dev/(?:x?vd|sd)[a-z]+)\d+$`)
)

// WholeDisk of the path of a partition, or the path itself. A pool that was given a
// whole disk uses its first partition and names that.
func WholeDisk(path string) string {
	for _, r := range []*regexp.Regexp{partOfLink, partOfNumber, partOfLetter} {
		if m := r.FindStringSubmatch(path); m != nil {
			return m[1]
		}
	}
	return path
}

// section of a report such as zpool status prints: "  pool: tank", its value going on
// in lines that begin with a tab or blanks.
type section struct {
	key   string
	lines []string
}

func (s section) text() string {
	words := strings.Fields(strings.Join(s.lines, " "))
	return strings.Join(words, " ")
}

// report of one pool.
type report []section

// texts by key. The last one counts where a key is there twice.
func (r report) texts() map[string]string {
	all := map[string]string{}
	for _, s := range r {
		all[s.key] = s.text()
	}
	return all
}

func (r report) lines(key string) []string {
	for _, s := range r {
		if s.key == key {
			return s.lines
		}
	}
	return nil
}

var sectionKeys = []string{
	"pool", "id", "state", "status", "action", "see", "scan", "remove", "checkpoint",
	"comment", "config", "errors", "raid expand", "raidz expand", "expand",
}

// reports of an output, one for each pool, beginning with its key pool.
func reports(out string) []report {
	var all []report
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		key, value, ok := strings.Cut(line, ":")
		key = strings.TrimLeft(key, " ")
		known := ok && !strings.HasPrefix(line, "\t") && slices.Contains(sectionKeys, key)
		switch {
		case known && key == "pool":
			all = append(all, report{{key: key, lines: []string{value}}})
		case len(all) == 0: // a line ahead of the first pool
		case known:
			last := len(all) - 1
			all[last] = append(all[last], section{key: key, lines: []string{value}})
		default:
			pool := all[len(all)-1]
			s := &pool[len(pool)-1]
			s.lines = append(s.lines, line)
		}
	}
	return all
}

// states by which a line is known to be a vdev.
var states = []Health{
	Online, Degraded, Faulted, Offline, Unavail, Removed, Suspended, Available, InUse, SplitOff,
}

var classes = []Class{Dedup, Special, Logs, Cache, Spares}

// configLine is a vdev's line of a config: depth in steps of two blanks after the tab.
type configLine struct {
	depth  int
	fields []string
}

// parseConfig into the top vdevs. Lines that are none, such as the heading, the pool's
// own, and remarks, are skipped.
func parseConfig(lines []string) (vdevs []VdevStatus) {
	class := Data
	var items []configLine
	flush := func() {
		for len(items) > 0 {
			var v VdevStatus
			v, items = parseVdev(items, class)
			vdevs = append(vdevs, v)
		}
	}
	for _, l := range lines {
		depth, fields := splitConfigLine(l)
		switch {
		case depth == 0 && len(fields) == 1 && slices.Contains(classes, Class(fields[0])):
			flush()
			class = Class(fields[0])
		case depth > 0 && isVdev(fields, class):
			items = append(items, configLine{depth, fields})
		}
	}
	flush()
	return vdevs
}

// isVdev of a line. zpool import prints caches and spares without a state.
func isVdev(fields []string, class Class) bool {
	switch len(fields) {
	case 0:
		return false
	case 1:
		return class == Cache || class == Spares
	}
	return slices.Contains(states, Health(fields[1]))
}

func splitConfigLine(l string) (depth int, fields []string) {
	l, ok := strings.CutPrefix(l, "\t")
	if !ok {
		return 0, nil
	}
	indent := len(l) - len(strings.TrimLeft(l, " "))
	return indent / 2, strings.Fields(l)
}

// parseVdev takes the first line and those that are deeper.
func parseVdev(items []configLine, class Class) (VdevStatus, []configLine) {
	v, depth := vdevOf(items[0].fields, class), items[0].depth
	items = items[1:]
	for len(items) > 0 && items[0].depth > depth {
		var child VdevStatus
		child, items = parseVdev(items, class)
		v.Children = append(v.Children, child)
	}
	return v, items
}

// vdevOf "name [state [read write cksum] [note...]]".
func vdevOf(fields []string, class Class) VdevStatus {
	v := VdevStatus{Class: class, Name: fields[0], Type: vdevType(fields[0])}
	if len(fields) == 1 {
		return v
	}
	v.State = Health(fields[1])
	rest := fields[2:]
	counts := []*uint64{&v.Read, &v.Write, &v.Checksum}
	if len(rest) >= len(counts) && isNumber(rest[0]) && isNumber(rest[1]) && isNumber(rest[2]) {
		for i, to := range counts {
			*to, _ = number(rest[i])
		}
		rest = rest[len(counts):]
	}
	v.Note = strings.Join(rest, " ")
	return v
}

func isNumber(s string) bool {
	_, err := number(s)
	return err == nil
}

// groups are the vdevs that are named by their type and a number.
var groups = []string{"mirror", "raidz1", "raidz2", "raidz3", "draid1", "draid2", "draid3", "spare", "replacing", "indirect"}

// vdevType of a name such as mirror-0 or draid2:4d:8c:1s-0; anything else is a disk.
func vdevType(name string) string {
	prefix, _, ok := strings.Cut(name, "-")
	prefix, _, _ = strings.Cut(prefix, ":")
	if ok && slices.Contains(groups, prefix) {
		return prefix
	}
	return "disk"
}
