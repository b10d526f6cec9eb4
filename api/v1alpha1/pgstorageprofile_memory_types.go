package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// MemoryProfile keeps volumes in the memory of the selected nodes: one tmpfs for each
// volume. Nothing outlives the node's next boot. So the profile carries read pools, which
// the operator clones again, and clusters of durability Ephemeral.
type MemoryProfile struct {
	// maxPerNode limits the sum of the sizes of all volumes of the profile on one node, at
	// least 1Gi. A claim that exceeds it goes to another node. Together with the ARC and
	// the shared_buffers of other databases it has to fit the node's allocatable memory;
	// the condition MemoryBudget shows the sum. It can be raised and lowered; volumes that
	// exist stay.
	// +required
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('1Gi')) >= 0",message="spec.memory.maxPerNode must be a quantity of at least 1Gi, as 16Gi"
	MaxPerNode resource.Quantity `json:"maxPerNode,omitzero"`
}
