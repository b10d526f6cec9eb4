package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ProfileType is the discriminator of the profile union.
// +kubebuilder:validation:Enum=External;ZFSLocalPV;S3NBD;CephRBD
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
)

// PgStorageProfileSpec says how one kind of storage is made and tuned. It says
// nothing about Postgres. Exactly the member named by type is set.
// +union
// +kubebuilder:validation:XValidation:rule="self.type != 'ZFSLocalPV' || has(self.zfsLocalPV)",message="spec.zfsLocalPV: missing although spec.type is ZFSLocalPV; set spec.zfsLocalPV.pool.name to the pool",reason=FieldValueRequired,fieldPath=".zfsLocalPV"
// +kubebuilder:validation:XValidation:rule="self.type == 'ZFSLocalPV' || !has(self.zfsLocalPV)",message="spec.zfsLocalPV is set although spec.type is another; remove it, or set spec.type to ZFSLocalPV",reason=FieldValueForbidden,fieldPath=".zfsLocalPV"
// +kubebuilder:validation:XValidation:rule="self.type == 'External' || !has(self.external)",message="spec.external is set although spec.type is another; remove it, or set spec.type to External",reason=FieldValueForbidden,fieldPath=".external"
// +kubebuilder:validation:XValidation:rule="self.type != 'S3NBD' || has(self.s3NBD)",message="spec.s3NBD: missing although spec.type is S3NBD; set spec.s3NBD.stores to the bucket",reason=FieldValueRequired,fieldPath=".s3NBD"
// +kubebuilder:validation:XValidation:rule="self.type == 'S3NBD' || !has(self.s3NBD)",message="spec.s3NBD is set although spec.type is another; remove it, or set spec.type to S3NBD",reason=FieldValueForbidden,fieldPath=".s3NBD"
// +kubebuilder:validation:XValidation:rule="self.type != 'CephRBD' || has(self.cephRBD)",message="spec.cephRBD: missing although spec.type is CephRBD; set spec.cephRBD.cluster, or spec.cephRBD.external: true",reason=FieldValueRequired,fieldPath=".cephRBD"
// +kubebuilder:validation:XValidation:rule="self.type == 'CephRBD' || !has(self.cephRBD)",message="spec.cephRBD is set although spec.type is another; remove it, or set spec.type to CephRBD",reason=FieldValueForbidden,fieldPath=".cephRBD"
// +kubebuilder:validation:XValidation:rule="!has(self.cephRBD) || !has(self.cephRBD.cluster) || !has(self.cephRBD.cluster.backing.zfs) || has(self.nodeSelector)",message="spec.nodeSelector: missing although spec.cephRBD.cluster.backing.zfs makes pools on nodes; name a label of the nodes whose disks may be used, such as pgstorage.dev/pool: tank",reason=FieldValueRequired,fieldPath=".nodeSelector"
// +kubebuilder:validation:XValidation:rule="!has(self.cephRBD) || !has(self.nodeSelector) || (has(self.cephRBD.cluster) && !has(self.cephRBD.cluster.backing.devices))",message="spec.nodeSelector chooses nodes for OSDs on claims; an external CephCluster has its own, and backing.devices names them: remove it",reason=FieldValueForbidden,fieldPath=".nodeSelector"
// +kubebuilder:validation:XValidation:rule="!(self.type in ['ZFSLocalPV', 'S3NBD']) || has(self.nodeSelector)",message="spec.nodeSelector: missing although spec.type makes storage on nodes; name a label of the nodes whose disks may be used, such as pgstorage.dev/pool: tank",reason=FieldValueRequired,fieldPath=".nodeSelector"
// +kubebuilder:validation:XValidation:rule="self.type in ['ZFSLocalPV', 'S3NBD', 'CephRBD'] || !has(self.nodeSelector)",message="spec.nodeSelector chooses nodes whose storage the operator makes; spec.type External makes none: remove it",reason=FieldValueForbidden,fieldPath=".nodeSelector"
// +kubebuilder:validation:XValidation:rule="self.type != 'External' || has(self.external)",message="spec.external: missing although spec.type is External; set spec.external.storageClassName to an existing StorageClass",reason=FieldValueRequired,fieldPath=".external"
type PgStorageProfileSpec struct {
	// type chooses the kind of storage and with it the member of this spec that
	// must be set. External: an existing StorageClass (spec.external). ZFSLocalPV:
	// ZFS pools on the nodes' own devices (spec.zfsLocalPV). S3NBD: ZFS pools on
	// network block devices that live in S3 buckets (spec.s3NBD); experimental, and
	// refused unless the manager has --feature-gates=S3NBD=true. CephRBD: block devices
	// of a Ceph cluster that Rook runs (spec.cephRBD); experimental, and refused unless
	// the manager has --feature-gates=CephRBD=true.
	// Immutable: volumes that exist cannot change their kind; make another
	// profile and a new cluster on it.
	// +unionDiscriminator
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.type is immutable because existing volumes cannot change their kind; create another PgStorageProfile"
	Type ProfileType `json:"type,omitempty"`

	// nodeSelector chooses, by labels, the nodes whose storage the operator makes, and
	// of CephRBD those that OSDs on claims run on.
	// A node that loses its labels keeps its pool and its volumes; no new volumes
	// are made there. Bounds: 1 to 8 labels.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && size(self[k]) <= 63)",message="spec.nodeSelector: names of labels have at most 317 characters, values at most 63"
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// allowedOverrides are fields of CloudNativePG's ClusterSpec that authors of
	// PgStorageClusters on this profile may set in spec.cnpg.spec besides those that are
	// open to everybody; docs/spec/pgstoragecluster.md says what each gives away. An entry
	// is the names of a field's path with dots, without the indexes of lists and the keys
	// of maps, and allows that field and everything below it: managed.roles.superuser,
	// securityContext. There are no wildcards. imageName allows spec.postgres.image of any
	// repository. It holds for every namespace. Fields that this operator sets itself stay
	// refused. Default: none. Bounds: at most 64 entries of at most 128 characters.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.all(p, p.matches('^[A-Za-z_]+([.][A-Za-z_]+)*$') && ['affinity.additionalPodAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution.podAffinityTerm.namespaceSelector', 'affinity.additionalPodAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution.podAffinityTerm.namespaces', 'affinity.additionalPodAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.namespaceSelector', 'affinity.additionalPodAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.namespaces', 'affinity.tolerations', 'backup.barmanObjectStore', 'backup.volumeSnapshot.annotations', 'backup.volumeSnapshot.labels', 'bootstrap.initdb.import', 'bootstrap.initdb.postInitApplicationSQL', 'bootstrap.initdb.postInitApplicationSQLRefs', 'bootstrap.initdb.postInitSQL', 'bootstrap.initdb.postInitSQLRefs', 'bootstrap.initdb.postInitTemplateSQL', 'bootstrap.initdb.postInitTemplateSQLRefs', 'bootstrap.pg_basebackup', 'bootstrap.recovery', 'certificates', 'enableSuperuserAccess', 'ephemeralVolumeSource', 'externalClusters', 'imageName', 'imagePullSecrets', 'inheritedMetadata', 'managed.roles.bypassrls', 'managed.roles.createrole', 'managed.roles.inRoles', 'managed.roles.name', 'managed.roles.replication', 'managed.roles.superuser', 'managed.services.additional.serviceTemplate', 'monitoring.customQueriesSecret', 'monitoring.disableDefaultQueries', 'monitoring.metricsQueriesTTL', 'plugins', 'podSecurityContext', 'postgresGID', 'postgresUID', 'postgresql.extensions', 'postgresql.ldap', 'postgresql.pg_hba', 'postgresql.pg_ident', 'postgresql.shared_preload_libraries', 'primaryLease', 'priorityClassName', 'probes.liveness.isolationCheck', 'projectedVolumeTemplate', 'schedulerName', 'seccompProfile', 'securityContext', 'serviceAccountName', 'serviceAccountTemplate', 'superuserSecret', 'tablespaces'].exists(f, p == f || p.startsWith(f + '.') || f.startsWith(p + '.')))",message="spec.allowedOverrides: an entry is the path of a field that needs consent, a field above or one below, as securityContext or managed.roles.superuser, without indexes or wildcards; docs/spec/pgstoragecluster.md lists them"
	AllowedOverrides []string `json:"allowedOverrides,omitempty"`

	// zfsLocalPV is ZFS on the nodes' own devices.
	// +optional
	ZFSLocalPV *ZFSLocalPVProfile `json:"zfsLocalPV,omitempty"`

	// s3NBD is ZFS on network block devices that live in S3 buckets.
	// +optional
	S3NBD *S3NBDProfile `json:"s3NBD,omitempty"`

	// cephRBD is block devices of a Ceph cluster that Rook runs.
	// +optional
	CephRBD *CephRBDProfile `json:"cephRBD,omitempty"`

	// external names StorageClasses that exist already: a cloud volume,
	// local-path, or any other. The operator creates nothing for it; it checks
	// that the classes exist and reports what they offer.
	// +optional
	External *ExternalProfile `json:"external,omitempty"`
}

