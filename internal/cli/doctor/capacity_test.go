package doctor

import (
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestCapacityOfDatasets(t *testing.T) {
	reports := func(class, amount string) storagev1.CSIStorageCapacity {
		q := resource.MustParse(amount)
		return storagev1.CSIStorageCapacity{StorageClassName: class, Capacity: &q}
	}
	for _, tc := range []struct {
		name    string
		change  func(*Facts)
		reports []storagev1.CSIStorageCapacity
		failed  bool
	}{
		{"room on one of two nodes", nil, []storagev1.CSIStorageCapacity{reports("zfs-nvme", "0"), reports("zfs-nvme", "10Gi")}, false},
		{"no room on any", nil, []storagev1.CSIStorageCapacity{reports("zfs-nvme", "0"), {StorageClassName: "zfs-nvme"}}, true},
		{"nothing reported yet", nil, []storagev1.CSIStorageCapacity{reports("other", "0")}, false},
		{"the scheduler does not ask", func(f *Facts) { f.Drivers[0].Spec.StorageCapacity = new(false) }, []storagev1.CSIStorageCapacity{reports("zfs-nvme", "0")}, false},
		{"the pool is full", func(f *Facts) { f.Storages[0].Status.Pool.UsedPercent = new(int32(99)) }, []storagev1.CSIStorageCapacity{reports("zfs-nvme", "0")}, false},
		{"no pool yet", func(f *Facts) { f.Storages[0].Status.Pool = nil }, []storagev1.CSIStorageCapacity{reports("zfs-nvme", "0")}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := healthy(t)
			f.Drivers[0].Spec.StorageCapacity = new(true)
			f.Capacities = tc.reports
			if tc.change != nil {
				tc.change(&f)
			}
			var found []Finding
			for _, finding := range Check(f, book(t)) {
				if finding.Level == Failure {
					found = append(found, finding)
				}
			}
			if failed := len(found) == 1 && found[0].Subject == "StorageClass zfs-nvme"; failed != tc.failed || len(found) > 1 {
				t.Errorf("failures %+v", found)
			}
		})
	}
}
