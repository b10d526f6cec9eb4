// Package admit validates an object offline as the API server does on creation. It uses
// the CRDs that are part of the program, and the library of the API server. It rejects
// unknown fields, sets defaults, and evaluates the schema and the CEL rules. Transition
// rules (oldSelf) do not apply to a new object.
package admit

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// Schemas are the schemas of the kinds of pgstorage.
type Schemas struct {
	kinds map[schema.GroupVersionKind]*kind
}

type kind struct {
	namespaced bool
	definition *apiextensionsv1.CustomResourceDefinition
	version    apiextensionsv1.CustomResourceDefinitionVersion
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
	// rules are compiled on first use, because compiling them is slow.
	rules    *cel.Validator
	compiled bool
}

// Load reads the CRDs in the folders of files.
func Load(files fs.FS) (*Schemas, error) {
	out := &Schemas{kinds: map[schema.GroupVersionKind]*kind{}}
	names, err := fs.Glob(files, "*/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list CRDs: %w", err)
	}
	for _, name := range names {
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("read CRD: %w", err)
		}
		if err := out.add(content); err != nil {
			return nil, fmt.Errorf("CRD %s: %w", name, err)
		}
	}
	return out, nil
}

// add adds the versions of a CRD.
func (s *Schemas) add(content []byte) error {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(content, crd); err != nil {
		return err
	}
	for _, v := range crd.Spec.Versions {
		props := &apiextensions.JSONSchemaProps{}
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, props, nil); err != nil {
			return err
		}
		structural, err := structuralschema.NewStructural(props)
		if err != nil {
			return err
		}
		validator, _, err := validation.NewSchemaValidator(props)
		if err != nil {
			return err
		}
		gvk := schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}
		s.kinds[gvk] = &kind{
			namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped, definition: crd, version: v, structural: structural, validator: validator,
		}
	}
	return nil
}

// Definitions returns the CRDs, sorted by name.
func (s *Schemas) Definitions() []*apiextensionsv1.CustomResourceDefinition {
	byName := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, k := range s.kinds {
		byName[k.definition.Name] = k.definition
	}
	var out []*apiextensionsv1.CustomResourceDefinition
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out = append(out, byName[name])
	}
	return out
}

// Namespaced reports whether a kind of pgstorage is namespaced.
func (s *Schemas) Namespaced(gvk schema.GroupVersionKind) bool {
	k := s.kinds[gvk]
	return k != nil && k.namespaced
}

// Admit validates an object of pgstorage, sets its defaults in place and removes its
// status. The error is the one that the API server returns.
func (s *Schemas) Admit(ctx context.Context, o *unstructured.Unstructured) error {
	gvk := o.GroupVersionKind()
	k := s.kinds[gvk]
	if k == nil {
		return fmt.Errorf("unknown kind %q in %s; pgstorage has %s", gvk.Kind, gvk.GroupVersion(), strings.Join(s.names(), ", "))
	}
	delete(o.Object, "status")
	unknown := pruning.PruneWithOptions(o.Object, k.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	if len(unknown) > 0 {
		return fmt.Errorf("%s %q: unknown field %s; correct its name or remove it", gvk.Kind, o.GetName(), strings.Join(unknown, ", "))
	}
	defaulting.Default(o.Object, k.structural)
	errs := metavalidation.ValidateObjectMetaAccessor(o, k.namespaced, metavalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	errs = append(errs, validation.ValidateCustomResource(nil, o.Object, k.validator)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, k.structural, o.Object)...)
	if slices.ContainsFunc(errs, blocks) {
		// The API server adds the same error (registry/customresource/strategy.go).
		errs = append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
	} else {
		errs = append(errs, k.evaluateRules(ctx, o)...)
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(gvk.GroupKind(), o.GetName(), errs)
	}
	return nil
}

// blocking errors keep the API server from evaluating the rules.
var blocking = []field.ErrorType{field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid}

func blocks(err *field.Error) bool { return slices.Contains(blocking, err.Type) }

// evaluateRules evaluates the CEL rules on an object.
func (k *kind) evaluateRules(ctx context.Context, o *unstructured.Unstructured) field.ErrorList {
	if !k.compiled {
		k.rules, k.compiled = cel.NewValidator(k.structural, true, celconfig.PerCallLimit), true
	}
	if k.rules == nil {
		return nil
	}
	errs, _ := k.rules.Validate(ctx, nil, k.structural, o.Object, nil, celconfig.RuntimeCELCostBudget)
	return errs
}

func (s *Schemas) names() []string {
	var out []string
	for gvk := range s.kinds {
		out = append(out, gvk.Kind)
	}
	slices.Sort(out)
	return out
}
