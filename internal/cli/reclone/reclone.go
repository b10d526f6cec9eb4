// Package reclone decides which instances of CloudNativePG Clusters lost their volumes with
// a node and can be cloned again elsewhere. It is pure: its caller reads and deletes.
package reclone

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// Outcome says what happens to an instance.
type Outcome string

const (
	// Planned means that its claims can be deleted.
	Planned Outcome = "Planned"
	// Deleted means that its claims and its pod were deleted. CloudNativePG clones another
	// one.
	Deleted Outcome = "Deleted"
	// Refused means that nothing is deleted; Why says the reason.
	Refused Outcome = "Refused"
	// Failed means that an error ended the command at this instance; Why has it.
	Failed Outcome = "Failed"
)

// NodeState is what the API server says of a node.
type NodeState int

const (
	// NodeUnknown could not be read.
	NodeUnknown NodeState = iota
	// NodeGone has no Node object.
	NodeGone
	// NodeNotReady may still run its pods.
	NodeNotReady
	// NodeReady runs or has ended them.
	NodeReady
)

// Objects that the API server has in one namespace.
type Objects struct {
	Cluster cnpgv1.Cluster
	Pods    []corev1.Pod
	Claims  []corev1.PersistentVolumeClaim
}

// Instance that is to be cloned again.
type Instance struct {
	Namespace, Cluster, Name string
	// Node that is lost, or that its claims were given to; empty where no claim says so.
	Node string
	// Claims of its volumes, and its pod, which is nil if there is none.
	Claims []corev1.PersistentVolumeClaim
	Pod    *corev1.Pod
	// Force says that the pod's node is gone, so that no kubelet confirms its end.
	Force   bool
	Outcome Outcome
	Why     string
}

// Instances of a Cluster that are selected, sorted by name.
func Instances(in Objects, node func(string) NodeState, selected Selection) []Instance {
	byName := found{}
	byName.claims(in)
	byName.pods(in)
	var out []Instance
	for _, i := range byName {
		if selected.wants(i) {
			i.Node = cmp.Or(selected.Node, i.Node)
			i.decide(in, node, selected)
			out = append(out, *i)
		}
	}
	slices.SortFunc(out, func(a, b Instance) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// found instances by their names.
type found map[string]*Instance

// of returns the instance that an object belongs to; nil if it is not the Cluster's, because
// anyone can write a label.
func (f found) of(in Objects, o metav1.Object) *Instance {
	name := o.GetLabels()[naming.LabelCNPGInstance]
	if name == "" || !metav1.IsControlledBy(o, &in.Cluster) {
		return nil
	}
	if f[name] == nil {
		f[name] = &Instance{Namespace: in.Cluster.Namespace, Cluster: in.Cluster.Name, Name: name}
	}
	return f[name]
}

func (f found) claims(in Objects) {
	for _, c := range in.Claims {
		if i := f.of(in, &c); i != nil {
			i.Claims = append(i.Claims, c)
			if home := c.Annotations[naming.AnnotationSelectedNode]; home != "" {
				i.Node = home
			}
		}
	}
}

func (f found) pods(in Objects) {
	for _, p := range in.Pods {
		if i := f.of(in, &p); i != nil && p.Name == i.Name {
			i.Pod = &p
		}
	}
}

// decide refuses what could lose the only copy or a volume that is intact, or delete the pod
// of a Postgres that runs.
func (i *Instance) decide(in Objects, node func(string) NodeState, selected Selection) {
	i.Outcome, i.Why = Refused, cmp.Or(i.keep(in), selected.intact(i))
	if i.Why != "" {
		return
	}
	if i.Pod != nil && i.Pod.Spec.NodeName != "" {
		switch name := i.Pod.Spec.NodeName; node(name) {
		case NodeGone:
			i.Force = true
		case NodeNotReady:
			i.Why = fmt.Sprintf("node %s is not Ready, and its Postgres may still run; make sure that the machine is off, then: kubectl delete node %s", name, name)
			return
		case NodeUnknown:
			i.Why = fmt.Sprintf("you may not read node %s, which has its pod", name)
			return
		}
	}
	i.Outcome = Planned
}

// keep says why the volumes of an instance have to stay, whatever their node does; empty
// if they need not.
func (i *Instance) keep(in Objects) string {
	primary := in.Cluster.Status.CurrentPrimary
	switch {
	case len(i.Claims) == 0:
		return "it has no claims"
	case primary == "":
		return "the Cluster has no primary that it could be cloned from"
	case i.Name == primary || i.Name == in.Cluster.Status.TargetPrimary:
		return "it is the primary; wait for the failover, or for the node"
	case !slices.ContainsFunc(in.Pods, func(p corev1.Pod) bool {
		return p.Name == primary && metav1.IsControlledBy(&p, &in.Cluster) && ready(&p)
	}):
		return fmt.Sprintf("the primary %s is not ready, and these volumes may be the only copy", primary)
	case i.Pod != nil && ready(i.Pod):
		return "it is ready"
	}
	return ""
}

func ready(p *corev1.Pod) bool {
	return p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// Fail notes the error that ended the command, after the named claims were deleted.
func (i *Instance) Fail(err error, deleted []string) {
	i.Outcome, i.Why = Failed, err.Error()
	if len(deleted) > 0 {
		i.Why += "; deleted before: claims " + strings.Join(deleted, ",")
	}
}

// Table of the instances.
func Table(instances []Instance) string {
	rows := [][]string{{"NAMESPACE", "CLUSTER", "INSTANCE", "NODE", "CLAIMS", "OUTCOME", "DETAIL"}}
	for _, i := range instances {
		var claims []string
		for _, c := range i.Claims {
			claims = append(claims, c.Name)
		}
		slices.Sort(claims)
		rows = append(rows, []string{i.Namespace, i.Cluster, i.Name, view.Or(i.Node), view.Or(strings.Join(claims, ",")), string(i.Outcome), view.Or(i.Why)})
	}
	return view.Columns(rows...)
}
