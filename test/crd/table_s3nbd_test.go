package crd_test

import (
	"fmt"
	"slices"
	"strings"
)

// The rows of the profile type S3NBD, and of what it declares in a PgNodeStorage. The
// properties of datasets are those of ZFSLocalPV, and shown there.

const s3Spec = "spec/s3NBD/"

// s3 is a profile of the type S3NBD; its paths begin below s3NBD.
func s3(name string, c change, says ...string) row {
	c.path = s3Spec + c.path
	return row{name: "s3 " + name, kind: "S3NBD", stage: onCreate, change: []change{c}, says: says}
}

func s3Rows() []row {
	return slices.Concat(s3UnionRows(), s3PoolRows(), s3StoreRows(), s3DeviceRows(), s3ServerRows(), s3LocalDiskRows(), networkDeviceRows())
}

// namesLike one, with a number each.
func namesLike(name string, most int) []any {
	var out []any
	for i := range most {
		out = append(out, fmt.Sprintf("%s-%d", name, i))
	}
	return out
}

func storeOf(name, bucket string) any {
	return fields("name", name, "bucket", bucket, "prefix", "pg", "credentialsSecret", "keys", "encryptionSecret", "zerofs")
}

// mirrored changes the base to a mirror of two stores.
func mirrored() []change {
	return []change{set(s3Spec+"layout", "mirror"), set(s3Spec+"stores", []any{storeOf("a", "acme-a"), storeOf("b", "acme-b")})}
}

