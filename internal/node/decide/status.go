package decide

import (
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
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

// absentPool is what the status keeps of an absent pool. Its GUID distinguishes it from another
// pool of its name, and everything else would be out of date.
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

// steady keeps an old percentage that the new one is next to: it goes up and down
// between two.
func steady(old, now *int32) *int32 {
	if old != nil && now != nil && max(*old-*now, *now-*old) <= 1 {
		return old
	}
	return now
}
