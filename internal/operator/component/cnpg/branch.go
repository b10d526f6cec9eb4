package cnpg

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	cnpgac "github.com/pgstorage/pgstorage/internal/operator/extapply/cnpg/api/v1"
)

// fromSnapshots makes a database of the VolumeSnapshots of one instance. It has no source, so
// CloudNativePG does not look for an archive: Postgres starts as after a crash.
func fromSnapshots(cr *v1alpha1.PgStorageCluster) *cnpgac.BootstrapRecoveryApplyConfiguration {
	return cnpgac.BootstrapRecovery().WithVolumeSnapshots(snapshots(cr.Spec.Origin.VolumeSnapshots)).
		WithDatabase(cr.Spec.Postgres.Database).WithOwner(cr.Spec.Postgres.Owner)
}

func snapshots(from *v1alpha1.OriginVolumeSnapshots) *cnpgac.DataSourceApplyConfiguration {
	source := cnpgac.DataSource().WithStorage(snapshot(from.Data))
	if from.WAL != "" {
		source.WithWalStorage(snapshot(from.WAL))
	}
	return source
}

func snapshot(name string) *corev1ac.TypedLocalObjectReferenceApplyConfiguration {
	return corev1ac.TypedLocalObjectReference().WithAPIGroup("snapshot.storage.k8s.io").WithKind("VolumeSnapshot").WithName(name)
}

// Close a Cluster to everybody but the owner of its database, whose new password only the
// Secret of the Cluster has. CloudNativePG's own rules come first, for its replicas and pods.
func Close(content map[string]any, cr *v1alpha1.PgStorageCluster) {
	spec, _ := content["spec"].(map[string]any)
	postgres, ok := spec["postgresql"].(map[string]any)
	if !ok {
		postgres = map[string]any{}
		spec["postgresql"] = postgres
	}
	postgres["pg_hba"] = []any{
		"hostssl " + cr.Spec.Postgres.Database + " " + cr.Spec.Postgres.Owner + " all scram-sha-256",
		Reject,
	}
}

// Reject is the rule of pg_hba by which a Cluster is closed.
const Reject = "host all all all reject"

// SubscriptionWorkers is the parameter that bounds the workers of subscriptions. With 0, a copy of
// a database takes no replication slot of that database.
const SubscriptionWorkers = "max_logical_replication_workers"
