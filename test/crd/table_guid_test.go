package crd_test

import (
	"fmt"
	"slices"
	"strings"
)

// guidRows are the rules of GUIDs of pools: those that a profile lists as abandoned,
// and those that the manager writes into a PgNodeStorage.
func guidRows() []row {
	at := func(field string) string { return "spec." + field }
	lists := slices.Concat(
		abandonedRows("ZFSLocalPV", "zfs", "zfsLocalPV.pool"),
		abandonedRows("S3NBD", "s3", "s3NBD.pool"),
		abandonedRows("CephRBD", "ceph", "cephRBD.cluster.backing.zfs.pool"),
		abandonedRows("PgNodeStorage", "node", "pool"))
	guid := func(name, value, says string) row {
		return nodeStorage("guid "+name, set("spec/pool/guid", value), says)
	}
	return append(lists,
		guid("empty", "", notOfDigits(at("pool.guid"), "")),
		guid("in hexadecimal digits", "0x9a6c", notOfDigits(at("pool.guid"), "0x9a6c")),
		guid("with a sign", "-1", notOfDigits(at("pool.guid"), "-1")),
		guid("with a line end", "1\n", notOfDigits(at("pool.guid"), "1\n")),
		guid("too long", strings.Repeat("1", 21), tooLong(at("pool.guid"), 20)))
}

// notOfDigits is the API server's message for a GUID other than a decimal number.
func notOfDigits(path, value string) string {
	return fmt.Sprintf("%s: Invalid value: %q: %s in body should match '^[1-9][0-9]*$'", path, value, path)
}

// abandonedRows are the rules of abandonedGUIDs of one pool, whose path has dots.
func abandonedRows(kind, tag, pool string) []row {
	at := "spec." + pool + ".abandonedGUIDs"
	list := func(name string, guids []any, says string) row {
		path := "spec/" + strings.ReplaceAll(pool, ".", "/") + "/abandonedGUIDs"
		return row{name: tag + " abandonedGUIDs " + name, kind: kind, stage: onCreate, change: []change{set(path, guids)}, says: []string{says}}
	}
	return []row{
		list("of 257 pools", distinct("1", 257), tooMany(at, 257, 256)),
		list("twice the same", []any{"7", "7"}, at+`[1]: Duplicate value: "7"`),
		list("by the name of a pool", []any{"7", "tank"}, notOfDigits(at+"[1]", "tank")),
		list("of a long GUID", []any{strings.Repeat("1", 21)}, tooLong(at+"[0]", 20)),
	}
}
