// Package toolarge leaves alone what the cache does not hold whole.
package toolarge

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// Skips says whether reconcile skips an object, because its status is too large for the
// cache, and emits an event about it. The operator never writes such a status, so
// another writer did. Without its status a pass would not know what was done before.
// Deletion continues.
func Skips(recorder events.EventRecorder, o client.Object) bool {
	bytes := o.GetAnnotations()[naming.AnnotationTooLarge]
	if bytes == "" || !o.GetDeletionTimestamp().IsZero() {
		return false
	}
	recorder.Eventf(o, nil, corev1.EventTypeWarning, "StatusTooLarge", "Reconcile",
		"the status has %s bytes, more than the operator keeps in memory, and another writer wrote it. The object is left as it is: find who writes its status, and delete and create the object again", bytes)
	return true
}
