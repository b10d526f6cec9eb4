package clusters

import (
	"fmt"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// holdFormerSite leaves a database as it is whose topology was removed while it does not
// write. Without a topology CloudNativePG promotes it at once, and no watcher would see that
// two sites write. Admission compares only what is declared: a site whose promotion is
// refused is declared to write.
func (c *Cluster) holdFormerSite(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) {
	live := facts.Cluster
	if Follows(cr) || live == nil || epochOf(live) == 0 || !replicates(live) && !awaitsToken(live) && !fencedBySites(live) {
		return
	}
	o := outcome.InvalidBecause(v1alpha1.ConditionSiteInRole, v1alpha1.ReasonTokenRequired, msgTopologyRemoved)
	if r := live.Spec.ReplicaCluster; r != nil && r.Primary != "" {
		o.Message += fmt.Sprintf(msgTopologyWas, r.Self, r.Primary)
	}
	c.Outcomes.Add(o)
	c.Plan.AddGate(plan.StageDatabase, o.Reason, o.Message)
}

// awaitsToken says that CloudNativePG was given a promotion token, and has not promoted the
// Cluster with it yet. Without the token it would promote at once.
func awaitsToken(c *cnpgv1.Cluster) bool {
	r := c.Spec.ReplicaCluster
	return r != nil && r.PromotionToken != "" && r.PromotionToken != c.Status.LastPromotionToken
}

// promotedAfter refuses a token where another site writes on a later timeline than that on
// which the token ends; empty if none does. That site was promoted with the token, or after it.
func promotedAfter(t token, live *cnpgv1.Cluster, facts observed.Cluster) string {
	for _, m := range facts.Sites.Members {
		if m.Answered && !m.InRecovery && m.System == live.Status.SystemID && m.Timeline > t.timeline {
			return fmt.Sprintf(msgPromotionElsewhere, m.Name)
		}
	}
	return ""
}
