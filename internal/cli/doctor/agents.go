package doctor

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// enforceLabel is the label of Pod Security admission on a namespace.
const enforceLabel = "pod-security.kubernetes.io/enforce"

// agents checks the DaemonSets, which profiles on ZFS and in memory need.
func (c *checker) agents() {
	needed := slices.ContainsFunc(c.facts.Profiles, needsAgent)
	none := len(c.facts.Agents) == 0 && !c.blind("DaemonSets")
	switch {
	case none && needed:
		c.add(Failure, "agent", "no DaemonSet found; ZFS and Memory profiles need it", "set agent.enabled=true in the chart, or add the kustomize component config/agent", "docs/install.md#the-agent")
	case none:
		c.add(Note, "agent", "not installed; only ZFS and Memory profiles need it", "", "")
	}
	for i := range c.facts.Agents {
		c.agent(&c.facts.Agents[i])
	}
}

// agent checks one DaemonSet and its namespace.
func (c *checker) agent(a *appsv1.DaemonSet) {
	name := a.Namespace + "/" + a.Name
	if !c.privileged(a.Namespace) {
		c.add(Failure, "namespace "+a.Namespace, "Pod Security rejects privileged pods, so the agent cannot run", fmt.Sprintf("kubectl label namespace %s --overwrite %s=privileged", a.Namespace, enforceLabel), "docs/install.md#the-namespace")
	}
	if s := a.Status; s.NumberReady < s.DesiredNumberScheduled || s.DesiredNumberScheduled == 0 {
		c.add(Warning, name, fmt.Sprintf("%d of %d pods are ready", s.NumberReady, s.DesiredNumberScheduled), fmt.Sprintf("check kubectl -n %s describe daemonset %s; its nodeSelector must match the nodes of the profiles", a.Namespace, a.Name), "docs/runbooks/PgStorageAgentAbsent.md")
		return
	}
	c.ok(name, fmt.Sprintf("%d pods of %s are ready", a.Status.NumberReady, imageOf(a.Spec.Template.Spec)))
}

// privileged reports whether a namespace admits privileged pods, or whether that is
// unknown.
func (c *checker) privileged(namespace string) bool {
	for _, n := range c.facts.Namespaces {
		if n.Name == namespace {
			level := n.Labels[enforceLabel]
			return level == "" || level == "privileged"
		}
	}
	return true
}

// ready reports whether a Node is Ready.
func ready(n corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// selected returns the nodes that a profile selects, sorted by name.
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
