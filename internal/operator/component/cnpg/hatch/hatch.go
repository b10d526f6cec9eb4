// Package hatch reviews what authors of PgStorageClusters write into spec.cnpg.spec,
// field by field. It opens fields of CloudNativePG's ClusterSpec that grant no
// privileges. Others need the consent of a cluster administrator, and those that this
// API sets are closed. It validates the rest with CloudNativePG's schema.
package hatch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// Field of a PgStorageCluster that is reviewed.
const Field = "spec.cnpg.spec"

// most refusals in one message.
const most = 10

// Consent is what a cluster administrator allows.
type Consent struct {
	// Profile that lists it.
	Profile string
	// Entries of its spec.allowedOverrides: each allows a field and everything below it.
	Entries []string
}

// Allows says whether an entry covers a field, written as entries are.
func (c Consent) Allows(field string) bool {
	return slices.ContainsFunc(c.Entries, func(e string) bool { return field == e || strings.HasPrefix(field, e+".") })
}

// Ask how consent to a field is had.
func (c Consent) Ask(field string) string {
	return fmt.Sprintf("ask a cluster administrator to add %s to spec.allowedOverrides of PgStorageProfile %s", field, c.Profile)
}

// Setting is what a PgStorageCluster says elsewhere, which decides whether a value of an
// open field is safe.
type Setting struct {
	// Database and Owner of it, as the spec names them.
	Database, Owner string
	// Major of Postgres.
	Major int
	// Image: the spec names one.
	Image bool
	// Quorum: commits wait for standbys that the operator chooses.
	Quorum bool
	// AsIs: CloudNativePG decides what the spec does not set.
	AsIs bool
	// PodMonitor: the operator makes one.
	PodMonitor bool
	// Volumes by their field, storage and walStorage.
	Volumes map[string]Volume
}

// Volume that the spec asks for.
type Volume struct{ Class, Size string }

// Needs are the entries of spec.allowedOverrides without which an author's fields are
// refused, sorted. Each is as wide as one that [Consentable] lists.
func Needs(extra map[string]any, of Setting) []string {
	s, err := load()
	if err != nil {
		return nil
	}
	w := &walk{of: scope{Setting: of, roles: roles(extra, of.Owner)}}
	w.see(s.structural, place{}, extra)
	entries := Consentable()
	for i, field := range w.asked {
		if e := slices.IndexFunc(entries, func(e string) bool { return strings.HasPrefix(field, e+".") }); e >= 0 {
			w.asked[i] = entries[e]
		}
	}
	slices.Sort(w.asked)
	return slices.Compact(w.asked)
}

// Review an author's fields. Each refusal names the field, what is wrong and what to do.
func Review(extra map[string]any, of Setting, c Consent) []string {
	s, err := load()
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", Field, err)}
	}
	w := &walk{consent: c, of: scope{Setting: of, roles: roles(extra, of.Owner)}}
	w.nulls(place{}, extra)
	if len(w.refused) > 0 {
		return w.refusals()
	}
	for _, path := range s.unknown(extra) {
		w.refuse(place{shown: path}, "CloudNativePG has no such field in the version that this operator was made for; correct its name or remove it")
	}
	if len(w.refused) > 0 {
		return w.refusals()
	}
	w.see(s.structural, place{}, extra)
	return w.refusals()
}

// Validate a complete spec of a Cluster against the CRD of CloudNativePG, as the API
// server would.
func Validate(spec map[string]any) []string {
	s, err := load()
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", Field, err)}
	}
	var out []string
	for i, err := range s.invalid(spec) {
		if i == most {
			return append(out, "and more")
		}
		out = append(out, err.Error()+"; correct or remove it")
	}
	return out
}

// roles that managed.roles names, and the owner of the database.
func roles(extra map[string]any, owner string) map[string]bool {
	out := map[string]bool{owner: true}
	managed, _ := extra["managed"].(map[string]any)
	list, _ := managed["roles"].([]any)
	for _, r := range list {
		role, _ := r.(map[string]any)
		if name, _ := role["name"].(string); name != "" {
			out[name] = true
		}
	}
	return out
}

// place of a value: as it is shown, in the schema, and as an entry of
// spec.allowedOverrides writes it.
type place struct{ shown, pattern string }

