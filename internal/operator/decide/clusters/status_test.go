package clusters

import (
	"fmt"
	"testing"

	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// The schema of the status allows 64 volumes. Where the namespace has more claims of a
// database, the facts have 64 and one entry for the others.
func TestVolumesFitTheStatus(t *testing.T) {
	var claims []observed.Claim
	for i := range 65 {
		claims = append(claims, observed.Claim{Name: fmt.Sprintf("shop-%d", i), Volume: "pvc"})
	}
	for _, n := range []int{0, 64, 65} {
		if got := volumeStatus(claims[:n]); len(got) != min(n, 64) {
			t.Errorf("%d volumes are listed of %d", len(got), n)
		}
	}
}
