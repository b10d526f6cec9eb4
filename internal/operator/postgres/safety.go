package postgres

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/pgstorage/pgstorage/internal/bench/durability"
)

//go:embed fixed.txt
var fixedText string

var fixed = sync.OnceValue(func() []string {
	return slices.DeleteFunc(strings.Fields(fixedText[strings.Index(fixedText, "\n"):]), func(s string) bool { return s == "" })
})

// fields that say what a fixed parameter would.
var fields = map[string]string{
	"synchronous_standby_names": "spec.durability",
}

// managed refuses what CloudNativePG sets itself.
func managed(name string) *Refusal {
	if f, ok := fields[name]; ok {
		return refuse(name, RefusedManagedByField, "it is set from %s; remove it and use that field", f)
	}
	switch {
	case slices.Contains(fixed(), name), strings.HasPrefix(name, "cnpg."):
		return refuse(name, RefusedFixed, "CloudNativePG sets it itself and takes no other value; remove it")
	case name == "allow_alter_system":
		return refuse(name, RefusedFixed, "ALTER SYSTEM is off so that the cluster runs as declared; remove it")
	case name == "archive_library":
		return refuse(name, RefusedFixed, "CloudNativePG archives with archive_command, and Postgres does not start with both; remove it")
	}
	return nil
}

// Managed says that CloudNativePG sets a parameter itself, or from another field, whatever
// a Cluster gives.
func Managed(name string) bool { return managed(name) != nil }

// Synchronous says that a value of synchronous_commit acknowledges commits after a flush
// on the primary, and on the standbys that must confirm.
func Synchronous(major int, value string) bool {
	normal, err := catalogue()[major]["synchronous_commit"].normalise(value)
	return err == nil && (normal == "on" || normal == "remote_apply")
}

// Restarts says that Postgres reads a parameter at its start only. It is true for a
// parameter of an extension, of which nothing is known.
func Restarts(major int, name string) bool {
	s, known := catalogue()[major][name]
	return !known || s.context == "postmaster" || s.context == "internal"
}

// Same says that two values of a parameter are the same to Postgres.
func Same(major int, name, a, b string) bool {
	s, known := catalogue()[major][name]
	if !known {
		return a == b
	}
	x, err := s.normalise(a)
	if err != nil {
		return a == b
	}
	y, err := s.normalise(b)
	return err == nil && x == y
}

// WeakText judges a value as a Cluster, a role or a database spells it; see [Weak]. It takes
// a spelling that it cannot read for a weak value.
func WeakText(t durability.Tier, major int, name, value string) *Weakness {
	if normal, err := catalogue()[major][name].normalise(value); err == nil {
		value = normal
	}
	return Weak(t, name, value)
}

// hazard is a value that is refused, what it does and what to do instead.
type hazard struct{ value, text string }

var hazards = map[string]hazard{
	"fsync":                   {"off", "a crash becomes an unrecoverable corruption; remove it, or use durability: Async for faster commits"},
	"zero_damaged_pages":      {"on", "damaged pages are erased instead of reported; remove it, and restore from a backup"},
	"ignore_checksum_failure": {"on", "corrupt pages are read as if they were good and can spread; remove it, and restore from a backup"},
	"ignore_invalid_pages":    {"on", "recovery would skip WAL of damaged pages and lose data; remove it, and restore from a backup"},
	"ignore_system_indexes":   {"on", "unique checks of the catalogue are at risk; remove it, and use it in a single session for a repair"},
	"wal_level":               {"minimal", "archiving and standbys need replica or logical; remove it, or set logical or replica"},
	"exit_on_error":           {"on", "any error would end its session, CloudNativePG's included; remove it"},
}

// unsafe refuses what loses acknowledged data or breaks replication. The value is
// normalised, so that every spelling of off is "off".
func (in Inputs) unsafe(name, value string) *Refusal {
	if h, ok := hazards[name]; ok && h.value == value && !waives(in.Tier, name) {
		return refuse(name, RefusedUnsafe, "%s is unsafe: %s", value, h.text)
	}
	if check, ok := conditional[name]; ok {
		return check(in, name, value)
	}
	return program(name)
}

// conditional are parameters whose safety depends on the rest of the spec.
var conditional = map[string]func(in Inputs, name, value string) *Refusal{
	"full_page_writes":             tornPages,
	"synchronous_commit":           commitBelowTier,
	"wal_log_hints":                hintsForRewind,
	"wal_receiver_status_interval": silentStandbys,
	"session_replication_role":     skippedTriggers,
	"session_preload_libraries":    foreignLibrary,
	"oauth_validator_libraries":    foreignLibrary,
	"dynamic_library_path":         foreignDirectory,
	"extension_control_path":       foreignDirectory,
	"max_wal_senders":              tooFewSenders,
	"max_replication_slots":        tooFewSlots,
	"max_worker_processes":         tooFewWorkers,
	"huge_pages":                   hugeUnavailable,
	"huge_page_size":               hugeSizeUnavailable,
	"shared_memory_type":           sharedNotMapped,
	"archive_timeout":              archivedLate,
}

