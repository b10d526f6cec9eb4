package doctor

import (
	"fmt"
	"path"
	"strings"

	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
)

// shown is how many volumes of a node the message names at most.
const shown = 5

// orphans checks that each volume on a node has a PersistentVolume. zfs-localpv leaves one without
// when it reports a failure for a volume that its node creates after all.
func (c *checker) orphans() {
	if c.blind("PersistentVolumes") {
		return
	}
	known := map[string]bool{}
	for _, v := range c.facts.Volumes {
		if csi := v.Spec.CSI; csi != nil && csi.Driver == zfsvolumes.Driver {
			known[csi.VolumeHandle] = true
		}
	}
	for i := range c.facts.Storages {
		s := &c.facts.Storages[i]
		var lost []string
		for _, v := range s.Status.Volumes {
			if !known[path.Base(v.Name)] {
				lost = append(lost, v.Name)
			}
		}
		if len(lost) > 0 {
			c.add(Warning, fmt.Sprintf("pool %s on node %s", s.Spec.Pool.Name, s.Spec.NodeName), listed(lost)+" without a PersistentVolume; such a volume takes space, and a clone keeps its snapshot",
				"the page says how to find out whether their data is kept on purpose, and how to delete them", "docs/spec/pgnodestorage.md#volumes-without-a-persistentvolume")
		}
	}
}

// listed volumes, the first by name.
func listed(names []string) string {
	if len(names) == 1 {
		return "the volume " + names[0]
	}
	text := fmt.Sprintf("%d volumes (%s", len(names), strings.Join(names[:min(len(names), shown)], ", "))
	if len(names) > shown {
		text += ", …"
	}
	return text + ")"
}
