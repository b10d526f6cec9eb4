package cnpg

import (
	"fmt"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/quantity"
)

// AsItIs keeps what the spec does not set as the existing Cluster has it, where
// CloudNativePG decides defaults. It does not name an image or a StorageClass that the
// Cluster does not name, and it keeps the spelling of a size. live is nil for a new
// Cluster, which gets image and StorageClasses.
func AsItIs(cr *v1alpha1.PgStorageCluster, content map[string]any, live *cnpgv1.Cluster) error {
	spec, _ := content["spec"].(map[string]any)
	if !asIs(cr) {
		return nil
	}
	if live == nil {
		return nil
	}
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return fmt.Errorf("read CloudNativePG Cluster %s: %w", live.Name, err)
	}
	have, _ := raw["spec"].(map[string]any)
	if cr.Spec.Postgres.Image == "" {
		leaveUnset(spec, have, "imageName")
	}
	for _, v := range []string{"storage", "walStorage"} {
		leaveUnset(spec, have, v, "storageClass")
		keepSize(spec, have, v)
	}
	return nil
}

// keepSize leaves the size of a volume as the existing Cluster states it: in the same
// words, or in the template of the claims alone.
func keepSize(spec, have map[string]any, volume string) {
	size, found, _ := unstructured.NestedString(spec, volume, "size") // a value of another type is refused before
	if !found {
		return
	}
	if stated, _, err := unstructured.NestedString(have, volume, "size"); err == nil && quantity.Equal(size, stated) {
		setNested(spec, stated, volume, "size")
		return
	}
	if template, found, _ := unstructured.NestedFieldNoCopy(spec, volume, "pvcTemplate", "resources", "requests", "storage"); found && quantity.Equal(size, fmt.Sprint(template)) {
		leaveUnset(spec, have, volume, "size")
	}
}

// leaveUnset removes a field that the existing Cluster does not have.
func leaveUnset(spec, have map[string]any, path ...string) {
	if v, found, err := unstructured.NestedString(have, path...); err != nil || !found || v == "" {
		unstructured.RemoveNestedField(spec, path...)
	}
}
