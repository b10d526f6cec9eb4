package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// ProfileCeph is the observed state of the Ceph cluster of a profile, and what its
// layout implies.
type ProfileCeph struct {
	// clusterUID identifies the CephCluster that the profile created, once it had an
	// OSD. The operator does not recreate it after a user deletes it.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ClusterUID string `json:"clusterUID,omitempty"`

	// probedKey identifies the CephCluster and the pools in which a probe last created,
	// wrote, flushed, read and removed an image. The probe runs again only for others.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ProbedKey string `json:"probedKey,omitempty"`

	// health is HEALTH_OK, HEALTH_WARN or HEALTH_ERR, as Ceph reports it.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Health string `json:"health,omitempty"`

	// checks lists the health checks that Ceph raises now, with the operator's response
	// to each.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	Checks []ObservedCephCheck `json:"checks,omitempty"`

	// osds counts the existing OSDs.
	// +optional
	OSDs *int32 `json:"osds,omitempty"`
	// osdsUp counts the OSDs whose pods are ready.
	// +optional
	OSDsUp *int32 `json:"osdsUp,omitempty"`
	// osdHosts lists the nodes with a running OSD.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=1024
	// +kubebuilder:validation:items:MaxLength=253
	OSDHosts []string `json:"osdHosts,omitempty"`

	// usable is how much volumes can store before Ceph warns that it is nearly full. It
	// keeps one failure domain's worth free, where that is possible, to recover from
	// its loss.
	// +optional
	Usable *resource.Quantity `json:"usable,omitempty"`
	// usableFormula is the calculation of usable.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	UsableFormula string `json:"usableFormula,omitempty"`

	// copies lists the copies of each byte of a database. It has the first 256 clusters
	// that use the profile, or an example of three instances.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Copies []CephCopies `json:"copies,omitempty"`

	// writeAmplification estimates how many bytes each layer writes for one byte that
	// Postgres writes to a page of a volume.
	// +optional
	// +listType=map
	// +listMapKey=layer
	// +kubebuilder:validation:MaxItems=32
	WriteAmplification []LayerAmplification `json:"writeAmplification,omitempty"`

	// losses lists which failures take the data of one volume.
	// +optional
	// +listType=map
	// +listMapKey=event
	// +kubebuilder:validation:MaxItems=32
	Losses []CephLoss `json:"losses,omitempty"`

	// layers lists which layer performs each function that several could.
	// +optional
	// +listType=map
	// +listMapKey=concern
	// +kubebuilder:validation:MaxItems=64
	Layers []LayerDuty `json:"layers,omitempty"`
}

// ObservedCephCheck is one health check that Ceph raises. Its text is in the status of
// the CephCluster, because it counts seconds and objects.
type ObservedCephCheck struct {
	// name is the name of the check, as OSD_NEARFULL.
	// +required
	// +kubebuilder:validation:MaxLength=128
	Name string `json:"name,omitempty"`
	// severity is HEALTH_WARN or HEALTH_ERR.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Severity string `json:"severity,omitempty"`
	// verdict is Accepted (volumes are provisioned), Waits (none until it clears, which
	// it can without action) or NeedsPerson (none until an administrator acts).
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Verdict string `json:"verdict,omitempty"`
}

// CephCopies counts the copies of each byte of one database.
type CephCopies struct {
	// cluster is namespace/name; empty for the example.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Cluster string `json:"cluster,omitempty"`
	// instances counts the Postgres instances, each with a volume of its own.
	// +optional
	Instances int32 `json:"instances,omitempty"`
	// formula is the calculation in words.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Formula string `json:"formula,omitempty"`
	// rawPerByte is how many bytes the disks hold for each byte of the database, as a
	// decimal number.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	RawPerByte string `json:"rawPerByte,omitempty"`
}

// LayerAmplification is what one layer adds to a write.
type LayerAmplification struct {
	// layer is Postgres, RBD, OSD, Zvol or Pool.
	// +required
	// +kubebuilder:validation:MaxLength=128
	Layer string `json:"layer,omitempty"`
	// factor is the amplification of this layer, as a decimal number.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Factor string `json:"factor,omitempty"`
	// total is the product down to this layer, as a decimal number.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Total string `json:"total,omitempty"`
	// formula is the calculation of factor, with its limits.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Formula string `json:"formula,omitempty"`
}

// CephLoss is the effect of one failure on the data of a volume.
type CephLoss struct {
	// event is OSDLoss, NodeLoss, TwoNodesLoss or DiskLoss.
	// +required
	// +kubebuilder:validation:MaxLength=128
	Event string `json:"event,omitempty"`
	// data is Kept, Unavailable (until the failed part returns) or Lost.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Data string `json:"data,omitempty"`
	// detail explains the effect.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Detail string `json:"detail,omitempty"`
}

// LayerDuty is one function and the layer that performs it.
type LayerDuty struct {
	// concern is one of checksums, compression, caching, redundancy, snapshots.
	// +required
	// +kubebuilder:validation:MaxLength=128
	Concern string `json:"concern,omitempty"`
	// layer is the layer that performs it.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Layer string `json:"layer,omitempty"`
	// reason explains the choice.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason,omitempty"`
}
