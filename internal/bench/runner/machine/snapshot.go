package machine

import (
	"strconv"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/internal/bench/validity"
)

// Snapshot of a container and its node at one moment. Nil and empty mean not reported. Counters
// are since some time before, so that two of them are subtracted.
type Snapshot struct {
	// Host is the name of the pod, as the container has it. Boot differs after each start of
	// the machine, and on each machine.
	Host, Boot string
	// Kernel release, as "6.12.0".
	Kernel string

	// Throttling by the CPU quota.
	Throttling *Throttling
	// PodStalls and NodeStalls are the time in which some task waited.
	PodStalls, NodeStalls *validity.Stalls
	// Processor time of the node.
	Processor *Processor

	// Processors that the quota leaves; nil without a quota.
	Processors *float64
	// MemoryLimit of the container, nil without one; Memory of the node; ARCMax is
	// the most that the ARC takes.
	MemoryLimit, Memory, ARCMax *int64

	mounts []Mount
}

// Throttling of a cgroup.
type Throttling struct {
	Periods, Throttled int64
	Time               time.Duration
}

// Processor time of all processors of a node, in ticks.
type Processor struct{ All, Stolen uint64 }

// Mount of a file system.
type Mount struct {
	Path, Type, Options string
	// number of its device, and source, as /proc/self/mountinfo has them.
	number, source string
}

// Read what the texts of files, by path, say.
func Read(texts map[string]string) Snapshot {
	return Snapshot{
		Host: line(texts[hostname]), Boot: line(texts[bootID]), Kernel: line(texts[kernel]),
		Throttling:  throttling(texts),
		PodStalls:   stalls(texts[cpuStall], texts[ioStall], texts[memStall]),
		NodeStalls:  stalls(texts[nodeCPUStall], texts[nodeIOStall], texts[nodeMemStall]),
		Processor:   processor(texts[nodeStat]),
		Processors:  processors(texts),
		MemoryLimit: memoryLimit(texts),
		Memory:      memory(texts[nodeMemory]),
		ARCMax:      arcMax(texts[arcStats]),
		mounts:      mountsOf(texts[mounts]),
	}
}

func line(text string) string { return strings.TrimSpace(text) }

// throttling where the cgroup has a controller that counts it: the root has none.
func throttling(texts map[string]string) *Throttling {
	text, name, unit := texts[cpuStat], "throttled_usec", time.Microsecond
	if _, counted := field(text, "nr_periods"); !counted {
		text, name, unit = texts[oldCPUStat], "throttled_time", time.Nanosecond
	}
	periods, ok := field(text, "nr_periods")
	throttled, okThrottled := field(text, "nr_throttled")
	waited, okTime := field(text, name)
	if !ok || !okThrottled || !okTime {
		return nil
	}
	return &Throttling{Periods: periods, Throttled: throttled, Time: time.Duration(waited) * unit}
}

// stalls where all three are reported.
func stalls(cpu, io, memory string) *validity.Stalls {
	var s validity.Stalls
	for text, into := range map[*string]*time.Duration{&cpu: &s.CPU, &io: &s.IO, &memory: &s.Memory} {
		some, ok := stalled(*text)
		if !ok {
			return nil
		}
		*into = some
	}
	return &s
}

// stalled reads "some avg10=0.00 avg60=0.00 avg300=0.00 total=5808319334", in
// microseconds (https://docs.kernel.org/accounting/psi.html).
func stalled(text string) (time.Duration, bool) {
	for l := range strings.Lines(text) {
		words := strings.Fields(l)
		if len(words) == 0 || words[0] != "some" {
			continue
		}
		for _, word := range words[1:] {
			if total, ok := strings.CutPrefix(word, "total="); ok {
				n, err := strconv.ParseInt(total, 10, 64)
				return time.Duration(n) * time.Microsecond, err == nil && n >= 0
			}
		}
	}
	return 0, false
}

// processor reads "cpu  user nice system idle iowait irq softirq steal guest
// guest_nice"; guests are in user and nice already (proc_stat(5)).
func processor(text string) *Processor {
	const steal, counted = 8, 9
	for l := range strings.Lines(text) {
		words := strings.Fields(l)
		if len(words) < counted || words[0] != "cpu" {
			continue
		}
		var p Processor
		for i, word := range words[1:counted] {
			n, err := strconv.ParseUint(word, 10, 64)
			if err != nil {
				return nil
			}
			p.All += n
			if i+1 == steal {
				p.Stolen = n
			}
		}
		return &p
	}
	return nil
}

// processors that a quota leaves: "50000 100000", or "max 100000" without one.
func processors(texts map[string]string) *float64 {
	quota, period, _ := strings.Cut(line(texts[cpuMax]), " ")
	if quota == "" {
		quota, period = line(texts[oldQuota]), line(texts[oldPeriod])
	}
	q, errQuota := strconv.ParseFloat(quota, 64)
	p, errPeriod := strconv.ParseFloat(period, 64)
	if errQuota != nil || errPeriod != nil || q <= 0 || p <= 0 {
		return nil
	}
	of := q / p
	return &of
}

// noLimit is how version 1 says that memory has none: the highest number of whole
// pages, whatever their size.
const noLimit = int64(1) << 62

func memoryLimit(texts map[string]string) *int64 {
	text := line(texts[memoryMax])
	if text == "" {
		text = line(texts[oldMemoryMax])
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n >= noLimit {
		return nil
	}
	return &n
}

// memory of the node, "MemTotal:       16384256 kB".
func memory(text string) *int64 {
	n, ok := field(text, "MemTotal:")
	if !ok || n > noLimit>>10 {
		return nil
	}
	n <<= 10
	return &n
}

// arcMax reads "c_max 4 8589934592" of arcstats: name, type and value.
func arcMax(text string) *int64 {
	for l := range strings.Lines(text) {
		if words := strings.Fields(l); len(words) == 3 && words[0] == "c_max" {
			if n, err := strconv.ParseInt(words[2], 10, 64); err == nil && n > 0 {
				return &n
			}
		}
	}
	return nil
}

// field of a text with a name and a number on each line.
func field(text, name string) (int64, bool) {
	for l := range strings.Lines(text) {
		if words := strings.Fields(l); len(words) >= 2 && words[0] == name {
			n, err := strconv.ParseInt(words[1], 10, 64)
			return n, err == nil && n >= 0
		}
	}
	return 0, false
}

func mountsOf(text string) []Mount {
	const device, path, kind, options = 0, 1, 2, 3
	var all []Mount
	for l := range strings.Lines(text) {
		if words := strings.Fields(l); len(words) > options && words[device] != "" {
			all = append(all, Mount{Path: words[path], Type: words[kind], Options: words[options]})
		}
	}
	return all
}

// Under is the mount that holds a path: the last one whose path it is below, by the
// longest. False where none is known.
func (s Snapshot) Under(path string) (Mount, bool) { return under(s.mounts, path) }

func under(mounts []Mount, path string) (Mount, bool) {
	var found Mount
	for _, m := range mounts {
		within := path == m.Path || strings.HasPrefix(path, strings.TrimSuffix(m.Path, "/")+"/")
		if within && len(m.Path) >= len(found.Path) {
			found = m
		}
	}
	return found, found.Path != ""
}
