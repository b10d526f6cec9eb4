package v1alpha1

// Condition types. Conditions follow kstatus
// (https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md):
// Ready is derived from the others and never set by hand; Reconciling and
// Stalled exist only while they are true.
const (
	// ConditionReady is True when the object is what its spec declares.
	ConditionReady = "Ready"
	// ConditionReconciling is True while the operator waits for something that needs
	// no action; its message says what.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True when an administrator must act; its message says how.
	ConditionStalled = "Stalled"

	// ConditionStorageReady says whether the profile's storage is usable.
	ConditionStorageReady = "StorageReady"
	// ConditionNodesReady says whether every selected node's pool and datasets are
	// as the profile declares, as its agent read them back, and its Node is Ready.
	ConditionNodesReady = "NodesReady"
	// ConditionDriverReady says whether the CSI driver can create volumes on every
	// selected node.
	ConditionDriverReady = "DriverReady"

	// ConditionBackingReady says whether the StorageClass of the OSDs exists and
	// provisions block devices.
	ConditionBackingReady = "BackingReady"
	// ConditionBackingVerified says whether the agents read back the volumes below the
	// OSDs as zvols of the declared block size.
	ConditionBackingVerified = "BackingVerified"
	// ConditionCephReady says whether the CephCluster is as declared, healthy enough for
	// new volumes, and has OSDs on as many failure domains as a block needs.
	ConditionCephReady = "CephReady"
	// ConditionBlockPoolReady says whether every CephBlockPool of the profile is ready.
	ConditionBlockPoolReady = "BlockPoolReady"
	// ConditionPoolVerified says whether a probe created, wrote, flushed, read and removed
	// an image in each pool of the profile. It is Unknown, and does not take part in Ready,
	// for a CephCluster that the profile did not create.
	ConditionPoolVerified = "PoolVerified"
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
	// attached to a server that has not restarted since. Pools on disks do not have it.
	ConditionDevicesAttached = "DevicesAttached"
	// ConditionPropertiesApplied says whether the agent read back every property of the
	// pool and its datasets as declared.
	ConditionPropertiesApplied = "PropertiesApplied"
	// ConditionDevicesHealthy says whether every device of the pool works. It does
	// not take part in Ready: a degraded mirror still serves.
	ConditionDevicesHealthy = "DevicesHealthy"
	// ConditionVolumesMounted of a PgNodeStorage says whether every declared volume in the
	// node's memory has its tmpfs. Lost volumes do not take part in Ready: the node can have
	// new ones.
	ConditionVolumesMounted = "VolumesMounted"
	// ConditionCapacityHealthy says whether the pool has its headroom, and a volume in
	// memory a tenth of its size. It does not take part in Ready.
	ConditionCapacityHealthy = "CapacityHealthy"
	// ConditionStatusComplete of a PgNodeStorage exists only while its status has no
	// room for everything on the node, and is then False. It does not take part in Ready.
	ConditionStatusComplete = "StatusComplete"

	// ConditionNodeReachable of a PgNodeStorage repeats the Node's own Ready condition.
	// The manager writes it: while it is not True, the agent does not update the rest.
	// It does not take part in Ready, which is the agent's.
	ConditionNodeReachable = "NodeReachable"

	// ConditionVolumesVerified says whether every volume of the database has the kind
	// and the properties of the profile, as read back from the node. Profiles of type
	// External have nothing to read back.
	ConditionVolumesVerified = "VolumesVerified"

	// ConditionVolumesAttached says whether the devices below every volume of the
	// database are attached, and which instances are fenced because theirs were lost.
	// Only profiles with network devices have it.
	ConditionVolumesAttached = "VolumesAttached"

	// ConditionParametersAccepted says whether every Postgres parameter and
	// override of the spec is safe and valid.
	ConditionParametersAccepted = "ParametersAccepted"
	// ConditionParametersApplied says whether the running instances have the
	// parameters that status.parameters lists, as read back from them.
	ConditionParametersApplied = "ParametersApplied"
	// ConditionProbesApplied says whether the pods of the instances have the probes that
	// spec.instanceProbes of the profile leads to. Only clusters on a profile with that
	// field have it.
	ConditionProbesApplied = "ProbesApplied"
	// ConditionDurabilityVerified says whether every running instance has the settings
	// that spec.durability needs, from any source. It is Unknown, and does not take
	// part in Ready, while they cannot be read. Weaker settings of single roles or
	// databases make it False, and do not take part in Ready either.
	ConditionDurabilityVerified = "DurabilityVerified"
	// ConditionDatabaseReady says whether CloudNativePG reports the database
	// healthy with all its instances.
	ConditionDatabaseReady = "DatabaseReady"
	// ConditionSourceReady says whether a follower can replicate its cluster: it exists,
	// consents, and is the one that the follower was cloned from. While a follower runs, a
	// cluster that is not ready does not take part in Ready. A database with spec.origin has
	// it until it exists, and where the ObjectStore that it was restored from is missing.
	ConditionSourceReady = "SourceReady"
	// ConditionReadPoolsReady says whether every pool of spec.readPools is as declared and
	// serves reads. Clusters without pools do not have it.
	ConditionReadPoolsReady = "ReadPoolsReady"
	// ConditionSiteInRole says whether a site writes, or follows the site that writes, as
	// spec.topology declares. Only databases with spec.topology have it.
	ConditionSiteInRole = "SiteInRole"
	// ConditionSitesAgree says whether the other sites answer and agree: on which one writes,
	// on the members, and in what their database is. Only databases with spec.topology
	// have it. What only the network, a switch under way or a rejected watcher causes does not
	// take part in Ready.
	ConditionSitesAgree = "SitesAgree"
	// ConditionFollowersCaughtUp says whether every follower is within its maxLag. A cluster
	// has it of its read pools. A read pool, or a site that follows, has it of its instances.
	// It does not take part in Ready, and is Unknown while the lag cannot be read.
	ConditionFollowersCaughtUp = "FollowersCaughtUp"
	// ConditionBackedUp says whether the database can be restored: WAL is archived, and a
	// base backup succeeded when the schedules last asked for one. Only databases with
	// spec.backup have it. What goes wrong while the database runs does not take part in
	// Ready.
	ConditionBackedUp = "BackedUp"
	// ConditionRestoreVerified says whether the last verification restored the newest backup
	// and passed all checks. It is Unknown until one has ended. Only databases with
	// spec.backup.verify have it. It does not take part in Ready.
	ConditionRestoreVerified = "RestoreVerified"
	// ConditionSnapshotReady says whether the VolumeSnapshots of a branch are usable.
	ConditionSnapshotReady = "SnapshotReady"
	// ConditionMasked says whether the SQL of spec.masking of a branch has run. Only branches
	// with spec.masking have it.
	ConditionMasked = "Masked"
	// ConditionIndependent says whether a promoted branch shares nothing with its source any
	// more. Only branches with spec.promote have it.
	ConditionIndependent = "Independent"
	// ConditionMonitored says whether a PodMonitor scrapes the instances. It
	// does not take part in Ready.
	ConditionMonitored = "Monitored"
	// ConditionAnnotationsForwarded says whether the annotations of a PgStorageCluster
	// that CloudNativePG knows reach its Cluster. Objects without any do not have it.
	// It does not take part in Ready.
	ConditionAnnotationsForwarded = "AnnotationsForwarded"
	// ConditionBenchmarkComplete reports the progress of the inline benchmark. It does
	// not take part in Ready.
	ConditionBenchmarkComplete = "BenchmarkComplete"

	// ConditionTargetReady says whether a PgBenchmark's cluster can be measured.
	ConditionTargetReady = "TargetReady"
	// ConditionComplete is True when a PgBenchmark has its result.
	ConditionComplete = "Complete"
	// ConditionIntegrityVerified says whether the checks after a PgBenchmark
	// found the data intact.
	ConditionIntegrityVerified = "IntegrityVerified"
	// ConditionLayersMeasured says whether every layer that spec.layers requests was
	// measured. It does not take part in Ready: the benchmark continues without them.
	ConditionLayersMeasured = "LayersMeasured"
	// ConditionBelievable says whether the observations during a PgBenchmark's runs
	// support its figures. It does not take part in Ready: an unreliable figure is a
	// result too.
	ConditionBelievable = "Believable"
	// ConditionCleanedUp says whether a finished PgBenchmark's database, roles and Job
	// are deleted, as its cleanup policy requires.
	ConditionCleanedUp = "CleanedUp"
	// ConditionNotRegressed says whether a matrix is no worse than the baseline of
	// its gate. It does not take part in Ready: a regression is a result.
	ConditionNotRegressed = "NotRegressed"

	// ConditionScheduled says whether a PgScheduledBenchmark starts runs.
	ConditionScheduled = "Scheduled"
	// ConditionOnTime says whether the last run that was due started.
	ConditionOnTime = "OnTime"
	// ConditionLastRunSucceeded reports the outcome of the last run of a
	// PgScheduledBenchmark that ended. It does not take part in Ready, unless the run
	// found damage.
	ConditionLastRunSucceeded = "LastRunSucceeded"
)
