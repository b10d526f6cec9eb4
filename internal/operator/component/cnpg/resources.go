package cnpg

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// resources of the pod of an instance. The kernel charges the pages of a tmpfs to the pod
// that writes them first (Linux, cgroup-v2, Memory Ownership). So the memory of a pod has
// to hold Postgres, which the spec declares, and its volumes.
func resources(cr *v1alpha1.PgStorageCluster, volumes profile.Volumes) corev1.ResourceRequirements {
	out := corev1.ResourceRequirements{Requests: cr.Spec.Resources.Requests, Limits: cr.Spec.Resources.Limits}
	if !volumes.InMemory {
		return out
	}
	size := InMemory(cr)
	out.Requests = with(out.Requests, size)
	if _, limited := out.Limits[corev1.ResourceMemory]; limited {
		out.Limits = with(out.Limits, size)
	}
	return out
}

// InMemory is the sum of the volumes of one instance.
func InMemory(cr *v1alpha1.PgStorageCluster) resource.Quantity {
	sum := cr.Spec.Storage.Size.DeepCopy()
	if wal := cr.Spec.Storage.WALSize; wal != nil {
		sum.Add(*wal)
	}
	return sum
}

func with(amounts corev1.ResourceList, further resource.Quantity) corev1.ResourceList {
	out := corev1.ResourceList{}
	maps.Copy(out, amounts)
	memory := out[corev1.ResourceMemory]
	memory = memory.DeepCopy()
	memory.Add(further)
	out[corev1.ResourceMemory] = memory
	return out
}
