package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BackupVerifySpec sets when the backups of the database are restored into a cluster of
// their own, which is checked and then deleted. The first time is once the database is
// recoverable. The cluster has one instance, the storage of the database, and no access to
// it. It archives nothing.
type BackupVerifySpec struct {
	// schedule sets the times, in UTC. Its five fields are minute, hour, day of the month,
	// month and day of the week, as 0 4 * * *. Also valid: @hourly, @daily, @weekly,
	// @monthly. A time during a verification is skipped.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^(@(monthly|weekly|daily|hourly)|([0-9A-Za-z*/,?-]+ +){4}[0-9A-Za-z*/,?-]+)$')",message="spec.backup.verify.schedule must be five fields, minute, hour, day of the month, month and day of the week, as 0 4 * * *, or @hourly, @daily, @weekly or @monthly"
	Schedule string `json:"schedule,omitempty"`

	// suspend stops further verifications. Default: false.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// timeout limits a verification from its start to the last check. Later it has failed.
	// Valid: 5m to 24h. Default: 1h.
	// +optional
	// +kubebuilder:default="1h"
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,5}s)?$') && duration(self) >= duration('5m') && duration(self) <= duration('24h')",message="spec.backup.verify.timeout must be a duration from 5m to 24h, as 1h"
	Timeout string `json:"timeout,omitempty"`

	// resources of the restored instance. Default: requests of 100m CPU and 512Mi memory, and
	// a limit of 1Gi memory.
	// +optional
	Resources *VerifyResources `json:"resources,omitempty"`

	// tables lists tables that must have rows in the restored database.
	// Valid: at most 16 tables.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Tables []VerifiedTable `json:"tables,omitempty"`

	// query is one SELECT that must return true in the restored database, as SELECT
	// max(created) > now() - interval '1 day' FROM orders. It runs as the owner of the
	// database, in a transaction that can only read.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Query string `json:"query,omitempty"`
}

// VerifyResources are the resources of the instance that backups are restored into.
type VerifyResources struct {
	// requests reserves compute resources. Valid: cpu and memory.
	// +optional
	// +kubebuilder:validation:MaxProperties=2
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['cpu', 'memory'])",message="spec.backup.verify.resources.requests may name cpu and memory only"
	Requests map[corev1.ResourceName]resource.Quantity `json:"requests,omitempty"`
	// limits limits compute resources. Valid: cpu and memory.
	// +optional
	// +kubebuilder:validation:MaxProperties=2
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['cpu', 'memory'])",message="spec.backup.verify.resources.limits may name cpu and memory only"
	Limits map[corev1.ResourceName]resource.Quantity `json:"limits,omitempty"`
}

// VerifiedTable is a table that must have rows.
type VerifiedTable struct {
	// name of the table with its schema, as public.orders. Case matters.
	// +required
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=127
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^.]{1,63}[.][^.]{1,63}$')",message="spec.backup.verify.tables[].name must be schema.table, as public.orders"
	Name string `json:"name,omitempty"`

	// minRows is how many rows the table must have at least. Valid: 1 to 1000000000.
	// Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	MinRows int32 `json:"minRows,omitempty"`
}

// The steps of a verification.
const (
	VerifyRestoring = "Restoring"
	VerifyChecking  = "Checking"
	VerifyRemoving  = "Removing"
)

// BackupVerificationStatus is the verification that runs, and the results of the last ones.
type BackupVerificationStatus struct {
	// step is Restoring, Checking or Removing; empty between verifications.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Step string `json:"step,omitempty"`
	// cluster is the CloudNativePG Cluster that backups are restored into.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Cluster string `json:"cluster,omitempty"`
	// objectStore is the ObjectStore that the verification that runs, or the last one,
	// restores from. Results about another one do not count.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ObjectStore string `json:"objectStore,omitempty"`
	// server is the folder in objectStore that it restores from.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Server string `json:"server,omitempty"`
	// startTime is when the verification that runs, or the last one, started.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// restoredTime is when its backup was restored.
	// +optional
	RestoredTime *metav1.Time `json:"restoredTime,omitempty"`
	// backupTime is when the newest base backup had ended at the start.
	// +optional
	BackupTime *metav1.Time `json:"backupTime,omitempty"`
	// expectedWAL is the WAL file that was archived last when it started, without its
	// timeline: 16 hexadecimal digits. The restored database must reach it.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	ExpectedWAL string `json:"expectedWAL,omitempty"`
	// nextTime is when the next verification is due; absent while suspended.
	// +optional
	NextTime *metav1.Time `json:"nextTime,omitempty"`
	// lastVerified is when a verification of this objectStore and server last passed.
	// +optional
	LastVerified *metav1.Time `json:"lastVerified,omitempty"`
	// last is the result of the last verification.
	// +optional
	Last *BackupVerificationResult `json:"last,omitempty"`
}

// BackupVerificationResult is the result of one verification.
type BackupVerificationResult struct {
	// reason is Verified where all checks passed, or what failed.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
	// message says what was found.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
	// completionTime is when the last check ended.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// backupTime is when the newest base backup had ended at the start.
	// +optional
	BackupTime *metav1.Time `json:"backupTime,omitempty"`
	// restoreSeconds is how long the restore took, from the start to a primary that serves.
	// +optional
	RestoreSeconds *int64 `json:"restoreSeconds,omitempty"`
	// checkSeconds is how long the checks took, with the start of their pod.
	// +optional
	CheckSeconds *int64 `json:"checkSeconds,omitempty"`
	// size of the restored database.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// restoredWAL is the WAL file that the restored database reached, without its timeline.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	RestoredWAL string `json:"restoredWAL,omitempty"`
	// checks lists what was checked: SystemIdentifier, WAL, Amcheck, Checksums, Table and
	// Query.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Checks []IntegrityCheck `json:"checks,omitempty"`
}

// Passed reports whether the backup was restored and no check failed.
func (r BackupVerificationResult) Passed() bool {
	return r.Reason == ReasonVerified || r.Reason == ReasonPartlyChecked
}
