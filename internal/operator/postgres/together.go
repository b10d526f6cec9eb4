package postgres

import (
	"fmt"
	"maps"
	"slices"
	"sort"
)

// maxBackends is the largest sum of processes with which Postgres starts
// (MAX_BACKENDS), less those that versions from 18 on reserve.
const maxBackends = 262143 - 2

// checks of values beside each other, in this order. Each returns one refusal, of a
// given parameter or of another field, or nil.
var checks = []func(in Inputs, given map[string]string, v numbers) *Refusal{
	Inputs.largeSegments, Inputs.minAboveMax, Inputs.fullVolume, Inputs.reserved, Inputs.tooManyProcesses,
	Inputs.protocols, Inputs.statistics, Inputs.hugeFit, Inputs.overMemory, Inputs.sortOverMemory,
}

// together refuses values that are good alone but not with the others, and takes
// them out of given.
func (in Inputs) together(given map[string]string) []Refusal {
	var out []Refusal
	v := in.final(in.merge(given))
	for i := 0; i < len(checks); {
		r := checks[i](in, given, v)
		if r == nil {
			i++
			continue
		}
		out = append(out, *r)
		if _, ok := given[r.Parameter]; !ok {
			i++ // of another field, which stays as it is
			continue
		}
		delete(given, r.Parameter)
		v = in.final(in.merge(given))
	}
	return out
}

// reserved refuses reservations that leave no connection.
func (in Inputs) reserved(given map[string]string, v numbers) *Refusal {
	reserved, all := v["superuser_reserved_connections"]+v["reserved_connections"], v["max_connections"]
	if reserved < all {
		return nil
	}
	for _, name := range []string{"max_connections", "reserved_connections", "superuser_reserved_connections"} {
		if value, ok := given[name]; ok {
			return refuse(name, RefusedRange, "%s leaves no connection for users: %d of %d are reserved; raise max_connections or reserve fewer", value, reserved, all)
		}
	}
	return nil
}

// tooManyProcesses refuses sums that Postgres has no numbers for.
func (in Inputs) tooManyProcesses(given map[string]string, v numbers) *Refusal {
	sum := v.processes()
	if sum <= maxBackends {
		return nil
	}
	blamed := in.largest(given, "max_connections", "max_worker_processes", "max_wal_senders", "autovacuum_max_workers", "autovacuum_worker_slots")
	if blamed == "" {
		return nil
	}
	return refuse(blamed, RefusedRange, "%s is too many: Postgres starts with at most %d connections, worker processes, WAL senders and autovacuum workers together, and these are %d. Use at most %d", given[blamed], maxBackends, sum, max(v[blamed]-(sum-maxBackends), 0))
}

// largest of the names that are given, by value; "" when none is.
func (in Inputs) largest(given map[string]string, names ...string) string {
	best, most := "", -1.0
	for _, name := range names {
		if value, ok := given[name]; ok {
			if n, _ := BaseValue(in.Major, name, value); n > most {
				best, most = name, n
			}
		}
	}
	return best
}

// protocols refuses a range of TLS versions that is empty, with which Postgres does
// not start. CloudNativePG's default of both ends is TLSv1.3.
func (in Inputs) protocols(given map[string]string, _ numbers) *Refusal {
	const low, high = "ssl_min_protocol_version", "ssl_max_protocol_version"
	ends := map[string]string{low: "TLSv1.3", high: "TLSv1.3"}
	maps.Copy(ends, given)
	if ends[high] == "" || ends[low] <= ends[high] { // TLSv1 < TLSv1.1 < ...
		return nil
	}
	for _, name := range []string{high, low} {
		if value, ok := given[name]; ok {
			return refuse(name, RefusedRange, "%s: Postgres does not start with %s (%s) above %s (%s), of which CloudNativePG's default is TLSv1.3; set both, or remove it", value, low, ends[low], high, ends[high])
		}
	}
	return nil
}

// statistics refuses log_statement_stats beside those that it includes.
func (in Inputs) statistics(_ map[string]string, v numbers) *Refusal {
	if v["log_statement_stats"] == 1 && v["log_parser_stats"]+v["log_planner_stats"]+v["log_executor_stats"] > 0 {
		return refuse("log_statement_stats", RefusedRange, "Postgres does not start with it on beside log_parser_stats, log_planner_stats or log_executor_stats; remove it, or these")
	}
	return nil
}

// over says that memory does not hold what these values may take.
func (in Inputs) over(v numbers) bool {
	return in.MemoryBytes > 0 && in.budget(v).Left() < sorters(v)*leastWork
}

// overMemory refuses the value that adds most to a sum that memory does not hold.
func (in Inputs) overMemory(given map[string]string, v numbers) *Refusal {
	if !in.over(v) {
		return nil
	}
	sum := in.budget(v)
	blamed, least := "", sum.Needs()
	for _, name := range slices.Sorted(maps.Keys(given)) {
		without := maps.Clone(given)
		delete(without, name)
		if needs := in.budget(in.final(in.merge(without))).Needs(); needs < least {
			blamed, least = name, needs
		}
	}
	if blamed == "" {
		return &Refusal{"memory", RefusedMemory, fmt.Sprintf("spec.resources.requests.memory does not hold a server with %d connections: %s; use less%s", v["max_connections"], sum, in.enough(given))}
	}
	lower := "lower it"
	if n, ok := in.most(given, blamed); ok {
		lower = "use at most " + n
	}
	if blamed == "max_connections" {
		lower += ", let a pooler share them"
	}
	return refuse(blamed, RefusedMemory, "%s does not fit the memory: %s; %s%s", given[blamed], sum, lower, in.enough(given))
}

// most is the largest value of a number that memory holds, if any does.
func (in Inputs) most(given map[string]string, name string) (string, bool) {
	s := catalogue()[in.Major][name]
	high, ok := BaseValue(in.Major, name, given[name])
	low := max(s.min, 1)
	if !ok || s.kind != "integer" || high <= low {
		return "", false
	}
	with := maps.Clone(given)
	n := sort.Search(int(high-low), func(i int) bool {
		with[name] = s.print(low + float64(i))
		return in.over(in.final(in.merge(with)))
	})
	return s.print(low + float64(n) - 1), n > 0
}

// enough is the memory that holds all that is given, in steps of 64MB, as advice; ""
// when 4TB do not.
func (in Inputs) enough(given map[string]string) string {
	const step, most = 64 * mB, 1 << 16
	n := sort.Search(most, func(i int) bool {
		in.MemoryBytes = int64(i+1) * step
		return !in.over(in.final(in.merge(given)))
	})
	if n == most {
		return ""
	}
	return ", or raise spec.resources.requests.memory to at least " + amount(int64(n+1)*step)
}

// sortOverMemory refuses a work_mem that exceeds the memory with a single session.
func (in Inputs) sortOverMemory(given map[string]string, v numbers) *Refusal {
	if in.MemoryBytes <= 0 {
		return nil
	}
	left := in.budget(v).Left()
	for _, name := range []string{"work_mem", "temp_buffers", "logical_decoding_work_mem"} {
		if value, ok := given[name]; ok && v[name] > left {
			return refuse(name, RefusedMemory, "%s for one session does not fit the %s that the rest leaves of %s memory; lower it, or raise spec.resources.requests.memory", value, rounded(left), amount(in.MemoryBytes))
		}
	}
	return nil
}
