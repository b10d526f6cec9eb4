// Package branch builds what a PgStorageBranch consists of: VolumeSnapshots of its source, its
// PgStorageCluster, and the Job that masks its data.
package branch

import (
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg/hatch"
)

// DataSnapshot is the VolumeSnapshot of the data of an instance, which had been the primary
// since some time.
func DataSnapshot(b *v1alpha1.PgStorageBranch, class, instance, since string) *snapshotv1.VolumeSnapshot {
	s := snapshot(b, naming.BranchSnapshot(b.Name, string(b.UID)), class, instance)
	s.Annotations = map[string]string{naming.AnnotationPrimarySince: since}
	return s
}

// WALSnapshot is the VolumeSnapshot of the WAL of the same instance, once that of the data has
// been taken.
func WALSnapshot(b *v1alpha1.PgStorageBranch, class string, data *snapshotv1.VolumeSnapshot) *snapshotv1.VolumeSnapshot {
	return snapshot(b, naming.BranchWALSnapshot(data.Name, string(data.UID)), class, naming.WALClaim(Instance(data)))
}

// Instance that the data of a snapshot is of. Its claim has its name.
func Instance(data *snapshotv1.VolumeSnapshot) string {
	if claim := data.Spec.Source.PersistentVolumeClaimName; claim != nil {
		return *claim
	}
	return ""
}

func snapshot(b *v1alpha1.PgStorageBranch, name, class, claim string) *snapshotv1.VolumeSnapshot {
	return &snapshotv1.VolumeSnapshot{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: name, Labels: naming.BranchLabels(b.Name, string(b.UID))},
		Spec: snapshotv1.VolumeSnapshotSpec{
			Source:                  snapshotv1.VolumeSnapshotSource{PersistentVolumeClaimName: &claim},
			VolumeSnapshotClassName: &class,
		},
	}
}

// Cluster is the PgStorageCluster of a branch. It is made once: what changes in the source
// afterwards does not reach it.
func Cluster(b *v1alpha1.PgStorageBranch, source *v1alpha1.PgStorageCluster) *v1alpha1.PgStorageCluster {
	from := source.Spec
	spec := v1alpha1.PgStorageClusterSpec{
		Profile:        from.Profile,
		Postgres:       from.Postgres,
		Instances:      new(int32(1)),
		Storage:        from.Storage,
		Resources:      from.Resources,
		Workload:       from.Workload,
		Durability:     v1alpha1.DurabilityLocal,
		Monitoring:     from.Monitoring,
		BranchPolicy:   from.BranchPolicy,
		DeletionPolicy: v1alpha1.DeletionDelete,
		CNPG:           hatch.Inherited(from.CNPG),
		Origin:         origin(b, source),
	}
	if from.Durability == v1alpha1.DurabilityAsync {
		spec.Durability = v1alpha1.DurabilityAsync
	}
	if b.Spec.Resources != nil {
		spec.Resources = *b.Spec.Resources
	}
	out := (&v1alpha1.PgStorageCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: b.Name, Labels: naming.BranchLabels(b.Name, string(b.UID))},
		Spec:       spec,
	}).DeepCopy()
	withoutSubscriptions(&out.Spec.Postgres)
	return out
}

// withoutSubscriptions keeps the subscriptions of the copied data from running. They would take
// the replication slots of the source, and the source would lose rows without an error.
func withoutSubscriptions(s *v1alpha1.PostgresSpec) {
	if s.Parameters == nil {
		s.Parameters = map[string]string{}
	}
	s.Parameters[cnpg.SubscriptionWorkers] = "0"
}

func origin(b *v1alpha1.PgStorageBranch, source *v1alpha1.PgStorageCluster) *v1alpha1.OriginSpec {
	if from := b.Spec.Source.Backup; from != nil {
		return &v1alpha1.OriginSpec{
			ObjectStore: source.Spec.Backup.ObjectStore.Name, Server: cnpg.Server(source),
			TargetTime: from.TargetTime, TargetLSN: from.TargetLSN, TargetName: from.TargetName, BackupID: from.BackupID,
		}
	}
	s := b.Status.Snapshots
	return &v1alpha1.OriginSpec{VolumeSnapshots: &v1alpha1.OriginVolumeSnapshots{Data: s.Data, WAL: s.WAL}}
}

// Expiration is when a branch is deleted; nil where it has no ttl, or keeps its data.
func Expiration(b *v1alpha1.PgStorageBranch) *metav1.Time {
	ttl, err := time.ParseDuration(b.Spec.TTL)
	if err != nil || b.Spec.Promote {
		return nil
	}
	return new(metav1.NewTime(b.CreationTimestamp.Add(ttl).UTC()).Rfc3339Copy())
}