func (p place) child(name string) place {
	return place{strings.TrimPrefix(p.shown+"."+name, "."), strings.TrimPrefix(p.pattern+"."+name, ".")}
}
func (p place) item(i int) place       { return place{fmt.Sprintf("%s[%d]", p.shown, i), p.pattern + "[]"} }
func (p place) key(string) place       { return place{p.shown, p.pattern + ".*"} }
func (p place) upTo(path string) place { return place{shown: cut(p.shown, path), pattern: path} }

// cut a shown path to as many names as a pattern has.
func cut(shown, pattern string) string {
	names := strings.Split(shown, ".")
	out := strings.Join(names[:min(len(names), strings.Count(pattern, ".")+1)], ".")
	if i := strings.LastIndexByte(out, '['); i >= 0 && strings.HasSuffix(out, "]") && !strings.HasSuffix(pattern, "[]") {
		return out[:i]
	}
	return out
}

// walk through an author's fields.
type walk struct {
	consent Consent
	of      scope
	refused []string
	// asked are the fields that lack consent.
	asked []string
	// more refusals than the first, which are counted alone: an author chooses how many
	// there are.
	more int
}

func (w *walk) refuse(at place, text string) {
	if len(w.refused) == most {
		w.more++
		return
	}
	message := fmt.Sprintf("%s: %s", strings.TrimSuffix(Field+"."+at.shown, "."), text)
	if !slices.Contains(w.refused, message) {
		w.refused = append(w.refused, message)
	}
}

// refusals, the first of many.
func (w *walk) refusals() []string {
	if w.more > 0 {
		return append(w.refused, fmt.Sprintf("and %d more", w.more))
	}
	return w.refused
}

// nulls are refused wherever they are: they would remove what this API sets.
func (w *walk) nulls(at place, v any) {
	switch v := v.(type) {
	case nil:
		w.refuse(at, "null is not a value; remove the field")
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			w.nulls(at.child(name), v[name])
		}
	case []any:
		for i := range v {
			w.nulls(at.item(i), v[i])
		}
	}
}

// see a value and those below it. What has another type than the schema says is left to
// Validate.
func (w *walk) see(s *structuralschema.Structural, at place, v any) {
	if r, found := rules[at.pattern]; found && r.check != nil {
		w.judge(r, at, v)
		return
	}
	fields, _ := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		w.field(s, at, name, fields[name])
	}
	items, _ := v.([]any)
	for i := range items {
		if s.Items != nil {
			w.see(s.Items, at.item(i), items[i])
		}
	}
	if len(fields) == 0 && len(items) == 0 {
		w.leaf(at)
	}
}

// judge a value of a field that is not as open as its name.
func (w *walk) judge(r rule, at place, v any) {
	if r.forbid != nil {
		if complaint := r.forbid(v, w.of); complaint != "" {
			w.refuse(at, "not open to overrides: "+complaint)
			return
		}
	}
	switch complaint := r.check(v, w.of); {
	case complaint == "":
	case r.verdict == never:
		w.refuse(at, "not open to overrides: "+complaint)
	default:
		w.ask(at, complaint)
	}
}

// field of an object, or key of a map.
func (w *walk) field(s *structuralschema.Structural, at place, name string, v any) {
	if p, found := s.Properties[name]; found {
		w.see(&p, at.child(name), v)
	} else if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		w.see(s.AdditionalProperties.Structural, at.key(name), v)
	}
}

// leaf is a value with nothing below it, which the longest rule decides.
func (w *walk) leaf(at place) {
	r, found := find(at.pattern)
	switch {
	case !found && above(at.pattern), at.pattern == "":
		return // an empty object sets nothing, and a scalar has the wrong type
	case !found:
		w.refuse(at, "not open to overrides: the project has not reviewed it; remove it")
	case r.verdict == never:
		w.refuse(at.upTo(r.path), "not open to overrides: "+r.why)
	case r.verdict == consent:
		w.ask(at, r.why)
	}
}

// ask for consent, unless it was given.
func (w *walk) ask(at place, why string) {
	if field := entry(at.pattern); !w.consent.Allows(field) {
		w.asked = append(w.asked, field)
		w.refuse(at, fmt.Sprintf("%s; remove or correct it, or %s", why, w.consent.Ask(field)))
	}
}
