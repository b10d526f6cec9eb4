package crd_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The rows of the profile type CephRBD. What a device's path refuses is shown with
// those of ZFSLocalPV, and here that it holds too.

const (
	cephSpec  = "spec/cephRBD/"
	cephField = "spec.cephRBD."
	another   = "; create another PgStorageProfile"
	replicate = another + " and replicate into a cluster on it"
)

// ceph is a profile of the type CephRBD; its paths begin below cephRBD.
func ceph(name string, c change, says ...string) row {
	c.path = cephSpec + c.path
	return row{name: "ceph " + name, kind: "CephRBD", stage: onCreate, change: []change{c}, says: says}
}

// cephAt is how the API server names a field below cephRBD.
func cephAt(path string) string {
	out := cephField
	for i, part := range strings.Split(path, "/") {
		switch {
		case strings.Trim(part, "0123456789") == "":
			out += "[" + part + "]"
		case i > 0:
			out += "." + part
		default:
			out += part
		}
	}
	return out
}

// cephRefused is a value that a rule at its own field refuses.
func cephRefused(path string, value any, message string) row {
	text := fmt.Sprintf("%q", value)
	if _, isText := value.(string); !isText {
		text = fmt.Sprint(value)
	}
	return ceph(fmt.Sprintf("%s %v", path, value), set(path, value), refusedValue(cephAt(path), text, message))
}

// cephChanged is a valid value in place of another one, or of the default.
func cephChanged(path string, before, after any, message string) row {
	r := cephRefused(path, after, message).updated()
	r.name += " in place of " + fmt.Sprint(before)
	if before != nil {
		r.before = append(r.before, set(cephSpec+path, before))
	}
	return r
}

// cephChoice is what is none of the choices.
func cephChoice(path string, choices ...string) row {
	return ceph("unknown "+path, set(path, "other"), unsupported(cephAt(path), "other", choices...))
}

// cephRange is what is out of the bounds of a whole number.
func cephRange(path string, least, most int) []row {
	return []row{
		ceph(path+" "+strconv.Itoa(least-1), set(path, least-1), outside(cephAt(path), least-1, fmt.Sprintf("greater than or equal to %d", least))),
		ceph(path+" "+strconv.Itoa(most+1), set(path, most+1), outside(cephAt(path), most+1, fmt.Sprintf("less than or equal to %d", most))),
	}
}

// cephLong is a text that is too long.
func cephLong(path string, most int) row {
	return ceph(path+" too long", set(path, strings.Repeat("a", most+1)), tooLong(cephAt(path), most))
}

func cephEmpty(path string) row { return ceph(path+" empty", set(path, ""), empty(cephAt(path))) }

// cephName is a name of a Kubernetes object.
func cephName(path string, most int, message string) []row {
	return []row{cephLong(path, most), cephRefused(path, "Upper", message), cephRefused(path, "a/b", message)}
}

// onDisks changes the base to whole disks of nodes.
func onDisks() []change {
	return []change{
		unset("spec/nodeSelector"), unset(cephSpec + "cluster/osds"), set(cephSpec+"cluster/osds", fields("cpu", "1")), unset(cephSpec + "cluster/backing/zfs"),
		set(cephSpec+"cluster/backing/devices", []any{fields("node", "n1", "paths", []any{"/dev/disk/by-id/a"})}),
	}
}

// onBlockClass changes the base to a StorageClass that exists.
func onBlockClass() []change {
	return []change{unset(cephSpec + "cluster/backing/zfs"), set(cephSpec+"cluster/backing/storageClassName", "fast-block")}
}

// elsewhere changes the base to a CephCluster that exists.
func elsewhere() []change {
	return []change{unset("spec/nodeSelector"), unset(cephSpec + "cluster"), set(cephSpec+"external", true)}
}

func cephRows() []row {
	return slices.Concat(cephUnionRows(), cephRookRows(), cephClusterRows(), cephBackingRows(), cephZFSRows(), cephOSDRows(), cephPoolRows(), cephPinRows(), cephVolumeRows())
}

