package statemetrics

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
)

var (
	clusterInfo       = clusterMetric("info", "Always 1: what a PgStorageCluster declares.", "profile", "workload", "postgres")
	clusterCondition  = clusterMetric("condition", "Always 1: the current status and reason of a condition of a PgStorageCluster.", "condition", "status", "reason")
	clusterDurability = clusterMetric("durability_info", "Always 1: the durability tier that a PgStorageCluster declares.", "tier")
	clusterLoss       = clusterMetric("loss_info", "Always 1: what happens to acknowledged commits in a failure (Kept, MayBeLost, Lost or Unknown).", "event", "commits")
	clusterWeakened   = clusterMetric("durability_weakened", "1 while the running instances of a PgStorageCluster lack settings that its durability rests on (DurabilityWeakened), or roles and databases have weaker ones (DurabilityOverridden).", "durability", "reason")
	clusterWanted     = clusterMetric("instances_wanted", "Instances that a PgStorageCluster declares.")
	clusterInstances  = clusterMetric("instances", "Instances that exist; absent until CloudNativePG reports them.")
	clusterReady      = clusterMetric("instances_ready", "Instances that accept connections; absent until CloudNativePG reports them.")
	clusterSuspended  = clusterMetric("suspended", "1 while spec.suspend stops the operator from changing the database, else 0.")
	clusterOutdated   = clusterMetric("status_outdated", "1 while the status describes an older generation of the spec, else 0.")
	clusterFollower   = clusterMetric("follower_info", "Always 1: the PgStorageCluster or site that a follower, as a read pool, replicates.", "source")
	clusterSite       = clusterMetric("site_info", "Always 1: the site of several that a database is, what it does, and the site that is to write.", "site", "role", "primary")
	clusterVolume     = clusterMetric("volume_info", "Always 1: a volume of an instance as its node's agent read it back; only for profiles whose volumes are read back.", "claim", "instance", "role", "node", "pool", "dataset")

	clusterMetrics = []*prometheus.Desc{
		clusterInfo, clusterCondition, clusterDurability, clusterLoss, clusterWeakened, clusterWanted, clusterInstances, clusterReady,
		clusterSuspended, clusterOutdated, clusterFollower, clusterSite, clusterVolume,
	}
)

func clusterMetric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("pgstorage_cluster_"+name, help, append([]string{"namespace", "name"}, labels...), nil)
}

func (s sink) cluster(cr *v1alpha1.PgStorageCluster) {
	of := []string{cr.Namespace, cr.Name}
	with := func(labels ...string) []string { return append(of[:2:2], labels...) }
	s.gauge(clusterInfo, 1, with(cr.Spec.Profile, string(cr.Spec.Workload), cr.Spec.Postgres.Version)...)
	if source := followed(cr); source != "" {
		s.gauge(clusterFollower, 1, with(source)...)
	} else {
		s.gauge(clusterDurability, 1, with(string(cr.Spec.Durability))...)
	}
	if t := cr.Status.Topology; t != nil && cr.Spec.Topology != nil {
		s.gauge(clusterSite, 1, with(cr.Spec.Topology.Self, string(t.Role), cr.Spec.Topology.Primary)...)
	}
	s.gauge(clusterSuspended, truth(cr.Spec.Suspend != nil && *cr.Spec.Suspend), of...)
	s.gauge(clusterOutdated, truth(cr.Status.ObservedGeneration != cr.Generation), of...)
	s.conditions(clusterCondition, cr.Status.Conditions, of...)
	if c := meta.FindStatusCondition(cr.Status.Conditions, v1alpha1.ConditionDurabilityVerified); c != nil && c.Status == metav1.ConditionFalse {
		s.gauge(clusterWeakened, 1, with(string(cr.Spec.Durability), c.Reason)...)
	}
	if d := cr.Status.Durability; d != nil {
		for _, l := range d.Losses {
			s.gauge(clusterLoss, 1, with(l.Event, l.AcknowledgedCommits)...)
		}
	}
	s.instances(cr, of)
	for _, v := range cr.Status.Volumes {
		pool, _, _ := strings.Cut(v.Dataset, "/")
		s.gauge(clusterVolume, 1, with(v.Claim, v.Instance, v.Role, v.Node, pool, v.Dataset)...)
	}
}

// followed is what a database replicates; empty if it replicates nothing.
func followed(cr *v1alpha1.PgStorageCluster) string {
	if f := cr.Spec.Follow; f != nil {
		return f.Cluster
	}
	if t := cr.Status.Topology; t != nil && cr.Spec.Topology != nil && (t.Role == v1alpha1.SiteFollows || t.Role == v1alpha1.SiteDemoted) {
		return "site " + cr.Spec.Topology.Primary
	}
	return ""
}

func (s sink) instances(cr *v1alpha1.PgStorageCluster, of []string) {
	s.gauge(clusterWanted, float64(clusters.Instances(cr)), of...)
	d := cr.Status.Database
	if d == nil {
		return
	}
	if d.Instances != nil {
		s.gauge(clusterInstances, float64(*d.Instances), of...)
	}
	if d.ReadyInstances != nil {
		s.gauge(clusterReady, float64(*d.ReadyInstances), of...)
	}
}
