// Package explain says how Postgres and the storage beneath it are set, and why each
// setting is as it is. It is pure, and decides nothing: reasons are those of the
// status, and of the reference of the profile's fields.
package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
)

// Explanation of a PgStorageCluster.
type Explanation struct {
	Cluster     string                     `json:"cluster"`
	Profile     string                     `json:"profile"`
	ProfileType string                     `json:"profileType,omitempty"`
	Notes       []string                   `json:"notes,omitempty"`
	Durability  *v1alpha1.DurabilityStatus `json:"durability,omitempty"`
	// Parameters of Postgres, as the operator decided them.
	Parameters []v1alpha1.Parameter `json:"parameters,omitempty"`
	// Storage is how pool and datasets are set on the profile's nodes.
	Storage []Property `json:"storage,omitempty"`
	// Volumes as agents have read them back.
	Volumes []v1alpha1.VolumeStatus `json:"volumes,omitempty"`
}

// Cluster explained.
func Cluster(s snapshot.Cluster, reference Reference) Explanation {
	cr := s.Cluster
	out := Explanation{
		Cluster: cr.Namespace + "/" + cr.Name, Profile: cr.Spec.Profile,
		Durability: cr.Status.Durability, Parameters: cr.Status.Parameters, Volumes: cr.Status.Volumes,
	}
	if p := s.Profile.Profile; p != nil {
		out.ProfileType = string(p.Spec.Type)
		out.Storage = storage(p, s.Profile.Storages, reference)
	}
	out.Notes = notes(s, out)
	return out
}

// notes on what the explanation lacks.
func notes(s snapshot.Cluster, e Explanation) []string {
	var out []string
	cr := s.Cluster
	switch {
	case cr.Status.ObservedGeneration == 0:
		out = append(out, "the operator has not looked at this object yet; see kubectl pgstorage doctor")
	case cr.Status.ObservedGeneration != cr.Generation:
		out = append(out, fmt.Sprintf("what follows is about generation %d of the spec, which is at %d by now", cr.Status.ObservedGeneration, cr.Generation))
	}
	for _, u := range slices.Concat(s.Profile.Unread, s.Unread) {
		out = append(out, u.What+": "+u.Why)
	}
	out = append(out, cnpg.NotForwarded(cr)...)
	if other := cnpg.OtherMetadata(cr); len(other) > 0 {
		out = append(out, "the CloudNativePG Cluster does not get "+strings.Join(other, ", ")+" of this object; set them on the Cluster where it needs them")
	}
	if s.Profile.Profile != nil && len(e.Storage) == 0 {
		out = append(out, storageUnknown(s.Profile.Profile))
	}
	return out
}

// storageUnknown says why nothing is said of datasets.
func storageUnknown(p *v1alpha1.PgStorageProfile) string {
	if p.Spec.Type == v1alpha1.ProfileTypeExternal {
		return "profiles of type External make no storage, so nothing is known of how it is set"
	}
	return "no PgNodeStorage of the profile could be read, so nothing is said of pools and datasets"
}

// Only the settings of these names; all where there are none. It is an error if one
// is not there.
func (e Explanation) Only(names ...string) (Explanation, error) {
	if len(names) == 0 {
		return e, nil
	}
	out := e
	out.Durability, out.Parameters, out.Storage, out.Volumes = nil, nil, nil, nil
	for _, name := range names {
		before := len(out.Parameters) + len(out.Storage)
		for _, p := range e.Parameters {
			if p.Name == name {
				out.Parameters = append(out.Parameters, p)
			}
		}
		for _, p := range e.Storage {
			if p.Name == name {
				out.Storage = append(out.Storage, p)
			}
		}
		if len(out.Parameters)+len(out.Storage) == before {
			return out, fmt.Errorf("the operator sets no %s of %s: Postgres has CloudNativePG's default or its own, and a dataset that of ZFS; kubectl pgstorage explain without a setting lists what is set", name, e.Cluster)
		}
	}
	return out, nil
}
