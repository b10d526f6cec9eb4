package postgres

import (
	"maps"
	"slices"
	"testing"
)

// refused has a row for each rule, with its complete message. The value is given
// to base, changed where a rule needs it; other holds user values beside it.
var refused = []struct {
	name, value, reason, message string
	change                       func(*Inputs)
	other                        map[string]string
}{
	// Names.
	{name: "Work_Mem", value: "4MB", reason: RefusedUnknown, message: "parameter names are written in lower case; use work_mem"},
	{name: "work_men", value: "4MB", reason: RefusedUnknown, message: "PostgreSQL 17 has no such parameter; did you mean work_mem? Else remove it"},
	{name: "qqqqqqqq", value: "1", reason: RefusedUnknown, message: "PostgreSQL 17 has no such parameter; remove it"},
	{name: "io_workers", value: "3", reason: RefusedUnknown, message: "PostgreSQL 17 has no such parameter; remove it"}, // of 18
	{name: "cnpg.config_sha256", value: "1", reason: RefusedFixed, message: "CloudNativePG sets it itself and takes no other value; remove it"},
	{name: "port", value: "1", reason: RefusedFixed, message: "CloudNativePG sets it itself and takes no other value; remove it"},
	{name: "allow_alter_system", value: "on", reason: RefusedFixed, message: "ALTER SYSTEM is off so that the cluster runs as declared; remove it"},
	{name: "archive_library", value: "basic_archive", reason: RefusedFixed, message: "CloudNativePG archives with archive_command, and Postgres does not start with both; remove it"},
	{name: "block_size", value: "8192", reason: RefusedFixed, message: "Postgres reports it and does not let it be set; remove it"},
	{name: "synchronous_standby_names", value: "*", reason: RefusedManagedByField, message: "it is set from spec.durability; remove it and use that field"},

	// Forms.
	{name: "work_mem", value: "4MB\n", reason: RefusedInvalid, message: "must be one line of text"},
	{name: "fsync", value: "o", reason: RefusedInvalid, message: `"o" is not a boolean; use on or off`},
	{name: "wal_level", value: "archive", reason: RefusedInvalid, message: `"archive" is not one of minimal, replica, logical`},
	{name: "work_mem", value: "much", reason: RefusedInvalid, message: `"much" is not a number; use one of the units B, kB, MB, GB, TB (case matters)`},
	{name: "max_connections", value: "many", reason: RefusedInvalid, message: `"many" is not a number; this parameter is a plain number`},
	{name: "work_mem", value: "64M", reason: RefusedInvalid, message: `"64M" has an unknown unit; use one of the units B, kB, MB, GB, TB (case matters)`},
	{name: "checkpoint_timeout", value: "5m", reason: RefusedInvalid, message: `"5m" has an unknown unit; use one of the units us, ms, s, min, h, d (case matters)`},
	{name: "max_connections", value: "100kB", reason: RefusedInvalid, message: `"100kB" has an unknown unit; this parameter is a plain number`},
	{name: "work_mem", value: "1kB", reason: RefusedRange, message: `"1kB" is outside 64kB to 2147483647kB`},
	{name: "checkpoint_timeout", value: "2d", reason: RefusedRange, message: `"2d" is outside 30s to 1d`},
	{name: "max_connections", value: "0", reason: RefusedRange, message: `"0" is outside 1 to 262143`},

	// Never safe.
	{name: "fsync", value: "oF", reason: RefusedUnsafe, message: "off is unsafe: a crash becomes an unrecoverable corruption; remove it, or use durability: Async for faster commits"},
	{name: "full_page_writes", value: "no", reason: RefusedUnsafe, message: "off is unsafe: a page torn by a crash could not be repaired, and this kind of storage cannot be proved never to tear one; remove it, or use a profile of type ZFSLocalPV or S3NBD"},
	{name: "zero_damaged_pages", value: "1", reason: RefusedUnsafe, message: "on is unsafe: damaged pages are erased instead of reported; remove it, and restore from a backup"},
	{name: "ignore_checksum_failure", value: "t", reason: RefusedUnsafe, message: "on is unsafe: corrupt pages are read as if they were good and can spread; remove it, and restore from a backup"},
	{name: "ignore_invalid_pages", value: "on", reason: RefusedUnsafe, message: "on is unsafe: recovery would skip WAL of damaged pages and lose data; remove it, and restore from a backup"},
	{name: "ignore_system_indexes", value: "yes", reason: RefusedUnsafe, message: "on is unsafe: unique checks of the catalogue are at risk; remove it, and use it in a single session for a repair"},
	{name: "wal_level", value: "Minimal", reason: RefusedUnsafe, message: "minimal is unsafe: archiving and standbys need replica or logical; remove it, or set logical or replica"},
	{name: "exit_on_error", value: "true", reason: RefusedUnsafe, message: "on is unsafe: any error would end its session, CloudNativePG's included; remove it"},

	// Not safe with the rest of the spec.
	{name: "synchronous_commit", value: "0", reason: RefusedTier, message: "off is below durability Local; use on or remote_apply, or set spec.durability to Async to accept the loss of the last commits"},
	{name: "synchronous_commit", value: "local", reason: RefusedTier, change: func(in *Inputs) { in.Tier = Quorum }, message: "local is below durability Quorum; use on or remote_apply, or set spec.durability to Async to accept the loss of the last commits"},
	{name: "synchronous_commit", value: "remote_write", reason: RefusedTier, change: func(in *Inputs) { in.Tier = Quorum }, message: "remote_write is below durability Quorum; use on or remote_apply, or set spec.durability to Async to accept the loss of the last commits"},
	{name: "wal_log_hints", value: "off", reason: RefusedUnsafe, message: "off is unsafe: a former primary of 3 instances rejoins by pg_rewind, which needs it; remove it"},
	{name: "session_replication_role", value: "replica", reason: RefusedUnsafe, message: "replica is unsafe: foreign keys and triggers are not enforced; remove it, and set it in the one session that needs it"},
	{name: "max_wal_senders", value: "4", reason: RefusedUnsafe, message: "4 is too few: 3 instances and backups need at least 5; raise or remove it"},
	{name: "max_replication_slots", value: "0", reason: RefusedUnsafe, message: "0 is too few: 3 instances and backups need at least 5; raise or remove it"},
	{name: "max_worker_processes", value: "7", reason: RefusedUnsafe, message: "7 is too few: replication and parallel queries share these; use at least 8, or remove it"},

	// Memory.
	{name: "shared_buffers", value: "14GB", reason: RefusedMemory, message: "14GB leaves too little of the 16GB of memory for connections; use at most 12GB (three quarters), or raise spec.resources.requests.memory"},
	{name: "work_mem", value: "16GB", reason: RefusedMemory, message: "16GB is not below the 16GB of memory; lower it, or raise spec.resources.requests.memory"},
	{name: "maintenance_work_mem", value: "17GB", reason: RefusedMemory, message: "17GB is not below the 16GB of memory; lower it, or raise spec.resources.requests.memory"},
	{name: "autovacuum_work_mem", value: "1TB", reason: RefusedMemory, message: "1TB is not below the 16GB of memory; lower it, or raise spec.resources.requests.memory"},
	{name: "temp_buffers", value: "2097152", reason: RefusedMemory, message: "16GB is not below the 16GB of memory; lower it, or raise spec.resources.requests.memory"}, // pages
	{name: "logical_decoding_work_mem", value: "16GB", reason: RefusedMemory, message: "16GB is not below the 16GB of memory; lower it, or raise spec.resources.requests.memory"},
	{name: "wal_buffers", value: "1GB", reason: RefusedMemory, change: func(in *Inputs) { in.MemoryBytes = gB }, message: "1GB is not below the 1GB of memory; lower it, or raise spec.resources.requests.memory"},

	// The volume.
	{name: "max_wal_size", value: "20GB", reason: RefusedVolume, message: "20GB is not below the 20GB volume that WAL is on; lower it, or ask for a larger volume in spec.storage"},
	{name: "max_wal_size", value: "200GB", reason: RefusedVolume, change: func(in *Inputs) { in.WALBytes = 0 }, message: "200GB is not below the 100GB volume that WAL is on; lower it, or ask for a larger volume in spec.storage"},
	{name: "min_wal_size", value: "1TB", reason: RefusedVolume, message: "1TB is not below the 20GB volume that WAL is on; lower it, or ask for a larger volume in spec.storage"},
	{name: "max_wal_size", value: "31MB", reason: RefusedRange, message: "31MB is below two WAL segments; use at least 32MB"},
	{name: "min_wal_size", value: "16MB", reason: RefusedRange, message: "16MB is below two WAL segments; use at least 32MB"},

	// Values beside each other.
	{name: "min_wal_size", value: "9GB", reason: RefusedRange, message: "9GB is not below max_wal_size (8GB); lower it, or raise max_wal_size"},
	{name: "min_wal_size", value: "2TB", reason: RefusedRange, other: map[string]string{"max_wal_size": "1TB"}, change: func(in *Inputs) { in.WALBytes = 4096 * gB }, message: "2TB is not below max_wal_size (1TB); lower it, or raise max_wal_size"},
	{name: "max_wal_size", value: "32MB", reason: RefusedRange, message: "32MB is not above min_wal_size (32MB); use at least 64MB"},
	{name: "max_connections", value: "3", reason: RefusedRange, message: "3 leaves no connection for users: 3 of 3 are reserved; raise max_connections or reserve fewer"},
	{name: "reserved_connections", value: "297", reason: RefusedRange, message: "297 leaves no connection for users: 300 of 300 are reserved; raise max_connections or reserve fewer"},
	{name: "superuser_reserved_connections", value: "400", reason: RefusedRange, message: "400 leaves no connection for users: 400 of 300 are reserved; raise max_connections or reserve fewer"},
}

