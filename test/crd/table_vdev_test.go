package crd_test

import (
	"fmt"
	"slices"
	"strings"
)

// The rows of a new pool's layout, which a profile and a PgNodeStorage both have.

// layout is one place for such a layout.
type layout struct {
	// kind is a base, and tag begins the names of its rows.
	kind, tag string
	// path of create, and of the lists in it, as in a change.
	path string
}

func (l layout) row(name, path string, value any, says ...string) row {
	whole := set(l.path, fields("vdevs", []any{named("mirror", 2)}, "logs", []any{named("mirror", 2)}, "caches", []any{named("stripe", 1)}, "special", []any{named("mirror", 2)}))
	return row{name: l.tag + " create " + name, kind: l.kind, stage: onCreate, before: []change{whole}, change: []change{set(l.path+"/"+path, value)}, says: says}
}

// at is the path as the API server writes it.
func (l layout) at(path string) string {
	out := ""
	for step := range strings.SplitSeq(l.path+"/"+path, "/") {
		if strings.Trim(step, "0123456789") == "" {
			out += "[" + step + "]"
			continue
		}
		out += "." + step
	}
	return out[1:]
}

func createRows(kind, path string) []row {
	l := layout{kind: kind, tag: map[string]string{"ZFSLocalPV": "zfs", "PgNodeStorage": "node"}[kind], path: path}
	out := []row{
		l.row("without vdevs", "vdevs", nil, l.at("vdevs")+": Required value"),
		l.row("no vdevs", "vdevs", []any{}, l.at("vdevs")+": Invalid value: 0: "+l.at("vdevs")+" in body should have at least 1 items"),
		l.row("ashift 8", "ashift", 8, outside(l.at("ashift"), 8, "greater than or equal to 9")),
		l.row("ashift 17", "ashift", 17, outside(l.at("ashift"), 17, "less than or equal to 16")),
		l.row("ashift in bytes", "ashift", 4096, outside(l.at("ashift"), 4096, "less than or equal to 16")),
		l.row("unknown field", "spares", []any{}, fmt.Sprintf("unknown field %q", l.at("spares"))),
	}
	for class, takes := range ordered("logs", "a log is a stripe or a mirror (zpoolconcepts)", "caches", "cache devices cannot be mirrored (zpoolconcepts); use type stripe", "special", "a special vdev is a mirror, or a stripe without redundancy (zpoolconcepts)") {
		for _, kind := range []string{"raidz1", "raidz2", "raidz3"} {
			out = append(out, l.row(class+" of "+kind, class, []any{named(kind, 4)}, l.at(class)+": Invalid value: pool.create."+class+": "+takes))
		}
	}
	out = append(out, l.row("mirrored caches", "caches", []any{named("mirror", 2)}, l.at("caches")+": Invalid value: pool.create.caches: cache devices cannot be mirrored (zpoolconcepts); use type stripe"))
	for _, class := range []string{"vdevs", "logs", "caches", "special"} {
		most := 4
		if class == "vdevs" {
			most = 12
		}
		out = append(out, l.row("too many "+class, class, slices.Repeat([]any{named("stripe", 1)}, most+1), tooMany(l.at(class), most+1, most)))
		out = slices.Concat(out, vdevRows(l, class), deviceRows(l, class), selectorRows(l, class))
	}
	return out
}

func vdevRows(l layout, class string) []row {
	const (
		either = "Invalid value: a vdev needs either devices (paths) or a selector (of the node's inventory), and not both"
		few    = "Invalid value: too few devices for this vdev type: a mirror and raidz1 need at least 2, raidz2 3, raidz3 4"
	)
	at := l.at(class + "/0")
	out := []row{
		l.row(class+" of unknown type", class+"/0/type", "draid", unsupported(at+".type", "draid", "stripe", "mirror", "raidz1", "raidz2", "raidz3")),
		l.row(class+" empty", class+"/0", fields(), at+": "+either),
		l.row(class+" with devices and selector", class+"/0/selector", fields("count", 2), at+": "+either),
		l.row(class+" misspelt", class+"/0/device", "sdb", fmt.Sprintf("unknown field %q", l.at(class+"/0/device"))),
	}
	for kind, least := range map[string]int{"mirror": 2, "raidz1": 2, "raidz2": 3, "raidz3": 4} {
		short := selected(least - 1).(map[string]any)
		short["type"] = kind
		out = append(out,
			l.row(fmt.Sprintf("%s: %s of %d devices", class, kind, least-1), class+"/0", named(kind, least-1), at+": "+few),
			l.row(fmt.Sprintf("%s: %s of %d selected", class, kind, least-1), class+"/0", short, at+": "+few))
	}
	slices.SortFunc(out, func(a, b row) int { return strings.Compare(a.name, b.name) })
	return out
}

