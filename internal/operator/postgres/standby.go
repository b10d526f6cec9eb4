package postgres

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// primaryFirst are the parameters that a standby needs at least as high as its primary.
// Recovery pauses where one is lower (PostgreSQL, hot-standby, "Administrator's
// Overview"). The values are those where neither the operator nor the user sets them:
// defaults of Postgres, and of CloudNativePG for max_worker_processes.
var primaryFirst = map[string]int64{
	"max_connections":           100,
	"max_locks_per_transaction": 64,
	"max_prepared_transactions": 0,
	"max_wal_senders":           10,
	"max_worker_processes":      cnpgWorkers,
}

// StandbyMinimum returns what a standby of a primary with these parameters needs at least.
func StandbyMinimum(major int, primary map[string]string) map[string]int64 {
	out := maps.Clone(primaryFirst)
	for name := range out {
		if value, set := primary[name]; set {
			if n, numeric := BaseValue(major, name, value); numeric {
				out[name] = int64(n)
			}
		}
	}
	return out
}

// belowPrimary refuses values of the user that are too low for a standby.
func (in Inputs) belowPrimary(given map[string]string) []Refusal {
	var out []Refusal
	for _, name := range slices.Sorted(maps.Keys(in.AtLeast)) {
		value, set := given[name]
		if n, numeric := BaseValue(in.Major, name, value); set && numeric && int64(n) < in.AtLeast[name] {
			delete(given, name)
			out = append(out, *refuse(name, RefusedRange, "the cluster that is followed has %d, and a standby with less does not replay its WAL; set at least %d, or remove it", in.AtLeast[name], in.AtLeast[name]))
		}
	}
	return out
}

// raise gives a standby what its primary has, where its own value would be lower. What is
// raised counts for the rest of the computation, as memory for connections does.
//
// It states a value also where the default is enough. When the value of a primary is lowered,
// a standby can restart before the primary does. It then needs the former value, which its
// data directory has. CloudNativePG sets that only for a parameter that the Cluster has
// (verifyParametersForFollower of v1.30.0).
func (in Inputs) raise(given map[string]string) map[string]string {
	raised := map[string]string{}
	if len(in.AtLeast) == 0 {
		return raised
	}
	out := map[string]Parameter{}
	if !in.GivenOnly {
		in.derive(out, given)
	}
	for name, least := range in.AtLeast {
		if _, set := given[name]; set {
			continue
		}
		own := primaryFirst[name]
		p, computed := out[name]
		if n, numeric := BaseValue(in.Major, name, p.Value); computed && numeric {
			own = int64(n)
		}
		if own < least || !computed {
			raised[name] = strconv.FormatInt(max(own, least), 10)
		}
	}
	return raised
}

// raisedParameter says why a value is as high as it is.
func (in Inputs) raisedParameter(name, value string) Parameter {
	reason := fmt.Sprintf("the cluster that is followed has %s, and a standby with less does not replay its WAL", value)
	if least := in.AtLeast[name]; value != strconv.FormatInt(least, 10) {
		reason = fmt.Sprintf("the default; the cluster that is followed has %d, and a standby with less does not replay its WAL", least)
	}
	return Parameter{name, value, FromSafety, reason}
}
