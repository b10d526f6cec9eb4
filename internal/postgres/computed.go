package postgres

import (
	"fmt"
	"strconv"
)

// The rules here are pgtune's (github.com/le0pard/pgtune,
// src/features/configuration/configurationSlice.js) for Linux, except that
//   - maintenance_work_mem stops at 2GB, as autovacuum workers take it each;
//   - huge_pages stays at Postgres' "try": pods get huge pages only by request;
//   - wal_level stays as CloudNativePG sets it, also for Desktop;
//   - wal_compression is left alone: lz4 may be missing from an image;
//   - max_worker_processes is never below CloudNativePG's 32, which a standby
//     needs at least as high as its primary;
//   - WAL sizes are held to the volume.
type class struct {
	connections, shared, cache, maintenance int64 // the last three divide memory; cache is in quarters
	work                                    int64 // divides work_mem
	minWAL, maxWAL                          int64 // bytes
	statistics                              int64
	jitOff                                  bool
}

var classes = map[Workload]class{
	Web:       {200, 4, 3, 16, 1, gB, 4 * gB, 100, true},
	OLTP:      {300, 4, 3, 16, 1, 2 * gB, 8 * gB, 100, true},
	Analytics: {40, 4, 3, 8, 2, 4 * gB, 16 * gB, 500, false},
	Desktop:   {20, 16, 1, 16, 6, 100 * mB, 2 * gB, 100, false},
	Mixed:     {100, 4, 3, 16, 2, gB, 4 * gB, 100, true},
}

// CloudNativePG's default of max_worker_processes.
const cnpgWorkers = 32

const minWAL = 64 * mB // four segments; Postgres wants two

// computation collects computed values; given holds accepted user values, which
// are inputs to the formulas.
type computation struct {
	in    Inputs
	class class
	given map[string]string
	out   []Parameter
}

func compute(in Inputs, given map[string]string) []Parameter {
	c := computation{in: in, given: given}
	c.in.CPUs = min(max(in.CPUs, 1), 1024)
	var known bool
	if c.class, known = classes[in.Workload]; !known {
		c.class = classes[Mixed]
	}
	c.memory()
	c.wal()
	c.planner()
	c.parallel()
	return c.out
}

func (c *computation) add(name, value, reason string) {
	c.out = append(c.out, Parameter{name, value, FromComputed, reason + fmt.Sprintf(" (pgtune, %s)", c.in.Workload)})
}

func (c *computation) size(name string, bytes int64, reason string) {
	s := catalogue()[c.in.Major][name]
	_, base := unitsOf(s.unit)
	n := float64(bytes / int64(base))
	c.add(name, s.print(min(max(n, s.min), s.max)), reason)
}

// number that the user gave, in base units of the parameter, else the other.
func (c *computation) number(name string, other int64) int64 {
	if v, ok := c.given[name]; ok {
		if n, ok := BaseValue(c.in.Major, name, v); ok {
			return int64(n)
		}
	}
	return other
}

func (c *computation) connections() int64 {
	return c.number("max_connections", c.class.connections)
}

func (c *computation) memory() {
	c.add("max_connections", strconv.FormatInt(c.class.connections, 10), "connections of the class")
	total, k := c.in.MemoryBytes, c.class
	if total <= 0 {
		return
	}
	of := amount(total) + " memory"
	c.size("shared_buffers", total/k.shared, fmt.Sprintf("1/%d of %s", k.shared, of))
	c.size("effective_cache_size", total/4*k.cache, fmt.Sprintf("%d/4 of %s", k.cache, of))
	c.size("maintenance_work_mem", min(total/k.maintenance, 2*gB), fmt.Sprintf("1/%d of %s, at most 2GB", k.maintenance, of))
	shared := c.number("shared_buffers", total/k.shared/8192) * 8192
	buffers := min(shared/kB*3/100, 16*1024)
	if buffers > 14*1024 {
		buffers = 16 * 1024
	}
	c.size("wal_buffers", max(buffers, 32)*kB, "3% of shared_buffers, at most 16MB")
	workers := int64(8)
	if c.in.CPUs >= 4 {
		workers = int64(c.in.CPUs)
	}
	work := (total - shared) / kB / ((c.connections() + workers) * 3 * k.work)
	c.size("work_mem", max(work, 4*1024)*kB, fmt.Sprintf("memory without shared_buffers / ((%d connections + %d workers) x %d), at least 4MB", c.connections(), workers, 3*k.work))
}

// volume that WAL is on, how much of it max_wal_size may take, and its words.
func (in Inputs) volume() (bytes, limit int64, text string) {
	if in.WALBytes > 0 {
		return in.WALBytes, in.WALBytes / 2, "half of the " + amount(in.WALBytes) + " WAL volume"
	}
	return in.DataBytes, in.DataBytes / 10, "a tenth of the " + amount(in.DataBytes) + " data volume"
}

func (c *computation) wal() {
	highest, reason := c.class.maxWAL, "WAL between checkpoints of the class"
	if bytes, limit, text := c.in.volume(); bytes > 0 && highest > limit {
		highest, reason = max(limit, minWAL), "held to "+text
		if highest >= bytes { // a volume this small cannot hold a database either
			highest = max(bytes/2, 32*mB)
		}
	}
	c.size("max_wal_size", highest, reason)
	highest = c.number("max_wal_size", highest/mB) * mB
	lowest, reason := c.class.minWAL, "WAL kept for reuse of the class"
	if lowest > highest/2 {
		lowest, reason = max(highest/2, 32*mB), "half of max_wal_size"
	}
	c.size("min_wal_size", lowest, reason)
	c.add("checkpoint_completion_target", "0.9", "spread checkpoints")
}

func (c *computation) planner() {
	c.add("default_statistics_target", strconv.FormatInt(c.class.statistics, 10), "statistics of the class")
	cost, concurrency := "1.1", "200"
	switch c.in.Medium {
	case HDD:
		cost, concurrency = "4", "2"
	case SAN:
		concurrency = "300"
	}
	c.add("random_page_cost", cost, "medium "+string(c.in.Medium))
	c.add("effective_io_concurrency", concurrency, "medium "+string(c.in.Medium))
	if c.class.jitOff {
		c.add("jit", "off", "short queries pay more for compilation than they gain")
	}
}

func (c *computation) parallel() {
	cpus := c.in.CPUs
	if cpus < 4 {
		return
	}
	half := (cpus + 1) / 2
	gather := min(half, 4)
	if c.in.Workload == Analytics {
		gather = half
	}
	cores := fmt.Sprintf("%d CPUs", cpus)
	if cpus > cnpgWorkers {
		c.add("max_worker_processes", strconv.Itoa(cpus), cores)
	}
	c.add("max_parallel_workers", strconv.Itoa(cpus), cores)
	c.add("max_parallel_workers_per_gather", strconv.Itoa(gather), "half of "+cores)
	c.add("max_parallel_maintenance_workers", strconv.Itoa(min(half, 4)), "half of "+cores+", at most 4")
	if cpus >= 32 {
		c.add("autovacuum_max_workers", "5", cores)
	} else if cpus >= 16 {
		c.add("autovacuum_max_workers", "4", cores)
	}
}

func amount(bytes int64) string { return setting{unit: "B"}.print(float64(bytes)) }
