package observed

import corev1 "k8s.io/api/core/v1"

// Scratch is where the layers of a benchmark's storage can be measured: on volumes of
// the StorageClasses that the primary's own volumes have.
type Scratch struct {
	// WAL is the StorageClass of what holds the WAL, Data that of the data where it is
	// another one.
	WAL, Data string
	// Tolerations of the instances, so that a pod may stand where the primary does.
	Tolerations []corev1.Toleration
	// Impossible says why no volume can be had; empty where one can.
	Impossible string
}
