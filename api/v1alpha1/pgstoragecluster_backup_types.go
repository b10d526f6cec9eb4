package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BackupTarget selects the instance that a base backup is taken from.
// +kubebuilder:validation:Enum=PreferStandby;Primary
type BackupTarget string

const (
	// BackupPreferStandby takes it from the most recent standby, and from the primary where
	// there is none.
	BackupPreferStandby BackupTarget = "PreferStandby"
	// BackupPrimary takes it from the primary.
	BackupPrimary BackupTarget = "Primary"
)

// BackupMethod selects what a base backup is.
// +kubebuilder:validation:Enum=ObjectStore;VolumeSnapshot
type BackupMethod string

const (
	// BackupToObjectStore copies the data to the object store.
	BackupToObjectStore BackupMethod = "ObjectStore"
	// BackupByVolumeSnapshot takes VolumeSnapshots of the volumes of one instance.
	BackupByVolumeSnapshot BackupMethod = "VolumeSnapshot"
)

// BackupSpec sets how the database is backed up: WAL continuously, and base backups at the
// times of schedules. CloudNativePG's Barman Cloud plugin does both
// (https://cloudnative-pg.io/plugin-barman-cloud/).
type BackupSpec struct {
	// objectStore selects where WAL and base backups go.
	// +required
	ObjectStore BackupObjectStore `json:"objectStore,omitzero"`

	// schedules sets when base backups are taken. Each takes its first one at once. The
	// operator creates a ScheduledBackup of CloudNativePG, <cluster>-<name>, for each. At
	// least one has the method ObjectStore. Valid: 1 to 8 schedules.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self.exists(s, !has(s.method) || s.method == 'ObjectStore')",message="spec.backup.schedules needs one with method ObjectStore, because VolumeSnapshots are lost with the storage that they are on"
	Schedules []BackupSchedule `json:"schedules,omitempty"`

	// target selects the instance that base backups are taken from. Default: PreferStandby,
	// or Primary where full_page_writes is off, because Postgres takes no backup from a
	// standby then.
	// +optional
	Target BackupTarget `json:"target,omitempty"`

	// maxArchiveAge limits how old the last archived WAL may be while WAL waits for the
	// archive. Beyond it, the condition BackedUp is False. It is also how much may be lost
	// with the site. Valid: 1m to 24h. Default: 15m.
	// +optional
	// +kubebuilder:default="15m"
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,5}s)?$') && duration(self) >= duration('1m') && duration(self) <= duration('24h')",message="spec.backup.maxArchiveAge must be a duration from 1m to 24h, as 15m"
	MaxArchiveAge string `json:"maxArchiveAge,omitempty"`

	// verify restores the newest backup at the times of a schedule, and checks what was
	// restored. Default: backups are not verified.
	// +optional
	Verify *BackupVerifySpec `json:"verify,omitempty"`
}

// BackupObjectStore names an ObjectStore, and the place of a database in it.
type BackupObjectStore struct {
	// name selects an ObjectStore (barmancloud.cnpg.io) of the namespace. It has the bucket,
	// the names of the Secrets with credentials, compression, encryption and retention.
	// In another store the database begins with no backup, until a schedule takes one.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="spec.backup.objectStore.name must be the name of an ObjectStore of the namespace"
	Name string `json:"name,omitempty"`

	// archive distinguishes databases of one name that came one after the other. WAL and
	// backups are in the folder <cluster> of the store, or <cluster>.<archive> where archive
	// is set. Set it where that folder has the WAL of an earlier database: the plugin never
	// archives into it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="spec.backup.objectStore.archive must be lower-case letters, digits and '-'"
	Archive string `json:"archive,omitempty"`
}

