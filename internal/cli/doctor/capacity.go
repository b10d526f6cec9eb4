package doctor

import (
	"slices"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
)

// capacity checks whether the scheduler finds room for the volumes of a profile. zfs-localpv
// before 2.0.0 reports none for a dataset below a pool (zfs-localpv issue 392), and no pod
// with a new volume is scheduled then. What it reports decides, not its version, which a
// vendor may patch.
func (c *checker) capacity(p v1alpha1.PgStorageProfile) {
	if p.Spec.CephRBD != nil || !c.hasPool(p) || !slices.ContainsFunc(c.facts.Drivers, counted) {
		return
	}
	class, reported := naming.DataClass(p.Name), 0
	for _, r := range c.facts.Capacities {
		if r.StorageClassName != class {
			continue
		}
		reported++
		if r.Capacity != nil && r.Capacity.Sign() > 0 {
			c.ok("StorageClass "+class, "the driver reports room for volumes")
			return
		}
	}
	if reported > 0 {
		c.add(Failure, "StorageClass "+class, zfsvolumes.Driver+" reports no room on any node, so no pod with a new volume is scheduled",
			"upgrade zfs-localpv to 2.0.0 or newer, or set spec.storageCapacity of the CSIDriver to false", "docs/tutorial-zfs.md")
	}
}

// counted reports whether the scheduler uses what zfs-localpv reports.
func counted(d storagev1.CSIDriver) bool {
	return d.Name == zfsvolumes.Driver && d.Spec.StorageCapacity != nil && *d.Spec.StorageCapacity
}

// hasPool reports whether a pool of a profile is not full.
func (c *checker) hasPool(p v1alpha1.PgStorageProfile) bool {
	return slices.ContainsFunc(c.facts.Storages, func(s v1alpha1.PgNodeStorage) bool {
		return s.Spec.Profile == p.Name && s.Status.Pool != nil && countOf(s.Status.Pool.UsedPercent) < 95
	})
}
