//go:build guest

package guest_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/agent"
	"github.com/pgstorage/pgstorage/internal/testing/long"
)

// secondValues are all values that OpenZFS 2.1 takes of those the API accepts, except those
// that declared has already.
var secondValues = map[string][]string{
	"recordsize": {"16384", "32768", "65536", "131072", "262144", "524288", "1048576"},
	"compression": slices.Concat(
		[]string{"on", "off", "lzjb", "zle", "gzip", "zstd", "zstd-fast"},
		levels("gzip-", 1, 9, 1), levels("zstd-", 1, 19, 1),
		levels("zstd-fast-", 1, 10, 1), levels("zstd-fast-", 20, 90, 10), []string{"zstd-fast-100", "zstd-fast-500", "zstd-fast-1000"},
	),
	"atime": {"on"}, "relatime": {"on"}, "logbias": {"throughput"}, "sync": {"always"},
	"primarycache": {"metadata", "none"}, "secondarycache": {"metadata", "none"},
	"xattr": {"on", "dir", "off"}, "dnodesize": {"auto", "1k", "2k", "4k", "8k", "16k"},
	"redundant_metadata":   {"most", "some", "none"},
	"checksum":             {"fletcher4", "sha256", "sha512", "skein", "edonr"},
	"special_small_blocks": {"512", "1024", "2048", "4096", "8192", "16384", "32768", "65536", "131072"},
	"dedup":                {"on", "verify"},
	"quota":                {"67108864", "134217728"}, "reservation": {"1048576", "1000000"},
}

// printed is how 2.1 prints some values with zfs get -p. ZFS decides what xattr=on means, so sa
// stays where it was.
var printed = map[string]string{
	"compression=gzip-6": "gzip", "compression=zstd-fast-1": "zstd-fast",
	"xattr=dir": "on", "xattr=on": "sa", "quota=none": "0", "reservation=none": "0",
}

func levels(prefix string, first, last, step int) []string {
	var out []string
	for i := first; i <= last; i += step {
		out = append(out, fmt.Sprint(prefix, i))
	}
	return out
}

// set changes a property of a list, or adds it.
func set(list []v1alpha1.ZFSProperty, name, value string) []v1alpha1.ZFSProperty {
	out := slices.DeleteFunc(slices.Clone(list), func(p v1alpha1.ZFSProperty) bool { return p.Name == name })
	return append(out, v1alpha1.ZFSProperty{Name: name, Value: value})
}

// own are the properties that a dataset does not hand down.
func own(property string) bool { return property == "quota" || property == "reservation" }

// read gives "value source" of properties of all datasets of a pool by zfs itself.
func read(t *testing.T, pool string) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	names := strings.Join(slices.Sorted(maps.Keys(secondValues)), ",")
	for line := range strings.Lines(run(t, "zfs", "get", "-Hp", "-r", "-t", "filesystem", "-o", "name,property,value,source", names, pool)) {
		f := strings.SplitN(strings.TrimSpace(line), "\t", 4)
		if out[f[0]] == nil {
			out[f[0]] = map[string]string{}
		}
		out[f[0]][f[1]] = f[2] + " " + f[3]
	}
	return out
}

// parents are as many as possible, so that a pass tries many values at once.
const parents = 14

// TestPropertiesTakeEveryValue retunes parents with running volumes through every
// value; then every property goes back to where it was.
func TestPropertiesTakeEveryValue(t *testing.T) {
	long.Skip(t, "make test-vm")
	erase(t, "tuned", 0)
	n, _ := newAgent(nil)
	s := declared("tuned", madeOf(v1alpha1.VdevStripe, 0))
	first := s.Spec.Datasets[0].Properties
	s.Spec.Datasets = nil
	for i := range parents {
		s.Spec.Datasets = append(s.Spec.Datasets, v1alpha1.NodeDataset{Name: fmt.Sprintf("tuned/p%02d", i), Properties: first})
	}
	ready(t, n, s)
	longest := len(secondValues["compression"])
	for from := 0; from < longest; from += parents {
		retune(t, n, s, func(i int) map[string]string { return valuesAt(from + i) })
		if from == 0 { // as the CSI driver would create them; they stay for all values
			for _, d := range s.Spec.Datasets {
				run(t, "zfs", "create", "-o", "mountpoint=legacy", d.Name+"/running")
			}
		}
		wantAll(t, s, from)
	}
	retune(t, n, s, func(int) map[string]string {
		back := map[string]string{}
		for _, p := range first {
			back[p.Name] = p.Value
		}
		return back
	})
	wantBack(t, s)
}

