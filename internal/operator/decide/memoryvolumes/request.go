// Package memoryvolumes decides about the volumes of profiles of type Memory. It says
// whether a claim gets one, whether its node has room, and what the PersistentVolume is.
package memoryvolumes

import (
	"fmt"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/nodevolumes"
	"github.com/pgstorage/pgstorage/internal/operator/profile/memory"
)

// Request of a claim for a volume. Objects that do not exist are nil.
type Request struct {
	Class *storagev1.StorageClass
	Claim *corev1.PersistentVolumeClaim
	// Volume is the name that the PersistentVolume is to have.
	Volume string
	// Profile that the class is labelled with, and the PgStorageCluster of the claim.
	Profile *v1alpha1.PgStorageProfile
	Cluster *v1alpha1.PgStorageCluster
	// NodeName is the node that the scheduler chose, Node that node, and Storage the
	// profile's PgNodeStorage of it.
	NodeName string
	Node     *corev1.Node
	Storage  *v1alpha1.PgNodeStorage
}

// Refused says why the claim gets no volume; empty where it may have one. Memory is only
// for databases, whose pods are limited with it. Labels of claims are anyone's to give, so
// in a namespace with such a database maxPerNode and quotas are what bounds it.
func (r Request) Refused() string {
	if text := r.refusedClass(); text != "" {
		return text
	}
	switch s := r.Storage; {
	case r.Cluster == nil || r.Cluster.Spec.Profile != r.Profile.Name:
		return fmt.Sprintf("the claim belongs to no PgStorageCluster on profile %s in its namespace, and only databases have volumes in memory", r.Profile.Name)
	case slices.ContainsFunc(r.Claim.Spec.AccessModes, shared):
		return "a volume in memory is for one node: the claim may ask for ReadWriteOnce and ReadWriteOncePod only"
	case r.Claim.Annotations[naming.AnnotationTooLarge] != "":
		return "the claim has more than 16 KiB of annotations; remove some, for example those that inheritedMetadata adds"
	case r.NodeName == "":
		return "no node is chosen; the StorageClass must have volumeBindingMode WaitForFirstConsumer, and a pod must use the claim"
	case s != nil && (!nodevolumes.Genuine(r.Profile.Name, s) || s.Spec.Memory == nil):
		return r.noVolumes()
	}
	return ""
}

// Misplaced says why the node cannot have the volume of a claim that is not refused; empty
// where it may. Another node may have it, so the scheduler has to choose again.
func (r Request) Misplaced() string {
	switch {
	case r.Node == nil:
		return fmt.Sprintf("node %s does not exist", r.NodeName)
	case r.Storage == nil || !r.Storage.DeletionTimestamp.IsZero():
		return r.noVolumes()
	}
	return ""
}

func (r Request) noVolumes() string {
	return fmt.Sprintf("profile %s has no volumes on node %s: spec.nodeSelector does not select it", r.Profile.Name, r.NodeName)
}

// refusedClass says why the class is not one that a profile of type Memory made.
func (r Request) refusedClass() string {
	p := r.Profile
	if p == nil || p.Spec.Memory == nil || p.Spec.Type != v1alpha1.ProfileTypeMemory || r.Class.Name != naming.DataClass(p.Name) || r.Class.Labels[naming.LabelOwnerUID] != string(p.UID) {
		return fmt.Sprintf("StorageClass %s was not made by a PgStorageProfile of type Memory", r.Class.Name)
	}
	if !p.DeletionTimestamp.IsZero() {
		return fmt.Sprintf("PgStorageProfile %s is being deleted", p.Name)
	}
	return ""
}

func shared(mode corev1.PersistentVolumeAccessMode) bool {
	return mode != corev1.ReadWriteOnce && mode != corev1.ReadWriteOncePod
}

// msgSize refuses a size that no node of the profile has room for.
const msgSize = "the claim requests more than spec.memory.maxPerNode of the profile, %s"

// Size that the claim asks for.
func (r Request) Size() resource.Quantity {
	return r.Claim.Spec.Resources.Requests[corev1.ResourceStorage]
}

// Full says by what sum the node has no room for the volume; empty where it has, and for a
// volume that is declared already. All are the PgNodeStorages of the node.
func (r Request) Full(all []v1alpha1.PgNodeStorage) string {
	b := memory.Budget{Node: r.NodeName, Memory: r.Node.Status.Allocatable.Memory().Value()}
	var ofProfile int64
	for i := range all {
		s := &all[i]
		if !nodevolumes.Genuine(s.Spec.Profile, s) {
			continue
		}
		volumes := nodevolumes.InMemory(s)
		b.Volumes += volumes
		if s.Spec.Profile == r.Profile.Name {
			ofProfile = volumes
			if Has(s, r.Volume) {
				return ""
			}
		}
		if s.Status.ARC != nil && s.Status.ARC.Max != nil {
			b.ARC = max(b.ARC, s.Status.ARC.Max.Value())
		}
	}
	size, most := r.Size(), r.Profile.Spec.Memory.MaxPerNode
	// A size beyond int64 has a Value that is 0 or wrong, so quantities are compared first.
	if size.Cmp(most) > 0 || size.Value() <= 0 {
		return fmt.Sprintf(msgSize, most.String())
	}
	return b.Exceeds(size.Value(), ofProfile, most.Value())
}

// incarnation of a tmpfs, as agents make them.
var incarnation = regexp.MustCompile(`^[0-9a-f]{1,32}$`)

// Distrust says why the report of an agent is not believed; empty where it is. The path
// would be a folder of the node in the pod of a tenant.
func (r Request) Distrust(v *v1alpha1.ObservedMemoryVolume) string {
	if incarnation.MatchString(v.Incarnation) && v.Path == naming.MemoryPath(r.Profile.Name, r.Volume, v.Incarnation) {
		return ""
	}
	return fmt.Sprintf("the agent of node %s reports volume %s at %q, and agents mount volumes at %s only", r.NodeName, r.Volume, v.Path, naming.MemoryPath(r.Profile.Name, r.Volume, "INCARNATION"))
}

// PersistentVolume at a path of the node.
func (r Request) PersistentVolume(path string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: r.Volume, Labels: naming.ProfileLabels(r.Profile.Name, string(r.Profile.UID))},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			AccessModes:                   r.Claim.Spec.AccessModes,
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: r.Size()},
			PersistentVolumeSource:        corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: path}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{r.Node.Labels[corev1.LabelHostname]}}},
			}}}},
		},
	}
}
