package clusters

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/durability"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

// What becomes of acknowledged commits.
const (
	commitsKept      = "Kept"
	commitsMayBeLost = "MayBeLost"
	commitsUnknown   = "Unknown"
)

// grounds are what the statement of durability rests on, as the instances report it.
type grounds struct {
	// weak settings take acknowledged commits; damage is hidden by others.
	weak, damage []string
	// overrides are weaker values for sessions of some roles or databases.
	overrides []string
	// unread says why not everything was read; empty where all was.
	unread string
}

// groundsOf compares what durability rests on with the child Cluster and with what the
// instances report, whoever set it.
func groundsOf(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) grounds {
	var g grounds
	if facts.Cluster == nil {
		g.unread = "the database does not exist yet"
		return g
	}
	g.weak = childWeak(cr, facts.Cluster)
	seen := facts.ReadBack
	for _, instance := range slices.Sorted(maps.Keys(seen.Instances)) {
		g.compare(cr, instance, seen)
	}
	primary := facts.Cluster.Status.CurrentPrimary
	if names, read := seen.Settings[primary]["synchronous_standby_names"]; read && cr.Spec.Durability == v1alpha1.DurabilityQuorum {
		if text := postgres.StandbyNames(names, facts.Cluster.Status.InstanceNames); text != "" {
			g.weak = append(g.weak, primary+": "+text)
		}
	}
	g.override(cr, seen.Overrides)
	g.unread = unread(cr, facts)
	return g
}

// compare the settings of one instance. Where it does not run our query, only those
// are known that CloudNativePG's own query has: the boolean ones.
func (g *grounds) compare(cr *v1alpha1.PgStorageCluster, instance string, seen observed.ReadBack) {
	_, asked := cr.Spec.Postgres.Parameters["full_page_writes"]
	for _, name := range postgres.FoundationNames() {
		if name == "full_page_writes" && asked {
			continue // ParametersApplied compares it with the value that is proved
		}
		value, read := seen.Settings[instance][name]
		if !read {
			if value, read = boolean(seen.Instances[instance], name); !read {
				continue
			}
		}
		w := postgres.Weak(durability.Tier(cr.Spec.Durability), name, value)
		switch {
		case w == nil:
		case w.TakesCommits:
			g.weak = append(g.weak, instance+": "+w.Text)
		default:
			g.damage = append(g.damage, instance+": "+w.Text)
		}
	}
}

func boolean(values map[string]float64, name string) (string, bool) {
	v, read := values[name]
	switch {
	case read && v == 1:
		return "on", true
	case read && v == 0:
		return "off", true
	}
	return "", false
}

// listed overrides in a message, at most.
const listed = 5

func (g *grounds) override(cr *v1alpha1.PgStorageCluster, all []observed.Override) {
	for _, o := range all {
		w := postgres.Weak(durability.Tier(cr.Spec.Durability), o.Name, o.Value)
		if w == nil {
			continue
		}
		var of []string
		if o.Role != "" {
			of = append(of, fmt.Sprintf("role %q", o.Role))
		}
		if o.Database != "" {
			of = append(of, fmt.Sprintf("database %q", o.Database))
		}
		if len(of) == 0 {
			of = []string{"all roles"}
		}
		g.overrides = append(g.overrides, fmt.Sprintf("sessions of %s: %s", strings.Join(of, " in "), w.Text))
	}
	slices.Sort(g.overrides)
	if n := len(g.overrides); n > listed {
		g.overrides = append(g.overrides[:listed:listed], fmt.Sprintf("and %d more", n-listed))
	}
}

// childWeak says what of the child Cluster, which others may edit, breaks the tier.
func childWeak(cr *v1alpha1.PgStorageCluster, c *cnpgv1.Cluster) []string {
	var out []string
	if c.Spec.ReplicaCluster != nil {
		out = append(out, "spec.replica of the Cluster is set: another cluster may be the one that acknowledges commits")
	}
	if cr.Spec.Durability != v1alpha1.DurabilityQuorum {
		return out
	}
	s := c.Spec.PostgresConfiguration.Synchronous
	switch {
	case s == nil || s.Number < 1 || s.DataDurability != cnpgv1.DataDurabilityLevelRequired:
		out = append(out, "spec.postgresql.synchronous of the Cluster does not require a standby")
	case len(s.StandbyNamesPre)+len(s.StandbyNamesPost) > 0:
		out = append(out, "spec.postgresql.synchronous of the Cluster names standbys that are not its instances")
	case !c.IsFailoverQuorumActive():
		out = append(out, "the Cluster does not ask the quorum before a failover, so that a standby without the last commits may be promoted")
	}
	return out
}

// unread says why the grounds are not known, or not completely.
func unread(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) string {
	seen := facts.ReadBack
	switch {
	case !Healthy(cr, facts.Cluster):
		return "not every instance is ready, and settings are read back when all are"
	case len(seen.Errors) > 0 || len(seen.Instances) < int(Instances(cr)):
		return "the instances' metrics could not be read: " + joined(seen.Errors)
	}
	for instance := range seen.Instances {
		if len(postgres.Unreported(seen.Settings[instance])) > 0 || !seen.OverridesRead {
			return "not every instance reports the settings that durability rests on; its ConfigMap of queries may be new, or removed from spec.monitoring of the Cluster"
		}
	}
	return ""
}

