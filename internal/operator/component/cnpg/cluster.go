// Package cnpg builds the CloudNativePG objects of a PgStorageCluster. Builders
// are pure: what they are given, and nothing else, decides what they return.
package cnpg

import (
	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	cnpgac "github.com/pgstorage/pgstorage/internal/operator/extapply/cnpg/api/v1"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// Inputs of the builder.
type Inputs struct {
	CR         *v1alpha1.PgStorageCluster
	Volumes    profile.Volumes
	Image      string
	Parameters []postgres.Parameter
	// BackupFromPrimary: no backup may come from a standby.
	BackupFromPrimary bool
}

// Cluster is the CloudNativePG Cluster. It carries owner labels and no
// ownerReference: garbage collection never takes a database.
func Cluster(in Inputs) *cnpgac.ClusterApplyConfiguration {
	cr := in.CR
	spec := cnpgac.ClusterSpec().
		WithInstances(int(instances(cr))).
		WithImageName(in.Image).
		WithStorageConfiguration(volume(in.Volumes.StorageClass, cr.Spec.Storage.Size.String())).
		WithResources(corev1.ResourceRequirements{Requests: cr.Spec.Resources.Requests, Limits: cr.Spec.Resources.Limits}).
		WithPostgresConfiguration(configuration(cr, in.Parameters)).
		WithBootstrap(cnpgac.BootstrapConfiguration().WithInitDB(cnpgac.BootstrapInitDB().
			WithDatabase(cr.Spec.Postgres.Database).
			WithOwner(cr.Spec.Postgres.Owner).
			WithDataChecksums(true).
			WithEncoding("UTF8")))
	if wal := cr.Spec.Storage.WALSize; wal != nil {
		spec.WithWalStorage(volume(in.Volumes.WALStorageClass, wal.String()))
	}
	if in.BackupFromPrimary {
		spec.WithBackup(cnpgac.BackupConfiguration().WithTarget(cnpgv1.BackupTargetPrimary))
	}
	return cnpgac.Cluster(cr.Name, cr.Namespace).
		WithLabels(naming.DataBearing(cr.Name, string(cr.UID))).
		WithAnnotations(ForwardedAnnotations(cr)).
		WithSpec(spec)
}

func instances(cr *v1alpha1.PgStorageCluster) int32 {
	if cr.Spec.Instances == nil {
		return 1
	}
	return *cr.Spec.Instances
}

func volume(class, size string) *cnpgac.StorageConfigurationApplyConfiguration {
	return cnpgac.StorageConfiguration().WithStorageClass(class).WithSize(size)
}

func configuration(cr *v1alpha1.PgStorageCluster, parameters []postgres.Parameter) *cnpgac.PostgresConfigurationApplyConfiguration {
	values := make(map[string]string, len(parameters))
	for _, p := range parameters {
		values[p.Name] = p.Value
	}
	c := cnpgac.PostgresConfiguration().WithParameters(values)
	if cr.Spec.Durability == v1alpha1.DurabilityQuorum {
		c.WithSynchronous(quorum())
	}
	return c
}

// quorum acknowledges a commit after a flush on any one standby and stops writes
// when there is none. Failover asks the same quorum, so that a standby without
// the last acknowledged commit is never promoted
// (https://cloudnative-pg.io/documentation/current/failover/).
func quorum() *cnpgac.SynchronousReplicaConfigurationApplyConfiguration {
	return cnpgac.SynchronousReplicaConfiguration().
		WithMethod(cnpgv1.SynchronousReplicaConfigurationMethodAny).
		WithNumber(1).
		WithDataDurability(cnpgv1.DataDurabilityLevelRequired).
		WithFailoverQuorum(true)
}
