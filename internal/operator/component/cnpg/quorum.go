package cnpg

import (
	"fmt"
	"maps"
	"slices"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	cnpgac "github.com/pgstorage/pgstorage/internal/operator/extapply/cnpg/api/v1"
)

// Standbys that must confirm a commit: 0 without the tier Quorum.
func Standbys(cr *v1alpha1.PgStorageCluster) int {
	if cr.Spec.Durability != v1alpha1.DurabilityQuorum {
		return 0
	}
	if q := cr.Spec.Quorum; q != nil && q.Standbys > 0 {
		return int(q.Standbys)
	}
	return 1
}

// First says that commits wait for standbys by priority.
func First(cr *v1alpha1.PgStorageCluster) bool {
	return cr.Spec.Quorum != nil && cr.Spec.Quorum.Method == v1alpha1.QuorumFirst
}

// FailureDomain is the node label across whose values instances are spread, or "".
func FailureDomain(cr *v1alpha1.PgStorageCluster) string {
	if cr.Spec.Durability != v1alpha1.DurabilityQuorum || cr.Spec.Quorum == nil {
		return ""
	}
	return cr.Spec.Quorum.AcrossFailureDomain
}

// synchronous acknowledges a commit after a flush on standbys, and stops writes when
// there are too few. Failover asks the same quorum, so that a standby without the last
// acknowledged commit is never promoted
// (https://cloudnative-pg.io/documentation/current/failover/).
func synchronous(cr *v1alpha1.PgStorageCluster) *cnpgac.SynchronousReplicaConfigurationApplyConfiguration {
	method := cnpgv1.SynchronousReplicaConfigurationMethodAny
	if First(cr) {
		method = cnpgv1.SynchronousReplicaConfigurationMethodFirst
	}
	return cnpgac.SynchronousReplicaConfiguration().
		WithMethod(method).
		WithNumber(Standbys(cr)).
		WithDataDurability(cnpgv1.DataDurabilityLevelRequired).
		WithFailoverQuorum(true)
}

// Spread puts every instance of a Cluster into a failure domain of its own, on nodes that
// name theirs. CloudNativePG ignores syncReplicaElectionConstraint where synchronous is
// set (pkg/postgres/replication of v1.30.0), and lowers the number of standbys where it
// is not. So placement keeps standbys apart, and the constraint only has CloudNativePG
// report each instance's domain. It returns what of an override forbids that.
func Spread(content map[string]any, label string) []string {
	spec, _ := content["spec"].(map[string]any)
	var refused []string
	for _, f := range []struct {
		path []string
		want any
	}{
		{[]string{"affinity", "enablePodAntiAffinity"}, true},
		{[]string{"affinity", "topologyKey"}, label},
		{[]string{"affinity", "podAntiAffinityType"}, string(cnpgv1.PodAntiAffinityTypeRequired)},
	} {
		have, found, err := unstructured.NestedFieldNoCopy(spec, f.path...)
		if err != nil || found && have != f.want {
			refused = append(refused, fmt.Sprintf("spec.cnpg.spec.affinity.%s: spec.quorum.acrossFailureDomain needs %v; remove it, or remove spec.quorum.acrossFailureDomain", f.path[1], f.want))
			continue
		}
		setNested(spec, f.want, f.path...)
	}
	if len(refused) > 0 {
		return refused
	}
	onNamedNodes(spec, label)
	setNested(spec, map[string]any{"enabled": true, "nodeLabelsAntiAffinity": []any{label}}, "postgresql", "syncReplicaElectionConstraint")
	return nil
}

// onNamedNodes adds to each term of the required node affinity that nodes have the label:
// anti-affinity does not keep pods apart on nodes without it.
func onNamedNodes(spec map[string]any, label string) {
	path := []string{"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"}
	terms, _, _ := unstructured.NestedFieldNoCopy(spec, path...) // a value of another type is refused before
	list, _ := terms.([]any)
	exists := map[string]any{"key": label, "operator": string(corev1.NodeSelectorOpExists)}
	if len(list) == 0 {
		setNested(spec, []any{map[string]any{"matchExpressions": []any{exists}}}, path...)
		return
	}
	out := make([]any, 0, len(list))
	for _, t := range list {
		term, _ := t.(map[string]any)
		if len(term) > 0 { // an empty term selects no node
			term = maps.Clone(term)
			expressions, _ := term["matchExpressions"].([]any)
			term["matchExpressions"] = append(slices.Clip(expressions), exists)
		}
		out = append(out, term)
	}
	setNested(spec, out, path...)
}

// setNested sets a field, and replaces values on the way that are not objects.
func setNested(in map[string]any, value any, path ...string) {
	for _, name := range path[:len(path)-1] {
		next, isMap := in[name].(map[string]any)
		if !isMap {
			next = map[string]any{}
			in[name] = next
		}
		in = next
	}
	in[path[len(path)-1]] = value
}