func cephUnionRows() []row {
	const (
		either   = "spec.cephRBD: Invalid value: spec.cephRBD: set either cluster, which the operator creates, or external: true, to use an existing CephCluster, and not both"
		zfsNodes = "spec.nodeSelector: Required value: spec.nodeSelector is missing, but spec.cephRBD.cluster.backing.zfs creates pools on nodes; name a label of the nodes whose disks may be used, such as pgstorage.dev/pool: tank"
		noNodes  = "spec.nodeSelector: Forbidden: spec.nodeSelector selects nodes for OSDs on claims; an external CephCluster has its own, and backing.devices names them; remove it"
		moved    = "spec.cephRBD: Invalid value: spec.cephRBD.cluster cannot be added or removed because the data is in that CephCluster" + replicate
		data     = "spec.cephRBD: Invalid value: spec.cephRBD.dataPool cannot be added or removed because existing images keep their data where it is" + replicate
		xfs      = "spec.cephRBD.volumeClass.fsType: Invalid value: spec.cephRBD.volumeClass.fsType: xfs is rejected on a CephCluster within this Kubernetes cluster, because a node that has both an OSD and a mount of it can deadlock (Rook, storageclass.yaml); use ext4"
		named    = "spec.cephRBD.acceptWarnings: Invalid value: spec.cephRBD.acceptWarnings must be names of health checks as ceph health detail prints them, such as POOL_TOO_FEW_PGS"
		never    = "spec.cephRBD.acceptWarnings: Invalid value: spec.cephRBD.acceptWarnings names a check that puts data or writes at risk (OSD_FULL, POOL_FULL, PG_AVAILABILITY, PG_DAMAGED, PG_RECOVERY_FULL, OBJECT_UNFOUND, OSD_SCRUB_ERRORS, MON_DISK_CRIT, TOO_FEW_OSDS); remove it, and act on the check"
	)
	whole := func(name string, c change, says ...string) row {
		return row{name: "ceph " + name, kind: "CephRBD", stage: onCreate, change: []change{c}, says: says}
	}
	member := fields("external", true)
	warnings := func(names ...any) change { return set("acceptWarnings", names) }
	out := []row{
		whole("missing", unset("spec/cephRBD"), "spec.cephRBD: Required value: spec.cephRBD is missing, but spec.type is CephRBD; set spec.cephRBD.cluster, or spec.cephRBD.external: true"),
		whole("with zfsLocalPV", set("spec/zfsLocalPV/pool/name", "tank"), "spec.zfsLocalPV: Forbidden: spec.zfsLocalPV is set, but spec.type is another"),
		whole("unknown field", set("spec/cephRBD/size", 3), `unknown field "spec.cephRBD.size"`),
		profile("External with cephRBD", set("spec/cephRBD", member), "spec.cephRBD: Forbidden: spec.cephRBD is set, but spec.type is another; remove it, or set spec.type to CephRBD"),
		whole("on ZFS without nodeSelector", unset("spec/nodeSelector"), zfsNodes),
		whole("external with nodeSelector", set("spec/nodeSelector", fields("a", "b")), noNodes).and(elsewhere()[1:]...),
		whole("on devices with nodeSelector", set("spec/nodeSelector", fields("a", "b")), noNodes).with(onDisks()...),
		ceph("neither cluster nor external", unset("cluster"), either),
		ceph("both cluster and external", set("external", true), either),
		ceph("external that is not", set("external", false), either).and(unset("spec/nodeSelector"), unset(cephSpec+"cluster")),
		ceph("cluster removed", unset("cluster"), moved).and(elsewhere()...).updated(),
		ceph("external changed", set("external", true), refusedValue(cephField+"external", "true", "spec.cephRBD.external is immutable because the data is in that CephCluster"+another)).with(set(cephSpec+"external", false)).updated(),
		ceph("data pool added", set("dataPool", fields()), data).updated(),
		ceph("data pool removed", unset("dataPool"), data).with(set(cephSpec+"dataPool", fields())).updated(),
		ceph("xfs on a cluster of its own", set("volumeClass/fsType", "xfs"), xfs),
		cephChoice("failureDomain", "host", "osd", "rack", "zone"),
		cephChanged("failureDomain", nil, "zone", "spec.cephRBD.failureDomain is immutable because Ceph would move all data"+replicate),
		cephChoice("deletionPolicy", "Retain", "Delete"),
		ceph("warning in lower case", warnings("slow_ops"), named),
		ceph("warning empty", warnings(""), empty(cephField+"acceptWarnings[0]")),
		ceph("warning too long", warnings(strings.Repeat("A", 65)), tooLong(cephField+"acceptWarnings[0]", 64)),
		ceph("seventeen warnings", set("acceptWarnings", distinct("A", 17)), tooMany(cephField+"acceptWarnings", 17, 16)),
	}
	for _, name := range []string{"OSD_FULL", "POOL_FULL", "PG_AVAILABILITY", "PG_DAMAGED", "PG_RECOVERY_FULL", "OBJECT_UNFOUND", "OSD_SCRUB_ERRORS", "MON_DISK_CRIT", "TOO_FEW_OSDS"} {
		out = append(out, ceph("warning "+name, warnings("SLOW_OPS", name), never))
	}
	return out
}

