// Package readpool builds the PgStorageClusters of read pools.
package readpool

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	apiac "github.com/pgstorage/pgstorage/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
)

// inherited are the fields of spec.cnpg.spec without which an instance could not run the
// cluster's image or replay its WAL.
var inherited = []string{"imageCatalogRef", "imagePullPolicy", "imagePullSecrets", "postgresGID", "postgresUID"}

// inheritedPostgres are those below spec.cnpg.spec.postgresql.
var inheritedPostgres = []string{"extensions", "shared_preload_libraries"}

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
		CNPG:           overrides(cr),
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

// overrides that a pool takes over from its cluster. What cannot be read is left out: the
// cluster reports it.
func overrides(cr *v1alpha1.PgStorageCluster) *v1alpha1.CNPGOverrides {
	if cr.Spec.CNPG == nil || cr.Spec.CNPG.Spec == nil {
		return nil
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(cr.Spec.CNPG.Spec.Raw, &all) != nil {
		return nil
	}
	out := pick(all, inherited)
	var postgres map[string]json.RawMessage
	if json.Unmarshal(all["postgresql"], &postgres) == nil {
		if kept := pick(postgres, inheritedPostgres); len(kept) > 0 {
			out["postgresql"] = kept
		}
	}
	if len(out) == 0 {
		return nil
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil
	}
	return &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: raw}}
}

func pick(from map[string]json.RawMessage, names []string) map[string]any {
	out := map[string]any{}
	for _, name := range names {
		if v, found := from[name]; found {
			out[name] = v
		}
	}
	return out
}