// BackupSchedule is one schedule of base backups.
// +kubebuilder:validation:XValidation:rule="!has(self.keep) || has(self.method) && self.method == 'VolumeSnapshot'",message="spec.backup.schedules[].keep is for method VolumeSnapshot; the ObjectStore has the retention of its backups"
type BackupSchedule struct {
	// name identifies the schedule.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="spec.backup.schedules[].name must be lower-case letters, digits and '-'"
	Name string `json:"name,omitempty"`

	// schedule sets the times in the time zone of CloudNativePG's operator, which is UTC in
	// its image. Its five fields are minute, hour, day of the month, month and day of the
	// week, as 30 2 * * *. Also valid: @hourly, @daily, @weekly, @monthly.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^(@(monthly|weekly|daily|hourly)|([0-9A-Za-z*/,?-]+ +){4}[0-9A-Za-z*/,?-]+)$')",message="spec.backup.schedules[].schedule must be five fields, minute, hour, day of the month, month and day of the week, as 30 2 * * *, or @hourly, @daily, @weekly or @monthly"
	Schedule string `json:"schedule,omitempty"`

	// suspend stops the schedule. Default: false.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// method selects what a base backup is. ObjectStore copies all data to the store.
	// VolumeSnapshot takes snapshots of the volumes of one instance, which needs seconds
	// whatever the size is, and so does their restore. Such a backup is lost with the storage
	// that it is on, and its restore needs WAL of the store. It needs the feature gate
	// Branches, and a PgStorageProfile of type CephRBD, or External with
	// volumeSnapshotClassName. CloudNativePG looks for the CRDs of VolumeSnapshots only when it
	// starts: restart it if they were installed later. Default: ObjectStore.
	// +optional
	Method BackupMethod `json:"method,omitempty"`

	// keep is how many backups of this schedule the operator keeps. It deletes older ones with
	// their VolumeSnapshots. Only for method VolumeSnapshot. Valid: 1 to 100. Default: 7.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Keep *int32 `json:"keep,omitempty"`
}

// OriginSpec restores the database from backups or VolumeSnapshots of another one. They can
// be of a database whose data the author may not read. So the PgStorageProfile has to allow
// bootstrap.recovery in spec.allowedOverrides, and externalClusters for backups.
// +kubebuilder:validation:XValidation:rule="has(self.objectStore) || has(self.volumeSnapshots)",message="spec.origin needs objectStore with server, or volumeSnapshots, or both"
// +kubebuilder:validation:XValidation:rule="has(self.objectStore) == has(self.server)",message="spec.origin.objectStore and spec.origin.server belong together; set both, or neither with volumeSnapshots"
// +kubebuilder:validation:XValidation:rule="!has(self.volumeSnapshots) || has(self.objectStore) || !has(self.targetTime) && !has(self.targetLSN) && !has(self.targetName)",message="spec.origin.volumeSnapshots has no WAL beyond the snapshot, so a target cannot be reached; set objectStore and server too, or remove targetTime, targetLSN and targetName"
// +kubebuilder:validation:XValidation:rule="(has(self.targetTime) ? 1 : 0) + (has(self.targetLSN) ? 1 : 0) + (has(self.targetName) ? 1 : 0) <= 1",message="spec.origin has one of targetTime, targetLSN and targetName at most; keep one, or none to restore all WAL"
// +kubebuilder:validation:XValidation:rule="!has(self.targetName) || has(self.volumeSnapshots) || has(self.backupID)",message="spec.origin.targetName needs backupID: a restore point has no time by which a base backup could be chosen; set the ID of one that ended before it"
// +kubebuilder:validation:XValidation:rule="!has(self.backupID) || !has(self.volumeSnapshots)",message="spec.origin.backupID is a base backup of the store, and volumeSnapshots take its place; keep one of the two"
type OriginSpec struct {
	// objectStore selects the ObjectStore (barmancloud.cnpg.io) of the namespace that has
	// the backups. With volumeSnapshots, it has the WAL that follows them. Keep it for as long
	// as the database exists: without it, CloudNativePG does not manage the database.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="spec.origin.objectStore must be the name of an ObjectStore of the namespace"
	ObjectStore string `json:"objectStore,omitempty"`

	// server names the folder of the database in the store, as status.backup.server of its
	// PgStorageCluster did. Required with objectStore.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9]([-A-Za-z0-9._]*[A-Za-z0-9])?$')",message="spec.origin.server must be the name of a folder of the store, as status.backup.server says it"
	Server string `json:"server,omitempty"`

	// volumeSnapshots select the VolumeSnapshots of the namespace that the volumes are made
	// of, in place of a base backup of the store. Those of a schedule with method
	// VolumeSnapshot need objectStore and server too. spec.storage must have the sizes of the
	// volumes that they are of. The operator sets volumeSnapshots on the PgStorageClusters of
	// PgStorageBranches, which need no consent of the profile.
	// +optional
	VolumeSnapshots *OriginVolumeSnapshots `json:"volumeSnapshots,omitempty"`

	// targetTime ends the restore before the first commit after this time, which is written
	// as in RFC 3339, as 2026-03-01T12:00:00Z or 2026-03-01T12:00:00.5+01:00. Default: all WAL
	// is restored.
	// +optional
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:MaxLength=40
	TargetTime string `json:"targetTime,omitempty"`

	// targetLSN ends the restore at this position in WAL, as 0/3000060.
	// +optional
	// +kubebuilder:validation:MaxLength=17
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}$')",message="spec.origin.targetLSN must be a position in WAL, as 0/3000060"
	TargetLSN string `json:"targetLSN,omitempty"`

	// targetName ends the restore at a restore point that pg_create_restore_point made. It
	// needs backupID or volumeSnapshots.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	TargetName string `json:"targetName,omitempty"`

	// backupID selects the base backup that the restore starts from, as 20260301T023000. It
	// has to have ended before the target. status.backupId of a Backup (postgresql.cnpg.io) has
	// it. Not valid with volumeSnapshots. Default: the newest one before targetTime or
	// targetLSN, or the newest of all.
	// +optional
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{8}T[0-9]{6}$')",message="spec.origin.backupID must be the ID of a base backup, as 20260301T023000; status.backupId of kubectl get backups.postgresql.cnpg.io has it"
	BackupID string `json:"backupID,omitempty"`
}

