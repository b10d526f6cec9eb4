package rook

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

// CephCluster is a Ceph cluster that Rook runs.
type CephCluster struct {
	Object `json:",inline"`

	Spec ClusterSpec `json:"spec"`
}

// NewCephCluster without a spec.
func NewCephCluster(namespace, name string, labels map[string]string) *CephCluster {
	return &CephCluster{Object: object("CephCluster", namespace, name, labels)}
}

// ClusterSpec declares a CephCluster. cleanupPolicy is not here: its confirmation
// has Rook wipe disks, which the operator never asks for.
type ClusterSpec struct {
	CephVersion     *CephVersion `json:"cephVersion,omitempty"`
	DataDirHostPath string       `json:"dataDirHostPath,omitempty"`
	Mon             *Mon         `json:"mon,omitempty"`
	Mgr             *Mgr         `json:"mgr,omitempty"`
	Dashboard       *Dashboard   `json:"dashboard,omitempty"`
	Monitoring      *Monitoring  `json:"monitoring,omitempty"`
	// CephConfig by daemon and option.
	CephConfig map[string]map[string]string `json:"cephConfig,omitempty"`
	// Resources by daemon; those of OSDs on claims are their set's.
	Resources            map[string]*corev1ac.ResourceRequirementsApplyConfiguration `json:"resources,omitempty"`
	PriorityClassNames   map[string]string                                           `json:"priorityClassNames,omitempty"`
	DisruptionManagement *DisruptionManagement                                       `json:"disruptionManagement,omitempty"`
	HealthCheck          *HealthCheck                                                `json:"healthCheck,omitempty"`
	Storage              *Storage                                                    `json:"storage,omitempty"`
}

// HealthCheck is how often Rook asks Ceph.
type HealthCheck struct {
	DaemonHealth *DaemonHealth `json:"daemonHealth,omitempty"`
}

// DaemonHealth has the check of Ceph's status.
type DaemonHealth struct {
	Status *StatusCheck `json:"status,omitempty"`
}

// StatusCheck of a CephCluster. Interval is a duration, 60s by Rook's default.
type StatusCheck struct {
	Interval string `json:"interval,omitempty"`
}

// CephVersion is the image of Ceph.
type CephVersion struct {
	Image            string `json:"image,omitempty"`
	AllowUnsupported *bool  `json:"allowUnsupported,omitempty"`
}

// Mon settings.
type Mon struct {
	Count                *int32       `json:"count,omitempty"`
	AllowMultiplePerNode *bool        `json:"allowMultiplePerNode,omitempty"`
	VolumeClaimTemplate  *VolumeClaim `json:"volumeClaimTemplate,omitempty"`
}

// Mgr settings.
type Mgr struct {
	Count                *int32   `json:"count,omitempty"`
	AllowMultiplePerNode *bool    `json:"allowMultiplePerNode,omitempty"`
	Modules              []Module `json:"modules,omitempty"`
}

// Module of the mgr.
type Module struct {
	Name    string `json:"name,omitempty"`
	Enabled *bool  `json:"enabled,omitempty"`
}

// Dashboard of Ceph.
type Dashboard struct {
	Enabled *bool `json:"enabled,omitempty"`
	SSL     *bool `json:"ssl,omitempty"`
}

// Monitoring by ServiceMonitors.
type Monitoring struct {
	Enabled *bool `json:"enabled,omitempty"`
}

// DisruptionManagement by PodDisruptionBudgets.
type DisruptionManagement struct {
	ManagePodBudgets *bool `json:"managePodBudgets,omitempty"`
}

// Storage is where OSDs are made.
type Storage struct {
	UseAllNodes               *bool             `json:"useAllNodes,omitempty"`
	UseAllDevices             *bool             `json:"useAllDevices,omitempty"`
	AllowOSDCrushWeightUpdate *bool             `json:"allowOsdCrushWeightUpdate,omitempty"`
	Config                    map[string]string `json:"config,omitempty"`
	Nodes                     []Node            `json:"nodes,omitempty"`
	DeviceSets                []DeviceSet       `json:"storageClassDeviceSets,omitempty"`
}

// Node with devices for OSDs.
type Node struct {
	Name    string   `json:"name,omitempty"`
	Devices []Device `json:"devices,omitempty"`
}

// Device of a node, by its name or path.
type Device struct {
	Name string `json:"name,omitempty"`
}

// DeviceSet is OSDs on claims. Rook gives Placement to the OSDs, and to the jobs that
// prepare them where PreparePlacement is unset.
type DeviceSet struct {
	Name             string                                           `json:"name,omitempty"`
	Count            *int32                                           `json:"count,omitempty"`
	Portable         *bool                                            `json:"portable,omitempty"`
	Encrypted        *bool                                            `json:"encrypted,omitempty"`
	TuneSlow         *bool                                            `json:"tuneDeviceClass,omitempty"`
	TuneFast         *bool                                            `json:"tuneFastDeviceClass,omitempty"`
	Resources        *corev1ac.ResourceRequirementsApplyConfiguration `json:"resources,omitempty"`
	Placement        *Placement                                       `json:"placement,omitempty"`
	PreparePlacement *Placement                                       `json:"preparePlacement,omitempty"`
	Claims           []VolumeClaim                                    `json:"volumeClaimTemplates,omitempty"`
}

// Placement of daemons.
type Placement struct {
	NodeAffinity              *corev1ac.NodeAffinityApplyConfiguration              `json:"nodeAffinity,omitempty"`
	TopologySpreadConstraints []corev1ac.TopologySpreadConstraintApplyConfiguration `json:"topologySpreadConstraints,omitempty"`
}

// VolumeClaim is a template of claims.
type VolumeClaim struct {
	Metadata *ClaimMetadata                                        `json:"metadata,omitempty"`
	Spec     *corev1ac.PersistentVolumeClaimSpecApplyConfiguration `json:"spec,omitempty"`
}

// ClaimMetadata of a template, from which Rook reads what the claim is for.
type ClaimMetadata struct {
	Name        string            `json:"name,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}
