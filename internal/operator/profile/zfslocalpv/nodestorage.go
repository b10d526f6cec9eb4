package zfslocalpv

import (
	v1alpha1ac "github.com/pgstorage/pgstorage/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// nodeStorage is everything that a node's agent has to make true.
func nodeStorage(s zfsvolumes.Storage, facts observed.Profile, node string) *v1alpha1ac.PgNodeStorageApplyConfiguration {
	z := s.Profile.Spec.ZFSLocalPV
	return s.Object(node, s.NodeStorage(node, z.Data, z.WAL, z.DriftPolicy, z.ARCMax).WithPool(s.Known(zfsvolumes.NodePool(z.Pool), facts, node)))
}
