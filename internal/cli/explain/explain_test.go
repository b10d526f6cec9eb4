package explain

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/config/crd"
	"github.com/pgstorage/pgstorage/internal/cli/admit"
	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
	"github.com/pgstorage/pgstorage/internal/testing/snapshots"
)

// load loads the schemas once, because it is slow.
var load = sync.OnceValues(func() (*admit.Schemas, error) { return admit.Load(crd.Bases) })

func reference(t *testing.T) *admit.Schemas {
	t.Helper()
	s, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestExplanationsMatchGoldenFiles(t *testing.T) {
	zfs := snapshots.Cluster(t, "testdata/zfs.yaml")
	stale := zfs
	stale.Cluster = zfs.Cluster.DeepCopy()
	stale.Cluster.Generation, stale.Profile.Storages = 3, nil
	stale.Unread = []snapshot.Unread{{What: "Pods in namespace prod", Why: "forbidden"}}
	external := snapshot.Cluster{Cluster: &v1alpha1.PgStorageCluster{Spec: zfs.Cluster.Spec}}
	external.Cluster.Namespace, external.Cluster.Name = "prod", "new"
	external.Profile.Profile = &v1alpha1.PgStorageProfile{Spec: v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeExternal}}
	one, err := Cluster(zfs, reference(t)).Only("recordsize", "work_mem")
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range map[string]Explanation{
		"zfs": Cluster(zfs, reference(t)), "stale": Cluster(stale, reference(t)), "external": Cluster(external, reference(t)), "one": one,
	} {
		t.Run(name, func(t *testing.T) { golden.Text(t, "testdata/"+name+".golden.txt", e.Text(view.Style{})) })
	}
	raw, err := json.MarshalIndent(one, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Text(t, "testdata/one.golden.json", string(raw)+"\n")
}

func TestAMemoryProfileHasNoPoolToExplain(t *testing.T) {
	s := snapshot.Cluster{Cluster: &v1alpha1.PgStorageCluster{}}
	s.Profile.Profile = &v1alpha1.PgStorageProfile{Spec: v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeMemory}}
	s.Profile.Storages = []v1alpha1.PgNodeStorage{{Spec: v1alpha1.PgNodeStorageSpec{NodeName: "node-1", Memory: &v1alpha1.NodeMemory{}}}}
	if text := Cluster(s, reference(t)).Text(view.Style{}); !strings.Contains(text, "Memory profiles have volumes in the memory of nodes, without pools and datasets") || strings.Contains(text, "found") {
		t.Errorf("%s", text)
	}
}

func TestOnlyRejectsSettingsThatAreNotSet(t *testing.T) {
	e := Cluster(snapshots.Cluster(t, "testdata/zfs.yaml"), reference(t))
	if _, err := e.Only("work_mem", "port"); err == nil || !strings.Contains(err.Error(), "does not set port of prod/shop") {
		t.Errorf("got error %v, want one about port", err)
	}
}

func TestEachPropertyHasAField(t *testing.T) {
	profile := &v1alpha1.PgStorageProfile{}
	profile.Name = "p"
	profile.Spec.Type = v1alpha1.ProfileTypeZFSLocalPV
	s := zfsvolumes.Storage{Profile: profile, Pool: "tank", Block: &v1alpha1.ZFSBlock{}}
	data := v1alpha1.ZFSDataDataset{Recordsize: "8k"}
	data.SpecialSmallBlocks = "0"
	wal := v1alpha1.ZFSWALDataset{Recordsize: "32k", ZFSDatasetProperties: data.ZFSDatasetProperties}
	s.Block.ZFSDatasetProperties = data.ZFSDatasetProperties
	seen := 0
	for _, d := range s.NodeStorage("n", data, wal, v1alpha1.DriftRepair, nil).Datasets {
		for _, p := range d.Properties {
			seen++
			if source, reason := why(profile, Property{Of: *d.Name, Name: *p.Name, Value: *p.Value}, reference(t)); source == fixed || reason == "" {
				t.Errorf("%s of %s: %s %q", *p.Name, *d.Name, source, reason)
			}
		}
	}
	if seen < 40 {
		t.Errorf("got %d properties, want 40 or more", seen)
	}
}

func TestSameComparesDefaultsInExactForm(t *testing.T) {
	for _, tc := range []struct {
		def, value string
		want       bool
	}{{"8k", "8192", true}, {"8k", "16384", false}, {"lz4", "lz4", true}, {"", "none", true}, {"", "5", false}, {"0", "0", true}, {"off", "on", false}} {
		if got := same(tc.def, tc.value); got != tc.want {
			t.Errorf("same(%q, %q) is %v, want %v", tc.def, tc.value, got, tc.want)
		}
	}
}
