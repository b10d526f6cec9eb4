package observed

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// Profile has the facts about one PgStorageProfile.
type Profile struct {
	ForeignAPIs
	// Classes that exist, of those that the profile names or makes, by name.
	Classes map[string]*storagev1.StorageClass
	// Nodes that the profile selects, sorted by name.
	Nodes []Node
	// Clusters on the profile.
	Clusters []v1alpha1.PgStorageCluster
	// Storages are the PgNodeStorages of the profile, sorted by node.
	Storages []*v1alpha1.PgNodeStorage
	// Reachable is what each Node says of itself, by name; also of those that have a
	// PgNodeStorage and are gone.
	Reachable map[string]Reachability
	// Operator itself, whose namespace the servers of a profile run in.
	Operator Operator
	// Servers are the pods of the profile's servers, sorted by name.
	Servers []*corev1.Pod
	// Others are the other profiles of its kind, sorted by name.
	Others []*v1alpha1.PgStorageProfile
	// Instances of databases on the profile whose volumes no agent reports.
	Instances []Placement
	// ClassesInUse are the profile's classes that PersistentVolumes have, read while it is
	// being deleted.
	ClassesInUse []string
	// Own is what the profile's kind has read itself; only that kind knows the type.
	Own any
}

// Placement of one instance of a database.
type Placement struct {
	// Cluster is namespace/name of the PgStorageCluster.
	Cluster, Instance, Node string
}

// Operator is where the operator runs, and the image with its programs.
type Operator struct {
	Namespace, Image string
	// PlatformUsers leaves the user and groups of pods to the platform, as OpenShift wants.
	PlatformUsers bool
}

// Node is what decides whether a node can have volumes.
type Node struct {
	Name string
	// Hostname is the node's label kubernetes.io/hostname, by which local volumes are
	// bound to it.
	Hostname string
	// Selected by the profile. Nodes that are not are listed while they hold
	// volumes of it.
	Selected bool
	// TopologyKey by which the CSI driver knows the node, empty while the driver
	// is not registered there, and the node's value of it.
	TopologyKey, TopologyValue string
	// Memory in bytes that the node gives to pods, its allocatable memory.
	Memory int64
	// ARC in bytes is the limit that agents report of the node's ZFS cache; 0 without one.
	// InMemory is the sum of the volumes that profiles of type Memory have on the node.
	ARC, InMemory int64
	// Pools that the driver reports on the node.
	Pools []string
}
