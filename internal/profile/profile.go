// Package profile is what every kind of storage offers to the rest: the volumes
// of a cluster and what Postgres should know about them. A new kind is one
// folder beneath this one, one API file, and one line in package catalog.
package profile

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/postgres"
)

// Volumes is where a cluster's volumes come from.
type Volumes struct {
	// StorageClass of the data volumes, WALStorageClass of the WAL volumes.
	StorageClass, WALStorageClass string
	// Medium is the class of disk in pgtune's terms.
	Medium postgres.Medium
	// Parameters that fit this storage, with reasons.
	Parameters map[string]postgres.Recommendation
}

// Type is one kind of storage. Implementations are pure.
type Type interface {
	// Name is the value of spec.type.
	Name() v1alpha1.ProfileType
	// Volumes of clusters on a profile of this type.
	Volumes(spec v1alpha1.PgStorageProfileSpec) Volumes
}
