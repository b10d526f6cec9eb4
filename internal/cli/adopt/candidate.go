package adopt

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/admit"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/adoption"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
)

// Outcome of a candidate in one word.
type Outcome string

// Outcomes.
const (
	// Unchanged: taking it over changes labels and annotations only.
	Unchanged Outcome = "Unchanged"
	// Changed: the dry run shows changes of the spec.
	Changed Outcome = "Changed"
	// Refused: the operator would not take it over.
	Refused Outcome = "Refused"
	// Owned: a PgStorageCluster has it already.
	Owned Outcome = "Owned"
	// Unknown: the API server did not answer the dry run, or its answer is out of date.
	Unknown Outcome = "Unknown"
	// Adopted: the objects were created and the consent was given.
	Adopted Outcome = "Adopted"
	// Failed: an error ended the command at this Cluster.
	Failed Outcome = "Failed"
)

// noUID stands for the UID of a PgStorageCluster that does not exist yet.
const noUID = types.UID("00000000-0000-0000-0000-000000000000")

// Candidate is a Cluster that may be taken over.
type Candidate struct {
	Live        *unstructured.Unstructured
	Description adoption.Description
	// Cluster and Profile that take it over. NewProfile says that the profile does not
	// exist yet; it then consents to what this Cluster needs (see [NewProfiles]).
	Cluster    *v1alpha1.PgStorageCluster
	Profile    *v1alpha1.PgStorageProfile
	NewProfile bool
	// Planned is what the operator applies to the Cluster.
	Planned *unstructured.Unstructured

	Outcome Outcome
	// Refusals name what forbids it, and Problem says why nothing is known.
	Refusals []string
	Problem  string
	// Changes that the dry run shows, and those with which instances restart.
	Changes  []adoption.Change
	Restarts []string
}

// Inputs of a set of candidates.
type Inputs struct {
	Schemas *admit.Schemas
	Config  clusters.Config
	// Existing profiles and PgStorageClusters.
	Profiles []v1alpha1.PgStorageProfile
	Clusters []v1alpha1.PgStorageCluster
}

