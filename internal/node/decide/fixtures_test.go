package decide

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/blockdev"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

const (
	mib = 1 << 20
	gib = 1 << 30
	tib = 1 << 40
)

// storage is a node's storage that was once found as declared, changed for a test.
func storage(changes ...func(*v1alpha1.PgNodeStorage)) *v1alpha1.PgNodeStorage {
	s := &v1alpha1.PgNodeStorage{
		ObjectMeta: metav1.ObjectMeta{Name: "fast-n1", Generation: 3},
		Spec: v1alpha1.PgNodeStorageSpec{
			NodeName: "n1", Profile: "fast",
			Pool: v1alpha1.NodePool{Name: "tank", Properties: properties("autotrim=on", "failmode=wait"), HeadroomPercent: new(int32(20))},
			Datasets: []v1alpha1.NodeDataset{
				{Name: "tank/pgdata", Properties: properties("recordsize=8k", "compression=lz4", "quota=none")},
				{Name: "tank/pgwal", Properties: properties("recordsize=131072")},
			},
			ARCMax:      quantity("8Gi"),
			DriftPolicy: v1alpha1.DriftRepair,
		},
		Status: v1alpha1.PgNodeStorageStatus{
			Conditions: []metav1.Condition{{Type: v1alpha1.ConditionPropertiesApplied, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonApplied, ObservedGeneration: 3}},
			Pool:       &v1alpha1.ObservedPool{Name: "tank", GUID: "42"},
		},
	}
	for _, change := range changes {
		change(s)
	}
	return s
}

// fresh: nothing was ever read back.
func fresh(s *v1alpha1.PgNodeStorage) { s.Status = v1alpha1.PgNodeStorageStatus{} }

func reports(s *v1alpha1.PgNodeStorage) { s.Spec.DriftPolicy = v1alpha1.DriftReport }

func creates(c v1alpha1.ZFSPoolCreate) func(*v1alpha1.PgNodeStorage) {
	return func(s *v1alpha1.PgNodeStorage) { s.Spec.Pool.Create = &c }
}

// converged is what is read from a node that is as storage() declares, changed for
// a test. 1% of the pool is a GiB.
func converged(changes ...func(*Seen)) Seen {
	seen := Seen{
		Version: zfs.Versions{Userland: zfs.Version{Major: 2, Minor: 2, Text: "zfs-2.2.4-1"}, Kernel: zfs.Version{Major: 2, Minor: 2, Text: "zfs-kmod-2.2.4-1"}},
		Loaded:  true,
		Pool: read("guid=42", "health=ONLINE", "capacity=40", "fragmentation=12", "autotrim=on", "failmode=wait default",
			fmt.Sprintf("size=%d", 100*gib), fmt.Sprintf("allocated=%d", 40*gib), fmt.Sprintf("free=%d", 60*gib)),
		Status: zfs.Status{
			Name: "tank", State: zfs.Online,
			Scan:  zfs.Scan{State: zfs.ScanFinished, Text: "scrub repaired 0B in 00:00:01 with 0 errors on Sat Nov 21 07:30:11 2026"},
			Vdevs: []zfs.VdevStatus{mirror(disk("a"), disk("b"))},
		},
		Datasets: []zfs.Dataset{
			dataset("tank", "used", 40*gib, "available", 55*gib),
			dataset("tank/pgdata", "used", 30*gib, "available", 55*gib, "usedbysnapshots", 1*gib),
			dataset("tank/pgdata/pvc-1", "used", 20*gib, "usedbysnapshots", 4*gib),
			dataset("tank/pgwal", "used", 2*gib, "available", 55*gib, "usedbysnapshots", 0),
		},
		Devices: []blockdev.Device{blank("b", 2*tib), blank("a", 1*tib)},
		ARC:     zfs.ARC{Size: 4 * gib, Min: 1 * gib, Max: 8 * gib},
	}
	owned := []map[string]zfs.Property{
		read("recordsize=8192", "compression=lz4", "quota=0"),
		read("recordsize=8192 inherited from tank/pgdata", "compression=lz4 inherited from tank/pgdata", "quota=1073741824"),
		read("recordsize=131072"),
	}
	for i, own := range owned {
		maps.Copy(seen.Datasets[i+1].Properties, own)
	}
	for _, change := range changes {
		change(&seen)
	}
	return seen
}

// absent pool.
func absent(seen *Seen) {
	seen.Pool, seen.Status, seen.Datasets = nil, zfs.Status{}, nil
}

func unloaded(seen *Seen) { *seen = Seen{Devices: seen.Devices} }

// pool properties as read.
func pools(values ...string) func(*Seen) {
	return func(seen *Seen) { maps.Copy(seen.Pool, read(values...)) }
}

