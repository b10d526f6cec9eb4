package clusters

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// fieldExternalClusters of CloudNativePG is what a topology sets: instances connect to
// hosts that the author of the PgStorageCluster names.
const fieldExternalClusters = "externalClusters"

// foreignHosts refuses a topology that no cluster administrator has allowed.
func foreignHosts(cr *v1alpha1.PgStorageCluster, p *v1alpha1.PgStorageProfile) []string {
	allowed := consent(cr, p)
	if cr.Spec.Topology == nil || allowed.Allows(fieldExternalClusters) {
		return nil
	}
	return []string{fmt.Sprintf(msgForeignHosts, allowed.Ask(fieldExternalClusters))}
}

// declaredToWrite says that this site is the one that is to write.
func declaredToWrite(t *v1alpha1.TopologySpec) bool { return t.Self == t.Primary }

// followsSite says that the database replicates another site now, or stops writing in order
// to: nothing that it has can be written by users.
func followsSite(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) bool {
	if cr.Spec.Topology == nil {
		return false
	}
	if facts.Cluster == nil {
		return !declaredToWrite(cr.Spec.Topology)
	}
	return replicates(facts.Cluster)
}

// replicates says that CloudNativePG is asked to replicate another Cluster.
func replicates(c *cnpgv1.Cluster) bool { return c.IsReplica() }

// holdSite applies nothing that would have two sites write.
func (c *Cluster) holdSite(cr *v1alpha1.PgStorageCluster, facts observed.Cluster, config Config) {
	if cr.Spec.Topology == nil {
		c.holdFormerSite(cr, facts)
		return
	}
	o := siteOutcome(cr, facts)
	if !config.Sites {
		o = outcome.InvalidBecause(v1alpha1.ConditionSiteInRole, v1alpha1.ReasonInvalidSpec, msgSitesOff)
	}
	c.Outcomes.Add(o, sitesAgree(cr, facts))
	if o.Kind == outcome.Invalid {
		c.Plan.AddGate(plan.StageDatabase, o.Reason, o.Message)
	}
}

// siteOutcome is the condition SiteInRole.
func siteOutcome(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) outcome.Outcome {
	const c = v1alpha1.ConditionSiteInRole
	t := cr.Spec.Topology
	if o := promotionRefused(cr, facts); o != nil {
		return *o
	}
	if facts.Cluster == nil {
		return outcome.WaitFor(c, v1alpha1.ReasonClusterCreating, msgSiteCreating)
	}
	switch role := siteRole(cr, facts); role {
	case v1alpha1.SiteWrites:
		return outcome.DoneWith(c, v1alpha1.ReasonWriting, fmt.Sprintf(msgSiteWrites, t.Self)+followedBy(cr, facts))
	case v1alpha1.SiteFollows:
		return outcome.DoneWith(c, v1alpha1.ReasonFollowing, fmt.Sprintf(msgSiteFollows, t.Self, t.Primary))
	case v1alpha1.SiteDemoted:
		return outcome.WaitFor(c, v1alpha1.ReasonDemoted, fmt.Sprintf(msgSiteDemoted, t.Self, t.Primary))
	case v1alpha1.SiteDemoting:
		return outcome.WaitFor(c, v1alpha1.ReasonDemoting, fmt.Sprintf(msgSiteDemoting, t.Self))
	default:
		return outcome.WaitFor(c, v1alpha1.ReasonPromoting, fmt.Sprintf(msgSitePromoting, t.Self))
	}
}

// siteRole is what the site does, as the instance reports it that CloudNativePG has chosen
// to write, or to replicate another site.
func siteRole(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) v1alpha1.SiteRole {
	c := facts.Cluster
	writing := c.Status.InstancesReportedState[cnpgv1.PodName(c.Status.CurrentPrimary)].IsPrimary
	if declaredToWrite(cr.Spec.Topology) {
		if replicates(c) || !writing {
			return v1alpha1.SitePromoting
		}
		return v1alpha1.SiteWrites
	}
	switch {
	case !replicates(c) || writing || c.Status.SwitchReplicaClusterStatus.InProgress:
		return v1alpha1.SiteDemoting
	case onlyDemoted(cr, facts):
		return v1alpha1.SiteDemoted
	}
	return v1alpha1.SiteFollows
}

// onlyDemoted says that the site was demoted, and has not followed another one since.
func onlyDemoted(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) bool {
	c := facts.Cluster
	return c.Status.DemotionToken != "" && !beyond(c, facts) && !followsSince(cr, c)
}

// followsSince says that the site has followed another one since its demotion.
func followsSince(cr *v1alpha1.PgStorageCluster, c *cnpgv1.Cluster) bool {
	known := cr.Status.Topology
	return known != nil && known.Role == v1alpha1.SiteFollows && known.DemotionToken == c.Status.DemotionToken
}

// beyond says that a site that was demoted receives a later timeline than its own: the
// promotion of another site begins one.
func beyond(c *cnpgv1.Cluster, facts observed.Cluster) bool {
	token, err := parseToken(c.Status.DemotionToken)
	if err != nil {
		return true // what CloudNativePG wrote decides nothing then
	}
	// What CloudNativePG reports is that of the last checkpoint, and can be minutes old.
	reported := c.Status.InstancesReportedState[cnpgv1.PodName(c.Status.CurrentPrimary)].TimeLineID
	return max(facts.ReadBack.Receivers[c.Status.CurrentPrimary].Timeline, int64(reported)) > token.timeline
}

