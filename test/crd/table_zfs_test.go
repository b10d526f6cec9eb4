package crd_test

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// These are the rows of the profile type ZFSLocalPV and of PgNodeStorage. Each has the whole
// line that a user sees about the field.

// zfs is a profile of the type ZFSLocalPV; its paths begin below zfsLocalPV.
func zfs(name string, c change, says ...string) row {
	c.path = zfsSpec + c.path
	return row{name: "zfs " + name, kind: "ZFSLocalPV", stage: onCreate, change: []change{c}, says: says}
}

func nodeStorage(name string, c change, says ...string) row {
	return row{name: "node " + name, kind: "PgNodeStorage", stage: onCreate, change: []change{c}, says: says}
}

const zfsSpec = "spec/zfsLocalPV/"

// fields joins what a row changes: a map from names and values in turn.
func fields(pairs ...any) map[string]any {
	out := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		out[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return out
}

func disk(name string) any { return fields("path", "/dev/disk/by-id/"+name) }

// named is a vdev of devices called a, b, ...
func named(kind string, count int) any {
	return fields("type", kind, "devices", disks(count))
}

func disks(count int) []any {
	out := []any{}
	for i := range count {
		out = append(out, disk(fmt.Sprintf("disk-%d", i)))
	}
	return out
}

// selected is a vdev of the default type with a selector.
func selected(count int, more ...any) any {
	return fields("selector", fields(append([]any{"count", count}, more...)...))
}

// written is a value as YAML reads it without quotes.
func written(text string) any {
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		panic(err)
	}
	return value
}

// Faults in the API server's words.

func refusedValue(path, value, message string) string {
	return fmt.Sprintf("%s: Invalid value: %s: %s", path, value, message)
}

func unsupported(path, value string, supported ...string) string {
	return fmt.Sprintf(`%s: Unsupported value: %q: supported values: "%s"`, path, value, strings.Join(supported, `", "`))
}

func notOfType(path, is, wanted string) string {
	return fmt.Sprintf("%s: Invalid value: %q: %s in body must be of type %s: %q", path, is, path, wanted, is)
}

func tooLong(path string, most int) string {
	return fmt.Sprintf("%s: Too long: may not be more than %d bytes", path, most)
}

func tooMany(path string, is, most int) string {
	return fmt.Sprintf("%s: Too many: %d: must have at most %d items", path, is, most)
}

func outside(path string, value int, bound string) string {
	return fmt.Sprintf("%s: Invalid value: %d: %s in body should be %s", path, value, path, bound)
}

func empty(path string) string {
	return fmt.Sprintf(`%s: Invalid value: "": %s in body should be at least 1 chars long`, path, path)
}

// noQuantity is the API server's own pattern of quantities.
func noQuantity(path, value string) string {
	return fmt.Sprintf(`%s: Invalid value: %q: %s in body should match '^(\+|-)?`, path, value, path)
}

func zfsRows() []row {
	return slices.Concat(unionRows(), poolRows(), propertyRows("data"), propertyRows("wal"), propertyRows("block"),
		recordsizeRows("data"), recordsizeRows("wal"), blockRows(), profileRows(),
		createRows("ZFSLocalPV", zfsSpec+"pool/create"), createRows("PgNodeStorage", "spec/pool/create"), nodeStorageRows())
}

