// Package naming is the only place where a name, label, annotation, finalizer or
// field owner of pgstorage is born.
package naming

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

const (
	// FieldOwner is the field manager of everything the manager applies.
	FieldOwner = "pgstorage"
	// AgentFieldOwner is the field manager of what a node's agent writes: the
	// status and the finalizer of its PgNodeStorages.
	AgentFieldOwner = "pgstorage-agent"
	// BenchFieldOwner is the field manager of status.run, which the runner writes.
	BenchFieldOwner = "pgstorage-bench"

	// LabelManagedBy marks every object that the manager made; caches hold no
	// other ones.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// ManagedBy is the value of LabelManagedBy.
	ManagedBy = "pgstorage"
	// LabelCluster names the PgStorageCluster that an object belongs to.
	LabelCluster = "pgstorage.dev/cluster"
	// LabelBenchmark names the PgBenchmark that an object belongs to.
	LabelBenchmark = "pgstorage.dev/benchmark"
	// LabelSchedule names the PgScheduledBenchmark that a PgBenchmark was made by.
	LabelSchedule = "pgstorage.dev/schedule"
	// LabelProfile names the PgStorageProfile that an object belongs to.
	LabelProfile = "pgstorage.dev/profile"
	// LabelStore names the store of an S3NBD profile that a server serves.
	LabelStore = "pgstorage.dev/store"
	// LabelOwnerUID holds the UID of the owner of a data-bearing object, which
	// carries no ownerReference so that garbage collection never takes it.
	LabelOwnerUID = "pgstorage.dev/owner-uid"

	// AnnotationIntent is the hash of what was last applied to a child.
	AnnotationIntent = "pgstorage.dev/intent"
	// AnnotationAdopt on a CloudNativePG Cluster names the PgStorageCluster that
	// may take it over.
	AnnotationAdopt = "pgstorage.dev/adopt-by"
	// AnnotationRecreate on a PgStorageCluster holds the UID of a CloudNativePG
	// Cluster that was deleted by hand and may be made anew, empty.
	AnnotationRecreate = "pgstorage.dev/recreate-cluster"

	// AnnotationRecreateCeph on a PgStorageProfile holds the UID of a CephCluster that was
	// deleted by hand and may be made anew, empty.
	AnnotationRecreateCeph = "pgstorage.dev/recreate-ceph"

	// AnnotationAsked on a DatabaseRole of CloudNativePG counts how often it was written
	// again, to be looked at again, because it had not been applied.
	AnnotationAsked = "pgstorage.dev/asked"
	// AnnotationVariant and AnnotationRepeat on a PgBenchmark say which run of a
	// matrix it is.
	AnnotationVariant = "pgstorage.dev/variant"
	// AnnotationRepeat is the repeat, from 1.
	AnnotationRepeat = "pgstorage.dev/repeat"

	// AnnotationScheduledAt on a PgBenchmark is the time of the schedule that it was
	// made for, as in RFC 3339.
	AnnotationScheduledAt = "pgstorage.dev/scheduled-at"

	// AnnotationRevision is the hash of what a server was started with.
	AnnotationRevision = "pgstorage.dev/revision"
	// AnnotationFenced on a CloudNativePG Cluster lists, as JSON, the instances that
	// the operator has fenced itself; no other fence is its to lift.
	AnnotationFenced = "pgstorage.dev/fenced"
	// AnnotationTooLarge is on a cached object whose status exceeds what the cache keeps,
	// with the size of its JSON in bytes. It is never written to the API server.
	AnnotationTooLarge = "pgstorage.dev/too-large"

	// AnnotationHibernation of CloudNativePG stops the instances of a Cluster and keeps
	// their volumes while it is "on".
	AnnotationHibernation = "cnpg.io/hibernation"
	// AnnotationReconciliationLoop of CloudNativePG keeps its operator from a Cluster
	// while it is "disabled".
	AnnotationReconciliationLoop = "cnpg.io/reconciliationLoop"

	// ClusterFinalizer holds a PgStorageCluster until deletionPolicy was carried out.
	ClusterFinalizer = "pgstorage.dev/cluster"
	// ProfileFinalizer holds a PgStorageProfile while clusters use it.
	ProfileFinalizer = "pgstorage.dev/profile"
	// NodeStorageFinalizer holds a PgNodeStorage until its node's agent let go of
	// the pool, which stays as it is.
	NodeStorageFinalizer = "pgstorage.dev/node"
	// BenchmarkFinalizer holds a PgBenchmark until its database and roles are gone.
	BenchmarkFinalizer = "pgstorage.dev/benchmark"

	// BenchmarkPrefix begins the name of every database and role of a benchmark.
	BenchmarkPrefix = "pgstorage_bench"
)

