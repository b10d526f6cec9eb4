package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ClusterStorage sets the size of each instance's volumes.
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.walSize) || has(self.walSize)",message="spec.storage.walSize cannot be removed: CloudNativePG cannot move WAL back onto the data volume; set it again"
type ClusterStorage struct {
	// size sets the size of the data volume, at least 1Gi. It can grow where the
	// StorageClass allows expansion; it never shrinks.
	// +required
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('1Gi')) >= 0",message="spec.storage.size must be a quantity of at least 1Gi, as 100Gi"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || !isQuantity(string(oldSelf)) || quantity(string(self)).compareTo(quantity(string(oldSelf))) >= 0",message="spec.storage.size cannot shrink: volumes only grow; create a smaller cluster and restore into it"
	Size resource.Quantity `json:"size,omitzero"`

	// walSize adds a volume for WAL, at least 1Gi. It can be added and grown later,
	// never removed or shrunk. Default: WAL is on the data volume.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('1Gi')) >= 0",message="spec.storage.walSize must be a quantity of at least 1Gi, as 20Gi"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || !isQuantity(string(oldSelf)) || quantity(string(self)).compareTo(quantity(string(oldSelf))) >= 0",message="spec.storage.walSize cannot shrink: volumes only grow; create a new cluster and restore into it"
	WALSize *resource.Quantity `json:"walSize,omitempty"`
}

// ClusterResources are the compute resources of each instance.
// +kubebuilder:validation:XValidation:rule="!has(self.limits) || !('memory' in self.limits) || !isQuantity(string(self.limits['memory'])) || !has(self.requests) || !('memory' in self.requests) || !isQuantity(string(self.requests['memory'])) || quantity(string(self.limits['memory'])).compareTo(quantity(string(self.requests['memory']))) >= 0",message="spec.resources.limits.memory is below spec.resources.requests.memory; raise the limit or lower the request"
// +kubebuilder:validation:XValidation:rule="!has(self.limits) || !('cpu' in self.limits) || !isQuantity(string(self.limits['cpu'])) || !has(self.requests) || !('cpu' in self.requests) || !isQuantity(string(self.requests['cpu'])) || quantity(string(self.limits['cpu'])).compareTo(quantity(string(self.requests['cpu']))) >= 0",message="spec.resources.limits.cpu is below spec.resources.requests.cpu; raise the limit or lower the request"
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !('hugepages-2Mi' in self.requests) || !isQuantity(string(self.requests['hugepages-2Mi'])) || has(self.limits) && 'hugepages-2Mi' in self.limits && isQuantity(string(self.limits['hugepages-2Mi'])) && quantity(string(self.limits['hugepages-2Mi'])).compareTo(quantity(string(self.requests['hugepages-2Mi']))) == 0",message="spec.resources.limits.hugepages-2Mi must equal spec.resources.requests.hugepages-2Mi, because huge pages cannot be overcommitted; set both to the same quantity"
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !('hugepages-1Gi' in self.requests) || !isQuantity(string(self.requests['hugepages-1Gi'])) || has(self.limits) && 'hugepages-1Gi' in self.limits && isQuantity(string(self.limits['hugepages-1Gi'])) && quantity(string(self.limits['hugepages-1Gi'])).compareTo(quantity(string(self.requests['hugepages-1Gi']))) == 0",message="spec.resources.limits.hugepages-1Gi must equal spec.resources.requests.hugepages-1Gi, because huge pages cannot be overcommitted; set both to the same quantity"
type ClusterResources struct {
	// requests reserves memory (at least 256Mi) and CPU (at least 50m) for each
	// instance. Both are required unless defaults is CloudNativePG. Huge pages (hugepages-2Mi, hugepages-1Gi) may be requested too, with
	// the same amount in limits. Postgres then keeps its shared memory in them, and
	// shared_buffers fill them. They are not part of memory.
	// +optional
	// +kubebuilder:validation:MaxProperties=5
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['cpu', 'memory', 'ephemeral-storage', 'hugepages-2Mi', 'hugepages-1Gi'])",message="spec.resources.requests may name cpu, memory, ephemeral-storage, hugepages-2Mi and hugepages-1Gi only"
	// +kubebuilder:validation:XValidation:rule="self.all(k, isQuantity(string(self[k])))",message="spec.resources.requests must be quantities, as 500m or 2Gi"
	Requests map[corev1.ResourceName]resource.Quantity `json:"requests,omitempty"`

	// limits limits each instance. Set the limit of memory equal to its request, so
	// that the kernel does not kill Postgres before other pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=5
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['cpu', 'memory', 'ephemeral-storage', 'hugepages-2Mi', 'hugepages-1Gi'])",message="spec.resources.limits may name cpu, memory, ephemeral-storage, hugepages-2Mi and hugepages-1Gi only"
	// +kubebuilder:validation:XValidation:rule="self.all(k, isQuantity(string(self[k])))",message="spec.resources.limits must be quantities, as 500m or 2Gi"
	Limits map[corev1.ResourceName]resource.Quantity `json:"limits,omitempty"`
}
