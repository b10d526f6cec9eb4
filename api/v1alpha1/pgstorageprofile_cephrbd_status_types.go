package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// ProfileCeph is what was found of the Ceph cluster of a profile, and what follows
// from its layout before it is paid for.
type ProfileCeph struct {
	// clusterUID of the CephCluster that the profile made, once it had an OSD. Where it
	// is deleted by hand, no other is made by itself.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ClusterUID string `json:"clusterUID,omitempty"`

	// health as Ceph says: HEALTH_OK, HEALTH_WARN or HEALTH_ERR.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Health string `json:"health,omitempty"`

	// checks that Ceph raises now, and what the operator makes of each.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	Checks []ObservedCephCheck `json:"checks,omitempty"`

	// osds counts the OSDs that exist, and osdsUp those that run.
	// +optional
	OSDs *int32 `json:"osds,omitempty"`
	// osdsUp counts the OSDs whose pods are ready.
	// +optional
	OSDsUp *int32 `json:"osdsUp,omitempty"`
	// osdHosts are the nodes that have an OSD that runs.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=1024
	// +kubebuilder:validation:items:MaxLength=253
	OSDHosts []string `json:"osdHosts,omitempty"`

	// usable is how much volumes can hold before Ceph warns that it is nearly full,
	// with a failure domain's worth kept free for its own loss where that is possible.
	// +optional
	Usable *resource.Quantity `json:"usable,omitempty"`
	// usableFormula is the calculation of usable.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	UsableFormula string `json:"usableFormula,omitempty"`

	// copies of each byte of a database, by the clusters that use the profile, and of
	// a database of three instances where none does.
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

	// losses says what takes the data of one volume.
	// +optional
	// +listType=map
	// +listMapKey=event
	// +kubebuilder:validation:MaxItems=32
	Losses []CephLoss `json:"losses,omitempty"`

	// layers says which layer does what more than one could.
	// +optional
	// +listType=map
	// +listMapKey=concern
	// +kubebuilder:validation:MaxItems=64
	Layers []LayerDuty `json:"layers,omitempty"`
}

// ObservedCephCheck is one health check that Ceph raises. Ceph's own words for it are
// in the status of the CephCluster: they count seconds and objects.
type ObservedCephCheck struct {
	// name of the check, such as OSD_NEARFULL.
	// +required
	// +kubebuilder:validation:MaxLength=128
	Name string `json:"name,omitempty"`
	// severity: HEALTH_WARN or HEALTH_ERR.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Severity string `json:"severity,omitempty"`
	// verdict: Accepted (volumes are made), Waits (none until it is gone; it can go by
	// itself) or NeedsPerson (none until somebody acts).
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Verdict string `json:"verdict,omitempty"`
}

// CephCopies counts the copies of each byte of one database.
type CephCopies struct {
	// cluster as namespace/name; empty for the example.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Cluster string `json:"cluster,omitempty"`
	// instances of Postgres, each with a volume of its own.
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
	// layer: Postgres, RBD, OSD, Zvol, Pool.
	// +required
	// +kubebuilder:validation:MaxLength=128
	Layer string `json:"layer,omitempty"`
	// factor of this layer, as a decimal number.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Factor string `json:"factor,omitempty"`
	// total down to this layer, as a decimal number.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Total string `json:"total,omitempty"`
	// formula is the calculation of factor, with what it leaves out.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Formula string `json:"formula,omitempty"`
}

// CephLoss says what one event does to the data of a volume.
type CephLoss struct {
	// event: OSDLoss, NodeLoss, TwoNodesLoss, DiskLoss.
	// +required
	// +kubebuilder:validation:MaxLength=128
	Event string `json:"event,omitempty"`
	// data: Kept, Unavailable (until what is away returns) or Lost.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Data string `json:"data,omitempty"`
	// detail says why.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Detail string `json:"detail,omitempty"`
}

// LayerDuty is one concern and the layer that it is left to.
type LayerDuty struct {
	// concern: checksums, compression, caching, redundancy, snapshots.
	// +required
	// +kubebuilder:validation:MaxLength=128
	Concern string `json:"concern,omitempty"`
	// layer that does it.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Layer string `json:"layer,omitempty"`
	// reason why.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason,omitempty"`
}
