package clusters

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

// Follows says whether the database replicates another one.
func Follows(cr *v1alpha1.PgStorageCluster) bool { return cr.Spec.Follow != nil }

// sourceOutcome says whether a follower can replicate its cluster. It is nil of any other.
func sourceOutcome(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) *outcome.Outcome {
	if !Follows(cr) {
		return nil
	}
	o := source(cr, facts)
	// A follower that runs needs nothing of its cluster but WAL, whose absence
	// FollowersCaughtUp reports.
	o.Informative = o.Kind == outcome.Wait && facts.Cluster != nil
	return &o
}

// holdFollower applies nothing of a follower that must not follow its cluster, or that
// cannot be cloned from it.
func (c *Cluster) holdFollower(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) {
	o := sourceOutcome(cr, facts)
	if o == nil {
		return
	}
	c.Outcomes.Add(*o)
	if o.Kind == outcome.Invalid || o.Kind == outcome.Wait && facts.Cluster == nil {
		c.Plan.AddGate(plan.StageDatabase, o.Reason, o.Message)
	}
}

func source(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) outcome.Outcome {
	const c = v1alpha1.ConditionSourceReady
	name := cr.Spec.Follow.Cluster
	if facts.Source == nil {
		return outcome.WaitFor(c, v1alpha1.ReasonSourceNotFound, fmt.Sprintf(msgSourceNotFound, name))
	}
	of, cluster := facts.Source.PgStorageCluster, facts.Source.Cluster
	if !lists(of, cr.Name) {
		return outcome.InvalidBecause(c, v1alpha1.ReasonConsentRequired, fmt.Sprintf(msgSourceConsent, name, cr.Name))
	}
	if cluster == nil {
		return outcome.WaitFor(c, v1alpha1.ReasonSourceNotReady, fmt.Sprintf(msgSourceNotReady, name, "its database does not exist"))
	}
	if from := clonedFrom(facts.Cluster); from != "" && from != string(cluster.UID) {
		return outcome.InvalidBecause(c, v1alpha1.ReasonSourceReplaced, fmt.Sprintf(msgSourceReplaced, name, from, cluster.UID))
	}
	if !Healthy(of, cluster) {
		return outcome.WaitFor(c, v1alpha1.ReasonSourceNotReady, fmt.Sprintf(msgSourceNotReady, name, "not all of its instances are ready"))
	}
	if text := otherMajor(cr, cluster); text != "" {
		return outcome.WaitFor(c, v1alpha1.ReasonSourceNotReady, fmt.Sprintf(msgSourceNotReady, name, text))
	}
	return outcome.DoneWith(c, v1alpha1.ReasonReady, fmt.Sprintf(msgSourceReady, name))
}

// lists says whether a cluster has a read pool whose PgStorageCluster has this name.
func lists(of *v1alpha1.PgStorageCluster, name string) bool {
	return slices.ContainsFunc(of.Spec.ReadPools, func(p v1alpha1.ReadPool) bool { return naming.ReadPool(of.Name, p.Name) == name })
}

// clonedFrom is the UID of the Cluster that a follower was cloned from, or "".
func clonedFrom(c *cnpgv1.Cluster) string {
	if c == nil {
		return ""
	}
	return c.Annotations[naming.AnnotationSource]
}

// sourceOf is what a follower's Cluster refers to; nil of any other. While the Cluster that it
// follows does not exist, it refers to what it was cloned from: another Cluster of that name
// has other data.
func sourceOf(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) *cnpg.Source {
	if !Follows(cr) {
		return nil
	}
	cluster := sourceCluster(facts)
	out := cnpg.SourceOf(cr.Spec.Follow.Cluster, cluster)
	if cluster == nil && facts.Cluster != nil {
		out = out.As(facts.Cluster)
	}
	return &out
}

// sourceCluster is the Cluster that a follower follows; nil while it does not exist.
func sourceCluster(facts observed.Cluster) *cnpgv1.Cluster {
	if facts.Source == nil {
		return nil
	}
	return facts.Source.Cluster
}

// standbyMinimum are the parameters that a follower needs at least; nil of any other.
func standbyMinimum(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) map[string]int64 {
	if !Follows(cr) {
		return nil
	}
	var least map[string]string
	if c := sourceCluster(facts); c != nil {
		least = c.Spec.PostgresConfiguration.Parameters
	} else {
		least = held(facts) // what the primary had: it may return
	}
	return postgres.StandbyMinimum(major(cr.Spec.Postgres.Version), least)
}

// furthest is what the instances of a follower report: the figures of the one that is
// furthest behind, and why they are not known. The first instance receives from the
// cluster, and the others receive from the first.
type furthest struct {
	streaming bool
	lag       observed.Receiver
	unread    string
}

func behind(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) furthest {
	out := furthest{streaming: true}
	if facts.Cluster == nil || len(facts.ReadBack.Receivers) < int(Instances(cr)) {
		out.unread = msgLagNotReported
		if len(facts.ReadBack.Errors) > 0 {
			out.unread = joined(facts.ReadBack.Errors)
		}
		return out
	}
	first := facts.ReadBack.Receivers[facts.Cluster.Status.CurrentPrimary]
	for name, r := range facts.ReadBack.Receivers {
		out.streaming = out.streaming && r.Streaming
		if name != facts.Cluster.Status.CurrentPrimary {
			r.Behind += first.Behind
		}
		out.lag.Behind, out.lag.Delay = max(out.lag.Behind, r.Behind), max(out.lag.Delay, r.Delay)
	}
	return out
}

