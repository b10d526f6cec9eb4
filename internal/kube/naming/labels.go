package naming

const (
	// FieldOwner is the field manager of everything the manager applies.
	FieldOwner = "pgstorage"
	// AgentFieldOwner is the field manager of what a node's agent writes: the
	// status and the finalizer of its PgNodeStorages.
	AgentFieldOwner = "pgstorage-agent"
	// MemoryFieldOwner is the field manager of the volumes in memory of a PgNodeStorage.
	MemoryFieldOwner = "pgstorage-memory"
	// VerifyFieldOwner is the field manager of status.backupVerification of a PgStorageCluster.
	VerifyFieldOwner = "pgstorage-verify"
	// BenchFieldOwner is the field manager of status.run, which the runner writes.
	BenchFieldOwner = "pgstorage-bench"

	// LabelManagedBy marks every object that the manager made; caches hold no
	// other ones.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// ManagedBy is the value of LabelManagedBy.
	ManagedBy = "pgstorage"
	// LabelCluster names the PgStorageCluster that an object belongs to.
	LabelCluster = "pgstorage.dev/cluster"
	// LabelReadPool names the read pool of a PgStorageCluster that an object belongs to.
	LabelReadPool = "pgstorage.dev/read-pool"
	// LabelVerifies names the PgStorageCluster whose backups an object verifies.
	LabelVerifies = "pgstorage.dev/verifies"
	// LabelBranch names the PgStorageBranch that an object belongs to.
	LabelBranch = "pgstorage.dev/branch"
	// LabelBenchmark names the PgBenchmark that an object belongs to.
	LabelBenchmark = "pgstorage.dev/benchmark"
	// LabelSchedule names the PgScheduledBenchmark that a PgBenchmark was made by.
	LabelSchedule = "pgstorage.dev/schedule"
	// LabelProfile names the PgStorageProfile that an object belongs to.
	LabelProfile = "pgstorage.dev/profile"
	// LabelStore names the store of an S3NBD profile that a server serves.
	LabelStore = "pgstorage.dev/store"
	// LabelSiteWatcher selects the pod that watches the other sites of a database.
	LabelSiteWatcher = "pgstorage.dev/site-watcher"
	// LabelOwnerUID holds the UID of the owner of a data-bearing object, which
	// carries no ownerReference so that garbage collection never takes it.
	LabelOwnerUID = "pgstorage.dev/owner-uid"

	// AnnotationIntent is the hash of what was last applied to a child.
	AnnotationIntent = "pgstorage.dev/intent"
	// AnnotationAdopt on a CloudNativePG Cluster names the PgStorageCluster that
	// may take it over.
	AnnotationAdopt = "pgstorage.dev/adopt-by"
	// AnnotationRecreate on a PgStorageCluster has the UID of a CloudNativePG Cluster
	// that was deleted by hand and may be created again, empty.
	AnnotationRecreate = "pgstorage.dev/recreate-cluster"

	// AnnotationVerify on a PgStorageCluster asks for a verification of its backups. It is
	// the time of the request, as in RFC 3339; one that a verification started after is done.
	AnnotationVerify = "pgstorage.dev/verify-backup"

	// AnnotationPromote on a PgStorageCluster with spec.topology has the UID of its
	// CloudNativePG Cluster, and accepts that the site is promoted without a token. Commits
	// that it has not received are lost. The operator removes it once it was used.
	AnnotationPromote = "pgstorage.dev/promote-without-token"

	// AnnotationSource on the CloudNativePG Cluster of a follower has the UID of the
	// Cluster that it was cloned from.
	AnnotationSource = "pgstorage.dev/source-uid"

	// AnnotationPrimarySince on the VolumeSnapshot of a branch's data is since when the
	// snapshot's instance had been the primary, as CloudNativePG wrote it.
	AnnotationPrimarySince = "pgstorage.dev/primary-since"

	// AnnotationRecreateCeph on a PgStorageProfile has the UID of a CephCluster that
	// was deleted by hand and may be created again, empty.
	AnnotationRecreateCeph = "pgstorage.dev/recreate-ceph"

	// AnnotationAsked on a DatabaseRole of CloudNativePG counts how often it was written
	// again, to be looked at again, because it had not been applied.
	AnnotationAsked = "pgstorage.dev/asked"
	// AnnotationVariant and AnnotationRepeat on a PgBenchmark say which run of a
	// matrix it is.
	AnnotationVariant = "pgstorage.dev/variant"
	// AnnotationRepeat is the repeat, from 1.
	AnnotationRepeat = "pgstorage.dev/repeat"

	// AnnotationScheduledAt on a PgBenchmark is the time of the schedule that it was
	// made for, as in RFC 3339.
	AnnotationScheduledAt = "pgstorage.dev/scheduled-at"

	// AnnotationRevision is the hash of what a server was started with.
	AnnotationRevision = "pgstorage.dev/revision"
	// AnnotationFenced on a CloudNativePG Cluster lists, as JSON, the instances that
	// the operator has fenced itself; no other fence is its to lift.
	AnnotationFenced = "pgstorage.dev/fenced"
	// AnnotationFencedBySites on a CloudNativePG Cluster says that the operator has fenced
	// all instances, because another site writes. Its value is the list of fences that
	// there was before.
	AnnotationFencedBySites = "pgstorage.dev/fenced-by-sites"
	// AnnotationTooLarge is on a cached object whose status, or a claim whose annotations,
	// exceed what the cache keeps, with their size in bytes. It is never written to the API server.
	AnnotationTooLarge = "pgstorage.dev/too-large"

	// AnnotationHibernation of CloudNativePG stops the instances of a Cluster and keeps
	// their volumes while it is "on".
	AnnotationHibernation = "cnpg.io/hibernation"
	// AnnotationReconciliationLoop of CloudNativePG keeps its operator from a Cluster
	// while it is "disabled".
	AnnotationReconciliationLoop = "cnpg.io/reconciliationLoop"

	// ClusterFinalizer holds a PgStorageCluster until deletionPolicy was carried out.
	ClusterFinalizer = "pgstorage.dev/cluster"
	// ProfileFinalizer holds a PgStorageProfile while clusters use it.
	ProfileFinalizer = "pgstorage.dev/profile"
	// NodeStorageFinalizer holds a PgNodeStorage until its node's agent let go of
	// the pool, which stays as it is.
	NodeStorageFinalizer = "pgstorage.dev/node"
	// BranchFinalizer holds a PgStorageBranch until its volumes and snapshots are gone.
	BranchFinalizer = "pgstorage.dev/branch"
	// BenchmarkFinalizer holds a PgBenchmark until its database and roles are gone.
	BenchmarkFinalizer = "pgstorage.dev/benchmark"

	// BenchmarkPrefix begins the name of every database and role of a benchmark.
	BenchmarkPrefix = "pgstorage_bench"
)