// distinct texts that are all different.
func distinct(prefix string, count int) []any {
	var out []any
	for i := range count {
		out = append(out, fmt.Sprintf("%s%d", prefix, i))
	}
	return out
}

func cephRookRows() []row {
	const driver = "rook.driver must be the name of a CSI driver: lower case letters, digits, '-' and '.'; see kubectl get csidriver"
	const added = "spec.cephRBD.rook: Invalid value: rook.driver cannot be added or removed because volumes keep their driver" + another
	return slices.Concat(
		cephName("rook/operatorNamespace", 63, "rook.operatorNamespace must be the name of a namespace: lower case letters, digits and '-'"),
		cephName("rook/namespace", 63, "rook.namespace must be the name of a namespace: lower case letters, digits and '-'"),
		cephName("rook/cluster", 63, "rook.cluster must be the name of a CephCluster: lower case letters, digits and '-'"),
		cephName("rook/driver", 63, driver),
		[]row{
			cephEmpty("rook/driver"),
			cephChanged("rook/operatorNamespace", nil, "rook", "rook.operatorNamespace is immutable because volumes keep their driver"+another),
			cephChanged("rook/namespace", nil, "ceph", "rook.namespace is immutable because the data is in its CephCluster"+another),
			cephChanged("rook/cluster", nil, "ceph", "rook.cluster is immutable because the data is there"+another),
			cephChanged("rook/driver", "a.rbd.csi.ceph.com", "b.rbd.csi.ceph.com", "rook.driver is immutable because volumes keep their driver"+another),
			ceph("driver added", set("rook/driver", "a.rbd.csi.ceph.com"), added).updated(),
			ceph("driver removed", unset("rook/driver"), added).with(set(cephSpec+"rook/driver", "a.rbd.csi.ceph.com")).updated(),
		})
}

func cephClusterRows() []row {
	const (
		image   = "spec.cephRBD.cluster.image must name an exact version from v19.2.0 to v20, as quay.io/ceph/ceph:v20.2.4"
		path    = "spec.cephRBD.cluster.dataDirHostPath must be an absolute path of letters, digits, '_', '-' and '.'"
		odd     = "mons.count must be odd: an even number survives no more failures than one less (Ceph, Monitor quorum); use 3 or 5"
		size    = "mons.size must be a quantity of at least 1Gi, as 10Gi"
		noSize  = "spec.cephRBD.cluster.mons.size: Invalid value: spec.cephRBD.cluster.mons.size: without mons.storageClassName, mons on nodes of backing.devices keep their data in dataDirHostPath, which has no size; remove it, or name a class"
		modules = "spec.cephRBD.cluster.mgr.modules: Invalid value: mgr.modules must be names of modules as ceph mgr module ls prints them, such as pg_autoscaler"
	)
	out := []row{
		ceph("cluster empty", set("cluster", fields()), cephField+"cluster.image: Required value", cephField+"cluster.backing: Required value", cephField+"cluster.osds: Required value"),
		ceph("image missing", unset("cluster/image"), cephField+"cluster.image: Required value"),
		cephEmpty("cluster/image"), cephLong("cluster/image", 255),
		cephLong("cluster/dataDirHostPath", 200),
		cephChanged("cluster/dataDirHostPath", nil, "/var/lib/ceph", "spec.cephRBD.cluster.dataDirHostPath is immutable because Ceph's data is there"),
		cephRefused("cluster/mons/count", 2, odd), cephRefused("cluster/mons/count", 4, odd),
		cephRefused("cluster/mons/size", "512Mi", size),
		ceph("mon size with a wrong unit", set("cluster/mons/size", "10GB"), noQuantity(cephField+"cluster.mons.size", "10GB")),
		ceph("mon size without claims", set("cluster/mons/size", "10Gi"), noSize).with(onDisks()...),
		cephEmpty("cluster/mons/storageClassName"),
		ceph("module in capitals", set("cluster/mgr/modules", []any{"Rook"}), modules),
		ceph("module empty", set("cluster/mgr/modules", []any{""}), empty(cephField+"cluster.mgr.modules[0]")),
		ceph("module too long", set("cluster/mgr/modules", []any{strings.Repeat("m", 65)}), tooLong(cephField+"cluster.mgr.modules[0]", 64)),
		ceph("seventeen modules", set("cluster/mgr/modules", distinct("m", 17)), tooMany(cephField+"cluster.mgr.modules", 17, 16)),
	}
	for _, value := range []string{"quay.io/ceph/ceph", "quay.io/ceph/ceph:latest", "quay.io/ceph/ceph:v20", "quay.io/ceph/ceph:v20.2", "quay.io/ceph/ceph:v18.2.4", "quay.io/ceph/ceph:v19.1.0", "quay.io/ceph/ceph:v21.1.0"} {
		out = append(out, cephRefused("cluster/image", value, image))
	}
	for _, value := range []string{"rook", "/", "/var/../etc", "/var/lib/rook/"} {
		out = append(out, cephRefused("cluster/dataDirHostPath", value, path))
	}
	return slices.Concat(out, cephRange("cluster/mons/count", 1, 9), cephRange("cluster/mgr/count", 1, 2),
		cephName("cluster/mons/storageClassName", 253, "mons.storageClassName must be the name of a StorageClass: lower case letters, digits, '-' and '.'; see kubectl get storageclass"))
}

