package clusters

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

// copied is made of two VolumeSnapshots.
func copied(s *v1alpha1.PgStorageClusterSpec) {
	s.Origin = &v1alpha1.OriginSpec{VolumeSnapshots: &v1alpha1.OriginVolumeSnapshots{Data: "pr-1-data", WAL: "pr-1-wal"}}
}

// branched are facts about the database of a branch, which the profile consents to nothing of.
func branched(change func(*v1alpha1.PgStorageBranch)) observed.Cluster {
	f := facts()
	f.BranchConsents = true
	f.Branch = &v1alpha1.PgStorageBranch{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	change(f.Branch)
	return f
}

func masked(b *v1alpha1.PgStorageBranch) { b.Spec.Masking = &v1alpha1.BranchMasking{} }

func TestGoldenBranches(t *testing.T) {
	for name, f := range map[string]observed.Cluster{
		"branch":        branched(func(*v1alpha1.PgStorageBranch) {}),
		"branch-masked": branched(masked),
	} {
		t.Run(name, func(t *testing.T) {
			built, err := Build(shop(copied), f, catalog.All(), config)
			if err != nil {
				t.Fatal(err)
			}
			golden.Plan(t, "cluster-"+name, &built.Plan)
		})
	}
}

// Rules of the author do not open a database whose data is not masked.
func TestMaskingClosesTheDatabase(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.PgStorageBranch)
		closed bool
	}{
		"no masking":    {func(*v1alpha1.PgStorageBranch) {}, false},
		"not masked":    {masked, true},
		"masked before": {func(b *v1alpha1.PgStorageBranch) { masked(b); b.Status.Masked = "abc" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := masking(branched(tc.change)); got != tc.closed {
				t.Errorf("closed: %v", got)
			}
		})
	}
}

// VolumeSnapshots can be of another's database. A branch has the consent of its source, and a
// database that exists has its data already.
func TestSnapshotsNeedConsent(t *testing.T) {
	accepted := func(f observed.Cluster) outcome.Outcome {
		t.Helper()
		built, err := Build(shop(copied), f, catalog.All(), config)
		if err != nil {
			t.Fatal(err)
		}
		o, _ := built.Outcomes.Get(v1alpha1.ConditionParametersAccepted)
		return o
	}
	byHand := facts()
	built, err := Build(shop(copied), byHand, catalog.All(), config)
	if err != nil {
		t.Fatal(err)
	}
	refusedBy(t, built, v1alpha1.ReasonOverrideRefused, "add bootstrap.recovery to spec.allowedOverrides")
	labelled := branched(masked)
	labelled.BranchConsents = false
	if o := accepted(labelled); o.Reason != v1alpha1.ReasonOverrideRefused {
		t.Errorf("with the labels of a branch: %+v", o)
	}
	byHand.Profile.Spec.AllowedOverrides = []string{"bootstrap.recovery"}
	if o := accepted(byHand); o.Kind != outcome.Done {
		t.Errorf("with the profile's consent: %+v", o)
	}
	withStore := branched(masked)
	withStore.BranchConsents = false
	withStore.Profile.Spec.AllowedOverrides = []string{"bootstrap.recovery"}
	built, err = Build(shop(func(s *v1alpha1.PgStorageClusterSpec) {
		copied(s)
		s.Origin.ObjectStore, s.Origin.Server = "lake", "bank"
	}), withStore, catalog.All(), config)
	if err != nil {
		t.Fatal(err)
	}
	refusedBy(t, built, v1alpha1.ReasonOverrideRefused, "add externalClusters to spec.allowedOverrides")
	exists := facts()
	exists.Cluster = running("shop", 1)
	for name, f := range map[string]observed.Cluster{"a branch": branched(masked), "one that exists": exists} {
		if o := accepted(f); o.Kind != outcome.Done {
			t.Errorf("%s: %+v", name, o)
		}
	}
}
