package cnpg

import "slices"

// AddQueries has the instances of a Cluster report what a ConfigMap's queries read,
// beside those that an override names.
func AddQueries(content map[string]any, configMap, key string) {
	spec, _ := content["spec"].(map[string]any)
	monitoring, isMap := spec["monitoring"].(map[string]any)
	if !isMap {
		monitoring = map[string]any{}
		spec["monitoring"] = monitoring
	}
	others, _ := monitoring["customQueriesConfigMap"].([]any)
	monitoring["customQueriesConfigMap"] = append(slices.Clip(others), map[string]any{"name": configMap, "key": key})
}
