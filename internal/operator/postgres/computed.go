package postgres

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
)

// The rules here are pgtune's (github.com/le0pard/pgtune,
// src/features/configuration/configurationSlice.js) for Linux, except that
//   - maintenance_work_mem stops at 2GB, as autovacuum workers take it each;
//   - huge_pages stays at its default, "try": pods get huge pages only by request;
//   - wal_level stays as CloudNativePG sets it, also for Desktop;
//   - wal_compression is left alone: lz4 may be missing from an image;
//   - max_worker_processes is never below CloudNativePG's 32, which a standby
//     needs at least as high as its primary;
//   - WAL sizes are limited by the volume.
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
	c.ephemeral()
	c.planner()
	c.parallel()
	c.senders()
	c.huge()
	c.memory()
	c.wal()
	c.archive()
	return c.out
}

func (c *computation) add(name, value, reason string) {
	c.out = append(c.out, Parameter{name, value, FromComputed, reason + fmt.Sprintf(" (pgtune, %s)", c.in.Workload)})
}

// set a value that pgtune has no rule for.
func (c *computation) set(name, value, reason string) {
	c.out = append(c.out, Parameter{name, value, FromComputed, reason})
}

func (c *computation) size(name string, bytes int64, reason string) {
	c.add(name, c.print(name, bytes), reason)
}

// print an amount as a value of the parameter, within its bounds.
func (c *computation) print(name string, bytes int64) string {
	s := catalogue()[c.in.Major][name]
	_, base := unitsOf(s.unit)
	n := float64(bytes / int64(base))
	return s.print(min(max(n, s.min), s.max))
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

// numbers of what was computed so far, with the user's over it.
func (c *computation) numbers() numbers {
	ps := slices.Clone(c.out)
	for name, value := range c.given {
		ps = append(ps, Parameter{Name: name, Value: value})
	}
	return c.in.final(ps)
}

func (c *computation) memory() {
	if c.in.MemoryBytes <= 0 {
		c.add("max_connections", strconv.FormatInt(c.class.connections, 10), "connections of the class")
		return
	}
	c.buffers()
	c.maintenance()
	c.connections()
	c.work()
}

// buffers are shared_buffers and what follows from them. Huge pages are of no use to
// anything else, so that shared memory fills them.
func (c *computation) buffers() {
	total, k := c.in.MemoryBytes, c.class
	shared, reason := total/k.shared, fmt.Sprintf("1/%d of %s memory", k.shared, amount(total))
	pages, huge := c.in.pages(c.given)
	if huge {
		v := c.numbers()
		v["max_connections"] = c.number("max_connections", k.connections)
		shared, reason = max(v.buffersIn(pages.Bytes), 16*8192), fmt.Sprintf("what fits the %s of huge pages with the rest of shared memory", amount(pages.Bytes))
		total += pages.Bytes
	}
	c.size("shared_buffers", shared, reason)
	c.size("effective_cache_size", total/4*k.cache, fmt.Sprintf("%d/4 of %s memory", k.cache, amount(total)))
	shared = c.number("shared_buffers", shared/8192) * 8192
	buffers := min(shared/kB*3/100, 16*1024)
	if buffers > 14*1024 {
		buffers = 16 * 1024
	}
	c.size("wal_buffers", max(buffers, 32)*kB, "3% of shared_buffers, at most 16MB")
}

// maintenance takes at most half of what the fewest connections leave, of which the
// autovacuum workers share one half.
func (c *computation) maintenance() {
	total, k, v := c.in.MemoryBytes, c.class, c.numbers()
	v["max_connections"] = c.number("max_connections", leastConnections)
	v["maintenance_work_mem"], v["autovacuum_work_mem"] = 0, 1
	spare := c.in.budget(v).Left() - sorters(v)*leastWork
	size, reason := min(total/k.maintenance, 2*gB), fmt.Sprintf("1/%d of %s memory, at most 2GB", k.maintenance, amount(total))
	if spare/4 < size {
		size, reason = max(spare/4/mB, 4)*mB, "a quarter of what connections leave of "+amount(total)+" memory"
	}
	c.size("maintenance_work_mem", size, reason)
	workers := max(v["autovacuum_max_workers"], 1)
	c.set("autovacuum_work_mem", c.print("autovacuum_work_mem", max(size/workers/mB, 1)*mB), fmt.Sprintf("the %d autovacuum workers share as much as one maintenance_work_mem", workers))
}

// connections of the class, or as many as fit.
func (c *computation) connections() {
	v := c.numbers()
	v["work_mem"] = usualWork
	most := c.class.connections - leastConnections
	over := sort.Search(int(most), func(more int) bool {
		v["max_connections"] = leastConnections + int64(more) + 1
		return c.in.budget(v).Left() < sorters(v)*usualWork
	})
	n, reason := leastConnections+int64(over), "connections of the class"
	if n < c.class.connections {
		n, reason = n/10*10, fmt.Sprintf("what fits of the %d connections of the class", c.class.connections)
	}
	c.add("max_connections", strconv.FormatInt(n, 10), reason)
}

// work_mem as pgtune has it, but no more than a third of the sessions can use at once.
func (c *computation) work() {
	v := c.numbers()
	workers := int64(8)
	if c.in.CPUs >= 4 {
		workers = int64(c.in.CPUs)
	}
	b := c.in.budget(v)
	rest, text := c.in.MemoryBytes, "memory"
	if !b.Huge {
		rest, text = rest-v["shared_buffers"], "memory without shared_buffers"
	}
	n := v["max_connections"]
	work := max(rest/kB/((n+workers)*3*c.class.work)*kB, usualWork)
	reason := fmt.Sprintf("%s / ((%d connections + %d workers) x %d), at least 4MB", text, n, workers, 3*c.class.work)
	if fits := b.Left() / sorters(v); fits < work {
		work, reason = max(fits, leastWork), fmt.Sprintf("what a third of %d connections and %d parallel workers can use at once", n, v["max_parallel_workers"])
	}
	c.size("work_mem", work, reason)
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
		c.add("max_parallel_workers", "2", "fewer than 4 CPUs; CloudNativePG's 32 would take the memory of as many connections")
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
	workers, reason := cpus, cores
	if fit := int(max(c.in.MemoryBytes/(64*mB), 2)); c.in.MemoryBytes > 0 && fit < workers {
		workers, reason = fit, fmt.Sprintf("%s, at most one for each 64MB of %s memory", cores, amount(c.in.MemoryBytes))
	}
	c.add("max_parallel_workers", strconv.Itoa(workers), reason)
	c.add("max_parallel_workers_per_gather", strconv.Itoa(gather), "half of "+cores)
	c.add("max_parallel_maintenance_workers", strconv.Itoa(min(half, 4)), "half of "+cores+", at most 4")
	if cpus >= 32 {
		c.add("autovacuum_max_workers", "5", cores)
	} else if cpus >= 16 {
		c.add("autovacuum_max_workers", "4", cores)
	}
}

// archive closes WAL files early enough for spec.backup. CloudNativePG's own
// archive_timeout is 5min.
func (c *computation) archive() {
	if s := c.in.ArchiveSeconds; s > 0 && s < 5*60 {
		c.set("archive_timeout", catalogue()[c.in.Major]["archive_timeout"].print(float64(s)), "WAL is archived within spec.backup.maxArchiveAge")
	}
}

func amount(bytes int64) string { return setting{unit: "B"}.print(float64(bytes)) }
