package s3nbd

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
	v1alpha1ac "github.com/pgstorage/pgstorage/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/component/nbdserver"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// nodeStorage is everything that a node's agent has to make true.
func nodeStorage(s zfsvolumes.Storage, facts observed.Profile, node string) *v1alpha1ac.PgNodeStorageApplyConfiguration {
	n := s.Profile.Spec.S3NBD
	return s.Object(node, s.NodeStorage(node, n.Data, n.WAL, n.DriftPolicy, n.ARCMax).
		WithPool(s.Known(nodePool(n.Pool), facts, node)).
		WithNetworkDevices(networkDevices(s.Profile, node)))
}

// nodePool has no cachefile: a boot must not import the pool before its devices
// are attached.
func nodePool(pool v1alpha1.S3NBDPool) *v1alpha1ac.NodePoolApplyConfiguration {
	out := v1alpha1ac.NodePool().
		WithName(pool.Name).
		WithProperties(
			zfsvolumes.Property("autotrim", pool.Autotrim),
			zfsvolumes.Property("failmode", pool.Failmode),
			zfsvolumes.Property("cachefile", "none"),
		)
	if pool.HeadroomPercent != nil {
		out.WithHeadroomPercent(*pool.HeadroomPercent)
	}
	return out
}

func networkDevices(p *v1alpha1.PgStorageProfile, node string) *v1alpha1ac.NodeNetworkDevicesApplyConfiguration {
	n := p.Spec.S3NBD
	out := v1alpha1ac.NodeNetworkDevices().
		WithLayout(v1alpha1.ZFSVdevType(n.Layout)).
		WithExports(exports(n)...).
		WithExportSize(n.Devices.Size).
		WithOnServerLost(n.OnServerLost)
	if timeout := requestTimeout(n); timeout != "" {
		out.WithRequestTimeout(timeout)
	}
	if n.Pool.Ashift != nil {
		out.WithAshift(*n.Pool.Ashift)
	}
	for _, store := range n.Stores {
		out.WithServers(v1alpha1ac.NodeServer().
			WithName(store.Name).
			WithURL(nbdserver.URL(store, p.Name, node)).
			WithDirectory(naming.ServerDirectory(p.Name, store.Name)))
	}
	if n.L2ARC != nil {
		out.WithCaches(zfsvolumes.Device(n.L2ARC.Device))
	}
	if n.SLOG != nil {
		for _, d := range n.SLOG.Devices {
			out.WithLogs(zfsvolumes.Device(d))
		}
	}
	return out
}

// mirrorTimeout is long enough for a relay to restart its ZeroFS. It is short enough
// for the other legs of the mirror to serve before clients time out.
const mirrorTimeout = "60s"

// requestTimeout of the devices; empty: they wait indefinitely, as those of a stripe
// must.
func requestTimeout(n *v1alpha1.S3NBDProfile) string {
	switch {
	case n.Layout != v1alpha1.S3NBDMirror:
		return ""
	case n.RequestTimeout == "":
		return mirrorTimeout
	}
	return n.RequestTimeout
}
