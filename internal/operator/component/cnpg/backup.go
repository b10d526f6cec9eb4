package cnpg

import (
	"slices"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/types"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	cnpgac "github.com/pgstorage/pgstorage/internal/operator/extapply/cnpg/api/v1"
	machineryac "github.com/pgstorage/pgstorage/internal/operator/extapply/cnpg/pkg/api"
)

// Plugin is the Barman Cloud plugin's name
// (https://cloudnative-pg.io/plugin-barman-cloud/docs/usage/).
const Plugin = "barman-cloud.cloudnative-pg.io"

// Server is the folder of a database in the object store of its backups.
func Server(cr *v1alpha1.PgStorageCluster) string {
	return naming.BackupServer(cr.Name, cr.Spec.Backup.ObjectStore.Archive)
}

// HasPlugin says whether a Cluster archives WAL by the plugin.
func HasPlugin(c *cnpgv1.Cluster) bool {
	return slices.ContainsFunc(c.Spec.Plugins, func(p cnpgv1.PluginConfiguration) bool { return p.Name == Plugin && p.IsEnabled() })
}

// archiver is the plugin as it archives WAL into a folder.
func archiver(archive map[string]string) *cnpgac.PluginConfigurationApplyConfiguration {
	return cnpgac.PluginConfiguration().WithName(Plugin).WithIsWALArchiver(true).WithParameters(archive)
}

// The plugin's parameters that name a folder of an ObjectStore.
const (
	storeParameter  = "barmanObjectName"
	serverParameter = "serverName"
)

func store(name, server string) map[string]string {
	return map[string]string{storeParameter: name, serverParameter: server}
}

// Archive returns the plugin's parameters of the folder that spec.backup names.
func Archive(cr *v1alpha1.PgStorageCluster) map[string]string {
	return store(cr.Spec.Backup.ObjectStore.Name, Server(cr))
}

// ArchiveOf returns the plugin's parameters of the folder that a Cluster archives to; nil
// where it does not archive by the plugin.
func ArchiveOf(c *cnpgv1.Cluster) map[string]string {
	if !HasPlugin(c) {
		return nil
	}
	out := map[string]string{}
	for _, p := range c.Spec.Plugins {
		for _, name := range []string{storeParameter, serverParameter} {
			if value, set := p.Parameters[name]; set && p.Name == Plugin {
				out[name] = value
			}
		}
	}
	return out
}

// StoreOf returns the ObjectStore that a Cluster archives to; empty where there is none.
func StoreOf(c *cnpgv1.Cluster) string { return ArchiveOf(c)[storeParameter] }

// backups configures base backups; nil where CloudNativePG's defaults hold.
func backups(in Inputs) *cnpgac.BackupConfigurationApplyConfiguration {
	if !in.BackupFromPrimary && in.SnapshotClass == "" {
		return nil
	}
	out := cnpgac.BackupConfiguration()
	if in.BackupFromPrimary {
		out.WithTarget(cnpgv1.BackupTargetPrimary)
	}
	if in.SnapshotClass != "" {
		// VolumeSnapshots go with their Backup, which the operator deletes when it is too old.
		out.WithVolumeSnapshot(cnpgac.VolumeSnapshotConfiguration().
			WithClassName(in.SnapshotClass).WithOnline(true).WithSnapshotOwnerReference(cnpgv1.SnapshotOwnerReferenceBackup))
	}
	return out
}

// originName of the external cluster that a database is restored from.
const originName = "origin"

// restore makes a database from backups. Database and owner have CloudNativePG make the
// application's Secret.
func restore(spec *cnpgac.ClusterSpecApplyConfiguration, cr *v1alpha1.PgStorageCluster) {
	o := cr.Spec.Origin
	if o.VolumeSnapshots != nil && o.ObjectStore == "" {
		spec.WithBootstrap(cnpgac.BootstrapConfiguration().WithRecovery(fromSnapshots(cr)))
		return
	}
	recovery := cnpgac.BootstrapRecovery().WithSource(originName).
		WithDatabase(cr.Spec.Postgres.Database).WithOwner(cr.Spec.Postgres.Owner)
	if o.VolumeSnapshots != nil {
		recovery.WithVolumeSnapshots(snapshots(o.VolumeSnapshots))
	}
	if o.TargetTime != "" || o.TargetLSN != "" || o.TargetName != "" || o.BackupID != "" {
		recovery.WithRecoveryTarget(target(o))
	}
	spec.WithBootstrap(cnpgac.BootstrapConfiguration().WithRecovery(recovery))
	spec.WithExternalClusters(cnpgac.ExternalCluster().WithName(originName).
		WithPluginConfiguration(cnpgac.PluginConfiguration().WithName(Plugin).WithParameters(store(o.ObjectStore, o.Server))))
}

