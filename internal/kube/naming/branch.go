package naming

import "strings"

// BranchSnapshot is the VolumeSnapshot of the data of a branch. The UID in it prevents a
// collision with one of a branch that had the name before.
func BranchSnapshot(branch, uid string) string { return branch + "-" + Hash(uid)[:8] }

// BranchWALSnapshot is the VolumeSnapshot of the WAL that belongs to one of the data. The
// name has the UID of that one, so that older WAL is never taken for it.
func BranchWALSnapshot(data, uid string) string { return data + "-wal-" + Hash(uid)[:8] }

// BranchMasking is the Job that masks the data of a branch. Jobs are immutable, so the hash of
// the SQL is in its name, which is at most 63 characters.
func BranchMasking(branch, uid, sql string) string {
	const room = 63 - len("-mask-") - 8
	return strings.TrimRight(branch[:min(len(branch), room)], "-") + "-mask-" + Hash([]string{uid, sql})[:8]
}

// WALClaim is the claim for WAL of an instance, as CloudNativePG names it. The claim for data
// has the name of the instance.
func WALClaim(instance string) string { return instance + "-wal" }