func cephBackingRows() []row {
	const (
		exactly = cephField + "cluster.backing: Invalid value: spec.cephRBD.cluster.backing: set exactly one of zfs (zvols of a pool on each node), storageClassName (a class of block volumes) and devices (whole disks of nodes)"
		kind    = "spec.cephRBD.cluster.backing: Invalid value: spec.cephRBD.cluster.backing cannot change its kind because OSDs use it" + replicate
		class   = "backing.storageClassName must be the name of a StorageClass: lower case letters, digits, '-' and '.'; see kubectl get storageclass"
		node    = "devices.node must be a node's label kubernetes.io/hostname"
		paths   = "devices.paths must be below /dev/disk/by-id or /dev/disk/by-path: names such as /dev/sda can be another disk after a reboot; see ls -l /dev/disk/by-id"
		at      = cephField + "cluster.backing.devices"
	)
	devices := func(name string, value any, says ...string) row {
		return ceph("devices "+name, set("cluster/backing/devices", value), says...).with(onDisks()...)
	}
	of := func(node string, paths ...any) any { return fields("node", node, "paths", paths) }
	one := "/dev/disk/by-id/a"
	return slices.Concat([]row{
		ceph("backing of nothing", set("cluster/backing", fields()), exactly),
		ceph("backing of two kinds", set("cluster/backing/storageClassName", "fast"), exactly),
		ceph("backing of another kind", set("cluster/backing/storageClassName", "fast"), kind).and(unset(cephSpec + "cluster/backing/zfs")).updated(),
		cephEmpty("cluster/backing/storageClassName"),
		cephChanged("cluster/backing/storageClassName", nil, "slow-block", "backing.storageClassName is immutable because OSDs use its volumes"+another).with(onBlockClass()...),
		devices("none", []any{}, at+": Invalid value: 0: "+at+" in body should have at least 1 items"),
		devices("of 65 nodes", manyNodes(65), tooMany(at, 65, 64)),
		devices("without node", []any{fields("paths", []any{one})}, at+"[0].node: Required value"),
		devices("of an empty node", []any{of("", one)}, empty(at+"[0].node")),
		devices("of a long node", []any{of(strings.Repeat("n", 64), one)}, tooLong(at+"[0].node", 63)),
		devices("of a node in capitals", []any{of("N1", one)}, refusedValue(at+"[0].node", `"N1"`, node)),
		devices("without paths", []any{fields("node", "n1")}, at+"[0].paths: Required value"),
		devices("of no paths", []any{fields("node", "n1", "paths", []any{})}, at+"[0].paths: Invalid value: 0: "+at+"[0].paths in body should have at least 1 items"),
		devices("of 33 paths", []any{of("n1", distinct("/dev/disk/by-id/d", 33)...)}, tooMany(at+"[0].paths", 33, 32)),
		devices("of a long path", []any{of("n1", "/dev/disk/by-id/"+strings.Repeat("d", 240))}, tooLong(at+"[0].paths[0]", 255)),
		devices("of a path that changes", []any{of("n1", "/dev/sdb")}, at+"[0].paths: Invalid value: "+paths),
	}, cephName("cluster/backing/storageClassName", 253, class))
}

