package postgres

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Compute every parameter, sorted by name, and every refusal, sorted by name. A
// refused parameter takes the value it would have had without the user's.
func Compute(in Inputs) ([]Parameter, []Refusal) {
	if catalogue()[in.Major] == nil {
		return nil, []Refusal{{"version", RefusedVersion, fmt.Sprintf("spec.postgres.version: major %d is not supported; use 14 to 18", in.Major)}}
	}
	if in.GivenOnly {
		in.MemoryBytes = 0
	}
	given := map[string]string{}
	var refusals []Refusal
	for _, name := range slices.Sorted(maps.Keys(in.User)) {
		value, refusal := in.accept(name, in.User[name])
		if refusal != nil {
			refusals = append(refusals, *refusal)
			continue
		}
		given[name] = value
	}
	refusals = append(refusals, in.belowPrimary(given)...)
	in.raised = in.raise(given)
	maps.Copy(given, in.raised)
	refusals = append(refusals, in.together(given)...)
	slices.SortFunc(refusals, func(a, b Refusal) int { return strings.Compare(a.Parameter, b.Parameter) })
	return in.merge(given), refusals
}

// merge by precedence, lowest first.
func (in Inputs) merge(given map[string]string) []Parameter {
	out := map[string]Parameter{}
	if in.GivenOnly {
		in.restrain(out)
	} else {
		in.derive(out, given)
	}
	for name, value := range given {
		out[name] = in.given(name, value)
		if in.raised[name] != "" {
			out[name] = in.raisedParameter(name, value)
		}
	}
	in.showBudget(out)
	return slices.SortedFunc(maps.Values(out), func(a, b Parameter) int { return strings.Compare(a.Name, b.Name) })
}

// derive what the operator sets beside the user's values.
func (in Inputs) derive(out map[string]Parameter, given map[string]string) {
	for _, p := range guards() {
		out[p.Name] = p
	}
	for _, p := range compute(in, given) {
		out[p.Name] = p
	}
	for name, r := range in.Profile {
		if value, refusal := in.accept(name, r.Value); refusal == nil { // not of this version, or not safe: left out
			out[name] = Parameter{name, value, FromProfile, r.Reason}
		}
	}
	for _, p := range in.tier() {
		out[p.Name] = p
	}
}

// restrain sets the safe values of parameters that the existing Cluster has. Postgres
// has the same values where a Cluster has none.
func (in Inputs) restrain(out map[string]Parameter) {
	for _, p := range append(guards(), in.tier()...) {
		if _, held := in.Held[p.Name]; held || p.Source == FromComputed {
			out[p.Name] = p
		}
	}
}

// literal is the user's own spelling of a value, which CloudNativePG compares as text.
func (in Inputs) literal(name, value string) string {
	if in.GivenOnly && value == in.normal(name) {
		return in.User[name]
	}
	return value
}

// normal is the form in which the operator compares the user's value of a parameter.
func (in Inputs) normal(name string) string {
	s, known := catalogue()[in.Major][name]
	if !known {
		return in.User[name]
	}
	value, err := s.normalise(in.User[name])
	if err != nil {
		return ""
	}
	return value
}

// given is what the user asked for, unless what it rests on is not proved.
func (in Inputs) given(name, value string) Parameter {
	if name != "full_page_writes" || value != "off" {
		return Parameter{name, in.literal(name, value), FromUser, "spec.postgres.parameters"}
	}
	if waives(in.Tier, name) {
		return in.withoutImages(FromUser, "spec.postgres.parameters")
	}
	switch {
	case !in.WholePages.Holds():
		return Parameter{name, "on", FromSafety, "off is requested, and is set once the storage is proved never to tear a page: " + in.WholePages.Missing}
	case in.Instances <= 1:
		return Parameter{name, value, FromUser, "spec.postgres.parameters; proved: " + in.WholePages.Because}
	case !in.InPlace.Holds():
		return Parameter{name, "on", FromSafety, "off is requested, and is set once every instance is in its place, as a former primary returns by pg_rewind, which needs it on: " + in.InPlace.Missing}
	}
	return Parameter{name, value, FromUser, fmt.Sprintf("spec.postgres.parameters; proved: %s; %s", in.WholePages.Because, in.InPlace.Because)}
}

// StandbysCannotBackUp says that full_page_writes=off is requested and admitted, in
// force or not, on a cluster with standbys. A base backup from a standby needs the
// primary's full-page images (PostgreSQL, ref/pg_basebackup.sgml).
func (in Inputs) StandbysCannotBackUp() bool {
	asked, given := in.User["full_page_writes"]
	if !given || in.Instances <= 1 || catalogue()[in.Major] == nil {
		return false
	}
	value, refusal := in.accept("full_page_writes", asked)
	return refusal == nil && value == "off"
}

// tier are the settings that the durability tier means.
func (in Inputs) tier() []Parameter { return append(in.nonDurable(), in.commit()) }

func (in Inputs) commit() Parameter {
	if waives(in.Tier, "synchronous_commit") {
		return Parameter{"synchronous_commit", "off", FromComputed, fmt.Sprintf("durability %s: acknowledged before the flush", in.Tier)}
	}
	return Parameter{"synchronous_commit", "on", FromSafety, fmt.Sprintf("durability %s: acknowledged after the flush", in.Tier)}
}

// accept one value alone: its name, its form, its safety.
func (in Inputs) accept(name, value string) (string, *Refusal) {
	if refusal := in.acceptName(name); refusal != nil {
		return "", refusal
	}
	s, known := catalogue()[in.Major][name]
	if !known { // of an extension
		s = setting{kind: "string"}
	}
	normal, err := s.normalise(value)
	if err != nil {
		return "", refuse(name, err.reason, "%s", err.text)
	}
	if refusal := in.unsafe(name, normal); refusal != nil {
		return "", refusal
	}
	return normal, in.fits(name, normal)
}

func (in Inputs) acceptName(name string) *Refusal {
	if lower := strings.ToLower(name); lower != name {
		return refuse(name, RefusedUnknown, "parameter names are written in lower case; use %s", lower)
	}
	if refusal := managed(name); refusal != nil {
		return refusal
	}
	s, known := catalogue()[in.Major][name]
	switch {
	case slices.Contains(unsettable, name):
		return refuse(name, RefusedFixed, "it belongs to a session, and Postgres does not start with it in its configuration; remove it, and use ALTER ROLE ... SET")
	case known && s.context == "internal":
		return refuse(name, RefusedFixed, "Postgres reports it and does not let it be set; remove it")
	case known || extension(name):
		return nil
	}
	hint := "remove it"
	if near := nearest(in.Major, name); near != "" {
		hint = "did you mean " + near + "? Else remove it"
	}
	return refuse(name, RefusedUnknown, "PostgreSQL %d has no such parameter; %s", in.Major, hint)
}

// extension says whether a name is like pg_stat_statements.max: parts that are
// identifiers, joined by dots.
func extension(name string) bool {
	parts := strings.Split(name, ".")
	for _, p := range parts {
		if p == "" || strings.Trim(p, "abcdefghijklmnopqrstuvwxyz0123456789_$") != "" || p[0] >= '0' && p[0] <= '9' {
			return false
		}
	}
	return len(parts) > 1
}

func refuse(name, reason, format string, args ...any) *Refusal {
	return &Refusal{name, reason, fmt.Sprintf("spec.postgres.parameters[%s]: ", name) + fmt.Sprintf(format, args...)}
}