// FromArchive are the fields bootstrap and externalClusters of a Cluster, as an API server has
// them. They restore the newest backup of a database.
func FromArchive(cr *v1alpha1.PgStorageCluster) (bootstrap map[string]any, externalClusters []any) {
	parameters := map[string]any{}
	for name, value := range Archive(cr) {
		parameters[name] = value
	}
	bootstrap = map[string]any{"recovery": map[string]any{"source": originName, "database": cr.Spec.Postgres.Database, "owner": cr.Spec.Postgres.Owner}}
	return bootstrap, []any{map[string]any{"name": originName, "plugin": map[string]any{"name": Plugin, "parameters": parameters}}}
}

func target(o *v1alpha1.OriginSpec) *cnpgac.RecoveryTargetApplyConfiguration {
	out := cnpgac.RecoveryTarget()
	if o.TargetTime != "" {
		out.WithTargetTime(o.TargetTime)
	}
	if o.TargetLSN != "" {
		out.WithTargetLSN(o.TargetLSN)
	}
	if o.TargetName != "" {
		out.WithTargetName(o.TargetName)
	}
	if o.BackupID != "" {
		out.WithBackupID(o.BackupID)
	}
	return out
}

// TakesSnapshots says whether the backups of a schedule are VolumeSnapshots.
func TakesSnapshots(s v1alpha1.BackupSchedule) bool {
	return s.Method == v1alpha1.BackupByVolumeSnapshot
}

// ScheduledBackups of a database. The Cluster owns them: they end with it, and stay while
// it does, also where the operator leaves. cluster is its UID; empty where it does not exist.
// Those with VolumeSnapshots are left out unless snapshots is set.
func ScheduledBackups(cr *v1alpha1.PgStorageCluster, cluster types.UID, snapshots bool) []*cnpgac.ScheduledBackupApplyConfiguration {
	if cr.Spec.Backup == nil {
		return nil
	}
	var out []*cnpgac.ScheduledBackupApplyConfiguration
	for _, s := range cr.Spec.Backup.Schedules {
		if TakesSnapshots(s) && !snapshots {
			continue
		}
		spec := cnpgac.ScheduledBackupSpec().
			WithSchedule(withSeconds(s.Schedule)).
			WithImmediate(true).
			WithCluster(machineryac.LocalObjectReference().WithName(cr.Name)).
			WithSuspend(s.Suspend != nil && *s.Suspend)
		method(spec, s)
		b := cnpgac.ScheduledBackup(naming.ScheduledBackup(cr.Name, s.Name), cr.Namespace).
			WithLabels(naming.DataBearing(cr.Name, string(cr.UID))).
			WithSpec(spec)
		if cluster != "" {
			b.WithOwnerReferences(metav1ac.OwnerReference().
				WithAPIVersion(cnpgv1.SchemeGroupVersion.String()).WithKind("Cluster").WithName(cr.Name).WithUID(cluster).WithController(true))
		}
		out = append(out, b)
	}
	return out
}

// method of the backups of a schedule. In the store a backup outlives its Backup. With
// VolumeSnapshots it does not, so those have no owner that could take them with it.
func method(spec *cnpgac.ScheduledBackupSpecApplyConfiguration, s v1alpha1.BackupSchedule) {
	if TakesSnapshots(s) {
		spec.WithBackupOwnerReference("none").WithMethod(cnpgv1.BackupMethodVolumeSnapshot)
		return
	}
	spec.WithBackupOwnerReference("cluster").WithMethod(cnpgv1.BackupMethodPlugin).
		WithPluginConfiguration(cnpgac.BackupPluginConfiguration().WithName(Plugin))
}

// withSeconds is a schedule of five fields as CloudNativePG writes it, which begins with
// seconds. Names as @daily are the same.
func withSeconds(schedule string) string {
	if strings.HasPrefix(schedule, "@") {
		return schedule
	}
	return "0 " + schedule
}
