package doctor

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// enforceLabel of Pod Security.
const enforceLabel = "pod-security.kubernetes.io/enforce"

// agents are needed by profiles that make pools on nodes.
func (c *checker) agents() {
	needed := slices.ContainsFunc(c.facts.Profiles, needsAgent)
	none := len(c.facts.Agents) == 0 && !c.blind("DaemonSets")
	switch {
	case none && needed:
		c.say(Failure, "agent", "no DaemonSet of it was found, and profiles on ZFS need it", "set agent.enabled=true in the chart, or add the component config/agent", "docs/install.md#the-agent")
	case none:
		c.say(Note, "agent", "is not installed; it is for profiles on ZFS", "", "")
	}
	for i := range c.facts.Agents {
		a := &c.facts.Agents[i]
		name := a.Namespace + "/" + a.Name
		if !c.privileged(a.Namespace) {
			c.say(Failure, "namespace "+a.Namespace, "Pod Security does not let privileged pods run there, so the agent has none", fmt.Sprintf("kubectl label namespace %s --overwrite %s=privileged", a.Namespace, enforceLabel), "docs/install.md#the-namespace")
		}
		if s := a.Status; s.NumberReady < s.DesiredNumberScheduled || s.DesiredNumberScheduled == 0 {
			c.say(Warning, name, fmt.Sprintf("%d of %d pods are ready", s.NumberReady, s.DesiredNumberScheduled), fmt.Sprintf("see kubectl -n %s describe daemonset %s; its nodeSelector must fit that of the profiles", a.Namespace, a.Name), "docs/runbooks/PgStorageAgentAbsent.md")
			continue
		}
		c.ok(name, fmt.Sprintf("%d pods are ready, of %s", a.Status.NumberReady, imageOf(a.Spec.Template.Spec)))
	}
}

// privileged says whether a namespace lets the agent's pods run; what is not known is
// taken for yes.
func (c *checker) privileged(namespace string) bool {
	for _, n := range c.facts.Namespaces {
		if n.Name == namespace {
			level := n.Labels[enforceLabel]
			return level == "" || level == "privileged"
		}
	}
	return true
}

// ready says whether a Node is.
func ready(n corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// selected nodes of a profile, by name.
func (c *checker) selected(p v1alpha1.PgStorageProfile) []corev1.Node {
	var out []corev1.Node
	for _, n := range c.facts.Nodes {
		all := len(p.Spec.NodeSelector) > 0
		for k, v := range p.Spec.NodeSelector {
			all = all && n.Labels[k] == v
		}
		if all {
			out = append(out, n)
		}
	}
	return byName(out, func(n corev1.Node) string { return n.Name })
}
