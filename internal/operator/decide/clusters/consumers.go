package clusters

import (
	"fmt"
	"slices"
	"strings"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

// consumed narrows the proof that no page is torn to clusters whose WAL has no other
// consumers. A follower or a restored cluster replays the same WAL without page images,
// on unproved storage. content is the desired Cluster.
func consumed(cr *v1alpha1.PgStorageCluster, facts observed.Cluster, content map[string]any, proof postgres.Proof) postgres.Proof {
	if !proof.Possible {
		return proof
	}
	if Follows(cr) {
		proof.Missing = followerPages
		return proof
	}
	if cr.Spec.Topology != nil {
		proof.Missing = sitePages
		return proof
	}
	missing := consumersOf(content)
	if cr.Spec.Backup != nil {
		missing = append(missing, fmt.Sprintf(archives, "spec.backup"))
	}
	if c := facts.Cluster; c != nil {
		missing = append(missing, liveConsumers(c)...)
		missing = append(missing, tablespaces(c, content, facts.Claims, int(Instances(cr)))...)
		missing = append(missing, followers(c, facts.ReadBack.Followers)...)
	}
	slices.Sort(missing)
	if missing = slices.Compact(missing); len(missing) > 0 {
		if proof.Missing != "" {
			missing = append([]string{proof.Missing}, missing...)
		}
		proof.Missing = strings.Join(missing, "; ")
	}
	return proof
}

const (
	followerPages = "a follower writes no WAL of its own, so that the setting has no effect; remove it"
	sitePages     = "the database has other sites, which replay its WAL on storage that is not proved; remove spec.topology, or remove spec.postgres.parameters[full_page_writes]"
	archives      = "WAL is archived (%s), and what is restored from it elsewhere could not repair a page that a crash tears there. Remove the archive, or remove spec.postgres.parameters[full_page_writes]"
	replicas      = "the Cluster has spec.replica, so that WAL is replayed on storage that is not proved; remove it, or remove spec.postgres.parameters[full_page_writes]"
)

// consumersOf are declared in an override.
func consumersOf(content map[string]any) []string {
	var out []string
	if _, found, _ := unstructured.NestedFieldNoCopy(content, "spec", "backup", "barmanObjectStore"); found {
		out = append(out, fmt.Sprintf(archives, "spec.backup.barmanObjectStore"))
	}
	plugins, _, _ := unstructured.NestedSlice(content, "spec", "plugins")
	for _, p := range plugins {
		plugin, _ := p.(map[string]any)
		if archiver, _, _ := unstructured.NestedBool(plugin, "isWALArchiver"); archiver {
			name, _, _ := unstructured.NestedString(plugin, "name")
			out = append(out, fmt.Sprintf(archives, "spec.plugins, "+name))
		}
	}
	if _, found, _ := unstructured.NestedFieldNoCopy(content, "spec", "replica"); found {
		out = append(out, replicas)
	}
	return out
}

// liveConsumers are those that other writers put into the Cluster.
func liveConsumers(c *cnpgv1.Cluster) []string {
	var out []string
	if c.Spec.Backup != nil && c.Spec.Backup.BarmanObjectStore != nil {
		out = append(out, fmt.Sprintf(archives, "spec.backup.barmanObjectStore"))
	}
	for _, p := range c.Spec.Plugins {
		if p.IsWALArchiver != nil && *p.IsWALArchiver {
			out = append(out, fmt.Sprintf(archives, "spec.plugins, "+p.Name))
		}
	}
	if c.Spec.ReplicaCluster != nil {
		out = append(out, replicas)
	}
	return out
}

// roleTablespace of CloudNativePG's claims.
const roleTablespace = "PG_TABLESPACE"

// tablespaces that are declared and have no volume for every instance yet.
func tablespaces(c *cnpgv1.Cluster, content map[string]any, claims []observed.Claim, instances int) []string {
	declared, _, _ := unstructured.NestedSlice(content, "spec", "tablespaces")
	wanted := max(len(declared), len(c.Spec.Tablespaces)) * instances
	have := 0
	for _, claim := range claims {
		if claim.Role == roleTablespace {
			have++
		}
	}
	if have >= wanted {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d volumes of tablespaces were read back", have, wanted)}
}

// followers that stream WAL and do not belong to the cluster.
func followers(c *cnpgv1.Cluster, names []string) []string {
	var out []string
	for _, name := range names {
		if !slices.Contains(c.Status.InstanceNames, name) {
			out = append(out, fmt.Sprintf("%q streams WAL and is not an instance of the cluster; its storage is not proved", name))
		}
	}
	return out
}
