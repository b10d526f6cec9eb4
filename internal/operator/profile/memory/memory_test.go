package memory

import (
	"strings"
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
	"github.com/pgstorage/pgstorage/internal/testing/zfsnodes"
)

func cache() *v1alpha1.PgStorageProfile {
	return &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "cache", UID: "11111111-2222-3333-4444-555555555555", Generation: 1},
		Spec: v1alpha1.PgStorageProfileSpec{
			Type: v1alpha1.ProfileTypeMemory, NodeSelector: map[string]string{"pgstorage.dev/memory": "yes"},
			Memory: &v1alpha1.MemoryProfile{MaxPerNode: resource.MustParse("4Gi")},
		},
	}
}

// healthy are two nodes of 16Gi whose agents have answered.
func healthy() observed.Profile {
	f := zfsnodes.Healthy("cache", "")
	f.ForeignAPIs = observed.ForeignAPIs{}
	for i := range f.Nodes {
		f.Nodes[i] = observed.Node{Name: f.Nodes[i].Name, Hostname: "host-" + f.Nodes[i].Name, Selected: true, Memory: 16 << 30}
		f.Storages[i].Spec.Memory = &v1alpha1.NodeMemory{}
	}
	return f
}

func declares(s *v1alpha1.PgNodeStorage, size string) {
	s.Spec.Memory.Volumes = append(s.Spec.Memory.Volumes, v1alpha1.NodeMemoryVolume{Name: "pvc-1", Size: resource.MustParse(size)})
}

func TestPlans(t *testing.T) {
	for _, tc := range []struct {
		name  string
		facts func(*observed.Profile)
	}{
		{name: "nodes"},
		// Each volume is a generation that the agent has not answered yet.
		{name: "nodes", facts: func(f *observed.Profile) { f.Storages[0].Generation++ }},
		{name: "no-agent", facts: func(f *observed.Profile) {
			f.Storages[0].Status, f.Storages[1].Status = v1alpha1.PgNodeStorageStatus{}, v1alpha1.PgNodeStorageStatus{}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			facts := healthy()
			if tc.facts != nil {
				tc.facts(&facts)
			}
			built, err := Type{}.Build(cache(), facts)
			if err != nil {
				t.Fatal(err)
			}
			golden.Plan(t, tc.name, &built.Plan)
		})
	}
}

func TestConditions(t *testing.T) {
	for _, tc := range []struct {
		name      string
		facts     func(*observed.Profile)
		condition string
		reason    string
		message   string
	}{
		{"the class is not there yet", nil, v1alpha1.ConditionStorageReady, v1alpha1.ReasonStorageClassNotFound, ""},
		{"the class is another's", func(f *observed.Profile) { f.Classes["cache"] = &storagev1.StorageClass{} }, v1alpha1.ConditionStorageReady, v1alpha1.ReasonStorageClassNotOwned, "cache"},
		{"the class is there", func(f *observed.Profile) {
			f.Classes["cache"] = &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Labels: naming.ProfileLabels("cache", "1")}}
		}, v1alpha1.ConditionStorageReady, v1alpha1.ReasonStorageClassApplied, ""},
		{"agents have answered", nil, v1alpha1.ConditionNodesReady, v1alpha1.ReasonNodesReady, "2 of 2 nodes"},
		{"an agent has not answered", func(f *observed.Profile) { f.Storages[0].Status.Conditions = nil }, v1alpha1.ConditionNodesReady, v1alpha1.ReasonAgentNotSeen, "1 of 2 nodes"},
		{"no node is selected", func(f *observed.Profile) { f.Nodes, f.Storages = nil, nil }, v1alpha1.ConditionNodesReady, v1alpha1.ReasonNoNodeSelected, "pgstorage.dev/memory=yes"},
		{"the volumes fit", func(f *observed.Profile) { f.Nodes[0].ARC = 8 << 30 }, v1alpha1.ConditionMemoryBudget, v1alpha1.ReasonWithinBudget, "n1: ARC 8Gi + volumes up to 4Gi + shared_buffers of 0 instances 0 + reserve 1638Mi = 13926Mi of 16Gi"},
		{"the ARC and the volumes are too much", func(f *observed.Profile) { f.Nodes[0].ARC = 12 << 30 }, v1alpha1.ConditionMemoryBudget, v1alpha1.ReasonOverBudget, "Lower spec.memory.maxPerNode"},
		{"volumes of another profile are too much", func(f *observed.Profile) { f.Nodes[1].InMemory = 12 << 30 }, v1alpha1.ConditionMemoryBudget, v1alpha1.ReasonOverBudget, "n2: ARC 0 + volumes up to 4Gi + volumes of other profiles 12Gi"},
		{"the profile's own volumes count once", func(f *observed.Profile) {
			f.Nodes[1].InMemory = 3 << 30
			declares(f.Storages[1], "3Gi")
		}, v1alpha1.ConditionMemoryBudget, v1alpha1.ReasonWithinBudget, "n2: ARC 0 + volumes up to 4Gi + shared_buffers"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			facts := healthy()
			if tc.facts != nil {
				tc.facts(&facts)
			}
			built, err := Type{}.Build(cache(), facts)
			if err != nil {
				t.Fatal(err)
			}
			o, found := outcome.NewSet(built.Outcomes...).Get(tc.condition)
			if !found || o.Reason != tc.reason || !strings.Contains(o.Message, tc.message) {
				t.Errorf("got %+v, want %s with %q", o, tc.reason, tc.message)
			}
		})
	}
}

