package profile

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Hooks is what a kind of storage needs beyond what all kinds share. The zero value
// needs nothing: every function may be nil.
type Hooks struct {
	// Alpha describes, for the help of --feature-gates, a kind that is off by default.
	// The gate has the name of the kind. Empty: the kind is always available.
	Alpha string
	// Nodes means that the operator creates storage on the nodes that spec.nodeSelector
	// selects: the observer reads Nodes, PgNodeStorages and the VolumeSnapshotClass.
	Nodes bool
	// Servers returns the names of the ConfigMaps of the servers that the profile runs in
	// the operator's namespace. nil: it runs none, and the observer reads no DaemonSets,
	// Pods and ConfigMaps.
	Servers func(p *v1alpha1.PgStorageProfile) []string
	// Peers means that profiles of this kind can conflict with each other. The observer
	// reads them into facts.Others, and each wakes when another is created or deleted.
	Peers bool
	// Sources are the objects that the kind reads and others may have created.
	Sources []Source
	// Read turns the objects of Sources into facts, usually the kind's own in facts.Own.
	Read func(p *v1alpha1.PgStorageProfile, objects Objects, facts *observed.Profile) error
	// Teardown returns what must be deleted or awaited before the controller deletes the
	// profile's PgNodeStorages, servers and classes. It decides only by sources with Guards,
	// by facts.Classes and by facts.ClassesInUse.
	Teardown func(p *v1alpha1.PgStorageProfile, facts observed.Profile) Teardown
	// Serves reports whether databases that run keep their storage although the profile is
	// not Ready, for a reason that concerns new volumes only. nil: it is not known to.
	Serves func(p *v1alpha1.PgStorageProfile, reason string) bool
	// AbandonedGUIDs returns the pools that the profile's author abandoned.
	AbandonedGUIDs func(p *v1alpha1.PgStorageProfile) []v1alpha1.PoolGUID

	Plugin Plugin
}

// Plugin is what kubectl pgstorage needs of a kind of storage.
type Plugin struct {
	// Shown are the kinds of objects that the status command lists below a profile.
	Shown []Shown
	// Summary returns details of a profile's status for one line.
	Summary func(p *v1alpha1.PgStorageProfile) []string
	// Assume adds the facts of an installation where everything is ready, for the render
	// command, which reads no cluster.
	Assume func(p *v1alpha1.PgStorageProfile, facts *observed.Profile)
	// Field returns the path of the spec that declares a pool or dataset.
	Field func(dataset string) []string
	// Requires are the operators of others that profiles of the kind need.
	Requires []Requirement
	// Driver returns the CSI driver that volumes need and the document that explains its
	// installation. nil: the kind needs none that the plugin knows.
	Driver func(p *v1alpha1.PgStorageProfile) (name, document string)
}

// Requirement is another operator that a kind of storage needs.
type Requirement struct {
	// Name of the operator, and the CRDs that it installs.
	Name string
	CRDs []string
	// Remedy and Document say how to install it.
	Remedy, Document string
	// Labels of the operator's Deployment, whose image has its version.
	Labels map[string]string
	// Judge compares the version with those that are tested. nil: no version is compared.
	Judge func(*version.Version) Judgement
}

// Judgement is what the version of another operator means for us.
type Judgement struct {
	// Tested means that the project's tests cover the version.
	Tested bool
	// Differs says what is special about the version, or why it is not tested.
	Differs string
	// Remedy is set where the user has to act.
	Remedy string
}

// Shown is a kind of object below a profile. Named returns the one object of the kind;
// nil: those with the profile's label.
type Shown struct {
	Kind  schema.GroupVersionKind
	Named func(p *v1alpha1.PgStorageProfile) types.NamespacedName
}

// Teardown is the next action of deleting a profile. The controller performs one a pass,
// and asks again once the objects of the last are gone.
type Teardown struct {
	// Kind and Names of the profile's own objects that must be deleted now.
	Kind  string
	Names []string
	// Reason and Waits say what the deletion waits for.
	Reason, Waits string
	// Unwatched means that no watch covers the end of the wait.
	Unwatched bool
}

// Done reports whether nothing is left to delete or to wait for.
func (t Teardown) Done() bool { return len(t.Names) == 0 && t.Waits == "" }
