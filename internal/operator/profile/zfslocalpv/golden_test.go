package zfslocalpv

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
	"github.com/pgstorage/pgstorage/internal/testing/zfsnodes"
)

// adopt is a profile with only what is required, as the API server completes it.
func adopt(change func(*v1alpha1.ZFSLocalPVProfile)) *v1alpha1.PgStorageProfile {
	z := &v1alpha1.ZFSLocalPVProfile{
		Pool:        v1alpha1.ZFSPool{Name: "tank", Autotrim: "off", Failmode: "wait", HeadroomPercent: new(int32(20))},
		Data:        v1alpha1.ZFSDataDataset{ZFSDatasetProperties: zfsnodes.Properties(), Recordsize: "8k", Secondarycache: "all"},
		WAL:         v1alpha1.ZFSWALDataset{ZFSDatasetProperties: zfsnodes.Properties(), Recordsize: "32k", Secondarycache: "none"},
		Medium:      v1alpha1.MediumSSD,
		DriftPolicy: v1alpha1.DriftRepair,
	}
	if change != nil {
		change(z)
	}
	return &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "zfs-nvme", UID: "11111111-2222-3333-4444-555555555555", Generation: 1},
		Spec: v1alpha1.PgStorageProfileSpec{
			Type:         v1alpha1.ProfileTypeZFSLocalPV,
			NodeSelector: map[string]string{"pgstorage.dev/pool": "tank"},
			ZFSLocalPV:   z,
		},
	}
}

func TestPlans(t *testing.T) {
	for _, tc := range []struct {
		name    string
		profile *v1alpha1.PgStorageProfile
		facts   func(*observed.Profile)
	}{
		{name: "adopt", profile: adopt(nil)},
		{name: "create-mirror", profile: adopt(func(z *v1alpha1.ZFSLocalPVProfile) {
			z.Pool.Compatibility = "openzfs-2.1-linux"
			z.Pool.Create = &v1alpha1.ZFSPoolCreate{
				Ashift: new(int32(12)),
				Vdevs: []v1alpha1.ZFSVdev{{Type: v1alpha1.VdevMirror, Devices: []v1alpha1.ZFSDevice{
					{Path: "/dev/disk/by-id/nvme-a"}, {Path: "/dev/disk/by-id/nvme-b", Wipe: new(true)},
				}}},
				Logs: []v1alpha1.ZFSVdev{{Type: v1alpha1.VdevStripe, Selector: &v1alpha1.ZFSDeviceSelector{
					Count: 1, MinSize: new(resource.MustParse("8Gi")), MaxSize: new(resource.MustParse("32Gi")), Model: "Optane*", Transport: "nvme",
				}}},
			}
		})},
		{name: "separate-wal", profile: adopt(func(z *v1alpha1.ZFSLocalPVProfile) {
			z.Data.Recordsize, z.Data.Logbias, z.Data.Quota = "16k", "throughput", new(resource.MustParse("400Gi"))
			z.WAL.Recordsize, z.WAL.Primarycache, z.WAL.Reservation = "128k", "metadata", new(resource.MustParse("20Gi"))
			z.ARCMax = new(resource.MustParse("4Gi"))
		}), facts: func(f *observed.Profile) { f.ZFSQuotaType = true }},
		{name: "block", profile: adopt(func(z *v1alpha1.ZFSLocalPVProfile) {
			z.Block = &v1alpha1.ZFSBlock{ZFSDatasetProperties: z.Data.ZFSDatasetProperties, Secondarycache: "all", Volblocksize: "16k", Provisioning: "Thick"}
		})},
		{name: "one-node-not-ready", profile: adopt(nil), facts: func(f *observed.Profile) {
			f.Storages[1].Status.ObservedGeneration = 2
		}},
		{name: "no-driver", profile: adopt(nil), facts: func(f *observed.Profile) { f.ForeignAPIs = observed.ForeignAPIs{} }},
		// The same objects as where every node is Ready.
		{name: "adopt", profile: adopt(nil), facts: func(f *observed.Profile) { f.Reachable["n2"] = observed.Reachability{Status: metav1.ConditionUnknown} }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			facts := zfsnodes.Healthy("zfs-nvme", "tank")
			if tc.facts != nil {
				tc.facts(&facts)
			}
			built, err := Type{}.Build(tc.profile, facts)
			if err != nil {
				t.Fatal(err)
			}
			golden.Plan(t, tc.name, &built.Plan)
		})
	}
}