// unionRows are about the members of the union and what belongs to one type.
func unionRows() []row {
	whole := func(name string, c change, says ...string) row {
		return row{name: "zfs " + name, kind: "ZFSLocalPV", stage: onCreate, change: []change{c}, says: says}
	}
	tank := fields("pool", fields("name", "tank"))
	nine := fields()
	for i := range 9 {
		nine[fmt.Sprintf("label-%d", i)] = "x"
	}
	return []row{
		whole("missing", unset("spec/zfsLocalPV"), "spec.zfsLocalPV: Required value: spec.zfsLocalPV is missing, but spec.type is ZFSLocalPV; set spec.zfsLocalPV.pool.name to the pool"),
		whole("empty", set("spec/zfsLocalPV", fields()), "spec.zfsLocalPV.pool: Required value"),
		whole("with external", set("spec/external/storageClassName", "fast"), "spec.external: Forbidden: spec.external is set, but spec.type is another; remove it, or set spec.type to External"),
		whole("without nodeSelector", unset("spec/nodeSelector"), "spec.nodeSelector: Required value: spec.nodeSelector is missing, but spec.type provisions storage on nodes; name a label of the nodes whose disks or memory may be used, such as pgstorage.dev/pool: tank"),
		whole("with an empty nodeSelector", set("spec/nodeSelector", fields()), "spec.nodeSelector: Invalid value: 0: spec.nodeSelector in body should have at least 1 properties"),
		whole("with nine labels", set("spec/nodeSelector", nine), tooMany("spec.nodeSelector", 9, 8)),
		whole("nodeSelector with true unquoted", set("spec/nodeSelector", fields("pool", written("true"))), notOfType("spec.nodeSelector.pool", "boolean", "string")),
		whole("becomes External", set("spec/type", "External"), "spec.type: Invalid value: \"External\": spec.type is immutable because existing volumes cannot change their kind; create another PgStorageProfile").
			and(unset("spec/zfsLocalPV"), unset("spec/nodeSelector"), set("spec/external/storageClassName", "fast")).updated(),
		profile("External becomes ZFSLocalPV", set("spec/type", "ZFSLocalPV"), "spec.type: Invalid value: \"ZFSLocalPV\": spec.type is immutable because existing volumes cannot change their kind; create another PgStorageProfile").
			and(unset("spec/external"), set("spec/nodeSelector/pool", "tank"), set("spec/zfsLocalPV", tank)).updated(),
		profile("External with zfsLocalPV", set("spec/zfsLocalPV", tank), "spec.zfsLocalPV: Forbidden: spec.zfsLocalPV is set, but spec.type is another; remove it, or set spec.type to ZFSLocalPV"),
		profile("External with nodeSelector", set("spec/nodeSelector/pool", "tank"), "spec.nodeSelector: Forbidden: spec.nodeSelector selects nodes whose storage the operator provisions, and spec.type External provisions none; remove it"),
	}
}

func poolRows() []row {
	const (
		pool       = "spec.zfsLocalPV.pool"
		characters = "spec.zfsLocalPV.pool.name must begin with a letter and hold only letters, digits, '_', '-' and '.' (zpoolconcepts)"
		features   = "spec.zfsLocalPV.pool.compatibility must be off, legacy, or names of files in /usr/share/zfs/compatibility.d separated by commas"
		moved      = "spec.zfsLocalPV.pool.name is immutable because volumes do not move between pools; create another PgStorageProfile and replicate into a cluster on it"
	)
	out := []row{
		zfs("pool missing", unset("pool"), pool+": Required value"),
		zfs("pool is its name", set("pool", "tank"), notOfType(pool, "string", "object")),
		zfs("pool name missing", set("pool", fields("autotrim", "on")), pool+".name: Required value"),
		zfs("pool name empty", set("pool/name", ""), empty(pool+".name")),
		zfs("pool name too long", set("pool/name", strings.Repeat("t", 64)), tooLong(pool+".name", 63)),
		zfs("pool name changed", set("pool/name", "dozer"), refusedValue(pool+".name", `"dozer"`, moved)).updated(),
		zfs("unknown field of the pool", set("pool/force", true), `unknown field "spec.zfsLocalPV.pool.force"`),
		zfs("autotrim on unquoted", set("pool/autotrim", written("on")), notOfType(pool+".autotrim", "boolean", "string"), pool+`.autotrim: Unsupported value: true: supported values: "on", "off"`),
		zfs("unknown autotrim", set("pool/autotrim", "weekly"), unsupported(pool+".autotrim", "weekly", "on", "off")),
		zfs("unknown failmode", set("pool/failmode", "reboot"), unsupported(pool+".failmode", "reboot", "wait", "continue", "panic")),
		zfs("compatibility too long", set("pool/compatibility", strings.Repeat("c", 256)), tooLong(pool+".compatibility", 255)),
		zfs("compatibility off unquoted", set("pool/compatibility", written("off")), notOfType(pool+".compatibility", "boolean", "string")),
		zfs("headroom 4", set("pool/headroomPercent", 4), outside(pool+".headroomPercent", 4, "greater than or equal to 5")),
		zfs("headroom 51", set("pool/headroomPercent", 51), outside(pool+".headroomPercent", 51, "less than or equal to 50")),
		zfs("headroom with a sign", set("pool/headroomPercent", "20%"), notOfType(pool+".headroomPercent", "string", "integer")),
	}
	for name, value := range ordered("with a digit first", "1tank", "with a slash", "tank/pg", "with a blank", "my tank", "with a colon", "tank:1", "with a snapshot", "tank@now", "with a line end", "tank\n") {
		out = append(out, zfs("pool name "+name, set("pool/name", value), refusedValue(pool+".name", fmt.Sprintf("%q", value), characters)))
	}
	for _, word := range []string{"mirror", "mirror-0", "raidz1", "draid", "spare", "log"} {
		out = append(out, zfs("pool name "+word+" is reserved", set("pool/name", word), refusedValue(pool+".name", fmt.Sprintf("%q", word),
			"spec.zfsLocalPV.pool.name is log or begins with mirror, raidz, draid or spare, which ZFS reserves (zpool-create); choose another")))
	}
	for name, value := range ordered("empty", "", "is a path", "/etc/zfs/features", "in capitals", "OpenZFS-2.1", "separated by blanks", "grub2, legacy") {
		out = append(out, zfs("compatibility "+name, set("pool/compatibility", value), refusedValue(pool+".compatibility", fmt.Sprintf("%q", value), features)))
	}
	return out
}

