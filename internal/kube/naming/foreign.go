package naming

// Labels of CloudNativePG's pods and claims (its pkg/utils/labels_annotations.go).
const (
	// LabelCNPGCluster names the Cluster that an object belongs to.
	LabelCNPGCluster = "cnpg.io/cluster"
	// LabelCNPGInstance names the instance.
	LabelCNPGInstance = "cnpg.io/instanceName"
	// LabelCNPGInstanceRole says whether an instance is the primary or a replica.
	LabelCNPGInstanceRole = "cnpg.io/instanceRole"
	// LabelCNPGPodRole says what a pod is for.
	LabelCNPGPodRole = "cnpg.io/podRole"
	// LabelCNPGPVCRole says what a claim holds.
	LabelCNPGPVCRole = "cnpg.io/pvcRole"
)

// AnnotationSelectedNode is written by the scheduler when a claim waits for its first
// consumer (k8s.io/component-helpers storage/volume). It stays when a pool is away.
const AnnotationSelectedNode = "volume.kubernetes.io/selected-node"
