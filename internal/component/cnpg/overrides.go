package cnpg

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// refusedOverrides are the fields of a CloudNativePG Cluster that the escape
// hatch must not touch, with what to do instead.
var refusedOverrides = map[string]string{
	"instances":                      "set spec.instances",
	"imageName":                      "set spec.postgres.version or spec.postgres.image",
	"imageCatalogRef":                "set spec.postgres.image: the version decides which parameters exist",
	"storage":                        "set spec.profile and spec.storage.size",
	"walStorage":                     "set spec.storage.walSize",
	"resources":                      "set spec.resources: parameters are computed from it",
	"minSyncReplicas":                "set spec.durability",
	"maxSyncReplicas":                "set spec.durability",
	"postgresql.parameters":          "set spec.postgres.parameters, which are checked",
	"postgresql.synchronous":         "set spec.durability",
	"postgresql.enableAlterSystem":   "ALTER SYSTEM would change parameters behind the checks; set spec.postgres.parameters",
	"bootstrap.initdb.database":      "set spec.postgres.database",
	"bootstrap.initdb.owner":         "set spec.postgres.owner",
	"bootstrap.initdb.dataChecksums": "data checksums are always on",
	"bootstrap.initdb.options":       "initdb's options could turn checksums or fsync off; set the single fields of bootstrap.initdb",
	"replica":                        "a replica cluster follows another primary, whose durability tier this object could not state",
	"monitoring.enablePodMonitor":    "set spec.monitoring.podMonitor",
	"env":                            "environment variables can change Postgres beneath its parameters",
	"envFrom":                        "environment variables can change Postgres beneath its parameters",
	"postgresql.syncReplicaElectionConstraint": "set spec.durability; it narrows which standbys may acknowledge",
}

// Merge puts the escape hatch into the spec of a Cluster. Every refused field is
// returned as a message that names it; then content is unchanged.
func Merge(content map[string]any, overrides *v1alpha1.CNPGOverrides) []string {
	if overrides == nil || overrides.Spec == nil || len(overrides.Spec.Raw) == 0 {
		return nil
	}
	if len(overrides.Spec.Raw) > v1alpha1.MaxOverridesBytes || string(overrides.Spec.Raw) == v1alpha1.OverridesTooLarge {
		return []string{fmt.Sprintf("spec.cnpg.spec: its JSON exceeds %d bytes; remove fields, or refer to ConfigMaps and Secrets in place of texts", v1alpha1.MaxOverridesBytes)}
	}
	extra := map[string]any{}
	if err := json.Unmarshal(overrides.Spec.Raw, &extra); err != nil {
		return []string{fmt.Sprintf("spec.cnpg.spec: not an object: %v; give fields of a CloudNativePG ClusterSpec", err)}
	}
	spec, _ := content["spec"].(map[string]any)
	if refused := append(refusals(extra), backupElsewhere(spec, extra)...); len(refused) > 0 {
		return refused
	}
	if bootstrapsElsewhere(extra) {
		delete(spec, "bootstrap")
	}
	merge(spec, extra)
	return nil
}

func refusals(extra map[string]any) []string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(refusedOverrides)) {
		if has(extra, strings.Split(path, ".")) {
			out = append(out, fmt.Sprintf("spec.cnpg.spec.%s: not open to overrides: %s", path, refusedOverrides[path]))
		}
	}
	return out
}

// backupElsewhere refuses backups from standbys where our spec has them come from
// the primary.
func backupElsewhere(spec, extra map[string]any) []string {
	path := []string{"backup", "target"}
	ours, held, _ := unstructured.NestedString(spec, path...)
	asked, _, _ := unstructured.NestedString(extra, path...)
	if !held || !has(extra, path) || asked == ours {
		return nil
	}
	return []string{"spec.cnpg.spec.backup.target: with full_page_writes=off Postgres takes no backup from a standby; remove it, or set it to primary, or remove spec.postgres.parameters[full_page_writes]"}
}

// has says whether m touches a path: by holding it, or by putting something else
// than an object, null above all, where the path goes through.
func has(m map[string]any, path []string) bool {
	v, ok := m[path[0]]
	if !ok || len(path) == 1 {
		return ok
	}
	next, isMap := v.(map[string]any)
	return !isMap || has(next, path[1:])
}

// bootstrapsElsewhere says whether the database comes from a backup or another
// cluster, where initdb has no part.
func bootstrapsElsewhere(extra map[string]any) bool {
	return has(extra, []string{"bootstrap", "recovery"}) || has(extra, []string{"bootstrap", "pg_basebackup"})
}

func merge(into, from map[string]any) {
	for k, v := range from {
		child, isMap := v.(map[string]any)
		have, haveMap := into[k].(map[string]any)
		if isMap && haveMap {
			merge(have, child)
			continue
		}
		into[k] = v
	}
}
