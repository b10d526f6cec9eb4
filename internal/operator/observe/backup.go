package observe

import (
	"context"
	"fmt"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

var (
	scheduledBackupGVK = cnpgv1.SchemeGroupVersion.WithKind("ScheduledBackup")
	// objectStoreGVK is a kind of the Barman Cloud plugin. Its Go types are not used, because
	// their module needs another Kubernetes than ours (ADR 66).
	objectStoreGVK = schema.GroupVersionKind{Group: "barmancloud.cnpg.io", Version: "v1", Kind: "ObjectStore"}
)

// mostOfStore is how much of a text of an ObjectStore is kept, in bytes.
const mostOfStore = 16

// Backups reads what the backups of databases are. Cache holds only our objects, and Live
// asks the API server.
type Backups struct {
	Cache, Live client.Reader
	Clock       clock.PassiveClock
	Kinds       profile.Catalog
	// Snapshots says that the operator has the right to read backups as VolumeSnapshots.
	Snapshots bool
}

// Of reads the facts about the backups of a database, and adds its ScheduledBackups to live.
func (b Backups) Of(ctx context.Context, cr *v1alpha1.PgStorageCluster, facts *observed.Cluster, live plan.Live) error {
	facts.Backup.At = b.Clock.Now()
	if !facts.CNPGInstalled {
		return nil
	}
	if err := b.schedules(ctx, cr, facts, live); err != nil || !facts.ObjectStores {
		return err
	}
	if err := b.snapshots(ctx, cr, facts); err != nil {
		return err
	}
	return b.stores(ctx, cr, facts)
}

// stores reads the ObjectStores of the backups and of the origin, which often are the same.
func (b Backups) stores(ctx context.Context, cr *v1alpha1.PgStorageCluster, facts *observed.Cluster) (err error) {
	spec, o := cr.Spec.Backup, cr.Spec.Origin
	var object *unstructured.Unstructured
	if spec != nil {
		if object, err = b.object(ctx, cr.Namespace, spec.ObjectStore.Name); err != nil {
			return err
		}
		facts.Backup.Store = storeOf(object, naming.BackupServer(cr.Name, spec.ObjectStore.Archive))
	}
	if o == nil || o.ObjectStore == "" {
		return nil
	}
	if spec == nil || spec.ObjectStore.Name != o.ObjectStore {
		if object, err = b.object(ctx, cr.Namespace, o.ObjectStore); err != nil {
			return err
		}
	}
	facts.Backup.Origin = storeOf(object, o.Server)
	return nil
}

// schedules reads the ScheduledBackups of a database, declared or not. It notes one of another
// database that has the name of a declared one.
func (b Backups) schedules(ctx context.Context, cr *v1alpha1.PgStorageCluster, facts *observed.Cluster, live plan.Live) error {
	list := &cnpgv1.ScheduledBackupList{}
	if err := b.Cache.List(ctx, list, client.InNamespace(cr.Namespace), client.MatchingLabels(naming.DataBearing(cr.Name, string(cr.UID))), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list ScheduledBackups of %s: %w", cr.Name, err)
	}
	for i := range list.Items {
		live[keyOf(scheduledBackupGVK, &list.Items[i])] = &list.Items[i]
	}
	if cr.Spec.Backup == nil {
		return nil
	}
	for _, s := range cr.Spec.Backup.Schedules {
		key := client.ObjectKey{Namespace: cr.Namespace, Name: naming.ScheduledBackup(cr.Name, s.Name)}
		if live[plan.Key{GroupVersionKind: scheduledBackupGVK, Namespace: key.Namespace, Name: key.Name}] != nil {
			continue
		}
		found, err := find(ctx, b.Live, key, &cnpgv1.ScheduledBackup{})
		if err != nil {
			return err
		}
		switch {
		case found == nil:
		case found.Spec.Cluster.Name == cr.Name: // younger than the cache, or from before an adoption
			live[keyOf(scheduledBackupGVK, found)] = found
		default:
			facts.Backup.ForeignSchedule = key.Name
		}
	}
	return nil
}

// object is an ObjectStore; nil where it does not exist.
func (b Backups) object(ctx context.Context, namespace, name string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(objectStoreGVK)
	return find(ctx, b.Live, client.ObjectKey{Namespace: namespace, Name: name}, object)
}

// storeOf has the facts of an ObjectStore and its window of one server; nil of none.
func storeOf(found *unstructured.Unstructured, server string) *observed.ObjectStore {
	if found == nil {
		return nil
	}
	text := func(path ...string) string {
		s, _, _ := unstructured.NestedString(found.Object, path...) // its CRD has the types
		return excerpt.Truncate(s, mostOfStore)
	}
	at := func(field string) time.Time {
		s, _, _ := unstructured.NestedString(found.Object, "status", "serverRecoveryWindow", server, field)
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			return time.Time{}
		}
		return t.UTC()
	}
	return &observed.ObjectStore{
		Retention:       text("spec", "retentionPolicy"),
		WALCompression:  text("spec", "configuration", "wal", "compression"),
		DataCompression: text("spec", "configuration", "data", "compression"),
		Encryption:      text("spec", "configuration", "wal", "encryption"),
		Window:          observed.RecoveryWindow{First: at("firstRecoverabilityPoint"), LastSuccess: at("lastSuccessfulBackupTime"), LastFailure: at("lastFailedBackupTime")},
	}
}
