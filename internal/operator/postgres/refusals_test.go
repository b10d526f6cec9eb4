package postgres

import (
	"maps"
	"slices"
	"testing"

	"github.com/pgstorage/pgstorage/internal/bench/durability"
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
	{name: "full_page_writes", value: "no", reason: RefusedUnsafe, message: "off is unsafe: a page torn by a crash could not be repaired, and this kind of storage cannot be proved never to tear one. Remove it, or use a profile of type ZFSLocalPV or S3NBD"},
	{name: "zero_damaged_pages", value: "1", reason: RefusedUnsafe, message: "on is unsafe: damaged pages are erased instead of reported; remove it, and restore from a backup"},
	{name: "ignore_checksum_failure", value: "t", reason: RefusedUnsafe, message: "on is unsafe: corrupt pages are read as if they were good and can spread; remove it, and restore from a backup"},
	{name: "ignore_invalid_pages", value: "on", reason: RefusedUnsafe, message: "on is unsafe: recovery would skip WAL of damaged pages and lose data; remove it, and restore from a backup"},
	{name: "ignore_system_indexes", value: "yes", reason: RefusedUnsafe, message: "on is unsafe: unique checks of the catalogue are at risk; remove it, and use it in a single session for a repair"},
	{name: "wal_level", value: "Minimal", reason: RefusedUnsafe, message: "minimal is unsafe: archiving and standbys need replica or logical; remove it, or set logical or replica"},
	{name: "exit_on_error", value: "true", reason: RefusedUnsafe, message: "on is unsafe: any error would end its session, CloudNativePG's included; remove it"},

	// Not safe with the rest of the spec.
	{name: "synchronous_commit", value: "0", reason: RefusedTier, message: "off is below durability Local; use on or remote_apply, or set spec.durability to Async to accept the loss of the last commits"},
	{name: "synchronous_commit", value: "local", reason: RefusedTier, change: func(in *Inputs) { in.Tier = durability.Quorum }, message: "local is below durability Quorum; use on or remote_apply, or set spec.durability to Async to accept the loss of the last commits"},
	{name: "synchronous_commit", value: "remote_write", reason: RefusedTier, change: func(in *Inputs) { in.Tier = durability.Quorum }, message: "remote_write is below durability Quorum; use on or remote_apply, or set spec.durability to Async to accept the loss of the last commits"},
	{name: "wal_log_hints", value: "off", reason: RefusedUnsafe, message: "off is unsafe: a former primary of 3 instances rejoins by pg_rewind, which needs it; remove it"},
	{name: "wal_receiver_status_interval", value: "0ms", reason: RefusedUnsafe, change: func(in *Inputs) { in.Tier = durability.Quorum }, message: "0 is unsafe with durability Quorum: standbys would not confirm commits, which would wait; use 1s or more, or remove it"},
	{name: "session_replication_role", value: "replica", reason: RefusedUnsafe, message: "replica is unsafe: foreign keys and triggers are not enforced; remove it, and set it in the one session that needs it"},
	{name: "archive_timeout", value: "0", reason: RefusedUnsafe, change: func(in *Inputs) { in.ArchiveSeconds = 900 }, message: "0 lets WAL stay longer than the 900 seconds of spec.backup.maxArchiveAge; lower or remove it, or raise maxArchiveAge"},
	{name: "archive_timeout", value: "16min", reason: RefusedUnsafe, change: func(in *Inputs) { in.ArchiveSeconds = 900 }, message: "16min lets WAL stay longer than the 900 seconds of spec.backup.maxArchiveAge; lower or remove it, or raise maxArchiveAge"},
	{name: "max_wal_senders", value: "4", reason: RefusedUnsafe, message: "4 is too few: 3 instances and backups need at least 5; raise or remove it"},
	{name: "max_wal_senders", value: "10", reason: RefusedUnsafe, change: func(in *Inputs) { in.Pools = 3 }, message: "10 is too few: 3 instances, 3 read pools and backups need at least 11; raise or remove it"},
	{name: "max_wal_senders", value: "5", reason: RefusedUnsafe, change: func(in *Inputs) { in.Sites = 1 }, message: "5 is too few: 3 instances, 1 other sites and backups need at least 6; raise or remove it"},
	{name: "max_replication_slots", value: "0", reason: RefusedUnsafe, message: "0 is too few: 3 instances and backups need at least 5; raise or remove it"},
	{name: "max_worker_processes", value: "7", reason: RefusedUnsafe, message: "7 is too few: replication and parallel queries share these; use at least 8, or remove it"},

	// Code from outside of the image.
	{name: "session_preload_libraries", value: "auto_explain, /var/lib/postgresql/evil.so", reason: RefusedUnsafe, message: `"/var/lib/postgresql/evil.so" is unsafe: Postgres would run a file from outside of the directories of its image; use names of libraries, as auto_explain or $libdir/auto_explain`},
	{name: "session_preload_libraries", value: `"$libdir/../evil"`, reason: RefusedUnsafe, message: `"$libdir/../evil" is unsafe: Postgres would run a file from outside of the directories of its image; use names of libraries, as auto_explain or $libdir/auto_explain`},
	{name: "oauth_validator_libraries", value: "/tmp/evil", reason: RefusedUnsafe, change: func(in *Inputs) { in.Major = 18 }, message: `"/tmp/evil" is unsafe: Postgres would run a file from outside of the directories of its image; use names of libraries, as auto_explain or $libdir/auto_explain`},
	{name: "dynamic_library_path", value: "$libdir:/tmp", reason: RefusedUnsafe, message: `"/tmp" is unsafe: Postgres would run files from outside of the directories of its image; use $libdir, or remove it`},
	{name: "dynamic_library_path", value: ":", reason: RefusedUnsafe, message: `"" is unsafe: Postgres would run files from outside of the directories of its image; use $libdir, or remove it`},
	{name: "extension_control_path", value: "/tmp:$system", reason: RefusedUnsafe, change: func(in *Inputs) { in.Major = 18 }, message: `"/tmp" is unsafe: Postgres would run files from outside of the directories of its image; use $system, or remove it`},
	{name: "plperl.on_init", value: "system('id')", reason: RefusedUnsafe, message: "it is unsafe: its value runs with the rights of the server; remove it"},

	// Memory.
	{name: "shared_buffers", value: "14GB", reason: RefusedMemory, message: "14GB leaves too little of the 16GB of memory for connections; use at most 12GB (three quarters), or raise spec.resources.requests.memory"},
	{name: "work_mem", value: "16GB", reason: RefusedMemory, message: "16GB is not below the 16GB of memory; lower it, or raise spec.resources.requests.memory"},
	{name: "maintenance_work_mem", value: "17GB", reason: RefusedMemory, message: "17GB is not below the 16GB of memory; lower it, or raise spec.resources.requests.memory"},
	{name: "autovacuum_work_mem", value: "1TB", reason: RefusedMemory, message: "1TB is not below the 16GB of memory; lower it, or raise spec.resources.requests.memory"},
	{name: "temp_buffers", value: "2097152", reason: RefusedMemory, message: "16GB is not below the 16GB of memory; lower it, or raise spec.resources.requests.memory"}, // pages
	{name: "logical_decoding_work_mem", value: "16GB", reason: RefusedMemory, message: "16GB is not below the 16GB of memory; lower it, or raise spec.resources.requests.memory"},
	{name: "wal_buffers", value: "1GB", reason: RefusedMemory, change: func(in *Inputs) { in.MemoryBytes = gB }, message: "1GB is not below the 1GB of memory; lower it, or raise spec.resources.requests.memory"},

	// The volume.
	{name: "max_wal_size", value: "20GB", reason: RefusedVolume, message: "20GB is not below the 20GB WAL volume; lower it, or raise spec.storage.walSize"},
	{name: "max_wal_size", value: "200GB", reason: RefusedVolume, change: func(in *Inputs) { in.WALBytes = 0 }, message: "200GB is not below the 100GB data volume; lower it, or raise spec.storage.size"},
	{name: "min_wal_size", value: "1TB", reason: RefusedVolume, message: "1TB is not below the 20GB WAL volume; lower it, or raise spec.storage.walSize"},
	{name: "max_wal_size", value: "31MB", reason: RefusedRange, message: "31MB is below two WAL segments, with which Postgres does not start; use at least 32MB"},
	{name: "min_wal_size", value: "16MB", reason: RefusedRange, message: "16MB is below two WAL segments, with which Postgres does not start; use at least 32MB"},

	// Values beside each other.
	{name: "min_wal_size", value: "9GB", reason: RefusedRange, message: "9GB is not below max_wal_size (8GB); lower it, or raise max_wal_size"},
	{name: "min_wal_size", value: "2TB", reason: RefusedRange, other: map[string]string{"max_wal_size": "1TB"}, change: func(in *Inputs) { in.WALBytes = 4096 * gB }, message: "2TB is not below max_wal_size (1TB); lower it, or raise max_wal_size"},
	{name: "max_wal_size", value: "32MB", reason: RefusedRange, message: "32MB is not above min_wal_size (32MB); use at least 64MB"},
	{name: "max_connections", value: "3", reason: RefusedRange, message: "3 leaves no connection for users: 3 of 3 are reserved; raise max_connections or reserve fewer"},
	{name: "reserved_connections", value: "297", reason: RefusedRange, message: "297 leaves no connection for users: 300 of 300 are reserved; raise max_connections or reserve fewer"},
	{name: "superuser_reserved_connections", value: "400", reason: RefusedRange, message: "400 leaves no connection for users: 400 of 300 are reserved; raise max_connections or reserve fewer"},

	// What does not start, or does not fit beside the rest.
	{name: "max_connections", value: "500", reason: RefusedMemory, change: memory(gB), message: "500 does not fit the memory: 313MB shared memory + 64MB instance manager and processes of Postgres itself + (500 connections + 9 other processes) x 2.5MB + 7.0MB maintenance and autovacuum = 1657MB of 1024MB memory; use at most 223, let a pooler share them, or raise spec.resources.requests.memory to at least 2688MB"},
	{name: "max_connections", value: "300", reason: RefusedMemory, change: memory(512 * mB), message: "300 does not fit the memory: 166MB shared memory + 64MB instance manager and processes of Postgres itself + (300 connections + 9 other processes) x 2.2MB + 7.0MB maintenance and autovacuum = 932MB of 512MB memory; use at most 102, let a pooler share them, or raise spec.resources.requests.memory to at least 1408MB"},
	{name: "max_connections", value: "262143", reason: RefusedRange, message: "262143 is too many: Postgres starts with at most 262141 connections, worker processes, WAL senders and autovacuum workers together, and these are 262189. Use at most 262095"},
	{name: "max_connections", value: "262143", reason: RefusedRange, change: memory(4096 * gB), message: "262143 is too many: Postgres starts with at most 262141 connections, worker processes, WAL senders and autovacuum workers together, and these are 262189. Use at most 262095"},
	{name: "max_connections", value: "262143", reason: RefusedRange, change: memory(0), message: "262143 is too many: Postgres starts with at most 262141 connections, worker processes, WAL senders and autovacuum workers together, and these are 262189. Use at most 262095"},
	{name: "max_worker_processes", value: "262143", reason: RefusedRange, change: memory(0), message: "262143 is too many: Postgres starts with at most 262141 connections, worker processes, WAL senders and autovacuum workers together, and these are 262457. Use at most 261827"},
	{name: "shared_buffers", value: "384MB", reason: RefusedMemory, change: memory(512 * mB), message: "384MB does not fit the memory: 422MB shared memory + 64MB instance manager and processes of Postgres itself + (20 connections + 9 other processes) x 2.8MB + 7.0MB maintenance and autovacuum = 573MB of 512MB memory; use at most 330376kB, or raise spec.resources.requests.memory to at least 640MB"},
	{name: "maintenance_work_mem", value: "12GB", reason: RefusedMemory, message: "12GB does not fit the memory: 4253MB shared memory + 64MB instance manager and processes of Postgres itself + (20 connections + 11 other processes) x 10MB + 13.0GB maintenance and autovacuum = 17.5GB of 16.0GB memory; use at most 10982958kB, or raise spec.resources.requests.memory to at least 18752MB"},
	{name: "work_mem", value: "400MB", reason: RefusedMemory, change: memory(512 * mB), message: "400MB for one session does not fit the 101MB that the rest leaves of 512MB memory; lower it, or raise spec.resources.requests.memory"},
	{name: "max_locks_per_transaction", value: "2147483647", reason: RefusedMemory, message: "2147483647 does not fit the memory: 97684.2GB shared memory + 64MB instance manager and processes of Postgres itself + (20 connections + 11 other processes) x 10MB + 7.0MB maintenance and autovacuum = 97684.5GB of 16.0GB memory; use at most 252150"},
	{name: "max_wal_senders", value: "5000", reason: RefusedMemory, change: memory(gB), message: "5000 does not fit the memory: 569MB shared memory + 64MB instance manager and processes of Postgres itself + (20 connections + 5005 other processes) x 2.5MB + 7.0MB maintenance and autovacuum = 12.9GB of 1024MB memory; use at most 233"},
	{name: "max_prepared_transactions", value: "262143", reason: RefusedMemory, message: "262143 does not fit the memory: 18.7GB shared memory + 64MB instance manager and processes of Postgres itself + (20 connections + 11 other processes) x 10MB + 7.0MB maintenance and autovacuum = 19.0GB of 16.0GB memory; use at most 207299, or raise spec.resources.requests.memory to at least 20672MB"},
	{name: "min_dynamic_shared_memory", value: "1TB", reason: RefusedMemory, message: "1TB does not fit the memory: 1028.2GB shared memory + 64MB instance manager and processes of Postgres itself + (20 connections + 11 other processes) x 10MB + 7.0MB maintenance and autovacuum = 1028.5GB of 16.0GB memory; use at most 11741MB, or raise spec.resources.requests.memory to at least 1442368MB"},
	{name: "temp_buffers", value: "15GB", reason: RefusedMemory, message: "15GB for one session does not fit the 6894MB that the rest leaves of 16GB memory; lower it, or raise spec.resources.requests.memory"},
	{name: "wal_keep_size", value: "100GB", reason: RefusedVolume, message: "100GB is not below the 20GB WAL volume; lower it, or raise spec.storage.walSize"},
	{name: "wal_keep_size", value: "15GB", reason: RefusedVolume, message: "15GB and max_wal_size of 8GB fill the 20GB WAL volume; lower one, or raise spec.storage"},
	{name: "max_wal_size", value: "12GB", reason: RefusedVolume, other: map[string]string{"wal_keep_size": "10GB"}, message: "12GB and wal_keep_size of 10GB fill the 20GB WAL volume; lower one, or raise spec.storage"},
	{name: "max_slot_wal_keep_size", value: "20GB", reason: RefusedVolume, message: "20GB is not below the 20GB WAL volume; lower it, or raise spec.storage.walSize"},
	{name: "temp_file_limit", value: "100GB", reason: RefusedVolume, message: "100GB is not below the 100GB data volume; lower it, or raise spec.storage.size"},
	{name: "min_wal_size", value: "64MB", reason: RefusedRange, change: func(in *Inputs) { in.WALSegmentBytes = 64 * mB }, message: "64MB is below two WAL segments, with which Postgres does not start; use at least 128MB"},
	{name: "huge_pages", value: "on", reason: RefusedMemory, message: "on needs huge pages, and spec.resources requests none; request them, as hugepages-2Mi in spec.resources.requests and limits, or remove it"},
	{name: "huge_pages", value: "try", reason: RefusedMemory, message: "try needs huge pages, and spec.resources requests none; request them, as hugepages-2Mi in spec.resources.requests and limits, or remove it"},
	{name: "huge_page_size", value: "1GB", reason: RefusedMemory, change: huge(2*mB, gB), message: "no huge pages of 1GB are requested in spec.resources; request them there, or remove it"},
	{name: "shared_memory_type", value: "sysv", reason: RefusedRange, change: huge(2*mB, gB), message: "Postgres does not start with sysv on huge pages, which spec.resources requests; remove it"},
	{name: "shared_buffers", value: "1GB", reason: RefusedMemory, change: huge(2*mB, gB), message: "1GB makes 1102MB of shared memory, which the 1GB of huge pages in spec.resources do not hold; use at most 948MB, or request more"},
	{name: "timezone", value: "Mars/Olympus", reason: RefusedInvalid, message: `"Mars/Olympus" is not a time zone, and Postgres does not start with an unknown one; use a name as Europe/Berlin or Etc/UTC`},
	{name: "timezone", value: "US/Eastern", reason: RefusedInvalid, message: `"US/Eastern" is a former name that images without tzdata-legacy do not have, where Postgres would not start; use America/New_York`},
	{name: "log_timezone", value: "-7", reason: RefusedInvalid, message: `"-7" is not a time zone, and Postgres does not start with an unknown one; use a name as Europe/Berlin or Etc/UTC`},
	{name: "lc_messages", value: "de_DE.UTF-8", reason: RefusedInvalid, message: `"de_DE.UTF-8" is not a locale that every image has, and Postgres does not start with one that is missing; use C or C.UTF-8 here, and ALTER DATABASE ... SET for another`},
	{name: "datestyle", value: "ISO, SQL", reason: RefusedInvalid, message: `"ISO, SQL" is not a date style, and Postgres would not start. Use one of ISO, Postgres, SQL, German and one of DMY, MDY, YMD, as "ISO, DMY"`},
	{name: "client_encoding", value: "MULE_INTERNAL", reason: RefusedInvalid, message: `"MULE_INTERNAL" is not one of those that Postgres converts to UTF8, and no session could start; use UTF8, or let clients set their own`},
	{name: "ssl_max_protocol_version", value: "TLSv1.2", reason: RefusedRange, message: "TLSv1.2: Postgres does not start with ssl_min_protocol_version (TLSv1.3) above ssl_max_protocol_version (TLSv1.2), of which CloudNativePG's default is TLSv1.3; set both, or remove it"},
	{name: "ssl_ciphers", value: "NONSENSE", reason: RefusedInvalid, message: `"NONSENSE" in "NONSENSE" is not a cipher or group that is known here, and Postgres does not start with a list that OpenSSL cannot read. Use HIGH, MEDIUM, DEFAULT, ECDHE-ECDSA-AES128-GCM-SHA256, ECDHE-RSA-AES128-GCM-SHA256, ECDHE-ECDSA-AES256-GCM-SHA384, ECDHE-RSA-AES256-GCM-SHA384, ECDHE-ECDSA-CHACHA20-POLY1305, ECDHE-RSA-CHACHA20-POLY1305, and +3DES, !aNULL, !eNULL, !NULL, !EXPORT, !LOW, !DES, !3DES, !RC4, !MD5, !PSK, !SRP, !DSS, !CAMELLIA, !SHA1, @STRENGTH`},
	{name: "ssl_ciphers", value: "!aNULL", reason: RefusedInvalid, message: `"!aNULL" names no cipher, and Postgres would not start; add HIGH`},
	{name: "log_statement_stats", value: "on", reason: RefusedRange, other: map[string]string{"log_parser_stats": "on"}, message: "Postgres does not start with it on beside log_parser_stats, log_planner_stats or log_executor_stats; remove it, or these"},
	{name: "max_stack_depth", value: "8MB", reason: RefusedRange, message: "8MB is above what the stack of a container allows, and Postgres would not start; use at most 7680kB"},
	{name: "vacuum_buffer_usage_limit", value: "64kB", reason: RefusedRange, message: "64kB is between 0 and 128kB, and Postgres would not start; use 0, or at least 128kB"},
	{name: "notify_buffers", value: "17", reason: RefusedRange, message: "136kB is not a multiple of 16 pages, and Postgres would not start; use a multiple of 128kB"},
	{name: "transaction_isolation", value: "serializable", reason: RefusedFixed, message: "it belongs to a session, and Postgres does not start with it in its configuration; remove it, and use ALTER ROLE ... SET"},
	{name: "io_method", value: "io_uring", reason: RefusedRange, change: func(in *Inputs) { in.Major = 18 }, message: "the seccomp profile of containers forbids io_uring, and Postgres would not start; use worker or sync"},
	{name: "log_connections", value: "sometimes", reason: RefusedInvalid, change: func(in *Inputs) { in.Major = 18 }, message: `"sometimes" in "sometimes" is not one of receipt, authentication, authorization, setup_durations, all, and Postgres would not start; use these, separated by ","`},
	{name: "debug_io_direct", value: "data", reason: RefusedInvalid, message: `"data" is an option of developers, with which Postgres does not start on every file system; remove it`},
	{name: "search_path", value: `"a`, reason: RefusedInvalid, message: `"\"a" is not read by Postgres, which would not start; use names separated by commas, in double quotes where they are not plain`},
	{name: "backtrace_functions", value: "a-b", reason: RefusedInvalid, message: `"a-b" is not read by Postgres, which would not start; use names of functions, separated by commas`},
	{name: "default_table_access_method", value: "", reason: RefusedInvalid, message: `"" is not read by Postgres, which would not start; use the name of a table access method, as heap`},
	{name: "createrole_self_grant", value: "x", reason: RefusedInvalid, message: `"x" in "x" is not one of set, inherit, and Postgres would not start; use these, separated by ","`},
	{name: "timezone_abbreviations", value: "x", reason: RefusedInvalid, message: `"x" is not one of Default, Australia, India, and Postgres would not start; use one of them`},
	{name: "wal_consistency_checking", value: "x", reason: RefusedInvalid, message: `"x" in "x" is not one of all, heap2, heap, btree, hash, gin, gist, sequence, spgist, brin, generic, and Postgres would not start; use these, separated by ","`},
	{name: "restrict_nonsystem_relation_kind", value: "x", reason: RefusedInvalid, message: `"x" in "x" is not one of view, foreign-table, and Postgres would not start; use these, separated by ","`},
}

