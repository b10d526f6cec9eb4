package hatch

import (
	"context"
	_ "embed" // clusterspec.json
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// document is the schema of a Cluster's spec in CloudNativePG's CRD, of the version
// that go.mod pins. make generate writes it.
//
//go:embed clusterspec.json
var document []byte

// schema of a Cluster's spec.
type schema struct {
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator
}

var load = sync.OnceValues(func() (*schema, error) {
	props := &apiextensionsv1.JSONSchemaProps{}
	if err := json.Unmarshal(document, props); err != nil {
		return nil, fmt.Errorf("read CloudNativePG's schema: %w", err)
	}
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props, internal, nil); err != nil {
		return nil, fmt.Errorf("convert CloudNativePG's schema: %w", err)
	}
	structural, err := structuralschema.NewStructural(internal)
	if err != nil {
		return nil, fmt.Errorf("read CloudNativePG's schema: %w", err)
	}
	validator, _, err := validation.NewSchemaValidator(internal)
	if err != nil {
		return nil, fmt.Errorf("read CloudNativePG's schema: %w", err)
	}
	return &schema{structural: structural, validator: validator, rules: cel.NewValidator(structural, false, celconfig.PerCallLimit)}, nil
})

// unknown are the paths of fields that the schema does not have.
func (s *schema) unknown(spec map[string]any) []string {
	return pruning.PruneWithOptions(runtime.DeepCopyJSON(spec), s.structural, false, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
}

// asStored is a copy whose numbers without a fraction are integers, as they are in the
// API server. Those of apply configurations are not.
func asStored(spec map[string]any) (map[string]any, error) {
	content, err := utiljson.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("write the spec: %w", err)
	}
	out := map[string]any{}
	if err := utiljson.Unmarshal(content, &out); err != nil {
		return nil, fmt.Errorf("read the spec: %w", err)
	}
	return out, nil
}

// invalid holds a complete spec against types, choices, bounds and rules, in the API
// server's own words. Paths begin with Field.
func (s *schema) invalid(spec map[string]any) field.ErrorList {
	at := field.NewPath("spec", "cnpg", "spec")
	spec, err := asStored(spec)
	if err != nil {
		return field.ErrorList{field.InternalError(at, err)}
	}
	defaulting.Default(spec, s.structural)
	errs := validation.ValidateCustomResource(at, spec, s.validator)
	errs = append(errs, listtype.ValidateListSetsAndMaps(at, s.structural, spec)...)
	if len(errs) > 0 || s.rules == nil {
		return errs // the API server evaluates no rules of what has a wrong type
	}
	broken, _ := s.rules.Validate(context.Background(), at, s.structural, spec, nil, celconfig.RuntimeCELCostBudget) //nolint:forbidigo // reaches nothing, and its cost is bounded
	return append(errs, broken...)
}