// valuesAt is a value of each property; properties with fewer values repeat them.
func valuesAt(i int) map[string]string {
	out := map[string]string{}
	for name, values := range secondValues {
		out[name] = values[i%len(values)]
	}
	return out
}

func retune(t *testing.T, n *agent.Node, s *v1alpha1.PgNodeStorage, values func(parent int) map[string]string) {
	t.Helper()
	s.Generation++
	for i := range s.Spec.Datasets {
		for name, value := range values(i) {
			s.Spec.Datasets[i].Properties = set(s.Spec.Datasets[i].Properties, name, value)
		}
	}
	ready(t, n, s)
}

// wantAll checks each value that is tried for the first time: at the parent, in
// status and in the running volume.
func wantAll(t *testing.T, s *v1alpha1.PgNodeStorage, from int) {
	t.Helper()
	seen := read(t, "tuned")
	for i, d := range s.Spec.Datasets {
		for _, p := range d.Properties {
			if from+i >= len(secondValues[p.Name]) {
				continue
			}
			t.Run(p.Name+"="+p.Value, func(t *testing.T) {
				wantApplied(t, seen, s.Status.Datasets[i], p)
			})
		}
	}
}

func wantApplied(t *testing.T, seen map[string]map[string]string, status v1alpha1.ObservedDataset, p v1alpha1.ZFSProperty) {
	t.Helper()
	value := p.Value
	if other, ok := printed[p.Name+"="+p.Value]; ok {
		value = other
	}
	if got := seen[status.Name][p.Name]; got != value+" local" {
		t.Errorf("%s has %q, want %q", status.Name, got, value+" local")
	}
	if got := observed(status.Properties, p.Name); got != value+" local" {
		t.Errorf("status has %q, want %q", got, value+" local")
	}
	got := seen[status.Name+"/running"][p.Name]
	if own(p.Name) && got != "0 default" || !own(p.Name) && got != value+" inherited from "+status.Name {
		t.Errorf("the volume has %q", got)
	}
}

func observed(list []v1alpha1.ObservedProperty, name string) string {
	for _, p := range list {
		if p.Name == name {
			return p.Value + " " + p.Source
		}
	}
	return ""
}

// wantBack checks values that the profile no longer has: the manager renders their default, and
// the agent restores it everywhere.
func wantBack(t *testing.T, s *v1alpha1.PgNodeStorage) {
	t.Helper()
	seen := read(t, "tuned")
	for _, p := range s.Spec.Datasets[0].Properties {
		t.Run(p.Name+" taken back", func(t *testing.T) {
			value := p.Value
			if other, ok := printed[p.Name+"="+p.Value]; ok {
				value = other
			}
			for dataset, properties := range seen {
				if got, _, _ := strings.Cut(properties[p.Name], " "); dataset != "tuned" && got != value {
					t.Errorf("%s has %q, want %q", dataset, properties[p.Name], value)
				}
			}
		})
	}
	if len(s.Status.Volumes) == 0 {
		t.Error("status lists no volume")
	}
	for _, v := range s.Status.Volumes {
		if len(v.Differs) > 0 {
			t.Errorf("%s differs: %+v", v.Name, v.Differs)
		}
	}
}