// promotionRefused says why a site that follows must not write; nil if it may, or is not
// to. Without a token, nothing proves that the other site has stopped.
func promotionRefused(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) *outcome.Outcome {
	const c = v1alpha1.ConditionSiteInRole
	t, live := cr.Spec.Topology, facts.Cluster
	if live == nil || !declaredToWrite(t) || !replicates(live) && !awaitsToken(live) {
		return nil
	}
	if awaitsToken(live) && t.PromotionToken == live.Spec.ReplicaCluster.PromotionToken {
		return nil // it was judged when it was applied
	}
	if t.PromotionToken == "" {
		if cr.Annotations[naming.AnnotationPromote] == string(live.UID) {
			return nil
		}
		o := outcome.InvalidBecause(c, v1alpha1.ReasonTokenRequired, fmt.Sprintf(msgPromotionRequired, t.Self, t.Primary, atStake(cr, facts), cr.Namespace, cr.Name, naming.AnnotationPromote, live.UID))
		return &o
	}
	if why := tokenRefused(cr, facts); why != "" {
		o := outcome.InvalidBecause(c, v1alpha1.ReasonTokenRefused, msgPromotionRefused+why)
		return &o
	}
	return nil
}

// token is what CloudNativePG writes when a site has stopped writing
// (pkg/utils/parser.go of v1.30.0).
type token struct {
	System     string `json:"databaseSystemIdentifier"`
	Timeline   string `json:"latestCheckpointTimelineID"`
	Checkpoint string `json:"latestCheckpointREDOLocation"`

	timeline int64
}

func parseToken(text string) (token, error) {
	var out token
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, err
	}
	out.timeline, err = strconv.ParseInt(out.Timeline, 10, 64)
	return out, err
}

// tokenRefused says what is wrong with a token; empty if nothing is. CloudNativePG
// compares what it covers with what is replayed, before it promotes.
func tokenRefused(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) string {
	live := facts.Cluster
	t, err := parseToken(cr.Spec.Topology.PromotionToken)
	switch known := cr.Status.Topology; {
	case err != nil || t.System == "" || t.Checkpoint == "":
		return msgPromotionUnreadable
	case live.Status.SystemID != "" && t.System != live.Status.SystemID:
		return fmt.Sprintf(msgPromotionForeign, t.System, live.Status.SystemID)
	case known != nil && known.PromotedWith == naming.Hash(cr.Spec.Topology.PromotionToken):
		return msgPromotionUsed
	case live.Status.DemotionToken != "" && older(t, live.Status.DemotionToken):
		return msgPromotionOld
	}
	return promotedAfter(t, live, facts)
}

// older says that a token is of an earlier timeline than that on which this site itself was
// demoted last.
func older(t token, demotion string) bool {
	own, err := parseToken(demotion)
	return err == nil && t.timeline < own.timeline
}

// atStake says what a promotion without a token may lose.
func atStake(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) string {
	now := behind(cr, facts)
	switch {
	case now.unread != "":
		return msgStakeUnknown + now.unread
	case now.streaming:
		return msgStakeStreaming
	}
	return fmt.Sprintf(msgStake, age(now.lag.Delay))
}

// followedBy names the sites that replicate this one.
func followedBy(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) string {
	sites := sitesOf(cr, facts)
	if len(sites) == 0 {
		return msgSiteAlone
	}
	return fmt.Sprintf(msgSiteFollowed, strings.Join(sites, ", "))
}

// sitesOf are the other declared sites that receive WAL of this one, as the instances report
// them.
func sitesOf(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) []string {
	var out []string
	for _, m := range cr.Spec.Topology.Members {
		if m.Name != cr.Spec.Topology.Self && slices.Contains(facts.ReadBack.Followers, naming.SiteApplication(m.Name)) {
			out = append(out, m.Name)
		}
	}
	slices.Sort(out)
	return out
}

// otherSites tempers the loss of a site by those that receive its WAL.
func otherSites(e *v1alpha1.LossEvent, cr *v1alpha1.PgStorageCluster, facts observed.Cluster) {
	if cr.Spec.Topology == nil || e.Event != "SiteLoss" || e.AcknowledgedCommits != commitsLost {
		return
	}
	if sites := sitesOf(cr, facts); len(sites) > 0 {
		e.AcknowledgedCommits, e.Detail = commitsMayBeLost, fmt.Sprintf(msgSiteLoss, strings.Join(sites, ", "))
	}
}

// topologyStatus is nil of a database that has no other sites.
func topologyStatus(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) *v1alpha1.TopologyStatus {
	t, known := cr.Spec.Topology, cr.Status.Topology
	if t == nil {
		return nil
	}
	out := &v1alpha1.TopologyStatus{}
	if known != nil {
		out.PromotedWith = known.PromotedWith
	}
	if facts.Cluster == nil {
		return out
	}
	out.Role, out.Followers, out.Members = siteRole(cr, facts), sitesOf(cr, facts), othersStatus(cr, facts)
	if replicates(facts.Cluster) && !facts.Cluster.Status.SwitchReplicaClusterStatus.InProgress {
		out.DemotionToken = facts.Cluster.Status.DemotionToken
	}
	if out.Role == v1alpha1.SiteWrites && t.PromotionToken != "" && facts.Cluster.Status.LastPromotionToken == t.PromotionToken {
		out.PromotedWith = naming.Hash(t.PromotionToken)
	}
	return out
}

// PromotionConsentUsed says that the annotation has done what it was for: the Cluster does
// not replicate another one any more, and waits for no token.
func PromotionConsentUsed(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) bool {
	live := facts.Cluster
	return cr.Annotations[naming.AnnotationPromote] != "" && cr.Spec.Topology != nil && live != nil && !replicates(live) && !awaitsToken(live)
}
