package preflight

import (
	"slices"
	"strings"
)

// marker is what ZeroFS writes first below a new prefix (BUCKET_ID_MARKER in
// bucket_identity.rs of 0.19.1 and 2.3.0).
const marker = ".zerofs_bucket_id"

// probePrefix of the names of what a preflight writes for a moment.
const probePrefix = ".pgstorage_probe_"

// ownNames are what ZeroFS writes directly below its prefix. They include the folders
// of its database (SlateDB). Version 2 adds segments/, the wrapped key and the records
// of a pair of servers (segment_store.rs, key_management.rs,
// replication/leader_record.rs). Version 0.19.1 wrote the marker, manifest/ and
// compacted/.
var ownNames = []string{
	marker, "manifest/", "compacted/", "wal/", "gc/", "compactions/",
	"segments/", "zerofs.key", ".zerofs_ha_leader", ".zerofs_ha_ownership",
}

// ownPrefixes of the names of what is written for a moment: by ZeroFS
// (storage_compatibility.rs) and by a preflight.
var ownPrefixes = []string{".zerofs_compatibility_test_", probePrefix}

// foreign returns the names that are not of ZeroFS. Without the marker, all names but
// those of a probe are foreign. ZeroFS writes the marker before anything else, and a
// folder manifest/ can be anyone's.
func foreign(names []string) []string {
	marked := slices.Contains(names, marker)
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		for _, p := range ownPrefixes {
			if strings.HasPrefix(n, p) {
				return true
			}
		}
		return marked && slices.Contains(ownNames, n)
	})
}