func s3UnionRows() []row {
	const (
		buckets = "spec.s3NBD.stores: Invalid value: spec.s3NBD.stores: two stores share a bucket, and losing it loses the mirror; put each store in a bucket of its own, preferably in another region"
		single  = "spec.s3NBD.layout: Invalid value: spec.s3NBD.layout: a mirror needs at least two stores; add one in another bucket, or set layout: stripe"
		several = "spec.s3NBD.layout: Invalid value: spec.s3NBD.layout: losing any one of several stores loses a stripe over them; use one store with more devices, or layout: mirror"
		layout  = "spec.s3NBD.layout is immutable because the pool has it from its creation; create another PgStorageProfile and replicate into a cluster on it"
		changed = "spec.s3NBD.stores: stores cannot be added, removed or renamed because the pool uses all of them; create another PgStorageProfile and replicate into a cluster on it"
		arc     = "spec.s3NBD.arcMax must be a quantity of at least 64Mi, the smallest ARC that OpenZFS accepts, as 8Gi; remove it to leave the node's setting"
		timeout = "spec.s3NBD.requestTimeout must be between 10s and 1h, written as 90s, 10m or 1h"
		waits   = "spec.s3NBD.requestTimeout: Invalid value: spec.s3NBD.requestTimeout is for layout mirror only: a stripe always waits for its store, because OpenZFS acknowledges a commit whose flush failed (openzfs pull request 16314); remove it"
	)
	whole := func(name string, c change, says ...string) row {
		return row{name: "s3 " + name, kind: "S3NBD", stage: onCreate, change: []change{c}, says: says}
	}
	two := func(a, b any) change { return set("stores", []any{a, b}) }
	at := func(store any, endpoint string) any {
		m, _ := store.(map[string]any)
		m["endpoint"] = endpoint
		return m
	}
	out := []row{
		whole("missing", unset("spec/s3NBD"), "spec.s3NBD: Required value: spec.s3NBD is missing, but spec.type is S3NBD; set spec.s3NBD.stores to the bucket"),
		whole("without nodeSelector", unset("spec/nodeSelector"), "spec.nodeSelector: Required value: spec.nodeSelector is missing, but spec.type provisions storage on nodes"),
		whole("with zfsLocalPV", set("spec/zfsLocalPV/pool/name", "tank"), "spec.zfsLocalPV: Forbidden: spec.zfsLocalPV is set, but spec.type is another"),
		whole("unknown type", set("spec/type", "S3"), unsupported("spec.type", "S3", "External", "ZFSLocalPV", "S3NBD", "CephRBD", "Memory")),
		whole("unknown field", set("spec/s3NBD/bucket", "acme"), `unknown field "spec.s3NBD.bucket"`),
		profile("External with s3NBD", set("spec/s3NBD", bases3()), "spec.s3NBD: Forbidden: spec.s3NBD is set, but spec.type is another; remove it, or set spec.type to S3NBD"),
		s3("mirror of one store", set("layout", "mirror"), single),
		s3("stripe of two stores", two(storeOf("a", "acme-a"), storeOf("b", "acme-b")), several),
		s3("two stores in one bucket", two(storeOf("a", "acme"), storeOf("b", "acme")), buckets).and(set(s3Spec+"layout", "mirror")),
		s3("two stores in one bucket of one endpoint", two(at(storeOf("a", "acme"), "https://minio.example"), at(storeOf("b", "acme"), "https://minio.example")), buckets).and(set(s3Spec+"layout", "mirror")),
		s3("raidz", set("layout", "raidz1"), unsupported("spec.s3NBD.layout", "raidz1", "stripe", "mirror")),
		s3("layout changed", set("layout", "mirror"), refusedValue("spec.s3NBD.layout", `"mirror"`, layout)).updated(),
		s3("store added", two(storeOf("main", "acme-pg"), storeOf("b", "acme-b")), changed).updated(),
		s3("store removed", set("stores", []any{storeOf("a", "acme-a")}), changed).with(mirrored()...).updated(),
		s3("store renamed", set("stores/0/name", "other"), changed).updated(),
		s3("no stores", set("stores", []any{}), "spec.s3NBD.stores: Invalid value: 0: spec.s3NBD.stores in body should have at least 1 items"),
		s3("stores missing", unset("stores"), "spec.s3NBD.stores: Required value"),
		s3("five stores", set("stores", []any{storeOf("a", "acme-a"), storeOf("b", "acme-b"), storeOf("c", "acme-c"), storeOf("d", "acme-d"), storeOf("e", "acme-e")}), tooMany("spec.s3NBD.stores", 5, 4)),
		s3("arcMax too small", set("arcMax", "63Mi"), refusedValue("spec.s3NBD.arcMax", `"63Mi"`, arc)),
		s3("arcMax with a wrong unit", set("arcMax", "4GB"), noQuantity("spec.s3NBD.arcMax", "4GB")),
		s3("requestTimeout of a stripe", set("requestTimeout", "60s"), waits),
		s3("requestTimeout of a stripe by default", set("requestTimeout", "1h"), waits).and(unset(s3Spec + "layout")),
		s3("requestTimeout added to a stripe", set("requestTimeout", "60s"), waits).updated(),
		s3("requestTimeout too long a text", set("requestTimeout", "000000060s"), tooLong("spec.s3NBD.requestTimeout", 8)).and(mirrored()...),
		s3("unknown onServerLost", set("onServerLost", "Reconnect"), unsupported("spec.s3NBD.onServerLost", "Reconnect", "Wait", "RebootNode")),
		s3("unknown driftPolicy", set("driftPolicy", "Ignore"), unsupported("spec.s3NBD.driftPolicy", "Ignore", "Repair", "Report")),
		s3("WAL recordsize below a page", set("wal/recordsize", "4k"), "spec.s3NBD.wal.recordsize: Invalid value: \"4k\": recordsize is below 8k"),
	}
	for _, value := range []string{"9s", "61m", "2h", "10", "1m30s", "-5m"} {
		out = append(out, s3("requestTimeout "+value, set("requestTimeout", value), refusedValue("spec.s3NBD.requestTimeout", fmt.Sprintf("%q", value), timeout)).and(mirrored()...))
	}
	return out
}

// bases3 is the member of the base.
func bases3() any {
	return fields("pool", fields("name", "lake"), "stores", []any{storeOf("main", "acme-pg")},
		"devices", fields("size", "100Gi"), "zeroFS", fields("family", "2", "image", "ghcr.io/barre/zerofs:2.3.0"))
}