// Candidates describes Clusters and plans their adoption. Clusters on the same
// StorageClasses share a profile.
func Candidates(ctx context.Context, in Inputs, live []unstructured.Unstructured, classes map[string]adoption.Classes) ([]*Candidate, error) {
	var out []*Candidate
	for i := range live {
		d, err := adoption.Describe(&live[i], classes[live[i].GetName()])
		if err != nil {
			return nil, err
		}
		out = append(out, &Candidate{Live: &live[i], Description: d, Cluster: d.Cluster})
	}
	in.profiles(out)
	for _, c := range out {
		if err := in.judge(ctx, c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// profiles chooses an existing profile for each candidate, or plans one.
func (in Inputs) profiles(candidates []*Candidate) {
	named := map[string]*v1alpha1.PgStorageProfile{}
	for i := range in.Profiles {
		named[in.Profiles[i].Name] = &in.Profiles[i]
	}
	for _, c := range candidates {
		d := c.Description
		d.Needs = slices.Clone(d.Needs)
		if foreign(d.Cluster.Spec.Postgres.Image, in.Config) {
			d.Needs = append(d.Needs, "imageName")
		}
		c.Description = d
		if c.Profile = in.serving(d); c.Profile == nil {
			c.Profile, c.NewProfile = adoption.Profile(d), true
			c.Profile.Spec.AllowedOverrides = union(d.Needs, nil)
			c.Profile.Name = free(named, c.Profile.Name, d)
			named[c.Profile.Name] = c.Profile
		}
		c.Cluster.Spec.Profile = c.Profile.Name
	}
}

// free returns the first name, beginning with the given one, that a new profile can have. No
// profile has it yet, or the planned profile of that name has the same StorageClasses. Profiles
// that exist and serve the description are chosen before.
func free(named map[string]*v1alpha1.PgStorageProfile, name string, d adoption.Description) string {
	out := name
	for n := 1; named[out] != nil && !adoption.Serves(named[out], d); n++ {
		out = name + "-external"
		if n > 1 {
			out += "-" + strconv.Itoa(n)
		}
	}
	return out
}

// NewProfiles are the profiles to create for the candidates that taken selects, each once.
// A profile consents, for every namespace, to what these candidates need. It never consents
// to the needs of others, because that would let the owner of any Cluster choose the consent.
func NewProfiles(candidates []*Candidate, taken func(*Candidate) bool) []*v1alpha1.PgStorageProfile {
	var out []*v1alpha1.PgStorageProfile
	for _, c := range candidates {
		if !c.NewProfile || !taken(c) {
			continue
		}
		i := slices.IndexFunc(out, func(p *v1alpha1.PgStorageProfile) bool { return p.Name == c.Profile.Name })
		if i < 0 {
			i, out = len(out), append(out, c.Profile.DeepCopy())
		}
		out[i].Spec.AllowedOverrides = union(out[i].Spec.AllowedOverrides, c.Description.Needs)
	}
	return out
}

// IsUnchanged selects the candidates that --apply adopts.
func (c *Candidate) IsUnchanged() bool { return c.Outcome == Unchanged }

// isWritten selects the candidates whose objects are documents.
func (c *Candidate) isWritten() bool { return c.Outcome != Refused && c.Outcome != Owned }

// Fail notes the error that ended the command at a candidate.
func (c *Candidate) Fail(err error) { c.Outcome, c.Problem = Failed, err.Error() }

// serving returns the existing profile of a description that lacks least consent.
func (in Inputs) serving(d adoption.Description) *v1alpha1.PgStorageProfile {
	var best *v1alpha1.PgStorageProfile
	for i := range in.Profiles {
		p := &in.Profiles[i]
		if adoption.Serves(p, d) && (best == nil || len(adoption.Lacks(p, d.Needs)) < len(adoption.Lacks(best, d.Needs))) {
			best = p
		}
	}
	return best
}

func foreign(image string, config clusters.Config) bool {
	return image != "" && !strings.HasPrefix(image, config.ImageRepository+":")
}

func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// judge a candidate as the API server and the operator would.
func (in Inputs) judge(ctx context.Context, c *Candidate) error {
	c.Refusals = slices.Clone(c.Description.Refused)
	if owner := c.Live.GetLabels()[naming.LabelOwnerUID]; owner != "" {
		for i := range in.Clusters {
			if string(in.Clusters[i].UID) == owner {
				c.Outcome = Owned
				return nil
			}
		}
	}
	if slices.ContainsFunc(in.Clusters, func(cr v1alpha1.PgStorageCluster) bool {
		return cr.Name == c.Cluster.Name && cr.Namespace == c.Cluster.Namespace
	}) {
		c.Refusals = append(c.Refusals, fmt.Sprintf("a PgStorageCluster %s exists and does not own the Cluster; delete it, or let it adopt the Cluster (kubectl pgstorage runbook ClusterNotOwned)", c.Cluster.Name))
	}
	if lacks := c.lacks(); lacks != "" {
		c.Refusals = append(c.Refusals, lacks)
	}
	if len(c.Refusals) == 0 {
		if err := in.plan(ctx, c); err != nil {
			return err
		}
	}
	if len(c.Refusals) > 0 {
		c.Outcome = Refused
	}
	return nil
}

// lacks says which consent the profile of a candidate does not give, and what to do. It is
// empty if the profile gives all.
func (c *Candidate) lacks() string {
	lacks := adoption.Lacks(c.Profile, c.Description.Needs)
	if len(lacks) == 0 {
		return ""
	}
	return fmt.Sprintf("ask a cluster administrator to add %s to spec.allowedOverrides of PgStorageProfile %s", strings.Join(lacks, ", "), c.Profile.Name)
}

// Use replaces the planned profile by an existing one of its name. The outcome is Unknown if
// that one has other StorageClasses or lacks consent, because the dry run assumed both.
func (c *Candidate) Use(p *v1alpha1.PgStorageProfile) {
	c.Profile, c.NewProfile = p, false
	c.Problem = c.lacks()
	if !adoption.Serves(p, c.Description) {
		c.Problem = fmt.Sprintf("PgStorageProfile %s exists and does not serve the StorageClasses of the Cluster; run the command again, with permission to list PgStorageProfiles", p.Name)
	}
	if c.Problem != "" {
		c.Outcome = Unknown
	}
}

// plan the Cluster of a candidate.
func (in Inputs) plan(ctx context.Context, c *Candidate) error {
	object, err := Document(c.Cluster)
	if err != nil {
		return err
	}
	if err := in.Schemas.Admit(ctx, object); err != nil {
		c.Refusals = append(c.Refusals, err.Error())
		return nil
	}
	complete := &v1alpha1.PgStorageCluster{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, complete); err != nil {
		return fmt.Errorf("read PgStorageCluster %s: %w", c.Cluster.Name, err)
	}
	complete.UID = noUID
	planned, refused, err := adoption.Plan(complete, c.Profile, c.Live, in.Config)
	if err != nil {
		return err
	}
	c.Planned, c.Refusals = planned, append(c.Refusals, refused...)
	return nil
}

// Answer notes what the API server answered to the dry run.
func (c *Candidate) Answer(answer *unstructured.Unstructured, err error) {
	if err != nil {
		c.Outcome, c.Problem = Unknown, "the API server did not answer the dry run: "+err.Error()
		return
	}
	c.Changes = adoption.Diff(c.Live, answer)
	for i := range c.Changes {
		if c.Changes[i].To == string(noUID) {
			c.Changes[i].To = "UID of the PgStorageCluster"
		}
	}
	c.Restarts = adoption.Restarts(c.major(), c.Changes)
	c.Outcome = Unchanged
	if len(adoption.OfSpec(c.Changes)) > 0 {
		c.Outcome = Changed
	}
}

func (c *Candidate) major() int {
	n := 0
	// A version of another form is refused before.
	_, _ = fmt.Sscanf(c.Cluster.Spec.Postgres.Version, "%d", &n)
	return n
}
