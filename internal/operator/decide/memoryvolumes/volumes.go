package memoryvolumes

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// Has reports whether a PgNodeStorage declares a volume.
func Has(s *v1alpha1.PgNodeStorage, volume string) bool { return index(s, volume) >= 0 }

func index(s *v1alpha1.PgNodeStorage, volume string) int {
	if s.Spec.Memory == nil {
		return -1
	}
	return slices.IndexFunc(s.Spec.Memory.Volumes, func(v v1alpha1.NodeMemoryVolume) bool { return v.Name == volume })
}

// Add declares a volume; one that is declared stays as it is.
func Add(s *v1alpha1.PgNodeStorage, volume string, size resource.Quantity) {
	if s.Spec.Memory == nil || Has(s, volume) {
		return
	}
	s.Spec.Memory.Volumes = append(s.Spec.Memory.Volumes, v1alpha1.NodeMemoryVolume{Name: volume, Size: size})
}

// Remove declares a volume no more, so that the agent unmounts it.
func Remove(s *v1alpha1.PgNodeStorage, volume string) {
	if i := index(s, volume); i >= 0 {
		s.Spec.Memory.Volumes = slices.Delete(s.Spec.Memory.Volumes, i, i+1)
	}
}

// Pin names the tmpfs of a volume, in place of which the agent mounts no other one.
func Pin(s *v1alpha1.PgNodeStorage, volume, incarnation string) {
	if i := index(s, volume); i >= 0 && s.Spec.Memory.Volumes[i].Incarnation == "" {
		s.Spec.Memory.Volumes[i].Incarnation = incarnation
	}
}

// Same reports whether two declare the same volumes.
func Same(a, b *v1alpha1.PgNodeStorage) bool {
	return equality.Semantic.DeepEqual(a.Spec.Memory, b.Spec.Memory)
}

// Reported is a volume in the status of a PgNodeStorage, or nil.
func Reported(s *v1alpha1.PgNodeStorage, volume string) *v1alpha1.ObservedMemoryVolume {
	if s.Status.Memory == nil {
		return nil
	}
	for i := range s.Status.Memory.Volumes {
		if s.Status.Memory.Volumes[i].Name == volume {
			return &s.Status.Memory.Volumes[i]
		}
	}
	return nil
}

// Orphans of a PgNodeStorage are volumes without a PersistentVolume whose claim is gone,
// too: a manager ended between the volume and its PersistentVolume. Made and claimed are
// the names of the PersistentVolumes that exist, and of those that claims are to have.
func Orphans(s *v1alpha1.PgNodeStorage, made, claimed map[string]bool) []string {
	var out []string
	if s.Spec.Memory == nil {
		return nil
	}
	for _, v := range s.Spec.Memory.Volumes {
		if !made[v.Name] && !claimed[v.Name] {
			out = append(out, v.Name)
		}
	}
	return out
}
