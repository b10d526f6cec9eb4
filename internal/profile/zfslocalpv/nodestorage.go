package zfslocalpv

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	v1alpha1ac "github.com/pgstorage/pgstorage/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/naming"
)

// nodeStorage is everything that a node's agent has to make true.
func nodeStorage(p *v1alpha1.PgStorageProfile, node string) *v1alpha1ac.PgNodeStorageApplyConfiguration {
	z := p.Spec.ZFSLocalPV
	spec := v1alpha1ac.PgNodeStorageSpec().
		WithNodeName(node).
		WithProfile(p.Name).
		WithPool(nodePool(z.Pool)).
		WithDatasets(
			dataset(naming.DataDataset(z.Pool.Name), z.Data.ZFSDatasetProperties, z.Data.Secondarycache, property("recordsize", exact(string(z.Data.Recordsize)))),
			dataset(naming.WALDataset(z.Pool.Name), z.WAL.ZFSDatasetProperties, z.WAL.Secondarycache, property("recordsize", exact(string(z.WAL.Recordsize)))),
		).
		WithDriftPolicy(z.DriftPolicy)
	if z.Block != nil {
		spec.WithDatasets(dataset(naming.BlockDataset(z.Pool.Name), z.Block.ZFSDatasetProperties, z.Block.Secondarycache))
	}
	if z.ARCMax != nil {
		spec.WithARCMax(*z.ARCMax)
	}
	return v1alpha1ac.PgNodeStorage(naming.NodeStorage(p.Name, node)).
		WithLabels(naming.ProfileLabels(p.Name, string(p.UID))).
		WithSpec(spec)
}

func nodePool(pool v1alpha1.ZFSPool) *v1alpha1ac.NodePoolApplyConfiguration {
	out := v1alpha1ac.NodePool().
		WithName(pool.Name).
		WithProperties(property("autotrim", pool.Autotrim), property("failmode", pool.Failmode))
	if pool.Compatibility != "" {
		out.WithProperties(property("compatibility", pool.Compatibility))
	}
	if pool.HeadroomPercent != nil {
		out.WithHeadroomPercent(*pool.HeadroomPercent)
	}
	if pool.Create != nil {
		out.WithCreate(poolCreate(*pool.Create))
	}
	return out
}

func poolCreate(c v1alpha1.ZFSPoolCreate) *v1alpha1ac.ZFSPoolCreateApplyConfiguration {
	out := v1alpha1ac.ZFSPoolCreate().
		WithVdevs(vdevs(c.Vdevs)...).
		WithLogs(vdevs(c.Logs)...).
		WithCaches(vdevs(c.Caches)...).
		WithSpecial(vdevs(c.Special)...)
	if c.Ashift != nil {
		out.WithAshift(*c.Ashift)
	}
	return out
}

func vdevs(in []v1alpha1.ZFSVdev) []*v1alpha1ac.ZFSVdevApplyConfiguration {
	var out []*v1alpha1ac.ZFSVdevApplyConfiguration
	for _, v := range in {
		vdev := v1alpha1ac.ZFSVdev().WithType(v.Type)
		for _, d := range v.Devices {
			device := v1alpha1ac.ZFSDevice().WithPath(d.Path)
			if d.Wipe != nil {
				device.WithWipe(*d.Wipe)
			}
			vdev.WithDevices(device)
		}
		if v.Selector != nil {
			vdev.WithSelector(selector(*v.Selector))
		}
		out = append(out, vdev)
	}
	return out
}

func selector(s v1alpha1.ZFSDeviceSelector) *v1alpha1ac.ZFSDeviceSelectorApplyConfiguration {
	out := v1alpha1ac.ZFSDeviceSelector().WithCount(s.Count)
	if s.MinSize != nil {
		out.WithMinSize(*s.MinSize)
	}
	if s.MaxSize != nil {
		out.WithMaxSize(*s.MaxSize)
	}
	if s.Model != "" {
		out.WithModel(s.Model)
	}
	if s.Transport != "" {
		out.WithTransport(s.Transport)
	}
	return out
}

// dataset renders every property, also those at ZFS' default, so that taking one
// out of the profile sets it back.
func dataset(name string, d v1alpha1.ZFSDatasetProperties, secondarycache string, more ...*v1alpha1ac.ZFSPropertyApplyConfiguration) *v1alpha1ac.NodeDatasetApplyConfiguration {
	return v1alpha1ac.NodeDataset().WithName(name).WithProperties(append(more,
		property("compression", d.Compression),
		property("atime", d.Atime),
		property("relatime", d.Relatime),
		property("logbias", d.Logbias),
		property("primarycache", d.Primarycache),
		property("secondarycache", secondarycache),
		property("xattr", d.Xattr),
		property("dnodesize", d.Dnodesize),
		property("redundant_metadata", d.RedundantMetadata),
		property("checksum", d.Checksum),
		property("sync", d.Sync),
		property("special_small_blocks", exact(d.SpecialSmallBlocks)),
		property("dedup", d.Dedup),
		property("quota", amount(d.Quota)),
		property("reservation", amount(d.Reservation)),
	)...)
}

func property(name, value string) *v1alpha1ac.ZFSPropertyApplyConfiguration {
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