// outcome is the condition DurabilityVerified.
func (g grounds) outcome(cr *v1alpha1.PgStorageCluster) outcome.Outcome {
	const cond = v1alpha1.ConditionDurabilityVerified
	found := slices.Concat(g.weak, g.damage)
	switch {
	case len(found) > 0:
		return outcome.InvalidBecause(cond, v1alpha1.ReasonDurabilityWeakened, fmt.Sprintf("%s; find who set it, take it back, and treat the database as suspect if it crashed meanwhile", strings.Join(found, "; ")))
	case len(g.overrides) > 0:
		o := outcome.InvalidBecause(cond, v1alpha1.ReasonDurabilityOverridden, fmt.Sprintf("%s; take it back with ALTER ROLE or ALTER DATABASE ... RESET, or accept that these sessions do not have durability %s", strings.Join(g.overrides, "; "), cr.Spec.Durability))
		o.Informative = true
		return o
	case g.unread != "":
		o := outcome.WaitFor(cond, v1alpha1.ReasonNotReadBack, "the settings that durability rests on are not proved: "+g.unread)
		o.Informative, o.Unknown = true, true
		return o
	}
	return outcome.DoneWith(cond, v1alpha1.ReasonVerified, fmt.Sprintf("every instance reports the settings that durability %s rests on, and no role or database has weaker ones", cr.Spec.Durability))
}

// durability is the statement of the tier and the storage, as far as the placement and
// the settings that were read back bear it out.
func durabilityStatus(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) *v1alpha1.DurabilityStatus {
	var flush durability.Flush
	if v, err := volumes(facts.Profile); err == nil {
		flush = v.Flush
	}
	statement := durability.Of(durability.Tier(cr.Spec.Durability), int(Instances(cr)), flush)
	g := groundsOf(cr, facts)
	out := &v1alpha1.DurabilityStatus{Tier: cr.Spec.Durability, Acknowledged: statement.Acknowledged}
	for _, l := range statement.Losses {
		e := v1alpha1.LossEvent{Event: l.Event, AcknowledgedCommits: l.AcknowledgedCommits, Detail: l.Detail}
		if l.Event == "NodeLoss" && cr.Spec.Durability == v1alpha1.DurabilityQuorum && Instances(cr) >= 2 {
			place(&e, int(Instances(cr)), facts.Cluster, flush)
		}
		g.temper(&e)
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

// place a quorum on nodes. Any q standbys may confirm a commit, so that it outlives the
// primary's node only where more of them are needed than can be on that node. With n
// instances on m nodes, each of which has one, that is at most n-m. Which instance is
// the primary does not matter, as any of them can become it.
func place(e *v1alpha1.LossEvent, instances int, cluster *cnpgv1.Cluster, flush durability.Flush) {
	if cluster == nil {
		e.AcknowledgedCommits, e.Detail = commitsUnknown, "the database does not exist yet, so that no instance has a node"
		return
	}
	t := cluster.Status.Topology
	if !t.SuccessfullyExtracted || len(t.Instances) < instances || t.NodesUsed < 1 {
		e.AcknowledgedCommits, e.Detail = commitsUnknown, "CloudNativePG does not report a node for every instance"
		return
	}
	needed := 1
	if s := cluster.Spec.PostgresConfiguration.Synchronous; s != nil {
		needed = s.Number
	}
	if shared := len(t.Instances) - int(t.NodesUsed); needed <= shared {
		e.AcknowledgedCommits = commitsMayBeLost
		e.Detail = fmt.Sprintf("%d instances are on %d nodes: the primary and the standby that confirmed a commit can share a node; set spec.cnpg.spec.affinity.podAntiAffinityType to required to keep them apart", len(t.Instances), t.NodesUsed)
		if flush.Node != "" {
			e.Detail += "; " + flush.Node
		}
	}
}

// unadoptable says what of a CloudNativePG Cluster forbids to take it over: what is
// refused in a spec is refused in what exists, too. It is empty where none is to be.
func unadoptable(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) []string {
	c, seen := facts.Adoptee, facts.AdopteeReadBack
	if c == nil {
		return nil
	}
	in := postgres.Inputs{Major: major(cr.Spec.Postgres.Version), Tier: durability.Tier(cr.Spec.Durability), Instances: int(Instances(cr))}
	out := postgres.UnsafeToAdopt(in, c.Spec.PostgresConfiguration.Parameters)
	if c.Spec.ReplicaCluster != nil {
		out = append(out, "spec.replica: the Cluster follows another one, whose durability this object could not state; promote it and remove the field")
	}
	if s := c.Spec.PostgresConfiguration.Synchronous; s != nil && len(s.StandbyNamesPre)+len(s.StandbyNamesPost) > 0 {
		out = append(out, "spec.postgresql.synchronous: standbyNamesPre and standbyNamesPost name standbys that are not its instances; remove them")
	}
	if len(c.Spec.Env)+len(c.Spec.EnvFrom) > 0 {
		out = append(out, "spec.env and spec.envFrom: environment variables can change Postgres behind its parameters; remove them")
	}
	return append(out, reported(cr, seen)...)
}

// reported is what the instances of a Cluster that is to be taken over run with, by ALTER
// SYSTEM for one. Checksums cannot be turned on while they run, and are told afterwards.
func reported(cr *v1alpha1.PgStorageCluster, seen observed.ReadBack) []string {
	var g grounds
	for _, instance := range slices.Sorted(maps.Keys(seen.Instances)) {
		g.compare(cr, instance, seen)
	}
	var out []string
	for _, text := range slices.Concat(g.weak, g.damage) {
		if !strings.Contains(text, "data_checksums") {
			out = append(out, text+" (as the instance reports it; see ALTER SYSTEM and postgresql.auto.conf)")
		}
	}
	return out
}
