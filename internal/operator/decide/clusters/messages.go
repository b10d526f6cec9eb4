package clusters

// The texts of a PgStorageCluster's conditions, by condition.
const (
	// DatabaseReady.
	msgRejected          = "the API server rejects an object built from this spec: %v"
	msgDeletionSuspended = "the deletion waits because spec.suspend is true; set it to false to continue"
	msgDeleting          = "Waiting for the CloudNativePG Cluster to be deleted"
)

// StorageReady.
const (
	msgProfileNotFound      = "spec.profile: PgStorageProfile %q does not exist; create it, or choose one from kubectl get pgsp"
	msgProfileNotReconciled = "Waiting for the operator to reconcile PgStorageProfile %s"
	msgProfileReady         = "PgStorageProfile %s is Ready"
	msgProfileServes        = "the StorageClasses of PgStorageProfile %s exist, but %s"
	msgProfileKeepsServing  = "PgStorageProfile %s serves this database. It creates no new volumes: %s"
	msgProfileNotReady      = "PgStorageProfile %s is not Ready: %s: %s"
)

// ParametersAccepted.
const (
	msgAccepted     = "every parameter and override is valid and safe"
	msgForeignImage = "spec.postgres.image: %s is not an image of %s, and its processes get the rights of the instances in the namespace. Use one of that repository, or %s"
)

// DatabaseReady.
const (
	msgCNPGNotInstalled       = "CloudNativePG is not installed (no CRD clusters.postgresql.cnpg.io); install version 1.28 or newer: https://cloudnative-pg.io/documentation/current/installation_upgrade/"
	msgCNPGTooOld             = "CloudNativePG is too old: its CRDs lack %s; upgrade to version 1.28 or newer"
	msgCNPGNoBenchmarks       = "CloudNativePG is too old for benchmarks: it has no CRD %s; upgrade to version 1.30 or newer. Databases run without it"
	msgClusterDeleted         = "the CloudNativePG Cluster %s (uid %s) was deleted by hand after its database had been initialised; a new one would be empty. Restore from a backup through spec.cnpg.spec.bootstrap.recovery, or accept an empty database; then, in both cases: kubectl -n %s annotate pgsc %s %s=%s"
	msgClusterNotOwned        = "a CloudNativePG Cluster %s exists and was not created by this object. Choose another name, or let this object adopt it with its data: kubectl -n %s annotate clusters.postgresql.cnpg.io %s %s=%s"
	msgAdoptionRefused        = "the operator does not adopt the CloudNativePG Cluster %s and has not changed it: %s"
	msgAdoptReplica           = "spec.replica: the Cluster follows another one, whose durability the operator cannot verify; promote it and remove the field"
	msgOtherMajor             = "spec.postgres.version: it has major %d, and the instances run PostgreSQL %d; set it to %d, and upgrade afterwards"
	msgAdoptStandbys          = "spec.postgresql.synchronous: standbyNamesPre and standbyNamesPost name standbys that are not its instances; remove them"
	msgAdoptEnvironment       = "spec.env and spec.envFrom: environment variables can change Postgres behind its parameters; set the same ones in spec.cnpg.spec, where they are reviewed, or remove them"
	msgNotCreatedSuspended    = "spec.suspend is true: the operator creates no database"
	msgClusterCreating        = "the CloudNativePG Cluster is being created"
	msgNotUpdatedSuspended    = "spec.suspend is true: the database keeps running, and the operator does not apply this spec"
	msgClusterUpdating        = "the CloudNativePG Cluster is being updated to this spec"
	msgClusterStuck           = "CloudNativePG: %s; see kubectl -n %s describe clusters.postgresql.cnpg.io %s"
	msgFollowerLost           = ". The database that it follows has the data: clone this one again instead of a restore; see the runbook ClusterNeedsAttention"
	msgHealthy                = "%d of %d instances are ready, primary %s"
	msgNothingReported        = "nothing reported yet; is the CloudNativePG operator running?"
	msgNotHealthy             = "%d of %d instances are ready; CloudNativePG: %s"
	msgVolumesPending         = "%d of %d instances are ready; claims without a volume: %s (see kubectl -n %s describe pvc); CloudNativePG: %s"
	msgDiskFull               = "%d of %d instances are ready; Postgres has no room on a volume. Raise %s; Postgres starts within 5 minutes of that; CloudNativePG: %s"
	msgLargerVolumes          = "spec.storage.size, or spec.storage.walSize where WAL has a volume of its own"
	msgLargerPool             = "storage.size in the entry of spec.readPools of PgStorageCluster %s"
	msgReconciliationDisabled = "annotation %s is disabled: CloudNativePG neither replaces a lost primary nor applies changes; remove it to resume"
	msgResume                 = "set it to off to start the instances"
	msgHibernationRequested   = "annotation %s is on, and CloudNativePG has not acted on it yet; %s"
	msgHibernating            = "annotation %s is on; CloudNativePG: %s; %s"
	msgHibernated             = "annotation %s is on: no instance runs, and the volumes are kept; %s"
)

