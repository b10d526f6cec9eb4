package doctor

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// role compares the ClusterRole of the manager with the one that this version needs.
func (c *checker) role() {
	if c.facts.ExpectedRole == nil || len(c.facts.Managers) == 0 || c.blind("ClusterRole") {
		return
	}
	name := "ClusterRole " + c.facts.ExpectedRole.Name
	const remedy = "upgrade pgstorage including its roles: helm upgrade --install, or kubectl apply --server-side -k config/default"
	if c.facts.Role == nil {
		c.add(Failure, name, "not found, so the manager has no permissions", remedy, "docs/install.md")
		return
	}
	if lacks := lacking(c.facts.ExpectedRole.Rules, c.facts.Role.Rules); len(lacks) > 0 {
		c.add(Warning, name, "it lacks permissions that this version needs: "+strings.Join(lacks, ", "), remedy, "docs/install.md")
		return
	}
	c.ok(name, "it has all permissions that this version needs")
}

// lacking returns the permissions of wanted that no rule of have grants.
func lacking(wanted, have []rbacv1.PolicyRule) []string {
	var out []string
	for _, w := range wanted {
		for _, group := range w.APIGroups {
			for _, resource := range w.Resources {
				for _, verb := range w.Verbs {
					if !slices.ContainsFunc(have, func(r rbacv1.PolicyRule) bool { return grants(r, verb, group, resource, w.ResourceNames) }) {
						out = append(out, strings.TrimSuffix(verb+" "+resource+"."+group, "."))
					}
				}
			}
		}
	}
	return out
}

// grants reports whether a rule allows a verb on a resource, or on the named objects.
func grants(r rbacv1.PolicyRule, verb, group, resource string, names []string) bool {
	for _, name := range names {
		if len(r.ResourceNames) > 0 && !slices.Contains(r.ResourceNames, name) {
			return false
		}
	}
	if len(names) == 0 && len(r.ResourceNames) > 0 {
		return false
	}
	return has(r.Verbs, verb) && has(r.APIGroups, group) && has(r.Resources, resource)
}

func has(list []string, item string) bool {
	return slices.Contains(list, item) || slices.Contains(list, "*")
}

// permissions lists what the user is allowed to do.
func (c *checker) permissions() {
	for _, p := range c.facts.Permissions {
		what := strings.TrimSuffix(p.Verb+" "+p.Resource+"."+p.Group, ".")
		if p.Namespace != "" {
			what += " in namespace " + p.Namespace
		}
		if p.Allowed {
			c.ok(what, "allowed (needed "+p.For+")")
			continue
		}
		c.add(Note, what, fmt.Sprintf("cannot %s %s (needed %s)", p.Verb, p.Resource, p.For), "ask an administrator for one of the roles in docs/install.md", "docs/install.md#people")
	}
}

func (c *checker) unread() {
	for _, u := range c.facts.Unread {
		c.add(Unknown, u.What, u.Why, "run this command as a user with read access", "docs/install.md#people")
	}
}

// blind reports whether a kind could not be read.
func (c *checker) blind(kind string) bool {
	for _, u := range c.facts.Unread {
		if strings.HasPrefix(u.What, kind) {
			return true
		}
	}
	return false
}