// Labels of an object that belongs to a PgStorageCluster.
func Labels(cluster string) map[string]string {
	return map[string]string{LabelManagedBy: ManagedBy, LabelCluster: cluster}
}

// BenchmarkLabels of an object that belongs to a PgBenchmark.
func BenchmarkLabels(benchmark string) map[string]string {
	return map[string]string{LabelManagedBy: ManagedBy, LabelBenchmark: benchmark}
}

// ScheduleLabels of a PgBenchmark that a PgScheduledBenchmark makes.
func ScheduleLabels(schedule string) map[string]string {
	return map[string]string{LabelManagedBy: ManagedBy, LabelSchedule: schedule}
}

// ProfileLabels of an object that belongs to a PgStorageProfile.
func ProfileLabels(profile, uid string) map[string]string {
	return map[string]string{LabelManagedBy: ManagedBy, LabelProfile: profile, LabelOwnerUID: uid}
}

// VerifyLabels of an object that verifies the backups of a PgStorageCluster.
func VerifyLabels(cluster string) map[string]string {
	return map[string]string{LabelManagedBy: ManagedBy, LabelVerifies: cluster}
}

// BranchLabels of an object that belongs to a PgStorageBranch. It carries no
// ownerReference: snapshots are deleted after the volumes that are made of them.
func BranchLabels(branch, uid string) map[string]string {
	return map[string]string{LabelManagedBy: ManagedBy, LabelBranch: branch, LabelOwnerUID: uid}
}

// DataBearing are the labels of a data-bearing object of a PgStorageCluster.
func DataBearing(cluster, uid string) map[string]string {
	l := Labels(cluster)
	l[LabelOwnerUID] = uid
	return l
}