func TestPoolPropertiesTakeEveryValue(t *testing.T) {
	long.Skip(t, "make test-vm")
	erase(t, "tuned", 0)
	n, _ := newAgent(nil)
	s := declared("tuned", madeOf(v1alpha1.VdevStripe, 0))
	s.Spec.Pool.Properties = set(s.Spec.Pool.Properties, "compatibility", "off")
	ready(t, n, s)
	for _, tc := range []struct{ name, value string }{
		{"autotrim", "on"}, {"autotrim", "off"}, {"failmode", "continue"}, {"failmode", "panic"}, {"failmode", "wait"},
		{"compatibility", "openzfs-2.1-linux"}, {"compatibility", "openzfs-2.0-linux,openzfs-2.1-linux"},
		{"compatibility", "legacy"}, {"compatibility", "off"},
	} {
		t.Run(tc.name+"="+tc.value, func(t *testing.T) {
			s.Generation++
			s.Spec.Pool.Properties = set(s.Spec.Pool.Properties, tc.name, tc.value)
			ready(t, n, s)
			got := run(t, "zpool", "get", "-Hp", "-o", "value", tc.name, "tuned")
			inStatus, _, _ := strings.Cut(observed(s.Status.Pool.Properties, tc.name), " ")
			if got != tc.value || inStatus != tc.value {
				t.Errorf("pool has %q, status %q, want %q", got, inStatus, tc.value)
			}
		})
	}
}

// Only the labels have the value that a pool was created with.
func TestAshiftIsReadFromTheVdev(t *testing.T) {
	long.Skip(t, "make test-vm")
	for _, ashift := range []int32{9, 13, 16} {
		t.Run(fmt.Sprint(ashift), func(t *testing.T) {
			erase(t, "shifted", 0)
			n, _ := newAgent(nil)
			s := declared("shifted", madeOf(v1alpha1.VdevStripe, 0))
			s.Spec.Pool.Create.Ashift = &ashift
			s.Spec.Pool.Properties = set(s.Spec.Pool.Properties, "compatibility", "openzfs-2.1-linux")
			ready(t, n, s)
			if label := run(t, "zdb", "-l", disk(0)+"-part1"); !strings.Contains(label, fmt.Sprintf("ashift: %d\n", ashift)) {
				t.Errorf("label:\n%s", label)
			}
			if got := observed(s.Status.Pool.Properties, "compatibility"); got != "openzfs-2.1-linux local" {
				t.Errorf("compatibility %q", got)
			}
		})
	}
}

const (
	arcMaxFile = "/sys/module/zfs/parameters/zfs_arc_max"
	arcStats   = "/proc/spl/kstat/zfs/arcstats"
)

// arcMax is the limit that the module applies.
func arcMax(t *testing.T) string {
	t.Helper()
	stats, err := os.ReadFile(arcStats)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(stats)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "c_max" {
			return f[2]
		}
	}
	t.Fatal("no c_max")
	return ""
}

// keepARCMax restores the limit after a test.
func keepARCMax(t *testing.T) {
	t.Helper()
	before := arcMax(t)
	t.Cleanup(func() {
		if err := os.WriteFile(arcMaxFile, []byte(before), 0o600); err != nil {
			t.Error(err)
		}
	})
}

func TestZFSAppliesARCMax(t *testing.T) {
	erase(t, "tuned", 0)
	keepARCMax(t)
	n, _ := newAgent(nil)
	s := declared("tuned", madeOf(v1alpha1.VdevStripe, 0))
	ready(t, n, s)
	for _, mib := range []int64{256, 512, 300} {
		t.Run(fmt.Sprintf("%dMi", mib), func(t *testing.T) {
			s.Generation++
			s.Spec.ARCMax = resource.NewQuantity(mib<<20, resource.BinarySI)
			ready(t, n, s)
			if got := arcMax(t); got != fmt.Sprint(mib<<20) || s.Status.ARC.Max.Value() != mib<<20 {
				t.Errorf("c_max %s, status %s", got, s.Status.ARC.Max)
			}
		})
	}
}