// ordered goes through names and values in turn.
func ordered(pairs ...string) func(func(string, string) bool) {
	return func(yield func(string, string) bool) {
		for i := 0; i+1 < len(pairs); i += 2 {
			if !yield(pairs[i], pairs[i+1]) {
				return
			}
		}
	}
}

// choices are the properties of every parent that take one of a few words.
var choices = []struct {
	field     string
	supported []string
}{
	{"atime", []string{"on", "off"}},
	{"relatime", []string{"on", "off"}},
	{"logbias", []string{"latency", "throughput"}},
	{"primarycache", []string{"all", "metadata", "none"}},
	{"secondarycache", []string{"all", "metadata", "none"}},
	{"xattr", []string{"on", "sa", "dir", "off"}},
	{"dnodesize", []string{"legacy", "auto", "1k", "2k", "4k", "8k", "16k"}},
	{"redundantMetadata", []string{"all", "most", "some", "none"}},
	{"dedup", []string{"off", "on", "verify"}},
}

// propertyRows are what every parent dataset refuses.
func propertyRows(parent string) []row {
	const (
		compression = "compression must be on, off, lz4, lzjb, zle, gzip or gzip-1..9, zstd or zstd-1..19, or zstd-fast (zfsprops)"
		dedup       = "dedup keeps a table of every block in memory and slows down every write; use compression, or accept that by acceptDedup: true"
		relatime    = "atime: on needs relatime: on, because mounts on Linux enable relatime anyway; set relatime: on, or atime: off"
		small       = "specialSmallBlocks must be 0, or a power of two from 512 to 1M, written 512, 1k, ..., 512k, 1M"
	)
	at := func(field string) string { return "spec.zfsLocalPV." + parent + "." + field }
	to := func(field string, value any) change { return set(parent+"/"+field, value) }
	out := []row{
		zfs(parent+" checksum off", to("checksum", "off"), refusedValue(at("checksum"), `"off"`, "checksum: off is rejected because ZFS would return torn and rotten blocks as data; leave it on")),
		zfs(parent+" unknown checksum", to("checksum", "md5"), refusedValue(at("checksum"), `"md5"`, "checksum must be on, fletcher4, sha256, sha512, skein, edonr or blake3 (zfsprops)")),
		zfs(parent+" sync disabled", to("sync", "disabled"), refusedValue(at("sync"), `"disabled"`, "sync: disabled is rejected because it acknowledges commits that are on no disk, and the node's loss loses them; leave it standard, and use spec.durability: Async of the PgStorageCluster where the last commits may be lost")),
		zfs(parent+" unknown sync", to("sync", "never"), refusedValue(at("sync"), `"never"`, "sync must be standard or always (zfsprops)")),
		zfs(parent+" dedup without acceptance", to("dedup", "on"), at("dedup")+": Invalid value: "+dedup),
		zfs(parent+" dedup verify refused by hand", to("dedup", "verify"), at("dedup")+": Invalid value: "+dedup).and(set(zfsSpec+parent+"/acceptDedup", false)),
		zfs(parent+" atime without relatime", to("atime", "on"), at("relatime")+": Invalid value: "+relatime),
		zfs(parent+" atime with relatime off", to("atime", "on"), at("relatime")+": Invalid value: "+relatime).and(set(zfsSpec+parent+"/relatime", "off")),
		zfs(parent+" acceptDedup in words", to("acceptDedup", "I do"), notOfType(at("acceptDedup"), "string", "boolean")),
		zfs(parent+" specialSmallBlocks unquoted", to("specialSmallBlocks", written("0")), notOfType(at("specialSmallBlocks"), "integer", "string")),
		zfs(parent+" misspelt recordsize", to("recordSize", "16k"), fmt.Sprintf("unknown field %q", at("recordSize"))),
		zfs(parent+" quota too small", to("quota", "10Mi"), refusedValue(at("quota"), `"10Mi"`, "quota must be a quantity of at least 64Mi, as 500Gi; remove it for no limit")),
		zfs(parent+" quota negative", to("quota", "-1Gi"), refusedValue(at("quota"), `"-1Gi"`, "quota must be a quantity of at least 64Mi, as 500Gi; remove it for no limit")),
		zfs(parent+" reservation of nothing", to("reservation", "0"), refusedValue(at("reservation"), `"0"`, "reservation must be a quantity above 0, as 20Gi; remove it for none")),
		zfs(parent+" reservation negative", to("reservation", "-1Gi"), refusedValue(at("reservation"), `"-1Gi"`, "reservation must be a quantity above 0, as 20Gi; remove it for none")),
		zfs(parent+" is a list", set(parent, []any{}), notOfType("spec.zfsLocalPV."+parent, "array", "object")),
	}
	for _, c := range choices {
		out = append(out, zfs(parent+" unknown "+c.field, to(c.field, "maybe"), unsupported(at(c.field), "maybe", c.supported...)))
	}
	for _, field := range []string{"atime", "relatime", "xattr", "dedup", "compression", "checksum"} {
		out = append(out, zfs(parent+" "+field+" off unquoted", to(field, written("off")), notOfType(at(field), "boolean", "string")))
	}
	for _, value := range []string{"", "LZ4", "gzip-0", "gzip-10", "zstd-0", "zstd-20", "zstd-fast-11", "lz4 "} {
		out = append(out, zfs(fmt.Sprintf("%s compression %q", parent, value), to("compression", value), refusedValue(at("compression"), fmt.Sprintf("%q", value), compression)))
	}
	for _, value := range []string{"3k", "256", "1K", "2M", "8192"} {
		out = append(out, zfs(parent+" specialSmallBlocks "+value, to("specialSmallBlocks", value), refusedValue(at("specialSmallBlocks"), fmt.Sprintf("%q", value), small)))
	}
	for _, field := range []string{"compression", "checksum", "sync"} {
		out = append(out, zfs(parent+" "+field+" too long", to(field, strings.Repeat("z", 17)), tooLong(at(field), 16)))
	}
	out = append(out, zfs(parent+" specialSmallBlocks too long", to("specialSmallBlocks", "000000512"), tooLong(at("specialSmallBlocks"), 8)))
	for _, field := range []string{"quota", "reservation"} {
		for _, value := range []string{"100GB", "100gb", "100 Gi"} {
			out = append(out, zfs(parent+" "+field+" of "+value, to(field, value), noQuantity(at(field), value), field+" must be a quantity "))
		}
	}
	return out
}