// VolumesAttached.
const (
	msgAttached             = "every device of the volumes is attached"
	msgStaysFencedSuspended = " could run again and stays fenced, because spec.suspend is true"
	msgNodeUnknown          = "its node is not known yet"
	msgRunsOn               = "keeps running"
	msgStaysFenced          = "stays fenced until every device is attached and the pool is online"
	msgStalled              = "acknowledges no commit until its devices are back, and then continues"
	msgFencePending         = "is not fenced yet, because spec.suspend is true"
	msgBeingFenced          = "is being fenced"
	msgFenced               = "is fenced"
	msgCannotFence          = "cannot be fenced: "
	msgPrimaryNotFenced     = "is the primary; the operator fences it after a failover, because CloudNativePG does not fail over from a fenced primary"
)

// ParametersApplied.
const (
	msgReadBackLater     = "parameters are read back once the database is ready"
	msgParametersDiffer  = "; CloudNativePG reloads or restarts instances one by one"
	msgParametersNotRead = "the instances' metrics could not be read, so the parameters are not verified: "
	msgNoParameters      = "spec.defaults is CloudNativePG and the spec sets no parameter"
	msgParametersApplied = "%d instances report the numeric and boolean parameters of status.parameters as given"
)

// SiteInRole.
const (
	msgSitesOff            = "spec.topology is alpha, and this manager does not apply it. Start it with --feature-gates=Sites=true and the right to run watchers (Helm: sites.enabled=true), or remove the field"
	msgForeignHosts        = "spec.topology: the instances connect to the hosts that it names; %s"
	msgSiteCreating        = "the database of this site is being created"
	msgSiteWrites          = "site %s writes"
	msgSiteFollowed        = "; sites that follow: %s"
	msgSiteAlone           = "; no other site follows it now"
	msgSiteFollows         = "site %s follows site %s and serves reads"
	msgSiteDemoting        = "site %s is being demoted: it writes no more once CloudNativePG has restarted it"
	msgSiteDemoted         = "site %[1]s has stopped writing, and no site writes until %[2]s is promoted. In site %[2]s set spec.topology.primary to %[2]s, and spec.topology.promotionToken to status.topology.demotionToken of this object. kubectl pgstorage switch does that"
	msgSitePromoting       = "site %s does not write yet: CloudNativePG starts or promotes its primary instance. In a switch it first replays what the other site has acknowledged. If that lasts, the token may be of an earlier switch"
	msgPromotionRequired   = "site %s is not promoted, because nothing proves that no other site writes. For a switch without loss, set spec.topology.primary to %s in the site that writes. Then set its status.topology.demotionToken here as spec.topology.promotionToken. If that site is lost: %s. To accept that: kubectl -n %s annotate pgsc %s %s=%s"
	msgPromotionRefused    = "spec.topology.promotionToken: "
	msgPromotionUnreadable = "it is not a token of CloudNativePG; copy status.topology.demotionToken of the site that was demoted"
	msgPromotionForeign    = "it is of the database with system identifier %s, and this one has %s; copy status.topology.demotionToken of the other site of this database"
	msgPromotionUsed       = "this site was promoted with it before; copy the status.topology.demotionToken of the last demotion"
	msgPromotionOld        = "it is older than the demotion of this site; copy the status.topology.demotionToken of the site that was demoted last"
	msgPromotionElsewhere  = "site %s writes already, on a later timeline than that of the token, so it was promoted since; demote that site, and copy its status.topology.demotionToken"
	msgTopologyRemoved     = "spec.topology was removed from a site that does not write. It would be promoted, or its fence lifted, beside the site that writes. Nothing is applied: set spec.topology as it was"
	msgTopologyWas         = " (self: %s, primary: %s)"
	msgStake               = "commits that it acknowledged after the last one that is replayed here are lost; that one is up to %s old"
	msgStakeUnknown        = "how much was not received is not known: "
	msgStakeStreaming      = "this site still receives WAL, so that the other one is alive and may acknowledge commits that are lost here"
	msgSiteCommit          = "no commit is acknowledged here: this site follows site %s"
	msgSiteLoss            = "what site %s had not received is lost: sites follow asynchronously"
)