// refusals are values that the API accepts and this node does not.
var refusals = []struct {
	name   string
	change func(*v1alpha1.PgNodeStorageSpec)
	// says is what the message must contain.
	says []string
}{
	{"blake3 before 2.2", dataProperty("checksum", "blake3"), []string{"r/pgdata", "checksum=blake3", "needs ZFS 2.2.0", "node has zfs-2.1."}},
	{"small blocks of 256k before 2.2", dataProperty("special_small_blocks", "262144"), []string{"r/pgdata", "special_small_blocks=262144", "needs ZFS 2.2.0"}},
	{"small blocks of 1M before 2.2", dataProperty("special_small_blocks", "1048576"), []string{"special_small_blocks=1048576", "needs ZFS 2.2.0"}},
	{"a reservation that the pool has no room for", dataProperty("reservation", "107374182400"), []string{"r/pgdata", "reservation=107374182400", "greater than available space"}},
	{"a feature set that the node does not know", func(s *v1alpha1.PgNodeStorageSpec) {
		s.Pool.Properties = set(s.Pool.Properties, "compatibility", "freebsd-99")
	}, []string{"compatibility=freebsd-99", "r: "}},
	{"an ARC larger than memory", func(s *v1alpha1.PgNodeStorageSpec) { s.ARCMax = resource.NewQuantity(1<<42, resource.BinarySI) },
		[]string{"arcMax of 4398046511104 bytes", "less than the node's memory"}},
	{"an ARC below its least", func(s *v1alpha1.PgNodeStorageSpec) { s.ARCMax = resource.NewQuantity(1<<20, resource.BinarySI) },
		[]string{"arcMax of 1048576 bytes", "64Mi"}},
}

func dataProperty(name, value string) func(*v1alpha1.PgNodeStorageSpec) {
	return func(s *v1alpha1.PgNodeStorageSpec) {
		s.Datasets[0].Properties = set(s.Datasets[0].Properties, name, value)
	}
}

// The agent names a value that the node does not take. The property keeps its value, and
// everything else that is declared is applied.
func TestRefusedPropertyIsNamed(t *testing.T) {
	long.Skip(t, "make test-vm")
	erase(t, "r", 0)
	keepARCMax(t)
	n, _ := newAgent(nil)
	first := declared("r", madeOf(v1alpha1.VdevStripe, 0))
	ready(t, n, first)
	for _, tc := range refusals {
		t.Run(tc.name, func(t *testing.T) {
			s := declared("r", nil)
			s.Generation, s.Status = first.Generation+1, first.Status
			ready(t, n, s)
			before, arc := allOf(t, "r"), arcMax(t)
			s.Generation++
			tc.change(&s.Spec)
			dataProperty("compression", "gzip")(&s.Spec)
			s.Spec.Datasets[1].Properties = set(s.Spec.Datasets[1].Properties, "compression", "zle")
			s.Spec.Pool.Properties = set(s.Spec.Pool.Properties, "failmode", "continue")
			wantRefused(t, n, s, tc.says)
			want := strings.NewReplacer("r/pgdata compression=lz4", "r/pgdata compression=gzip", "r/pgwal compression=lz4", "r/pgwal compression=zle", "r failmode wait", "r failmode continue").Replace(before)
			if after := allOf(t, "r"); after != want || arcMax(t) != arc {
				t.Errorf("properties are\n%s\nwant\n%s\nARC limit %s, want %s", after, want, arcMax(t), arc)
			}
		})
	}
}

