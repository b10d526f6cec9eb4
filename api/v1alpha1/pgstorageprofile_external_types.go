package v1alpha1

// StorageMedium is the class of disk below a volume, in pgtune's terms
// (https://github.com/le0pard/pgtune). It selects random_page_cost and
// effective_io_concurrency.
// +kubebuilder:validation:Enum=SSD;HDD;SAN
type StorageMedium string

// The media that pgtune knows.
const (
	MediumSSD StorageMedium = "SSD"
	MediumHDD StorageMedium = "HDD"
	MediumSAN StorageMedium = "SAN"
)

// ExternalProfile selects existing StorageClasses.
// +kubebuilder:validation:XValidation:rule="has(self.walStorageClassName) == has(oldSelf.walStorageClassName)",message="spec.external.walStorageClassName is immutable because existing volumes do not move; create another PgStorageProfile"
type ExternalProfile struct {
	// storageClassName selects the StorageClass of the data volumes. Until it exists,
	// the profile is not Ready and clusters on it wait. Immutable: CloudNativePG leaves
	// existing volumes on their old class.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="spec.external.storageClassName must be the name of a StorageClass: lower case letters, digits, '-' and '.'; see kubectl get storageclass"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.external.storageClassName is immutable because existing volumes do not move; create another PgStorageProfile and a new cluster on it"
	StorageClassName string `json:"storageClassName,omitempty"`

	// walStorageClassName selects the StorageClass of the WAL volumes of clusters that
	// set storage.walSize. Default: storageClassName. Immutable.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="spec.external.walStorageClassName must be the name of a StorageClass: lower case letters, digits, '-' and '.'; see kubectl get storageclass"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.external.walStorageClassName is immutable because existing volumes do not move; create another PgStorageProfile and a new cluster on it"
	WALStorageClassName string `json:"walStorageClassName,omitempty"`

	// volumeSnapshotClassName selects the VolumeSnapshotClass by which PgStorageBranches copy
	// databases on this profile. Its driver must be that of the StorageClasses. Default: there
	// are no branches of databases on this profile, except from backups.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="spec.external.volumeSnapshotClassName must be the name of a VolumeSnapshotClass: lower case letters, digits, '-' and '.'; see kubectl get volumesnapshotclass"
	VolumeSnapshotClassName string `json:"volumeSnapshotClassName,omitempty"`

	// medium selects the class of disk behind the StorageClass: SSD (also NVMe and
	// cloud SSD volumes), HDD, or SAN. pgtune derives random_page_cost (SSD and SAN
	// 1.1, HDD 4) and effective_io_concurrency (SSD 200, HDD 2, SAN 300) from it.
	// Default: SSD.
	// +optional
	// +kubebuilder:default=SSD
	Medium StorageMedium `json:"medium,omitempty"`
}
