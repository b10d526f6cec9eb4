package install_test

import (
	"path/filepath"
	"slices"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/crdschema"
)

// TestSamplesAreValid reads every sample as the API server would: no unknown
// field, the schema, and the CEL rules of the CRDs.
func TestSamplesAreValid(t *testing.T) {
	files, err := filepath.Glob(root + "/config/samples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool { return filepath.Base(f) == "kustomization.yaml" })
	if len(files) == 0 {
		t.Fatal("no samples")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			for key, object := range parse(t, readFile(t, "config/samples", filepath.Base(file))) {
				noUnknownField(t, object)
				if object.GroupVersionKind().Group != v1alpha1.GroupVersion.Group {
					continue
				}
				for _, problem := range validate(t, object) {
					t.Errorf("%s: %v", key, problem)
				}
			}
		})
	}
}

// A sample that is wrong must be found, or the test above proves nothing.
func TestWrongSamplesAreRefused(t *testing.T) {
	cluster := parse(t, readFile(t, "config/samples/cluster-demo.yaml"))["PgStorageCluster default/demo"]
	for path, value := range map[string]any{
		"durability": "Quorum", // a rule: one instance
		"workload":   "Fast",   // the schema
	} {
		wrong := cluster.DeepCopy()
		if err := unstructured.SetNestedField(wrong.Object, value, "spec", path); err != nil {
			t.Fatal(err)
		}
		if len(validate(t, wrong)) == 0 {
			t.Errorf("spec.%s: %v is accepted", path, value)
		}
	}
}

func noUnknownField(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	switch object.GetKind() {
	case "PgStorageProfile":
		into[v1alpha1.PgStorageProfile](t, object)
	case "PgStorageCluster":
		into[v1alpha1.PgStorageCluster](t, object)
		if overrides, found, _ := unstructured.NestedMap(object.Object, "spec", "cnpg", "spec"); found {
			cluster := map[string]any{"apiVersion": cnpgv1.SchemeGroupVersion.String(), "kind": cnpgv1.ClusterKind, "spec": overrides}
			into[cnpgv1.Cluster](t, &unstructured.Unstructured{Object: cluster})
		}
	case "PgBenchmark":
		into[v1alpha1.PgBenchmark](t, object)
	case "PgStorageBranch":
		into[v1alpha1.PgStorageBranch](t, object)
	case "PgScheduledBenchmark":
		into[v1alpha1.PgScheduledBenchmark](t, object)
	case "Pooler":
		into[cnpgv1.Pooler](t, object)
	case "ConfigMap":
		into[corev1.ConfigMap](t, object)
	case "ObjectStore":
		validStore(t, object)
	default:
		t.Errorf("a sample of kind %s, which this test does not know", object.GetKind())
	}
}

// validStore checks an ObjectStore by the CRD of the Barman Cloud plugin.
func validStore(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	crds, err := apiserver.Foreign(apiserver.CRDs{ObjectStores: true})
	if err != nil {
		t.Fatal(err)
	}
	crdschema.Load(t, filepath.Join(crds[0], "barmancloud.cnpg.io_objectstores.yaml")).Check(t, object)
}

func validate(t *testing.T, object *unstructured.Unstructured) field.ErrorList {
	t.Helper()
	props := crdSchema(t, object.GetKind())
	structural, err := structuralschema.NewStructural(props)
	if err != nil {
		t.Fatal(err)
	}
	content := object.DeepCopy().UnstructuredContent()
	defaulting.Default(content, structural)
	schema, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		t.Fatal(err)
	}
	problems := validation.ValidateCustomResource(nil, content, schema)
	rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
	more, _ := rules.Validate(t.Context(), nil, structural, content, nil, celconfig.RuntimeCELCostBudget)
	return append(problems, more...)
}

// crdSchema is the schema of a kind in config/crd/bases.
func crdSchema(t *testing.T, kind string) *apiextensions.JSONSchemaProps {
	t.Helper()
	files, err := filepath.Glob(root + "/config/crd/bases/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, object := range parse(t, readFile(t, "config/crd/bases", filepath.Base(file))) {
			crd := into[apiextensionsv1.CustomResourceDefinition](t, object)
			if crd.Spec.Names.Kind != kind {
				continue
			}
			internal := &apiextensions.JSONSchemaProps{}
			if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, internal, nil); err != nil {
				t.Fatal(err)
			}
			return internal
		}
	}
	t.Fatalf("no CRD of kind %s", kind)
	return nil
}

// Samples of profiles that write to Rook are rendered into what Rook's own CRDs take.
func TestCephSamplesRender(t *testing.T) {
	crds, err := apiserver.Foreign(apiserver.CRDs{Rook: true})
	if err != nil {
		t.Fatal(err)
	}
	schemas := crdschema.Load(t, crds[0])
	files, err := filepath.Glob(root + "/config/samples/cephrbd-*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			checked := 0
			for _, object := range parse(t, readFile(t, "config/samples", filepath.Base(file))) {
				if object.GetKind() != "PgStorageProfile" {
					continue
				}
				profile := into[v1alpha1.PgStorageProfile](t, &unstructured.Unstructured{Object: defaulted(t, object)})
				built, err := cephrbd.Type{}.Build(&profile, observed.Profile{})
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range built.Plan.Objects {
					if schemas.Check(t, o.Content) {
						checked++
					}
				}
			}
			if checked == 0 {
				t.Error("no object of Rook's was rendered")
			}
		})
	}
}

// defaulted is what the API server stores of an object.
func defaulted(t *testing.T, object *unstructured.Unstructured) map[string]any {
	t.Helper()
	structural, err := structuralschema.NewStructural(crdSchema(t, object.GetKind()))
	if err != nil {
		t.Fatal(err)
	}
	content := object.DeepCopy().UnstructuredContent()
	defaulting.Default(content, structural)
	return content
}
