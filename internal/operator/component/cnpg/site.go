package cnpg

import (
	"slices"
	"strconv"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	cnpgac "github.com/pgstorage/pgstorage/internal/operator/extapply/cnpg/api/v1"
)

// Site is the place of a Cluster among the sites of a database.
type Site struct {
	// Cluster is the name of the Cluster.
	Cluster  string
	Topology *v1alpha1.TopologySpec
	// ClonedFrom is the member that it is or was cloned from; empty where initdb made it.
	ClonedFrom string
	// Epoch counts the promotions of sites that led to what this one has.
	Epoch int64
}

// SiteOf a database, by the Cluster that exists and the epoch that follows from it; nil
// where spec.topology is not set. How a Cluster was made stays as it is when the sites are
// switched.
func SiteOf(cr *v1alpha1.PgStorageCluster, live *cnpgv1.Cluster, epoch int64) *Site {
	t := cr.Spec.Topology
	if t == nil {
		return nil
	}
	out := &Site{Cluster: cr.Name, Topology: t, Epoch: epoch}
	switch {
	case live == nil && t.Self != t.Primary:
		out.ClonedFrom = t.Primary
	case live != nil && live.Spec.Bootstrap != nil && live.Spec.Bootstrap.PgBaseBackup != nil:
		if out.ClonedFrom = live.Spec.Bootstrap.PgBaseBackup.Source; !out.has(out.ClonedFrom) {
			out.ClonedFrom = out.source()
		}
	}
	return out
}

func (s *Site) has(name string) bool {
	for _, m := range s.Topology.Members {
		if m.Name == name {
			return true
		}
	}
	return false
}

// source is the member that this site replicates. CloudNativePG needs one where the site
// writes, too.
func (s *Site) source() string {
	if s.Topology.Primary != s.Topology.Self {
		return s.Topology.Primary
	}
	for _, m := range s.Topology.Members {
		if m.Name != s.Topology.Self {
			return m.Name
		}
	}
	return ""
}

// place puts a Cluster among its sites
// (https://cloudnative-pg.io/documentation/current/replica_cluster/#distributed-topology).
// A token is for the site that writes only.
func (s *Site) place(spec *cnpgac.ClusterSpecApplyConfiguration) {
	t := s.Topology
	replica := cnpgac.ReplicaClusterConfiguration().WithSelf(t.Self).WithPrimary(t.Primary).WithSource(s.source())
	if t.Self == t.Primary && t.PromotionToken != "" {
		replica.WithPromotionToken(t.PromotionToken)
	}
	spec.WithReplicaCluster(replica)
	for i := range t.Members {
		m := &t.Members[i]
		spec.WithExternalClusters(s.member(m))
		if m.Name == t.Self {
			spec.WithCertificates(cnpgac.CertificatesConfiguration().WithServerAltDNSNames(m.Host))
		}
	}
}

// The settings of Postgres that a site shows the others: which one writes, the members that
// it was given, and its epoch.
const (
	ParameterPrimary  = "pgstorage.primary"
	ParameterTopology = "pgstorage.topology"
	ParameterEpoch    = "pgstorage.epoch"
)

// parameters that a site has besides its own.
func (s *Site) parameters() map[string]string {
	if s == nil {
		return nil
	}
	return map[string]string{
		ParameterPrimary: s.Topology.Primary, ParameterTopology: TopologyHash(s.Topology), ParameterEpoch: strconv.FormatInt(s.Epoch, 10),
	}
}

// TopologyHash is the same in sites that were given the same members.
func TopologyHash(t *v1alpha1.TopologySpec) string {
	members := slices.SortedFunc(slices.Values(t.Members), func(a, b v1alpha1.SiteMember) int { return strings.Compare(a.Name, b.Name) })
	return naming.Hash(members)[:16]
}

// member as this site connects to it, or would to itself, by its own Secrets. The name of the application says which site it is
// that receives WAL, and is never that of an instance, which could confirm commits.
func (s *Site) member(m *v1alpha1.SiteMember) *cnpgac.ExternalClusterApplyConfiguration {
	parameters := map[string]string{
		"host": m.Host, "user": cnpgv1.StreamingReplicationUser, "dbname": "postgres", "sslmode": "verify-full",
		"application_name": naming.SiteApplication(s.Topology.Self),
	}
	if m.Port != nil {
		parameters["port"] = strconv.Itoa(int(*m.Port))
	}
	client, authority := m.TLS.ClientCertificate, m.TLS.CertificateAuthority
	if m.Name == s.Topology.Self {
		client, authority = naming.ReplicationSecret(s.Cluster), naming.CASecret(s.Cluster)
	}
	return cnpgac.ExternalCluster().
		WithName(m.Name).
		WithConnectionParameters(parameters).
		WithSSLCert(key(client, corev1.TLSCertKey)).
		WithSSLKey(key(client, corev1.TLSPrivateKeyKey)).
		WithSSLRootCert(key(authority, "ca.crt"))
}

// clone is how the database of a site is made that follows. Database and owner have
// CloudNativePG know the application's Secret.
func (s *Site) clone(cr *v1alpha1.PgStorageCluster) *cnpgac.BootstrapConfigurationApplyConfiguration {
	return cnpgac.BootstrapConfiguration().WithPgBaseBackup(cnpgac.BootstrapPgBaseBackup().
		WithSource(s.ClonedFrom).WithDatabase(cr.Spec.Postgres.Database).WithOwner(cr.Spec.Postgres.Owner))
}
