package clusters

import (
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// storeFound says whether an ObjectStore can be used.
func storeFound(condition, field, name string, store *observed.ObjectStore, facts observed.Cluster) outcome.Outcome {
	switch {
	case !facts.ObjectStores:
		return outcome.WaitFor(condition, v1alpha1.ReasonPluginNotInstalled, field+msgPluginNotInstalled)
	case store == nil:
		return outcome.WaitFor(condition, v1alpha1.ReasonObjectStoreNotFound, fmt.Sprintf(msgStoreNotFound, field, name))
	}
	return outcome.DoneWith(condition, v1alpha1.ReasonReady, fmt.Sprintf(msgStoreFound, name))
}

// backupStore says whether the ObjectStore of the backups can be used, and what a database
// that runs does without it.
func backupStore(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) outcome.Outcome {
	name := cr.Spec.Backup.ObjectStore.Name
	o := storeFound(v1alpha1.ConditionBackedUp, "spec.backup.objectStore", name, facts.Backup.Store, facts)
	live := existing(facts)
	if o.Reason != v1alpha1.ReasonObjectStoreNotFound || live == nil {
		return o
	}
	switch kept := cnpg.StoreOf(live); kept {
	case "":
	case name:
		o.Message += msgUnmanaged
	default:
		o.Message += fmt.Sprintf(msgStoreKept, kept)
	}
	return o
}

// toArchive returns the plugin's parameters of the folder that the Cluster of the plan
// archives to; nil where it archives nothing. Without a store, a database that runs stays as
// it is. CloudNativePG stops managing a Cluster whose plugin or ObjectStore is missing, so
// the name of a missing one is not applied. One whose archive disappears keeps its WAL until
// it is back.
func toArchive(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) map[string]string {
	if cr.Spec.Backup == nil {
		return nil
	}
	if live := existing(facts); live != nil && facts.Backup.Store == nil {
		return cnpg.ArchiveOf(live)
	}
	return cnpg.Archive(cr)
}