func s3PoolRows() []row {
	const (
		pool       = "spec.s3NBD.pool"
		characters = "spec.s3NBD.pool.name must begin with a letter and hold only letters, digits, '_', '-' and '.' (zpoolconcepts)"
		reserved   = "spec.s3NBD.pool.name is log or begins with mirror, raidz, draid or spare, which ZFS reserves (zpool-create); choose another"
		moved      = "spec.s3NBD.pool.name is immutable because volumes do not move between pools; create another PgStorageProfile and replicate into a cluster on it"
		ashift     = "spec.s3NBD.pool.ashift is immutable, as it is in ZFS; create another PgStorageProfile and replicate into a cluster on it"
	)
	return []row{
		s3("pool missing", unset("pool"), pool+": Required value"),
		s3("pool name missing", set("pool", fields("autotrim", "on")), pool+".name: Required value"),
		s3("pool name empty", set("pool/name", ""), empty(pool+".name")),
		s3("pool name too long", set("pool/name", strings.Repeat("t", 64)), tooLong(pool+".name", 63)),
		s3("pool name with a slash", set("pool/name", "lake/pg"), refusedValue(pool+".name", `"lake/pg"`, characters)),
		s3("pool name reserved", set("pool/name", "mirror-0"), refusedValue(pool+".name", `"mirror-0"`, reserved)),
		s3("pool name changed", set("pool/name", "sea"), refusedValue(pool+".name", `"sea"`, moved)).updated(),
		s3("ashift 9", set("pool/ashift", 9), outside(pool+".ashift", 9, "greater than or equal to 12")),
		s3("ashift 16", set("pool/ashift", 16), outside(pool+".ashift", 16, "less than or equal to 15")),
		s3("ashift changed", set("pool/ashift", 13), refusedValue(pool+".ashift", "13", ashift)).updated(),
		s3("unknown autotrim", set("pool/autotrim", "weekly"), unsupported(pool+".autotrim", "weekly", "on", "off")),
		s3("unknown failmode", set("pool/failmode", "reboot"), unsupported(pool+".failmode", "reboot", "wait", "continue", "panic")),
		s3("headroom 4", set("pool/headroomPercent", 4), outside(pool+".headroomPercent", 4, "greater than or equal to 5")),
		s3("headroom 51", set("pool/headroomPercent", 51), outside(pool+".headroomPercent", 51, "less than or equal to 50")),
	}
}

