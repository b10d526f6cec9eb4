package postgres

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pgstorage/pgstorage/internal/bench/durability"
)

// foundation is a setting that the statement of durability depends on, from any source.
type foundation struct {
	// safe values, as pg_settings shows them. Empty: see [StandbyNames].
	safe []string
	// takes says that another value takes acknowledged commits or the whole database;
	// otherwise it hides damage.
	takes bool
	// text says what another value does.
	text string
	// guard says that the operator writes the first safe value into every Cluster, so
	// that a value from elsewhere is taken back.
	guard bool
}

// foundations by name. wal_sync_method has only values that flush, on Linux
// (PostgreSQL, runtime-config-wal); one that is not listed here is not trusted.
var foundations = map[string]foundation{
	"fsync":                     {safe: []string{"on"}, takes: true, guard: true, text: "a crash of the node loses commits and can corrupt the database"},
	"full_page_writes":          {safe: []string{"on"}, takes: true, guard: true, text: "a page that a crash tears cannot be repaired"},
	"synchronous_commit":        {safe: []string{"on", "remote_apply"}, takes: true, text: "commits are acknowledged before they are flushed where the tier needs it"},
	"synchronous_standby_names": {takes: true, text: "commits do not wait for a standby"},
	"wal_level":                 {safe: []string{"replica", "logical"}, takes: true, text: "standbys and archives do not get every change"},
	"wal_sync_method":           {safe: []string{"fdatasync", "fsync", "open_datasync", "open_sync"}, takes: true, text: "WAL may not be flushed"},
	"data_sync_retry":           {safe: []string{"off"}, takes: true, text: "a failed flush is tried again, after the kernel may have dropped the data"},
	"zero_damaged_pages":        {safe: []string{"off"}, takes: true, guard: true, text: "damaged pages are erased instead of reported"},
	"ignore_invalid_pages":      {safe: []string{"off"}, takes: true, guard: true, text: "recovery skips WAL of damaged pages"},
	"ignore_checksum_failure":   {safe: []string{"off"}, guard: true, text: "damaged pages are read as if they were good"},
	"ignore_system_indexes":     {safe: []string{"off"}, guard: true, text: "unique checks of the catalogue are at risk"},
	"data_checksums":            {safe: []string{"on"}, text: "damage of the storage is not noticed"},
}

// FoundationNames are the settings that are read from every instance, sorted.
func FoundationNames() []string { return slices.Sorted(maps.Keys(foundations)) }

// Unreported are the foundations that an instance should report and does not. It cannot
// report synchronous_commit, because CloudNativePG's own sessions have another value.
// That one follows from the Cluster's parameters and from those of roles and databases.
func Unreported(settings map[string]string) []string {
	var out []string
	for _, name := range FoundationNames() {
		if _, reported := settings[name]; !reported && name != "synchronous_commit" {
			out = append(out, name)
		}
	}
	return out
}

// guards are written into every Cluster, unless its tier waives them. Postgres has the same values by default; a
// field that is not set here would keep a value of another writer.
func guards() []Parameter {
	var out []Parameter
	for _, name := range FoundationNames() {
		if f := foundations[name]; f.guard {
			out = append(out, Parameter{name, f.safe[0], FromSafety, "durability rests on it: otherwise " + f.text})
		}
	}
	return out
}

// Weakness is a setting of a running server that breaks what durability rests on.
type Weakness struct {
	// Text names the setting, its value, and what it does.
	Text string
	// TakesCommits says that acknowledged commits may be lost by it.
	TakesCommits bool
}

// Weak judges one setting, given as pg_settings shows it, of a server that is to keep a
// tier. It is nil for a value that is safe, and for a name that the durability of the
// tier does not rest on. synchronous_standby_names is judged by [StandbyNames].
func Weak(t durability.Tier, name, value string) *Weakness {
	f, known := foundations[name]
	if !known || len(f.safe) == 0 || slices.Contains(f.safe, value) || waives(t, name) {
		return nil
	}
	return &Weakness{fmt.Sprintf("%s is %s: %s", name, value, f.text), f.takes}
}

// Quorum is what a synchronous_standby_names has to ask for.
type Quorum struct {
	// Method of Postgres: ANY or FIRST.
	Method string
	// Standbys that must confirm a commit, at least.
	Standbys int
}

// StandbyNames judges the synchronous_standby_names of a primary of the tier Quorum.
// The primary must wait for enough standbys, and only for instances of the cluster. The
// text is empty where it does.
func StandbyNames(value string, instances []string, want Quorum) string {
	head, list, found := strings.Cut(strings.TrimSuffix(strings.TrimSpace(value), ")"), "(")
	method := strings.Fields(head)
	if !found || len(method) != 2 || !strings.EqualFold(method[0], want.Method) || strings.Trim(method[1], "0123456789") != "" || strings.Trim(method[1], "0") == "" {
		return fmt.Sprintf("synchronous_standby_names is %q, and not %s with a number of instances: commits do not wait for the quorum", value, want.Method)
	}
	if n, err := strconv.Atoi(method[1]); err != nil || n < want.Standbys {
		return fmt.Sprintf("synchronous_standby_names is %q: commits wait for %s standbys and not for %d", value, method[1], want.Standbys)
	}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.Trim(strings.TrimSpace(name), `"`)
		if !slices.Contains(instances, name) {
			return fmt.Sprintf("synchronous_standby_names is %q, and %s is not an instance of the cluster: it could confirm commits in place of one", value, name)
		}
	}
	return ""
}

// UnsafeToAdopt says which parameters of a CloudNativePG Cluster that exists already
// make it impossible to take over, sorted by name.
func UnsafeToAdopt(in Inputs, parameters map[string]string) []string {
	var out []string
	in.WholePages = Proof{}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		if managed(name) != nil {
			continue // CloudNativePG sets these itself, whatever is given
		}
		s, known := catalogue()[in.Major][name]
		if !known && !extension(name) {
			continue
		}
		value, err := s.normalise(parameters[name]) // a text, where the parameter is an extension's
		if err != nil {
			continue // Postgres refuses it too
		}
		if r := in.unsafe(name, value); r != nil {
			out = append(out, fmt.Sprintf("spec.postgresql.parameters[%s]: %s", name, strings.TrimPrefix(r.Message, fmt.Sprintf("spec.postgres.parameters[%s]: ", name))))
		}
	}
	return out
}
