package postgres

import (
	"github.com/pgstorage/pgstorage/internal/bench/durability"
)

// Workload is one of pgtune's classes: Web, OLTP, Analytics, Mixed, Desktop.
type Workload string

// Workloads.
const (
	Web       Workload = "Web"
	OLTP      Workload = "OLTP"
	Analytics Workload = "Analytics"
	Mixed     Workload = "Mixed"
	Desktop   Workload = "Desktop"
)

// Medium is one of pgtune's storage types: SSD, HDD, SAN.
type Medium string

// Media.
const (
	SSD Medium = "SSD"
	HDD Medium = "HDD"
	SAN Medium = "SAN"
)

// Source says who chose a value.
type Source string

// Sources, in order of precedence.
const (
	FromSafety   Source = "Safety"
	FromUser     Source = "User"
	FromProfile  Source = "Profile"
	FromComputed Source = "Computed"
)

// Inputs are all that parameters depend on.
type Inputs struct {
	Major     int // 14 to 18
	Workload  Workload
	Medium    Medium
	Tier      durability.Tier
	Instances int
	// Pools and Sites stream WAL from the primary beside its instances: the first instance of
	// each read pool, and that of each other site.
	Pools, Sites int
	// MemoryBytes that one instance may use: its request. 0 = not stated, and
	// nothing that depends on memory is computed or checked.
	MemoryBytes int64
	// HugePages that the instance requests beside MemoryBytes.
	HugePages []HugePages
	CPUs      int // whole cores, at least 1
	// DataBytes and WALBytes are volume sizes; WALBytes 0 = WAL is on the data volume.
	DataBytes, WALBytes int64
	// ArchiveSeconds limits how long WAL may stay out of the archive; 0 = there is none.
	ArchiveSeconds int64
	// WALSegmentBytes is initdb's --wal-segsize; 0 = 16MB.
	WALSegmentBytes int64
	User            map[string]string         // spec.postgres.parameters
	Profile         map[string]Recommendation // by parameter name
	// WholePages: the storage never tears a page of 8 kB, so that full_page_writes
	// can be off.
	WholePages Proof
	// GivenOnly leaves what User does not set to CloudNativePG: nothing is computed,
	// and sizes are not compared with memory. Held are the parameters of the existing
	// Cluster. Safe values are still set over those of them that durability rests on.
	GivenOnly bool
	Held      map[string]string
	// AtLeast are the lowest values of a standby's parameters, in base units; nil for a
	// primary.
	AtLeast map[string]int64
	// raised are those that AtLeast decides.
	raised map[string]string
	// InPlace: every instance is ready and no primary is being changed, so that
	// none has to return by pg_rewind. One instance needs no such proof.
	InPlace Proof
}

// Proof of something that a setting rests on, from what was read back.
type Proof struct {
	// Possible says that this kind of storage can give it at all.
	Possible bool
	// Missing says what is not proved yet; empty when all is.
	Missing string
	// Because says what was read back.
	Because string
}

// Holds says that it was proved.
func (p Proof) Holds() bool { return p.Possible && p.Missing == "" }

// Recommendation is a value that a storage profile asks for, and why.
type Recommendation struct{ Value, Reason string }

// Parameter that is passed to CloudNativePG. Reason is one line.
type Parameter struct {
	Name, Value string
	Source      Source
	Reason      string
}

// Refusal of one user parameter. Message names the field, what is wrong and what
// to do; Reason is one of the Refused constants.
type Refusal struct{ Parameter, Reason, Message string }

// Reasons of a refusal.
const (
	RefusedUnknown        = "UnknownParameter"
	RefusedFixed          = "FixedByCloudNativePG"
	RefusedManagedByField = "ManagedByField"
	RefusedUnsafe         = "UnsafeParameter"
	RefusedRange          = "OutOfRange"
	RefusedInvalid        = "InvalidValue"
	RefusedTier           = "BelowDurabilityTier"
	RefusedMemory         = "ExceedsMemory"
	RefusedVolume         = "ExceedsVolume"
	RefusedVersion        = "UnsupportedVersion"
)

const (
	kB = int64(1) << 10
	mB = int64(1) << 20
	gB = int64(1) << 30
)