func s3StoreRows() []row {
	const (
		store    = "spec.s3NBD.stores[0]"
		name     = "stores.name must begin with a letter and hold only lower case letters, digits and '-'"
		bucket   = "stores.bucket must hold only lower case letters, digits, '.' and '-', and begin and end with a letter or digit (Amazon S3, bucket naming rules)"
		prefix   = "stores.prefix must be names of letters, digits, '_', '-' and '.', separated by single slashes, without one at its ends"
		region   = "stores.region must hold only lower case letters, digits and '-', as eu-central-1"
		endpoint = "stores.endpoint must be a URL of scheme and host, as https://minio.example:9000, without path, query, fragment, user or variable"
		http     = store + ".endpoint: Invalid value: stores.endpoint is http, which exposes the keys of requests on the network; use https, or accept that by allowHTTP: true"
	)
	to := func(field string, value any) change { return set("stores/0/"+field, value) }
	out := []row{
		s3("store name too long", to("name", strings.Repeat("a", 17)), tooLong(store+".name", 16)),
		s3("store name empty", to("name", ""), empty(store+".name")),
		s3("bucket too short", to("bucket", "ab"), store+`.bucket: Invalid value: "ab": `+store+".bucket in body should be at least 3 chars long"),
		s3("bucket too long", to("bucket", strings.Repeat("b", 64)), tooLong(store+".bucket", 63)),
		s3("bucket changed", to("bucket", "other"), refusedValue(store+".bucket", `"other"`, "stores.bucket is immutable because the data is there; create another PgStorageProfile and replicate into a cluster on it")).updated(),
		s3("prefix empty", to("prefix", ""), empty(store+".prefix")),
		s3("prefix too long", to("prefix", strings.Repeat("p", 129)), tooLong(store+".prefix", 128)),
		s3("prefix changed", to("prefix", "other"), refusedValue(store+".prefix", `"other"`, "stores.prefix is immutable because the data is there; create another PgStorageProfile and replicate into a cluster on it")).updated(),
		s3("endpoint too long", to("endpoint", "https://"+strings.Repeat("e", 250)), tooLong(store+".endpoint", 255)),
		s3("region too long", to("region", strings.Repeat("r", 64)), tooLong(store+".region", 63)),
		s3("http without acceptance", to("endpoint", "http://minio.example"), http),
		s3("http in capitals without acceptance", to("endpoint", "HTTP://minio.example"), http),
		s3("http refused by hand", to("endpoint", "http://minio.example"), http).and(set(s3Spec+"stores/0/allowHTTP", false)),
		s3("credentialsSecret empty", to("credentialsSecret", ""), empty(store+".credentialsSecret")),
		s3("credentialsSecret too long", to("credentialsSecret", strings.Repeat("s", 254)), tooLong(store+".credentialsSecret", 253)),
		s3("encryptionSecret empty", to("encryptionSecret", ""), empty(store+".encryptionSecret")),
		s3("encryptionSecret too long", to("encryptionSecret", strings.Repeat("s", 254)), tooLong(store+".encryptionSecret", 253)),
		s3("two stores of one name", set("stores", []any{storeOf("a", "acme-a"), storeOf("a", "acme-b")}), `spec.s3NBD.stores[1]: Duplicate value: {"name":"a"}`).and(set(s3Spec+"layout", "mirror")),
	}
	for _, field := range []string{"bucket", "prefix", "credentialsSecret", "encryptionSecret"} {
		out = append(out, s3("store without "+field, unset("stores/0/"+field), store+"."+field+": Required value"))
	}
	out = append(out, s3("store without name", unset("stores/0/name"), store+".name: Required value"))
	wrong := func(field, message string, values ...string) {
		for _, value := range values {
			out = append(out, s3(fmt.Sprintf("%s %q", field, value), to(field, value), refusedValue(store+"."+field, fmt.Sprintf("%q", value), message)))
		}
	}
	wrong("name", name, "1st", "Main", "a_b", "a-", "a.b")
	wrong("bucket", bucket, "Acme", "acme_pg", "-acme", "acme/pg", "acme.")
	wrong("prefix", prefix, "/pg", "pg/", "a//b", "a/../b", "../pg", "a b", "${HOME}")
	wrong("region", region, "eu_central", "EU", "-eu")
	wrong("endpoint", endpoint, "minio.example", "s3://acme", "https://minio.example/pg", "https://minio.example?x=1", "https://minio.example/?", "https://me:secret@minio.example", "https://minio.example#x", "https://$HOST", "https://", "https://:9000", "https:minio.example")
	return out
}

func s3DeviceRows() []row {
	const (
		size   = "spec.s3NBD.devices.size must be a quantity from 1Gi to 64Ti, as 500Gi"
		shrink = "spec.s3NBD.devices.size cannot shrink because ZFS cannot; create another PgStorageProfile and replicate into a cluster on it"
		count  = "spec.s3NBD.devices.count is immutable because the pool has it from its creation; grow devices.size instead"
	)
	return []row{
		s3("devices missing", unset("devices"), "spec.s3NBD.devices: Required value"),
		s3("devices without size", set("devices", fields("count", 2)), "spec.s3NBD.devices.size: Required value"),
		s3("devices too small", set("devices/size", "1023Mi"), refusedValue("spec.s3NBD.devices.size", `"1023Mi"`, size)),
		s3("devices too large", set("devices/size", "65Ti"), refusedValue("spec.s3NBD.devices.size", `"65Ti"`, size)),
		s3("devices with a wrong unit", set("devices/size", "500GB"), noQuantity("spec.s3NBD.devices.size", "500GB")),
		s3("devices shrink", set("devices/size", "99Gi"), refusedValue("spec.s3NBD.devices.size", `"99Gi"`, shrink)).updated(),
		s3("no device", set("devices/count", 0), outside("spec.s3NBD.devices.count", 0, "greater than or equal to 1")),
		s3("nine devices", set("devices/count", 9), outside("spec.s3NBD.devices.count", 9, "less than or equal to 8")),
		s3("count changed", set("devices/count", 4), refusedValue("spec.s3NBD.devices.count", "4", count)).updated(),
	}
}

