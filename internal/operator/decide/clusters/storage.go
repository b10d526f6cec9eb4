package clusters

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

func storageOutcome(kinds profile.Catalog, cr *v1alpha1.PgStorageCluster, facts observed.Cluster) outcome.Outcome {
	const c = v1alpha1.ConditionStorageReady
	if facts.Profile == nil {
		return outcome.WaitFor(c, v1alpha1.ReasonProfileNotFound, fmt.Sprintf(msgProfileNotFound, cr.Spec.Profile))
	}
	if text := tooLarge(cr, facts.Profile); text != "" {
		return outcome.InvalidBecause(c, v1alpha1.ReasonInvalidSpec, text)
	}
	ready := meta.FindStatusCondition(facts.Profile.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil {
		return outcome.WaitFor(c, v1alpha1.ReasonProfileNotReady, fmt.Sprintf(msgProfileNotReconciled, cr.Spec.Profile))
	}
	if ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == facts.Profile.Generation {
		return outcome.DoneWith(c, v1alpha1.ReasonReady, fmt.Sprintf(msgProfileReady, cr.Spec.Profile))
	}
	if serves(facts.Profile, ready) {
		return outcome.DoneWith(c, ready.Reason, fmt.Sprintf(msgProfileServes, cr.Spec.Profile, ready.Message))
	}
	if keepsServing(kinds, facts, ready) {
		return outcome.DoneWith(c, ready.Reason, fmt.Sprintf(msgProfileKeepsServing, cr.Spec.Profile, ready.Message))
	}
	return outcome.WaitFor(c, v1alpha1.ReasonProfileNotReady, fmt.Sprintf(msgProfileNotReady, cr.Spec.Profile, ready.Reason, ready.Message))
}

// tooLarge says that the volumes of one instance are more than a profile of type Memory
// gives of a node, so that they fit none.
func tooLarge(cr *v1alpha1.PgStorageCluster, p *v1alpha1.PgStorageProfile) string {
	if p.Spec.Memory == nil {
		return ""
	}
	size := cnpg.InMemory(cr)
	if size.Cmp(p.Spec.Memory.MaxPerNode) <= 0 {
		return ""
	}
	return fmt.Sprintf(msgLargerThanNode, size.String(), p.Name, p.Spec.Memory.MaxPerNode.String())
}

// serves says that a profile lacks nothing but nodes that are out of reach: new
// databases can be made on the others.
func serves(p *v1alpha1.PgStorageProfile, ready *metav1.Condition) bool {
	return (ready.Reason == v1alpha1.ReasonNodeNotReady || ready.Reason == v1alpha1.ReasonNodeNotFound) &&
		ready.ObservedGeneration == p.Generation && meta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ConditionStorageReady)
}

// keepsServing says that the database runs, and that its profile lacks only what new
// volumes need.
func keepsServing(kinds profile.Catalog, facts observed.Cluster, ready *metav1.Condition) bool {
	if facts.Cluster == nil || facts.Cluster.Status.ReadyInstances == 0 || ready.ObservedGeneration != facts.Profile.Generation {
		return false
	}
	kind, err := kinds.For(facts.Profile.Spec.Type)
	if err != nil {
		return false
	}
	serves := kind.Hooks().Serves
	return serves != nil && serves(facts.Profile, ready.Reason)
}

func volumes(kinds profile.Catalog, p *v1alpha1.PgStorageProfile) (profile.Volumes, error) {
	if p == nil {
		return profile.Volumes{Medium: postgres.Medium(v1alpha1.MediumSSD)}, nil
	}
	t, err := kinds.For(p.Spec.Type)
	if err != nil {
		return profile.Volumes{}, err
	}
	return t.Volumes(p), nil
}

// verify the volumes of the database by its profile.
func verify(kinds profile.Catalog, cr *v1alpha1.PgStorageCluster, facts observed.Cluster) (*outcome.Outcome, postgres.Proof) {
	if facts.Profile == nil {
		return nil, postgres.Proof{Possible: true, Missing: "the profile does not exist"}
	}
	t, err := kinds.For(facts.Profile.Spec.Type)
	if err != nil {
		return nil, postgres.Proof{}
	}
	o, proof := t.Verify(facts.Profile, int(Instances(cr)), facts.Claims)
	if o != nil {
		o.Message += outOfReach(facts.Claims) + whatFollows(cr, o)
	}
	return o, proof
}

// whatFollows says what becomes of a database whose volume in memory is lost. A follower is
// cloned again; any other one has lost its data, and is never made again unasked.
func whatFollows(cr *v1alpha1.PgStorageCluster, o *outcome.Outcome) string {
	switch {
	case o.Reason != v1alpha1.ReasonVolumeLost:
		return ""
	case Follows(cr):
		return msgLostPool
	}
	o.Kind = outcome.Invalid
	return msgLostDatabase
}

// outOfReach says of which nodes the read-back may be old.
func outOfReach(claims []observed.Claim) string {
	text, told := "", map[string]bool{}
	for _, c := range claims {
		if c.Unreachable != "" && !told[c.Node] {
			text, told[c.Node] = text+". "+c.Unreachable, true
		}
	}
	return text
}
