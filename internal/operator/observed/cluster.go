package observed

import (
	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// Cluster has the facts about one PgStorageCluster.
type Cluster struct {
	ForeignAPIs
	// Profile is nil when it does not exist.
	Profile *v1alpha1.PgStorageProfile
	// Cluster is ours; nil when there is none.
	Cluster *cnpgv1.Cluster
	// Namesake is a CloudNativePG Cluster of our name that is not ours.
	Namesake *Namesake
	// Adoptee is the namesake where it may be taken over by us; nil otherwise.
	Adoptee *cnpgv1.Cluster
	// AdopteeReadBack is what its instances report.
	AdopteeReadBack ReadBack
	// PodMonitor: ours exists.
	PodMonitor bool
	// ForeignPodMonitor: a PodMonitor of our name exists and is not ours.
	ForeignPodMonitor bool
	// ReadBack is what the running instances report.
	ReadBack ReadBack
	// Claims of the running database, of profiles whose volumes are read back.
	Claims []Claim
	// PendingClaims are those of the database that have no volume yet. They are read while an
	// instance is not ready, and with Claims.
	PendingClaims []string
	// Devices of the profile's nodes, where they are network devices.
	Devices map[string]Devices
	// Source is what a follower replicates; nil of any other, and where it does not exist.
	Source *Source
	// Pools are the PgStorageClusters of read pools, declared or not, by pool.
	Pools map[string]*v1alpha1.PgStorageCluster
	// PoolsInMemory are those whose profile is of type Memory.
	PoolsInMemory map[string]bool
	// ForeignPools are the pools whose PgStorageCluster has another owner.
	ForeignPools map[string]bool
	// Sites are the other sites of the database, as its watcher reports them.
	Sites Sites
	// Backup has the facts about backups; the zero value where the database declares none.
	Backup Backup
	// Branch is the PgStorageBranch that this database is of; nil of any other.
	Branch *v1alpha1.PgStorageBranch
	// BranchConsents: the VolumeSnapshots of the spec are those of the branch.
	BranchConsents bool
	// Benchmark is the inline benchmark of the current spec, if it exists.
	Benchmark *v1alpha1.PgBenchmark
}

// Source is a database that a follower replicates.
type Source struct {
	PgStorageCluster *v1alpha1.PgStorageCluster
	// Cluster is nil when there is none.
	Cluster *cnpgv1.Cluster
	// Kept is the WAL that its primary kept when it was last read. It may keep less now.
	Kept KeptWAL
}
