// Package profile is what every kind of storage offers to the rest: the objects
// that make it, the volumes of a cluster, and what Postgres should know about
// them. A new kind is one folder beneath this one, one API file, and one line in
// package catalog.
package profile

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/durability"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

// Volumes is where a cluster's volumes come from.
type Volumes struct {
	// StorageClass of the data volumes, WALStorageClass of the WAL volumes.
	StorageClass, WALStorageClass string
	// Medium is the class of disk in pgtune's terms.
	Medium postgres.Medium
	// Parameters that fit this storage, with reasons.
	Parameters map[string]postgres.Recommendation
	// Flush says where it goes, for kinds whose volumes are more than a disk.
	Flush durability.Flush
}

// Built is what a profile wants of the cluster, and what follows from what was
// seen.
type Built struct {
	Plan     plan.Plan
	Outcomes []outcome.Outcome
	// Nodes says how far each node is.
	Nodes []v1alpha1.ProfileNode
	// FlushLatency is what was measured of a flush, where it is.
	FlushLatency *metav1.Duration
	// MonthlyStorage is what a month of storage is billed for, where it is known.
	MonthlyStorage *resource.Quantity
	// Ceph is what was found of a Ceph cluster.
	Ceph *v1alpha1.ProfileCeph
}

// Kept is what was found of a profile before, where nothing was looked at now.
func Kept(p *v1alpha1.PgStorageProfile, o outcome.Outcome) Built {
	return Built{
		Nodes: p.Status.Nodes, FlushLatency: p.Status.FlushLatency, MonthlyStorage: p.Status.EstimatedMonthlyStorage, Ceph: p.Status.Ceph,
		Outcomes: []outcome.Outcome{o},
	}
}

// Type is one kind of storage. Implementations are pure.
type Type interface {
	// Name is the value of spec.type.
	Name() v1alpha1.ProfileType
	// Classes are the names of the StorageClasses that the profile uses or makes.
	Classes(p *v1alpha1.PgStorageProfile) []string
	// Build the objects of a profile and judge what was seen.
	Build(p *v1alpha1.PgStorageProfile, facts observed.Profile) (Built, error)
	// Volumes of clusters on a profile of this type. What was measured comes with the
	// profile's status.
	Volumes(p *v1alpha1.PgStorageProfile) Volumes
	// Verify holds the volumes of a database of so many instances against the
	// profile. The outcome is nil where a profile reads nothing back.
	Verify(p *v1alpha1.PgStorageProfile, instances int, claims []observed.Claim) (*outcome.Outcome, postgres.Proof)
}
