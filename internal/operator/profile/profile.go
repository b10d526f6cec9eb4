// Package profile declares what every kind of storage offers. A kind has the objects
// that create it, the volumes of a database, and the Postgres parameters that fit it.
// It also says what the controllers must read, watch and delete for it.
//
// A new kind is one folder below this one, one file in the API, and one line in package
// catalog. Controllers, observers and the plugin reach it only through Type and Hooks.
package profile

import (
	"fmt"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/durability"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

// Type is one kind of storage. Implementations are pure.
type Type interface {
	// Name is the value of spec.type.
	Name() v1alpha1.ProfileType
	// Classes returns the names of the StorageClasses that the profile uses or creates.
	Classes(p *v1alpha1.PgStorageProfile) []string
	// Build returns the objects of a profile, and judges what was observed.
	Build(p *v1alpha1.PgStorageProfile, facts observed.Profile) (Built, error)
	// Volumes returns where volumes of databases on the profile come from. Measurements
	// come from the profile's status.
	Volumes(p *v1alpha1.PgStorageProfile) Volumes
	// Verify compares the volumes of a database with its profile. The outcome is nil
	// for kinds whose volumes no agent reads back.
	Verify(p *v1alpha1.PgStorageProfile, instances int, claims []observed.Claim) (*outcome.Outcome, postgres.Proof)
	// Hooks returns what the kind needs of controllers and plugin.
	Hooks() Hooks
}

// Volumes is where a cluster's volumes come from.
type Volumes struct {
	// StorageClass of the data volumes, WALStorageClass of the WAL volumes.
	StorageClass, WALStorageClass string
	// SnapshotClass is the VolumeSnapshotClass of both. Empty: the kind takes no snapshots.
	SnapshotClass string
	// SnapshotsOnNode means that volumes are made of a snapshot on its node alone.
	SnapshotsOnNode bool
	// Medium is the class of disk in pgtune's terms.
	Medium postgres.Medium
	// Parameters that fit this storage, with reasons.
	Parameters map[string]postgres.Recommendation
	// InMemory means that the volumes are memory of the node. It is charged to the pod that
	// touches it, so the memory of a pod has to include them.
	InMemory bool
	// Flush says where it goes, for kinds whose volumes are more than a disk.
	Flush durability.Flush
}

// Built is what a profile wants of the cluster, and what follows from what was observed.
type Built struct {
	Plan     plan.Plan
	Outcomes []outcome.Outcome
	// Status holds the fields that this kind reports. The controller sets those that all
	// kinds have: observedGeneration, clusters, conditions, storageClasses and pools.
	Status v1alpha1.PgStorageProfileStatus
	// Unwatched means that an outcome depends on something that no watch covers, so the
	// controller must look again soon.
	Unwatched bool
}

// Keep returns a Built that leaves the kind's status as it is, with one outcome.
func Keep(p *v1alpha1.PgStorageProfile, o outcome.Outcome) Built {
	return Built{Status: *p.Status.DeepCopy(), Outcomes: []outcome.Outcome{o}}
}

// Catalog is a set of kinds of storage.
type Catalog []Type

// For returns the kind that spec.type names. The error of a name that the catalogue does
// not have names the field.
func (c Catalog) For(name v1alpha1.ProfileType) (Type, error) {
	for _, t := range c {
		if t.Name() == name {
			return t, nil
		}
	}
	return nil, fmt.Errorf("spec.type: %q is not known to this version of the operator", name)
}

// CRDs returns the names of the CRDs of other operators that the kinds use.
func (c Catalog) CRDs() []string {
	var out []string
	for _, t := range c {
		for _, s := range t.Hooks().Sources {
			out = append(out, s.CRDs...)
		}
	}
	return out
}
