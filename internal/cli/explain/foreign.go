package explain

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/durability"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/operator/adoption"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// Foreign explains a CloudNativePG Cluster that no PgStorageCluster needs to have. It says
// what the Cluster declares, and reads nothing from the instances.
type Foreign struct {
	Cluster    string                     `json:"cluster"`
	Version    string                     `json:"version"`
	Instances  int32                      `json:"instances"`
	Phase      string                     `json:"phase,omitempty"`
	Notes      []string                   `json:"notes,omitempty"`
	Durability *v1alpha1.DurabilityStatus `json:"durability"`
	Volumes    []ForeignVolume            `json:"volumes"`
	// Parameters of the Cluster, sorted by name.
	Parameters []ForeignParameter `json:"parameters,omitempty"`
	// Different are the parameters that the operator would set to other values.
	Different []Difference `json:"different,omitempty"`
	// Findings are further settings that the operator would set differently.
	Findings []string `json:"findings,omitempty"`
}

// ForeignVolume of each instance.
type ForeignVolume struct {
	Role        string `json:"role"`
	Size        string `json:"size"`
	Class       string `json:"storageClass,omitempty"`
	Provisioner string `json:"provisioner,omitempty"`
	Reclaim     string `json:"reclaimPolicy,omitempty"`
	Grows       string `json:"allowVolumeExpansion,omitempty"`
}

// ForeignParameter of a Cluster and who set it: the Cluster's author, or CloudNativePG.
type ForeignParameter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	SetBy string `json:"setBy"`
}

// Difference of a parameter.
type Difference struct {
	Name string `json:"name"`
	// Now is empty where the default of Postgres applies.
	Now    string `json:"now,omitempty"`
	Ours   string `json:"pgstorage"`
	Reason string `json:"reason"`
}

// CNPGCluster explains a CloudNativePG Cluster.
func CNPGCluster(s snapshot.CNPGCluster) (Foreign, error) {
	typed := &cnpgv1.Cluster{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(s.Cluster.Object, typed); err != nil {
		return Foreign{}, fmt.Errorf("read CloudNativePG Cluster %s: %w", s.Cluster.GetName(), err)
	}
	d, err := adoption.Describe(s.Cluster, s.Known)
	if err != nil {
		return Foreign{}, err
	}
	cr := d.Cluster
	out := Foreign{
		Cluster: cr.Namespace + "/" + cr.Name, Version: cr.Spec.Postgres.Version, Instances: clusters.Instances(cr), Phase: typed.Status.Phase,
		Notes: slices.Clone(d.Notes), Durability: promised(cr, typed), Volumes: foreignVolumes(d, s),
		Parameters: foreignParameters(cr, typed), Different: different(cr, typed),
	}
	for _, u := range s.Unread {
		out.Notes = append(out.Notes, u.What+": "+u.Why)
	}
	out.Findings = append(slices.Clone(d.Refused), findings(cr, typed)...)
	return out, nil
}

// promised is what the declared settings and the placement of the instances promise.
func promised(cr *v1alpha1.PgStorageCluster, live *cnpgv1.Cluster) *v1alpha1.DurabilityStatus {
	tier := durability.Tier(cr.Spec.Durability)
	var standbys durability.Standbys
	if q := cr.Spec.Quorum; q != nil {
		standbys = durability.Standbys{Number: int(q.Standbys), First: q.Method == v1alpha1.QuorumFirst}
	}
	statement := durability.Of(tier, int(clusters.Instances(cr)), standbys, durability.Flush{})
	out := &v1alpha1.DurabilityStatus{Tier: cr.Spec.Durability, Acknowledged: statement.Acknowledged}
	weak := weakness(cr, live)
	for _, l := range statement.Losses {
		e := v1alpha1.LossEvent{Event: l.Event, AcknowledgedCommits: l.AcknowledgedCommits, Detail: l.Detail}
		if cr.Spec.Durability == v1alpha1.DurabilityQuorum {
			clusters.Placed(&e, cr, live, durability.Flush{})
		}
		out.Losses = append(out.Losses, weakened(e, weak))
	}
	return out
}

// weakness is the first declared parameter that lets acknowledged commits be lost; "" if none
// does.
func weakness(cr *v1alpha1.PgStorageCluster, live *cnpgv1.Cluster) string {
	parameters := live.Spec.PostgresConfiguration.Parameters
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		if w := postgres.WeakText(durability.Tier(cr.Spec.Durability), major(cr), name, parameters[name]); w != nil && w.TakesCommits {
			return w.Text
		}
	}
	return ""
}

// weakened is what an event means with a weakness.
func weakened(e v1alpha1.LossEvent, weak string) v1alpha1.LossEvent {
	switch {
	case weak == "":
	case e.AcknowledgedCommits == "Kept":
		e.AcknowledgedCommits, e.Detail = "MayBeLost", weak
	case e.Event == "NodeLoss":
		e.Detail = weak + "; " + e.Detail
	}
	return e
}

func major(cr *v1alpha1.PgStorageCluster) int {
	n, err := strconv.Atoi(cr.Spec.Postgres.Version)
	if err != nil {
		return 0
	}
	return n
}

