package clusters

import (
	"fmt"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/durability"
	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// What becomes of acknowledged commits.
const (
	commitsKept      = "Kept"
	commitsMayBeLost = "MayBeLost"
	commitsLost      = "Lost"
	commitsUnknown   = "Unknown"
)

// mostDetail is how long the detail of a loss may be. It names roles and databases, which
// users of the database create.
const mostDetail = 1024

// durability is the statement of the tier and the storage, as far as the placement and
// the settings that were read back bear it out.
func durabilityStatus(cr *v1alpha1.PgStorageCluster, facts observed.Cluster, flush durability.Flush) *v1alpha1.DurabilityStatus {
	if Follows(cr) {
		return &v1alpha1.DurabilityStatus{Acknowledged: fmt.Sprintf(msgFollowerCommit, cr.Spec.Follow.Cluster)}
	}
	if followsSite(cr, facts) {
		return &v1alpha1.DurabilityStatus{Acknowledged: fmt.Sprintf(msgSiteCommit, cr.Spec.Topology.Primary)}
	}
	standbys := durability.Standbys{Number: cnpg.Standbys(cr), First: cnpg.First(cr), Domain: cnpg.FailureDomain(cr)}
	statement := durability.Of(durability.Tier(cr.Spec.Durability), int(Instances(cr)), standbys, flush)
	g := groundsOf(cr, facts)
	out := &v1alpha1.DurabilityStatus{Tier: cr.Spec.Durability, Acknowledged: statement.Acknowledged}
	for _, l := range statement.Losses {
		e := v1alpha1.LossEvent{Event: l.Event, AcknowledgedCommits: l.AcknowledgedCommits, Detail: l.Detail}
		if cr.Spec.Durability == v1alpha1.DurabilityQuorum && Instances(cr) >= 2 {
			Placed(&e, cr, facts.Cluster, flush)
		}
		g.temper(&e)
		otherSites(&e, cr, facts)
		fromArchive(&e, cr, facts)
		e.Detail = excerpt.Truncate(e.Detail, mostDetail)
		out.Losses = append(out.Losses, e)
	}
	return out
}

// temper a promise by what it rests on.
func (g grounds) temper(e *v1alpha1.LossEvent) {
	if e.AcknowledgedCommits != commitsKept {
		return
	}
	switch {
	case len(g.weak) > 0:
		e.AcknowledgedCommits, e.Detail = commitsMayBeLost, strings.Join(g.weak, "; ")
	case len(g.overrides) > 0:
		e.AcknowledgedCommits, e.Detail = commitsMayBeLost, strings.Join(g.overrides, "; ")+". Of other sessions: "+e.Detail
	case g.unread != "":
		e.AcknowledgedCommits, e.Detail = commitsUnknown, "not proved: "+g.unread+". With the settings that were given: "+e.Detail
	}
}

// Placed tempers what the tier Quorum promises by where the instances are.
func Placed(e *v1alpha1.LossEvent, cr *v1alpha1.PgStorageCluster, cluster *cnpgv1.Cluster, flush durability.Flush) {
	if e.Event != "NodeLoss" && e.Event != "FailureDomainLoss" {
		return
	}
	if cluster == nil {
		e.AcknowledgedCommits, e.Detail = commitsUnknown, "the database does not exist yet, so that no instance has a node"
		return
	}
	t := cluster.Status.Topology
	if !t.SuccessfullyExtracted || len(t.Instances) < int(Instances(cr)) || t.NodesUsed < 1 {
		e.AcknowledgedCommits, e.Detail = commitsUnknown, "CloudNativePG does not report a node for every instance"
		return
	}
	if e.Event == "NodeLoss" {
		apart(e, cluster, flush)
		return
	}
	acrossDomains(e, cluster, cnpg.FailureDomain(cr))
}

// needed is how many standbys confirm a commit.
func needed(cluster *cnpgv1.Cluster) int {
	if s := cluster.Spec.PostgresConfiguration.Synchronous; s != nil {
		return s.Number
	}
	return 1
}

// apart: any q standbys may confirm a commit. So it survives the loss of the primary's
// node only where more standbys are needed than that node can run. With n instances on m
// nodes, each of which has one, that is at most n-m. Which instance is the primary does
// not matter, as any of them can become it.
func apart(e *v1alpha1.LossEvent, cluster *cnpgv1.Cluster, flush durability.Flush) {
	t := cluster.Status.Topology
	if shared := len(t.Instances) - int(t.NodesUsed); needed(cluster) <= shared {
		e.AcknowledgedCommits = commitsMayBeLost
		e.Detail = fmt.Sprintf("%d instances are on %d nodes: the primary and the standby that confirmed a commit can share a node. Set spec.cnpg.spec.affinity.podAntiAffinityType to required to keep them apart", len(t.Instances), t.NodesUsed)
		if flush.Node != "" {
			e.Detail += "; " + flush.Node
		}
	}
}

// acrossDomains counts the instances in the largest failure domain, as CloudNativePG
// reads it from the labels of their nodes. The others of the primary's domain must be
// fewer than the standbys that confirm a commit.
func acrossDomains(e *v1alpha1.LossEvent, cluster *cnpgv1.Cluster, label string) {
	counts, largest := map[string]int{}, 0
	for instance, labels := range cluster.Status.Topology.Instances {
		domain := labels[label]
		if domain == "" {
			e.AcknowledgedCommits, e.Detail = commitsUnknown, fmt.Sprintf("CloudNativePG reports no %s of the node of %s; label the node, and see that CloudNativePG may read nodes", label, instance)
			return
		}
		counts[domain]++
		largest = max(largest, counts[domain])
	}
	if needed(cluster) <= largest-1 {
		e.AcknowledgedCommits = commitsMayBeLost
		e.Detail = fmt.Sprintf("%d instances have nodes with the same %s: the primary and the standbys that confirmed a commit can be lost together", largest, label)
	}
}
