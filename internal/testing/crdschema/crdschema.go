// Package crdschema validates objects by the real CRDs of other operators, without an API
// server. Unknown fields and wrong values are errors, as with strict field validation.
package crdschema

import (
	"os"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Schemas by kind.
type Schemas map[string]*schema

type schema struct {
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
}

// Load the schemas of a file of CRDs, of the version that is stored.
func Load(t testing.TB, file string) Schemas {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := Schemas{}
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal([]byte(document), crd); err != nil {
			t.Fatal(err)
		}
		for _, v := range crd.Spec.Versions {
			if v.Storage {
				out[crd.Spec.Names.Kind] = load(t, v)
			}
		}
	}
	return out
}

func load(t testing.TB, v apiextensionsv1.CustomResourceDefinitionVersion) *schema {
	t.Helper()
	props := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, props, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(props)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		t.Fatal(err)
	}
	return &schema{structural: structural, validator: validator}
}

// Check an object whose kind is there; others are not looked at. It says whether it
// looked.
func (s Schemas) Check(t testing.TB, o *unstructured.Unstructured) bool {
	t.Helper()
	is := s[o.GetKind()]
	if is == nil {
		return false
	}
	unknown := pruning.PruneWithOptions(o.DeepCopy().Object, is.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, path := range unknown {
		t.Errorf("%s %s: the CRD does not know %s", o.GetKind(), o.GetName(), path)
	}
	for _, err := range validation.ValidateCustomResource(nil, o.Object, is.validator) {
		t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
	}
	return true
}
