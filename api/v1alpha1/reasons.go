package v1alpha1

// Reasons of conditions that are as declared.
const (
	// ReasonReady means that the object, or what it needs, is ready.
	ReasonReady = "Ready"
	// ReasonStorageClassFound means that every StorageClass of the profile exists.
	ReasonStorageClassFound = "StorageClassFound"
	// ReasonStorageClassApplied means that the operator has applied every StorageClass of
	// the profile.
	ReasonStorageClassApplied = "StorageClassApplied"
	// ReasonDriverReady means that the CSI driver can create volumes on every selected
	// node.
	ReasonDriverReady = "DriverReady"
	// ReasonNodesReady means that every selected node has its storage as declared.
	ReasonNodesReady = "NodesReady"
	// ReasonWithinBudget means that the ARC and shared_buffers of each node fit its
	// memory.
	ReasonWithinBudget = "WithinBudget"
	// ReasonServersReady means that every ZeroFS server of the profile runs.
	ReasonServersReady = "ServersReady"
	// ReasonPoolOnline means that the pool is imported and usable.
	ReasonPoolOnline = "PoolOnline"
	// ReasonCephReady means that the CephCluster is ready for new volumes.
	ReasonCephReady = "CephReady"
	// ReasonBlockPoolReady means that every CephBlockPool of the profile is ready.
	ReasonBlockPoolReady = "BlockPoolReady"
	// ReasonPoolVerified means that each pool stores and returns images.
	ReasonPoolVerified = "PoolVerified"
	// ReasonIndependent means that instances and OSDs are on nodes of their own, or that a
	// promoted branch shares nothing with its source.
	ReasonIndependent = "Independent"
	// ReasonVolumesMounted means that every declared volume in memory has its tmpfs.
	ReasonVolumesMounted = "VolumesMounted"
	// ReasonDevicesAttached means that every network device of the pool is attached.
	ReasonDevicesAttached = "DevicesAttached"
	// ReasonNodeReady means that the Node is Ready.
	ReasonNodeReady = "NodeReady"
	// ReasonAccepted means that every parameter and override is valid and safe.
	ReasonAccepted = "Accepted"
	// ReasonApplied means that the declared values were applied and read back.
	ReasonApplied = "Applied"
	// ReasonHealthy means that the observed part reports no problem.
	ReasonHealthy = "Healthy"
	// ReasonWriting means that this site is the one that writes, as declared.
	ReasonWriting = "Writing"
	// ReasonFollowing means that this site replicates the one that writes, as declared.
	ReasonFollowing = "Following"
	// ReasonAgreed means that all sites agree.
	ReasonAgreed = "Agreed"
	// ReasonCaughtUp means that every follower is within its maxLag.
	ReasonCaughtUp = "CaughtUp"
	// ReasonSnapshotReady means that the VolumeSnapshots of a branch are usable.
	ReasonSnapshotReady = "SnapshotReady"
	// ReasonMasked means that the SQL of spec.masking has run.
	ReasonMasked = "Masked"
	// ReasonRecoverable means that WAL is archived and that base backups succeed.
	ReasonRecoverable = "Recoverable"
	// ReasonPodMonitorApplied means that a PodMonitor scrapes the instances.
	ReasonPodMonitorApplied = "PodMonitorApplied"
	// ReasonForwarded means that the annotations reach the CloudNativePG Cluster.
	ReasonForwarded = "Forwarded"
	// ReasonSucceeded means that the run ended with a result.
	ReasonSucceeded = "Succeeded"
	// ReasonVerified means that the declared property was read back or checked.
	ReasonVerified = "Verified"
	// ReasonCleanedUp means that the benchmark left nothing behind.
	ReasonCleanedUp = "CleanedUp"
	// ReasonKept means that the cleanup policy keeps the database and its role.
	ReasonKept = "Kept"
	// ReasonBudgetSpent means that a matrix has fewer rounds than requested, because
	// another would exceed totalTimeout.
	ReasonBudgetSpent = "BudgetSpent"
	// ReasonBelievable means that no check casts doubt on the figures.
	ReasonBelievable = "Believable"
	// ReasonCautions means that the figures are correct, and some checks limit what they
	// mean.
	ReasonCautions = "Cautions"
	// ReasonPartlyChecked means that some checks lacked their observations.
	ReasonPartlyChecked = "PartlyChecked"
	// ReasonNotRegressed means that no variant is worse than the baseline.
	ReasonNotRegressed = "NotRegressed"
	// ReasonMeasured means that every requested layer was measured.
	ReasonMeasured = "Measured"
	// ReasonScheduled means that the schedule starts runs.
	ReasonScheduled = "Scheduled"
	// ReasonOnTime means that the last run that was due started in time.
	ReasonOnTime = "OnTime"
)