// Labels of an object that belongs to a PgStorageCluster.
func Labels(cluster string) map[string]string {
	return map[string]string{LabelManagedBy: ManagedBy, LabelCluster: cluster}
}

// BenchmarkLabels of an object that belongs to a PgBenchmark.
func BenchmarkLabels(benchmark string) map[string]string {
	return map[string]string{LabelManagedBy: ManagedBy, LabelBenchmark: benchmark}
}

// ScheduleLabels of a PgBenchmark that a PgScheduledBenchmark makes.
func ScheduleLabels(schedule string) map[string]string {
	return map[string]string{LabelManagedBy: ManagedBy, LabelSchedule: schedule}
}

// ProfileLabels of an object that belongs to a PgStorageProfile.
func ProfileLabels(profile, uid string) map[string]string {
	return map[string]string{LabelManagedBy: ManagedBy, LabelProfile: profile, LabelOwnerUID: uid}
}

// NodeStorage is the name of the PgNodeStorage of a profile and a node. The
// first dot ends the profile; where a profile's own name has dots, a hash keeps
// two pairs apart.
func NodeStorage(profile, node string) string {
	name := profile + "." + node
	if strings.Contains(profile, ".") || len(name) > 253 {
		hash := Hash([]string{profile, node})[:8]
		name = name[:min(len(name), 253-9)] + "-" + hash
	}
	return name
}

// Server is the name of the DaemonSet and ConfigMap of a profile's store. The hash
// keeps two pairs apart whose names join to the same.
func Server(profile, store string) string {
	return "zerofs-" + short(profile) + "-" + store + "-" + Hash([]string{profile, store})[:8]
}

// ServerDirectory on a node holds the sockets of a store's server. It is short
// enough for a socket beneath it to have an address of 107 bytes (unix(7)), also
// where the node's / is mounted at /host.
func ServerDirectory(profile, store string) string {
	return "/var/lib/pgstorage/s3nbd/" + short(profile) + "/" + store
}

// short is a profile's name in at most 24 characters.
func short(profile string) string {
	const most = 24
	if len(profile) <= most {
		return profile
	}
	return strings.TrimRight(profile[:most-9], "-.") + "-" + Hash(profile)[:8]
}

// StorePrefix in a bucket is all that a profile has there; NodePrefix is a node's
// part of it, which has one writer.
func StorePrefix(prefix, profile string) string { return prefix + "/" + profile }

// NodePrefix is the part of a StorePrefix that one node's server writes.
func NodePrefix(prefix, profile, node string) string {
	return StorePrefix(prefix, profile) + "/" + node
}

// Export of a network device, by its number from 0.
func Export(pool string, number int) string { return fmt.Sprintf("%s-%d", pool, number) }

// DataClass is the StorageClass of a profile's data volumes, and the name of its
// VolumeSnapshotClass.
func DataClass(profile string) string { return profile }

// WALClass is the StorageClass of a profile's WAL volumes.
func WALClass(profile string) string { return profile + "-wal" }

// BlockClass is the StorageClass of a profile's block volumes.
func BlockClass(profile string) string { return profile + "-block" }

// ImagePool is the CephBlockPool of a profile's images.
func ImagePool(profile string) string { return profile }

// ImageDataPool is the erasure coded CephBlockPool of their data.
func ImageDataPool(profile string) string { return profile + "-data" }

// PinnedPool is the CephBlockPool of the images of one host.
func PinnedPool(profile, host string) string {
	return profile + "-" + CrushName(host) + "-" + Hash([]string{profile, host})[:8]
}

// CrushName is the name of a host in the CRUSH map: Rook writes its dots as dashes
// (NormalizeCrushName).
func CrushName(host string) string { return strings.ReplaceAll(host, ".", "-") }

// RBDDriverSuffix ends the names of Rook's CSI drivers for RBD; before it stands the
// operator's namespace.
const RBDDriverSuffix = ".rbd.csi.ceph.com"

// RBDDriver is the CSI driver of a profile of type CephRBD.
func RBDDriver(p *v1alpha1.PgStorageProfile) string {
	r := p.Spec.CephRBD.Rook
	if r.Driver != "" {
		return r.Driver
	}
	return r.OperatorNamespace + RBDDriverSuffix
}

