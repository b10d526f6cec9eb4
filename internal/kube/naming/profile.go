package naming

import (
	"fmt"
	"path"
	"strings"
)

// NodeStorage is the name of the PgNodeStorage of a profile and a node. The
// first dot ends the profile; where a profile's own name has dots, a hash keeps
// two pairs apart.
func NodeStorage(profile, node string) string {
	name := profile + "." + node
	if strings.Contains(profile, ".") || len(name) > 253 {
		hash := Hash([]string{profile, node})[:8]
		name = name[:min(len(name), 253-9)] + "-" + hash
	}
	return name
}

// Server is the name of the DaemonSet and ConfigMap of a profile's store. The hash
// keeps two pairs apart whose names join to the same.
func Server(profile, store string) string {
	return "zerofs-" + short(profile) + "-" + store + "-" + Hash([]string{profile, store})[:8]
}

// ServerDirectory on a node has the sockets of a store's server. It is short enough for
// addresses of sockets, at most 107 bytes (unix(7)), also where the node's / is mounted
// at /host.
func ServerDirectory(profile, store string) string {
	return "/var/lib/pgstorage/s3nbd/" + short(profile) + "/" + store
}

// short is a profile's name in at most 24 characters.
func short(profile string) string {
	const most = 24
	if len(profile) <= most {
		return profile
	}
	return strings.TrimRight(profile[:most-9], "-.") + "-" + Hash(profile)[:8]
}

// StorePrefix in a bucket is all that a profile has there; NodePrefix is a node's
// part of it, which has one writer.
func StorePrefix(prefix, profile string) string { return prefix + "/" + profile }

// NodePrefix is the part of a StorePrefix that one node's server writes.
func NodePrefix(prefix, profile, node string) string {
	return StorePrefix(prefix, profile) + "/" + node
}

// Export of a network device, by its number from 0.
func Export(pool string, number int) string { return fmt.Sprintf("%s-%d", pool, number) }

// DataClass is the StorageClass of a profile's data volumes, and the name of its
// VolumeSnapshotClass.
func DataClass(profile string) string { return profile }

// WALClass is the StorageClass of a profile's WAL volumes.
func WALClass(profile string) string { return profile + "-wal" }

// BlockClass is the StorageClass of a profile's block volumes.
func BlockClass(profile string) string { return profile + "-block" }

// DataDataset is the parent of a pool's data volumes.
func DataDataset(pool string) string { return pool + "/pgdata" }

// WALDataset is the parent of WAL volumes.
func WALDataset(pool string) string { return pool + "/pgwal" }

// BlockDataset is the parent of zvols.
func BlockDataset(pool string) string { return pool + "/pgblock" }

// MemoryDir is the folder of a node that has all volumes in memory, by profile and name.
const MemoryDir = "/run/pgstorage/memory"

// MemoryPath is the folder of a node that is a volume in memory.
func MemoryPath(profile, volume, incarnation string) string {
	return path.Join(MemoryDir, profile, volume, incarnation)
}

// MemoryProvisioner of the StorageClasses of profiles of type Memory.
const MemoryProvisioner = "memory.pgstorage.dev"
