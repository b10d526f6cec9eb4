package hatch

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// inherited are the fields of spec.cnpg.spec without which an instance could not run the
// cluster's image or replay its WAL.
var inherited = []string{"imageCatalogRef", "imagePullPolicy", "imagePullSecrets", "postgresGID", "postgresUID"}

// inheritedPostgres are those below spec.cnpg.spec.postgresql.
var inheritedPostgres = []string{"extensions", "shared_preload_libraries"}

// Inherited are the fields that a copy of a database takes over from it: a read pool, or a
// branch. What cannot be read is left out: the database reports it.
func Inherited(from *v1alpha1.CNPGOverrides) *v1alpha1.CNPGOverrides {
	if from == nil || from.Spec == nil {
		return nil
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(from.Spec.Raw, &all) != nil {
		return nil
	}
	out := pick(all, inherited)
	var postgres map[string]json.RawMessage
	if json.Unmarshal(all["postgresql"], &postgres) == nil {
		if kept := pick(postgres, inheritedPostgres); len(kept) > 0 {
			out["postgresql"] = kept
		}
	}
	if len(out) == 0 {
		return nil
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil
	}
	return &v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: raw}}
}

func pick(from map[string]json.RawMessage, names []string) map[string]any {
	out := map[string]any{}
	for _, name := range names {
		if v, found := from[name]; found {
			out[name] = v
		}
	}
	return out
}
