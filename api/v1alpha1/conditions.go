package v1alpha1

// Condition types. Conditions follow kstatus
// (https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md):
// Ready is derived from the others and never set by hand; Reconciling and
// Stalled exist only while they are true.
const (
	// ConditionReady is True when the object is what its spec declares.
	ConditionReady = "Ready"
	// ConditionReconciling is True while the operator waits for something that
	// can still come by itself; its message says what.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True when a person must act; its message says how.
	ConditionStalled = "Stalled"

	// ConditionStorageReady says whether the profile's storage can be used.
	ConditionStorageReady = "StorageReady"
	// ConditionNodesReady says whether every selected node's pool and datasets are
	// as the profile declares, as its agent read them back, and its Node is Ready.
	ConditionNodesReady = "NodesReady"
	// ConditionDriverReady says whether the CSI driver can make volumes on every
	// selected node.
	ConditionDriverReady = "DriverReady"

	// ConditionBackingReady says whether the StorageClass that OSDs stand on exists and
	// makes block devices.
	ConditionBackingReady = "BackingReady"
	// ConditionBackingVerified says whether the volumes beneath the OSDs were read back
	// as zvols of the block size that was declared.
	ConditionBackingVerified = "BackingVerified"
	// ConditionCephReady says whether the CephCluster is as declared, healthy enough for
	// new volumes, and has OSDs on as many failure domains as a block needs.
	ConditionCephReady = "CephReady"
	// ConditionBlockPoolReady says whether every CephBlockPool of the profile is ready.
	ConditionBlockPoolReady = "BlockPoolReady"
	// ConditionFailuresIndependent says whether instances and OSDs are on nodes of their
	// own, so that one loss takes one of them. It does not take part in Ready.
	ConditionFailuresIndependent = "FailuresIndependent"

	// ConditionServersReady says whether every ZeroFS server of a profile runs. It
	// does not take part in Ready while the pools on all nodes serve.
	ConditionServersReady = "ServersReady"

	// ConditionMemoryBudget says whether the ARC and the shared_buffers of the
	// instances on each node fit its memory. It does not take part in Ready.
	ConditionMemoryBudget = "MemoryBudget"

	// ConditionPoolReady says whether a node's pool is imported and usable.
	ConditionPoolReady = "PoolReady"
	// ConditionDevicesAttached says whether every network device of a node's pool is
	// attached to a server that has lived on since. Pools on disks do not have it.
	ConditionDevicesAttached = "DevicesAttached"
	// ConditionPropertiesApplied says whether every property of the pool and its
	// datasets was read back as declared.
	ConditionPropertiesApplied = "PropertiesApplied"
	// ConditionDevicesHealthy says whether every device of the pool works. It does
	// not take part in Ready: a degraded mirror still serves.
	ConditionDevicesHealthy = "DevicesHealthy"
	// ConditionCapacityHealthy says whether the pool has its headroom. It does not
	// take part in Ready.
	ConditionCapacityHealthy = "CapacityHealthy"
	// ConditionStatusComplete of a PgNodeStorage is there only while its status has no
	// room for all that the node has, and is False then. It does not take part in Ready.
	ConditionStatusComplete = "StatusComplete"

	// ConditionNodeReachable of a PgNodeStorage is written by the manager, and says
	// what the Node's own Ready condition is: while it is not True, nobody renews what
	// the agent wrote. It does not take part in Ready, which is the agent's.
	ConditionNodeReachable = "NodeReachable"

	// ConditionVolumesVerified says whether every volume of the database is of the
	// kind, and has the properties, that the profile declares, as read back from
	// the node. Profiles of type External have nothing to read back.
	ConditionVolumesVerified = "VolumesVerified"

	// ConditionVolumesAttached says whether the devices beneath every volume of the
	// database are attached, and which instances are fenced because theirs were
	// lost. Only profiles whose devices are servers' have it.
	ConditionVolumesAttached = "VolumesAttached"

	// ConditionParametersAccepted says whether every Postgres parameter and
	// override of the spec is safe and valid.
	ConditionParametersAccepted = "ParametersAccepted"
	// ConditionParametersApplied says whether the running instances have the
	// parameters that status.parameters lists, as read back from them.
	ConditionParametersApplied = "ParametersApplied"
	// ConditionDurabilityVerified says whether every running instance has the settings
	// that spec.durability rests on, whoever sets them. It is Unknown, and does not
	// take part in Ready, while they cannot be read. Weaker settings of single roles
	// or databases make it False and do not take part in Ready either.
	ConditionDurabilityVerified = "DurabilityVerified"
	// ConditionDatabaseReady says whether CloudNativePG reports the database
	// healthy with all its instances.
	ConditionDatabaseReady = "DatabaseReady"
	// ConditionMonitored says whether a PodMonitor scrapes the instances. It
	// does not take part in Ready.
	ConditionMonitored = "Monitored"
	// ConditionAnnotationsForwarded says whether the annotations of a PgStorageCluster
	// that CloudNativePG knows reach its Cluster. Objects without any do not have it.
	// It does not take part in Ready.
	ConditionAnnotationsForwarded = "AnnotationsForwarded"
	// ConditionBenchmarkComplete says how far the inline benchmark is. It does
	// not take part in Ready.
	ConditionBenchmarkComplete = "BenchmarkComplete"

	// ConditionTargetReady says whether a PgBenchmark's cluster can be measured.
	ConditionTargetReady = "TargetReady"
	// ConditionComplete is True when a PgBenchmark has its result.
	ConditionComplete = "Complete"
	// ConditionIntegrityVerified says whether the checks after a PgBenchmark
	// found the data intact.
	ConditionIntegrityVerified = "IntegrityVerified"
	// ConditionLayersMeasured says whether every layer that spec.layers asks for was
	// measured. It does not take part in Ready: the benchmark goes on without them.
	ConditionLayersMeasured = "LayersMeasured"
	// ConditionBelievable says whether what was observed beside a PgBenchmark's
	// runs leaves its figures standing. It does not take part in Ready: that a
	// figure is of something else is a result.
	ConditionBelievable = "Believable"
	// ConditionCleanedUp says whether a finished PgBenchmark's database, roles
	// and Job are gone as its cleanup policy asks.
	ConditionCleanedUp = "CleanedUp"
	// ConditionNotRegressed says whether a matrix is no worse than the baseline of
	// its gate. It does not take part in Ready: a regression is a result.
	ConditionNotRegressed = "NotRegressed"

	// ConditionScheduled says whether a PgScheduledBenchmark begins runs.
	ConditionScheduled = "Scheduled"
	// ConditionOnTime says whether the run that was due last was begun.
	ConditionOnTime = "OnTime"
	// ConditionLastRunSucceeded says how the last run of a PgScheduledBenchmark that
	// ended did. It does not take part in Ready, unless the run found damage.
	ConditionLastRunSucceeded = "LastRunSucceeded"
)