// OriginVolumeSnapshots are the VolumeSnapshots of one instance of a database. Later
// commits are not in them. Without an ObjectStore, the database starts as after a crash.
type OriginVolumeSnapshots struct {
	// data selects the VolumeSnapshot of the data volume.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="spec.origin.volumeSnapshots.data must be the name of a VolumeSnapshot of the namespace"
	Data string `json:"data,omitempty"`

	// wal selects the VolumeSnapshot of the volume for WAL. It must have been taken after
	// that of the data, from the same instance while it stayed the primary. Older WAL damages
	// the database. Required where spec.storage.walSize is set.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="spec.origin.volumeSnapshots.wal must be the name of a VolumeSnapshot of the namespace"
	WAL string `json:"wal,omitempty"`
}

// BackupStatus is what of the database can be restored, as the plugin, CloudNativePG and
// the primary instance report it.
type BackupStatus struct {
	// objectStore is the ObjectStore that WAL goes to.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ObjectStore string `json:"objectStore,omitempty"`
	// server is the folder of the database in the store.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Server string `json:"server,omitempty"`
	// firstRecoverabilityPoint is the earliest time that can be restored.
	// +optional
	FirstRecoverabilityPoint *metav1.Time `json:"firstRecoverabilityPoint,omitempty"`
	// lastSuccessfulBackup is when the last base backup ended that can be restored.
	// +optional
	LastSuccessfulBackup *metav1.Time `json:"lastSuccessfulBackup,omitempty"`
	// lastFailedBackup is when the last base backup failed.
	// +optional
	LastFailedBackup *metav1.Time `json:"lastFailedBackup,omitempty"`
	// lastArchived is when the primary archived WAL last. What was committed after it can be
	// lost with the site. It is read every few minutes.
	// +optional
	LastArchived *metav1.Time `json:"lastArchived,omitempty"`
	// lastArchivedWAL is the WAL file that was archived last, without its timeline: 16
	// hexadecimal digits.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	LastArchivedWAL string `json:"lastArchivedWAL,omitempty"`
	// lastVerified is when a backup of this objectStore and server was last restored and
	// passed all checks of spec.backup.verify.
	// +optional
	LastVerified *metav1.Time `json:"lastVerified,omitempty"`
	// waitingWAL counts the files of WAL that are complete and not archived.
	// +optional
	WaitingWAL *int32 `json:"waitingWAL,omitempty"`
	// volumeSnapshots are the backups of the schedules with method VolumeSnapshot.
	// +optional
	VolumeSnapshots *VolumeSnapshotBackups `json:"volumeSnapshots,omitempty"`
	// retention is how long the store keeps backups, as 30d; empty where it never deletes
	// them.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Retention string `json:"retention,omitempty"`
	// walCompression and dataCompression are the store's; empty where there is none.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	WALCompression string `json:"walCompression,omitempty"`
	// dataCompression is that of base backups.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	DataCompression string `json:"dataCompression,omitempty"`
	// encryption is what the store is asked to encrypt with, as AES256; empty where that is
	// the bucket's own setting.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Encryption string `json:"encryption,omitempty"`
}

// VolumeSnapshotBackups are the complete backups of a database as VolumeSnapshots.
type VolumeSnapshotBackups struct {
	// count is how many there are.
	// +optional
	Count int32 `json:"count,omitempty"`
	// newest is the Backup (postgresql.cnpg.io) of the newest one. Its VolumeSnapshots are
	// <newest>, of the data, and <newest>-wal, of the volume for WAL.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Newest string `json:"newest,omitempty"`
	// newestTime is when it ended.
	// +optional
	NewestTime *metav1.Time `json:"newestTime,omitempty"`
}
