package pgstoragecluster

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
)

// emitChanges emits at most one event of each reason. The recorder would join a second one
// to a series, drop its text and write it minutes later.
func (r *Reconciler) emitChanges(cr *v1alpha1.PgStorageCluster, changes []apply.Change) {
	var applied, repaired []string
	for _, c := range changes {
		if c.Drift != "" {
			repaired = append(repaired, c.Key.String()+": "+c.Drift)
			continue
		}
		applied = append(applied, c.Key.String())
	}
	if len(repaired) > 0 {
		r.Events.Eventf(cr, nil, corev1.EventTypeWarning, "DriftRepaired", "Apply", "another writer changed %s, and the operator set it back; change the PgStorageCluster instead", strings.Join(repaired, ", "))
	}
	if len(applied) > 0 {
		r.Events.Eventf(cr, nil, corev1.EventTypeNormal, "Applied", "Apply", "applied %s", strings.Join(applied, ", "))
	}
}

// emit emits the events of what was applied, and of Ready when its status or reason
// changes.
func (r *Reconciler) emit(before *v1alpha1.PgStorageCluster, now v1alpha1.PgStorageClusterStatus, changes []apply.Change) {
	r.emitChanges(before, changes)
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
