// Package cnpg builds the CloudNativePG objects of a PgStorageCluster. Builders
// are pure: what they are given, and nothing else, decides what they return.
package cnpg

import (
	"maps"

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
	// SnapshotClass of base backups as VolumeSnapshots; empty where there are none.
	SnapshotClass string
	// Archive has the plugin's parameters of the folder that WAL goes to; nil where none is
	// archived.
	Archive map[string]string
	// Probes of the profile; nil where they are CloudNativePG's.
	Probes *v1alpha1.InstanceProbes
	// Source is the Cluster that a follower replicates; nil of any other.
	Source *Source
	// Receiver is that of ReceiverOf.
	Receiver string
	// Site of a database that has several; nil of any other.
	Site *Site
	// Closed: only the owner of the database may connect.
	Closed bool
}

// Cluster is the CloudNativePG Cluster. It carries owner labels and no
// ownerReference: garbage collection never takes a database.
func Cluster(in Inputs) *cnpgac.ClusterApplyConfiguration {
	cr := in.CR
	spec := cnpgac.ClusterSpec().
		WithInstances(int(instances(cr))).
		WithImageName(in.Image).
		WithStorageConfiguration(volume(in.Volumes.StorageClass, cr.Spec.Storage.Size.String()))
	if r := resources(cr, in.Volumes); len(r.Requests)+len(r.Limits) > 0 {
		spec.WithResources(r)
	}
	if c := configuration(cr, in.Parameters, undeclared(in)); c != nil {
		spec.WithPostgresConfiguration(c)
	}
	bootstrapped(spec, in)
	if wal := cr.Spec.Storage.WALSize; wal != nil {
		spec.WithWalStorage(volume(in.Volumes.WALStorageClass, wal.String()))
	}
	if b := backups(in); b != nil {
		spec.WithBackup(b)
	}
	if in.Archive != nil {
		spec.WithPlugins(archiver(in.Archive))
	}
	if in.Probes != nil && !asIs(cr) {
		extend(spec, in.Probes)
	}
	if in.Source != nil {
		refuseStale(spec, cr.Spec.Follow)
	}
	return cnpgac.Cluster(cr.Name, cr.Namespace).
		WithLabels(naming.DataBearing(cr.Name, string(cr.UID))).
		WithAnnotations(ForwardedAnnotations(cr)).
		WithAnnotations(in.Source.annotations()).
		WithSpec(spec)
}

// bootstrapped is how the database is made, and which other it follows.
func bootstrapped(spec *cnpgac.ClusterSpecApplyConfiguration, in Inputs) {
	if in.Source != nil {
		follow(spec, *in.Source, in.CR.Name)
		return
	}
	if in.Site != nil {
		in.Site.place(spec)
		if in.Site.ClonedFrom != "" {
			spec.WithBootstrap(in.Site.clone(in.CR))
			return
		}
	}
	if in.CR.Spec.Origin != nil {
		restore(spec, in.CR)
		return
	}
	if b := initDB(in.CR); b != nil {
		spec.WithBootstrap(cnpgac.BootstrapConfiguration().WithInitDB(b))
	}
}

func instances(cr *v1alpha1.PgStorageCluster) int32 {
	if cr.Spec.Instances == nil {
		return 1
	}
	return *cr.Spec.Instances
}

// asIs says that what the spec does not set is CloudNativePG's to decide.
func asIs(cr *v1alpha1.PgStorageCluster) bool {
	return cr.Spec.Defaults == v1alpha1.DefaultsCloudNativePG
}

func volume(class, size string) *cnpgac.StorageConfigurationApplyConfiguration {
	return cnpgac.StorageConfiguration().WithStorageClass(class).WithSize(size)
}

// initDB is how the database is made. CloudNativePG names database and owner app where
// nothing else is set, and leaves checksums off.
func initDB(cr *v1alpha1.PgStorageCluster) *cnpgac.BootstrapInitDBApplyConfiguration {
	database, owner := cr.Spec.Postgres.Database, cr.Spec.Postgres.Owner
	if !asIs(cr) {
		return cnpgac.BootstrapInitDB().WithDatabase(database).WithOwner(owner).WithDataChecksums(true).WithEncoding("UTF8")
	}
	if database == defaultName && owner == defaultName {
		return nil
	}
	out := cnpgac.BootstrapInitDB().WithDatabase(database)
	if owner != database { // CloudNativePG's default
		out.WithOwner(owner)
	}
	return out
}

// defaultName is CloudNativePG's name of the first database and of its owner.
const defaultName = "app"

func configuration(cr *v1alpha1.PgStorageCluster, parameters []postgres.Parameter, others map[string]string) *cnpgac.PostgresConfigurationApplyConfiguration {
	quorum := cr.Spec.Durability == v1alpha1.DurabilityQuorum
	if len(parameters)+len(others) == 0 && !quorum {
		return nil
	}
	c := cnpgac.PostgresConfiguration()
	if len(parameters)+len(others) > 0 {
		values := make(map[string]string, len(parameters)+len(others))
		for _, p := range parameters {
			values[p.Name] = p.Value
		}
		maps.Copy(values, others)
		c.WithParameters(values)
	}
	if quorum {
		c.WithSynchronous(synchronous(cr))
	}
	return c
}
