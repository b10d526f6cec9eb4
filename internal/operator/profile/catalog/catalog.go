// Package catalog is the explicit list of the kinds of storage.
package catalog

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd"
	"github.com/pgstorage/pgstorage/internal/operator/profile/external"
	"github.com/pgstorage/pgstorage/internal/operator/profile/memory"
	"github.com/pgstorage/pgstorage/internal/operator/profile/s3nbd"
	"github.com/pgstorage/pgstorage/internal/operator/profile/zfslocalpv"
)

// All lists every kind of storage.
func All() profile.Catalog {
	return profile.Catalog{
		external.Type{},
		zfslocalpv.Type{},
		s3nbd.Type{},
		cephrbd.Type{},
		memory.Type{},
	}
}

// For returns the kind that a profile names.
func For(name v1alpha1.ProfileType) (profile.Type, error) { return All().For(name) }