// PgStorageProfileStatus is what the operator found about the storage.
type PgStorageProfileStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions: Ready, Reconciling, Stalled, StorageReady; of types that make
	// storage on nodes also NodesReady, DriverReady and MemoryBudget; of S3NBD also
	// ServersReady; of CephRBD also CephReady, BlockPoolReady, BackingVerified and
	// FailuresIndependent.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// storageClasses is what was read from the StorageClasses of this profile.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	StorageClasses []ObservedStorageClass `json:"storageClasses,omitempty"`

	// nodes is how far each selected node is.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=5000
	Nodes []ProfileNode `json:"nodes,omitempty"`

	// pools that nodes had under this profile. An entry outlives the Node and its
	// PgNodeStorage, so that a pool is never made a second time because an object was
	// deleted. It changes only after its GUID is listed in pool.abandonedGUIDs.
	// +optional
	// +listType=map
	// +listMapKey=node
	// +kubebuilder:validation:MaxItems=2048
	Pools []ProfilePool `json:"pools,omitempty"`

	// flushLatency is the median over the nodes of what a flush to the buckets took
	// lately, which is about what a commit waits; renewed when it moved by more than
	// half, and not by nodes whose devices are not attached. commit_delay of the
	// clusters follows from it.
	// +optional
	// +kubebuilder:validation:XValidation:rule="size(self) <= 32 && self.matches('^([0-9]+([.][0-9]+)?(h|m|s|ms|us|µs|ns))+$')",message="flushLatency must be a duration, as 12.5ms"
	FlushLatency *metav1.Duration `json:"flushLatency,omitempty"`

	// estimatedMonthlyStorage of S3NBD is the sum of that of its nodes: what a month is
	// billed for if the pools stay as they are.
	// +optional
	EstimatedMonthlyStorage *resource.Quantity `json:"estimatedMonthlyStorage,omitempty"`

	// ceph is what CephRBD found of the Ceph cluster, and what follows from its layout.
	// +optional
	Ceph *ProfileCeph `json:"ceph,omitempty"`

	// clusters counts the PgStorageClusters that use this profile. The profile
	// is not deleted while it is above 0.
	// +optional
	Clusters *int32 `json:"clusters,omitempty"`
}