func s3ServerRows() []row {
	const (
		zerofs   = "spec.s3NBD.zeroFS"
		image    = zerofs + ".image must name a tag or a digest, as ghcr.io/barre/zerofs:0.19.1"
		interval = zerofs + ".flushInterval must be between 5s and 10m, written as 30s or 2m"
		family   = zerofs + ".family is immutable because one family may not read the data of the other; create another PgStorageProfile and replicate into a cluster on it"
		cpu      = zerofs + ".resources.cpu must be a quantity of at least 100m, as 1"
		memory   = zerofs + ".resources.memory must be a quantity of at least 1Gi, as 2Gi"
		hostPath = zerofs + ".cache.hostPath must be an absolute path of letters, digits, '_', '-' and '.'"
		half     = zerofs + ".cache.memory: Invalid value: " + zerofs + ".cache.memory is above half of resources.memory, and data that is not yet uploaded needs the rest; lower it, or raise resources.memory"
	)
	to := func(field string, value any) change { return set("zeroFS/"+field, value) }
	out := []row{
		s3("zeroFS missing", unset("zeroFS"), zerofs+": Required value"),
		s3("family missing", unset("zeroFS/family"), zerofs+".family: Required value"),
		s3("unknown family", to("family", "1"), unsupported(zerofs+".family", "1", "0.19", "2")),
		s3("family changed", to("family", "0.19"), refusedValue(zerofs+".family", `"0.19"`, family)).updated(),
		s3("image missing", unset("zeroFS/image"), zerofs+".image: Required value"),
		s3("image empty", to("image", ""), empty(zerofs+".image")),
		s3("image too long", to("image", strings.Repeat("i", 254)+":1"), tooLong(zerofs+".image", 255)),
		s3("image without tag", to("image", "ghcr.io/barre/zerofs"), refusedValue(zerofs+".image", `"ghcr.io/barre/zerofs"`, image)),
		s3("nine imagePullSecrets", to("imagePullSecrets", namesLike("registry", 9)), tooMany(zerofs+".imagePullSecrets", 9, 8)),
		s3("imagePullSecrets twice the same", to("imagePullSecrets", []any{"a", "a"}), zerofs+`.imagePullSecrets[1]: Duplicate value: "a"`),
		s3("imagePullSecret empty", to("imagePullSecrets", []any{""}), empty(zerofs+".imagePullSecrets[0]")),
		s3("imagePullSecret too long", to("imagePullSecrets", []any{strings.Repeat("s", 254)}), tooLong(zerofs+".imagePullSecrets[0]", 253)),
		s3("priorityClassName empty", to("priorityClassName", ""), empty(zerofs+".priorityClassName")),
		s3("priorityClassName too long", to("priorityClassName", strings.Repeat("p", 254)), tooLong(zerofs+".priorityClassName", 253)),
		s3("flushInterval too long a text", to("flushInterval", "000000030s"), tooLong(zerofs+".flushInterval", 8)),
		s3("cpu of nothing", to("resources/cpu", "0"), refusedValue(zerofs+".resources.cpu", `"0"`, cpu)),
		s3("cpu with a wrong unit", to("resources/cpu", "1 core"), noQuantity(zerofs+".resources.cpu", "1 core")),
		s3("server memory too small", to("resources/memory", "512Mi"), refusedValue(zerofs+".resources.memory", `"512Mi"`, memory)),
		s3("server memory with a wrong unit", to("resources/memory", "2GB"), noQuantity(zerofs+".resources.memory", "2GB")),
		s3("cache in memory too small", to("cache/memory", "32Mi"), refusedValue(zerofs+".cache.memory", `"32Mi"`, zerofs+".cache.memory must be a quantity of at least 64Mi, as 256Mi")),
		s3("cache in memory with a wrong unit", to("cache/memory", "1GB"), noQuantity(zerofs+".cache.memory", "1GB")),
		s3("cache above half of the memory", to("cache/memory", "1025Mi"), half),
		s3("cache on disk too small", to("cache/size", "1Gi"), refusedValue(zerofs+".cache.size", `"1Gi"`, zerofs+".cache.size must be a quantity of at least 2Gi, as 50Gi")),
		s3("cache on disk with a wrong unit", to("cache/size", "10GB"), noQuantity(zerofs+".cache.size", "10GB")),
		s3("hostPath too long", to("cache/hostPath", "/"+strings.Repeat("h", 200)), tooLong(zerofs+".cache.hostPath", 200)),
	}
	for _, value := range []string{"4s", "11m", "30", "1h"} {
		out = append(out, s3("flushInterval "+value, to("flushInterval", value), refusedValue(zerofs+".flushInterval", fmt.Sprintf("%q", value), interval)))
	}
	for _, value := range []string{"cache", "/", "/a/../b", "/a b", "/var/"} {
		out = append(out, s3("hostPath "+value, to("cache/hostPath", value), refusedValue(zerofs+".cache.hostPath", fmt.Sprintf("%q", value), hostPath)))
	}
	return out
}

