package clusters

import (
	"fmt"
	"slices"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// stuck are the phases in which CloudNativePG waits for an administrator.
var stuck = []string{
	cnpgv1.PhaseWaitingForUser,
	cnpgv1.PhaseUnrecoverable,
	cnpgv1.PhaseDefinitionInvalid,
	cnpgv1.PhaseCannotCreateClusterObjects,
	cnpgv1.PhaseImageCatalogError,
	cnpgv1.PhaseUnknownPlugin,
	cnpgv1.PhaseFailurePlugin,
	cnpgv1.PhaseArchitectureBinaryMissing,
}

// phaseDiskFull is CloudNativePG's where Postgres ended because a volume has no room for WAL
// (internal/controller/cluster_controller.go of 1.30.0, which has no constant for it).
const phaseDiskFull = "Not enough disk space"

func (c *Cluster) databaseOutcome(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) outcome.Outcome {
	const cond = v1alpha1.ConditionDatabaseReady
	if o, held := ownership(cr, facts); held {
		return o
	}
	if o := CNPGOutcome(facts.ForeignAPIs); o.Kind != outcome.Done {
		return o
	}
	if gate, held := c.Plan.GateOf(plan.StageDatabase); held {
		return outcome.WaitFor(cond, gate.Reason, "nothing is applied to the database: "+gate.Message)
	}
	if facts.Cluster == nil && Suspended(cr) {
		return outcome.WaitFor(cond, v1alpha1.ReasonSuspended, msgNotCreatedSuspended)
	}
	if facts.Cluster == nil {
		return outcome.WaitFor(cond, v1alpha1.ReasonClusterCreating, msgClusterCreating)
	}
	if c.intent(cr.Name) != facts.Cluster.Annotations[naming.AnnotationIntent] {
		if Suspended(cr) {
			return outcome.WaitFor(cond, v1alpha1.ReasonSuspended, msgNotUpdatedSuspended)
		}
		return outcome.WaitFor(cond, v1alpha1.ReasonProgressing, msgClusterUpdating)
	}
	return c.health(cr, facts)
}

// health is what CloudNativePG reports. Its status has no observedGeneration, so
// a change is believed only when the read-back of the parameters agrees too.
func (c *Cluster) health(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) outcome.Outcome {
	const cond = v1alpha1.ConditionDatabaseReady
	cluster := facts.Cluster
	words := cluster.Status.Phase
	if cluster.Status.PhaseReason != "" {
		words += ": " + cluster.Status.PhaseReason
	}
	if slices.Contains(stuck, cluster.Status.Phase) {
		return stuckOutcome(cr, facts, words)
	}
	wanted := int(Instances(cr))
	if o, stopped := halted(cluster); stopped {
		return o
	}
	if Healthy(cr, cluster) {
		return outcome.DoneWith(cond, v1alpha1.ReasonHealthy, fmt.Sprintf(msgHealthy, wanted, wanted, cluster.Status.CurrentPrimary))
	}
	if words == "" {
		words = msgNothingReported
	}
	ready := cluster.Status.ReadyInstances
	if cluster.Status.Phase == phaseDiskFull {
		return outcome.WaitFor(cond, v1alpha1.ReasonDiskFull, fmt.Sprintf(msgDiskFull, ready, wanted, larger(cr), words))
	}
	if claims := facts.PendingClaims; len(claims) > 0 {
		return outcome.WaitFor(cond, v1alpha1.ReasonVolumesPending, fmt.Sprintf(msgVolumesPending, ready, wanted, excerpt.Names(claims, 5), cr.Namespace, words))
	}
	return outcome.WaitFor(cond, v1alpha1.ReasonClusterNotHealthy, fmt.Sprintf(msgNotHealthy, ready, wanted, words))
}

// larger is the field that makes the volumes larger. The operator writes the spec of a read pool
// from the entry of its cluster.
func larger(cr *v1alpha1.PgStorageCluster) string {
	if Follows(cr) {
		return fmt.Sprintf(msgLargerPool, cr.Spec.Follow.Cluster)
	}
	return msgLargerVolumes
}

// stuckOutcome has CloudNativePG's words. It advises a restore where every volume is lost, which
// a follower does not need.
func stuckOutcome(cr *v1alpha1.PgStorageCluster, facts observed.Cluster, words string) outcome.Outcome {
	text := fmt.Sprintf(msgClusterStuck, words, cr.Namespace, cr.Name)
	if facts.Cluster.Status.Phase == cnpgv1.PhaseUnrecoverable && (Follows(cr) || followsSite(cr, facts)) {
		text += msgFollowerLost
	}
	return outcome.InvalidBecause(v1alpha1.ConditionDatabaseReady, v1alpha1.ReasonClusterStuck, text)
}

func (c *Cluster) intent(name string) string {
	for _, o := range c.Plan.Objects {
		if o.Stage == plan.StageDatabase && o.Content.GetName() == name {
			return o.Intent()
		}
	}
	return ""
}

// Suspended says whether the operator must leave everything as it is.
func Suspended(cr *v1alpha1.PgStorageCluster) bool {
	return cr.Spec.Suspend != nil && *cr.Spec.Suspend
}

// Healthy says whether CloudNativePG reports every wanted instance ready.
func Healthy(cr *v1alpha1.PgStorageCluster, cluster *cnpgv1.Cluster) bool {
	wanted := int(Instances(cr))
	return meta.IsStatusConditionTrue(cluster.Status.Conditions, string(cnpgv1.ConditionClusterReady)) &&
		cluster.Status.ReadyInstances == wanted && cluster.Status.Instances == wanted
}

// conditionHibernation of CloudNativePG, which says how far it is with stopping the
// instances (its pkg/reconciler/hibernation).
const conditionHibernation = "cnpg.io/hibernation"

// halted says that a CloudNativePG Cluster is stopped, or left alone, by an
// annotation. The live object is read, so it does not matter who set it.
func halted(cluster *cnpgv1.Cluster) (outcome.Outcome, bool) {
	const cond = v1alpha1.ConditionDatabaseReady
	if cluster.Annotations[naming.AnnotationReconciliationLoop] == "disabled" {
		return outcome.WaitFor(cond, v1alpha1.ReasonReconciliationDisabled, fmt.Sprintf(msgReconciliationDisabled, naming.AnnotationReconciliationLoop)), true
	}
	if cluster.Annotations[naming.AnnotationHibernation] != "on" {
		return outcome.Outcome{}, false
	}
	const resume = msgResume
	c := meta.FindStatusCondition(cluster.Status.Conditions, conditionHibernation)
	switch {
	case c == nil:
		return outcome.WaitFor(cond, v1alpha1.ReasonHibernated, fmt.Sprintf(msgHibernationRequested, naming.AnnotationHibernation, resume)), true
	case c.Status != metav1.ConditionTrue:
		return outcome.WaitFor(cond, v1alpha1.ReasonHibernated, fmt.Sprintf(msgHibernating, naming.AnnotationHibernation, c.Message, resume)), true
	}
	return outcome.WaitFor(cond, v1alpha1.ReasonHibernated, fmt.Sprintf(msgHibernated, naming.AnnotationHibernation, resume)), true
}
