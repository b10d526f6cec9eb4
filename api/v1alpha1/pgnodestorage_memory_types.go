package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// NodeMemory declares the volumes in a node's memory.
type NodeMemory struct {
	// volumes lists the desired volumes, each of which is a tmpfs of its own. The agent
	// unmounts one that is not listed any more.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	Volumes []NodeMemoryVolume `json:"volumes,omitempty"`
}

// NodeMemoryVolume is a desired volume in memory.
type NodeMemoryVolume struct {
	// name is the name of the PersistentVolume.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="spec.memory.volumes[].name must be lower-case letters, digits and '-': it names a folder of the node"
	Name string `json:"name,omitempty"`
	// size limits the files of the volume, in whole bytes.
	// +required
	Size resource.Quantity `json:"size,omitzero"`
	// incarnation identifies the tmpfs that the PersistentVolume refers to. While it is
	// set, the agent never mounts another one in its place: an empty volume must not pass
	// for the one that was lost.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9a-f]+$')",message="spec.memory.volumes[].incarnation must be hexadecimal digits, as status.memory reports it"
	Incarnation string `json:"incarnation,omitempty"`
}

// MemoryVolumeState is what became of a volume in memory.
// +kubebuilder:validation:Enum=Mounted;Lost
type MemoryVolumeState string

const (
	// MemoryVolumeMounted has its tmpfs.
	MemoryVolumeMounted MemoryVolumeState = "Mounted"
	// MemoryVolumeLost had a tmpfs that is gone, with all that was in it.
	MemoryVolumeLost MemoryVolumeState = "Lost"
)

// SwapUse says whether the kernel may write pages of a volume to swap.
// +kubebuilder:validation:Enum=Never;Possible
type SwapUse string

const (
	// SwapNever means that the tmpfs is mounted with noswap (Linux 6.4 and later), or that
	// the node has no swap.
	SwapNever SwapUse = "Never"
	// SwapPossible means that the node has swap, and that its kernel has no noswap.
	SwapPossible SwapUse = "Possible"
)

// ObservedMemory is what the agent found of a profile's volumes in memory.
type ObservedMemory struct {
	// volumes lists the volumes that are declared or mounted.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=512
	Volumes []ObservedMemoryVolume `json:"volumes,omitempty"`
}

// ObservedMemoryVolume is the observed state of one volume in memory.
type ObservedMemoryVolume struct {
	// name is the name of the PersistentVolume.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`
	// state is Mounted, or Lost once the tmpfs is gone, as after a reboot.
	// +optional
	State MemoryVolumeState `json:"state,omitempty"`
	// incarnation identifies the tmpfs that is mounted.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Incarnation string `json:"incarnation,omitempty"`
	// path is the folder of the node that is the volume. It contains the incarnation, so
	// no pod can start on another tmpfs than the one it had.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path,omitempty"`
	// size limits the files of the volume.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
	// used is the memory that the files have. It is updated after a change by 1% of size.
	// +optional
	Used *resource.Quantity `json:"used,omitempty"`
	// swap says whether the kernel may write the files to swap.
	// +optional
	Swap SwapUse `json:"swap,omitempty"`
}