func TestRefusals(t *testing.T) {
	for _, c := range refused {
		in := base
		if c.change != nil {
			c.change(&in)
		}
		in.User = map[string]string{c.name: c.value}
		maps.Copy(in.User, c.other)
		ps, got := Compute(in)
		want := []Refusal{{c.name, c.reason, "spec.postgres.parameters[" + c.name + "]: " + c.message}}
		if !slices.Equal(got, want) {
			t.Errorf("%s=%q:\n got %+v\nwant %+v", c.name, c.value, got, want)
		}
		if slices.ContainsFunc(ps, func(p Parameter) bool { return p.Name == c.name && p.Source == FromUser }) {
			t.Errorf("%s=%q was refused and passed on", c.name, c.value)
		}
	}
}

// TestEveryRuleHasARow fails for a rule that was added without its message.
func TestEveryRuleHasARow(t *testing.T) {
	rows, reasons := map[string]bool{}, map[string]bool{RefusedVersion: true} // in TestUnsupportedVersion
	for _, c := range refused {
		rows[c.name], reasons[c.reason] = true, true
	}
	for _, names := range [][]string{
		slices.Collect(maps.Keys(hazards)), slices.Collect(maps.Keys(conditional)), slices.Collect(maps.Keys(fields)),
	} {
		for _, name := range names {
			if !rows[name] {
				t.Errorf("no row for %s", name)
			}
		}
	}
	for _, reason := range []string{
		RefusedUnknown, RefusedFixed, RefusedManagedByField, RefusedUnsafe, RefusedRange, RefusedInvalid, RefusedTier, RefusedMemory, RefusedVolume, RefusedVersion,
	} {
		if !reasons[reason] {
			t.Errorf("no row with reason %s", reason)
		}
	}
}