// Reasons of conditions that are as declared.
const (
	ReasonReady               = "Ready"
	ReasonStorageClassFound   = "StorageClassFound"
	ReasonStorageClassApplied = "StorageClassApplied"
	ReasonDriverReady         = "DriverReady"
	ReasonNodesReady          = "NodesReady"
	ReasonWithinBudget        = "WithinBudget"
	ReasonServersReady        = "ServersReady"
	ReasonPoolOnline          = "PoolOnline"
	ReasonCephReady           = "CephReady"
	ReasonBlockPoolReady      = "BlockPoolReady"
	ReasonIndependent         = "Independent"
	ReasonDevicesAttached     = "DevicesAttached"
	ReasonNodeReady           = "NodeReady"
	ReasonAccepted            = "Accepted"
	ReasonApplied             = "Applied"
	ReasonHealthy             = "Healthy"
	ReasonPodMonitorApplied   = "PodMonitorApplied"
	ReasonForwarded           = "Forwarded"
	ReasonSucceeded           = "Succeeded"
	ReasonVerified            = "Verified"
	ReasonCleanedUp           = "CleanedUp"
	ReasonKept                = "Kept"
	ReasonBudgetSpent         = "BudgetSpent"
	ReasonBelievable          = "Believable"
	ReasonCautions            = "Cautions"
	ReasonPartlyChecked       = "PartlyChecked"
	ReasonNotRegressed        = "NotRegressed"
	ReasonMeasured            = "Measured"
	ReasonScheduled           = "Scheduled"
	ReasonOnTime              = "OnTime"
)

