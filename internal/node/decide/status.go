package decide

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node/blockdev"
	"github.com/pgstorage/pgstorage/internal/node/zfs"
)

// Status is what was read back, in the words of the API. Figures that move by
// themselves are kept from the last status until they moved by 1% of their whole.
func Status(s *v1alpha1.PgNodeStorage, seen Seen, fullAt time.Time) v1alpha1.PgNodeStorageStatus {
	last := s.Status
	out := v1alpha1.PgNodeStorageStatus{
		ObservedGeneration: s.Generation,
		Devices:            first(disks(seen), maxDevices),
	}
	if seen.Network != nil {
		out.NetworkDevices, out.FlushLatency = ObservedDevices(s, seen.Network), flushLatency(last.FlushLatency, seen.Network.FlushLatency)
		out.Servers, out.EstimatedMonthlyStorage = ObservedServers(s, seen.Network), last.EstimatedMonthlyStorage
	}
	if !seen.Loaded {
		out.Pool = absentPool(last.Pool)
		return out
	}
	out.ZFSVersion = &v1alpha1.ZFSVersion{Userland: seen.Version.Userland.Text, Kernel: seen.Version.Kernel.Text}
	out.ARC = arc(seen, last)
	if seen.Pool == nil || replaced(s, seen) {
		out.Pool = absentPool(last.Pool)
		return out
	}
	out.Pool = pool(s, seen, fullAt)
	out.EstimatedMonthlyStorage = monthlyStorage(s, out.Pool)
	if !seen.Serves() {
		out.Datasets, out.Volumes, out.VolumeCount = last.Datasets, last.Volumes, last.VolumeCount
		return out
	}
	size, _ := seen.Pool["size"].Number()
	out.Datasets = datasets(s, seen, size)
	out.Volumes, out.VolumeCount = volumes(s, seen, size)
	return out
}

// absentPool is what is told of a pool that is not there: its GUID tells it from
// another pool of its name, and all else would be old.
func absentPool(last *v1alpha1.ObservedPool) *v1alpha1.ObservedPool {
	if last == nil {
		return nil
	}
	return &v1alpha1.ObservedPool{Name: last.Name, GUID: last.GUID}
}

// settle keeps an old figure that moved by less than 1% of a whole.
func settle(old *resource.Quantity, now, whole uint64) *resource.Quantity {
	if old != nil {
		moved := int64(now) - old.Value() //nolint:gosec // sizes of devices fit
		if max(moved, -moved) < int64(max(whole/100, 1)) {
			q := old.DeepCopy()
			return &q
		}
	}
	return amount(now)
}

func amount(n uint64) *resource.Quantity {
	return resource.NewQuantity(int64(n), resource.BinarySI) //nolint:gosec // sizes of devices fit
}

func arc(seen Seen, last v1alpha1.PgNodeStorageStatus) *v1alpha1.ObservedARC {
	old := v1alpha1.ObservedARC{}
	if last.ARC != nil {
		old = *last.ARC
	}
	a := seen.ARC
	return &v1alpha1.ObservedARC{
		// The ARC breathes; a tenth of its limit is news.
		Size: settle(old.Size, a.Size, a.Max*10), Min: amount(a.Min), Max: amount(a.Max),
		HitPercent:   steady(old.HitPercent, hits(int64(a.Hits), int64(a.Hits+a.Misses))),         //nolint:gosec // counts
		L2HitPercent: steady(old.L2HitPercent, hits(int64(a.L2Hits), int64(a.L2Hits+a.L2Misses))), //nolint:gosec // counts
	}
}

func pool(s *v1alpha1.PgNodeStorage, seen Seen, fullAt time.Time) *v1alpha1.ObservedPool {
	last := s.Status.Pool
	if last == nil {
		last = &v1alpha1.ObservedPool{}
	}
	size, _ := seen.Pool["size"].Number()
	allocated, _ := seen.Pool["allocated"].Number()
	free, _ := seen.Pool["free"].Number()
	out := &v1alpha1.ObservedPool{
		Name: s.Spec.Pool.Name, GUID: seen.Pool["guid"].Value, Health: string(seen.health()),
		Message: said(seen.Status),
		Size:    amount(size), Allocated: settle(last.Allocated, allocated, size), Free: settle(last.Free, free, size),
		FragmentationPercent: steady(last.FragmentationPercent, percent(seen.Pool["fragmentation"])),
		Vdevs:                first(vdevs(seen.Status.Vdevs, 0), maxVdevs),
		Scrub:                &v1alpha1.ObservedScrub{State: string(seen.Status.Scan.State), Text: scanText(seen.Status.Scan)},
	}
	if size > 0 { // that of a faulted pool is 0
		used := int32(out.Allocated.Value() * 100 / int64(size)) //nolint:gosec // at most 100
		out.UsedPercent = &used
	}
	if !fullAt.IsZero() {
		at := metav1.NewTime(fullAt)
		out.FullAt = &at
	}
	for _, p := range s.Spec.Pool.Properties {
		have := seen.Pool[p.Name]
		out.Properties = append(out.Properties, v1alpha1.ObservedProperty{Name: p.Name, Value: have.Value, Source: have.Source})
	}
	return out
}

// steady keeps an old percentage that the new one is next to: it goes up and down
// between two.
func steady(old, now *int32) *int32 {
	if old != nil && now != nil && max(*old-*now, *now-*old) <= 1 {
		return old
	}
	return now
}

// scanText of a scan that runs changes each second; when it began is enough.
func scanText(s zfs.Scan) string {
	if s.State != zfs.ScanInProgress {
		return s.Text
	}
	text := "scrub in progress"
	if s.Resilver {
		text = "resilver in progress"
	}
	if s.At.IsZero() {
		return text
	}
	return fmt.Sprintf("%s since %s", text, s.At.UTC().Format(time.RFC3339))
}

func percent(p zfs.Property) *int32 {
	n, ok := p.Number()
	if !ok || n > 100 {
		return nil
	}
	v := int32(n)
	return &v
}

func vdevs(in []zfs.VdevStatus, depth int32) []v1alpha1.ObservedVdev {
	var out []v1alpha1.ObservedVdev
	for _, v := range in {
		out = append(out, v1alpha1.ObservedVdev{
			Name: v.Name, Depth: depth, Class: string(v.Class), State: string(v.State),
			ReadErrors: int64(v.Read), WriteErrors: int64(v.Write), ChecksumErrors: int64(v.Checksum), //nolint:gosec // counts of errors
		})
		out = append(out, vdevs(v.Children, depth+1)...)
	}
	return out
}

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

// children of a declared parent that are no parents themselves.
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

// VolumeCount is how many volumes there are beneath the declared parents.
func VolumeCount(s *v1alpha1.PgNodeStorage, seen Seen) int32 {
	n := 0
	for _, want := range s.Spec.Datasets {
		n += len(children(s, seen, want.Name))
	}
	return int32(n)
}

// isParent says that a dataset is declared, also where it is beneath another.
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

// contents as lsblk shows them, in words; what else is on a device is probed only
// before it is used.
func contents(d blockdev.Device) string {
	var out []string
	if d.PartitionTable != "" {
		out = append(out, d.PartitionTable+" partition table")
	}
	for _, part := range append([]blockdev.Device{d}, d.Children...) {
		if part.FSType != "" {
			out = append(out, part.FSType)
		}
		for _, m := range part.Mountpoints {
			out = append(out, "mounted at "+m)
		}
	}
	return strings.Join(slices.Compact(out), ", ")
}