// memory of an instance with one CPU.
func memory(bytes int64) func(*Inputs) {
	return func(in *Inputs) { in.MemoryBytes, in.CPUs = bytes, 1 }
}

// huge pages that an instance requests.
func huge(size, bytes int64) func(*Inputs) {
	return func(in *Inputs) { in.HugePages = []HugePages{{size, bytes}} }
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

func TestCodeOfExtensionsIsRefused(t *testing.T) {
	for _, name := range programs {
		in := base
		in.User = map[string]string{name: "x"}
		if ps, got := Compute(in); len(got) != 1 || got[0].Reason != RefusedUnsafe || slices.ContainsFunc(ps, func(p Parameter) bool { return p.Name == name }) {
			t.Errorf("%s: %+v", name, got)
		}
		if texts := UnsafeToAdopt(base, in.User); len(texts) != 1 {
			t.Errorf("%s of a Cluster that exists: %q", name, texts)
		}
	}
	for _, given := range []map[string]string{{"session_preload_libraries": "/tmp/x"}, {"dynamic_library_path": "/tmp"}} {
		if texts := UnsafeToAdopt(base, given); len(texts) != 1 {
			t.Errorf("%v of a Cluster that exists: %q", given, texts)
		}
	}
	if texts := UnsafeToAdopt(base, map[string]string{"pg_stat_statements.max": "1", "plperl.use_strict": "on", "nonsense": "1"}); len(texts) > 0 {
		t.Errorf("refused %q", texts)
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

// Another tier waits for no standby, and any other interval has standbys confirm at once.
func TestStandbysMayBeSilentWhereNoCommitWaits(t *testing.T) {
	for tier, value := range map[durability.Tier]string{durability.Local: "0", durability.Async: "0", durability.Quorum: "1"} {
		in := base
		in.Tier, in.User = tier, map[string]string{"wal_receiver_status_interval": value}
		if _, got := Compute(in); len(got) > 0 {
			t.Errorf("%s: %+v", tier, got)
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
