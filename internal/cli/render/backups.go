package render

import (
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// never comes, so no time to restore is after it.
var never = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// backups assumes the ObjectStores that a PgStorageCluster names, and their plugin.
func (b *builder) backups(cr *v1alpha1.PgStorageCluster, facts *observed.Cluster) {
	if s := cr.Spec.Backup; s != nil {
		facts.Backup.Store, facts.Backup.SnapshotClass = b.store(cr.Namespace, s.ObjectStore.Name, facts), true
	}
	o := cr.Spec.Origin
	if o == nil || o.ObjectStore == "" {
		return
	}
	facts.Backup.Origin, facts.Backup.At = b.store(cr.Namespace, o.ObjectStore, facts), never
	b.assumed("ObjectStore %s/%s has the backups of %s that PgStorageCluster %s/%s is restored from", cr.Namespace, o.ObjectStore, o.Server, cr.Namespace, cr.Name)
}

// store assumes an ObjectStore, and the plugin that it is of.
func (b *builder) store(namespace, name string, facts *observed.Cluster) *observed.ObjectStore {
	b.assumed("the Barman Cloud plugin is installed, and ObjectStore %s/%s exists", namespace, name)
	facts.ObjectStores = true
	return &observed.ObjectStore{}
}