func TestVolumesAreVerified(t *testing.T) {
	mounted := &v1alpha1.ObservedMemoryVolume{Name: "pvc-1", State: v1alpha1.MemoryVolumeMounted}
	for _, tc := range []struct {
		name   string
		claims []observed.Claim
		reason string
		text   string
	}{
		{"mounted", []observed.Claim{{Name: "a-1", Volume: "pvc-1", Memory: mounted}}, v1alpha1.ReasonVerified, "1 volumes"},
		{"not bound", []observed.Claim{{Name: "a-1"}}, v1alpha1.ReasonNotReadBack, "a-1 is not bound"},
		{"not reported", []observed.Claim{{Name: "a-1", Volume: "pvc-1", Unproved: "the agent is silent"}}, v1alpha1.ReasonNotReadBack, "silent"},
		{"none yet", nil, v1alpha1.ReasonNotReadBack, "0 of 1"},
		{"WAL alone is no database", []observed.Claim{{Name: "a-1-wal", WAL: true, Volume: "pvc-1", Memory: mounted}}, v1alpha1.ReasonNotReadBack, "0 of 1"},
		{"lost", []observed.Claim{{Name: "a-1", Volume: "pvc-1", Memory: mounted, Lost: "its tmpfs is gone"}}, v1alpha1.ReasonVolumeLost, "a-1: its tmpfs is gone"},
		{"lost with its node", []observed.Claim{{Name: "a-1", Volume: "pvc-1", Unproved: "no node", Lost: "its node does not exist"}}, v1alpha1.ReasonVolumeLost, "does not exist"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o, proof := Type{}.Verify(cache(), 1, tc.claims)
			if o == nil || o.Reason != tc.reason || !strings.Contains(o.Message, tc.text) {
				t.Errorf("got %+v, want %s with %q", o, tc.reason, tc.text)
			}
			if proof.Possible {
				t.Errorf("a tmpfs proves nothing about a standby: %+v", proof)
			}
		})
	}
}

// The agents would unmount volumes below databases.
func TestDeletionWaitsForVolumes(t *testing.T) {
	if a := teardown(cache(), observed.Profile{ClassesInUse: []string{"cache"}}); a.Done() || a.Reason != v1alpha1.ReasonInUse || !a.Unwatched {
		t.Errorf("%+v", a)
	}
	if a := teardown(cache(), observed.Profile{}); !a.Done() {
		t.Errorf("%+v", a)
	}
}

func TestBudgetOfANode(t *testing.T) {
	const gi = 1 << 30
	for _, tc := range []struct {
		name            string
		b               Budget
		size, own, most int64
		want            string
	}{
		{"fits", Budget{Node: "n1", Memory: 16 * gi}, 2 * gi, 2 * gi, 4 * gi, ""},
		{"more than the profile gives", Budget{Node: "n1", Memory: 16 * gi}, 2 * gi, 3 * gi, 4 * gi, "volumes of 3Gi and one of 2Gi on node n1 are more than spec.memory.maxPerNode of the profile, 4Gi"},
		{"more than the node has", Budget{Node: "n1", ARC: 8 * gi, Volumes: 5 * gi, Memory: 16 * gi}, 2 * gi, 1 * gi, 4 * gi, "on node n1 ARC 8Gi + volumes in memory 5Gi + this one 2Gi + reserve 1638Mi = 16998Mi, of 16Gi allocatable"},
		{"of a node whose memory is not known", Budget{Node: "n1", ARC: 80 * gi}, 2 * gi, 0, 4 * gi, ""},
	} {
		if got := tc.b.Exceeds(tc.size, tc.own, tc.most); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
