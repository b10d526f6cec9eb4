// Package explain shows the settings of a database and its storage, and the reason for
// each. It is pure and decides nothing: reasons come from the status and from the API
// reference.
package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
)

// Explanation has the settings of a PgStorageCluster and their reasons.
type Explanation struct {
	Cluster     string                     `json:"cluster"`
	Profile     string                     `json:"profile"`
	ProfileType string                     `json:"profileType,omitempty"`
	Notes       []string                   `json:"notes,omitempty"`
	Durability  *v1alpha1.DurabilityStatus `json:"durability,omitempty"`
	// Parameters are the Postgres parameters that the operator sets.
	Parameters []v1alpha1.Parameter `json:"parameters,omitempty"`
	// Storage has the properties of pool and datasets on the nodes of the profile.
	Storage []Property `json:"storage,omitempty"`
	// Volumes as the agents observe them.
	Volumes []v1alpha1.VolumeStatus `json:"volumes,omitempty"`
}

// Cluster explains a PgStorageCluster. The reference describes the fields of its profile.
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

// notes returns what the explanation lacks, and why.
func notes(s snapshot.Cluster, e Explanation) []string {
	var out []string
	cr := s.Cluster
	switch {
	case cr.Status.ObservedGeneration == 0:
		out = append(out, "the operator has not observed this object yet; check it with kubectl pgstorage doctor")
	case cr.Status.ObservedGeneration != cr.Generation:
		out = append(out, fmt.Sprintf("the settings are those of generation %d, and the spec is at generation %d", cr.Status.ObservedGeneration, cr.Generation))
	}
	for _, u := range slices.Concat(s.Profile.Unread, s.Unread) {
		out = append(out, u.What+": "+u.Why)
	}
	out = append(out, cnpg.NotForwarded(cr)...)
	if other := cnpg.OtherMetadata(cr); len(other) > 0 {
		out = append(out, "the operator does not copy "+strings.Join(other, ", ")+" to the CloudNativePG Cluster; set them there if it needs them")
	}
	if s.Profile.Profile != nil && len(e.Storage) == 0 {
		out = append(out, storageUnknown(s.Profile.Profile))
	}
	return out
}

// storageUnknown returns why there are no properties of pools and datasets.
func storageUnknown(p *v1alpha1.PgStorageProfile) string {
	switch p.Spec.Type {
	case v1alpha1.ProfileTypeExternal:
		return "External profiles use existing storage, whose settings are unknown"
	case v1alpha1.ProfileTypeMemory:
		return "Memory profiles have volumes in the memory of nodes, without pools and datasets"
	}
	return "no PgNodeStorage of the profile found, so the settings of pools and datasets are unknown"
}

// Only returns the explanation of the named settings, or of all without names. It returns
// an error if the operator does not set one of them.
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
			return out, fmt.Errorf("the operator does not set %s of %s, so it has the default of CloudNativePG, Postgres or ZFS. List all that the operator sets by kubectl pgstorage explain without a setting", name, e.Cluster)
		}
	}
	return out, nil
}
