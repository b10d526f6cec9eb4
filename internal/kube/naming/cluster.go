package naming

import (
	"fmt"
	"strings"
)

// ReadWriteService is the Service of the primary, as CloudNativePG names it.
func ReadWriteService(cluster string) string { return cluster + "-rw" }

// ReadOnlyService is the Service of the replicas.
func ReadOnlyService(cluster string) string { return cluster + "-ro" }

// ReadService is the Service of all instances.
func ReadService(cluster string) string { return cluster + "-r" }

// ServiceHost is the name of a Service within the Kubernetes cluster.
func ServiceHost(service, namespace string) string {
	return fmt.Sprintf("%s.%s.svc", service, namespace)
}

// DurabilityQueries is the ConfigMap with the queries by which the instances report the
// settings of durability. The UID in it prevents a collision with an object of another
// owner.
func DurabilityQueries(cluster, uid string) string {
	return cluster + "-queries-" + Hash(uid)[:8]
}

// DurabilityQueriesKey of that ConfigMap.
const DurabilityQueriesKey = "queries.yaml"

// ReadPool is the PgStorageCluster of a read pool, and its CloudNativePG Cluster.
func ReadPool(cluster, pool string) string { return cluster + "-" + pool }

// ScheduledBackup is the ScheduledBackup of a schedule of backups.
func ScheduledBackup(cluster, schedule string) string { return cluster + "-" + schedule }

// BackupServer is the folder of a database in an object store. The names of clusters have
// no dot, so no archive of one is in the folder of another.
func BackupServer(cluster, archive string) string {
	if archive == "" {
		return cluster
	}
	return cluster + "." + archive
}

// SiteWatcher is the StatefulSet that asks the other sites of a database what they do.
func SiteWatcher(cluster string) string { return cluster + "-sites" }

// SiteApplication is the name of the application by which a site receives WAL.
func SiteApplication(site string) string { return "pgstorage-site-" + site }

// PoolApplication is the name of the application by which the Cluster of a read pool receives WAL.
func PoolApplication(cluster string) string { return "pgstorage-pool-" + cluster }

// ReplicationSecret holds the certificate that standbys authenticate with.
func ReplicationSecret(cluster string) string { return cluster + "-replication" }

// CASecret holds the certificate authority of the server certificates.
func CASecret(cluster string) string { return cluster + "-ca" }

// Verification is the CloudNativePG Cluster that backups of a database are restored into, and
// the Job that checks it. The UID in it prevents a collision with an object of another owner.
func Verification(cluster, uid string) string {
	const room = 50 - len("-verify-") - 8
	return strings.TrimRight(cluster[:min(len(cluster), room)], "-") + "-verify-" + Hash(uid)[:8]
}

// SuperuserSecret is the Secret of the superuser of a Cluster, as CloudNativePG names it.
func SuperuserSecret(cluster string) string { return cluster + "-superuser" }

// ApplicationSecret is the Secret of the owner of a Cluster's database, as CloudNativePG names
// it.
func ApplicationSecret(cluster string) string { return cluster + "-app" }
