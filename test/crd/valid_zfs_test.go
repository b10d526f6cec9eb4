package crd_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

func mirror() change {
	return set(zfsSpec+"pool/create", fields("vdevs", []any{named("mirror", 2)}))
}

// validZFS are profiles of the type ZFSLocalPV, and PgNodeStorages, at the edges.
var validZFS = []edge{
	{"adopt a pool", "ZFSLocalPV", nil},
	{"shortest name of a pool", "ZFSLocalPV", []change{set(zfsSpec+"pool/name", "t")}},
	{"longest name of a pool", "ZFSLocalPV", []change{set(zfsSpec+"pool/name", "T"+strings.Repeat(".", 62))}},
	{"name that only holds a reserved word", "ZFSLocalPV", []change{set(zfsSpec+"pool/name", "my-mirror")}},
	{"make a mirror", "ZFSLocalPV", []change{mirror()}},
	{"make a stripe, which is the default", "ZFSLocalPV", []change{set(zfsSpec+"pool/create/vdevs", []any{fields("devices", disks(1))})}},
	{"least raidz of each kind", "ZFSLocalPV", []change{set(zfsSpec+"pool/create/vdevs", []any{named("raidz1", 2), named("raidz2", 3), named("raidz3", 4)})}},
	{"selector of a count alone", "ZFSLocalPV", []change{set(zfsSpec+"pool/create/vdevs", []any{selected(1)})}},
	{"selector of everything", "ZFSLocalPV", []change{set(zfsSpec+"pool/create/vdevs", []any{selected(64, "minSize", "1Ti", "maxSize", "1024Gi", "model", "SAMSUNG*PM9A?", "transport", "nvme")})}},
	{"devices of every stable kind", "ZFSLocalPV", []change{set(zfsSpec+"pool/create/vdevs", []any{fields("devices", []any{
		fields("path", "/dev/disk/by-id/nvme-eui.0025388b01c0a1b2", "wipe", true), fields("path", "/dev/disk/by-path/pci-0000:00:1f.2-ata-1"), fields("path", "/dev/disk/by-path/pci-0000:00:1f.2-ata-2", "serial", "S1", "wipe", true), fields("path", "/dev/disk/by-path/pci-0000:00:1f.2-ata-3", "wipe", false),
		fields("path", "/dev/disk/by-partuuid/1f2e3d4c-01"), fields("path", "/dev/disk/by-partlabel/zfs_data-1"),
	})})}},
	{"pool with all classes of vdevs", "ZFSLocalPV", []change{set(zfsSpec+"pool/create", fields("ashift", 9,
		"vdevs", slices.Repeat([]any{selected(1)}, 12), "logs", slices.Repeat([]any{selected(1)}, 4), "caches", slices.Repeat([]any{selected(1)}, 4), "special", slices.Repeat([]any{named("mirror", 64)}, 4)))}},
	{"WAL tuned by itself", "ZFSLocalPV", []change{set(zfsSpec+"wal", fields("recordsize", "128k", "compression", "zstd-3", "logbias", "throughput", "primarycache", "metadata", "quota", "64Mi", "reservation", "1"))}},
	{"block class by default", "ZFSLocalPV", []change{set(zfsSpec+"block", fields())}},
	{"block class", "ZFSLocalPV", []change{set(zfsSpec+"block", fields("volblocksize", "4k", "provisioning", "Thin", "compression", "off"))}},
	{"dedup that is accepted", "ZFSLocalPV", []change{set(zfsSpec+"data", fields("dedup", "verify", "acceptDedup", true))}},
	{"least ARC and drift reported", "ZFSLocalPV", []change{set(zfsSpec+"arcMax", "64Mi"), set(zfsSpec+"driftPolicy", "Report")}},
	{"sizes in bare numbers", "ZFSLocalPV", []change{set(zfsSpec+"arcMax", 8589934592), set(zfsSpec+"data/quota", 107374182400), set(zfsSpec+"wal/reservation", 1), set(zfsSpec+"pool/create/vdevs", []any{selected(1, "minSize", 1, "maxSize", "1Ti")})}},
	{"name that only begins like log", "ZFSLocalPV", []change{set(zfsSpec+"pool/name", "logs")}},
	{"least headroom", "ZFSLocalPV", []change{set(zfsSpec+"pool/headroomPercent", 5)}},
	{"most headroom", "ZFSLocalPV", []change{set(zfsSpec+"pool/headroomPercent", 50)}},
	{"compatibility of several files", "ZFSLocalPV", []change{set(zfsSpec+"pool/compatibility", "openzfs-2.1-linux,grub2")}},
	{"most labels of nodes", "ZFSLocalPV", []change{set("spec/nodeSelector", fields("a", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6", "example.com/g", "", "h", "8"))}},
	{"least node storage", "PgNodeStorage", nil},
	{"most of a node storage", "PgNodeStorage", []change{set("spec", fields("nodeName", strings.Repeat("n", 253), "profile", strings.Repeat("p", 253), "arcMax", "4Gi", "driftPolicy", "Report",
		"pool", fields("name", strings.Repeat("t", 63), "headroomPercent", 20, "properties", []any{fields("name", "autotrim", "value", "on")}, "create", fields("vdevs", []any{named("mirror", 2)})),
		"datasets", []any{fields("name", strings.Repeat("d", 255), "properties", []any{fields("name", "recordsize", "value", "8K")})}))}},
}

// TestEveryValueOfZFSIsAccepted sets each choice of each property, wherever a
// profile has it, to each of its values: what the schema lists, and what rules
// take.
func TestEveryValueOfZFSIsAccepted(t *testing.T) {
	c := apiserver.Client(t, config)
	values := map[string][]string{}
	walk(t, func(path string, s schema) {
		const root = "PgStorageProfile.spec.zfsLocalPV."
		if len(s.Enum) == 0 || !strings.HasPrefix(path, root) {
			return
		}
		for _, value := range s.Enum {
			values[strings.TrimPrefix(path, root)] = append(values[strings.TrimPrefix(path, root)], strings.Trim(string(value.Raw), `"`))
		}
	})
	for _, parent := range []string{"data", "wal", "block"} {
		values[parent+".compression"] = append(slices.Concat(numbered("gzip-", 9), numbered("zstd-", 19), numbered("zstd-fast-", 10)),
			"on", "off", "lz4", "lzjb", "zle", "gzip", "zstd", "zstd-fast", "zstd-fast-20", "zstd-fast-90", "zstd-fast-100", "zstd-fast-500", "zstd-fast-1000")
		values[parent+".checksum"] = []string{"on", "fletcher4", "sha256", "sha512", "skein", "edonr", "blake3"}
		values[parent+".sync"] = []string{"standard", "always"}
		values[parent+".specialSmallBlocks"] = []string{"0", "512", "1k", "2k", "4k", "8k", "16k", "32k", "64k", "128k", "256k", "512k", "1M"}
		if parent != "block" {
			values[parent+".recordsize"] = []string{"8k", "16k", "32k", "64k", "128k", "256k", "512k", "1M"}
		}
	}
	// These take some of the types only; the others have rows of their own.
	values["pool.create.logs[].type"] = []string{"stripe", "mirror"}
	values["pool.create.caches[].type"] = []string{"stripe"}
	values["pool.create.special[].type"] = []string{"stripe", "mirror"}
	accepted := 0
	for path, choices := range values {
		for _, value := range choices {
			t.Run(path+"="+value, func(t *testing.T) {
				object := base(t, "ZFSLocalPV", withValue(path, value)...)
				if err := c.Create(t.Context(), object, client.DryRunAll); err != nil {
					t.Error(err)
				}
			})
			accepted++
		}
	}
	t.Logf("%d values of %d fields are accepted", accepted, len(values))
}

func numbered(prefix string, most int) []string {
	out := []string{}
	for i := range most {
		out = append(out, fmt.Sprintf("%s%d", prefix, i+1))
	}
	return out
}

var vdevField = regexp.MustCompile(`^pool\.create\.(vdevs|logs|caches|special)\[\]\.`)

// withValue sets a field of zfsLocalPV, and what it cannot be without.
func withValue(path, value string) []change {
	out := []change{mirror()}
	if class := vdevField.FindStringSubmatch(path); class != nil {
		out = append(out, set(zfsSpec+"pool/create/"+class[1], []any{selected(4)}))
	}
	if parent, ok := strings.CutSuffix(path, ".dedup"); ok {
		out = append(out, set(zfsSpec+parent+"/acceptDedup", true))
	}
	if parent, ok := strings.CutSuffix(path, ".atime"); ok && value == "on" {
		out = append(out, set(zfsSpec+parent+"/relatime", "on"))
	}
	return append(out, set(zfsSpec+strings.ReplaceAll(strings.ReplaceAll(path, "[]", ".0"), ".", "/"), value))
}

// zfsDefaults are what comes out where only a pool is named.
var zfsDefaults = []change{
	set(zfsSpec+"medium", "SSD"), set(zfsSpec+"driftPolicy", "Repair"),
	set(zfsSpec+"pool/autotrim", "off"), set(zfsSpec+"pool/failmode", "wait"), set(zfsSpec+"pool/headroomPercent", 20),
	set(zfsSpec+"data", parentDefaults("recordsize", "8k", "secondarycache", "all")),
	set(zfsSpec+"wal", parentDefaults("recordsize", "32k", "secondarycache", "none")),
}

// zfsMade are the defaults of a block class and of vdevs that say nothing, and
// of parents that are mentioned.
var zfsMade = defaulted{
	before: []change{set(zfsSpec+"block", fields()), set(zfsSpec+"pool/create", fields("vdevs", []any{selected(2)})), set(zfsSpec+"data", fields()), set(zfsSpec+"wal", fields())},
	defaults: slices.Concat(zfsDefaults, []change{
		set(zfsSpec+"block", parentDefaults("secondarycache", "all", "volblocksize", "16k", "provisioning", "Thick")),
		set(zfsSpec+"pool/create/ashift", 12), set(zfsSpec+"pool/create/vdevs/0/type", "stripe"),
	}),
}

func parentDefaults(more ...any) map[string]any {
	return fields(append([]any{
		"compression", "lz4", "atime", "off", "relatime", "off", "logbias", "latency", "primarycache", "all", "xattr", "sa", "dnodesize", "legacy",
		"redundantMetadata", "all", "checksum", "on", "sync", "standard", "specialSmallBlocks", "0", "dedup", "off",
	}, more...)...)
}

// TestValidChangesOfZFSAreAccepted changes what may change of a profile.
func TestValidChangesOfZFSAreAccepted(t *testing.T) {
	c := apiserver.Client(t, config)
	i := 0
	for name, r := range map[string]row{
		"create added to a pool that was adopted": {change: []change{mirror()}},
		"create written again as it is":           {before: []change{mirror()}, change: []change{mirror()}},
		"recordsize and compression":              {change: []change{set(zfsSpec+"data/recordsize", "16k"), set(zfsSpec+"wal/compression", "zstd")}},
		"a property of block":                     {before: []change{set(zfsSpec+"block", fields())}, change: []change{set(zfsSpec+"block/compression", "off")}},
		"properties of the pool":                  {change: []change{set(zfsSpec+"pool/autotrim", "on"), set(zfsSpec+"pool/failmode", "panic"), set(zfsSpec+"pool/headroomPercent", 10), set(zfsSpec+"pool/compatibility", "legacy")}},
		"ARC limited":                             {change: []change{set(zfsSpec+"arcMax", "4Gi")}},
		"ARC no longer limited":                   {before: []change{set(zfsSpec+"arcMax", "4Gi")}, change: []change{unset(zfsSpec + "arcMax")}},
		"quota lowered":                           {before: []change{set(zfsSpec+"data/quota", "4Gi")}, change: []change{set(zfsSpec+"data/quota", "2Gi")}},
		"other nodes":                             {change: []change{set("spec/nodeSelector", fields("disk", "nvme"))}},
		"drift reported":                          {change: []change{set(zfsSpec+"driftPolicy", "Report")}},
	} {
		i++
		t.Run(name, func(t *testing.T) {
			object := base(t, "ZFSLocalPV", r.before...)
			object.SetName(fmt.Sprintf("change-%d", i))
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
