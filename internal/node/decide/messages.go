package decide

// Messages of the conditions of a PgNodeStorage, by condition. Tests assert reasons and
// key facts, so that rewording touches this file alone.

// DevicesAttached.
const (
	msgLoadingDriver    = "Waiting for the kernel module nbd to be loaded"
	msgDetaching        = "Waiting for devices to be detached, and attached again: %s"
	msgExporting        = "Waiting for %d exports to be created or grown to %d bytes"
	msgAttaching        = "Waiting for devices to be attached: %s"
	msgReconnecting     = "Waiting for devices to be reconnected to servers that have everything written to them: %s; requests wait meanwhile, and none is lost"
	msgReattaching      = "Waiting for devices to be attached again to the mirror of pool %s: %s"
	msgReturning        = "Waiting for %s to return to its mirror"
	msgGrowing          = "Waiting for pool %s to be released, so that its devices can grow to %d bytes"
	msgExportsNotListed = "the server of store %s runs but does not list its exports: %s"
	msgExportShrunk     = "export %s has %d bytes and had %d, so part of pool %s is gone; the agent attaches nothing. Find out what changed the contents of its bucket before you do anything else; see the runbook ExportShrunk"
	msgPoolElsewhere    = "the imported pool %s is not on the network devices; export it, or name another pool in a new profile"

	msgAttached       = "%d devices are attached to running servers"
	msgGrewInVain     = "; they have %d bytes, and the server offered no more when they were last attached"
	msgGrowsUnmounted = "; they grow from %d to %d bytes once no volume of the pool is mounted on the node. Switch its databases over and stop them there for a minute (or drain the node), or wait for its next restart"

	// The following four continue what is reported of each server that is away.
	msgImportNeedsAll = "; the agent imports the pool once every server answers, because a leg of a mirror may lack commits that the others have"
	msgMirrorWaits    = "; pool %s waits up to requestTimeout, and then continues without it if each of its mirrors has another complete leg"
	msgRequestsWait   = "; requests to pool %s wait meanwhile, and none is lost"
	msgServesWithout  = "; pool %s keeps serving without %s"

	msgDroppingOverdue = "pool %s has waited for %s longer than requestTimeout, and continues without"
	msgDroppingLost    = "pool %s keeps serving without %s: %s"
	msgNoCompleteLeg   = "pool %s waits for %s; ZFS does not report another leg of the mirror as complete, so the agent drops none"
	msgLegsIncomplete  = "pool %s keeps serving without %s; the agent returns none of them while ZFS does not report the others as complete. Wait for a resilver to end, or see zpool status for errors and run zpool clear once they are explained"

	msgServerUnknown     = "the state of the server of store %s is unknown: %s"
	msgServerFenced      = "another writer has opened the prefix of store %s, so its server answers no more requests. Find and stop the other writer, then restart this node%s"
	msgServerNotStarted  = "the server of store %s has not started since the node did"
	msgServerHolds       = "the server of store %s holds all requests since %s, until its store is back (ZeroFS restarted %d times)%s"
	msgServerStarts      = "the server of store %s is starting%s"
	msgServerStops       = "the server of store %s is flushing before it stops"
	msgServerHandsOver   = "the server of store %s shut down cleanly, and its devices wait for its successor"
	msgServerNotRunning  = "the server of store %s does not run"
	msgFencedNoRestart   = "; requests to pool %s wait until then, and the agent does not restart the node for it"
	msgServerLostUnread  = "%s; the effect on pool %s is unknown, because ZFS does not answer"
	msgServerLost        = "pool %s has lost %s: %s. The agent does not connect the pool to a new server, which may lack data that ZFS assumes to be written. "
	msgServerLostWait    = "Switch its databases over to other nodes, do not run zpool clear, and restart this node. The agent then imports the pool with everything that was flushed; see the runbook ServerLost"
	msgEndedDisconnected = "a device of store %s was disconnected while the pool was imported"
	msgEndedUnknown      = "the device of store %s fails, and the state of its server is unknown: %s"
	msgEndedFenced       = "another writer has opened the prefix of store %s"
	msgEndedConnection   = "the connection to the server of store %s broke, for example because a request took longer than requestTimeout, and the device fails"
	msgEndedUncleanly    = "the server of store %s ended uncleanly"

	// The following five continue msgServerLost.
	msgRestartUseless   = "onServerLost is RebootNode, but no device is attached that a restart would bring back; restart the node by hand"
	msgRestartFailed    = "onServerLost is RebootNode, and the agent has asked the kernel for a restart, which did not happen; restart the node by hand"
	msgRestarting       = "onServerLost is RebootNode: the node is being restarted"
	msgRestartedLately  = "onServerLost is RebootNode, but the agent restarted the node at %s and leaves %s between two restarts, longer each time they follow each other. It restarts the node again after that, or restart it by hand once its servers stay up"
	msgRestartAnnounced = "onServerLost is RebootNode: the node is being restarted, and not again within %s"
)

