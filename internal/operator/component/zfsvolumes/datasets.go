package zfsvolumes

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	v1alpha1ac "github.com/pgstorage/pgstorage/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// NodeStorage is what a node's agent has to make true whatever the devices are:
// the parent datasets with every property. The kind adds the pool.
func (s Storage) NodeStorage(node string, data v1alpha1.ZFSDataDataset, wal v1alpha1.ZFSWALDataset, drift v1alpha1.DriftPolicy, arcMax *resource.Quantity) *v1alpha1ac.PgNodeStorageSpecApplyConfiguration {
	spec := v1alpha1ac.PgNodeStorageSpec().
		WithNodeName(node).
		WithProfile(s.Profile.Name).
		WithDatasets(
			dataset(naming.DataDataset(s.Pool), data.ZFSDatasetProperties, data.Secondarycache, Property("recordsize", exact(string(data.Recordsize)))),
			dataset(naming.WALDataset(s.Pool), wal.ZFSDatasetProperties, wal.Secondarycache, Property("recordsize", exact(string(wal.Recordsize)))),
		).
		WithDriftPolicy(drift)
	if s.Block != nil {
		spec.WithDatasets(dataset(naming.BlockDataset(s.Pool), s.Block.ZFSDatasetProperties, s.Block.Secondarycache))
	}
	if arcMax != nil {
		spec.WithARCMax(*arcMax)
	}
	return spec
}

// BlockStorage is [Storage.NodeStorage] of zvols alone.
func (s Storage) BlockStorage(node string, drift v1alpha1.DriftPolicy, arcMax *resource.Quantity) *v1alpha1ac.PgNodeStorageSpecApplyConfiguration {
	spec := v1alpha1ac.PgNodeStorageSpec().
		WithNodeName(node).
		WithProfile(s.Profile.Name).
		WithDatasets(dataset(naming.BlockDataset(s.Pool), s.Block.ZFSDatasetProperties, s.Block.Secondarycache)).
		WithDriftPolicy(drift)
	if arcMax != nil {
		spec.WithARCMax(*arcMax)
	}
	return spec
}

// Object is the PgNodeStorage with its spec.
func (s Storage) Object(node string, spec *v1alpha1ac.PgNodeStorageSpecApplyConfiguration) *v1alpha1ac.PgNodeStorageApplyConfiguration {
	return v1alpha1ac.PgNodeStorage(naming.NodeStorage(s.Profile.Name, node)).
		WithLabels(naming.ProfileLabels(s.Profile.Name, string(s.Profile.UID))).
		WithSpec(spec)
}

// Device by its path.
func Device(d v1alpha1.ZFSDevice) *v1alpha1ac.ZFSDeviceApplyConfiguration {
	out := v1alpha1ac.ZFSDevice().WithPath(d.Path)
	if d.Serial != "" {
		out.WithSerial(d.Serial)
	}
	if d.Wipe != nil {
		out.WithWipe(*d.Wipe)
	}
	return out
}

// dataset renders every property, also those at ZFS' default, so that taking one
// out of the profile sets it back.
func dataset(name string, d v1alpha1.ZFSDatasetProperties, secondarycache string, more ...*v1alpha1ac.ZFSPropertyApplyConfiguration) *v1alpha1ac.NodeDatasetApplyConfiguration {
	return v1alpha1ac.NodeDataset().WithName(name).WithProperties(append(more,
		Property("compression", d.Compression),
		Property("atime", d.Atime),
		Property("relatime", d.Relatime),
		Property("logbias", d.Logbias),
		Property("primarycache", d.Primarycache),
		Property("secondarycache", secondarycache),
		Property("xattr", d.Xattr),
		Property("dnodesize", d.Dnodesize),
		Property("redundant_metadata", d.RedundantMetadata),
		Property("checksum", d.Checksum),
		Property("sync", d.Sync),
		Property("special_small_blocks", exact(d.SpecialSmallBlocks)),
		Property("dedup", d.Dedup),
		Property("quota", amount(d.Quota)),
		Property("reservation", amount(d.Reservation)),
	)...)
}

// Property in ZFS' own words.
func Property(name, value string) *v1alpha1ac.ZFSPropertyApplyConfiguration {
	return v1alpha1ac.ZFSProperty().WithName(name).WithValue(value)
}

// amount in bytes, or none.
func amount(q *resource.Quantity) string {
	if q == nil {
		return "none"
	}
	return strconv.FormatInt(q.Value(), 10)
}

// exact turns a block size that admission has checked into bytes: 8k is 8192.
func exact(size string) string {
	units := map[byte]int64{'k': 1 << 10, 'M': 1 << 20}
	factor, ok := units[size[len(size)-1]]
	if !ok {
		return size
	}
	n, err := strconv.ParseInt(strings.TrimRight(size, "kM"), 10, 64)
	if err != nil {
		return size
	}
	return strconv.FormatInt(n*factor, 10)
}

// Bytes of a block size that admission has checked.
func Bytes[T ~string](size T) int64 {
	if size == "" {
		return 0
	}
	n, err := strconv.ParseInt(exact(string(size)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
