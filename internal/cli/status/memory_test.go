package status

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// Each volume in memory is shown, and one that is lost is marked.
func TestVolumesInMemoryAreShown(t *testing.T) {
	s := &v1alpha1.PgNodeStorage{}
	s.Status.Memory = &v1alpha1.ObservedMemory{Volumes: []v1alpha1.ObservedMemoryVolume{
		{Name: "pvc-1", State: v1alpha1.MemoryVolumeMounted, Size: new(resource.MustParse("1Gi")), Used: new(resource.MustParse("64Mi"))},
		{Name: "pvc-2", State: v1alpha1.MemoryVolumeLost},
	}}
	got := (Builder{}).NodeStorage(s).Children
	if len(got) != 2 || got[0].Name != "pvc-1" || got[0].State != view.Ready || got[0].Details[1] != "64Mi of 1Gi used" {
		t.Errorf("%+v", got)
	}
	if got[1].State != view.Stalled || got[1].Reason != v1alpha1.ReasonVolumeLost {
		t.Errorf("%+v", got[1])
	}
}