// PoolReady.
const (
	msgZFSNotLoaded     = "the node's kernel has no ZFS module loaded; install OpenZFS on the node (zfs-dkms, or the distribution's package) and run modprobe zfs"
	msgPoolNeedsDevices = "Waiting for the network devices of pool %s to be attached; the condition DevicesAttached reports what is missing"
	msgPoolLost         = "pool %s (GUID %s) was on this node, and no device has it now; the agent does not create it again. Attach its devices again, or list %[2]s in pool.abandonedGUIDs of the profile once you no longer need its data"
	msgPoolNotFound     = "the node has no pool %s, imported or importable. Create it with zpool create, attach its devices, or declare spec.zfsLocalPV.pool.create in the profile"
	msgPoolReplaced     = "the imported pool %s has GUID %s, but the pool of this node had %s. Export the wrong one and import the right one by GUID, or list %[3]s in pool.abandonedGUIDs of the profile to adopt the new one"
	msgPoolSuspendedNet = "pool %s is suspended: all I/O to it waits until the node restarts. Do not run zpool clear: the condition DevicesAttached reports the state of its devices. ZFS says: %s"
	msgPoolSuspended    = "pool %s is suspended: all I/O to it waits. ZFS says: %s Bring its devices back, then run zpool clear %s on the node"
	msgPoolStalls       = "pool %s is imported, and requests to it wait; the condition DevicesAttached reports for what"
	msgPoolOnline       = "pool %s is imported, %s"
	msgPoolUnhealthy    = "pool %s is %s. ZFS says: %s"
	msgPoolOnOtherDisks = "pool %s (GUID %d) is on devices that are not the network devices, so the agent does not import it. Destroy or rename it if you do not need its data (zpool import %[2]d NEWNAME), or name another pool in a new profile"
	msgPoolAmbiguous    = "%d pools named %s can be imported (GUIDs %s). Import the right one with zpool import GUID on the node, or detach the devices of the others"
	msgPoolImportState  = "pool %s can be imported only in state %s. ZFS says: %s"
	msgImporting        = "Waiting for pool %s (GUID %d) to be imported"
	msgTakingOver       = "Waiting for pool %s (GUID %d) to be taken over from another machine. That machine imported it last, and can no longer write to its stores"
	msgCreating         = "Waiting for pool %s to be created on %s"
	msgDeviceUnread     = "the agent could not read what is on %s (%s)%s"
	msgNetworkNotBlank  = "no pool %s can be imported from the network devices, and %s is not blank (%s), so the agent creates none. Find out what wrote to its prefix, or create a profile with another one"

	// The first argument of the following nine is the field of pool.create.
	msgDeviceMissing  = "%s: the node has no device %s; correct the path, or attach the device (ls -l /dev/disk/by-id on the node)"
	msgDeviceNotRead  = "%s: what is on %s could not be read%s"
	msgDeviceTwice    = "%s: %s is named twice; name each device once"
	msgDeviceTwoPaths = "%s: %s is %s, which another path names too; name each device once"
	msgDeviceSerial   = "%s: the disk at %s has serial %q, and serial: %s is declared; it is not touched. Attach that disk, or correct path or serial (lsblk -o NAME,SERIAL,WWN on the node)"
	msgDeviceInUse    = "%s: %s is in use (%s) and is not touched; release it, or name another device"
	msgDeviceNotBlank = "%s: %s is not blank (%s) and is not touched; name another device, or set wipe: true for it if nothing on it is needed"
	msgSelector       = "%s.selector: %v"
	msgTooFewDevices  = "%s.selector: %d of %d devices found that match, are blank and are not taken by another vdev%s. Attach more, or widen the selector (status.devices lists all)"

	msgNotTouched    = "%s: %s is not blank (%s) and is not touched: "
	msgWipeByHand    = "wipe it by hand on the node (wipefs -a) if nothing on it is needed"
	msgWipeAddSerial = "add serial: %s to consent to this disk, if nothing on it is needed"
	// The following three reject the consent to wipe a device that has contents.
	msgWipeUnbound   = msgNotTouched + "wipe: true is not bound to one disk, because this path can name another disk tomorrow; %s"
	msgWipeUsedUp    = msgNotTouched + "its wipe: true was used up for pool GUID %s on %s; %s"
	msgWipeOtherDisk = msgNotTouched + "its wipe: true was used for disk %q on %s, and the path names disk %q now; %s"
)

