package zfsvolumes

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
	v1alpha1ac "github.com/pgstorage/pgstorage/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// NodePool is a pool of disks, with its layout where it is to be made.
func NodePool(pool v1alpha1.ZFSPool) *v1alpha1ac.NodePoolApplyConfiguration {
	out := v1alpha1ac.NodePool().
		WithName(pool.Name).
		WithProperties(Property("autotrim", pool.Autotrim), Property("failmode", pool.Failmode))
	if pool.Compatibility != "" {
		out.WithProperties(Property("compatibility", pool.Compatibility))
	}
	if pool.HeadroomPercent != nil {
		out.WithHeadroomPercent(*pool.HeadroomPercent)
	}
	if pool.Create != nil {
		out.WithCreate(poolCreate(*pool.Create))
	}
	return out
}

// Known adds to a pool what the profile must remember. That is the pool that the node
// had, where its PgNodeStorage lost it, and the pools that an administrator abandoned.
func (s Storage) Known(pool *v1alpha1ac.NodePoolApplyConfiguration, facts observed.Profile, node string) *v1alpha1ac.NodePoolApplyConfiguration {
	if guid := profile.PoolGUID(s.Profile, s.Abandoned, facts.Storages, node); guid != "" {
		pool.WithGUID(guid)
	}
	return pool.WithAbandonedGUIDs(s.Abandoned...)
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
			vdev.WithDevices(Device(d))
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