// ProfilePool is the pool that a node had under a profile.
type ProfilePool struct {
	// node that had it.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`
	// guid of the pool.
	// +required
	GUID PoolGUID `json:"guid,omitempty"`
}

// ProfileNode is how far one node of a profile is.
type ProfileNode struct {
	// name of the node.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// ready: True when volumes can be made there, else False.
	// +optional
	// +kubebuilder:validation:Enum=True;False;Unknown
	Ready metav1.ConditionStatus `json:"ready,omitempty"`
	// message says what the node lacks.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message,omitempty"`
}

// ObservedStorageClass is what the operator read from a StorageClass.
type ObservedStorageClass struct {
	// name of the StorageClass.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// provisioner that makes the volumes.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Provisioner string `json:"provisioner,omitempty"`
	// reclaimPolicy: Delete removes a volume's data with its claim, Retain keeps it.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ReclaimPolicy string `json:"reclaimPolicy,omitempty"`
	// volumeBindingMode: WaitForFirstConsumer or Immediate.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	VolumeBindingMode string `json:"volumeBindingMode,omitempty"`
	// expansion says whether volumes can grow: Allowed or NotAllowed.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Expansion string `json:"expansion,omitempty"`
}

// PgStorageProfile says how a kind of storage is made and tuned. It is written
// by the platform team and used by any number of PgStorageClusters.
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
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the storage that is wanted.
	// +required
	Spec PgStorageProfileSpec `json:"spec,omitzero"`
	// status is what was found.
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