// PropertiesApplied.
const (
	msgPropertiesUnread  = "Waiting for the pool to be imported and to answer, to read its properties"
	msgPropertiesFailed  = "the node refused a change; the agent retries every minute: %s"
	msgPropertiesRefused = "refused, so the old values stay while everything else is applied: %s"
	msgOlderARCLimit     = "arcMax: this node has one ARC, which the older PgNodeStorage %s limits to %s; declare the same in both profiles, or in one only"
	msgPropertiesApplied = "%d properties were read back as declared"
	msgPropertiesDrift   = "changed by hand, and driftPolicy is Report: %s"
	msgPropertiesSetting = "Waiting for properties to be set"
)

// DevicesHealthy.
const (
	msgDevicesHealthy    = "every device of the pool works and none has counted an error"
	msgDevicesUnread     = "Waiting for the pool to be imported, to read the state of its devices"
	msgNetworkLayout     = "the pool is %s, and the profile declares %s; the agent changes no layout: create another PgStorageProfile and replicate into a cluster on it"
	msgDiskLayout        = "the pool is %s, and pool.create declares %s; the agent changes no layout: change the pool with zpool(8), or correct pool.create"
	msgDiskErrors        = "%s is %s (errors: %d read, %d write, %d checksum)"
	msgDataErrorsUnknown = "ZFS cannot report which data is damaged"
	msgDataError         = "1 data error that redundancy could not repair"
	msgDataErrors        = "%d data errors that redundancy could not repair"
)

// CapacityHealthy.
const (
	msgCapacityHealthy = "at least %d%% of the pool is free"
	msgCapacityUnread  = "Waiting for the pool to be imported, to read its capacity"
	msgNearlyFull      = "less than %d%% of the pool is free: ZFS slows down and fragments, and at 0 every database on it stops. Add a vdev, delete snapshots (usedBySnapshots in status), or move databases"
	msgFilling         = "the pool will be full around %s if it keeps filling at this rate; add a vdev, delete snapshots, or find what grows"
)

// StatusComplete.
const (
	msgVolumesTruncated = "status.volumes lists %d of %d volumes (at most %d, or %d KiB), and databases on the others keep full_page_writes on. Put new databases on other nodes, or delete volumes that nothing needs"
	msgDevicesTruncated = "status.devices lists %d of %d disks (at most %d); selectors consider all of them, see lsblk on the node for the others"
	msgVdevsTruncated   = "status.pool.vdevs lists %d of %d vdevs; the condition DevicesHealthy covers all of them, see zpool status on the node for the others"
)
