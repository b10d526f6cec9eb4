package cnpg

import (
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

func TestAsItIs(t *testing.T) {
	named := &cnpgv1.Cluster{Spec: cnpgv1.ClusterSpec{ImageName: "pg:17", StorageConfiguration: cnpgv1.StorageConfiguration{Size: "1024Mi", StorageClass: new("fast")}}}
	for _, tc := range []struct {
		name     string
		defaults v1alpha1.DefaultsMode
		image    string
		override map[string]any
		live     *cnpgv1.Cluster
		want     map[string]any
	}{
		{"ours", v1alpha1.DefaultsPgstorage, "", nil, &cnpgv1.Cluster{}, map[string]any{"imageName": "pg:17", "storage": map[string]any{"size": "1Gi", "storageClass": "fast"}}},
		{"new", v1alpha1.DefaultsCloudNativePG, "", nil, nil, map[string]any{"imageName": "pg:17", "storage": map[string]any{"size": "1Gi", "storageClass": "fast"}}},
		{"named", v1alpha1.DefaultsCloudNativePG, "", nil, named, map[string]any{"imageName": "pg:17", "storage": map[string]any{"size": "1024Mi", "storageClass": "fast"}}},
		{"unnamed", v1alpha1.DefaultsCloudNativePG, "", nil, &cnpgv1.Cluster{}, map[string]any{"storage": map[string]any{"size": "1Gi"}}},
		{"an image of the spec", v1alpha1.DefaultsCloudNativePG, "pg:17", nil, &cnpgv1.Cluster{}, map[string]any{"imageName": "pg:17", "storage": map[string]any{"size": "1Gi"}}},
		{
			"the size in the template", v1alpha1.DefaultsCloudNativePG, "", map[string]any{"storage": template("1Gi")}, &cnpgv1.Cluster{},
			map[string]any{"storage": template("1Gi")},
		},
		{
			"a size that grew", v1alpha1.DefaultsCloudNativePG, "", map[string]any{"storage": template("512Mi")}, &cnpgv1.Cluster{},
			map[string]any{"storage": map[string]any{"size": "1Gi", "pvcTemplate": template("512Mi")["pvcTemplate"]}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cr := &v1alpha1.PgStorageCluster{Spec: v1alpha1.PgStorageClusterSpec{Defaults: tc.defaults}}
			cr.Spec.Postgres.Image = tc.image
			spec := map[string]any{"imageName": "pg:17", "storage": map[string]any{"size": "1Gi", "storageClass": "fast"}}
			merge(spec, runtime.DeepCopyJSON(tc.override))
			if err := AsItIs(cr, map[string]any{"spec": spec}, tc.live); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, spec); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func template(size string) map[string]any {
	return map[string]any{"pvcTemplate": map[string]any{"resources": map[string]any{"requests": map[string]any{"storage": size}}}}
}
