// Package external is the kind of storage that exists already: it makes nothing
// and names StorageClasses.
package external

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/postgres"
	"github.com/pgstorage/pgstorage/internal/profile"
)

// Type is External.
type Type struct{}

// Name is External.
func (Type) Name() v1alpha1.ProfileType { return v1alpha1.ProfileTypeExternal }

// Volumes are of the classes that the profile names.
func (Type) Volumes(spec v1alpha1.PgStorageProfileSpec) profile.Volumes {
	e := spec.External
	if e == nil {
		return profile.Volumes{}
	}
	v := profile.Volumes{StorageClass: e.StorageClassName, WALStorageClass: e.WALStorageClassName, Medium: postgres.Medium(e.Medium)}
	if v.WALStorageClass == "" {
		v.WALStorageClass = v.StorageClass
	}
	if v.Medium == "" {
		v.Medium = postgres.Medium(v1alpha1.MediumSSD)
	}
	return v
}