func recordsizeRows(parent string) []row {
	at := "spec.zfsLocalPV." + parent + ".recordsize"
	out := []row{
		zfs(parent+" recordsize too long", set(parent+"/recordsize", "000000008k"), tooLong(at, 8)),
		zfs(parent+" recordsize unquoted", set(parent+"/recordsize", written("8192")), notOfType(at, "integer", "string")),
		zfs(parent+" has no volblocksize", set(parent+"/volblocksize", "16k"), fmt.Sprintf(`unknown field "spec.zfsLocalPV.%s.volblocksize"`, parent)),
	}
	for _, value := range []string{"512", "1k", "2k", "4k", "4K", "4096"} {
		out = append(out, zfs(parent+" recordsize "+value, set(parent+"/recordsize", value), refusedValue(at, fmt.Sprintf("%q", value),
			"recordsize is below 8k, the page size of Postgres: a page would span records that can be in different transaction groups, so that a crash tears it; use 8k or more")))
	}
	for _, value := range []string{"12k", "8K", "2M", "1m", "8192", ""} {
		out = append(out, zfs(fmt.Sprintf("%s recordsize %q", parent, value), set(parent+"/recordsize", value), refusedValue(at, fmt.Sprintf("%q", value),
			"recordsize must be a power of two from 8k to 1M, written 8k, 16k, 32k, 64k, 128k, 256k, 512k or 1M")))
	}
	return out
}

