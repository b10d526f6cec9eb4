package pgstorageprofile

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/status"
)

// +kubebuilder:rbac:groups=pgstorage.dev,resources=pgnodestorages/status,verbs=patch

// tellReachable writes on each PgNodeStorage whether its Node is Ready: of a node that
// is off, its own agent cannot. The status is the agent's but for this condition.
func (r *Reconciler) tellReachable(ctx context.Context, work *pass) error {
	now := metav1.NewTime(r.Clock.Now())
	for _, s := range work.facts.Storages {
		node := s.Spec.NodeName
		var have v1alpha1.PgNodeStorageStatus
		if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionNodeReachable); c != nil {
			have.Conditions = []metav1.Condition{*c}
		}
		want := v1alpha1.PgNodeStorageStatus{Conditions: []metav1.Condition{
			status.Condition(have.Conditions, now, work.facts.Reachable[node].Outcome(node)),
		}}
		_, err := status.Apply(ctx, r.Client, naming.FieldOwner, s, v1alpha1.GroupVersion.WithKind("PgNodeStorage"), have, want)
		if client.IgnoreNotFound(err) != nil { // this pass may have let it go
			return err
		}
	}
	return nil
}
