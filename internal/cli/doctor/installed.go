package doctor

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// oldestKubernetes is the oldest version that the chart supports.
var oldestKubernetes = version.MajorMinor(1, 31)

func (c *checker) kubernetes() {
	found, err := version.ParseGeneric(c.facts.KubernetesVersion)
	switch {
	case err != nil:
		c.add(Unknown, "API server", fmt.Sprintf("cannot parse version %q", c.facts.KubernetesVersion), "check the output of kubectl version", "docs/install.md")
	case found.LessThan(oldestKubernetes):
		c.add(Failure, "API server", "version "+c.facts.KubernetesVersion+" is older than "+oldestKubernetes.String()+", the oldest that pgstorage supports", "upgrade Kubernetes", "docs/install.md")
	default:
		c.ok("API server", c.facts.KubernetesVersion)
	}
}

func (c *checker) crds() {
	for _, wanted := range c.facts.ExpectedCRDs {
		found := c.facts.InstalledCRDs[wanted.Name]
		const install = "install or upgrade pgstorage: helm upgrade --install, or kubectl apply --server-side -k config/default"
		switch {
		case found == nil && c.blind("CustomResourceDefinition "+wanted.Name):
		case found == nil:
			c.add(Failure, wanted.Name, "the CRD is not installed", install, "docs/install.md")
		case !established(found):
			c.add(Failure, wanted.Name, "the CRD is not served: its condition Established is not True", "check its conditions with kubectl get crd "+wanted.Name+" -o yaml", "docs/install.md")
		case !sameSchema(wanted, found):
			c.add(Warning, wanted.Name, "the CRD differs from that of plugin version "+c.facts.PluginVersion+", so render and explain can be wrong", install+", or use the plugin version of the operator", "docs/plugin.md")
		default:
			c.ok(wanted.Name, "the CRD matches this plugin")
		}
	}
}

func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	})
}

// sameSchema reports whether each expected version has the expected schema.
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
		c.add(Failure, "manager", "no Deployment found", "install pgstorage", "docs/install.md")
	case len(managers) > 1:
		c.add(Warning, "manager", fmt.Sprintf("%d Deployments found, but a cluster supports one installation of pgstorage", len(managers)), "uninstall all but one", "docs/install.md")
	}
	for i := range managers {
		m := &managers[i]
		name := m.Namespace + "/" + m.Name
		if m.Status.AvailableReplicas == 0 {
			c.add(Failure, name, "no replica is available", fmt.Sprintf("check kubectl -n %s describe deployment %s, and its log", m.Namespace, m.Name), "docs/install.md")
			continue
		}
		c.ok(name, "a replica of "+imageOf(m.Spec.Template.Spec)+" is available")
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

// foreign checks other operators. Only those that an existing profile needs are required.
func (c *checker) foreign() {
	if c.facts.APIs == nil {
		c.add(Unknown, "CRDs", "cannot read CustomResourceDefinitions", "run this command as a user who can read CustomResourceDefinitions", "docs/plugin.md")
		return
	}
	apis := *c.facts.APIs
	if o := clusters.CNPGOutcome(apis); o.Kind == outcome.Done {
		c.ok("CloudNativePG", "installed with all required CRDs")
	} else {
		remedy, link := c.remedy(o.Reason, "pgstoragecluster")
		c.add(Failure, "CloudNativePG", o.Message, remedy, link)
	}
	if o := clusters.BenchmarkOutcome(apis); apis.CNPGInstalled && len(apis.CNPGMissing) == 0 && o.Kind != outcome.Done {
		remedy, link := c.remedy(o.Reason, "pgbenchmark")
		c.add(Warning, "CloudNativePG", o.Message, remedy, link)
	}
	c.optional("zfs-localpv", apis.ZFSLocalPV, c.usesZFS(), "ZFS profiles", "install OpenEBS zfs-localpv: https://openebs.github.io/zfs-localpv", "docs/tutorial-zfs.md")
	for _, kind := range catalog.All() {
		for _, r := range kind.Hooks().Plugin.Requires {
			c.optional(r.Name, apis.Has(r.CRDs...), c.uses(kind.Name()), string(kind.Name())+" profiles", r.Remedy, r.Document)
			if r.Judge != nil && apis.Has(r.CRDs...) {
				c.versions(r, c.uses(kind.Name()))
			}
		}
	}
	c.optional("prometheus-operator", apis.PodMonitors, false, "PodMonitors of databases", "", "")
	c.optional("Barman Cloud plugin", apis.ObjectStores, c.usesPlugin(), "backups into an object store", "install the plugin: https://cloudnative-pg.io/plugin-barman-cloud/docs/installation/", "docs/runbooks/PluginNotInstalled.md")
	c.optional("volume snapshots", apis.VolumeSnapshots, false, "backups with volume snapshots", "", "")
}

func (c *checker) usesZFS() bool { return slices.ContainsFunc(c.facts.Profiles, onZFS) }

// optional checks a part that is required only if needed is set. use names what needs it.
func (c *checker) optional(subject string, there, needed bool, use, remedy, link string) {
	switch {
	case there:
		c.ok(subject, "installed")
	case needed:
		c.add(Failure, subject, "not installed; "+use+" need it", remedy, link)
	default:
		c.add(Note, subject, "not installed; only "+use+" need it", "", "")
	}
}
