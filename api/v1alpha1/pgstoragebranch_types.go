package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PgStorageBranchSpec declares a writable copy of a database. It shares the blocks of its
// source until either of them writes, where the storage is copy-on-write.
// +kubebuilder:validation:XValidation:rule="has(self.masking) == has(oldSelf.masking)",message="spec.masking cannot be added or removed: it is applied before anybody can connect; create another PgStorageBranch",fieldPath=".masking"
// +kubebuilder:validation:XValidation:rule="has(self.resources) == has(oldSelf.resources)",message="spec.resources cannot be added or removed; change spec.resources of the branch's PgStorageCluster",fieldPath=".resources"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.promote) || !oldSelf.promote || has(self.promote) && self.promote",message="spec.promote cannot be undone: the branch's data is being copied, or is independent",fieldPath=".promote"
type PgStorageBranchSpec struct {
	// source selects the database to copy, and its state. Immutable.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.source is immutable: a branch is made once; create another PgStorageBranch"
	Source BranchSource `json:"source,omitzero"`

	// ttl is how long the branch exists, from its creation, as 24h. Then the operator deletes
	// it with its data. A promoted branch has none. Valid: 1m to 8760h (a year). Default: the
	// branch exists until it is deleted.
	// +optional
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,5}h)?([0-9]{1,6}m)?([0-9]{1,7}s)?$') && duration(self) >= duration('1m') && duration(self) <= duration('8760h')",message="spec.ttl must be a duration from 1m to 8760h, as 24h"
	TTL string `json:"ttl,omitempty"`

	// resources sets the compute resources of the branch's instance: requests of memory (at
	// least 256Mi) and CPU (at least 50m), and limits. Immutable. Default: those of the source.
	// +optional
	// +kubebuilder:validation:XValidation:rule="has(self.requests)",message="spec.resources.requests is required: the operator derives Postgres parameters from it; set memory and cpu",reason=FieldValueRequired,fieldPath=".requests"
	// +kubebuilder:validation:XValidation:rule="!has(self.requests) || 'memory' in self.requests && isQuantity(string(self.requests['memory'])) && quantity(string(self.requests['memory'])).compareTo(quantity('256Mi')) >= 0",message="spec.resources.requests.memory must be a quantity of at least 256Mi, as 4Gi: the operator derives memory parameters of Postgres from it",fieldPath=".requests"
	// +kubebuilder:validation:XValidation:rule="!has(self.requests) || 'cpu' in self.requests && isQuantity(string(self.requests['cpu'])) && quantity(string(self.requests['cpu'])).compareTo(quantity('50m')) >= 0",message="spec.resources.requests.cpu must be a quantity of at least 50m, as 500m or 2: the operator derives the parallelism of Postgres from it",fieldPath=".requests"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.resources is immutable; change spec.resources of the branch's PgStorageCluster"
	Resources *ClusterResources `json:"resources,omitempty"`

	// masking runs SQL on the branch before anybody can connect to it, for example to replace
	// names and addresses. Immutable. Default: the branch has the data of its source.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.masking is immutable: it is applied before anybody can connect; create another PgStorageBranch"
	Masking *BranchMasking `json:"masking,omitempty"`

	// promote makes the branch independent of its source: the operator copies all of its data
	// onto new volumes, and removes the snapshots. Afterwards ttl does not apply, and the
	// PgStorageCluster stays when the PgStorageBranch is deleted. It cannot be undone.
	// Default: false.
	// +optional
	Promote bool `json:"promote,omitempty"`
}

// BranchSource is the database that a branch copies.
// +kubebuilder:validation:XValidation:rule="!has(self.backup) || (has(self.backup.targetTime) ? 1 : 0) + (has(self.backup.targetLSN) ? 1 : 0) + (has(self.backup.targetName) ? 1 : 0) <= 1",message="spec.source.backup has one of targetTime, targetLSN and targetName at most; keep one, or none to restore all WAL",fieldPath=".backup"
// +kubebuilder:validation:XValidation:rule="!has(self.backup) || !has(self.backup.targetName) || has(self.backup.backupID)",message="spec.source.backup.targetName needs backupID: a restore point has no time by which a base backup could be chosen; set the ID of one that ended before it",fieldPath=".backup"
type BranchSource struct {
	// cluster selects the PgStorageCluster, in the same namespace. Its branchPolicy has to be
	// Any. The PgStorageCluster of a branch has the name of the branch, and can be a source
	// itself.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=50
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="spec.source.cluster must be the name of a PgStorageCluster of the namespace"
	Cluster string `json:"cluster,omitempty"`

	// backup restores from the backups of the cluster (its spec.backup), in place of a snapshot
	// of its volumes. The branch then shares no space with its source. The PgStorageProfile has
	// to allow a restore, as for spec.origin of a PgStorageCluster. An empty object restores
	// all WAL.
	// +optional
	Backup *BranchBackup `json:"backup,omitempty"`
}

