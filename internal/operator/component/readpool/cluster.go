// Package readpool builds the PgStorageClusters of read pools.
package readpool

import (
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	apiac "github.com/pgstorage/pgstorage/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg/hatch"
)

// Cluster is the PgStorageCluster of a read pool. It has owner labels and no
// ownerReference: garbage collection never takes volumes.
func Cluster(cr *v1alpha1.PgStorageCluster, pool v1alpha1.ReadPool) (*apiac.PgStorageClusterApplyConfiguration, error) {
	spec := apiac.PgStorageClusterSpec()
	if err := plan.Convert(Spec(cr, pool), spec); err != nil {
		return nil, fmt.Errorf("spec.readPools[%s]: %w", pool.Name, err)
	}
	labels := naming.DataBearing(cr.Name, string(cr.UID))
	labels[naming.LabelReadPool] = pool.Name
	return apiac.PgStorageCluster(naming.ReadPool(cr.Name, pool.Name), cr.Namespace).WithLabels(labels).WithSpec(spec), nil
}

// Spec of the PgStorageCluster of a read pool: what the pool sets, else the cluster's.
func Spec(cr *v1alpha1.PgStorageCluster, pool v1alpha1.ReadPool) v1alpha1.PgStorageClusterSpec {
	out := v1alpha1.PgStorageClusterSpec{
		Profile:        Profile(cr, pool),
		Postgres:       v1alpha1.PostgresSpec{Version: cr.Spec.Postgres.Version, Image: cr.Spec.Postgres.Image, Database: cr.Spec.Postgres.Database, Owner: cr.Spec.Postgres.Owner, Parameters: pool.Parameters},
		Instances:      pool.Instances,
		Storage:        cr.Spec.Storage,
		Resources:      cr.Spec.Resources,
		Defaults:       cr.Spec.Defaults,
		Workload:       cr.Spec.Workload,
		Durability:     v1alpha1.DurabilityLocal,
		Monitoring:     cr.Spec.Monitoring,
		DeletionPolicy: cr.Spec.DeletionPolicy,
		Follow:         &v1alpha1.FollowSpec{Cluster: cr.Name, MaxLag: pool.MaxLag, StaleReads: pool.StaleReads},
		CNPG:           hatch.Inherited(cr.Spec.CNPG),
	}
	if pool.Storage != nil {
		out.Storage = v1alpha1.ClusterStorage{Size: pool.Storage.Size, WALSize: pool.Storage.WALSize}
	}
	if pool.Resources != nil {
		out.Resources = v1alpha1.ClusterResources{Requests: pool.Resources.Requests, Limits: pool.Resources.Limits}
	}
	if pool.Workload != "" {
		out.Workload = pool.Workload
	}
	return out
}

// Profile of a read pool.
func Profile(cr *v1alpha1.PgStorageCluster, pool v1alpha1.ReadPool) string {
	if pool.Profile != "" {
		return pool.Profile
	}
	return cr.Spec.Profile
}