func TestEverythingFixedIsRefused(t *testing.T) {
	for _, name := range fixed() {
		in := base
		in.User = map[string]string{name: "1"}
		ps, got := Compute(in)
		if len(got) != 1 || got[0].Parameter != name || slices.ContainsFunc(ps, func(p Parameter) bool { return p.Name == name && p.Source == FromUser }) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestUnsupportedVersion(t *testing.T) {
	for major, want := range map[int]string{
		13: "spec.postgres.version: major 13 is not supported; use 14 to 18",
		19: "spec.postgres.version: major 19 is not supported; use 14 to 18",
	} {
		in := base
		in.Major = major
		if ps, got := Compute(in); len(ps) > 0 || !slices.Equal(got, []Refusal{{"version", RefusedVersion, want}}) {
			t.Errorf("%d: %v %v", major, ps, got)
		}
	}
}

// TestSpellings has every other way to write a refused value.
func TestSpellings(t *testing.T) {
	for _, c := range []struct{ name, value, reason string }{
		{"fsync", "N", RefusedUnsafe}, {"fsync", "FAL", RefusedUnsafe}, {"fsync", "0", RefusedUnsafe}, {"fsync", "of", RefusedUnsafe},
		{"fsync", " off", RefusedInvalid}, {"fsync", "'off'", RefusedInvalid}, {"fsync", "", RefusedInvalid},
		{"synchronous_commit", "FALSE", RefusedTier}, {"synchronous_commit", "no", RefusedTier},
		{"work_mem", "64Mi", RefusedInvalid}, {"work_mem", "", RefusedInvalid}, {"a..b", "1", RefusedUnknown}, {"1a.b", "1", RefusedUnknown},
		{"io_method", "worker", RefusedUnknown}, {"data_sync_retry", "on", RefusedFixed},
	} {
		in := base
		in.User = map[string]string{c.name: c.value}
		if _, got := Compute(in); len(got) != 1 || got[0].Reason != c.reason || got[0].Parameter != c.name {
			t.Errorf("%s=%q: %+v", c.name, c.value, got)
		}
	}
}
