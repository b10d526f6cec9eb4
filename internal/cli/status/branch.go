package status

import (
	"slices"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
)

// IsBranchOf reports whether a database is the source of a branch.
func IsBranchOf(b *v1alpha1.PgStorageBranch, namespace, source string) bool {
	return b.Namespace == namespace && b.Spec.Source.Cluster == source
}

// BranchesOf returns the branches of a database, sorted by name.
func BranchesOf(all []v1alpha1.PgStorageBranch, namespace, source string) []*v1alpha1.PgStorageBranch {
	var out []*v1alpha1.PgStorageBranch
	for i := range all {
		if IsBranchOf(&all[i], namespace, source) {
			out = append(out, &all[i])
		}
	}
	slices.SortFunc(out, func(a, b *v1alpha1.PgStorageBranch) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Branch returns the tree of a PgStorageBranch with its database and the branches of itself.
func (b Builder) Branch(s snapshot.Branch) Tree {
	i := b.branch(s.Branch)
	if e := s.Branch.Status.Endpoint; e != "" {
		i.Details = append(i.Details, "endpoint "+e)
	}
	switch cr := s.Cluster; {
	case cr != nil:
		i.Children = append(i.Children, b.own("PgStorageCluster", cr, cr.Status.ObservedGeneration, cr.Status.Conditions))
	case s.Branch.Status.Cluster != "" && len(s.Unread) == 0:
		i.Children = append(i.Children, missing("PgStorageCluster", s.Branch.Namespace, s.Branch.Status.Cluster, "the PgStorageCluster does not exist; see the conditions of the branch for the cause"))
	}
	i.Children = append(i.Children, b.branches(s.Branches, s.Branch.Namespace, s.Branch.Name, nil)...)
	i.Children = append(i.Children, unread(s.Unread)...)
	return i
}

// branches returns the branches of a database, each with its own below it. above are the
// databases that they descend from, because a spec can name itself as its source.
func (b Builder) branches(all []v1alpha1.PgStorageBranch, namespace, source string, above []string) []Tree {
	var out []Tree
	above = append(slices.Clone(above), source)
	for _, child := range BranchesOf(all, namespace, source) {
		i := b.branch(child)
		if !slices.Contains(above, child.Name) {
			i.Children = b.branches(all, namespace, child.Name, above)
		}
		out = append(out, i)
	}
	return out
}

// branch returns a PgStorageBranch without what depends on it.
func (b Builder) branch(p *v1alpha1.PgStorageBranch) Tree {
	i := b.own("PgStorageBranch", p, p.Status.ObservedGeneration, p.Status.Conditions)
	source := "of " + p.Spec.Source.Cluster
	if p.Spec.Source.Backup != nil {
		source += " (from backup)"
	}
	i.Details = append(i.Details, source)
	if p.Status.Space != nil {
		i.Details = append(i.Details, "space "+p.Status.Space.String())
	}
	if e := p.Status.ExpirationTime; e != nil {
		i.Details = append(i.Details, "expires "+e.UTC().Format(time.RFC3339))
	}
	switch {
	case p.Status.Independent:
		i.Details = append(i.Details, "independent")
	case p.Spec.Promote:
		i.Details = append(i.Details, "being promoted")
	}
	return i
}

// branchDetail says whose branch a database is; empty for any other.
func branchDetail(c snapshot.Cluster) []string {
	for i := range c.Branches {
		if b := &c.Branches[i]; b.Name == c.Cluster.Name && b.Status.Cluster == c.Cluster.Name {
			return []string{"branch of " + b.Spec.Source.Cluster}
		}
	}
	return nil
}
