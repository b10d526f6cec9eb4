package decide

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

func datasets(s *v1alpha1.PgNodeStorage, seen Seen, size uint64) []v1alpha1.ObservedDataset {
	var out []v1alpha1.ObservedDataset
	for _, want := range s.Spec.Datasets {
		have := seen.dataset(want.Name)
		if have == nil {
			continue
		}
		last := v1alpha1.ObservedDataset{}
		if i := slices.IndexFunc(s.Status.Datasets, func(d v1alpha1.ObservedDataset) bool { return d.Name == want.Name }); i >= 0 {
			last = s.Status.Datasets[i]
		}
		d := v1alpha1.ObservedDataset{
			Name:            want.Name,
			Used:            settle(last.Used, have.Bytes("used"), size),
			Available:       settle(last.Available, have.Bytes("available"), size),
			UsedBySnapshots: settle(last.UsedBySnapshots, snapshotsBeneath(want.Name, seen), size),
		}
		for _, p := range want.Properties {
			d.Properties = append(d.Properties, v1alpha1.ObservedProperty{Name: p.Name, Value: have.Properties[p.Name].Value, Source: have.Properties[p.Name].Source})
		}
		out = append(out, d)
	}
	return out
}

func snapshotsBeneath(parent string, seen Seen) uint64 {
	var sum uint64
	for _, d := range seen.Datasets {
		if d.Name == parent || strings.HasPrefix(d.Name, parent+"/") {
			sum += d.Bytes("usedbysnapshots")
		}
	}
	return sum
}

// volumes that are listed of the children of the declared parents, and how many there
// are.
func volumes(s *v1alpha1.PgNodeStorage, seen Seen, size uint64) ([]v1alpha1.ObservedVolume, *int32) {
	before := map[string]v1alpha1.ObservedVolume{}
	for _, v := range s.Status.Volumes {
		before[v.Name] = v
	}
	var all []v1alpha1.ObservedVolume
	for _, want := range s.Spec.Datasets {
		for _, d := range children(s, seen, want.Name) {
			all = append(all, volume(d, want, before[d.Name], size))
		}
	}
	count := int32(min(len(all), math.MaxInt32))
	return listed(all, s.Status.Volumes), &count
}

// children of a declared parent, except declared parents.
func children(s *v1alpha1.PgNodeStorage, seen Seen, parent string) []zfs.Dataset {
	var out []zfs.Dataset
	for _, d := range seen.Datasets {
		child, beneath := strings.CutPrefix(d.Name, parent+"/")
		if beneath && !strings.Contains(child, "/") && !isParent(s, d.Name) {
			out = append(out, d)
		}
	}
	return out
}

// VolumeCount is the number of volumes below the declared parents.
func VolumeCount(s *v1alpha1.PgNodeStorage, seen Seen) int32 {
	n := 0
	for _, want := range s.Spec.Datasets {
		n += len(children(s, seen, want.Name))
	}
	return int32(n)
}

// isParent reports whether a dataset is declared, also where it is below another.
func isParent(s *v1alpha1.PgNodeStorage, name string) bool {
	return slices.ContainsFunc(s.Spec.Datasets, func(d v1alpha1.NodeDataset) bool { return d.Name == name })
}

func volume(d zfs.Dataset, parent v1alpha1.NodeDataset, last v1alpha1.ObservedVolume, size uint64) v1alpha1.ObservedVolume {
	encryption := d.Properties["encryption"].Value
	encrypted := encryption != "off" && encryption != ""
	out := v1alpha1.ObservedVolume{
		Name: d.Name, Type: map[zfs.Kind]string{zfs.Filesystem: "Filesystem", zfs.Volume: "Volume"}[d.Kind],
		Used:            settle(last.Used, d.Bytes("used"), size),
		UsedBySnapshots: settle(last.UsedBySnapshots, d.Bytes("usedbysnapshots"), size),
		Recordsize:      whole(d.Properties["recordsize"]), Volblocksize: whole(d.Properties["volblocksize"]),
		Provisioning: provisioning(d), Encrypted: &encrypted,
	}
	for _, p := range parent.Properties {
		if have, applies := d.Properties[p.Name]; applies && handedDown(p.Name, d) && !zfs.Same(p.Name, p.Value, have.Value) {
			out.Differs = append(out.Differs, v1alpha1.ObservedProperty{Name: p.Name, Value: have.Value, Source: have.Source})
		}
	}
	return out
}

// provisioning of a zvol; a dataset has none.
func provisioning(d zfs.Dataset) string {
	switch {
	case d.Kind != zfs.Volume:
		return ""
	case d.Bytes("refreservation") < d.Bytes("volsize"):
		return "Thin"
	}
	return "Thick"
}

// handedDown says that a volume has to have a property as its parent has it. quota
// and reservation are its own. A mount on Linux turns relatime on, whatever the
// dataset says, which has no effect where times of access are off.
func handedDown(property string, d zfs.Dataset) bool {
	switch property {
	case "quota", "reservation":
		return false
	case "relatime":
		return d.Properties["atime"].Value != "off"
	}
	return true
}

func whole(p zfs.Property) int64 {
	n, err := strconv.ParseInt(p.Value, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
