package clusters

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

func TestEphemeralPlan(t *testing.T) {
	cr := ephemeral(nil)
	built, err := Build(cr, inMemory(facts()), catalog.All(), config)
	if err != nil {
		t.Fatal(err)
	}
	golden.Plan(t, "cluster-ephemeral", &built.Plan)
}

// Volumes that no node can have are refused before anything is created.
func TestVolumesLargerThanANodeAreRefused(t *testing.T) {
	for size, want := range map[string]string{
		"16Gi": "",
		"17Gi": "spec.storage: the volumes of an instance are 17Gi, and profile standard gives at most 16Gi of a node. Lower spec.storage, or raise spec.memory.maxPerNode there",
	} {
		cr := ephemeral(func(s *v1alpha1.PgStorageClusterSpec) { s.Storage.Size = resource.MustParse(size) })
		if o := storageOutcome(catalog.All(), cr, inMemory(facts())); (o.Kind == outcome.Done) != (want == "") || want != "" && o.Message != want {
			t.Errorf("%s: %+v", size, o)
		}
	}
	cr := ephemeral(func(s *v1alpha1.PgStorageClusterSpec) { s.Storage.WALSize = new(resource.MustParse("15Gi")) })
	if o := storageOutcome(catalog.All(), cr, inMemory(facts())); !strings.Contains(o.Message, "are 17Gi") {
		t.Errorf("WAL does not count: %+v", o)
	}
}

// A follower that lost its volume waits to be cloned again. Any other database is lost.
func TestLostVolumeMeansAnotherCloneOrALostDatabase(t *testing.T) {
	for _, tc := range []struct {
		name   string
		follow *v1alpha1.FollowSpec
		kind   outcome.Kind
		says   string
	}{
		{"a read pool", &v1alpha1.FollowSpec{Cluster: "main"}, outcome.Wait, "clones the read pool again"},
		{"an ephemeral database", nil, outcome.Invalid, "delete this PgStorageCluster"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cr := ephemeral(func(s *v1alpha1.PgStorageClusterSpec) { s.Follow = tc.follow })
			f := inMemory(facts())
			f.Claims = []observed.Claim{{Name: "shop-1", Volume: "pvc-1", Lost: "its tmpfs is gone"}}
			if o, _ := verify(catalog.All(), cr, f); o == nil || o.Kind != tc.kind || o.Reason != v1alpha1.ReasonVolumeLost || !strings.Contains(o.Message, tc.says) {
				t.Errorf("%+v", o)
			}
		})
	}
}
