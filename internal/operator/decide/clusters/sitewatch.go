package clusters

import (
	"fmt"
	"slices"
	"strconv"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/component/sitewatch"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/site/report"
)

// notAsked is the problem of a site that its watcher has not asked.
const notAsked report.Problem = "not asked yet"

// clocksApart is how far the clocks of two sites may differ, in milliseconds.
const clocksApart = 1000

// longestName of a site, in bytes, by the API. What another site answers can be longer.
const longestName = 24

// addWatcher of the other sites.
func (c *Cluster) addWatcher(cr *v1alpha1.PgStorageCluster, config Config) error {
	if cr.Spec.Topology == nil || !config.Sites {
		return nil
	}
	object, err := plan.FromApply(plan.StageSites, sitewatch.StatefulSet(sitewatch.Inputs{CR: cr, Image: config.BenchImage, PlatformUsers: config.PlatformUsers}))
	if err != nil {
		return err
	}
	c.Plan.Add(object)
	return nil
}

// epoch of a site: how many promotions led to what it has. A site that follows has that of
// the one that writes, and a promotion adds one. So of two sites that write, the one that was
// promoted last has the higher epoch, whatever failovers there were within each.
func epoch(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) int64 {
	if cr.Spec.Topology == nil {
		return 0
	}
	own := max(epochOf(existing(facts)), 1)
	promotes := facts.Cluster != nil && declaredToWrite(cr.Spec.Topology) && replicates(facts.Cluster)
	if declaredToWrite(cr.Spec.Topology) && !promotes {
		return own
	}
	own = max(own, seenEpoch(facts))
	if promotes {
		own++
	}
	return min(own, report.MaxEpoch)
}

// seenEpoch is the highest that another site with this database has.
func seenEpoch(facts observed.Cluster) int64 {
	highest, system := int64(0), systemOf(facts)
	for _, m := range facts.Sites.Members {
		if m.Answered && (system == "" || m.System == system) {
			highest = max(highest, m.Epoch)
		}
	}
	return highest
}

// systemOf is the system identifier of the database; empty while it is not known.
func systemOf(facts observed.Cluster) string {
	if facts.Cluster == nil {
		return ""
	}
	return facts.Cluster.Status.SystemID
}

