// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +kubebuilder:ac:output:package="applyconfiguration"
// +groupName=pgstorage.dev

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is the group and version of every kind in this package.
	GroupVersion = schema.GroupVersion{Group: "pgstorage.dev", Version: "v1alpha1"}

	// SchemeGroupVersion is GroupVersion under the name generated code expects.
	SchemeGroupVersion = GroupVersion

	schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme adds the kinds of this package to a scheme.
	AddToScheme = schemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&PgStorageProfile{}, &PgStorageProfileList{},
		&PgStorageCluster{}, &PgStorageClusterList{},
		&PgBenchmark{}, &PgBenchmarkList{},
		&PgScheduledBenchmark{}, &PgScheduledBenchmarkList{},
		&PgNodeStorage{}, &PgNodeStorageList{},
		&PgStorageBranch{}, &PgStorageBranchList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