func foreignVolumes(d adoption.Description, s snapshot.CNPGCluster) []ForeignVolume {
	storage := d.Cluster.Spec.Storage
	out := []ForeignVolume{{Role: "Data", Size: storage.Size.String(), Class: d.Class}}
	if storage.WALSize != nil {
		out = append(out, ForeignVolume{Role: "WAL", Size: storage.WALSize.String(), Class: d.WALClass})
	}
	for i := range out {
		for j := range s.Classes {
			class := &s.Classes[j]
			if class.Name != out[i].Class {
				continue
			}
			out[i].Provisioner = class.Provisioner
			if class.ReclaimPolicy != nil {
				out[i].Reclaim = string(*class.ReclaimPolicy)
			}
			out[i].Grows = strconv.FormatBool(class.AllowVolumeExpansion != nil && *class.AllowVolumeExpansion)
		}
	}
	return out
}

func foreignParameters(cr *v1alpha1.PgStorageCluster, live *cnpgv1.Cluster) []ForeignParameter {
	var out []ForeignParameter
	given := live.Spec.PostgresConfiguration.Parameters
	for _, name := range slices.Sorted(maps.Keys(given)) {
		by := "CloudNativePG"
		if _, own := cr.Spec.Postgres.Parameters[name]; own {
			by = "Cluster"
		}
		out = append(out, ForeignParameter{name, given[name], by})
	}
	return out
}

// different are the parameters that the operator would derive with other values.
func different(cr *v1alpha1.PgStorageCluster, live *cnpgv1.Cluster) []Difference {
	ours := cr.DeepCopy()
	ours.Spec.Defaults, ours.Spec.Workload = v1alpha1.DefaultsPgstorage, v1alpha1.WorkloadMixed
	var out []Difference
	for _, p := range clusters.Computed(ours, profile.Volumes{Medium: postgres.SSD}) {
		if p.Name == "synchronous_commit" {
			continue // it follows from the tier
		}
		now, set := live.Spec.PostgresConfiguration.Parameters[p.Name]
		if set && postgres.Same(major(cr), p.Name, now, p.Value) || !set && p.Source == postgres.FromSafety {
			continue // Postgres has the safe values by default
		}
		out = append(out, Difference{p.Name, now, p.Value, p.Reason})
	}
	return out
}

// findings are settings besides parameters.
func findings(cr *v1alpha1.PgStorageCluster, live *cnpgv1.Cluster) []string {
	var out []string
	out = append(out, clusters.Unsafe(cr, live)...)
	s := live.Spec
	if cr.Spec.Durability != v1alpha1.DurabilityQuorum && s.Instances > 1 {
		out = append(out, "spec.postgresql.synchronous: "+adoption.Weaker(s)+"; with durability Quorum a commit waits for a standby, and failover asks the same quorum")
	}
	if b := s.Bootstrap; b == nil || b.InitDB != nil && (b.InitDB.DataChecksums == nil || !*b.InitDB.DataChecksums) {
		out = append(out, "spec.bootstrap.initdb.dataChecksums: the database is made without data checksums, so damage of the storage is not noticed; the operator turns them on for new databases")
	}
	return append(append(out, memory(s.Resources)...), exposure(s)...)
}

// memory returns what is wrong with the memory of the instances.
func memory(r corev1.ResourceRequirements) []string {
	switch request, limit := r.Requests.Memory(), r.Limits.Memory(); {
	case request.IsZero():
		return []string{"spec.resources.requests: no memory is requested, so the kernel kills Postgres early and memory parameters cannot be derived"}
	case !limit.IsZero() && request.Cmp(*limit) != 0:
		return []string{"spec.resources: the memory limit exceeds the request, so the kernel kills Postgres before pods that stay within theirs; set both to the same amount"}
	}
	return nil
}

// exposure returns what a node, a reader of Secrets or a site can take.
func exposure(s cnpgv1.ClusterSpec) []string {
	var out []string
	if s.Instances > 1 && s.Affinity.PodAntiAffinityType != cnpgv1.PodAntiAffinityTypeRequired {
		out = append(out, "spec.affinity.podAntiAffinityType: instances may share a node, and are lost with it together; required keeps them apart")
	}
	if s.EnableSuperuserAccess != nil && *s.EnableSuperuserAccess {
		out = append(out, "spec.enableSuperuserAccess: a Secret holds the password of the superuser; the operator leaves it off")
	}
	if s.Backup == nil && len(s.Plugins) == 0 {
		out = append(out, "spec.backup: no WAL archive is configured, so every copy is at one site")
	}
	return out
}

// Only returns the explanation of the named parameters, or of all without names. It
// returns an error if the Cluster does not set one of them.
func (f Foreign) Only(names ...string) (Foreign, error) {
	if len(names) == 0 {
		return f, nil
	}
	out := f
	out.Notes, out.Durability, out.Volumes, out.Findings = nil, nil, nil, nil
	out.Parameters = slices.DeleteFunc(slices.Clone(f.Parameters), func(p ForeignParameter) bool { return !slices.Contains(names, p.Name) })
	out.Different = slices.DeleteFunc(slices.Clone(f.Different), func(d Difference) bool { return !slices.Contains(names, d.Name) })
	for _, name := range names {
		known := slices.ContainsFunc(out.Parameters, func(p ForeignParameter) bool { return p.Name == name }) ||
			slices.ContainsFunc(out.Different, func(d Difference) bool { return d.Name == name })
		if !known {
			return out, fmt.Errorf("%s does not set %s, so it has the default of Postgres; kubectl pgstorage explain without a setting lists all parameters", f.Cluster, name)
		}
	}
	return out, nil
}