func manyNodes(count int) []any {
	var out []any
	for i := range count {
		out = append(out, fields("node", fmt.Sprintf("n%d", i), "paths", []any{"/dev/disk/by-id/a"}))
	}
	return out
}

func cephZFSRows() []row {
	const (
		zfs        = "cluster/backing/zfs/"
		pool       = zfs + "pool/"
		arc        = "backing.zfs.arcMax must be a quantity of at least 64Mi, the smallest ARC that OpenZFS accepts, as 8Gi; remove it to leave the node's setting"
		characters = "backing.zfs.pool.name must begin with a letter and hold only letters, digits, '_', '-' and '.' (zpoolconcepts)"
		reserved   = "backing.zfs.pool.name is log or begins with mirror, raidz, draid or spare, which ZFS reserves (zpool-create); choose another"
		block      = "spec.cephRBD.cluster.backing.zfs: Invalid value: backing.zfs.volblocksize cannot be added or removed later, because the StorageClass is immutable" + replicate
		few        = "too few devices for this vdev type: a mirror and raidz1 need at least 2, raidz2 3, raidz3 4"
		logs       = "pool.create.logs: a log is a stripe or a mirror (zpoolconcepts)"
	)
	create := cephField + "cluster.backing.zfs.pool.create"
	vdevs := func(name, member string, value any, says ...string) row {
		whole := fields("vdevs", []any{fields("devices", disks(1))})
		whole[member] = value
		return ceph("create "+name, set(pool+"create", whole), says...)
	}
	many := func(count int) []any {
		var out []any
		for range count {
			out = append(out, fields("devices", disks(1)))
		}
		return out
	}
	out := []row{
		ceph("pool missing", unset(zfs+"pool"), cephField+"cluster.backing.zfs.pool: Required value").and(set(cephSpec+zfs+"logbias", "latency")),
		ceph("pool name missing", set(zfs+"pool", fields("autotrim", "on")), cephAt(pool+"name")+": Required value"),
		cephEmpty(pool + "name"), cephLong(pool+"name", 63),
		cephRefused(pool+"name", "1tank", characters), cephRefused(pool+"name", "tank/osd", characters),
		cephRefused(pool+"name", "mirror-0", reserved), cephRefused(pool+"name", "log", reserved),
		cephChanged(pool+"name", nil, "dozer", "backing.zfs.pool.name is immutable because OSDs use it"+replicate),
		cephChoice(pool+"autotrim", "on", "off"), cephChoice(pool+"failmode", "wait", "continue", "panic"),
		cephChoice(zfs+"volblocksize", "4k", "8k", "16k", "32k", "64k"),
		cephChanged(zfs+"volblocksize", "4k", "8k", "backing.zfs.volblocksize is immutable, as it is in ZFS"+replicate),
		ceph("volblocksize added", set(zfs+"volblocksize", "4k"), block).updated(),
		ceph("volblocksize removed", unset(zfs+"volblocksize"), block).with(set(cephSpec+zfs+"volblocksize", "4k")).updated(),
		cephChoice(zfs+"compression", "off", "lz4", "zstd"), cephChoice(zfs+"primarycache", "metadata", "all"),
		cephChoice(zfs+"logbias", "latency", "throughput"), cephChoice(zfs+"driftPolicy", "Repair", "Report"),
		cephRefused(zfs+"arcMax", "63Mi", arc),
		ceph("arcMax with a wrong unit", set(zfs+"arcMax", "4GB"), noQuantity(cephAt(zfs+"arcMax"), "4GB")),
		ceph("create without vdevs", set(pool+"create", fields("ashift", 12)), create+".vdevs: Required value"),
		vdevs("of no vdevs", "vdevs", []any{}, create+".vdevs: Invalid value: 0: "+create+".vdevs in body should have at least 1 items"),
		vdevs("of nine vdevs", "vdevs", many(9), tooMany(create+".vdevs", 9, 8)),
		vdevs("with five logs", "logs", many(5), tooMany(create+".logs", 5, 4)),
		vdevs("with a log of raidz", "logs", []any{fields("type", "raidz1", "devices", disks(2))}, create+".logs: Invalid value: "+logs),
		vdevs("with ashift 8", "ashift", 8, outside(create+".ashift", 8, "greater than or equal to 9")),
		vdevs("with ashift 17", "ashift", 17, outside(create+".ashift", 17, "less than or equal to 16")),
	}
	for _, member := range []string{"vdevs", "logs"} {
		at := create + "." + member + "[0]"
		out = append(out,
			vdevs(member+" of another type", member, []any{fields("type", "raid5", "devices", disks(1))}, unsupported(at+".type", "raid5", "stripe", "mirror", "raidz1", "raidz2", "raidz3")),
			vdevs(member+" of a mirror of one", member, []any{fields("type", "mirror", "devices", disks(1))}, at+": Invalid value: "+few),
			vdevs(member+" without devices", member, []any{fields("type", "stripe")}, at+".devices: Required value"),
			vdevs(member+" of no devices", member, []any{fields("devices", []any{})}, at+".devices: Invalid value: 0: "+at+".devices in body should have at least 1 items"),
			vdevs(member+" of 17 devices", member, []any{fields("devices", disks(17))}, tooMany(at+".devices", 17, 16)),
		)
		out = append(out, deviceRules("ceph "+member, func(device any) row { return vdevs("", member, []any{fields("devices", []any{device})}) }, at+".devices[0]")...)
	}
	out = append(out,
		vdevs("raidz2 of two", "vdevs", []any{fields("type", "raidz2", "devices", disks(2))}, create+".vdevs[0]: Invalid value: "+few),
		vdevs("raidz3 of three", "vdevs", []any{fields("type", "raidz3", "devices", disks(3))}, create+".vdevs[0]: Invalid value: "+few),
	)
	return slices.Concat(out, cephRange(pool+"headroomPercent", 5, 50))
}

