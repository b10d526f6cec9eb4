package cnpg

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

func TestWALSegmentBytes(t *testing.T) {
	if got := WALSegmentBytes(nil); got != 0 {
		t.Errorf("none: %d", got)
	}
	for raw, want := range map[string]int64{
		`{"bootstrap":{"initdb":{"walSegmentSize":64}}}`:   64 << 20,
		`{"bootstrap":{"initdb":{}}}`:                      0,
		`{"bootstrap":{"initdb":{"walSegmentSize":"64"}}}`: 0,
		`{"bootstrap":{"initdb":{"walSegmentSize":4096}}}`: 0,
		`{"bootstrap":{"initdb":{"walSegmentSize":-1}}}`:   0,
		`[]`: 0,
		``:   0,
	} {
		if got := WALSegmentBytes(&v1alpha1.CNPGOverrides{Spec: &runtime.RawExtension{Raw: []byte(raw)}}); got != want {
			t.Errorf("%s: %d, want %d", raw, got, want)
		}
	}
}
