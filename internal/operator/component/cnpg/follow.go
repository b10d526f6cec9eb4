package cnpg

import (
	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	cnpgac "github.com/pgstorage/pgstorage/internal/operator/extapply/cnpg/api/v1"
)

// Source is the Cluster that a follower replicates, in the same namespace.
type Source struct {
	// Name of the Cluster, and its UID; the UID is empty while there is none.
	Name, UID string
	// Replication and CA are the Secrets with which a standby authenticates, and by which
	// it verifies the server.
	Replication, CA string
}

// SourceOf a Cluster. A Cluster that does not exist has the names that CloudNativePG
// would give it.
func SourceOf(name string, c *cnpgv1.Cluster) Source {
	if c == nil {
		return Source{Name: name, Replication: naming.ReplicationSecret(name), CA: naming.CASecret(name)}
	}
	return Source{Name: name, UID: string(c.UID), Replication: c.GetReplicationSecretName(), CA: c.GetServerCASecretName()}
}

// As is the source that a follower's Cluster already refers to.
func (s Source) As(follower *cnpgv1.Cluster) Source {
	s.UID = follower.Annotations[naming.AnnotationSource]
	for _, e := range follower.Spec.ExternalClusters {
		if e.Name == s.Name && e.SSLCert != nil && e.SSLRootCert != nil {
			s.Replication, s.CA = e.SSLCert.Name, e.SSLRootCert.Name
		}
	}
	return s
}

// annotations by which a Cluster that replaced the source is noticed.
func (s *Source) annotations() map[string]string {
	if s == nil || s.UID == "" {
		return nil
	}
	return map[string]string{naming.AnnotationSource: s.UID}
}

// follow makes a replica cluster that is cloned from its source and streams from it
// (https://cloudnative-pg.io/documentation/current/replica_cluster/). The name of the application
// is never that of an instance of the source. Without it, Postgres takes cluster_name: that of the
// pool "2" of shop is shop-2, which would confirm commits in place of the instance shop-2.
func follow(spec *cnpgac.ClusterSpecApplyConfiguration, s Source, follower string) {
	spec.WithBootstrap(cnpgac.BootstrapConfiguration().WithPgBaseBackup(cnpgac.BootstrapPgBaseBackup().WithSource(s.Name))).
		WithReplicaCluster(cnpgac.ReplicaClusterConfiguration().WithEnabled(true).WithSource(s.Name)).
		WithExternalClusters(cnpgac.ExternalCluster().
			WithName(s.Name).
			WithConnectionParameters(map[string]string{
				"host": naming.ReadWriteService(s.Name), "user": cnpgv1.StreamingReplicationUser, "dbname": "postgres", "sslmode": "verify-full",
				"application_name": naming.PoolApplication(follower),
			}).
			WithSSLCert(key(s.Replication, corev1.TLSCertKey)).
			WithSSLKey(key(s.Replication, corev1.TLSPrivateKeyKey)).
			WithSSLRootCert(key(s.CA, "ca.crt")))
}

func key(secret, name string) corev1.SecretKeySelector {
	return corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: name}
}

// refuseStale takes an instance out of its Services while it is too far behind. Its
// readiness probe compares the WAL that it has not replayed with what its direct upstream
// has (pkg/management/postgres/webserver/probes/streaming.go of v1.30.0). So the API refuses
// it for more than one instance.
func refuseStale(spec *cnpgac.ClusterSpecApplyConfiguration, f *v1alpha1.FollowSpec) {
	if f.StaleReads != v1alpha1.StaleReadsRefuse {
		return
	}
	if spec.Probes == nil {
		spec.WithProbes(cnpgac.ProbesConfiguration())
	}
	if spec.Probes.Readiness == nil {
		spec.Probes.WithReadiness(cnpgac.ProbeWithStrategy())
	}
	spec.Probes.Readiness.WithType(cnpgv1.ProbeStrategyStreaming).WithMaximumLag(MaxLagBytes(f))
}

// defaultMaxLag is that of the API.
var defaultMaxLag = resource.MustParse("64Mi")

// MaxLagBytes of a follower.
func MaxLagBytes(f *v1alpha1.FollowSpec) resource.Quantity {
	if f.MaxLag != nil && f.MaxLag.Bytes != nil {
		return *f.MaxLag.Bytes
	}
	return defaultMaxLag
}
