// Package snapshot holds what the commands read from a cluster, as plain objects, and a
// list of what they could not read.
package snapshot

import (
	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/adoption"
)

// Unread names what could not be read, and why: no permission, or no such kind.
type Unread struct {
	// What was to be read, such as PersistentVolumeClaims in namespace default.
	What string
	Why  string
}

// Names in a tree of objects that could not be read.
const (
	// Database is the CloudNativePG Cluster of a PgStorageCluster.
	Database = "CloudNativePG Cluster"
	// NamedCluster comes before the name of a PgStorageCluster.
	NamedCluster = "PgStorageCluster "
)

// Profile is a PgStorageProfile and what it depends on.
type Profile struct {
	// Name of the profile.
	Name string
	// Profile is nil if it does not exist or could not be read.
	Profile *v1alpha1.PgStorageProfile
	// Classes are the StorageClasses that the profile names or creates. Missing are the
	// names of those that do not exist.
	Classes []storagev1.StorageClass
	Missing []string
	// Storages are the PgNodeStorages of the profile, sorted by node.
	Storages []v1alpha1.PgNodeStorage
	// Objects of other kinds with the label of the profile, such as servers and their
	// pods, and the CephCluster that the profile names. Sorted.
	Objects []unstructured.Unstructured
	Unread  []Unread
}

// Cluster is a PgStorageCluster and what it depends on.
type Cluster struct {
	Cluster *v1alpha1.PgStorageCluster
	Profile Profile
	// Database is the CloudNativePG Cluster; nil if it does not exist or could not be read.
	Database *cnpgv1.Cluster
	// Pods and Claims of the instances, sorted by name.
	Pods   []corev1.Pod
	Claims []corev1.PersistentVolumeClaim
	// PodMonitor of the cluster; nil if it does not exist.
	PodMonitor *unstructured.Unstructured
	// Benchmarks of the cluster, oldest first.
	Benchmarks []v1alpha1.PgBenchmark
	// Branches are all PgStorageBranches of the namespace.
	Branches []v1alpha1.PgStorageBranch
	Unread   []Unread
}

// CNPGCluster is a CloudNativePG Cluster that no PgStorageCluster needs to have.
type CNPGCluster struct {
	Cluster *unstructured.Unstructured
	Claims  []corev1.PersistentVolumeClaim
	// Classes are all StorageClasses.
	Classes []storagev1.StorageClass
	// Known are the StorageClasses of its volumes where it names none.
	Known  adoption.Classes
	Unread []Unread
}

// Schedule is a PgScheduledBenchmark and its retained PgBenchmarks, oldest first.
type Schedule struct {
	Schedule   *v1alpha1.PgScheduledBenchmark
	Benchmarks []v1alpha1.PgBenchmark
	Unread     []Unread
}

// Branch is a PgStorageBranch and its database.
type Branch struct {
	Branch *v1alpha1.PgStorageBranch
	// Cluster is the PgStorageCluster of the branch; nil if it does not exist or could not be
	// read.
	Cluster *v1alpha1.PgStorageCluster
	// Branches are all PgStorageBranches of the namespace.
	Branches []v1alpha1.PgStorageBranch
	Unread   []Unread
}

// Benchmark is a PgBenchmark and what it runs against.
type Benchmark struct {
	Benchmark *v1alpha1.PgBenchmark
	// Target is nil if it does not exist or could not be read, or if the PgBenchmark makes its
	// own clusters.
	Target *v1alpha1.PgStorageCluster
	// Pods of the runner, sorted by name.
	Pods   []corev1.Pod
	Unread []Unread
}

// Records is a PgBenchmark and the records of its runs.
type Records struct {
	Benchmark *v1alpha1.PgBenchmark
	// Runs are the PgBenchmarks of a matrix that exist, by name.
	Runs map[string]*v1alpha1.PgBenchmark
	// ByBenchmark has the records, each the binaryData of a ConfigMap, by the name of
	// the PgBenchmark that owns the ConfigMap.
	ByBenchmark map[string]map[string][]byte
	Unread      []Unread
}
