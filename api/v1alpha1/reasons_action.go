package v1alpha1

// Reasons of conditions that need an administrator; most have a runbook.
const (
	// ReasonInvalidSpec means that the spec is invalid.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonInvalidParameters means that a Postgres parameter is invalid or unsafe.
	ReasonInvalidParameters = "InvalidParameters"
	// ReasonOverrideRefused means that an override of CloudNativePG is not allowed.
	ReasonOverrideRefused = "OverrideRefused"
	// ReasonClusterNotOwned means that a CloudNativePG Cluster of this name belongs to
	// another owner.
	ReasonClusterNotOwned = "ClusterNotOwned"
	// ReasonClusterDeleted means that a user deleted the CloudNativePG Cluster.
	ReasonClusterDeleted = "ClusterDeletedByHand"
	// ReasonClusterStuck means that CloudNativePG cannot continue on its own.
	ReasonClusterStuck = "ClusterNeedsAttention"
	// ReasonSourceReplaced means that the cluster of a follower has another database than
	// the one that the follower was cloned from.
	ReasonSourceReplaced = "SourceReplaced"
	// ReasonTokenRequired means that a site is to write, and that it has no token which
	// proves that the site that wrote before has stopped.
	ReasonTokenRequired = "PromotionTokenRequired"
	// ReasonTokenRefused means that a promotionToken is not one, is of another database, or
	// was used before.
	ReasonTokenRefused = "PromotionTokenRefused"
	// ReasonArchiveNotEmpty means that the folder of the store has the WAL of another
	// database.
	ReasonArchiveNotEmpty = "ArchiveNotEmpty"
	// ReasonOriginRefused means that the declared restore is impossible or not allowed.
	ReasonOriginRefused = "OriginRefused"
	// ReasonBranchRefused means that the declared branch is impossible.
	ReasonBranchRefused = "BranchRefused"
	// ReasonMaskingFailed means that the SQL of spec.masking failed.
	ReasonMaskingFailed = "MaskingFailed"
	// ReasonMaskingNotFound means that the ConfigMap or key of spec.masking does not exist.
	ReasonMaskingNotFound = "MaskingNotFound"
	// ReasonTwoSitesWrite means that another site accepts writes, too.
	ReasonTwoSitesWrite = "TwoSitesWrite"
	// ReasonSitesDiffer means that another site has another database, or other members.
	ReasonSitesDiffer = "SitesDiffer"
	// ReasonRejected means that the API server rejects an object built from this spec.
	ReasonRejected = "RejectedByAPIServer"
	// ReasonFailed means that the run failed.
	ReasonFailed = "Failed"
	// ReasonIntegrityFailed means that a check found damaged data.
	ReasonIntegrityFailed = "IntegrityFailed"
	// ReasonDurabilityDiffers means that the server's settings do not match the tier.
	ReasonDurabilityDiffers = "DurabilityMismatch"
	// ReasonCacheNotEmptied means that the runner could not empty the caches.
	ReasonCacheNotEmptied = "CacheNotEmptied"
	// ReasonNotEnoughSpace means that a benchmark does not fit the volumes, or that a pool
	// fills. No backup is restored onto that pool, and no branch is made on it.
	ReasonNotEnoughSpace = "NotEnoughSpace"
	// ReasonFreeSpaceLow means that a run stopped because a volume was nearly full.
	ReasonFreeSpaceLow = "FreeSpaceLow"
	// ReasonVolumeDiffers means that a volume differs from what the profile declares.
	ReasonVolumeDiffers = "VolumeDiffers"
	// ReasonInterrupted means that the runner was stopped before the end.
	ReasonInterrupted = "Interrupted"
	// ReasonRegressed means that a variant is worse than the baseline.
	ReasonRegressed = "Regressed"
	// ReasonAdoptionRefused means that the Cluster to adopt has settings that the operator
	// does not allow.
	ReasonAdoptionRefused = "AdoptionRefused"

	// ReasonDurabilityWeakened means that an instance has settings that are weaker than
	// the tier.
	ReasonDurabilityWeakened = "DurabilityWeakened"
	// ReasonDurabilityOverridden means that a role or database overrides the settings of
	// the tier.
	ReasonDurabilityOverridden = "DurabilityOverridden"

	// ReasonFlushNotHonoured means that the device acknowledges flushes faster than it can
	// perform them.
	ReasonFlushNotHonoured = "FlushNotHonoured"
	// ReasonCommitBelowFlushFloor means that commits are faster than a flush of the
	// device.
	ReasonCommitBelowFlushFloor = "CommitBelowFlushFloor"
	// ReasonClientBound means that pgbench and not Postgres limited the run.
	ReasonClientBound = "ClientBound"
	// ReasonPodThrottled means that a CPU quota throttled a pod during the run, and the
	// cluster does not declare that quota.
	ReasonPodThrottled = "PodThrottled"
	// ReasonBackupRunning means that a backup ran during the run.
	ReasonBackupRunning = "BackupRunning"
	// ReasonProcessorStolen means that the hypervisor gave processor time to others during
	// the run.
	ReasonProcessorStolen = "ProcessorStolen"
	// ReasonClockJumped means that the clock was set during the run.
	ReasonClockJumped = "ClockJumped"

	// ReasonPrefixCollision means that a prefix of a bucket overlaps with that of an older
	// profile.
	ReasonPrefixCollision = "PrefixCollision"
	// ReasonCredentialsRejected means that the store rejects the credentials.
	ReasonCredentialsRejected = "CredentialsRejected"
	// ReasonBucketNotFound means that the bucket does not exist.
	ReasonBucketNotFound = "BucketNotFound"
	// ReasonPrefixNotEmpty means that the prefix contains other data.
	ReasonPrefixNotEmpty = "PrefixNotEmpty"
	// ReasonFenced means that another writer opened the prefix.
	ReasonFenced = "Fenced"
	// ReasonPasswordWrong means that the encryption password does not open the data.
	ReasonPasswordWrong = "PasswordWrong"
	// ReasonPasswordInvalid means that ZeroFS does not accept the encryption password.
	ReasonPasswordInvalid = "PasswordInvalid"
	// ReasonConfigRejected means that ZeroFS rejects its configuration.
	ReasonConfigRejected = "ConfigRejected"
	// ReasonConditionalPutUnsupported means that the store lacks conditional writes.
	ReasonConditionalPutUnsupported = "ConditionalPutUnsupported"

	// ReasonCephUnhealthy means that Ceph raises a check that puts data at risk.
	ReasonCephUnhealthy = "CephUnhealthy"
	// ReasonCephNotOwned means that a CephCluster of this name belongs to another owner.
	ReasonCephNotOwned = "CephNotOwned"
	// ReasonCephDeleted means that a user deleted the CephCluster.
	ReasonCephDeleted = "CephClusterDeletedByHand"
	// ReasonCephModuleFailed means that a module of the Ceph mgr failed.
	ReasonCephModuleFailed = "CephModuleFailed"
	// ReasonOSDPrepareFailed means that Rook could not prepare the device of an OSD.
	ReasonOSDPrepareFailed = "OSDPrepareFailed"
	// ReasonProbeFailed means that a pool did not store and return an image.
	ReasonProbeFailed = "ProbeFailed"
	// ReasonOSDsDiffer means that OSDs have another device class than declared.
	ReasonOSDsDiffer = "OSDsDiffer"

	// ReasonStorageClassNotOwned means that a StorageClass of this name belongs to another
	// owner.
	ReasonStorageClassNotOwned = "StorageClassNotOwned"
	// ReasonStorageClassDiffers means that an immutable StorageClass differs from the
	// spec.
	ReasonStorageClassDiffers = "StorageClassDiffers"
	// ReasonDeviceNotBlank means that a device has contents, and the spec does not allow
	// wiping it.
	ReasonDeviceNotBlank = "DeviceNotBlank"
	// ReasonWipeRefused means that a device has contents, and wipe: true does not apply to
	// it.
	ReasonWipeRefused = "WipeRefused"
	// ReasonListTruncated means that the status has no room for everything on the node.
	ReasonListTruncated = "ListTruncated"
	// ReasonPoolAmbiguous means that several pools have the declared name.
	ReasonPoolAmbiguous = "PoolAmbiguous"
	// ReasonPoolReplaced means that the pool is not the one that the node had.
	ReasonPoolReplaced = "PoolReplaced"
	// ReasonPoolLost means that the pool that the node had does not exist any more.
	ReasonPoolLost = "PoolLost"
	// ReasonPoolSuspended means that ZFS suspended all I/O of the pool.
	ReasonPoolSuspended = "PoolSuspended"
	// ReasonPropertyRefused means that ZFS rejects a property.
	ReasonPropertyRefused = "PropertyRefused"
	// ReasonLayoutDiffers means that the layout of the pool differs from the spec.
	ReasonLayoutDiffers = "LayoutDiffers"
	// ReasonServerLost means that a server was lost below its pool.
	ReasonServerLost = "ServerLost"
	// ReasonExportShrunk means that a server exports a smaller device than before.
	ReasonExportShrunk = "ExportShrunk"
)
