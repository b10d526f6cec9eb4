package v1alpha1

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// boundedElsewhere are the fields that no schema can bound, with what does.
var boundedElsewhere = map[string]string{
	"PgStorageCluster.spec.cnpg.spec":                            "fields of another API: the cache keeps at most MaxOverridesBytes, and package cnpg refuses more",
	"PgBenchmark.spec.template.cnpg.spec":                        "the same, in the clusters of a matrix",
	"PgScheduledBenchmark.spec.template.spec.template.cnpg.spec": "the same, in the benchmarks of a schedule",
}

// boundingRule is a CEL rule about the length of a text, or of the values of a map.
var boundingRule = regexp.MustCompile(`size\((self|self\[k\])\) <= [0-9]+`)

// TestEverythingIsBounded: authors of objects of this API, or of their status, cannot
// choose how much of the manager's memory they take.
func TestEverythingIsBounded(t *testing.T) {
	files, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d CRDs, %v", len(files), err)
	}
	w := &walk{used: map[string]bool{}}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, crd); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, v := range crd.Spec.Versions {
			for _, part := range []string{"spec", "status"} {
				schema, found := v.Schema.OpenAPIV3Schema.Properties[part]
				if !found {
					t.Errorf("%s has no %s", file, part)
				}
				w.visit(crd.Spec.Names.Kind+"."+part, schema, false)
			}
		}
	}
	if w.seen < 500 {
		t.Errorf("%d fields were looked at: the walk misses some", w.seen)
	}
	if w.quantities < 50 {
		t.Errorf("%d quantities of rules were looked at: the walk misses some", w.quantities)
	}
	for _, field := range w.unbounded {
		t.Error(field)
	}
	for field := range boundedElsewhere {
		if !w.used[field] {
			t.Errorf("%s is an exception, and bounded or gone", field)
		}
	}
}

type walk struct {
	unbounded []string
	used      map[string]bool
	seen      int
	// quantities that rules ask for.
	quantities int
}

func (w *walk) report(path, what string) {
	if _, exception := boundedElsewhere[path]; exception {
		w.used[path] = true
		return
	}
	w.unbounded = append(w.unbounded, fmt.Sprintf("%s: %s; add a marker, or a rule of its map, or an explained exception", path, what))
}

// visit a schema. byMap says that a rule of the map that it is in bounds it.
func (w *walk) visit(path string, s apiextensionsv1.JSONSchemaProps, byMap bool) {
	w.seen++
	w.boundQuantities(path, s)
	if s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields || s.XEmbeddedResource {
		w.report(path, "fields of any kind")
	}
	if (s.Type == "string" || s.XIntOrString) && !byMap && !boundedText(s) {
		w.report(path, "a text without a bound")
	}
	if s.Type == "array" {
		if s.MaxItems == nil {
			w.report(path, "a list without maxItems")
		}
		w.visit(path+"[]", *s.Items.Schema, false)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		if s.MaxProperties == nil {
			w.report(path, "a map without maxProperties")
		}
		w.visit(path+"{}", *s.AdditionalProperties.Schema, hasBoundingRule(s))
	}
	for name, property := range s.Properties {
		w.visit(path+"."+name, property, false)
	}
}

func boundedText(s apiextensionsv1.JSONSchemaProps) bool {
	return s.MaxLength != nil || len(s.Enum) > 0 || s.Format == "date-time" || hasBoundingRule(s) || boundedPattern(s.Pattern)
}

func hasBoundingRule(s apiextensionsv1.JSONSchemaProps) bool {
	return slices.ContainsFunc(s.XValidations, func(r apiextensionsv1.ValidationRule) bool { return boundingRule.MatchString(r.Rule) })
}

// boundedPattern is one of a whole text without loops.
func boundedPattern(pattern string) bool {
	if !strings.HasPrefix(pattern, "^") || !strings.HasSuffix(pattern, "$") {
		return false
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	return err == nil && !loops(parsed)
}

func loops(r *syntax.Regexp) bool {
	if r.Op == syntax.OpStar || r.Op == syntax.OpPlus || r.Op == syntax.OpRepeat && r.Max < 0 {
		return true
	}
	return slices.ContainsFunc(r.Sub, loops)
}

// asksQuantity is what a rule may ask of a text that it has bounded (hack/quantities).
var asksQuantity = regexp.MustCompile(`(\.matches\('\[eE\]\.\.\.\.'\) && )?isQuantity\(`)

// boundQuantities reports rules that read a quantity of any size. CEL evaluates them although
// the pattern does not match.
func (w *walk) boundQuantities(path string, s apiextensionsv1.JSONSchemaProps) {
	for _, r := range s.XValidations {
		asked := asksQuantity.FindAllStringSubmatch(r.Rule, -1)
		w.quantities += len(asked)
		if slices.ContainsFunc(asked, func(found []string) bool { return found[1] == "" }) {
			w.report(path, "a rule that reads a quantity of any size: "+r.Rule)
		}
	}
}

func TestBoundedPattern(t *testing.T) {
	for pattern, want := range map[string]bool{
		"^a{1,3}(b|c)?$": true, "^a*$": false, "^a+$": false, "^a{2,}$": false, "^(a(b+))?$": false, "a{1,3}": false, "": false,
	} {
		if boundedPattern(pattern) != want {
			t.Errorf("%q bounded: %v", pattern, !want)
		}
	}
}
