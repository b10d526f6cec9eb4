package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ProfileType is the discriminator of the profile union.
// +kubebuilder:validation:Enum=External;ZFSLocalPV;S3NBD;CephRBD;Memory
type ProfileType string

const (
	// ProfileTypeExternal uses a StorageClass that exists already.
	ProfileTypeExternal ProfileType = "External"
	// ProfileTypeZFSLocalPV makes pools, datasets and StorageClasses of OpenEBS
	// zfs-localpv on the nodes' own devices.
	ProfileTypeZFSLocalPV ProfileType = "ZFSLocalPV"
	// ProfileTypeS3NBD makes ZFS pools on network block devices that ZeroFS keeps in
	// S3 buckets.
	ProfileTypeS3NBD ProfileType = "S3NBD"
	// ProfileTypeCephRBD makes volumes of a Ceph cluster that Rook runs.
	ProfileTypeCephRBD ProfileType = "CephRBD"
	// ProfileTypeMemory makes volumes in the memory of nodes, which a boot loses.
	ProfileTypeMemory ProfileType = "Memory"
)

// PgStorageProfileSpec declares how one kind of storage is provisioned and tuned. It
// has no settings of Postgres. Exactly the member named by type is set.
// +union
// +kubebuilder:validation:XValidation:rule="self.type != 'ZFSLocalPV' || has(self.zfsLocalPV)",message="spec.zfsLocalPV is missing, but spec.type is ZFSLocalPV; set spec.zfsLocalPV.pool.name to the pool",reason=FieldValueRequired,fieldPath=".zfsLocalPV"
// +kubebuilder:validation:XValidation:rule="self.type == 'ZFSLocalPV' || !has(self.zfsLocalPV)",message="spec.zfsLocalPV is set, but spec.type is another; remove it, or set spec.type to ZFSLocalPV",reason=FieldValueForbidden,fieldPath=".zfsLocalPV"
// +kubebuilder:validation:XValidation:rule="self.type == 'External' || !has(self.external)",message="spec.external is set, but spec.type is another; remove it, or set spec.type to External",reason=FieldValueForbidden,fieldPath=".external"
// +kubebuilder:validation:XValidation:rule="self.type != 'S3NBD' || has(self.s3NBD)",message="spec.s3NBD is missing, but spec.type is S3NBD; set spec.s3NBD.stores to the bucket",reason=FieldValueRequired,fieldPath=".s3NBD"
// +kubebuilder:validation:XValidation:rule="self.type == 'S3NBD' || !has(self.s3NBD)",message="spec.s3NBD is set, but spec.type is another; remove it, or set spec.type to S3NBD",reason=FieldValueForbidden,fieldPath=".s3NBD"
// +kubebuilder:validation:XValidation:rule="self.type != 'CephRBD' || has(self.cephRBD)",message="spec.cephRBD is missing, but spec.type is CephRBD; set spec.cephRBD.cluster, or spec.cephRBD.external: true",reason=FieldValueRequired,fieldPath=".cephRBD"
// +kubebuilder:validation:XValidation:rule="self.type == 'CephRBD' || !has(self.cephRBD)",message="spec.cephRBD is set, but spec.type is another; remove it, or set spec.type to CephRBD",reason=FieldValueForbidden,fieldPath=".cephRBD"
// +kubebuilder:validation:XValidation:rule="self.type != 'Memory' || has(self.memory)",message="spec.memory is missing, but spec.type is Memory; set spec.memory.maxPerNode to the memory that volumes may take of a node",reason=FieldValueRequired,fieldPath=".memory"
// +kubebuilder:validation:XValidation:rule="self.type == 'Memory' || !has(self.memory)",message="spec.memory is set, but spec.type is another; remove it, or set spec.type to Memory",reason=FieldValueForbidden,fieldPath=".memory"
// +kubebuilder:validation:XValidation:rule="!has(self.cephRBD) || !has(self.cephRBD.cluster) || !has(self.cephRBD.cluster.backing.zfs) || has(self.nodeSelector)",message="spec.nodeSelector is missing, but spec.cephRBD.cluster.backing.zfs creates pools on nodes; name a label of the nodes whose disks may be used, such as pgstorage.dev/pool: tank",reason=FieldValueRequired,fieldPath=".nodeSelector"
// +kubebuilder:validation:XValidation:rule="!has(self.cephRBD) || !has(self.nodeSelector) || (has(self.cephRBD.cluster) && !has(self.cephRBD.cluster.backing.devices))",message="spec.nodeSelector selects nodes for OSDs on claims; an external CephCluster has its own, and backing.devices names them; remove it",reason=FieldValueForbidden,fieldPath=".nodeSelector"
// +kubebuilder:validation:XValidation:rule="!(self.type in ['ZFSLocalPV', 'S3NBD', 'Memory']) || has(self.nodeSelector)",message="spec.nodeSelector is missing, but spec.type provisions storage on nodes; name a label of the nodes whose disks or memory may be used, such as pgstorage.dev/pool: tank",reason=FieldValueRequired,fieldPath=".nodeSelector"
// +kubebuilder:validation:XValidation:rule="self.type in ['ZFSLocalPV', 'S3NBD', 'CephRBD', 'Memory'] || !has(self.nodeSelector)",message="spec.nodeSelector selects nodes whose storage the operator provisions, and spec.type External provisions none; remove it",reason=FieldValueForbidden,fieldPath=".nodeSelector"
// +kubebuilder:validation:XValidation:rule="self.type != 'External' || has(self.external)",message="spec.external is missing, but spec.type is External; set spec.external.storageClassName to an existing StorageClass",reason=FieldValueRequired,fieldPath=".external"
// +kubebuilder:validation:XValidation:rule="!has(self.branches) || !has(self.branches.maxSpacePerNamespace) || self.type in ['ZFSLocalPV', 'S3NBD']",message="spec.branches.maxSpacePerNamespace needs agents that read volumes back, which types ZFSLocalPV and S3NBD have; remove it",fieldPath=".branches"
type PgStorageProfileSpec struct {
	// type selects the kind of storage and the member of this spec that must be set.
	// External: existing StorageClasses (spec.external). ZFSLocalPV: ZFS pools on the
	// nodes' own devices (spec.zfsLocalPV). S3NBD: ZFS pools on network block devices
	// in S3 buckets (spec.s3NBD); experimental, and rejected unless the manager runs
	// with --feature-gates=S3NBD=true. CephRBD: block devices of a Ceph cluster that
	// Rook runs (spec.cephRBD); experimental, and rejected unless the manager runs with
	// --feature-gates=CephRBD=true. Memory: volumes in the memory of nodes (spec.memory);
	// experimental, and rejected unless the manager runs with --feature-gates=Memory=true.
	// Immutable: create another profile and a new cluster on it.
	// +unionDiscriminator
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.type is immutable because existing volumes cannot change their kind; create another PgStorageProfile"
	Type ProfileType `json:"type,omitempty"`

	// nodeSelector selects, by labels, the nodes whose storage the operator provisions;
	// for CephRBD, the nodes of OSDs on claims. A node that loses its labels keeps its
	// pool and its volumes, and gets no new volumes. Valid: 1 to 8 labels.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && size(self[k]) <= 63)",message="spec.nodeSelector: names of labels have at most 317 characters, values at most 63"
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// allowedOverrides lists further fields of CloudNativePG's ClusterSpec that
	// PgStorageClusters on this profile may set in spec.cnpg.spec, in every namespace;
	// docs/spec/pgstoragecluster.md explains what each grants. An entry is the path of
	// a field with dots, without indexes of lists and keys of maps, and allows
	// everything below it: managed.roles.superuser, securityContext. There are no
	// wildcards. imageName allows spec.postgres.image of any repository. Fields that
	// this operator sets stay rejected. Valid: at most 64 entries of at most 128
	// characters. Default: none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.all(p, p.matches('^[A-Za-z_]+([.][A-Za-z_]+)*$') && ['affinity.additionalPodAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution.podAffinityTerm.namespaceSelector', 'affinity.additionalPodAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution.podAffinityTerm.namespaces', 'affinity.additionalPodAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.namespaceSelector', 'affinity.additionalPodAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.namespaces', 'affinity.tolerations', 'backup.barmanObjectStore', 'backup.volumeSnapshot.annotations', 'backup.volumeSnapshot.labels', 'bootstrap.initdb.import', 'bootstrap.initdb.postInitApplicationSQL', 'bootstrap.initdb.postInitApplicationSQLRefs', 'bootstrap.initdb.postInitSQL', 'bootstrap.initdb.postInitSQLRefs', 'bootstrap.initdb.postInitTemplateSQL', 'bootstrap.initdb.postInitTemplateSQLRefs', 'bootstrap.pg_basebackup', 'bootstrap.recovery', 'certificates', 'enableSuperuserAccess', 'env', 'envFrom', 'ephemeralVolumeSource', 'externalClusters', 'imageCatalogRef', 'imageName', 'imagePullSecrets', 'inheritedMetadata', 'managed.roles.bypassrls', 'managed.roles.createrole', 'managed.roles.inRoles', 'managed.roles.name', 'managed.roles.replication', 'managed.roles.superuser', 'managed.services.additional.serviceTemplate', 'monitoring.customQueriesSecret', 'monitoring.disableDefaultQueries', 'monitoring.metricsQueriesTTL', 'plugins', 'podSecurityContext', 'postgresGID', 'postgresUID', 'postgresql.extensions', 'postgresql.ldap', 'postgresql.pg_hba', 'postgresql.pg_ident', 'postgresql.shared_preload_libraries', 'primaryLease', 'priorityClassName', 'probes.liveness.isolationCheck', 'projectedVolumeTemplate', 'schedulerName', 'seccompProfile', 'securityContext', 'serviceAccountName', 'serviceAccountTemplate', 'storage.pvcTemplate.dataSource', 'storage.pvcTemplate.dataSourceRef', 'storage.pvcTemplate.selector', 'storage.pvcTemplate.volumeAttributesClassName', 'storage.pvcTemplate.volumeName', 'superuserSecret', 'tablespaces', 'walStorage.pvcTemplate.dataSource', 'walStorage.pvcTemplate.dataSourceRef', 'walStorage.pvcTemplate.selector', 'walStorage.pvcTemplate.volumeAttributesClassName', 'walStorage.pvcTemplate.volumeName'].exists(f, p == f || p.startsWith(f + '.') || f.startsWith(p + '.')))",message="spec.allowedOverrides: an entry is the path of a field that needs consent, a field above or one below, as securityContext or managed.roles.superuser, without indexes or wildcards; docs/spec/pgstoragecluster.md lists them"
	AllowedOverrides []string `json:"allowedOverrides,omitempty"`

	// instanceProbes give instances on this storage more time before kubelet restarts
	// them. It applies to PgStorageClusters with defaults: pgstorage; what a cluster sets
	// in spec.cnpg.spec (probes, startDelay, livenessProbeTimeout) has priority. Default: CloudNativePG's probes.
	// +optional
	InstanceProbes *InstanceProbes `json:"instanceProbes,omitempty"`

	// branches limits the PgStorageBranches whose volumes are on this storage. Default: there
	// are no limits; a ResourceQuota can limit count/pgstoragebranches.pgstorage.dev too.
	// +optional
	Branches *BranchLimits `json:"branches,omitempty"`

	// zfsLocalPV sets ZFS on the nodes' own devices.
	// +optional
	ZFSLocalPV *ZFSLocalPVProfile `json:"zfsLocalPV,omitempty"`

	// s3NBD sets ZFS on network block devices whose contents live in S3 buckets.
	// +optional
	S3NBD *S3NBDProfile `json:"s3NBD,omitempty"`

	// cephRBD sets block devices of a Ceph cluster that Rook runs.
	// +optional
	CephRBD *CephRBDProfile `json:"cephRBD,omitempty"`

	// memory sets volumes in the memory of nodes, for read pools and for clusters of
	// durability Ephemeral.
	// +optional
	Memory *MemoryProfile `json:"memory,omitempty"`

	// external selects existing StorageClasses: a cloud volume, local-path, or any
	// other. The operator creates nothing for it; it verifies that the classes exist
	// and reports what they offer.
	// +optional
	External *ExternalProfile `json:"external,omitempty"`
}

