package zfslocalpv

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/testing/zfsnodes"
)

func TestOutcomesNameTheFieldsOfTheProfile(t *testing.T) {
	facts := zfsnodes.Healthy("zfs-nvme", "tank")
	facts.Nodes[0].Memory = 1 << 30
	facts.Storages[0].Status.ARC = &v1alpha1.ObservedARC{Max: new(resource.MustParse("1Gi"))}
	built, err := Type{}.Build(adopt(nil), facts)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(built.Outcomes, func(o outcome.Outcome) bool { return o.Condition == v1alpha1.ConditionMemoryBudget })
	if i < 0 || !strings.Contains(built.Outcomes[i].Message, "spec.zfsLocalPV.arcMax") {
		t.Errorf("got %+v, want %s with spec.zfsLocalPV.arcMax", built.Outcomes, v1alpha1.ConditionMemoryBudget)
	}
}

func TestVolumesAreVerifiedAgainstThePoolOfTheProfile(t *testing.T) {
	claim := observed.Claim{Name: "shop-1", Instance: "shop-1", Volume: "pvc-1", Node: "n1"}
	for pool, want := range map[string]string{"tank": v1alpha1.ReasonVerified, "other": v1alpha1.ReasonVolumeDiffers} {
		claim.Observed = &v1alpha1.ObservedVolume{Name: pool + "/pgdata/pvc-1", Type: "Filesystem", Recordsize: 8192}
		o, _ := Type{}.Verify(adopt(nil), 1, []observed.Claim{claim})
		if o == nil || o.Reason != want {
			t.Errorf("volume of pool %s: got %+v, want %s", pool, o, want)
		}
	}
}
