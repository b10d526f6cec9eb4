package clusters

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/durability"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

// grounds are what the statement of durability rests on, as the instances report it.
type grounds struct {
	// weak settings take acknowledged commits; damage is hidden by others.
	weak, damage []string
	// overrides are weaker values for sessions of some roles or databases.
	overrides []string
	// unchecked: an instance runs without data checksums, as its Cluster was made.
	unchecked bool
	// unread says why not everything was read; empty where all was.
	unread string
}

// groundsOf compares the settings that durability depends on with the child Cluster and
// with what the instances report, from any source.
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
	follows := Follows(cr) || followsSite(cr, facts)
	if names, read := seen.Settings[primary]["synchronous_standby_names"]; read && cr.Spec.Durability == v1alpha1.DurabilityQuorum && !follows {
		if text := postgres.StandbyNames(names, facts.Cluster.Status.InstanceNames, wanted(cr)); text != "" {
			g.weak = append(g.weak, primary+": "+text)
		}
	}
	if !follows { // no session of a follower commits
		g.weak = append(g.weak, commitWeak(cr, facts.Cluster)...)
		g.override(cr, seen.Overrides)
	}
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
		case name == checksums && AsIs(cr):
			g.unchecked = true
		case w.TakesCommits:
			g.weak = append(g.weak, instance+": "+w.Text)
		default:
			g.damage = append(g.damage, instance+": "+w.Text)
		}
	}
}

// checksums cannot be turned on while a database runs, and CloudNativePG makes databases
// without them.
const checksums = "data_checksums"

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
		w := postgres.WeakText(durability.Tier(cr.Spec.Durability), major(cr.Spec.Postgres.Version), o.Name, o.Value)
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
	if c.Spec.ReplicaCluster != nil && !Follows(cr) && cr.Spec.Topology == nil {
		out = append(out, "spec.replica of the Cluster is set: another cluster may be the one that acknowledges commits")
	}
	if cr.Spec.Durability != v1alpha1.DurabilityQuorum {
		return out
	}
	return append(out, quorumWeak(cr, c)...)
}

// commitWeak says that the child Cluster has a synchronous_commit below the tier. No
// instance reports the value, because CloudNativePG's own sessions have another one.
func commitWeak(cr *v1alpha1.PgStorageCluster, c *cnpgv1.Cluster) []string {
	const name = "synchronous_commit"
	value, set := c.Spec.PostgresConfiguration.Parameters[name]
	if !set {
		return nil // the default of Postgres is on
	}
	w := postgres.WeakText(durability.Tier(cr.Spec.Durability), major(cr.Spec.Postgres.Version), name, value)
	if w == nil {
		return nil
	}
	return []string{"spec.postgresql.parameters of the Cluster: " + w.Text}
}

// quorumWeak says what of the child Cluster breaks the quorum.
func quorumWeak(cr *v1alpha1.PgStorageCluster, c *cnpgv1.Cluster) []string {
	var out []string
	s := c.Spec.PostgresConfiguration.Synchronous
	switch {
	case s != nil && s.Number >= 1 && s.Number < cnpg.Standbys(cr):
		out = append(out, fmt.Sprintf("spec.postgresql.synchronous of the Cluster requires %d standbys, and spec.quorum.standbys is %d", s.Number, cnpg.Standbys(cr)))
	case s == nil || s.Number < 1 || s.DataDurability != cnpgv1.DataDurabilityLevelRequired:
		out = append(out, "spec.postgresql.synchronous of the Cluster does not require a standby")
	case len(s.StandbyNamesPre)+len(s.StandbyNamesPost) > 0:
		out = append(out, "spec.postgresql.synchronous of the Cluster names standbys that are not its instances")
	case !c.IsFailoverQuorumActive():
		out = append(out, msgQuorumNotAsked)
	}
	return out
}

// wanted is what synchronous_standby_names has to ask for.
func wanted(cr *v1alpha1.PgStorageCluster) postgres.Quorum {
	out := postgres.Quorum{Method: "ANY", Standbys: cnpg.Standbys(cr)}
	if cnpg.First(cr) {
		out.Method = "FIRST"
	}
	return out
}

// unread says why the grounds are not known, or not completely.
func unread(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) string {
	seen := facts.ReadBack
	switch {
	case !Healthy(cr, facts.Cluster):
		return msgNotAllReady
	case len(seen.Errors) > 0 || len(seen.Instances) < int(Instances(cr)):
		return "the instances' metrics could not be read: " + joined(seen.Errors)
	}
	for instance := range seen.Instances {
		if len(postgres.Unreported(seen.Settings[instance])) > 0 || !seen.OverridesRead {
			return notReported(cr)
		}
	}
	return ""
}

// notReported says why instances do not report every setting.
func notReported(cr *v1alpha1.PgStorageCluster) string {
	if AsIs(cr) {
		return fmt.Sprintf(msgQueriesNotAdded, naming.DurabilityQueries(cr.Name, string(cr.UID)), naming.DurabilityQueriesKey)
	}
	return msgSettingsNotReported
}

// outcome is the condition DurabilityVerified.
func (g grounds) outcome(cr *v1alpha1.PgStorageCluster) outcome.Outcome {
	const cond = v1alpha1.ConditionDurabilityVerified
	found := slices.Concat(g.weak, g.damage)
	switch {
	case len(found) > 0:
		return outcome.InvalidBecause(cond, v1alpha1.ReasonDurabilityWeakened, fmt.Sprintf(msgWeakened, strings.Join(found, "; ")))
	case len(g.overrides) > 0:
		o := outcome.InvalidBecause(cond, v1alpha1.ReasonDurabilityOverridden, fmt.Sprintf(msgOverridden, strings.Join(g.overrides, "; "), cr.Spec.Durability))
		o.Informative = true
		return o
	case g.unread != "":
		o := outcome.WaitFor(cond, v1alpha1.ReasonNotReadBack, msgDurabilityNotRead+g.unread)
		o.Informative, o.Unknown = true, true
		return o
	}
	message := fmt.Sprintf(msgDurabilityVerified, cr.Spec.Durability)
	if cr.Spec.Durability == v1alpha1.DurabilityEphemeral {
		message = msgNothingPromised
	}
	if g.unchecked {
		message += msgUnchecked
	}
	return outcome.DoneWith(cond, v1alpha1.ReasonVerified, message)
}
