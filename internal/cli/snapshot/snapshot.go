// Package snapshot is what the commands have read of a cluster: plain objects, and
// what could not be read.
package snapshot

import (
	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// Unread is something that is not known, and why: no right to it, or no such kind.
type Unread struct {
	// What in words, such as PersistentVolumeClaims in namespace default.
	What string
	Why  string
}

// Profile and what it stands on.
type Profile struct {
	// Name that was asked for.
	Name string
	// Profile is nil where there is none, or where it could not be read.
	Profile *v1alpha1.PgStorageProfile
	// Classes that it names or makes; those that do not exist are in Missing.
	Classes []storagev1.StorageClass
	Missing []string
	// Storages are its PgNodeStorages, sorted by node.
	Storages []v1alpha1.PgNodeStorage
	// Objects of other kinds that carry its label: servers, their pods, those of Rook
	// and of volume snapshots; and the CephCluster that it names. Sorted.
	Objects []unstructured.Unstructured
	Unread  []Unread
}

// Cluster and all that it stands on.
type Cluster struct {
	Cluster *v1alpha1.PgStorageCluster
	Profile Profile
	// Database is CloudNativePG's Cluster of its name; nil where there is none.
	Database *cnpgv1.Cluster
	// Pods and Claims of the instances, sorted by name.
	Pods   []corev1.Pod
	Claims []corev1.PersistentVolumeClaim
	// PodMonitor of its name; nil where there is none.
	PodMonitor *unstructured.Unstructured
	// Benchmarks of the cluster, the oldest first.
	Benchmarks []v1alpha1.PgBenchmark
	Unread     []Unread
}

// Schedule and the runs that are kept of it, the oldest first.
type Schedule struct {
	Schedule   *v1alpha1.PgScheduledBenchmark
	Benchmarks []v1alpha1.PgBenchmark
	Unread     []Unread
}

// Benchmark and what it runs against.
type Benchmark struct {
	Benchmark *v1alpha1.PgBenchmark
	// Target is nil where it does not exist.
	Target *v1alpha1.PgStorageCluster
	// Pods of the runner, sorted by name.
	Pods   []corev1.Pod
	Unread []Unread
}

// Measured is a PgBenchmark and what its runs left.
type Measured struct {
	Benchmark *v1alpha1.PgBenchmark
	// Runs of a matrix that are there, by name.
	Runs map[string]*v1alpha1.PgBenchmark
	// Records by the name of the PgBenchmark that left them: binaryData of its
	// ConfigMap.
	Records map[string]map[string][]byte
	Unread  []Unread
}