// BranchBackup is the state that is restored from the backups of a database.
type BranchBackup struct {
	// targetTime ends the restore before the first commit after this time, which is written
	// as in RFC 3339, as 2026-03-01T12:00:00Z. Default: all WAL is restored.
	// +optional
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:MaxLength=40
	TargetTime string `json:"targetTime,omitempty"`

	// targetLSN ends the restore at this position in WAL, as 0/3000060.
	// +optional
	// +kubebuilder:validation:MaxLength=17
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}$')",message="spec.source.backup.targetLSN must be a position in WAL, as 0/3000060"
	TargetLSN string `json:"targetLSN,omitempty"`

	// targetName ends the restore at a restore point that pg_create_restore_point made. It
	// needs backupID.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	TargetName string `json:"targetName,omitempty"`

	// backupID selects the base backup that the restore starts from, as 20260301T023000. It
	// has to have ended before the target. status.backupId of a Backup (postgresql.cnpg.io) has
	// it. Default: the newest one before targetTime or targetLSN, or the newest of all.
	// +optional
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{8}T[0-9]{6}$')",message="spec.source.backup.backupID must be the ID of a base backup, as 20260301T023000; status.backupId of kubectl get backups.postgresql.cnpg.io has it"
	BackupID string `json:"backupID,omitempty"`
}

// BranchMasking names the SQL that makes the data of a branch fit for its users.
type BranchMasking struct {
	// configMap has the SQL. A Job runs it once, in one transaction, as the owner of the
	// database and with psql. Until it has succeeded no other user can connect, and the
	// branch is not Ready. Where it cannot connect, or loses the connection, it tries again
	// 6 times. After a failure, a change of the ConfigMap starts it again.
	// +required
	ConfigMap MaskingConfigMap `json:"configMap,omitzero"`
}

// MaskingConfigMap is a key of a ConfigMap.
type MaskingConfigMap struct {
	// name selects a ConfigMap of the namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="spec.masking.configMap.name must be the name of a ConfigMap of the namespace"
	Name string `json:"name,omitempty"`

	// key selects the entry with the SQL. Default: mask.sql.
	// +optional
	// +kubebuilder:default=mask.sql
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]+$')",message="spec.masking.configMap.key must be a key of a ConfigMap: letters, digits, '-', '_' and '.'"
	Key string `json:"key,omitempty"`
}

// PgStorageBranchStatus is the observed state of a branch.
type PgStorageBranchStatus struct {
	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Ready, Reconciling, Stalled, SnapshotReady, DatabaseReady, Masked,
	// Independent.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// snapshots are the VolumeSnapshots that the branch was made of.
	// +optional
	Snapshots *BranchSnapshots `json:"snapshots,omitempty"`

	// cluster is the PgStorageCluster of the branch, once the operator has created it. It has
	// the name of the branch.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Cluster string `json:"cluster,omitempty"`

	// volumes are the PersistentVolumes of the branch. The snapshots are deleted after them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=253
	Volumes []string `json:"volumes,omitempty"`

	// endpoint is the Service to connect to, once the branch is Ready.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Endpoint string `json:"endpoint,omitempty"`

	// secret has the user and password of the owner of the database, once the branch is Ready.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Secret string `json:"secret,omitempty"`

	// masked is the hash in the name of the Job that has run the SQL.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Masked string `json:"masked,omitempty"`

	// space is what the branch alone takes of its storage. It is known where the agents of the
	// profile read volumes back, and is updated when it changes noticeably.
	// +optional
	Space *resource.Quantity `json:"space,omitempty"`

	// children are the branches of this branch that share its volumes.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=253
	Children []string `json:"children,omitempty"`

	// expirationTime is when the operator deletes the branch; absent without ttl, and once the
	// branch is promoted.
	// +optional
	ExpirationTime *metav1.Time `json:"expirationTime,omitempty"`

	// independent is true once a promoted branch shares nothing with its source.
	// +optional
	Independent bool `json:"independent,omitempty"`
}

// BranchSnapshots are the VolumeSnapshots of a branch, in its namespace.
type BranchSnapshots struct {
	// data is the VolumeSnapshot of the data volume.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Data string `json:"data,omitempty"`
	// wal is the VolumeSnapshot of the volume for WAL. It was taken after that of the data, so
	// that it has all WAL that the data needs. Absent where WAL is on the data volume.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	WAL string `json:"wal,omitempty"`
	// instance is the Postgres instance of the source whose volumes they are of.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Instance string `json:"instance,omitempty"`
	// time is when the snapshot of the data was taken.
	// +optional
	Time *metav1.Time `json:"time,omitempty"`
}

// PgStorageBranch is a writable copy of a database, copy-on-write where the storage is. The
// operator makes VolumeSnapshots of the source's volumes, and a PgStorageCluster of one
// instance on volumes that are made of them.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=pgbr,categories=pgstorage
// +kubebuilder:printcolumn:name="Source",type=string,JSONPath=`.spec.source.cluster`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Space",type=string,JSONPath=`.status.space`
// +kubebuilder:printcolumn:name="Expires",type=string,JSONPath=`.status.expirationTime`
// +kubebuilder:printcolumn:name="Endpoint",type=string,priority=1,JSONPath=`.status.endpoint`
// +kubebuilder:printcolumn:name="Children",type=string,priority=1,JSONPath=`.status.children[*]`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 50 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be at most 50 characters, lower-case letters, digits and '-', and begin with a letter: the PgStorageCluster and its Services have it"
type PgStorageBranch struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec declares what to copy, and for how long.
	// +required
	Spec PgStorageBranchSpec `json:"spec,omitzero"`
	// status is the observed state of the branch.
	// +optional
	Status PgStorageBranchStatus `json:"status,omitzero"`
}

// PgStorageBranchList is a list of PgStorageBranches.
// +kubebuilder:object:root=true
type PgStorageBranchList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []PgStorageBranch `json:"items"`
}