// epochOf a Cluster; 0 where it has none.
func epochOf(c *cnpgv1.Cluster) int64 {
	if c == nil {
		return 0
	}
	n, err := strconv.ParseInt(c.Spec.PostgresConfiguration.Parameters[cnpg.ParameterEpoch], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// others are the answers of the declared members.
func others(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) []report.Member {
	var out []report.Member
	for _, m := range cr.Spec.Topology.Members {
		if m.Name == cr.Spec.Topology.Self {
			continue
		}
		i := slices.IndexFunc(facts.Sites.Members, func(r report.Member) bool { return r.Name == m.Name })
		if i < 0 {
			out = append(out, report.Member{Name: m.Name, Problem: notAsked})
			continue
		}
		out = append(out, facts.Sites.Members[i])
	}
	return out
}

// sitesAgree is the condition of that name: what is worst of all other sites.
func sitesAgree(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) outcome.Outcome {
	const c = v1alpha1.ConditionSitesAgree
	if facts.Cluster == nil || facts.Sites.Problem != "" || len(facts.Sites.Members) == 0 {
		o := outcome.WaitFor(c, v1alpha1.ReasonNotReadBack, msgSitesNotRead+problemOf(facts))
		o.Informative, o.Unknown = true, true
		return o
	}
	worst := outcome.DoneWith(c, v1alpha1.ReasonAgreed, fmt.Sprintf(msgSitesAgree, cr.Spec.Topology.Primary))
	for _, m := range others(cr, facts) {
		if o := agrees(cr, facts, m); o != nil && (o.Kind > worst.Kind || worst.Kind == outcome.Done) {
			worst = *o
		}
	}
	worst.Informative = worst.Kind != outcome.Invalid
	return worst
}

func problemOf(facts observed.Cluster) string {
	if facts.Sites.Problem != "" {
		return facts.Sites.Problem
	}
	return msgSitesNoWatcher
}

// agrees says what is wrong with another site, the worst first; nil if nothing is.
func agrees(cr *v1alpha1.PgStorageCluster, facts observed.Cluster, m report.Member) *outcome.Outcome {
	const c = v1alpha1.ConditionSitesAgree
	t, system := cr.Spec.Topology, facts.Cluster.Status.SystemID
	var o outcome.Outcome
	switch {
	case !m.Answered:
		o = outcome.WaitFor(c, v1alpha1.ReasonSiteUnreachable, fmt.Sprintf(msgSiteUnreachable, m.Name, m.Problem))
	case system != "" && m.System != system:
		o = outcome.InvalidBecause(c, v1alpha1.ReasonSitesDiffer, fmt.Sprintf(msgOtherDatabase, m.Name, m.System, system))
	case fencedBySites(facts.Cluster) || outranks(cr, facts, m):
		o = outcome.InvalidBecause(c, v1alpha1.ReasonTwoSitesWrite, fmt.Sprintf(msgTwoSitesFenced, m.Name, m.Epoch, epochOf(facts.Cluster)))
	case writesToo(cr, facts, m):
		o = outcome.InvalidBecause(c, v1alpha1.ReasonTwoSitesWrite, fmt.Sprintf(msgTwoSitesWrite, m.Name, m.Epoch, epochOf(facts.Cluster)))
	case m.Topology != cnpg.TopologyHash(t):
		o = outcome.InvalidBecause(c, v1alpha1.ReasonSitesDiffer, fmt.Sprintf(msgOtherMembers, m.Name))
	case m.Primary != t.Primary:
		o = outcome.WaitFor(c, v1alpha1.ReasonSwitchUnderWay, fmt.Sprintf(msgSwitchUnderWay, m.Name, m.Primary, t.Primary))
	case max(m.ClockSkewMilliseconds, -m.ClockSkewMilliseconds) > clocksApart:
		o = outcome.WaitFor(c, v1alpha1.ReasonClocksApart, fmt.Sprintf(msgClocksApart, m.Name))
	default:
		return nil
	}
	return &o
}

// writesToo says that another site with this database accepts writes, as this one does.
func writesToo(cr *v1alpha1.PgStorageCluster, facts observed.Cluster, m report.Member) bool {
	c := facts.Cluster
	return c != nil && m.Answered && !m.InRecovery && declaredToWrite(cr.Spec.Topology) && !replicates(c) && m.System == c.Status.SystemID
}

// outranks says that another site writes too, and was promoted after this one, or that
// nothing says which of them was.
func outranks(cr *v1alpha1.PgStorageCluster, facts observed.Cluster, m report.Member) bool {
	return writesToo(cr, facts, m) && m.Epoch >= epochOf(facts.Cluster)
}

// fencedBySites says that the operator keeps the whole Cluster stopped because another site
// writes.
func fencedBySites(c *cnpgv1.Cluster) bool {
	return c != nil && c.Annotations[naming.AnnotationFencedBySites] != ""
}

// SiteFence says whether all instances of a site are to be fenced by this pass, or the fence
// is to be lifted. It holds until the site follows another one, or all others follow and none
// was promoted after it: what cannot be asked may still write. Removing spec.topology lifts
// no fence.
func SiteFence(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) (fence, lift bool) {
	if facts.Cluster == nil {
		return false, false
	}
	held := fencedBySites(facts.Cluster)
	if replicates(facts.Cluster) {
		return false, held
	}
	if cr.Spec.Topology == nil {
		return false, false
	}
	all := others(cr, facts)
	if !held {
		return slices.ContainsFunc(all, func(m report.Member) bool { return outranks(cr, facts, m) }), false
	}
	own := epochOf(facts.Cluster)
	return false, !slices.ContainsFunc(all, func(m report.Member) bool { return !m.Answered || !m.InRecovery || m.Epoch > own })
}

// noFences is the value of a list of fences that is empty.
const noFences = "[]"

// SiteFenceAnnotations fence every instance, or give back the fences that there were before;
// nil removes one.
func SiteFenceAnnotations(c *cnpgv1.Cluster, fence bool) map[string]any {
	if fence {
		before := c.Annotations[AnnotationCNPGFenced]
		if before == "" {
			before = noFences
		}
		return map[string]any{AnnotationCNPGFenced: `["*"]`, naming.AnnotationFencedBySites: before}
	}
	out := map[string]any{AnnotationCNPGFenced: nil, naming.AnnotationFencedBySites: nil}
	if before := c.Annotations[naming.AnnotationFencedBySites]; before != noFences {
		out[AnnotationCNPGFenced] = before
	}
	return out
}

// othersStatus is what the other sites answered.
func othersStatus(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) []v1alpha1.SiteObserved {
	var out []v1alpha1.SiteObserved
	for _, m := range others(cr, facts) {
		s := v1alpha1.SiteObserved{Name: m.Name, Problem: string(m.Problem)}
		if m.Answered {
			s.Role, s.Primary, s.Timeline = v1alpha1.SiteWrites, excerpt.Truncate(m.Primary, longestName), m.Timeline
			if m.InRecovery {
				s.Role = v1alpha1.SiteFollows
			}
		}
		out = append(out, s)
	}
	return out
}