// wantRefused runs several passes: the refusal stays, with the same message.
func wantRefused(t *testing.T, n *agent.Node, s *v1alpha1.PgNodeStorage, parts []string) {
	t.Helper()
	var last string
	for i := range 2 {
		pass(t, n, s)
		message := says(t, s, v1alpha1.ConditionPropertiesApplied, metav1.ConditionFalse, v1alpha1.ReasonPropertyRefused)
		for _, part := range parts {
			if !strings.Contains(message, part) {
				t.Errorf("the message lacks %q: %s", part, message)
			}
		}
		if i == 1 && strings.Contains(message, "refused, so") && message != last {
			t.Errorf("the message changed:\n%s\n%s", last, message)
		}
		last = message
	}
	says(t, s, v1alpha1.ConditionPoolReady, metav1.ConditionTrue, v1alpha1.ReasonPoolOnline)
	says(t, s, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonPropertyRefused)
	says(t, s, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonPropertyRefused)
}

// allOf has the properties of a pool and its datasets, one a line.
func allOf(t *testing.T, pool string) string {
	t.Helper()
	var lines []string
	for dataset, properties := range read(t, pool) {
		for name, value := range properties {
			v, _, _ := strings.Cut(value, " ")
			lines = append(lines, dataset+" "+name+"="+v)
		}
	}
	lines = append(lines, strings.Split(strings.ReplaceAll(run(t, "zpool", "get", "-Hp", "-o", "name,property,value", "autotrim,failmode,compatibility", pool), "\t", " "), "\n")...)
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// The agent creates a dataset without a value that this version does not take, rather than not
// at all.
func TestDatasetIsCreatedWithoutARefusedProperty(t *testing.T) {
	erase(t, "r", 0)
	n, _ := newAgent(nil)
	s := declared("r", madeOf(v1alpha1.VdevStripe, 0))
	dataProperty("checksum", "blake3")(&s.Spec)
	pass(t, n, s)
	wantRefused(t, n, s, []string{"r/pgdata", "checksum=blake3", "needs ZFS 2.2.0"})
	if seen := read(t, "r"); seen["r/pgdata"]["checksum"] != "on default" || seen["r/pgdata"]["recordsize"] != "8192 local" || seen["r/pgwal"]["recordsize"] != "32768 local" {
		t.Errorf("properties %v", seen)
	}
}

// The status lists a volume with values of its own, and the agent does not change it.
func TestDifferentVolumeIsReportedAndUnchanged(t *testing.T) {
	erase(t, "made", 0)
	n, _ := newAgent(nil)
	s := declared("made", madeOf(v1alpha1.VdevStripe, 0))
	ready(t, n, s)
	run(t, "zfs", "create", "-o", "mountpoint=legacy", "made/pgdata/like")
	run(t, "zfs", "create", "-o", "mountpoint=legacy", "-o", "recordsize=16k", "-o", "quota=100M", "made/pgdata/other")
	run(t, "zfs", "create", "-s", "-V", "16M", "-o", "volblocksize=16k", "-o", "compression=zstd", "made/pgwal/block")
	run(t, "zfs", "create", "-V", "16M", "-o", "volblocksize=16k", "made/pgwal/thick")
	ready(t, n, s)
	want := map[string]string{
		"made/pgdata/like":  "Filesystem 8192 0 ",
		"made/pgdata/other": "Filesystem 16384 0  recordsize=16384 (local)",
		"made/pgwal/block":  "Volume 0 16384 Thin compression=zstd (local)",
		"made/pgwal/thick":  "Volume 0 16384 Thick",
	}
	got := map[string]string{}
	for _, v := range s.Status.Volumes {
		text := fmt.Sprintf("%s %d %d %s", v.Type, v.Recordsize, v.Volblocksize, v.Provisioning)
		for _, p := range v.Differs {
			text += fmt.Sprintf(" %s=%s (%s)", p.Name, p.Value, p.Source)
		}
		got[v.Name] = text
	}
	if !maps.Equal(got, want) || *s.Status.VolumeCount != 4 {
		t.Errorf("volumes %v, want %v", got, want)
	}
	if value := run(t, "zfs", "get", "-Hp", "-o", "value,source", "recordsize", "made/pgdata/other"); value != "16384\tlocal" {
		t.Errorf("recordsize of the volume is now %q", value)
	}
}
