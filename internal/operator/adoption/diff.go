package adoption

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pgstorage/pgstorage/internal/kube/quantity"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

// Change of one field of a Cluster. From or To is empty where the field is absent.
type Change struct {
	Path string `json:"path"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// Diff lists the fields in which the answer to a dry run differs from the live Cluster,
// without what the API server keeps about writes. Equal quantities do not differ.
func Diff(live, answer *unstructured.Unstructured) []Change {
	a, b := live.DeepCopy().Object, answer.DeepCopy().Object
	for _, o := range []map[string]any{a, b} {
		delete(o, "status")
		for _, f := range []string{"managedFields", "resourceVersion", "generation", "creationTimestamp", "uid", "selfLink"} {
			unstructured.RemoveNestedField(o, "metadata", f)
		}
	}
	var out []Change
	compare(&out, "", a, b)
	return out
}

func compare(out *[]Change, path string, a, b any) {
	x, isMap := a.(map[string]any)
	y, both := b.(map[string]any)
	if isMap && both || len(x) > 0 && b == nil || len(y) > 0 && a == nil {
		keys := slices.Collect(maps.Keys(x))
		keys = slices.AppendSeq(keys, maps.Keys(y))
		slices.Sort(keys)
		for _, k := range slices.Compact(keys) {
			compare(out, strings.TrimPrefix(path+"."+k, "."), x[k], y[k])
		}
		return
	}
	from, to := text(a), text(b)
	if from != to && !quantity.Equal(from, to) {
		*out = append(*out, Change{path, from, to})
	}
}

func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

// OfSpec are the changes of the spec: those of labels and annotations change no instance.
func OfSpec(changes []Change) []Change {
	var out []Change
	for _, c := range changes {
		if !strings.HasPrefix(c.Path, "metadata.") {
			out = append(out, c)
		}
	}
	return out
}

// reloaded are the fields of a Cluster's spec whose change replaces no pod. Every other one
// is expected to.
var reloaded = []string{
	"spec.backup", "spec.certificates", "spec.description", "spec.enablePDB", "spec.failoverDelay", "spec.instances", "spec.managed", "spec.maxSyncReplicas", "spec.minSyncReplicas", "spec.monitoring",
	"spec.nodeMaintenanceWindow", "spec.postgresql.pg_hba", "spec.postgresql.pg_ident", "spec.postgresql.syncReplicaElectionConstraint", "spec.postgresql.synchronous",
	"spec.primaryUpdateMethod", "spec.primaryUpdateStrategy", "spec.replicationSlots", "spec.storage", "spec.switchoverDelay", "spec.walStorage.size",
}

const parameters = "spec.postgresql.parameters."

// Restarts are the paths of changes with which instances restart.
func Restarts(major int, changes []Change) []string {
	var out []string
	for _, c := range OfSpec(changes) {
		name, isParameter := strings.CutPrefix(c.Path, parameters)
		if isParameter && postgres.Restarts(major, name) || !isParameter && !slices.ContainsFunc(reloaded, func(r string) bool { return c.Path == r || strings.HasPrefix(c.Path, r+".") }) {
			out = append(out, c.Path)
		}
	}
	return out
}
