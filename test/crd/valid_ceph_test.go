package crd_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

// validCeph are profiles of the type CephRBD at the edges.
var validCeph = []edge{
	{"on ZFS", "CephRBD", nil},
	{"on a class", "CephRBD", onBlockClass()},
	{"on a class, everywhere", "CephRBD", append(onBlockClass(), unset("spec/nodeSelector"))},
	{"on disks", "CephRBD", onDisks()},
	{"on disks, mons on claims", "CephRBD", append(onDisks(), set(cephSpec+"cluster/mons", fields("storageClassName", "fast", "size", "1Gi")))},
	{"on most disks", "CephRBD", append(onDisks(), set(cephSpec+"cluster/backing/devices", manyNodes(64)))},
	{"elsewhere", "CephRBD", elsewhere()},
	{"xfs elsewhere", "CephRBD", append(elsewhere(), set(cephSpec+"volumeClass/fsType", "xfs"))},
	{"a Rook of other names", "CephRBD", []change{set(cephSpec+"rook", fields("operatorNamespace", "rook", "namespace", "ceph", "cluster", "a", "driver", "rook.rbd.csi.ceph.com"))}},
	{"an image of Squid", "CephRBD", []change{set(cephSpec+"cluster/image", "quay.io/ceph/ceph:v19.2.0")}},
	{"an image of a build", "CephRBD", []change{set(cephSpec+"cluster/image", "registry:5000/ceph:v20.2.2-20260616")}},
	{"an image by digest", "CephRBD", []change{set(cephSpec+"cluster/image", "quay.io/ceph/ceph:v20.2.4@sha256:"+strings.Repeat("0", 64))}},
	{"one copy of each, pinned", "CephRBD", []change{set(cephSpec+"pool", fields("size", 1, "acceptLoss", true, "pinnedHosts", []any{"n1", "n2.example"}))}},
	{"two copies, one answers", "CephRBD", []change{set(cephSpec+"pool", fields("size", 2, "minSize", 1, "acceptLoss", true))}},
	{"most copies", "CephRBD", []change{set(cephSpec+"pool", fields("size", 5, "minSize", 5, "targetSizePercent", 100, "deviceClass", "nvme", "checksum", "xxhash64"))}},
	{"erasure coded", "CephRBD", []change{set(cephSpec+"dataPool", fields("dataChunks", 8, "codingChunks", 4, "compression", fields("mode", "force", "algorithm", "zstd")))}},
	{"least of everything", "CephRBD", []change{
		set(cephSpec+"cluster/mons", fields("count", 1, "size", "1Gi")), set(cephSpec+"cluster/mgr/count", 1), set(cephSpec+"failureDomain", "osd"),
		set(cephSpec+"cluster/osds", fields("count", 1, "size", "5Gi", "memoryTarget", "2Gi", "cpu", "100m")), set(cephSpec+"cluster/backing/zfs/arcMax", "64Mi"),
	}},
	{"most of everything", "CephRBD", []change{
		set(cephSpec+"cluster/mons/count", 9), set(cephSpec+"cluster/mgr", fields("count", 2, "modules", distinct("m", 16))),
		set(cephSpec+"cluster/osds", fields("count", 512, "size", "64Ti", "memoryTarget", "64Gi", "cpu", "64", "spread", "Preferred", "tune", "None", "minAllocSize", "64k", "encrypted", true)),
		set(cephSpec+"cluster/backing/zfs/pool/create", fields("ashift", 16, "vdevs", []any{fields("type", "mirror", "devices", disks(16))}, "logs", []any{fields("devices", disks(1))})),
		set(cephSpec+"volumeClass", fields("imageFeatures", []any{"layering", "exclusive-lock", "object-map", "fast-diff", "deep-flatten"}, "discard", false)),
		set(cephSpec+"acceptWarnings", distinct("A", 16)), set(cephSpec+"deletionPolicy", "Delete"),
	}},
	{"sizes in bare numbers", "CephRBD", []change{set(cephSpec+"cluster/osds", fields("count", 3, "size", 8<<30, "memoryTarget", 4<<30, "cpu", 2)), set(cephSpec+"cluster/mons/size", 2<<30), set(cephSpec+"cluster/backing/zfs/arcMax", 1<<30)}},
}