func blockRows() []row {
	const (
		block   = "spec.zfsLocalPV.block"
		addedTo = "spec.zfsLocalPV: Invalid value: spec.zfsLocalPV.block cannot be added or removed later because its StorageClass and dataset cannot; create another PgStorageProfile"
	)
	has := set(zfsSpec+"block", fields("volblocksize", "8k"))
	sizes := []string{"4k", "8k", "16k", "32k", "64k", "128k"}
	resized := "spec.zfsLocalPV.block.volblocksize is immutable, as it is in ZFS; create another PgStorageProfile with the new size and copy the data"
	thinned := "spec.zfsLocalPV.block.provisioning is immutable because existing zvols keep theirs; create another PgStorageProfile"
	return []row{
		zfs("volblocksize 2k", set("block/volblocksize", "2k"), unsupported(block+".volblocksize", "2k", sizes...)),
		zfs("volblocksize 16K", set("block/volblocksize", "16K"), unsupported(block+".volblocksize", "16K", sizes...)),
		zfs("volblocksize unquoted", set("block/volblocksize", written("16384")), notOfType(block+".volblocksize", "integer", "string")),
		zfs("unknown provisioning", set("block/provisioning", "thin"), unsupported(block+".provisioning", "thin", "Thick", "Thin")),
		zfs("block has no recordsize", set("block/recordsize", "8k"), `unknown field "spec.zfsLocalPV.block.recordsize"`),
		zfs("block added", set("block", fields()), addedTo).updated(),
		zfs("block removed", unset("block"), addedTo).with(has).updated(),
		zfs("volblocksize changed", set("block/volblocksize", "16k"), refusedValue(block+".volblocksize", `"16k"`, resized)).with(has).updated(),
		zfs("volblocksize removed", unset("block/volblocksize"), refusedValue(block+".volblocksize", `"16k"`, resized)).with(has).updated(),
		zfs("provisioning changed", set("block/provisioning", "Thin"), refusedValue(block+".provisioning", `"Thin"`, thinned)).with(has).updated(),
	}
}

// profileRows are about the rest of zfsLocalPV.
func profileRows() []row {
	const arc = "spec.zfsLocalPV.arcMax"
	const least = "spec.zfsLocalPV.arcMax must be a quantity of at least 64Mi, the smallest ARC that OpenZFS accepts, as 8Gi; remove it to leave the node's setting"
	return []row{
		zfs("arcMax too small", set("arcMax", "63Mi"), refusedValue(arc, `"63Mi"`, least)),
		zfs("arcMax of nothing", set("arcMax", "0"), refusedValue(arc, `"0"`, least)),
		zfs("arcMax with a wrong unit", set("arcMax", "4GB"), noQuantity(arc, "4GB"), refusedValue(arc, `"4GB"`, least)),
		zfs("arcMax in a bare number that is too small", set("arcMax", 4), refusedValue(arc, "4", least)),
		zfs("arcMax is off", set("arcMax", written("off")), notOfType(arc, "boolean", "integer,string")),
		zfs("unknown medium", set("medium", "NVMe"), unsupported("spec.zfsLocalPV.medium", "NVMe", "SSD", "HDD", "SAN")),
		zfs("unknown driftPolicy", set("driftPolicy", "Ignore"), unsupported("spec.zfsLocalPV.driftPolicy", "Ignore", "Repair", "Report")),
		zfs("unknown field", set("recordsize", "8k"), `unknown field "spec.zfsLocalPV.recordsize"`),
	}
}
