package recorder

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
)

// The prefix is what client-go's recorder of tests writes before a note.
const prefix = "Normal Reason "

func TestBoundedTruncatesTheNote(t *testing.T) {
	for name, tc := range map[string]struct{ note, want string }{
		"short":        {"100% of it", "100% of it"},
		"at the limit": {strings.Repeat("x", MaxNote), strings.Repeat("x", MaxNote)},
		"too long":     {strings.Repeat("x", MaxNote+1), strings.Repeat("x", MaxNote-3) + "..."},
		"not UTF-8":    {"a\xffb", "a\uFFFDb"},
	} {
		t.Run(name, func(t *testing.T) {
			fake := events.NewFakeRecorder(1)
			Bounded(fake).Eventf(&corev1.Pod{}, nil, corev1.EventTypeNormal, "Reason", "Action", "%s", tc.note)
			if got := <-fake.Events; got != prefix+tc.want {
				t.Errorf("recorded %q, want %q", got, prefix+tc.want)
			}
		})
	}
}
