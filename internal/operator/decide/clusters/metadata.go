package clusters

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
)

// conditionHibernation of CloudNativePG, which says how far it is with stopping the
// instances (its pkg/reconciler/hibernation).
const conditionHibernation = "cnpg.io/hibernation"

// metadataOutcome says which annotations reach the CloudNativePG Cluster. It is nil
// for an object without any that CloudNativePG knows.
func metadataOutcome(cr *v1alpha1.PgStorageCluster) *outcome.Outcome {
	const c = v1alpha1.ConditionAnnotationsForwarded
	var out outcome.Outcome
	passed, held := cnpg.ForwardedAnnotations(cr), cnpg.NotForwarded(cr)
	switch {
	case len(held) > 0:
		out = outcome.WaitFor(c, v1alpha1.ReasonNotForwarded, strings.Join(held, "; "))
	case len(passed) > 0:
		out = outcome.DoneWith(c, v1alpha1.ReasonForwarded, "the CloudNativePG Cluster gets "+strings.Join(slices.Sorted(maps.Keys(passed)), ", "))
	default:
		return nil
	}
	out.Informative = true
	return &out
}

// halted says that a CloudNativePG Cluster is stopped, or left alone, by an
// annotation. The live object is read, so it does not matter who set it.
func halted(cluster *cnpgv1.Cluster) (outcome.Outcome, bool) {
	const cond = v1alpha1.ConditionDatabaseReady
	if cluster.Annotations[naming.AnnotationReconciliationLoop] == "disabled" {
		return outcome.WaitFor(cond, v1alpha1.ReasonReconciliationDisabled, fmt.Sprintf("annotation %s is disabled: CloudNativePG neither replaces a lost primary nor applies changes; remove it to resume", naming.AnnotationReconciliationLoop)), true
	}
	if cluster.Annotations[naming.AnnotationHibernation] != "on" {
		return outcome.Outcome{}, false
	}
	const resume = "set it to off to start the instances"
	c := meta.FindStatusCondition(cluster.Status.Conditions, conditionHibernation)
	switch {
	case c == nil:
		return outcome.WaitFor(cond, v1alpha1.ReasonHibernated, fmt.Sprintf("annotation %s is on, and CloudNativePG has not acted on it yet; %s", naming.AnnotationHibernation, resume)), true
	case c.Status != metav1.ConditionTrue:
		return outcome.WaitFor(cond, v1alpha1.ReasonHibernated, fmt.Sprintf("annotation %s is on; CloudNativePG: %s; %s", naming.AnnotationHibernation, c.Message, resume)), true
	}
	return outcome.WaitFor(cond, v1alpha1.ReasonHibernated, fmt.Sprintf("annotation %s is on: no instance runs, and the volumes are kept; %s", naming.AnnotationHibernation, resume)), true
}