// cephDefaults are what comes out where only what is required is named.
var cephDefaults = []change{
	set(cephSpec+"rook", fields("operatorNamespace", "rook-ceph", "namespace", "rook-ceph", "cluster", "rook-ceph")),
	set(cephSpec+"failureDomain", "host"), set(cephSpec+"deletionPolicy", "Retain"),
	set(cephSpec+"pool", fields("size", 3, "checksum", "crc32c", "compression", fields("mode", "none"))),
	set(cephSpec+"volumeClass", fields("fsType", "ext4", "discard", true)),
	set(cephSpec+"cluster/mons", fields("count", 3)), set(cephSpec+"cluster/mgr", fields("count", 2)),
	set(cephSpec+"cluster/dataDirHostPath", "/var/lib/rook"), set(cephSpec+"cluster/dashboard", false), set(cephSpec+"cluster/monitoring", false),
	set(cephSpec+"cluster/osds", fields("count", 3, "size", "25Gi", "memoryTarget", "4Gi", "cpu", "1", "deviceClass", "ssd", "minAllocSize", "4k", "encrypted", false)),
	set(cephSpec+"cluster/backing/zfs", fields(
		"pool", fields("name", "tank", "autotrim", "off", "failmode", "wait", "headroomPercent", 20),
		"primarycache", "metadata", "logbias", "latency", "driftPolicy", "Repair")),
}

// TestValidChangesOfCephRBDAreAccepted changes what may change of a profile.
func TestValidChangesOfCephRBDAreAccepted(t *testing.T) {
	c := apiserver.Client(t, config)
	i := 0
	for name, r := range map[string]row{
		"more OSDs":               {change: []change{set(cephSpec+"cluster/osds/count", 6)}},
		"fewer OSDs":              {change: []change{set(cephSpec+"cluster/osds/count", 2)}},
		"larger OSDs":             {change: []change{set(cephSpec+"cluster/osds/size", "50Gi")}},
		"equal size, other unit":  {change: []change{set(cephSpec+"cluster/osds/size", "25600Mi")}},
		"another disk":            {before: onDisks(), change: []change{set(cephSpec+"cluster/backing/devices/0/paths", []any{"/dev/disk/by-id/a", "/dev/disk/by-id/b"})}},
		"another node with disks": {before: onDisks(), change: []change{set(cephSpec+"cluster/backing/devices", manyNodes(2))}},
		"a newer Ceph":            {change: []change{set(cephSpec+"cluster/image", "quay.io/ceph/ceph:v20.2.5")}},
		"more copies":             {before: []change{set(cephSpec+"pool/size", 2)}, change: []change{set(cephSpec+"pool/size", 3)}},
		"compression":             {change: []change{set(cephSpec+"pool/compression", fields("mode", "aggressive", "algorithm", "lz4"))}},
		"memory":                  {change: []change{set(cephSpec+"cluster/osds/memoryTarget", "8Gi")}},
		"more mons":               {change: []change{set(cephSpec+"cluster/mons/count", 5)}},
		"dashboard":               {change: []change{set(cephSpec+"cluster/dashboard", true)}},
		"other nodes":             {change: []change{set("spec/nodeSelector", fields("disk", "nvme"))}},
		"deletion":                {change: []change{set(cephSpec+"deletionPolicy", "Delete")}},
	} {
		i++
		t.Run(name, func(t *testing.T) {
			object := base(t, "CephRBD", slices.Clone(r.before)...)
			object.SetName(fmt.Sprintf("change-ceph-%d", i))
			if err := c.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			edit(t, object, r.change...)
			if err := c.Update(t.Context(), object, client.DryRunAll); err != nil {
				t.Error(err)
			}
		})
	}
}