// Reasons of conditions that wait: each resolves without a person, or says in
// its message what it waits for.
const (
	ReasonProgressing          = "Progressing"
	ReasonSuspended            = "Suspended"
	ReasonProfileNotFound      = "ProfileNotFound"
	ReasonProfileNotReady      = "ProfileNotReady"
	ReasonStorageClassNotFound = "StorageClassNotFound"
	ReasonCNPGNotInstalled     = "CloudNativePGNotInstalled"
	ReasonCNPGTooOld           = "CloudNativePGTooOld"
	ReasonCRDNotInstalled      = "CRDNotInstalled"
	ReasonClusterCreating      = "ClusterCreating"
	ReasonClusterNotHealthy    = "ClusterNotHealthy"
	ReasonNotReadBack          = "NotReadBack"
	ReasonClusterNotFound      = "ClusterNotFound"
	ReasonTargetNotReady       = "TargetNotReady"
	ReasonWaitingForTurn       = "WaitingForTurn"
	ReasonPreparing            = "Preparing"
	ReasonMeasuringLayers      = "MeasuringLayers"
	ReasonInitialising         = "Initialising"
	ReasonWarmingUp            = "WarmingUp"
	ReasonRunning              = "Running"
	ReasonCheckingIntegrity    = "CheckingIntegrity"
	ReasonResting              = "Resting"
	ReasonDeleting             = "Deleting"
	ReasonInUse                = "InUse"
	ReasonNotRun               = "NotRun"
	ReasonParametersDiffer     = "ParametersDiffer"
	ReasonScriptNotFound       = "ScriptNotFound"
	ReasonConsentRequired      = "ConsentRequired"
	ReasonDisabled             = "Disabled"
	ReasonBaselineNotFound     = "BaselineNotFound"
	ReasonBaselineNotComplete  = "BaselineNotComplete"
	ReasonNotComparable        = "NotComparable"
	ReasonLayersNotMeasured    = "LayersNotMeasured"
	ReasonPreviousRunning      = "PreviousRunning"
	ReasonMissedSchedule       = "MissedSchedule"

	ReasonHibernated             = "Hibernated"
	ReasonReconciliationDisabled = "ReconciliationDisabled"
	ReasonNotForwarded           = "NotForwarded"

	ReasonRookNotInstalled    = "RookNotInstalled"
	ReasonCephClusterNotFound = "CephClusterNotFound"
	ReasonCephProgressing     = "CephProgressing"
	ReasonCephWarning         = "CephWarning"
	ReasonOSDsMissing         = "OSDsMissing"
	ReasonTooFewDomains       = "TooFewFailureDomains"
	ReasonBlockPoolNotReady   = "BlockPoolNotReady"
	ReasonBlockPoolDiffers    = "BlockPoolDiffers"
	ReasonSharedNodes         = "SharedNodes"

	ReasonServerNotRunning    = "ServerNotRunning"
	ReasonStoreUnavailable    = "StoreUnavailable"
	ReasonReconnecting        = "Reconnecting"
	ReasonSecretNotFound      = "SecretNotFound"
	ReasonEndpointUnreachable = "EndpointUnreachable"
	ReasonClockSkew           = "ClockSkew"
	ReasonStoreLost           = "StoreLost"
	ReasonServerFailed        = "ServerFailed"

	ReasonNoNodeSelected     = "NoNodeSelected"
	ReasonNodeNotReady       = "NodeNotReady"
	ReasonNodeNotFound       = "NodeNotFound"
	ReasonAgentNotSeen       = "AgentNotSeen"
	ReasonDriverNotInstalled = "DriverNotInstalled"
	ReasonDriverNotOnNode    = "DriverNotOnNode"
	ReasonPoolNotListed      = "PoolNotListed"
	ReasonPoolNotFound       = "PoolNotFound"
	ReasonCreatingPool       = "CreatingPool"
	ReasonImportingPool      = "ImportingPool"
	ReasonExporting          = "Exporting"
	ReasonAttaching          = "Attaching"
	ReasonReturning          = "Returning"
	ReasonGrowing            = "Growing"
	ReasonZFSNotLoaded       = "ZFSNotLoaded"
	ReasonTooFewDevices      = "TooFewDevices"
	ReasonDeviceNotFound     = "DeviceNotFound"
	ReasonOverBudget         = "OverBudget"
	ReasonPropertyDrift      = "PropertyDrift"
	ReasonPoolUnhealthy      = "PoolUnhealthy"
	ReasonPoolNearlyFull     = "PoolNearlyFull"
	ReasonPoolFilling        = "PoolFilling"
	ReasonHostCommandFailed  = "HostCommandFailed"
)