func cephOSDRows() []row {
	const (
		osds    = "cluster/osds/"
		count   = "spec.cephRBD.cluster.osds.count: Required value: spec.cephRBD.cluster.osds.count is missing, but OSDs are on claims; set their number"
		missing = "spec.cephRBD.cluster.osds.size: Required value: spec.cephRBD.cluster.osds.size is missing, but OSDs are on claims; set the size of each"
		claims  = "spec.cephRBD.cluster.osds: Invalid value: spec.cephRBD.cluster.osds: count, size, spread and tune apply to OSDs on claims, and backing.devices names each OSD's device; remove them"
		size    = "osds.size must be a quantity from 5Gi to 64Ti, as 500Gi"
		target  = "osds.memoryTarget must be a quantity from 2Gi to 64Gi, as 4Gi"
		cpu     = "osds.cpu must be a quantity of at least 100m, as 1"
		class   = "osds.deviceClass must begin with a letter and hold only lower case letters, digits, '_' and '-', as ssd"
		removed = cephField + "cluster.osds: Invalid value: osds.count and osds.size cannot be added or removed later; change their values"
	)
	out := []row{
		ceph("OSDs missing", unset("cluster/osds"), cephField+"cluster.osds: Required value"),
		ceph("OSD count missing", unset(osds+"count"), count),
		ceph("OSD size missing", unset(osds+"size"), missing),
		ceph("OSD size removed", unset(osds+"size"), removed).updated(),
		cephRefused(osds+"size", "4Gi", size), cephRefused(osds+"size", "65Ti", size),
		ceph("OSD size with a wrong unit", set(osds+"size", "25GB"), noQuantity(cephAt(osds+"size"), "25GB")),
		ceph("OSDs shrunk", set(osds+"size", "24Gi"), refusedValue(cephAt(osds+"size"), `"24Gi"`, "osds.size cannot shrink because an OSD cannot; remove OSDs instead")).updated(),
		cephRefused(osds+"memoryTarget", "1Gi", target), cephRefused(osds+"memoryTarget", "65Gi", target),
		ceph("memoryTarget with a wrong unit", set(osds+"memoryTarget", "4GB"), noQuantity(cephAt(osds+"memoryTarget"), "4GB")),
		cephRefused(osds+"cpu", "50m", cpu),
		ceph("OSD cpu with a wrong unit", set(osds+"cpu", "1 core"), noQuantity(cephAt(osds+"cpu"), "1 core")),
		cephChoice(osds+"spread", "Required", "Preferred"), cephChoice(osds+"tune", "Fast", "Slow", "None"),
		cephChoice(osds+"minAllocSize", "4k", "8k", "16k", "32k", "64k"),
		cephChanged(osds+"minAllocSize", nil, "16k", "osds.minAllocSize is immutable, as it is in an OSD"+replicate),
		cephLong(osds+"deviceClass", 32), cephRefused(osds+"deviceClass", "SSD", class), cephRefused(osds+"deviceClass", "1a", class),
		cephChanged(osds+"deviceClass", nil, "nvme", "osds.deviceClass is immutable because OSDs keep theirs"+another),
		cephChanged(osds+"encrypted", nil, true, "osds.encrypted is immutable because existing OSDs cannot be encrypted"+replicate),
	}
	for field, value := range ordered("count", "3", "size", "25Gi", "spread", "Required", "tune", "Fast") {
		var v any = value
		if field == "count" {
			v = 3
		}
		out = append(out, ceph("OSDs on devices with "+field, set(osds+field, v), claims).with(onDisks()...))
	}
	return slices.Concat(out, cephRange(osds+"count", 1, 512))
}

