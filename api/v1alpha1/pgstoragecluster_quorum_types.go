package v1alpha1

// DefaultsMode selects who decides what a PgStorageCluster does not set.
// +kubebuilder:validation:Enum=pgstorage;CloudNativePG
type DefaultsMode string

const (
	// DefaultsPgstorage derives Postgres parameters from resources and workload.
	DefaultsPgstorage DefaultsMode = "pgstorage"
	// DefaultsCloudNativePG leaves what the spec does not set to CloudNativePG.
	DefaultsCloudNativePG DefaultsMode = "CloudNativePG"
)

// QuorumMethod selects how Postgres chooses the standbys that confirm a commit.
// +kubebuilder:validation:Enum=Any;First
type QuorumMethod string

const (
	// QuorumAny waits for any standbys, whichever confirm first.
	QuorumAny QuorumMethod = "Any"
	// QuorumFirst waits for the first standbys of a list in order of priority.
	QuorumFirst QuorumMethod = "First"
)

// QuorumSpec sets which standbys confirm a commit.
// +kubebuilder:validation:MinProperties=1
type QuorumSpec struct {
	// method selects how the standbys are chosen. Any: whichever confirm first, so one
	// slow standby does not delay commits. First: those that CloudNativePG lists first,
	// which are the ready ones in order of their names. Default: Any.
	// +optional
	// +kubebuilder:default=Any
	Method QuorumMethod `json:"method,omitempty"`

	// standbys sets how many standbys must flush a commit before Postgres acknowledges
	// it. Writes stop while fewer can. Valid: 1 to instances-1. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=15
	Standbys int32 `json:"standbys,omitempty"`

	// acrossFailureDomain puts every instance into a failure domain of its own. Each
	// standby that confirms a commit is then in another domain than the primary. The
	// value is the label of nodes that names their domain, as
	// topology.kubernetes.io/zone. Instances without a free domain stay Pending. Setting
	// or changing it replaces the pods.
	// Default: instances are kept on different nodes where possible.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$')",message="spec.quorum.acrossFailureDomain must be the name of a node label, as topology.kubernetes.io/zone"
	AcrossFailureDomain string `json:"acrossFailureDomain,omitempty"`
}