const unstablePath = "a device path must be below /dev/disk/by-id, by-path, by-partuuid or by-partlabel: names such as /dev/sda can be another disk after a reboot; see ls -l /dev/disk/by-id"

const oneDisk = "wipe: true must name one disk: this path names a slot, or the contents of a disk, and can be another disk after a reboot; add serial (lsblk -o NAME,SERIAL,WWN on the node), or use the path below /dev/disk/by-id"

func s3LocalDiskRows() []row {
	const (
		l2arc = "spec.s3NBD.l2arc.device"
		slog  = "spec.s3NBD.slog"
		loss  = slog + ".acceptLoss must be true: with a log device, the loss of the node loses acknowledged commits of its last seconds; remove slog to avoid that"
	)
	with := func(device any) change { return set("slog", fields("devices", []any{device}, "acceptLoss", true)) }
	return slices.Concat([]row{
		s3("l2arc without device", set("l2arc", fields()), l2arc+": Required value"),
		s3("slog without devices", set("slog", fields("acceptLoss", true)), slog+".devices: Required value"),
		s3("slog of no devices", set("slog", fields("devices", []any{}, "acceptLoss", true)), slog+".devices: Invalid value: 0: "+slog+".devices in body should have at least 1 items"),
		s3("slog of three devices", set("slog", fields("devices", disks(3), "acceptLoss", true)), tooMany(slog+".devices", 3, 2)),
		s3("slog without acceptance", set("slog", fields("devices", disks(1))), slog+".acceptLoss: Required value"),
		s3("slog with acceptance refused", set("slog", fields("devices", disks(1), "acceptLoss", false)), refusedValue(slog+".acceptLoss", "false", loss)),
	}, deviceRules("s3 l2arc", func(device any) row { return s3("", set("l2arc", fields("device", device))) }, l2arc),
		deviceRules("s3 slog", func(device any) row { return s3("", with(device)) }, slog+".devices[0]"))
}

// deviceRules are what a device refuses, wherever it is; at is its field.
func deviceRules(tag string, with func(device any) row, at string) []row {
	const byID, byPath = "/dev/disk/by-id/a", "/dev/disk/by-path/pci-0000:00:1f.2-ata-1"
	path, serial := at+".path", at+".serial"
	var out []row
	for name, r := range map[string]struct {
		device any
		says   string
	}{
		"without path":  {fields("wipe", true), path + ": Required value"},
		"empty path":    {fields("path", ""), empty(path)},
		"path too long": {fields("path", "/dev/disk/by-id/"+strings.Repeat("d", 240)), tooLong(path, 255)},
		"path that changes": {
			fields("path", "/dev/nvme0n1"), refusedValue(path, `"/dev/nvme0n1"`, unstablePath),
		},
		"serial empty":    {fields("path", byID, "serial", ""), empty(serial)},
		"serial too long": {fields("path", byID, "serial", strings.Repeat("s", 129)), tooLong(serial, 128)},
		"wipe of a slot":  {fields("path", byPath, "wipe", true), at + ": Invalid value: " + oneDisk},
	} {
		broken := with(r.device)
		broken.name, broken.says = tag+" "+name, []string{r.says}
		out = append(out, broken)
	}
	slices.SortFunc(out, func(a, b row) int { return strings.Compare(a.name, b.name) })
	return out
}