// tornPages: without full-page images Postgres cannot repair a page that a crash tore.
// So the storage must never tear a page (PostgreSQL, wal.sgml, names ZFS).
func tornPages(in Inputs, name, value string) *Refusal {
	if value == "off" && !in.WholePages.Possible && !waives(in.Tier, name) {
		return refuse(name, RefusedUnsafe, "off is unsafe: a page torn by a crash could not be repaired, and this kind of storage cannot be proved never to tear one. Remove it, or use a profile of type ZFSLocalPV or S3NBD")
	}
	return nil
}

func commitBelowTier(in Inputs, name, value string) *Refusal {
	if waives(in.Tier, name) || value == "on" || value == "remote_apply" {
		return nil
	}
	return refuse(name, RefusedTier, "%s is below durability %s; use on or remote_apply, or set spec.durability to Async to accept the loss of the last commits", value, in.Tier)
}

// archivedLate: a file of WAL that is not full is archived after archive_timeout.
func archivedLate(in Inputs, name, value string) *Refusal {
	n, _ := BaseValue(in.Major, name, value)
	if in.ArchiveSeconds == 0 || n > 0 && int64(n) <= in.ArchiveSeconds {
		return nil
	}
	return refuse(name, RefusedUnsafe, "%s lets WAL stay longer than the %d seconds of spec.backup.maxArchiveAge; lower or remove it, or raise maxArchiveAge", value, in.ArchiveSeconds)
}

func hintsForRewind(in Inputs, name, value string) *Refusal {
	if value != "off" || in.Instances <= 1 {
		return nil
	}
	return refuse(name, RefusedUnsafe, "off is unsafe: a former primary of %d instances rejoins by pg_rewind, which needs it; remove it", in.Instances)
}

// silentStandbys: with 0, a standby reports a flush only when the primary requests it, which
// is after half of wal_sender_timeout, or never (XLogWalRcvSendReply of PostgreSQL).
func silentStandbys(in Inputs, name, value string) *Refusal {
	if in.Tier != durability.Quorum || value != "0" {
		return nil
	}
	return refuse(name, RefusedUnsafe, "0 is unsafe with durability Quorum: standbys would not confirm commits, which would wait; use 1s or more, or remove it")
}

func skippedTriggers(_ Inputs, name, value string) *Refusal {
	if value == "origin" {
		return nil
	}
	return refuse(name, RefusedUnsafe, "%s is unsafe: foreign keys and triggers are not enforced; remove it, and set it in the one session that needs it", value)
}

func tooFewWorkers(in Inputs, name, value string) *Refusal {
	if n, _ := BaseValue(in.Major, name, value); n >= 8 {
		return nil
	}
	return refuse(name, RefusedUnsafe, "%s is too few: replication and parallel queries share these; use at least 8, or remove it", value)
}

// fits refuses sizes that memory or the volume cannot hold.
func (in Inputs) fits(name, value string) *Refusal {
	s := catalogue()[in.Major][name]
	n, _ := BaseValue(in.Major, name, value)
	_, base := unitsOf(s.unit)
	bytes := n * base
	if refusal := in.startless(name, value, bytes); refusal != nil {
		return refusal
	}
	switch name {
	case "shared_buffers":
		if limit := in.MemoryBytes / 4 * 3; in.MemoryBytes > 0 && bytes > float64(limit) {
			return refuse(name, RefusedMemory, "%s leaves too little of the %s of memory for connections; use at most %s (three quarters), or raise spec.resources.requests.memory", value, amount(in.MemoryBytes), amount(limit))
		}
	case "work_mem", "maintenance_work_mem", "autovacuum_work_mem", "temp_buffers", "wal_buffers", "logical_decoding_work_mem":
		if in.MemoryBytes > 0 && bytes >= float64(in.MemoryBytes) {
			return refuse(name, RefusedMemory, "%s is not below the %s of memory; lower it, or raise spec.resources.requests.memory", value, amount(in.MemoryBytes))
		}
	case "max_wal_size", "min_wal_size", "wal_keep_size", "max_slot_wal_keep_size", "temp_file_limit":
		return in.fitsVolume(name, value, bytes)
	}
	return nil
}