// ManagerPool is Rook's name for the CephBlockPool of Ceph's own pool .mgr
// (pool-builtin-mgr.yaml).
const ManagerPool = "builtin-mgr"

// DeviceSet is the set of OSDs on claims of a CephCluster.
const DeviceSet = "pgstorage"

// DataDataset is the parent of a pool's data volumes.
func DataDataset(pool string) string { return pool + "/pgdata" }

// WALDataset is the parent of WAL volumes.
func WALDataset(pool string) string { return pool + "/pgwal" }

// BlockDataset is the parent of zvols.
func BlockDataset(pool string) string { return pool + "/pgblock" }

// DataBearing are the labels of a data-bearing object of a PgStorageCluster.
func DataBearing(cluster, uid string) map[string]string {
	l := Labels(cluster)
	l[LabelOwnerUID] = uid
	return l
}

// InlineBenchmark is the name of the PgBenchmark made from a cluster's inline
// benchmark: a change of the spec is another name, because a run is immutable.
func InlineBenchmark(cluster string, spec any) string {
	const room = 50 - 9
	if len(cluster) > room {
		cluster = cluster[:room]
	}
	return cluster + "-" + Hash(spec)[:8]
}

// BenchmarkObject is the name of a benchmark's Job, ConfigMap, ServiceAccount,
// Role, RoleBinding, Database, DatabaseRole and Secret. The UID in it keeps it
// from meeting an object of somebody else, so none has to be read first.
func BenchmarkObject(benchmark, uid string) string { return benchmark + "-" + Hash(uid)[:8] }

// BenchmarkChecker is the name of the DatabaseRole and Secret of the superuser that
// observes the server.
func BenchmarkChecker(benchmark, uid string) string { return BenchmarkObject(benchmark, uid) + "-chk" }

// BenchmarkRecord is the ConfigMap that the runs of a benchmark are kept in.
func BenchmarkRecord(benchmark, uid string) string {
	return BenchmarkObject(benchmark, uid) + "-record"
}

// BenchmarkDatabase is the database, and the role that owns it, of a benchmark.
func BenchmarkDatabase(uid string) string { return BenchmarkPrefix + "_" + Hash(uid)[:10] }

// BenchmarkCheckRole is the superuser role that observes the server of a benchmark.
func BenchmarkCheckRole(uid string) string { return "pgstorage_check_" + Hash(uid)[:10] }

// ScheduledBenchmark is the PgBenchmark that a schedule makes for one of its times, by
// the minute since 1970 as a CronJob's Jobs.
func ScheduledBenchmark(schedule string, at time.Time) string {
	return fmt.Sprintf("%s-%d", schedule, at.Unix()/60)
}

// MatrixRun is the PgBenchmark of one run of a matrix. The hash holds the UID of the
// matrix' PgBenchmark, so that one of the same name later does not meet it.
func MatrixRun(benchmark, uid, variant string, repeat int) string {
	const room = 50 - len("-r20-") - 8
	name := strings.TrimRight(benchmark[:min(len(benchmark), room)], "-.")
	return fmt.Sprintf("%s-r%d-%s", name, repeat, Hash([]string{uid, variant, strconv.Itoa(repeat)})[:8])
}

// MatrixCluster is the PgStorageCluster that a matrix makes for a target. Its name
// begins with a letter and has no dots, as CloudNativePG wants it.
func MatrixCluster(benchmark, uid, target string) string {
	const room = 50 - len("pgb-") - 1 - 8
	name := strings.ReplaceAll(benchmark, ".", "-")
	name = strings.TrimRight(name[:min(len(name), room)], "-")
	return "pgb-" + name + "-" + Hash([]string{uid, target})[:8]
}

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

// DurabilityQueries is the ConfigMap with the queries by which the instances report what
// durability rests on. The UID in it keeps it from meeting an object of somebody else.
func DurabilityQueries(cluster, uid string) string {
	return cluster + "-queries-" + Hash(uid)[:8]
}

// DurabilityQueriesKey of that ConfigMap.
const DurabilityQueriesKey = "queries.yaml"

// CASecret holds the certificate authority of the server certificates.
func CASecret(cluster string) string { return cluster + "-ca" }

// Hash is a SHA-256 in hex over the JSON of v, whose maps JSON sorts.
func Hash(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		// Only types that JSON cannot express reach this: a defect, not input.
		panic(fmt.Sprintf("naming: hash of %T: %v", v, err))
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