// BranchLimits limit the PgStorageBranches of each namespace. A branch beyond them waits until
// others are gone. Promoted branches do not count.
// +kubebuilder:validation:XValidation:rule="has(self.maxPerNamespace) || has(self.maxSpacePerNamespace)",message="spec.branches limits nothing; set maxPerNamespace or maxSpacePerNamespace, or remove it"
type BranchLimits struct {
	// maxPerNamespace limits the number of branches. Valid: 1 to 1000. Default: no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxPerNamespace *int32 `json:"maxPerNamespace,omitempty"`

	// maxSpacePerNamespace limits what branches take for themselves. While the existing ones
	// take as much, no other is made; it does not stop those from growing. Only for types
	// whose agents read volumes back: ZFSLocalPV and S3NBD. Default: no limit.
	// +optional
	// +kubebuilder:validation:XValidation:rule="isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('1Mi')) >= 0",message="spec.branches.maxSpacePerNamespace must be a quantity of at least 1Mi, as 50Gi"
	MaxSpacePerNamespace *resource.Quantity `json:"maxSpacePerNamespace,omitempty"`
}

// PgStorageProfileStatus is the observed state of the storage.
type PgStorageProfileStatus struct {
	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Ready, Reconciling, Stalled and StorageReady. Types that provision
	// storage on nodes add NodesReady, DriverReady and MemoryBudget. S3NBD adds
	// ServersReady. CephRBD adds CephReady, BlockPoolReady, BackingVerified and
	// FailuresIndependent.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// storageClasses lists the StorageClasses of this profile, as read from the API
	// server.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	StorageClasses []ObservedStorageClass `json:"storageClasses,omitempty"`

	// nodes lists the state of each selected node.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=5000
	Nodes []ProfileNode `json:"nodes,omitempty"`

	// pools lists the pools that nodes had under this profile. An entry outlives the
	// Node and its PgNodeStorage, so that deleting an object never creates a second
	// pool. It changes only after its GUID is listed in pool.abandonedGUIDs.
	// +optional
	// +listType=map
	// +listMapKey=node
	// +kubebuilder:validation:MaxItems=2048
	Pools []ProfilePool `json:"pools,omitempty"`

	// flushLatency is the median over the nodes of the recent duration of a flush to
	// the buckets, which approximates how long a commit waits. The commit_delay of
	// clusters follows from it. It is updated when it changes by more than half, and
	// ignores nodes whose devices are not attached.
	// +optional
	// +kubebuilder:validation:XValidation:rule="size(self) <= 32 && self.matches('^([0-9]+([.][0-9]+)?(h|m|s|ms|us|µs|ns))+$')",message="flushLatency must be a duration, as 12.5ms"
	FlushLatency *metav1.Duration `json:"flushLatency,omitempty"`

	// estimatedMonthlyStorage of S3NBD is the sum over its nodes: the storage billed
	// for a month if the pools stay as they are.
	// +optional
	EstimatedMonthlyStorage *resource.Quantity `json:"estimatedMonthlyStorage,omitempty"`

	// ceph is the observed state of the Ceph cluster, and what its layout implies.
	// +optional
	Ceph *ProfileCeph `json:"ceph,omitempty"`

	// clusters counts the PgStorageClusters that use this profile. The profile cannot
	// be deleted while it is above 0.
	// +optional
	Clusters *int32 `json:"clusters,omitempty"`
}

