// Package recorder writes events that the API server accepts.
package recorder

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
)

// MaxNote is the limit of an event's note in bytes. The API server rejects a longer
// note, and client-go drops the event without an error (noteLengthLimit in
// pkg/apis/core/validation/events.go of Kubernetes).
const MaxNote = 1024

// Bounded returns a recorder that truncates each note to MaxNote. Notes quote what a
// namespace's users write, so no caller can know their length.
func Bounded(to events.EventRecorder) events.EventRecorder { return bounded{to} }

type bounded struct{ events.EventRecorder }

// Eventf formats the note, truncates it and records the event.
func (b bounded) Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any) {
	b.EventRecorder.Eventf(regarding, related, eventtype, reason, action, "%s", excerpt.Truncate(fmt.Sprintf(note, args...), MaxNote))
}