func cephPoolRows() []row {
	const (
		above    = "spec.cephRBD.pool.minSize: Invalid value: spec.cephRBD.pool.minSize is above size, so that the pool would accept no write; lower it"
		lost     = "spec.cephRBD.pool.minSize: Invalid value: spec.cephRBD.pool.minSize: 1 acknowledges writes that are on one OSD only, and its loss loses acknowledged commits; use 2, or accept that by acceptLoss: true"
		none     = "pool.checksum: none is rejected because Ceph would return blocks that were damaged above ZFS as data, for a measured gain of 2%; leave it crc32c"
		checksum = "pool.checksum must be crc32c, crc32c_16, crc32c_8, xxhash32 or xxhash64 (Ceph, bluestore_csum_type)"
		class    = "pool.deviceClass must begin with a letter and hold only lower case letters, digits, '_' and '-', as ssd"
		fixed    = "spec.cephRBD.pool: Invalid value: spec.cephRBD.pool.deviceClass and pinnedHosts cannot be added or removed because Ceph would move all data" + replicate
		useless  = "compression.algorithm has no effect with mode none; remove it, or set mode: aggressive"
	)
	out := []row{
		ceph("minSize above size", set("pool/minSize", 4), above),
		ceph("minSize 1 of three", set("pool/minSize", 1), lost),
		ceph("minSize 1 not accepted", set("pool/minSize", 1), lost).and(set(cephSpec+"pool/acceptLoss", false)),
		cephRefused("pool/checksum", "none", none), cephRefused("pool/checksum", "md5", checksum), cephLong("pool/checksum", 16),
		cephEmpty("pool/deviceClass"), cephLong("pool/deviceClass", 32), cephRefused("pool/deviceClass", "SSD", class),
		cephChanged("pool/deviceClass", "ssd", "hdd", "pool.deviceClass is immutable because Ceph would move all data"+replicate),
		ceph("pool deviceClass added", set("pool/deviceClass", "ssd"), fixed).updated(),
		cephChanged("dataPool/dataChunks", 2, 4, "dataPool.dataChunks is immutable, as it is in Ceph"+replicate),
		cephChanged("dataPool/codingChunks", 2, 3, "dataPool.codingChunks is immutable, as it is in Ceph"+replicate),
	}
	for _, pool := range []string{"pool", "dataPool"} {
		out = append(out,
			cephChoice(pool+"/compression/mode", "none", "passive", "aggressive", "force"),
			cephChoice(pool+"/compression/algorithm", "snappy", "zlib", "zstd", "lz4"),
			ceph(pool+" algorithm without compression", set(pool+"/compression/algorithm", "lz4"), cephField+pool+".compression.algorithm: Invalid value: "+useless),
		)
	}
	return slices.Concat(out, cephRange("pool/size", 1, 5), cephRange("pool/minSize", 1, 5), cephRange("pool/targetSizePercent", 1, 100),
		cephRange("dataPool/dataChunks", 2, 8), cephRange("dataPool/codingChunks", 1, 4))
}

