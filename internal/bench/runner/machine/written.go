package machine

import (
	"slices"
	"strconv"
	"strings"
)

// Where the kernel counts what is written. The first three are of the kernel's
// documentation (Documentation/admin-guide/iostats.rst, filesystems/proc.rst and
// admin-guide/cgroup-v2.rst), the last of OpenZFS, a file for each data set in use.
const (
	diskStats  = "/proc/diskstats"
	mountInfo  = "/proc/self/mountinfo"
	ioStat     = "/sys/fs/cgroup/io.stat"
	poolsKstat = "/proc/spl/kstat/zfs/"
)

// DatasetFile is what the name of a file in a pool's folder begins with that counts for
// a dataset.
const DatasetFile = "objset-"

// CountedPaths of the files that count what is written, apart from those of ZFS.
func CountedPaths() []string { return []string{diskStats, mountInfo, ioStat} }

// PoolFolders of the pools that some paths are on.
func (c Counted) PoolFolders(paths ...string) []string {
	var out []string
	for _, path := range paths {
		if m, ok := under(c.mounts, path); ok && m.Type == zfs {
			pool, _, _ := strings.Cut(m.source, "/")
			out = append(out, poolsKstat+pool)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Written since some time before. Nil is what is not counted there.
type Written struct {
	Bytes, Requests float64
	Flushes         *float64
}

// Counted is what the kernel has counted of all that was written.
type Counted struct {
	mounts []Mount
	// disks by their name, with their number as the cgroup has it.
	disks    map[string]disk
	own      map[string]Written
	datasets map[string]Written
}

type disk struct {
	number string
	Written
}

const (
	zfs        = "zfs"
	sectorSize = 512
)

// ReadCounted of the texts of files by path: CountedPaths, and those of datasets.
func ReadCounted(texts map[string]string) Counted {
	c := Counted{mounts: originsOf(texts[mountInfo]), disks: disksOf(texts[diskStats]), own: ownOf(texts[ioStat]), datasets: map[string]Written{}}
	for path, text := range texts {
		if !strings.HasPrefix(path, poolsKstat) {
			continue
		}
		if name, w, ok := datasetOf(text); ok {
			c.datasets[name] = w
		}
	}
	return c
}

// originsOf /proc/self/mountinfo: number, parent, device, root, path, options, any
// number of further fields, a dash, type, source.
func originsOf(text string) []Mount {
	const number, path, least = 2, 4, 6
	var out []Mount
	for l := range strings.Lines(text) {
		words := strings.Fields(l)
		dash := slices.Index(words, "-")
		if dash >= least && len(words) > dash+2 {
			out = append(out, Mount{Path: words[path], Type: words[dash+1], number: words[number], source: words[dash+2]})
		}
	}
	return out
}

// disksOf /proc/diskstats: major, minor, name and what was counted.
func disksOf(text string) map[string]disk {
	const name, requests, sectors, flushes = 2, 7, 9, 18
	out := map[string]disk{}
	for l := range strings.Lines(text) {
		words := strings.Fields(l)
		if len(words) <= sectors {
			continue
		}
		n, s := counter(words[requests]), counter(words[sectors])
		if n == nil || s == nil {
			continue
		}
		d := disk{words[0] + ":" + words[1], Written{Bytes: *s * sectorSize, Requests: *n}}
		// Since Linux 5.5.
		if len(words) > flushes {
			d.Flushes = counter(words[flushes])
		}
		out[words[name]] = d
	}
	// Flushes are not counted for partitions.
	for part := range out {
		if d := out[part]; wholeOf(out, part) != part {
			d.Flushes = nil
			out[part] = d
		}
	}
	return out
}

// wholeOf a partition is the disk that it is on; of another device itself.
func wholeOf(disks map[string]disk, name string) string {
	whole := strings.TrimRight(name, "0123456789")
	if whole == name {
		return name
	}
	// A disk whose name ends in a digit has a p before a partition's number.
	if before, found := strings.CutSuffix(whole, "p"); found && endsInDigit(before) {
		whole = before
	}
	if _, known := disks[whole]; known {
		return whole
	}
	return name
}

func endsInDigit(s string) bool { return s != "" && s[len(s)-1] >= '0' && s[len(s)-1] <= '9' }

// ownOf the cgroup, by number of the device: "254:0 rbytes=1 wbytes=2 rios=3 wios=4".
func ownOf(text string) map[string]Written {
	out := map[string]Written{}
	for l := range strings.Lines(text) {
		words := strings.Fields(l)
		if len(words) == 0 {
			continue
		}
		var bytes, requests *float64
		for _, word := range words[1:] {
			switch key, value, _ := strings.Cut(word, "="); key {
			case "wbytes":
				bytes = counter(value)
			case "wios":
				requests = counter(value)
			}
		}
		if bytes != nil && requests != nil {
			out[words[0]] = Written{Bytes: *bytes, Requests: *requests}
		}
	}
	return out
}

// datasetOf the counters of OpenZFS: lines of a name, a type and a value. Commits of
// the intent log are counted since 2.2.
func datasetOf(text string) (name string, w Written, ok bool) {
	const words = 3
	values := map[string]string{}
	for l := range strings.Lines(text) {
		if f := strings.Fields(l); len(f) == words {
			values[f[0]] = f[2]
		}
	}
	bytes, requests := counter(values["nwritten"]), counter(values["writes"])
	if name = values["dataset_name"]; name == "" || bytes == nil || requests == nil {
		return "", Written{}, false
	}
	return name, Written{*bytes, *requests, counter(values["zil_commit_count"])}, true
}

// counter of the kernel; nil where it is none.
func counter(text string) *float64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return nil
	}
	f := float64(n)
	return &f
}

// At is what counts below a path, in words, and what it has counted. It is a dataset of ZFS,
// else a block device, for all that write to it. False where neither is known.
func (c Counted) At(path string) (source string, w Written, ok bool) {
	m, found := under(c.mounts, path)
	if !found {
		return "", Written{}, false
	}
	if m.Type == zfs {
		w, ok = c.datasets[m.source]
		return "dataset " + m.source, w, ok
	}
	if name, d, known := c.device(m); known {
		return "block device " + name, d.Written, true
	}
	return "", Written{}, false
}

// device of a mount.
func (c Counted) device(m Mount) (string, disk, bool) {
	for name, d := range c.disks {
		if d.number == m.number {
			return name, d, true
		}
	}
	return "", disk{}, false
}

// Own is what the container itself has written to the disk below a path, others not.
// The kernel writes for a dataset, and counts that for no container.
func (c Counted) Own(path string) (source string, w Written, ok bool) {
	m, found := under(c.mounts, path)
	name, _, known := c.device(m)
	if !found || !known {
		return "", Written{}, false
	}
	whole := wholeOf(c.disks, name)
	w, ok = c.own[c.disks[whole].number]
	return "disk " + whole, w, ok
}

// Network is what was written to all devices of nbd, and how many have had any; they
// are the node's.
func (c Counted) Network() (devices int, sum Written) {
	flushes := 0.0
	for name, d := range c.disks {
		if number, found := strings.CutPrefix(name, "nbd"); !found || strings.Trim(number, "0123456789") != "" || d.Requests == 0 {
			continue
		}
		devices++
		sum.Bytes += d.Bytes
		sum.Requests += d.Requests
		if d.Flushes != nil {
			flushes += *d.Flushes
			sum.Flushes = &flushes
		}
	}
	return devices, sum
}
