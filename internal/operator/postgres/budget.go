package postgres

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Memory that is not Postgres parameters' to decide. docs/parameters.md says how each
// was measured.
const (
	// overhead is CloudNativePG's instance manager, which runs in the container of
	// Postgres, and the server's own processes: postmaster, checkpointer, writers.
	overhead = 64 * mB
	// backend is private and kernel memory of one process that serves queries,
	// over TLS, without its page tables over shared_buffers.
	backend = 2 * mB
	// leastConnections are computed however little memory there is.
	leastConnections = 20
	// sorting is the part of all sessions that the budget lets sort at once: one in
	// so many (pgtune divides by the same 3).
	sorting = 3
	// leastWork and usualWork are the bounds of a computed work_mem from below: where
	// the user asks for connections, and where these are computed.
	leastWork, usualWork = mB, 4 * mB
)

// Budget is the memory of one instance, in bytes.
type Budget struct {
	// Memory that the instance may use: its request, without huge pages.
	Memory int64
	// Shared memory of Postgres; in huge pages when Huge is true, which are not part
	// of Memory.
	Shared int64
	Huge   bool
	// Processes that serve queries, vacuum or replicate, and what each takes.
	Connections, Others, Process int64
	// Maintenance is one maintenance_work_mem and one autovacuum_work_mem for each
	// autovacuum worker.
	Maintenance int64
	// Sorts is how many sessions may use one work_mem, of WorkMem, at once. It is a
	// third of the connections and parallel workers, or fewer where no more fit.
	Sorts, WorkMem int64
}

// Needs is the sum without what sorts use.
func (b Budget) Needs() int64 {
	sum := b.Maintenance + overhead + clamp(float64(b.Connections+b.Others)*float64(b.Process))
	if !b.Huge {
		sum += b.Shared
	}
	return sum
}

// Left of Memory for sorts; below zero when the rest does not fit.
func (b Budget) Left() int64 { return b.Memory - b.Needs() }

// String is the sum, term by term.
func (b Budget) String() string {
	terms := []string{
		rounded(b.Shared) + " shared memory",
		rounded(overhead) + " instance manager and processes of Postgres itself",
		fmt.Sprintf("(%d connections + %d other processes) x %s", b.Connections, b.Others, rounded(b.Process)),
		rounded(b.Maintenance) + " maintenance and autovacuum",
	}
	if b.Sorts > 0 {
		terms = append(terms, fmt.Sprintf("%d x %s work_mem", b.Sorts, rounded(b.WorkMem)))
	}
	if b.Huge {
		terms = terms[1:]
	}
	return fmt.Sprintf("%s = %s of %s memory", strings.Join(terms, " + "), rounded(b.Needs()+b.Sorts*b.WorkMem), rounded(b.Memory))
}

// budget of final values.
func (in Inputs) budget(v numbers) Budget {
	b := Budget{Memory: in.MemoryBytes, Shared: v.shared(), Huge: v["huge_pages"] == 1, Connections: v["max_connections"], Process: backend}
	if !b.Huge {
		b.Process += v["shared_buffers"] / 512 // 8 bytes of page table for each page of 4 kB that a process touches
	}
	b.Others = v["max_parallel_workers"] + v["autovacuum_max_workers"] + in.senders(v)
	vacuum := v["autovacuum_work_mem"]
	if vacuum <= 0 {
		vacuum = v["maintenance_work_mem"]
	}
	b.Maintenance = v["maintenance_work_mem"] + clamp(float64(v["autovacuum_max_workers"])*float64(vacuum))
	b.WorkMem = max(v["work_mem"], 1)
	b.Sorts = max(min(sorters(v), b.Left()/b.WorkMem), 0)
	return b
}

// showBudget appends the sum to the reason of max_connections.
func (in Inputs) showBudget(ps map[string]Parameter) {
	p, ok := ps["max_connections"]
	if !ok || in.MemoryBytes <= 0 {
		return
	}
	p.Reason += "; " + in.budget(in.final(slices.Collect(maps.Values(ps)))).String()
	ps["max_connections"] = p
}

// sorters are the sessions that the budget lets use one work_mem each at once.
func sorters(v numbers) int64 {
	return (v["max_connections"] + v["max_parallel_workers"] + sorting - 1) / sorting
}

// senders that run: those that are needed but for the one that ends, unless more than the
// default of 10 are set.
func (in Inputs) senders(v numbers) int64 {
	used := int64(in.leastSenders() - 1)
	if n := v["max_wal_senders"]; n > max(used, defaults["max_wal_senders"]) {
		return n
	}
	return used
}

// rounded is an amount in words, in whole MB from 10 MB on and in GB with one digit
// from 10 GB on.
func rounded(bytes int64) string {
	switch {
	case bytes >= 10*gB:
		return fmt.Sprintf("%.1fGB", float64(bytes)/float64(gB))
	case bytes >= 10*mB:
		return fmt.Sprintf("%dMB", (bytes+mB/2)/mB)
	}
	return fmt.Sprintf("%.1fMB", float64(bytes)/float64(mB))
}
