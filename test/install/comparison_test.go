package install_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"
)

// comparison is the page, and these are the plans that its columns are of.
const comparison = "docs/ceph-comparison.md"

var comparedPlans = [2]string{
	"internal/operator/profile/cephrbd/testdata/as-written.golden.yaml",
	"internal/operator/profile/cephrbd/testdata/corrected.golden.yaml",
}

// comparedField is one row: a field of an object by kubectl's JSONPath, and what it is
// in each plan.
type comparedField struct {
	field, byHand, why string
	values             [2]string
}

// exists stands for a value that is there and too long for a table, and none for one
// that is not.
const (
	exists = "set"
	none   = "–"
)

// comparedFields of the page, by the object that their heading names.
func comparedFields(t *testing.T) map[string][]comparedField {
	t.Helper()
	out := map[string][]comparedField{}
	key := ""
	for line := range strings.SplitSeq(readFile(t, comparison), "\n") {
		if heading, found := strings.CutPrefix(line, "## "); found {
			kind, name, _ := strings.Cut(heading, " ")
			if !strings.Contains(name, "/") {
				name = "/" + name
			}
			key = kind + " " + name
			continue
		}
		cells := strings.Split(line, " | ")
		if len(cells) != 5 || !strings.HasPrefix(cells[0], "| `") {
			continue
		}
		out[key] = append(out[key], comparedField{
			field: strings.Trim(cells[0], "|` "), byHand: strings.Trim(cells[1], "` "),
			values: [2]string{strings.Trim(cells[2], "` "), strings.Trim(cells[3], "` ")},
			why:    strings.Trim(cells[4], "| "),
		})
	}
	return out
}

// The page's columns are what the plans have: it cannot say what is no longer so.
func TestCephComparisonMatchesThePlans(t *testing.T) {
	fields := comparedFields(t)
	for i, file := range comparedPlans {
		plan := parse(t, readFile(t, file))
		for key, rows := range fields {
			for _, row := range rows {
				got := valueOf(t, plan[key], row.field)
				if want := row.values[i]; got != want && (want != exists || got == none) {
					t.Errorf("%s: %s: the page has %q and %s has %q", key, row.field, want, file, got)
				}
				if row.why == "" {
					t.Errorf("%s: %s: no reason", key, row.field)
				}
			}
		}
	}
}

// Nothing of what the operator writes for Rook and Kubernetes is left out.
func TestCephComparisonIsComplete(t *testing.T) {
	fields, leaves := comparedFields(t), 0
	for key, object := range parse(t, readFile(t, comparedPlans[1])) {
		if object.GetKind() == "PgNodeStorage" || object.GetKind() == "Job" {
			continue // by hand there is nothing to compare them with
		}
		content := maps.Clone(object.Object)
		for _, name := range []string{"apiVersion", "kind", "metadata"} {
			delete(content, name)
		}
		for _, leaf := range leavesOf("", content) {
			leaves++
			if !slices.ContainsFunc(fields[key], func(f comparedField) bool {
				return f.field == leaf || strings.HasPrefix(leaf, f.field+".") || strings.HasPrefix(leaf, f.field+"[")
			}) {
				t.Errorf("%s: %s is not in %s", key, leaf, comparison)
			}
		}
	}
	if leaves < 50 {
		t.Errorf("only %d fields were found", leaves)
	}
}

// valueOf a field; [none] where it is not there.
func valueOf(t *testing.T, object *unstructured.Unstructured, field string) string {
	t.Helper()
	if object == nil {
		return none
	}
	path := jsonpath.New(field).AllowMissingKeys(true)
	if err := path.Parse("{." + field + "}"); err != nil {
		t.Fatalf("%s: %v", field, err)
	}
	found, err := path.FindResults(object.Object)
	if err != nil || len(found) == 0 || len(found[0]) == 0 || !found[0][0].IsValid() || found[0][0].Interface() == nil {
		return none
	}
	return short(found[0][0].Interface())
}

// short is a value as a table has it: a list without its brackets.
func short(value any) string {
	list, isList := value.([]any)
	if !isList {
		return fmt.Sprint(value)
	}
	var items []string
	for _, item := range list {
		items = append(items, short(item))
	}
	return strings.Join(items, ", ")
}

// leavesOf a value as paths of kubectl's JSONPath. A list of plain values is one.
func leavesOf(path string, value any) []string {
	var out []string
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			out = append(out, leavesOf(strings.TrimPrefix(path+"."+strings.ReplaceAll(name, ".", `\.`), "."), value[name])...)
		}
	case []any:
		if len(value) > 0 {
			if _, nested := value[0].(map[string]any); nested {
				for i := range value {
					out = append(out, leavesOf(fmt.Sprintf("%s[%d]", path, i), value[i])...)
				}
				return out
			}
		}
		return []string{path}
	default:
		return []string{path}
	}
	return out
}
