package layout

import (
	"fmt"
	"slices"
	"strings"
)

// Shared says on which nodes instances of databases and OSDs are together, and what
// the loss of one takes; empty where none are.
func (c Ceph) Shared(instances map[string][]string, osdHosts []string) string {
	var both []string
	for node, names := range instances {
		if slices.Contains(osdHosts, node) && len(names) > 0 {
			slices.Sort(names)
			both = append(both, fmt.Sprintf("%s (%s)", node, strings.Join(names, ", ")))
		}
	}
	if len(both) == 0 {
		return ""
	}
	slices.Sort(both)
	text := "these nodes have instances and OSDs, so the loss of one takes both: " + strings.Join(both, "; ") + ". "
	l := c.node()
	switch l.Data {
	case "Kept":
		return text + "Every other instance continues: " + l.Detail
	case "Unavailable":
		return text + "Every other instance stops too, until the node or its copies are back: " + l.Detail
	}
	if c.Pinned {
		return text + "Each instance has its data on its own node, so the others continue; two instances on one node are lost together"
	}
	return text + "Every other instance may lose its data too: " + l.Detail
}