// followersCaughtUp is nil of a database that neither follows another nor has read pools.
func followersCaughtUp(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) *outcome.Outcome {
	if Follows(cr) || followsSite(cr, facts) {
		o := caughtUp(cr, facts)
		return &o
	}
	return poolsCaughtUp(cr, facts)
}

// caughtUp says whether a follower is within its maxLag. It does not take part in Ready.
func caughtUp(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) outcome.Outcome {
	const c = v1alpha1.ConditionFollowersCaughtUp
	of, now := followed(cr), behind(cr, facts)
	source := "PgStorageCluster " + of.Cluster
	if cr.Spec.Topology != nil {
		source = "site " + of.Cluster
	}
	var o outcome.Outcome
	switch excess, full, removed := exceeds(of, now.lag), volumeFull(cr, facts), walRemoved(cr, facts); {
	case full != "" && (now.unread != "" || !now.streaming):
		o = outcome.WaitFor(c, v1alpha1.ReasonVolumeFull, full)
	case now.unread != "":
		o = outcome.WaitFor(c, v1alpha1.ReasonNotReadBack, msgLagNotRead+now.unread)
		o.Unknown = true
	case removed != "":
		o = outcome.WaitFor(c, v1alpha1.ReasonWALRemoved, removed)
	case !now.streaming:
		o = outcome.WaitFor(c, v1alpha1.ReasonNotStreaming, fmt.Sprintf(msgNotStreaming, source, age(now.lag.Delay)))
		if !Follows(cr) {
			o.Message += msgSiteCloneAgain
		}
	case excess != "":
		o = outcome.WaitFor(c, v1alpha1.ReasonLagging, fmt.Sprintf(msgLagging, source, excess))
	default:
		o = outcome.DoneWith(c, v1alpha1.ReasonCaughtUp, fmt.Sprintf(msgCaughtUp, source, limits(of)))
	}
	o.Informative = true
	return o
}

// withheld says that instances are not ready because they are behind, as
// staleReads: Refuse has it; CloudNativePG only counts them.
func withheld(cr *v1alpha1.PgStorageCluster, facts observed.Cluster, database outcome.Outcome) outcome.Outcome {
	lag := caughtUp(cr, facts)
	notReady := database.Reason == v1alpha1.ReasonClusterNotHealthy || database.Reason == v1alpha1.ReasonDiskFull
	if !notReady || cr.Spec.Follow.StaleReads != v1alpha1.StaleReadsRefuse ||
		!slices.Contains([]string{v1alpha1.ReasonLagging, v1alpha1.ReasonNotStreaming, v1alpha1.ReasonWALRemoved, v1alpha1.ReasonVolumeFull}, lag.Reason) {
		return database
	}
	return outcome.WaitFor(database.Condition, lag.Reason, msgWithheld+lag.Message)
}

// following says that nothing is under way that changes what a database follows.
func following(cr *v1alpha1.PgStorageCluster) bool {
	return Follows(cr) || cr.Spec.Topology != nil && cr.Status.Topology != nil && cr.Status.Topology.Role == v1alpha1.SiteFollows
}

// followed is what a follower replicates, or a site that follows: cluster is the name of
// either.
func followed(cr *v1alpha1.PgStorageCluster) *v1alpha1.FollowSpec {
	if t := cr.Spec.Topology; t != nil {
		return &v1alpha1.FollowSpec{Cluster: t.Primary, MaxLag: t.MaxLag}
	}
	return cr.Spec.Follow
}

// exceeds says by what a follower is further behind than it may be; empty if it is not.
func exceeds(of *v1alpha1.FollowSpec, lag observed.Receiver) string {
	var out []string
	if most := cnpg.MaxLagBytes(of); lag.Behind > most.Value() {
		out = append(out, fmt.Sprintf("%s of WAL are not replayed, and maxLag.bytes is %s", size(lag.Behind), most.String()))
	}
	if most := maxAge(of); most > 0 && lag.Delay > int64(most/time.Second) {
		out = append(out, fmt.Sprintf("the last commit that is replayed is up to %s old, and maxLag.time is %s", age(lag.Delay), most))
	}
	return strings.Join(out, "; ")
}

// limits of a follower, in words.
func limits(of *v1alpha1.FollowSpec) string {
	most := cnpg.MaxLagBytes(of)
	text := most.String() + " of WAL"
	if d := maxAge(of); d > 0 {
		text += " and " + d.String()
	}
	return text
}

func maxAge(of *v1alpha1.FollowSpec) time.Duration {
	if of.MaxLag == nil {
		return 0
	}
	d, err := time.ParseDuration(of.MaxLag.Time)
	if err != nil {
		return 0 // unset, or refused by admission
	}
	return d
}

// followerStatus is nil of a database that follows none, and while nothing is reported.
func followerStatus(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) *v1alpha1.FollowerStatus {
	if !Follows(cr) && !followsSite(cr, facts) {
		return nil
	}
	now := behind(cr, facts)
	if now.unread != "" {
		return nil
	}
	bytes, seconds := rounded(now.lag.Behind, 1<<20), rounded(now.lag.Delay, 1)
	return &v1alpha1.FollowerStatus{Streaming: &now.streaming, Lag: &v1alpha1.FollowerLag{Bytes: &bytes, Seconds: &seconds}}
}

// rounded up to a power of two, and 0 below the least, so that a figure that moves a
// little is the same.
func rounded(n, least int64) int64 {
	if n < least {
		return 0
	}
	return 1 << bits.Len64(uint64(n-1)) //nolint:gosec // G115: n is not negative
}

func size(bytes int64) string {
	return resource.NewQuantity(rounded(bytes, 1), resource.BinarySI).String()
}

func age(seconds int64) string { return (time.Duration(rounded(seconds, 1)) * time.Second).String() }