func reported(change func(*zfs.Status)) func(*Seen) {
	return func(seen *Seen) { change(&seen.Status) }
}

func layout(vdevs ...zfs.VdevStatus) func(*Seen) {
	return reported(func(s *zfs.Status) { s.Vdevs = vdevs })
}

// importing gives pools that can be imported, and none that is.
func importing(found ...zfs.Importable) func(*Seen) {
	return func(seen *Seen) {
		absent(seen)
		seen.Importable = found
	}
}

// in a dataset, properties as read.
func in(name string, values ...string) func(*Seen) {
	return func(seen *Seen) { maps.Copy(seen.dataset(name).Properties, read(values...)) }
}

func without(dataset string) func(*Seen) {
	return func(seen *Seen) {
		for i, d := range seen.Datasets {
			if d.Name == dataset {
				seen.Datasets = append(seen.Datasets[:i], seen.Datasets[i+1:]...)
				return
			}
		}
	}
}

// properties of name=value.
func properties(all ...string) []v1alpha1.ZFSProperty {
	var out []v1alpha1.ZFSProperty
	for _, p := range all {
		name, value, _ := strings.Cut(p, "=")
		out = append(out, v1alpha1.ZFSProperty{Name: name, Value: value})
	}
	return out
}

// read properties of "name=value source", the source local where it is left out.
func read(all ...string) map[string]zfs.Property {
	out := map[string]zfs.Property{}
	for _, p := range all {
		name, rest, _ := strings.Cut(p, "=")
		value, source, has := strings.Cut(rest, " ")
		if !has {
			source = "local"
		}
		out[name] = zfs.Property{Value: value, Source: source}
	}
	return out
}

// dataset with figures, by name and value.
func dataset(name string, figures ...any) zfs.Dataset {
	d := zfs.Dataset{Name: name, Kind: zfs.Filesystem, Properties: map[string]zfs.Property{}}
	for i := 0; i < len(figures); i += 2 {
		d.Properties[figures[i].(string)] = zfs.Property{Value: fmt.Sprint(figures[i+1]), Source: "-"}
	}
	return d
}

const byID = "/dev/disk/by-id/"

func blank(name string, size uint64) blockdev.Device {
	return blockdev.Device{Path: byID + name, Kernel: "/dev/" + name, Type: "disk", Size: size, Model: "Disk " + name, Transport: "nvme"}
}

// Parts of a pool as zpool status shows them.

func disk(name string) zfs.VdevStatus {
	return zfs.VdevStatus{Class: zfs.Data, Type: "disk", Name: byID + name, State: zfs.Online}
}

// group of devices, by its type.
type group string

func (g group) of(children ...zfs.VdevStatus) zfs.VdevStatus {
	return zfs.VdevStatus{Class: zfs.Data, Type: string(g), Name: string(g) + "-0", State: zfs.Online, Children: children}
}

func mirror(children ...zfs.VdevStatus) zfs.VdevStatus { return group("mirror").of(children...) }

func class(c zfs.Class, v zfs.VdevStatus) zfs.VdevStatus {
	v.Class = c
	return v
}

// Parts of a pool as they are declared.

func vdev(kind v1alpha1.ZFSVdevType, devices ...string) v1alpha1.ZFSVdev {
	v := v1alpha1.ZFSVdev{Type: kind}
	for _, d := range devices {
		name, wipe := strings.CutSuffix(d, "!") // wiped
		device := v1alpha1.ZFSDevice{Path: byID + name}
		if wipe {
			device.Wipe = new(true)
		}
		v.Devices = append(v.Devices, device)
	}
	return v
}

func selected(kind v1alpha1.ZFSVdevType, s v1alpha1.ZFSDeviceSelector) v1alpha1.ZFSVdev {
	return v1alpha1.ZFSVdev{Type: kind, Selector: &s}
}

func mirrors(devices ...string) v1alpha1.ZFSPoolCreate {
	return v1alpha1.ZFSPoolCreate{Vdevs: []v1alpha1.ZFSVdev{vdev(v1alpha1.VdevMirror, devices...)}}
}

func quantity(text string) *resource.Quantity { return new(resource.MustParse(text)) }

// at is a quantity as status has it.
func at(n int64) *resource.Quantity { return resource.NewQuantity(n, resource.BinarySI) }

// outcome in one line, so that a table shows all of it.
func describe(o outcome.Outcome) string {
	kind := map[outcome.Kind]string{outcome.Done: "done", outcome.Wait: "wait", outcome.Invalid: "invalid"}[o.Kind]
	if o.Unknown {
		kind += " unknown"
	}
	if o.Informative {
		kind += " informative"
	}
	return fmt.Sprintf("%s %s %s: %s", o.Condition, kind, o.Reason, o.Message)
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}
