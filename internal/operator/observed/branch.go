package observed

import (
	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// Branch has the facts about one PgStorageBranch.
type Branch struct {
	ForeignAPIs
	// Source is the PgStorageCluster to copy; nil when it does not exist.
	Source *v1alpha1.PgStorageCluster
	// SourceCluster is its CloudNativePG Cluster; nil when there is none.
	SourceCluster *cnpgv1.Cluster
	// Profile of the source, and of the branch; nil when it does not exist.
	Profile *v1alpha1.PgStorageProfile
	// SnapshotDriver is the CSI driver of the profile's VolumeSnapshotClass; empty where that does
	// not exist.
	SnapshotDriver string
	// NoRoom names a pool of the profile that lacks space; empty where none does.
	NoRoom string
	// Tight are the datasets of the source whose limit counts snapshots, and that are more than half
	// full. Data that changes while a branch keeps its old state can fill them.
	Tight []string
	// Branches are all others of the namespace.
	Branches []v1alpha1.PgStorageBranch
	// ProfileOf has the profile of each of them, by name; empty where it is unknown.
	ProfileOf map[string]string
	// Snapshots are those that were made for the branch, by name.
	Snapshots map[string]*snapshotv1.VolumeSnapshot
	// ForeignSnapshot is one of another owner that has a name of ours; empty where none has.
	ForeignSnapshot string
	// Cluster is the PgStorageCluster of the branch; nil when there is none.
	Cluster *v1alpha1.PgStorageCluster
	// ForeignCluster is true where a PgStorageCluster of another owner has the branch's name.
	ForeignCluster bool
	// Database is the CloudNativePG Cluster of the branch; nil when there is none.
	Database *cnpgv1.Cluster
	// ForeignDatabase is the UID of a CloudNativePG Cluster of another owner that has the branch's
	// name; empty where none has.
	ForeignDatabase string
	// Claims of the branch's instances, and all claims that were made of its snapshots.
	Claims []BranchClaim
	// Held are volumes of the branch that still exist and whose driver is to delete them.
	Held []string
	// Space that the branch alone takes; nil where it is not known.
	Space *resource.Quantity
	// SQL is what spec.masking names; nil when it does not exist.
	SQL *string
	// Jobs of the branch, which mask the data.
	Jobs []batchv1.Job
	// ForeignJob is true where a Job of another owner has the name of the one for SQL.
	ForeignJob bool
	// Refusal is what the API server rejects, and why; empty where it rejects nothing.
	Refusal string
}

// BranchClaim is the claim of one volume of a branch.
type BranchClaim struct {
	Name, Instance, Volume string
	// FromSnapshot is true where the volume was made of a snapshot.
	FromSnapshot bool
	// Foreign is true where the ForeignDatabase has the claim.
	Foreign bool
}