// cephPinRows are about one copy of each block.
func cephPinRows() []row {
	const (
		single = "spec.cephRBD.pool.size: Invalid value: spec.cephRBD.pool.size: 1 keeps one copy, and the loss of one OSD loses every volume in the pool; use 2 or 3, or accept that by acceptLoss: true and pinnedHosts, which keep each volume on its own node"
		only   = "spec.cephRBD.pool.pinnedHosts: Invalid value: spec.cephRBD.pool.pinnedHosts is for size 1 only: copies on several hosts cannot be pinned to one; remove it"
		erased = "spec.cephRBD.dataPool: Invalid value: spec.cephRBD.dataPool: an erasure coded pool cannot be pinned to hosts; remove it, or pool.pinnedHosts"
		host   = "pool.pinnedHosts must be nodes' labels kubernetes.io/hostname"
		at     = cephField + "pool.pinnedHosts"
	)
	pinned := func(hosts ...any) any { return fields("size", 1, "acceptLoss", true, "pinnedHosts", hosts) }
	return []row{
		ceph("one copy", set("pool/size", 1), single),
		ceph("one copy, accepted and not pinned", set("pool", fields("size", 1, "acceptLoss", true)), single),
		ceph("one copy, pinned and not accepted", set("pool", fields("size", 1, "pinnedHosts", []any{"n1"})), single),
		ceph("one copy, acceptance refused", set("pool", fields("size", 1, "acceptLoss", false, "pinnedHosts", []any{"n1"})), single),
		ceph("two copies pinned", set("pool", fields("size", 2, "pinnedHosts", []any{"n1"})), only),
		ceph("pinned with a data pool", set("dataPool", fields()), erased).with(set(cephSpec+"pool", pinned("n1"))),
		ceph("pinned to no hosts", set("pool", fields("size", 1, "acceptLoss", true, "pinnedHosts", []any{})), at+": Invalid value: 0: "+at+" in body should have at least 1 items"),
		ceph("pinned to seventeen hosts", set("pool", pinned(distinct("n", 17)...)), tooMany(at, 17, 16)),
		ceph("pinned to an empty host", set("pool", pinned("")), empty(at+"[0]")),
		ceph("pinned to a long host", set("pool", pinned(strings.Repeat("n", 64))), tooLong(at+"[0]", 63)),
		ceph("pinned to a host in capitals", set("pool", pinned("N1")), at+": Invalid value: "+host),
		ceph("pinned to another host", set("pool/pinnedHosts", []any{"n2"}), at+": Invalid value: "+"pool.pinnedHosts is immutable because the StorageClass lists them"+another).with(set(cephSpec+"pool", pinned("n1"))).updated(),
	}
}

func cephVolumeRows() []row {
	const (
		at      = cephField + "volumeClass.imageFeatures"
		objects = "volumeClass.imageFeatures: object-map needs exclusive-lock (rbd); add it"
		diff    = "volumeClass.imageFeatures: fast-diff needs object-map (rbd); add it"
		added   = cephField + "volumeClass: Invalid value: volumeClass.imageFeatures cannot be added or removed later, because the StorageClass is immutable" + another
		fixed   = "volumeClass.imageFeatures is immutable, as the StorageClass is" + another
	)
	features := func(names ...any) change { return set("volumeClass/imageFeatures", names) }
	return []row{
		cephChoice("volumeClass/fsType", "ext4", "xfs"),
		cephChanged("volumeClass/fsType", nil, "ext4", "volumeClass.fsType is immutable, as the StorageClass is"+another).with(append(elsewhere(), set(cephSpec+"volumeClass/fsType", "xfs"))...),
		ceph("unknown image feature", features("journaling"), unsupported(at+"[0]", "journaling", "layering", "exclusive-lock", "object-map", "fast-diff", "deep-flatten")),
		ceph("no image features", set("volumeClass/imageFeatures", []any{}), at+": Invalid value: 0: "+at+" in body should have at least 1 items"),
		ceph("six image features", features("layering", "exclusive-lock", "object-map", "fast-diff", "deep-flatten", "layering"), tooMany(at, 6, 5)),
		ceph("object-map by itself", features("layering", "object-map"), at+": Invalid value: "+objects),
		ceph("fast-diff by itself", features("layering", "exclusive-lock", "fast-diff"), at+": Invalid value: "+diff),
		ceph("image features added", features("layering"), added).updated(),
		ceph("image features changed", features("layering", "exclusive-lock"), at+": Invalid value: "+fixed).with(set(cephSpec+"volumeClass/imageFeatures", []any{"layering"})).updated(),
	}
}
