package render

import (
	"fmt"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// profile plans a profile twice. The first plan knows no node; the second one assumes
// that the agent of each node applied the first plan.
func (b *builder) profile(p *v1alpha1.PgStorageProfile) error {
	kind, err := catalog.For(p.Spec.Type)
	if err != nil {
		return err
	}
	facts := b.profileFacts(kind, p)
	first, err := kind.Build(p, facts)
	if err != nil {
		return err
	}
	b.classes(kind, p, &facts, &first.Plan)
	if err := answer(&facts, &first.Plan); err != nil {
		return err
	}
	built, err := kind.Build(p, facts)
	if err != nil {
		return err
	}
	b.assumeGate(kind)
	b.add("PgStorageProfile", "", p.Name, built.Plan)
	return rejection(built.Outcomes)
}

func (b *builder) profileFacts(kind profile.Type, p *v1alpha1.PgStorageProfile) observed.Profile {
	facts := observed.Profile{
		ForeignAPIs: apis, Classes: map[string]*storagev1.StorageClass{}, Reachable: map[string]observed.Reachability{}, Operator: b.assume.Operator,
	}
	facts.Nodes = b.nodes(p)
	for _, n := range facts.Nodes {
		facts.Reachable[n.Name] = observed.Reachability{Status: metav1.ConditionTrue}
	}
	for _, c := range b.documents.Classes {
		facts.Classes[c.Name] = c
	}
	for _, cr := range b.documents.Clusters {
		if cr.Spec.Profile == p.Name {
			facts.Clusters = append(facts.Clusters, *cr)
		}
	}
	for _, q := range b.documents.Profiles {
		if q != p && q.Spec.Type == p.Spec.Type && kind.Hooks().Peers {
			facts.Others = append(facts.Others, q)
		}
	}
	if assume := kind.Hooks().Plugin.Assume; assume != nil {
		assume(p, &facts)
	}
	return facts
}

// nodes returns the nodes that a profile selects: Node objects with its labels, and the
// assumed ones.
func (b *builder) nodes(p *v1alpha1.PgStorageProfile) []observed.Node {
	if len(p.Spec.NodeSelector) == 0 {
		return nil
	}
	out := b.matching(p)
	for _, name := range b.assume.Nodes {
		if !slices.ContainsFunc(out, func(n observed.Node) bool { return n.Name == name }) {
			out = append(out, assumedNode(name))
		}
	}
	slices.SortFunc(out, func(a, b observed.Node) int { return strings.Compare(a.Name, b.Name) })
	if len(out) == 0 {
		b.assumed("no node matches the nodeSelector of PgStorageProfile %s, so it has no PgNodeStorage; name nodes with --node, or give Node objects with -f", p.Name)
		return nil
	}
	b.assumed("nodes %s of PgStorageProfile %s are Ready, and their agents have applied their PgNodeStorages", names(out), p.Name)
	return out
}

// matching returns the Node objects with the labels of a profile.
func (b *builder) matching(p *v1alpha1.PgStorageProfile) []observed.Node {
	var out []observed.Node
	selector := labels.SelectorFromSet(p.Spec.NodeSelector)
	for _, n := range b.documents.Nodes {
		if selector.Matches(labels.Set(n.Labels)) {
			node := assumedNode(n.Name)
			node.Memory = n.Status.Allocatable.Memory().Value()
			if id := n.Labels[zfsvolumes.TopologyKey]; id != "" {
				node.TopologyValue = id
			}
			out = append(out, node)
		}
	}
	return out
}

func assumedNode(name string) observed.Node {
	return observed.Node{Name: name, Selected: true, TopologyKey: zfsvolumes.TopologyKey, TopologyValue: name}
}

func names(nodes []observed.Node) string {
	var out []string
	for _, n := range nodes {
		out = append(out, n.Name)
	}
	return strings.Join(out, ", ")
}

// classes assumes that the StorageClasses exist that the profile names and does not create.
func (b *builder) classes(kind profile.Type, p *v1alpha1.PgStorageProfile, facts *observed.Profile, first *plan.Plan) {
	for _, name := range kind.Classes(p) {
		own := slices.ContainsFunc(first.Objects, func(o plan.Object) bool { return o.Key().Kind == "StorageClass" && o.Key().Name == name })
		if own || facts.Classes[name] != nil {
			continue
		}
		facts.Classes[name] = &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
		b.assumed("StorageClass %s exists", name)
	}
}

// answer adds the status that the agents would report after applying the plan, and the
// pools that the CSI driver would list.
func answer(facts *observed.Profile, first *plan.Plan) error {
	for _, o := range first.Objects {
		if o.Key().Kind != "PgNodeStorage" {
			continue
		}
		s := &v1alpha1.PgNodeStorage{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Content.Object, s); err != nil {
			return fmt.Errorf("read %s: %w", o.Key(), err)
		}
		s.Generation, s.Status.ObservedGeneration = 1, 1
		s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReady, ObservedGeneration: 1}}
		facts.Storages = append(facts.Storages, s)
		for i := range facts.Nodes {
			if facts.Nodes[i].Name == s.Spec.NodeName {
				facts.Nodes[i].Pools = []string{s.Spec.Pool.Name}
			}
		}
	}
	return nil
}

// assumeGate notes that the manager must enable a kind that is off by default.
func (b *builder) assumeGate(kind profile.Type) {
	if kind.Hooks().Alpha != "" {
		b.assumed("the manager runs with --feature-gates=%s=true", kind.Name())
	}
}