func deviceRows(l layout, class string) []row {
	const unstable = "a device path must be below /dev/disk/by-id, by-path, by-partuuid or by-partlabel: names such as /dev/sda can be another disk after a reboot; see ls -l /dev/disk/by-id"
	list, first := l.at(class+"/0/devices"), l.at(class+"/0/devices/0/path")
	out := []row{
		l.row(class+" of no devices", class+"/0/devices", []any{}, list+": Invalid value: 0: "+list+" in body should have at least 1 items"),
		l.row(class+" of 65 devices", class+"/0/devices", disks(65), tooMany(list, 65, 64)),
		l.row(class+" of one device twice", class+"/0/devices", []any{disk("same"), disk("same")}, list+`[1]: Duplicate value: {"path":"/dev/disk/by-id/same"}`),
		l.row(class+" device is its path", class+"/0/devices", []any{"/dev/disk/by-id/a"}, notOfType(list+"[0]", "string", "object")),
		l.row(class+" device without path", class+"/0/devices/0", fields("wipe", true), first+": Required value"),
		l.row(class+" device path empty", class+"/0/devices/0/path", "", empty(first)),
		l.row(class+" device path too long", class+"/0/devices/0/path", "/dev/disk/by-id/"+strings.Repeat("d", 240), tooLong(first, 255)),
		l.row(class+" wipe in words", class+"/0/devices/0/wipe", "please", notOfType(l.at(class+"/0/devices/0/wipe"), "string", "boolean")),
	}
	for _, path := range []string{"/dev/sdb", "sdb", "/dev/nvme0n1", "/dev/mapper/data", "/dev/disk/by-uuid/1f2e", "/dev/disk/by-id/", "/dev/disk/by-id/../../sdb", "/dev/disk/by-id/..", "/dev/disk/by-id/wwn 1"} {
		out = append(out, l.row(class+" device "+path, class+"/0/devices/0/path", path, refusedValue(first, fmt.Sprintf("%q", path), unstable)))
	}
	for _, path := range []string{"/dev/disk/by-path/pci-0000:00:1f.2-ata-1", "/dev/disk/by-partlabel/data", "/dev/disk/by-partuuid/1f2e", "/dev/disk/by-id/dm-name-a", "/dev/disk/by-id/md-name-a", "/dev/disk/by-id/lvm-pv-uuid-a"} {
		out = append(out, l.row(class+" wipe of "+path, class+"/0/devices/0", fields("path", path, "wipe", true), l.at(class+"/0/devices/0")+": Invalid value: "+oneDisk))
	}
	return append(out,
		l.row(class+" serial empty", class+"/0/devices/0/serial", "", empty(l.at(class+"/0/devices/0/serial"))),
		l.row(class+" serial too long", class+"/0/devices/0/serial", strings.Repeat("s", 129), tooLong(l.at(class+"/0/devices/0/serial"), 128)))
}

func selectorRows(l layout, class string) []row {
	at := l.at(class + "/0/selector")
	to := func(name string, selector any, says ...string) row {
		return l.row(class+" selector "+name, class+"/0", fields("selector", selector), says...)
	}
	return []row{
		to("without count", fields("model", "*"), at+".count: Required value"),
		to("count 0", fields("count", 0), outside(at+".count", 0, "greater than or equal to 1")),
		to("count 65", fields("count", 65), outside(at+".count", 65, "less than or equal to 64")),
		to("minSize with a wrong unit", fields("count", 1, "minSize", "1TB"), noQuantity(at+".minSize", "1TB")),
		to("maxSize with a wrong unit", fields("count", 1, "maxSize", "2 Ti"), noQuantity(at+".maxSize", "2 Ti")),
		to("minSize that Go cannot read", fields("count", 1, "minSize", "1e1.5"), noQuantity(at+".minSize", "1e1.5")),
		to("maxSize that Go cannot read", fields("count", 1, "maxSize", "+.5e-.5"), noQuantity(at+".maxSize", "+.5e-.5")),
		to("model too long", fields("count", 1, "model", strings.Repeat("m", 129)), tooLong(at+".model", 128)),
		to("unknown transport", fields("count", 1, "transport", "scsi"), unsupported(at+".transport", "scsi", "nvme", "sata", "sas", "virtio", "usb", "iscsi", "fc")),
		to("misspelt", fields("count", 1, "size", "1Ti"), fmt.Sprintf("unknown field %q", l.at(class+"/0/selector/size"))),
	}
}