// SitesAgree.
const (
	msgSitesNotRead    = "what the other sites do is not known: "
	msgSitesNoWatcher  = "the watcher of the other sites does not exist yet"
	msgSitesAgree      = "the other sites answer, and hold site %s for the one that writes"
	msgTwoSitesWrite   = "site %s accepts writes, too (epoch %d, and here %d). Only the data of the site with the higher epoch is kept. In the other one, set spec.topology.primary to the site that is to write; see the runbook PgStorageTwoSitesWrite"
	msgTwoSitesFenced  = "site %s was promoted after this one and accepts writes (epoch %d, and here %d). The operator has fenced every instance of this site. Set spec.topology.primary to that site, and clone this one again; see the runbook PgStorageTwoSitesWrite"
	msgOtherDatabase   = "site %s has another database (system identifier %s, and here %s): correct its host, or create that site again"
	msgOtherMembers    = "site %s was given other members: make spec.topology.members equal in both"
	msgSwitchUnderWay  = "site %s holds %q for the one that writes, and this one %s"
	msgClocksApart     = "the clock of site %s differs by more than a second: synchronise the clocks of both, because times of commits are compared"
	msgSiteUnreachable = "site %s does not answer: %s"
)

// ProbesApplied.
const (
	msgProbesNotRead = "the probes of the instances' pods are read back once the database is ready"
	msgProbesDiffer  = "; CloudNativePG restarts instances one by one, or waits for you where spec.primaryUpdateStrategy is supervised"
	msgProbesApplied = "the pods of %d instances have the probes that spec.instanceProbes of the profile and spec.cnpg.spec lead to"
)

// DurabilityVerified.
const (
	msgWeakened            = "%s; find who set it, revert it, and treat the database as suspect if it crashed meanwhile"
	msgOverridden          = "%s; revert it with ALTER ROLE or ALTER DATABASE ... RESET, or accept that these sessions do not have durability %s"
	msgDurabilityNotRead   = "the settings that durability depends on are not verified: "
	msgDurabilityVerified  = "every instance reports the settings that durability %s depends on, and no role or database has weaker ones"
	msgNothingPromised     = "durability Ephemeral keeps no commit, which no role, database or setting can weaken. Every instance reports safe values of the settings that hide damage"
	msgNotAllReady         = "not every instance is ready; settings are read back when all are"
	msgSettingsNotReported = "not every instance reports the settings that durability depends on; the ConfigMap of queries may be new, or missing in spec.monitoring of the Cluster"
	msgQueriesNotAdded     = "spec.defaults is CloudNativePG, so the operator adds no monitoring queries; to have the settings verified, add ConfigMap %s, key %s, to spec.cnpg.spec.monitoring.customQueriesConfigMap"
	msgUnchecked           = "; data checksums are off, so damage of the storage is not noticed"
	msgQuorumNotAsked      = "the Cluster does not check the quorum before a failover, so a standby without the last commits may be promoted"
)

// Monitored.
const (
	msgPodMonitorApplied  = "PodMonitor %s selects the instances"
	msgPodMonitorDisabled = "spec.monitoring.podMonitor is Disabled"
	msgPodMonitorCRD      = "the PodMonitor CRD of prometheus-operator is not installed; install it, or set spec.monitoring.podMonitor: Disabled"
	msgPodMonitorNotOwned = "a PodMonitor %s exists and was not created by this operator; rename it, or set spec.monitoring.podMonitor: Disabled"
	msgPodMonitorLater    = "the operator creates the PodMonitor together with the database"
)

// BenchmarkComplete.
const (
	msgBenchmarkCreating = "the benchmark is being created"
	msgBenchmarkLater    = "the benchmark starts when the database is ready"
)

