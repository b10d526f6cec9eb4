package doctor

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// oldest Kubernetes that the chart takes.
var oldest = version.MajorMinor(1, 31)

func (c *checker) kubernetes() {
	found, err := version.ParseGeneric(c.facts.Kubernetes)
	switch {
	case err != nil:
		c.say(Unknown, "API server", fmt.Sprintf("its version %q cannot be read", c.facts.Kubernetes), "see kubectl version", "docs/install.md")
	case found.LessThan(oldest):
		c.say(Failure, "API server", c.facts.Kubernetes+" is older than "+oldest.String(), "upgrade Kubernetes", "docs/install.md")
	default:
		c.ok("API server", c.facts.Kubernetes)
	}
}

func (c *checker) crds() {
	for _, wanted := range c.facts.Wanted {
		found := c.facts.Found[wanted.Name]
		const install = "install or upgrade pgstorage: helm upgrade --install, or kubectl apply --server-side -k config/default"
		switch {
		case found == nil && c.blind("CustomResourceDefinition "+wanted.Name):
		case found == nil:
			c.say(Failure, wanted.Name, "is not installed", install, "docs/install.md")
		case !established(found):
			c.say(Failure, wanted.Name, "is not served: its condition Established is not True", "see kubectl get crd "+wanted.Name+" -o yaml", "docs/install.md")
		case !sameSchema(wanted, found):
			c.say(Warning, wanted.Name, "is of another version than this plugin ("+c.facts.Plugin+"), so render and explain may not fit it", install+", or use the plugin of the operator's version", "docs/plugin.md")
		default:
			c.ok(wanted.Name, "is served, as this plugin knows it")
		}
	}
}

func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	})
}

// sameSchema of each version that is wanted.
func sameSchema(wanted, found *apiextensionsv1.CustomResourceDefinition) bool {
	for _, w := range wanted.Spec.Versions {
		i := slices.IndexFunc(found.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == w.Name })
		if i < 0 || !equality.Semantic.DeepEqual(w.Schema, found.Spec.Versions[i].Schema) {
			return false
		}
	}
	return true
}

func (c *checker) operator() {
	managers := c.facts.Managers
	switch {
	case len(managers) == 0 && !c.blind("Deployments"):
		c.say(Failure, "manager", "no Deployment of it was found", "install pgstorage", "docs/install.md")
	case len(managers) > 1:
		c.say(Warning, "manager", fmt.Sprintf("%d Deployments of it exist, and pgstorage is installed once per cluster", len(managers)), "uninstall all but one", "docs/install.md")
	}
	for i := range managers {
		m := &managers[i]
		name := m.Namespace + "/" + m.Name
		if m.Status.AvailableReplicas == 0 {
			c.say(Failure, name, "no replica is available", fmt.Sprintf("see kubectl -n %s describe deployment %s and its log", m.Namespace, m.Name), "docs/install.md")
			continue
		}
		c.ok(name, "runs "+imageOf(m.Spec.Template.Spec))
	}
	c.role()
	c.agents()
}

func imageOf(pod corev1.PodSpec) string {
	if len(pod.Containers) == 0 {
		return ""
	}
	return pod.Containers[0].Image
}

// role of the manager, held against the one of this version.
func (c *checker) role() {
	if c.facts.WantedRole == nil || len(c.facts.Managers) == 0 || c.blind("ClusterRole") {
		return
	}
	name := "ClusterRole " + c.facts.WantedRole.Name
	const remedy = "upgrade pgstorage with its roles: helm upgrade --install, or kubectl apply --server-side -k config/default"
	if c.facts.Role == nil {
		c.say(Failure, name, "does not exist, so the manager may do nothing", remedy, "docs/install.md")
		return
	}
	if lacks := lacking(c.facts.WantedRole.Rules, c.facts.Role.Rules); len(lacks) > 0 {
		c.say(Warning, name, "lacks what this version needs: "+strings.Join(lacks, ", "), remedy, "docs/install.md")
		return
	}
	c.ok(name, "has what this version needs")
}

// lacking are the rights of wanted that no rule of have gives.
func lacking(wanted, have []rbacv1.PolicyRule) []string {
	var out []string
	for _, w := range wanted {
		for _, group := range w.APIGroups {
			for _, resource := range w.Resources {
				for _, verb := range w.Verbs {
					if !slices.ContainsFunc(have, func(r rbacv1.PolicyRule) bool { return gives(r, verb, group, resource, w.ResourceNames) }) {
						out = append(out, strings.TrimSuffix(verb+" "+resource+"."+group, "."))
					}
				}
			}
		}
	}
	return out
}

func gives(r rbacv1.PolicyRule, verb, group, resource string, names []string) bool {
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

// foreign operators, by what the profiles that exist need.
func (c *checker) foreign() {
	if c.facts.APIs == nil {
		c.say(Unknown, "CRDs", "could not be read", "ask somebody who may get CustomResourceDefinitions to run this", "docs/plugin.md")
		return
	}
	apis := *c.facts.APIs
	if o := clusters.CNPGOutcome(apis); o.Kind == outcome.Done {
		c.ok("CloudNativePG", "is installed, with what is needed of it")
	} else {
		remedy, link := c.reason(o.Reason, "pgstoragecluster")
		c.say(Failure, "CloudNativePG", o.Message, remedy, link)
	}
	c.optional("zfs-localpv", apis.ZFSLocalPV, c.usesZFS(), "profiles on ZFS", "install OpenEBS zfs-localpv: https://openebs.github.io/zfs-localpv", "docs/tutorial-zfs.md")
	for _, kind := range catalog.All() {
		for _, r := range kind.Hooks().Plugin.Requires {
			c.optional(r.Name, apis.Has(r.CRDs...), c.uses(kind.Name()), "profiles of type "+string(kind.Name()), r.Remedy, r.Document)
		}
	}
	c.optional("prometheus-operator", apis.PodMonitors, false, "PodMonitors of databases", "", "")
	c.optional("volume snapshots", apis.VolumeSnapshots, false, "backups by snapshot", "", "")
}

func (c *checker) usesZFS() bool { return slices.ContainsFunc(c.facts.Profiles, onZFS) }

// optional is a failure only where something needs it.
func (c *checker) optional(subject string, there, needed bool, use, remedy, link string) {
	switch {
	case there:
		c.ok(subject, "is installed")
	case needed:
		c.say(Failure, subject, "is not installed, and "+use+" need it", remedy, link)
	default:
		c.say(Note, subject, "is not installed; it is for "+use, "", "")
	}
}

func (c *checker) permissions() {
	for _, p := range c.facts.Permissions {
		what := strings.TrimSuffix(p.Verb+" "+p.Resource+"."+p.Group, ".")
		if p.Namespace != "" {
			what += " in namespace " + p.Namespace
		}
		if p.Allowed {
			c.ok(what, "you may, "+p.For)
			continue
		}
		c.say(Note, what, "you may not, "+p.For, "if you should: docs/install.md names the roles", "docs/install.md#people")
	}
}

func (c *checker) unread() {
	for _, u := range c.facts.Unread {
		c.say(Unknown, u.What, u.Why, "ask somebody who may read it to run this", "docs/install.md#people")
	}
}

// blind says that a kind could not be read.
func (c *checker) blind(kind string) bool {
	for _, u := range c.facts.Unread {
		if strings.HasPrefix(u.What, kind) {
			return true
		}
	}
	return false
}
