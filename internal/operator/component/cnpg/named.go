package cnpg

import (
	"fmt"
	"slices"
)

// shared are the lists of a ClusterSpec to which this API and an override both add, by name.
var shared = []string{"plugins", "externalClusters"}

// join the lists of an override with ours, and refuse a name that both have.
func join(merged, ours, extra map[string]any) []string {
	var refused []string
	for _, field := range shared {
		mine, _ := ours[field].([]any)
		theirs, _ := extra[field].([]any)
		if len(mine) == 0 || len(theirs) == 0 {
			continue
		}
		for i, item := range theirs {
			if name := nameOf(item); slices.ContainsFunc(mine, func(m any) bool { return nameOf(m) == name }) {
				refused = append(refused, fmt.Sprintf("spec.cnpg.spec.%s[%d].name: %s is set from another field of the spec; choose another name, or remove it", field, i, name))
			}
		}
		merged[field] = slices.Concat(mine, theirs)
	}
	return refused
}

func nameOf(item any) string {
	fields, _ := item.(map[string]any)
	name, _ := fields["name"].(string)
	return name
}