// ProfilePool is the pool that a node had under a profile.
type ProfilePool struct {
	// node is the node that had the pool.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`
	// guid identifies the pool.
	// +required
	GUID PoolGUID `json:"guid,omitempty"`
}

// ProfileNode is the state of one node of a profile.
type ProfileNode struct {
	// name is the name of the node.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// ready is True when volumes can be provisioned there, otherwise False.
	// +optional
	// +kubebuilder:validation:Enum=True;False;Unknown
	Ready metav1.ConditionStatus `json:"ready,omitempty"`
	// message describes what the node lacks.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message,omitempty"`
}

// ObservedStorageClass is what the operator read from a StorageClass.
type ObservedStorageClass struct {
	// name is the name of the StorageClass.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// provisioner is the driver that provisions the volumes.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Provisioner string `json:"provisioner,omitempty"`
	// reclaimPolicy is Delete (a volume's data is deleted with its claim) or Retain.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ReclaimPolicy string `json:"reclaimPolicy,omitempty"`
	// volumeBindingMode is WaitForFirstConsumer or Immediate.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	VolumeBindingMode string `json:"volumeBindingMode,omitempty"`
	// expansion is Allowed when volumes can grow, otherwise NotAllowed.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Expansion string `json:"expansion,omitempty"`
}

// PgStorageProfile declares how one kind of storage is provisioned and tuned. The
// platform team writes it, and any number of PgStorageClusters use it.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=pgsp,categories=pgstorage
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Class",type=string,JSONPath=`.status.storageClasses[0].name`
// +kubebuilder:printcolumn:name="Clusters",type=integer,JSONPath=`.status.clusters`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type PgStorageProfile struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec declares the storage.
	// +required
	Spec PgStorageProfileSpec `json:"spec,omitzero"`
	// status is the observed state of the storage.
	// +optional
	Status PgStorageProfileStatus `json:"status,omitzero"`
}

// PgStorageProfileList is a list of PgStorageProfiles.
// +kubebuilder:object:root=true
type PgStorageProfileList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []PgStorageProfile `json:"items"`
}