// SourceReady and FollowersCaughtUp of a follower.
const (
	msgSourceNotFound = "spec.follow.cluster: PgStorageCluster %q does not exist in this namespace"
	msgSourceConsent  = "spec.follow.cluster: PgStorageCluster %s has no read pool whose PgStorageCluster is %s; add the pool to its spec.readPools"
	msgSourceNotReady = "Waiting for PgStorageCluster %s: %s"
	msgSourceReplaced = "PgStorageCluster %[1]s has another CloudNativePG Cluster than the one that this database was cloned from (uid %[2]s, and now %[3]s). This may be the last copy of the former data, so it stays. To clone it again, remove the pool from spec.readPools of %[1]s, and add it again once it is gone"
	msgSourceReady    = "PgStorageCluster %s is healthy"
	msgLagNotRead     = "the lag could not be read: "
	msgLagNotReported = "not every instance reports it yet"
	msgNotStreaming   = "not every instance receives WAL of %[1]s; the last commit that is replayed is up to %[2]s old"
	msgVolumeFull     = "the volume of instance %[1]s is full: %[2]s of %[3]s are used. Raise storage.size of the pool in spec.readPools of PgStorageCluster %[4]s, which has it cloned again"
	msgWALRemoved     = "it needs WAL from %[1]s on, and %[2]s keeps it from %[3]s on only; PgStorageCluster %[4]s has the pool cloned again"
	msgSiteCloneAgain = ". If it wrote after the other site was promoted, or lacks WAL that was removed, clone it again; see the runbook PgStorageFollowerBehind"
	msgLagging        = "behind %s: %s"
	msgWithheld       = "no instance that is behind is ready, as staleReads: Refuse asks for: "
	msgCaughtUp       = "every instance receives WAL of %s and is within %s"
	msgFollowerCommit = "no commit is acknowledged here: this database replicates PgStorageCluster %s"
)

// ReadPoolsReady and FollowersCaughtUp of a cluster with read pools.
const (
	msgPoolsOff       = "spec.readPools is alpha, and this manager neither creates nor deletes read pools. Start it with --feature-gates=ReadPools=true and the right to do so (Helm: readPools.enabled=true), or remove the field"
	msgPoolRemoved    = "read pool %s is not declared, and is being deleted with its volumes"
	msgPoolHeld       = ". That waits until every instance of the cluster is ready, because the pool may have the last copy of the data"
	msgDeletingPools  = "Waiting for the read pools %s to be deleted"
	msgPoolsReady     = "%d read pools are ready"
	msgPoolNotOwned   = "spec.readPools: read pool %s needs the name %s. A PgStorageCluster of that name exists, and this one did not create it; choose another name for the pool"
	msgPoolCreating   = "Waiting for PgStorageCluster %[2]s of read pool %[1]s to be reconciled"
	msgPoolStaleReads = "%[1]s.staleReads: Refuse needs instances: 1, and %[1]s.instances is %[2]d. A further instance compares its lag with the first one only, and would serve stale reads. Set instances to 1 and declare further pools, or set staleReads to Serve"
	msgPoolAgain      = "read pool %s is deleted with its volumes and cloned again: %s"
	msgPoolNotReady   = "read pool %s: %s: %s"
	msgLargerThanNode = "spec.storage: the volumes of an instance are %s, and profile %s gives at most %s of a node. Lower spec.storage, or raise spec.memory.maxPerNode there"
	msgLostPool       = ". The operator clones the read pool again"
	msgLostDatabase   = ". The database of durability Ephemeral is lost with it: delete this PgStorageCluster with deletionPolicy Delete, and create it again"
	msgPoolsNotRead   = "no lag is reported of the read pools %s"
	msgPoolsCaughtUp  = "%d read pools are within their maxLag"
)

