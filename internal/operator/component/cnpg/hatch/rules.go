package hatch

import (
	"slices"
	"strings"
)

// verdict says who may set a field.
type verdict string

const (
	// open: any author of a PgStorageCluster.
	open verdict = "open"
	// consent: an author whose profile lists the field in spec.allowedOverrides.
	consent verdict = "consent"
	// never means that no consent opens the field.
	never verdict = "never"
)

// rule is the review of a field of CloudNativePG's ClusterSpec, and of everything below
// it that no rule with a longer path covers. It assumes a hostile author, who may
// create PgStorageClusters in a namespace and nothing else. Such an author may not read
// its Secrets, run pods in it, or use what other people's objects refer to.
type rule struct {
	// path in the schema: [] is any item of a list, * any key of a map.
	path    string
	verdict verdict
	// why an open field is safe, what a field that needs consent gives away, or what to
	// set instead of a closed one.
	why string
	// check a value. One that it complains about needs consent, or is refused where the
	// verdict is never.
	check check
	// forbid complains about a value of an open field that no consent opens.
	forbid check
}

// rules by their path; a longer path wins. Every field of the schema has one, as a
// golden file of the tests shows.
var rules = func() map[string]rule {
	out := map[string]rule{}
	for _, list := range [][]rule{ours, repeated, volumes, environment, placement, pods, database, data, access} {
		for _, r := range list {
			out[r.path] = r
		}
	}
	return out
}()

// find the rule of the longest path that covers a pattern.
func find(pattern string) (rule, bool) {
	for pattern != "" {
		if r, found := rules[pattern]; found {
			return r, true
		}
		if cut, isItem := strings.CutSuffix(pattern, "[]"); isItem {
			pattern = cut
			continue
		}
		pattern = pattern[:max(0, strings.LastIndexByte(pattern, '.'))]
	}
	return rule{}, false
}

// above says whether a pattern leads to fields with rules.
func above(pattern string) bool {
	for path := range rules {
		if strings.HasPrefix(path, pattern+".") || strings.HasPrefix(path, pattern+"[]") {
			return true
		}
	}
	return false
}

// Image is the entry of spec.allowedOverrides that consents to a spec.postgres.image of
// another repository than the operator's. Processes of the pod can do all that a
// superuser can.
const Image = "imageName"

// Consentable are the fields that an entry of spec.allowedOverrides can be about,
// sorted, as entries write them. The rule of that field in the CRD has the same list.
func Consentable() []string {
	out := []string{Image}
	for _, r := range rules {
		if r.verdict == consent || r.verdict == open && r.check != nil {
			out = append(out, entry(r.path))
		}
	}
	slices.Sort(out)
	all := slices.Compact(out)
	return slices.DeleteFunc(slices.Clone(all), func(f string) bool { // an entry for the field above allows it
		return slices.ContainsFunc(all, func(g string) bool { return strings.HasPrefix(f, g+".") })
	})
}

// Never are the fields that no consent opens, with what to do instead.
func Never() map[string]string {
	out := map[string]string{}
	for _, r := range rules {
		if r.verdict == never {
			out[r.path] = r.why
		}
	}
	return out
}

// entry of spec.allowedOverrides for a pattern: the names of its fields alone.
func entry(pattern string) string {
	return strings.ReplaceAll(strings.ReplaceAll(pattern, "[]", ""), ".*", "")
}