// Reasons of conditions that wait: each resolves without action, or its message says
// what it waits for.
const (
	// ReasonProgressing means that the operator waits for a change to take effect.
	ReasonProgressing = "Progressing"
	// ReasonSuspended means that spec.suspend pauses the object.
	ReasonSuspended = "Suspended"
	// ReasonProfileNotFound means that the PgStorageProfile does not exist.
	ReasonProfileNotFound = "ProfileNotFound"
	// ReasonProfileNotReady means that the PgStorageProfile is not Ready.
	ReasonProfileNotReady = "ProfileNotReady"
	// ReasonStorageClassNotFound means that a StorageClass that the profile names does not
	// exist.
	ReasonStorageClassNotFound = "StorageClassNotFound"
	// ReasonCNPGNotInstalled means that CloudNativePG is not installed.
	ReasonCNPGNotInstalled = "CloudNativePGNotInstalled"
	// ReasonCNPGTooOld means that the installed CloudNativePG lacks a required field.
	ReasonCNPGTooOld = "CloudNativePGTooOld"
	// ReasonCRDNotInstalled means that an optional CRD is not installed.
	ReasonCRDNotInstalled = "CRDNotInstalled"
	// ReasonClusterCreating means that CloudNativePG creates the database.
	ReasonClusterCreating = "ClusterCreating"
	// ReasonClusterNotHealthy means that CloudNativePG reports the database unhealthy.
	ReasonClusterNotHealthy = "ClusterNotHealthy"
	// ReasonSourceNotFound means that the cluster which a follower replicates does not
	// exist.
	ReasonSourceNotFound = "SourceNotFound"
	// ReasonSourceNotReady means that the cluster which a follower replicates cannot be
	// cloned now.
	ReasonSourceNotReady = "SourceNotReady"
	// ReasonReadPoolNotReady means that a read pool is not as declared yet.
	ReasonReadPoolNotReady = "ReadPoolNotReady"
	// ReasonCloningAgain means that a read pool is deleted and cloned again.
	ReasonCloningAgain = "CloningAgain"
	// ReasonLagging means that a follower is further behind than its maxLag.
	ReasonLagging = "Lagging"
	// ReasonNotStreaming means that a follower receives no WAL.
	ReasonNotStreaming = "NotStreaming"
	// ReasonWALRemoved means that a follower receives no WAL, because its cluster does not
	// keep the WAL that it needs next.
	ReasonWALRemoved = "WALRemoved"
	// ReasonVolumeFull means that a follower receives or replays no WAL, because its volume is
	// full.
	ReasonVolumeFull = "VolumeFull"
	// ReasonNotReadBack means that the running values could not be read back.
	ReasonNotReadBack = "NotReadBack"
	// ReasonClusterNotFound means that the PgStorageCluster does not exist.
	ReasonClusterNotFound = "ClusterNotFound"
	// ReasonTargetNotReady means that the PgStorageCluster is not Ready.
	ReasonTargetNotReady = "TargetNotReady"
	// ReasonWaitingForTurn means that another benchmark runs against the cluster.
	ReasonWaitingForTurn = "WaitingForTurn"
	// ReasonPreparing means that the operator creates the database, role and Job of a
	// benchmark.
	ReasonPreparing = "Preparing"
	// ReasonMeasuringLayers means that the runner measures the storage below Postgres.
	ReasonMeasuringLayers = "MeasuringLayers"
	// ReasonInitialising means that the runner loads the tables of pgbench.
	ReasonInitialising = "Initialising"
	// ReasonWarmingUp means that the runner warms up before the first measured run.
	ReasonWarmingUp = "WarmingUp"
	// ReasonRunning means that the runner runs pgbench.
	ReasonRunning = "Running"
	// ReasonCheckingIntegrity means that the runner verifies the data.
	ReasonCheckingIntegrity = "CheckingIntegrity"
	// ReasonResting means that a matrix pauses between two runs.
	ReasonResting = "Resting"
	// ReasonDeleting means that the object is being deleted.
	ReasonDeleting = "Deleting"
	// ReasonSnapshotPending means that the VolumeSnapshots of a branch are being taken.
	ReasonSnapshotPending = "SnapshotPending"
	// ReasonVolumesPending means that claims of a database have no volumes yet.
	ReasonVolumesPending = "VolumesPending"
	// ReasonDiskFull means that Postgres does not run because its volume has no room for WAL.
	ReasonDiskFull = "DiskFull"
	// ReasonSnapshotClassNotFound means that the VolumeSnapshotClass does not exist.
	ReasonSnapshotClassNotFound = "VolumeSnapshotClassNotFound"
	// ReasonQuotaExceeded means that the namespace has as many branches, or as much space of
	// them, as the PgStorageProfile allows.
	ReasonQuotaExceeded = "QuotaExceeded"
	// ReasonMasking means that the SQL of spec.masking runs, or waits for the database.
	ReasonMasking = "Masking"
	// ReasonCopying means that the data of a promoted branch is copied onto new volumes.
	ReasonCopying = "Copying"
	// ReasonWaitingForChildren means that the volumes or snapshots of a branch are still used
	// by other branches.
	ReasonWaitingForChildren = "WaitingForChildren"
	// ReasonInUse means that PgStorageClusters still use the profile.
	ReasonInUse = "InUse"
	// ReasonNotRun means that the check, run or layer has not run.
	ReasonNotRun = "NotRun"
	// ReasonParametersDiffer means that running instances have other parameters than
	// declared.
	ReasonParametersDiffer = "ParametersDiffer"
	// ReasonProbesDiffer means that pods of running instances have other probes than
	// declared.
	ReasonProbesDiffer = "ProbesDiffer"
	// ReasonScriptNotFound means that a ConfigMap or key of a custom script does not
	// exist.
	ReasonScriptNotFound = "ScriptNotFound"
	// ReasonConsentRequired means that the cluster does not admit this benchmark.
	ReasonConsentRequired = "ConsentRequired"
	// ReasonDisabled means that the spec disables the function.
	ReasonDisabled = "Disabled"
	// ReasonBaselineNotFound means that the baseline of the gate does not exist.
	ReasonBaselineNotFound = "BaselineNotFound"
	// ReasonBaselineNotComplete means that the baseline of the gate has no result yet.
	ReasonBaselineNotComplete = "BaselineNotComplete"
	// ReasonNotComparable means that the baseline and the matrix have no comparable
	// variants.
	ReasonNotComparable = "NotComparable"
	// ReasonLayersNotMeasured means that a requested layer could not be measured.
	ReasonLayersNotMeasured = "LayersNotMeasured"
	// ReasonPreviousRunning means that the previous run of the schedule has not ended.
	ReasonPreviousRunning = "PreviousRunning"
	// ReasonFirstBackupPending means that no base backup has succeeded yet.
	ReasonFirstBackupPending = "FirstBackupPending"
	// ReasonArchivingFailing means that WAL cannot be archived.
	ReasonArchivingFailing = "ArchivingFailing"
	// ReasonArchiveLate means that WAL waits longer for the archive than maxArchiveAge.
	ReasonArchiveLate = "ArchiveLate"
	// ReasonBackupFailed means that the last base backup failed.
	ReasonBackupFailed = "BackupFailed"
	// ReasonBackupOverdue means that no base backup succeeded when the schedules asked for
	// one.
	ReasonBackupOverdue = "BackupOverdue"
	// ReasonVerificationPending means that no backup of the declared folder was verified yet.
	ReasonVerificationPending = "VerificationPending"
	// ReasonRestoreFailed means that the newest backup could not be restored.
	ReasonRestoreFailed = "RestoreFailed"
	// ReasonRestoreNotChecked means that the newest backup was restored, and that the checks
	// could not run.
	ReasonRestoreNotChecked = "RestoreNotChecked"
	// ReasonRestoreDamaged means that a check of the restored database failed.
	ReasonRestoreDamaged = "RestoreDamaged"
	// ReasonPluginNotInstalled means that the Barman Cloud plugin is not installed.
	ReasonPluginNotInstalled = "PluginNotInstalled"
	// ReasonObjectStoreNotFound means that the ObjectStore does not exist.
	ReasonObjectStoreNotFound = "ObjectStoreNotFound"
	// ReasonMissedSchedule means that a run that was due did not start.
	ReasonMissedSchedule = "MissedSchedule"

	// ReasonHibernated means that CloudNativePG hibernates the database.
	ReasonHibernated = "Hibernated"
	// ReasonReconciliationDisabled means that an annotation stops CloudNativePG from
	// reconciling the database.
	ReasonReconciliationDisabled = "ReconciliationDisabled"
	// ReasonNotForwarded means that some annotations do not reach the CloudNativePG
	// Cluster.
	ReasonNotForwarded = "NotForwarded"

	// ReasonRookNotInstalled means that Rook is not installed.
	ReasonRookNotInstalled = "RookNotInstalled"
	// ReasonCephClusterNotFound means that the CephCluster does not exist.
	ReasonCephClusterNotFound = "CephClusterNotFound"
	// ReasonCephProgressing means that Rook still brings the CephCluster up.
	ReasonCephProgressing = "CephProgressing"
	// ReasonCephWarning means that Ceph raises a warning that blocks new volumes.
	ReasonCephWarning = "CephWarning"
	// ReasonOSDsMissing means that fewer OSDs run than declared.
	ReasonOSDsMissing = "OSDsMissing"
	// ReasonTooFewDomains means that fewer failure domains have OSDs than a block needs.
	ReasonTooFewDomains = "TooFewFailureDomains"
	// ReasonBlockPoolNotReady means that a CephBlockPool is not ready.
	ReasonBlockPoolNotReady = "BlockPoolNotReady"
	// ReasonBlockPoolDiffers means that a CephBlockPool differs from the spec.
	ReasonBlockPoolDiffers = "BlockPoolDiffers"
	// ReasonProbePending means that the probe of the pools has not ended yet.
	ReasonProbePending = "ProbePending"
	// ReasonNotVerified means that the operator does not probe the pools of a CephCluster
	// that the profile did not create.
	ReasonNotVerified = "NotVerified"
	// ReasonSharedNodes means that one node runs several instances or OSDs that should be
	// apart.
	ReasonSharedNodes = "SharedNodes"

	// ReasonServerNotRunning means that a ZeroFS server does not run.
	ReasonServerNotRunning = "ServerNotRunning"
	// ReasonStoreUnavailable means that a server cannot reach its store, and requests
	// wait.
	ReasonStoreUnavailable = "StoreUnavailable"
	// ReasonReconnecting means that the agent attaches devices to the successor of a
	// server.
	ReasonReconnecting = "Reconnecting"
	// ReasonSecretNotFound means that a Secret or key that the profile names does not
	// exist.
	ReasonSecretNotFound = "SecretNotFound"
	// ReasonEndpointUnreachable means that the endpoint of a store does not answer.
	ReasonEndpointUnreachable = "EndpointUnreachable"
	// ReasonClockSkew means that the store rejects requests because of the node's clock.
	ReasonClockSkew = "ClockSkew"
	// ReasonStoreLost means that the store failed requests when a server started.
	ReasonStoreLost = "StoreLost"
	// ReasonServerFailed means that ZeroFS ended; the message has its output.
	ReasonServerFailed = "ServerFailed"

	// ReasonNoNodeSelected means that no Node matches the nodeSelector.
	ReasonNoNodeSelected = "NoNodeSelected"
	// ReasonNodeNotReady means that the Node is not Ready.
	ReasonNodeNotReady = "NodeNotReady"
	// ReasonNodeNotFound means that the Node does not exist.
	ReasonNodeNotFound = "NodeNotFound"
	// ReasonAgentNotSeen means that the agent of the node has not reported.
	ReasonAgentNotSeen = "AgentNotSeen"
	// ReasonDriverNotInstalled means that the CSI driver is not installed.
	ReasonDriverNotInstalled = "DriverNotInstalled"
	// ReasonDriverNotOnNode means that the CSI driver does not run on the node.
	ReasonDriverNotOnNode = "DriverNotOnNode"
	// ReasonPoolNotListed means that the CSI driver does not list the pool of the node.
	ReasonPoolNotListed = "PoolNotListed"
	// ReasonPoolNotFound means that the pool does not exist, and the spec does not create
	// it.
	ReasonPoolNotFound = "PoolNotFound"
	// ReasonCreatingPool means that the agent creates the pool.
	ReasonCreatingPool = "CreatingPool"
	// ReasonImportingPool means that the agent imports the pool.
	ReasonImportingPool = "ImportingPool"
	// ReasonExporting means that the agent exports the pool.
	ReasonExporting = "Exporting"
	// ReasonAttaching means that the agent attaches network devices.
	ReasonAttaching = "Attaching"
	// ReasonMounting means that the agent mounts or unmounts volumes in memory.
	ReasonMounting = "Mounting"
	// ReasonVolumeLost means that a volume in memory is gone, with all that was in it.
	ReasonVolumeLost = "VolumeLost"
	// ReasonVolumeNearlyFull means that a volume in memory has less than a tenth free.
	ReasonVolumeNearlyFull = "VolumeNearlyFull"
	// ReasonDemoting means that this site stops writing.
	ReasonDemoting = "Demoting"
	// ReasonDemoted means that this site has stopped writing, and that the site that is to
	// write has not been promoted yet.
	ReasonDemoted = "Demoted"
	// ReasonPromoting means that this site replays what it still lacks, and then writes.
	ReasonPromoting = "Promoting"
	// ReasonSiteUnreachable means that another site does not answer.
	ReasonSiteUnreachable = "SiteUnreachable"
	// ReasonSwitchUnderWay means that sites differ in which one writes, and that at most one
	// does.
	ReasonSwitchUnderWay = "SwitchUnderWay"
	// ReasonClocksApart means that the clock of another site differs by more than a second.
	ReasonClocksApart = "ClocksApart"
	// ReasonReturning means that a leg of a mirror returns and is resilvered.
	ReasonReturning = "Returning"
	// ReasonGrowing means that the agent grows the network devices.
	ReasonGrowing = "Growing"
	// ReasonZFSNotLoaded means that the ZFS module is not loaded on the node.
	ReasonZFSNotLoaded = "ZFSNotLoaded"
	// ReasonTooFewDevices means that fewer devices match the selector than the pool needs.
	ReasonTooFewDevices = "TooFewDevices"
	// ReasonDeviceNotFound means that a declared device does not exist on the node.
	ReasonDeviceNotFound = "DeviceNotFound"
	// ReasonOverBudget means that the ARC, shared_buffers and volumes in memory of a node
	// exceed its memory.
	ReasonOverBudget = "OverBudget"
	// ReasonPropertyDrift means that a property differs from the spec, and driftPolicy
	// reports it.
	ReasonPropertyDrift = "PropertyDrift"
	// ReasonPoolUnhealthy means that a device of the pool has failed.
	ReasonPoolUnhealthy = "PoolUnhealthy"
	// ReasonPoolNearlyFull means that the pool has less than its headroom free.
	ReasonPoolNearlyFull = "PoolNearlyFull"
	// ReasonPoolFilling means that the pool will be full soon at its current rate.
	ReasonPoolFilling = "PoolFilling"
	// ReasonHostCommandFailed means that a command on the node failed.
	ReasonHostCommandFailed = "HostCommandFailed"
)