// nodeStorageRows are about what the manager writes besides.
func nodeStorageRows() []row {
	const fixed = "spec: Invalid value: spec.nodeName, spec.profile and spec.pool.name are immutable because the manager creates one PgNodeStorage for each node and profile"
	properties := func(count int) []any {
		out := []any{}
		for i := range count {
			out = append(out, fields("name", fmt.Sprintf("property%d", i), "value", "on"))
		}
		return out
	}
	datasets := []any{}
	for i := range 17 {
		datasets = append(datasets, fields("name", fmt.Sprintf("tank/%d", i)))
	}
	out := []row{
		nodeStorage("nodeName changed", set("spec/nodeName", "node-2"), fixed).updated(),
		nodeStorage("profile changed", set("spec/profile", "other"), fixed).updated(),
		nodeStorage("pool changed", set("spec/pool/name", "dozer"), fixed).updated(),
		nodeStorage("17 datasets", set("spec/datasets", datasets), tooMany("spec.datasets", 17, 16)),
		nodeStorage("dataset twice", set("spec/datasets", []any{fields("name", "tank/pgdata"), fields("name", "tank/pgdata")}), `spec.datasets[1]: Duplicate value: {"name":"tank/pgdata"}`),
		nodeStorage("dataset without name", set("spec/datasets", []any{fields()}), "spec.datasets[0].name: Required value"),
		nodeStorage("dataset name empty", set("spec/datasets", []any{fields("name", "")}), empty("spec.datasets[0].name")),
		nodeStorage("dataset name too long", set("spec/datasets", []any{fields("name", strings.Repeat("d", 256))}), tooLong("spec.datasets[0].name", 255)),
		nodeStorage("17 properties of the pool", set("spec/pool/properties", properties(17)), tooMany("spec.pool.properties", 17, 16)),
		nodeStorage("33 properties of a dataset", set("spec/datasets", []any{fields("name", "tank", "properties", properties(33))}), tooMany("spec.datasets[0].properties", 33, 32)),
		nodeStorage("unknown driftPolicy", set("spec/driftPolicy", "Ignore"), unsupported("spec.driftPolicy", "Ignore", "Repair", "Report")),
		nodeStorage("arcMax with a wrong unit", set("spec/arcMax", "4GB"), noQuantity("spec.arcMax", "4GB")),
		nodeStorage("arcMax that Go cannot read", set("spec/arcMax", "1e1.5"), refusedValue("spec.arcMax", `"1e1.5"`, "spec.arcMax must be a quantity, as 8Gi")),
	}
	for field, most := range map[string]int{"nodeName": 253, "profile": 253, "pool/name": 63} {
		at := "spec." + strings.ReplaceAll(field, "/", ".")
		out = append(out,
			nodeStorage(field+" empty", set("spec/"+field, ""), empty(at)),
			nodeStorage(field+" too long", set("spec/"+field, strings.Repeat("n", most+1)), tooLong(at, most)))
	}
	out = append(out,
		nodeStorage("nodeName missing", unset("spec/nodeName"), "spec.nodeName: Required value"),
		nodeStorage("profile missing", unset("spec/profile"), "spec.profile: Required value"),
		nodeStorage("pool name missing", set("spec/pool", fields("headroomPercent", 20)), "spec.pool.name: Required value"))
	for path, at := range ordered("spec/pool/properties", "spec.pool.properties[0]", "spec/datasets/0/properties", "spec.datasets[0].properties[0]") {
		one := func(name string, property any, says string) row {
			return nodeStorage(path+" "+name, set(path, []any{property}), says).with(set("spec/datasets", []any{fields("name", "tank/pgdata")}))
		}
		out = append(out,
			one("without name", fields("value", "on"), at+".name: Required value"),
			one("without value", fields("name", "atime"), at+".value: Required value"),
			one("name too long", fields("name", strings.Repeat("a", 65), "value", "on"), tooLong(at+".name", 64)),
			one("value too long", fields("name", "atime", "value", strings.Repeat("a", 256)), tooLong(at+".value", 255)))
	}
	slices.SortStableFunc(out, func(a, b row) int { return strings.Compare(a.name, b.name) })
	return out
}