// BackedUp, and SourceReady of a database that is restored.
const (
	msgPluginNotInstalled  = ": the Barman Cloud plugin of CloudNativePG is not installed (no CRD objectstores.barmancloud.cnpg.io); install it: https://cloudnative-pg.io/plugin-barman-cloud/docs/installation/"
	msgStoreNotFound       = "%s: ObjectStore %q does not exist in this namespace; create it, or choose one from kubectl get objectstores.barmancloud.cnpg.io"
	msgUnmanaged           = ". Until it exists, CloudNativePG does not manage this database: it fails over to no standby and replaces no pod"
	msgStoreKept           = ". Until it exists, the database archives to ObjectStore %s as before"
	msgStoreFound          = "ObjectStore %s exists"
	msgScheduleNotOwned    = "spec.backup.schedules: a ScheduledBackup %s of another database exists; choose another name for the schedule"
	msgBackupLater         = "Waiting for the database to run with the plugin, and to archive its first WAL"
	msgNoBackupYet         = "Waiting for the first base backup; follow it with kubectl get backups.postgresql.cnpg.io"
	msgRecoverable         = "WAL is archived, and base backups succeed; status.backup has what can be restored"
	msgBackupFailed        = "the last base backup failed: %s. CloudNativePG takes the next one by schedule. See the Backup with kubectl describe backups.postgresql.cnpg.io"
	msgBackupOverdue       = "schedule %s came twice since the last base backup that succeeded; see kubectl describe scheduledbackups.postgresql.cnpg.io"
	msgVerificationPending = "no backup in the folder that spec.backup names was verified yet; the first verification starts once the database is recoverable, see status.backupVerification"
	msgArchivingFailing    = "WAL is not archived, and stays on the volumes until it is: %s. Check the bucket, the endpoint and the Secrets that the ObjectStore names, and the log of container plugin-barman-cloud of the primary"
	msgArchiveNotEmpty     = "the folder %s of ObjectStore %s has the WAL of another database, so nothing is archived; set spec.backup.objectStore.archive to a name that is new there"
	msgArchiveLate         = "WAL waits for the archive, and the last was archived more than %s ago (spec.backup.maxArchiveAge); see the log of container plugin-barman-cloud of the primary"
	msgStandbyBackup       = "spec.backup.target: with full_page_writes=off Postgres takes no backup from a standby; set Primary, or remove spec.postgres.parameters[full_page_writes]"
	msgSnapshotsOff        = "spec.backup.schedules[%s].method: VolumeSnapshot needs the feature gate Branches, which is off; set the chart's branches.enabled, or the method ObjectStore"
	msgSnapshotsOnNode     = "%s: the volumes of this profile are on one node, and CloudNativePG makes each new standby of the newest VolumeSnapshot, on its node. Remove it. A copy for tests is a PgStorageBranch; a backup that outlives the node has the method ObjectStore"
	msgNoSnapshots         = "spec.backup.schedules[%s].method: the PgStorageProfile has no VolumeSnapshotClass; set its spec.external.volumeSnapshotClassName, or the method ObjectStore"
	msgSnapshotsMissing    = "spec.backup.schedules[%s].method: the CRDs of VolumeSnapshots are not installed. Install external-snapshotter and its controller (https://github.com/kubernetes-csi/external-snapshotter), and then restart CloudNativePG"
	msgSnapshotClass       = "spec.backup.schedules[%s].method: VolumeSnapshotClass %s of the PgStorageProfile does not exist; see kubectl get volumesnapshotclass"
	msgNoSnapshotYet       = "Waiting for the first backup of schedule %s; follow it with kubectl get backups.postgresql.cnpg.io"
	msgSiteRestored        = "what ObjectStore %s has can be restored, if the store outlives the site. Commits after status.backup.lastArchived are lost; BackedUp is False where WAL waits for more than %s"
	msgNodeRestored        = "; if no volume is left, what ObjectStore %s has can be restored, without the commits after status.backup.lastArchived"
	msgOriginItself        = "spec.origin.server: %s is the folder that this database archives to; set spec.backup.objectStore.archive to a name that is new there"
	msgOriginTooEarly      = "spec.origin.targetTime: %s in ObjectStore %s can be restored from %s on; choose a later time"
	msgOriginNoTime        = "spec.origin.targetTime is not a time as in RFC 3339; write it as 2026-03-01T12:00:00Z"
	msgOriginTooLate       = "spec.origin.targetTime is in the future; choose an earlier time, or remove it to restore all WAL"
	msgOriginLost          = "spec.origin.objectStore: ObjectStore %q, which the database was restored from, does not exist in this namespace; create it again"
	msgOriginFound         = "the database is restored from ObjectStore %s"
	msgOriginSnapshots     = "the database is made of VolumeSnapshot %s"
	msgOriginConsent       = "spec.origin: backups can be of another's database; %s"
)
