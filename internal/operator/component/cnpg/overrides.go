package cnpg

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/component/cnpg/hatch"
)

// bootstraps are the ways to make a database, of which a Cluster has one.
var bootstraps = []string{"initdb", "recovery", "pg_basebackup"}

// Merge puts the escape hatch into the spec of a Cluster. Every refused field is
// returned as a message that names it; then content is unchanged.
func Merge(content map[string]any, overrides *v1alpha1.CNPGOverrides, of hatch.Setting, consent hatch.Consent) []string {
	extra, refused := fields(overrides)
	if len(extra) == 0 {
		return refused
	}
	spec, _ := content["spec"].(map[string]any)
	refused = hatch.Review(extra, of, consent)
	refused = append(refused, backupElsewhere(spec, extra)...)
	if of.Image && has(extra, []string{"imageCatalogRef"}) {
		refused = append(refused, "spec.cnpg.spec.imageCatalogRef: spec.postgres.image is set too; keep one of the two")
	}
	refused = append(refused, restoredElsewhere(spec, extra)...)
	if refused = append(refused, twoBootstraps(extra)...); len(refused) > 0 {
		return refused
	}
	merged := runtime.DeepCopyJSON(spec)
	if has(extra, []string{"imageCatalogRef"}) { // CloudNativePG takes one of the two
		delete(merged, "imageName")
	}
	bootstrap(merged, extra)
	merge(merged, extra)
	if refused := join(merged, spec, extra); len(refused) > 0 {
		return refused
	}
	if refused := hatch.Validate(merged); len(refused) > 0 {
		return refused
	}
	content["spec"] = merged
	return nil
}

// fields of the escape hatch, or why they cannot be read.
func fields(overrides *v1alpha1.CNPGOverrides) (extra map[string]any, refused []string) {
	if overrides == nil || overrides.Spec == nil || len(overrides.Spec.Raw) == 0 {
		return nil, nil
	}
	raw := overrides.Spec.Raw
	if len(raw) > v1alpha1.MaxOverridesBytes || string(raw) == v1alpha1.OverridesTooLarge {
		return nil, []string{fmt.Sprintf("spec.cnpg.spec: its JSON exceeds %d bytes; remove fields, or refer to ConfigMaps and Secrets in place of texts", v1alpha1.MaxOverridesBytes)}
	}
	if err := json.Unmarshal(raw, &extra); err != nil {
		return nil, []string{fmt.Sprintf("spec.cnpg.spec: not an object: %v; give fields of a CloudNativePG ClusterSpec", err)}
	}
	return extra, nil
}

// bootstrap makes way for a database that comes from a backup or another cluster, in
// which initdb has no part. The names of the database and its owner go there too:
// without them CloudNativePG makes no Secret of the owner.
func bootstrap(spec, extra map[string]any) {
	for _, way := range bootstraps[1:] {
		if _, asked, _ := unstructured.NestedFieldNoCopy(extra, "bootstrap", way); !asked {
			continue
		}
		from := map[string]any{}
		for _, name := range []string{"database", "owner"} {
			if v, found, _ := unstructured.NestedString(spec, "bootstrap", "initdb", name); found {
				from[name] = v
			}
		}
		spec["bootstrap"] = map[string]any{way: from}
		return
	}
}

// twoBootstraps refuses more than one way to make the database.
func twoBootstraps(extra map[string]any) []string {
	var ways []string
	for _, way := range bootstraps {
		if _, asked, _ := unstructured.NestedFieldNoCopy(extra, "bootstrap", way); asked {
			ways = append(ways, way)
		}
	}
	if len(ways) < 2 {
		return nil
	}
	return []string{fmt.Sprintf("spec.cnpg.spec.bootstrap: a database is made in one way, and these are %s; keep one", strings.Join(ways, " and "))}
}

// restoredElsewhere refuses to make a database in another way than spec.origin says.
func restoredElsewhere(spec, extra map[string]any) []string {
	_, restored, _ := unstructured.NestedFieldNoCopy(spec, "bootstrap", "recovery")
	if !restored || !has(extra, []string{"bootstrap"}) {
		return nil
	}
	return []string{"spec.cnpg.spec.bootstrap: spec.origin restores the database; remove one of the two"}
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

// has says whether m touches a path. It does so by containing it, or with a value on
// the way that is not an object, such as null.
func has(m map[string]any, path []string) bool {
	v, ok := m[path[0]]
	if !ok || len(path) == 1 {
		return ok
	}
	next, isMap := v.(map[string]any)
	return !isMap || has(next, path[1:])
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
