package pgstoragecluster

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/apply"
)

// emit tells what the stored status and the writes of this pass mean. Events
// come on transitions only.
func (r *Reconciler) emit(before *v1alpha1.PgStorageCluster, now v1alpha1.PgStorageClusterStatus, changes []apply.Change) {
	for _, c := range changes {
		if c.Drift != "" {
			r.Events.Eventf(before, nil, corev1.EventTypeWarning, "DriftRepaired", "Apply", "%s: %s was changed by somebody else and was set back; change the PgStorageCluster instead", c.Key, c.Drift)
			continue
		}
		r.Events.Eventf(before, nil, corev1.EventTypeNormal, "Applied", "Apply", "applied %s", c.Key)
	}
	was := meta.FindStatusCondition(before.Status.Conditions, v1alpha1.ConditionReady)
	is := meta.FindStatusCondition(now.Conditions, v1alpha1.ConditionReady)
	if is == nil || was != nil && was.Status == is.Status && was.Reason == is.Reason {
		return
	}
	kind := corev1.EventTypeNormal
	if meta.IsStatusConditionTrue(now.Conditions, v1alpha1.ConditionStalled) {
		kind = corev1.EventTypeWarning
	}
	r.Events.Eventf(before, nil, kind, is.Reason, "Reconcile", "%s", is.Message)
}
