// Package external is the kind of storage that exists already: it makes nothing
// and names StorageClasses.
package external

import (
	"fmt"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// Type is External.
type Type struct{}

// Name is External.
func (Type) Name() v1alpha1.ProfileType { return v1alpha1.ProfileTypeExternal }

// Classes that the profile names.
func (Type) Classes(p *v1alpha1.PgStorageProfile) []string {
	e := p.Spec.External
	if e == nil {
		return nil
	}
	if e.WALStorageClassName == "" || e.WALStorageClassName == e.StorageClassName {
		return []string{e.StorageClassName}
	}
	return []string{e.StorageClassName, e.WALStorageClassName}
}

// Build makes nothing; it says which classes do not exist.
func (t Type) Build(p *v1alpha1.PgStorageProfile, facts observed.Profile) (profile.Built, error) {
	var missing []string
	for _, name := range t.Classes(p) {
		if facts.Classes[name] == nil {
			missing = append(missing, name)
		}
	}
	const c = v1alpha1.ConditionStorageReady
	found := outcome.DoneWith(c, v1alpha1.ReasonStorageClassFound, "every StorageClass of the profile exists")
	if len(missing) > 0 {
		found = outcome.WaitFor(c, v1alpha1.ReasonStorageClassNotFound, fmt.Sprintf("StorageClass %s does not exist; create it, or make a profile that names one of kubectl get storageclass", strings.Join(missing, ", ")))
	}
	return profile.Built{Outcomes: []outcome.Outcome{found}}, nil
}

// Volumes are of the classes that the profile names.
func (Type) Volumes(p *v1alpha1.PgStorageProfile) profile.Volumes {
	e := p.Spec.External
	if e == nil {
		return profile.Volumes{}
	}
	v := profile.Volumes{StorageClass: e.StorageClassName, WALStorageClass: e.WALStorageClassName, SnapshotClass: e.VolumeSnapshotClassName, Medium: postgres.Medium(e.Medium)}
	if v.WALStorageClass == "" {
		v.WALStorageClass = v.StorageClass
	}
	if v.Medium == "" {
		v.Medium = postgres.Medium(v1alpha1.MediumSSD)
	}
	return v
}

// Verify has nothing to read back, and proves nothing.
func (Type) Verify(*v1alpha1.PgStorageProfile, int, []observed.Claim) (*outcome.Outcome, postgres.Proof) {
	return nil, postgres.Proof{}
}

// Hooks of External: it reads the classes that every kind reads, and nothing else.
func (Type) Hooks() profile.Hooks { return profile.Hooks{} }