// networkDeviceRows are about what the manager writes into a PgNodeStorage.
func networkDeviceRows() []row {
	const at = "spec.networkDevices"
	server := func() map[string]any {
		return fields("name", "main", "url", "s3://acme-pg/pg/lake/n1", "directory", "/var/lib/pgstorage/s3nbd/lake/main")
	}
	whole := func() map[string]any {
		return fields("layout", "stripe", "servers", []any{server()}, "exports", []any{"lake-0"}, "exportSize", "1Gi", "onServerLost", "Wait", "ashift", 12)
	}
	valid := set("spec/networkDevices", whole())
	node := func(name, path string, value any, says ...string) row {
		return nodeStorage("network "+name, set("spec/networkDevices/"+path, value), says...).with(valid)
	}
	servers := func(most int) []any {
		var out []any
		for i := range most {
			s := server()
			s["name"] = fmt.Sprintf("s%d", i)
			out = append(out, s)
		}
		return out
	}
	out := []row{
		node("unknown layout", "layout", "raid5", unsupported(at+".layout", "raid5", "stripe", "mirror", "raidz1", "raidz2", "raidz3")),
		node("of no servers", "servers", []any{}, at+".servers: Invalid value: 0: "+at+".servers in body should have at least 1 items"),
		node("of five servers", "servers", servers(5), tooMany(at+".servers", 5, 4)),
		node("server name empty", "servers/0/name", "", empty(at+".servers[0].name")),
		node("server name too long", "servers/0/name", strings.Repeat("s", 17), tooLong(at+".servers[0].name", 16)),
		node("server url too long", "servers/0/url", strings.Repeat("u", 1025), tooLong(at+".servers[0].url", 1024)),
		node("server directory too long", "servers/0/directory", "/"+strings.Repeat("d", 98), tooLong(at+".servers[0].directory", 98)),
		node("no exports", "exports", []any{}, at+".exports: Invalid value: 0: "+at+".exports in body should have at least 1 items"),
		node("nine exports", "exports", namesLike("lake", 9), tooMany(at+".exports", 9, 8)),
		node("exportSize with a wrong unit", "exportSize", "1GB", noQuantity(at+".exportSize", "1GB")),
		node("requestTimeout too long", "requestTimeout", "000000060s", tooLong(at+".requestTimeout", 8)),
		node("unknown onServerLost", "onServerLost", "Reconnect", unsupported(at+".onServerLost", "Reconnect", "Wait", "RebootNode")),
		node("ashift 11", "ashift", 11, outside(at+".ashift", 11, "greater than or equal to 12")),
		node("ashift 16", "ashift", 16, outside(at+".ashift", 16, "less than or equal to 15")),
		node("five caches", "caches", disks(5), tooMany(at+".caches", 5, 4)),
		node("three logs", "logs", disks(3), tooMany(at+".logs", 3, 2)),
	}
	for _, field := range []string{"layout", "servers", "exports", "exportSize", "onServerLost", "ashift"} {
		out = append(out, node("without "+field, field, nil, at+"."+field+": Required value"))
	}
	for _, field := range []string{"name", "url", "directory"} {
		out = append(out, node("server without "+field, "servers/0/"+field, nil, at+".servers[0]."+field+": Required value"))
	}
	for _, list := range []string{"caches", "logs"} {
		out = append(out, deviceRules("node network "+list, func(device any) row { return node("", list, []any{device}) }, at+"."+list+"[0]")...)
	}
	return out
}