// Reasons of conditions that need a person.
const (
	ReasonInvalidSpec       = "InvalidSpec"
	ReasonInvalidParameters = "InvalidParameters"
	ReasonOverrideRefused   = "OverrideRefused"
	ReasonClusterNotOwned   = "ClusterNotOwned"
	ReasonClusterDeleted    = "ClusterDeletedByHand"
	ReasonClusterStuck      = "ClusterNeedsAttention"
	ReasonRejected          = "RejectedByAPIServer"
	ReasonFailed            = "Failed"
	ReasonIntegrityFailed   = "IntegrityFailed"
	ReasonDurabilityDiffers = "DurabilityMismatch"
	ReasonCacheNotEmptied   = "CacheNotEmptied"
	ReasonNotEnoughSpace    = "NotEnoughSpace"
	ReasonFreeSpaceLow      = "FreeSpaceLow"
	ReasonVolumeDiffers     = "VolumeDiffers"
	ReasonInterrupted       = "Interrupted"
	ReasonRegressed         = "Regressed"
	ReasonAdoptionRefused   = "AdoptionRefused"

	ReasonDurabilityWeakened   = "DurabilityWeakened"
	ReasonDurabilityOverridden = "DurabilityOverridden"

	ReasonFlushNotHonoured      = "FlushNotHonoured"
	ReasonCommitBelowFlushFloor = "CommitBelowFlushFloor"
	ReasonClientBound           = "ClientBound"
	ReasonPodThrottled          = "PodThrottled"
	ReasonBackupRunning         = "BackupRunning"
	ReasonProcessorStolen       = "ProcessorStolen"
	ReasonClockJumped           = "ClockJumped"

	ReasonPrefixCollision           = "PrefixCollision"
	ReasonCredentialsRejected       = "CredentialsRejected"
	ReasonBucketNotFound            = "BucketNotFound"
	ReasonPrefixNotEmpty            = "PrefixNotEmpty"
	ReasonFenced                    = "Fenced"
	ReasonPasswordWrong             = "PasswordWrong"
	ReasonPasswordInvalid           = "PasswordInvalid"
	ReasonConfigRejected            = "ConfigRejected"
	ReasonConditionalPutUnsupported = "ConditionalPutUnsupported"

	ReasonCephUnhealthy = "CephUnhealthy"
	ReasonCephNotOwned  = "CephNotOwned"
	ReasonCephDeleted   = "CephClusterDeletedByHand"
	ReasonOSDsDiffer    = "OSDsDiffer"

	ReasonStorageClassNotOwned = "StorageClassNotOwned"
	ReasonStorageClassDiffers  = "StorageClassDiffers"
	ReasonDeviceNotBlank       = "DeviceNotBlank"
	ReasonWipeRefused          = "WipeRefused"
	ReasonListTruncated        = "ListTruncated"
	ReasonPoolAmbiguous        = "PoolAmbiguous"
	ReasonPoolReplaced         = "PoolReplaced"
	ReasonPoolLost             = "PoolLost"
	ReasonPoolSuspended        = "PoolSuspended"
	ReasonPropertyRefused      = "PropertyRefused"
	ReasonLayoutDiffers        = "LayoutDiffers"
	ReasonServerLost           = "ServerLost"
	ReasonExportShrunk         = "ExportShrunk"
)
