package clusters

import (
	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

// Status is the status of a PgStorageCluster without its conditions.
func (c *Cluster) Status(cr *v1alpha1.PgStorageCluster, facts observed.Cluster) v1alpha1.PgStorageClusterStatus {
	s := v1alpha1.PgStorageClusterStatus{
		ObservedGeneration: cr.Generation,
		Database:           cr.Status.Database,
		Durability:         durabilityStatus(cr, facts, c.flush),
		Parameters:         parameters(c.Parameters),
		Volumes:            volumeStatus(facts.Claims),
		ReadPools:          readPoolStatus(cr, facts),
		Follower:           followerStatus(cr, facts),
		Topology:           topologyStatus(cr, facts),
		Backup:             backupStatus(cr, facts),
		Benchmark:          benchmarkStatus(facts.Benchmark),
	}
	if facts.Cluster == nil {
		return s
	}
	s.Database = databaseStatus(facts.Cluster, cr.Status.Database)
	s.Endpoints = &v1alpha1.Endpoints{
		ReadWrite: naming.ServiceHost(naming.ReadWriteService(cr.Name), cr.Namespace),
		ReadOnly:  naming.ServiceHost(naming.ReadOnlyService(cr.Name), cr.Namespace),
		Read:      naming.ServiceHost(naming.ReadService(cr.Name), cr.Namespace),
	}
	// Overrides can name others than CloudNativePG makes.
	s.Secrets = &v1alpha1.SecretNames{Application: facts.Cluster.GetApplicationSecretName(), CertificateAuthority: facts.Cluster.GetServerCASecretName()}
	if Follows(cr) {
		// Nothing can be written, and users and passwords are those of the cluster.
		s.Endpoints.ReadWrite, s.Secrets.Application = "", ""
		if facts.Source != nil && facts.Source.Cluster != nil {
			s.Secrets.Application = facts.Source.Cluster.GetApplicationSecretName()
		}
	}
	if followsSite(cr, facts) {
		s.Endpoints.ReadWrite = ""
	}
	return s
}

func databaseStatus(c *cnpgv1.Cluster, before *v1alpha1.DatabaseStatus) *v1alpha1.DatabaseStatus {
	initialized := c.Status.CurrentPrimary != "" && c.Status.ReadyInstances > 0 ||
		meta.IsStatusConditionTrue(c.Status.Conditions, string(cnpgv1.ConditionInitialized)) ||
		before != nil && before.UID == string(c.UID) && before.Initialized != nil && *before.Initialized
	instances, ready := int32(c.Status.Instances), int32(c.Status.ReadyInstances) //nolint:gosec // counts of at most 16 instances
	return &v1alpha1.DatabaseStatus{
		Name:           c.Name,
		UID:            string(c.UID),
		Initialized:    &initialized,
		Phase:          c.Status.Phase,
		Instances:      &instances,
		ReadyInstances: &ready,
		Primary:        c.Status.CurrentPrimary,
		Image:          c.Status.Image,
	}
}

func parameters(in []postgres.Parameter) []v1alpha1.Parameter {
	var out []v1alpha1.Parameter
	for _, p := range in {
		out = append(out, v1alpha1.Parameter{Name: p.Name, Value: p.Value, Source: string(p.Source), Reason: p.Reason})
	}
	return out
}

// mostVolumes is how many volumes the schema of the status allows. Users of the namespace
// create claims, and give them the labels of a database.
const mostVolumes = 64

func volumeStatus(claims []observed.Claim) []v1alpha1.VolumeStatus {
	var out []v1alpha1.VolumeStatus
	for _, c := range claims[:min(len(claims), mostVolumes)] {
		v := v1alpha1.VolumeStatus{Claim: c.Name, Instance: c.Instance, Role: "Data", Node: c.Node}
		switch {
		case c.WAL:
			v.Role = "WAL"
		case c.Role == roleTablespace:
			v.Role = "Tablespace"
		case c.Role != "":
			v.Role = "Unknown"
		}
		if c.Observed != nil {
			v.Dataset, v.Recordsize = c.Observed.Name, c.Observed.Recordsize
		}
		if c.Memory != nil {
			v.Path = c.Memory.Path
		}
		out = append(out, v)
	}
	return out
}

func benchmarkStatus(b *v1alpha1.PgBenchmark) *v1alpha1.InlineBenchmarkStatus {
	if b == nil {
		return nil
	}
	return &v1alpha1.InlineBenchmarkStatus{Name: b.Name, Phase: b.Status.Phase, BestTPS: b.Status.BestTPS, Durability: b.Status.Durability}
}
