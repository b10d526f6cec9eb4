package observed

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// ForeignAPIs is what other operators' CRDs offer.
type ForeignAPIs struct {
	// CNPGInstalled: the CRDs of CloudNativePG exist.
	CNPGInstalled bool
	// CNPGMissing lists what every database needs and its CRDs do not have: it is too old.
	CNPGMissing []string
	// CNPGMissingForBenchmarks lists the CRDs that only benchmarks need and that do not
	// exist. DatabaseRole came with version 1.30, and databases run without it.
	CNPGMissingForBenchmarks []string
	// ObjectStores: the CRD of the Barman Cloud plugin exists.
	ObjectStores bool
	// PodMonitors: the CRD of prometheus-operator exists.
	PodMonitors bool
	// ZFSLocalPV: the CRDs of zfs-localpv exist.
	ZFSLocalPV bool
	// ZFSQuotaType: its volumes can be limited without counting snapshots.
	ZFSQuotaType bool
	// VolumeSnapshots: the CRDs of volume snapshots exist.
	VolumeSnapshots bool
	// CRDs of which kinds of storage read objects, by name, and whether they exist.
	CRDs map[string]bool
}

// Has reports whether every one of these CRDs exists.
func (f ForeignAPIs) Has(names ...string) bool {
	for _, name := range names {
		if !f.CRDs[name] {
			return false
		}
	}
	return true
}

// Namesake is a CloudNativePG Cluster that has our name but is not ours.
type Namesake struct {
	UID string
	// AdoptBy is the PgStorageCluster that it may be taken over by.
	AdoptBy string
}

// ReadBack is what the running instances say of their parameters.
type ReadBack struct {
	// Instances that answered, with each parameter's value in the base unit of
	// Postgres.
	Instances map[string]map[string]float64
	// Errors of those that did not, by instance.
	Errors map[string]string
	// Settings that durability rests on, by instance and name, as Postgres writes them.
	// An instance that does not run our queries has none.
	Settings map[string]map[string]string
	// Overrides of such settings for roles and databases, as the primary reports them.
	Overrides []Override
	// OverridesRead says that the primary reported them, be it that there are none.
	OverridesRead bool
	// Probes of the instances' pods, by instance.
	Probes map[string]Probes
	// Receivers of WAL, by instance. An instance that does not run our queries has none.
	Receivers map[string]Receiver
	// Kept is the WAL that the primary keeps.
	Kept KeptWAL
	// Archive is what the primary reports of its WAL archive.
	Archive Archive
	// Followers are the names under which physical WAL is streamed from any instance.
	Followers []string
}

// Receiver says how far an instance is that receives WAL.
type Receiver struct {
	Streaming bool
	// Behind is WAL in bytes that it knows of and has not replayed. Delay is the age in
	// seconds of the last commit that it replayed, or 0 if it replayed all.
	Behind, Delay int64
	// Timeline that it receives; 0 where it receives none.
	Timeline int64
	// Position in WAL, in bytes, up to which it received or replayed it; 0 where it is not
	// known.
	Position int64
	// Stuck says that it received nothing for a while, and that its position did not move.
	Stuck bool
}

// KeptWAL says from which position on a primary keeps WAL.
type KeptWAL struct {
	// By is the instance; empty where it is not known.
	By string
	// From is the position in bytes, where a segment begins.
	From int64
}

// Probes by which kubelet judges an instance.
type Probes struct {
	Startup, Readiness, Liveness Probe
}

// Probe has the seconds of an attempt, the seconds from one to the next, and how many
// have to fail. Zero means that no value is declared.
type Probe struct {
	Timeout, Period, Attempts int32
}

// Override is a setting that sessions of a role, a database, or a role in a database
// begin with (pg_db_role_setting).
type Override struct {
	// Database and Role are empty for all of them.
	Database, Role string
	// Name and Value of the setting.
	Name, Value string
}

// Claim is a PersistentVolumeClaim of an instance, and its volume as the node's
// agent has read it back.
type Claim struct {
	Name, Instance string
	// WAL says that it holds WAL only.
	WAL bool
	// Role says what else than data or WAL it holds, in CloudNativePG's words:
	// PG_TABLESPACE, or a role that is not known here. Empty for data and WAL.
	Role string
	// Volume is the name of the PersistentVolume; empty while it is not bound.
	Volume string
	// Node and Observed are where and how an agent saw the volume; Observed is nil
	// while none did.
	Node     string
	Observed *v1alpha1.ObservedVolume
	// Memory is the volume of a profile of type Memory, in place of Observed; nil while
	// its node's agent has not reported it.
	Memory *v1alpha1.ObservedMemoryVolume
	// Lost says why a volume in memory is gone for good; empty while it is not.
	Lost string
	// Detached says what is wrong with the network devices below the volume; empty
	// where there are none, or all are attached.
	Detached string
	// Home is the node that the claim was given to when it was made.
	Home string
	// Unproved says why no agent is believed about the volume; empty where Observed is
	// set, or the claim is not bound.
	Unproved string
	// Unreachable says that the node is not Ready, so that Observed may be old; empty
	// while it is.
	Unreachable string
}

// Devices says how the network devices of a node are.
type Devices struct {
	Condition DevicesCondition
	// Reason and Message of the agent.
	Reason, Message string
	// Restarts says that the agent restarts the node itself.
	Restarts bool
	// Stalls says that nothing is lost, and that no commit is acknowledged until the
	// devices are back. Their store is unavailable, or their server is being replaced.
	Stalls bool
}

// DevicesCondition is one of three: what is between Lost and Whole changes nothing.
type DevicesCondition int

const (
	// DevicesBetween are neither lost nor all there.
	DevicesBetween DevicesCondition = iota
	// DevicesLost means that servers of the pool's devices were lost, or that another
	// writer opened their prefix.
	DevicesLost
	// DevicesWhole means that all devices are attached below an online pool.
	DevicesWhole
)
