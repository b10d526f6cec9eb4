package zfsvolumes_test

import (
	"testing"
	"time"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/component/zfsvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
	"github.com/pgstorage/pgstorage/internal/testing/zfsnodes"
)

// storage of a profile with pool tank on the nodes that its selector selects.
func storage() zfsvolumes.Storage {
	return zfsvolumes.Storage{
		Profile: &v1alpha1.PgStorageProfile{
			ObjectMeta: metav1.ObjectMeta{Name: "zfs-nvme", UID: "11111111-2222-3333-4444-555555555555", Generation: 1},
			Spec:       v1alpha1.PgStorageProfileSpec{NodeSelector: map[string]string{"pgstorage.dev/pool": "tank"}},
		},
		Field: "spec.zfsLocalPV",
		Pool:  "tank",
	}
}

func healthy() observed.Profile { return zfsnodes.Healthy("zfs-nvme", "tank") }

func answered(node string, conditions ...metav1.Condition) *v1alpha1.PgNodeStorage {
	return zfsnodes.Answered("zfs-nvme", node, conditions...)
}

func TestVerdicts(t *testing.T) {
	notBlank := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonDeviceNotBlank, Message: "/dev/disk/by-id/a carries ext4"}
	stalled := metav1.Condition{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDeviceNotBlank}
	off := observed.Reachability{Status: metav1.ConditionUnknown, Reason: "NodeStatusUnknown", Since: metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))}
	ours := func(name string) *storagev1.StorageClass {
		return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: naming.ProfileLabels("zfs-nvme", "11111111-2222-3333-4444-555555555555")}}
	}
	for _, tc := range []struct {
		name    string
		facts   func(*observed.Profile)
		want    map[string]string
		message string
		held    bool
	}{
		{"everything", func(f *observed.Profile) {
			f.Classes["zfs-nvme"], f.Classes["zfs-nvme-wal"] = ours("zfs-nvme"), ours("zfs-nvme-wal")
		},
			map[string]string{v1alpha1.ConditionDriverReady: v1alpha1.ReasonDriverReady, v1alpha1.ConditionNodesReady: v1alpha1.ReasonNodesReady, v1alpha1.ConditionStorageReady: v1alpha1.ReasonStorageClassApplied}, "", false},
		{"no node", func(f *observed.Profile) { f.Nodes = nil },
			map[string]string{v1alpha1.ConditionNodesReady: v1alpha1.ReasonNoNodeSelected},
			"spec.nodeSelector: no node has the labels pgstorage.dev/pool=tank; label one with kubectl label node NAME pgstorage.dev/pool=tank", true},
		{"an agent that never answered", func(f *observed.Profile) { f.Storages = f.Storages[:1] },
			map[string]string{v1alpha1.ConditionNodesReady: v1alpha1.ReasonAgentNotSeen}, "1 of 2 nodes are not ready: n2: its PgNodeStorage was not made yet", false},
		{"an old answer", func(f *observed.Profile) { f.Storages[0].Generation = 4 },
			map[string]string{v1alpha1.ConditionNodesReady: v1alpha1.ReasonAgentNotSeen},
			"1 of 2 nodes are not ready: n1: no agent has answered for generation 4 of PgNodeStorage zfs-nvme.n1; does a pod of the DaemonSet pgstorage-agent run on the node?", false},
		{"a person is named before a wait", func(f *observed.Profile) {
			f.Storages[0].Generation = 4
			f.Storages[1] = answered("n2", notBlank, stalled)
		}, map[string]string{v1alpha1.ConditionNodesReady: v1alpha1.ReasonDeviceNotBlank}, "", true},
		{"a node that is off", func(f *observed.Profile) { f.Reachable["n2"] = off },
			map[string]string{v1alpha1.ConditionNodesReady: v1alpha1.ReasonNodeNotReady, v1alpha1.ConditionDriverReady: v1alpha1.ReasonDriverReady},
			"1 of 2 nodes are not ready: n2: its Node is not Ready since 2026-03-01T12:00:00Z (Unknown: NodeStatusUnknown), so what was read back there last may no longer hold; see kubectl describe node n2, and bring it back", false},
		{"every node is off", func(f *observed.Profile) { f.Reachable["n1"], f.Reachable["n2"] = off, off },
			map[string]string{v1alpha1.ConditionNodesReady: v1alpha1.ReasonNodeNotReady}, "", false},
		{"a node that is off and had its own trouble", func(f *observed.Profile) { f.Reachable["n2"], f.Storages[1] = off, answered("n2", notBlank, stalled) },
			map[string]string{v1alpha1.ConditionNodesReady: v1alpha1.ReasonNodeNotReady},
			"1 of 2 nodes are not ready: n2: its Node is not Ready since 2026-03-01T12:00:00Z (Unknown: NodeStatusUnknown), so what was read back there last may no longer hold; see kubectl describe node n2, and bring it back; before: /dev/disk/by-id/a carries ext4", false},
		{"what else waits is named before a node that is off", func(f *observed.Profile) { f.Reachable["n1"], f.Storages[1].Generation = off, 4 },
			map[string]string{v1alpha1.ConditionNodesReady: v1alpha1.ReasonAgentNotSeen}, "", false},
		{"a node whose Node is gone", func(f *observed.Profile) {
			f.Nodes, f.Reachable["n2"] = f.Nodes[:1], observed.Reachability{Gone: true}
		}, map[string]string{v1alpha1.ConditionNodesReady: v1alpha1.ReasonNodeNotFound},
			"1 of 2 nodes are not ready: n2: its Node does not exist, so what was read back there last may no longer hold; its pool and volumes stay on its disks", false},
		{"driver missing", func(f *observed.Profile) { f.ZFSLocalPV = false },
			map[string]string{v1alpha1.ConditionDriverReady: v1alpha1.ReasonDriverNotInstalled}, "OpenEBS zfs-localpv is not installed; install its Helm chart (https://openebs.github.io/zfs-localpv)", true},
		{"driver not on a node", func(f *observed.Profile) { f.Nodes[1].TopologyKey = "" },
			map[string]string{v1alpha1.ConditionDriverReady: v1alpha1.ReasonDriverNotOnNode, v1alpha1.ConditionNodesReady: v1alpha1.ReasonNodesReady},
			"1 of 2 nodes are not ready: n2: the CSI driver zfs.csi.openebs.io is not registered on the node; does a pod of its node DaemonSet run there?", false},
		{"pool not listed", func(f *observed.Profile) { f.Nodes[0].Pools = []string{"other"} },
			map[string]string{v1alpha1.ConditionDriverReady: v1alpha1.ReasonPoolNotListed}, "1 of 2 nodes are not ready: n1: the driver's ZFSNode does not list pool tank yet; it is renewed every 60 s", false},
		{"somebody else's class", func(f *observed.Profile) { f.Classes["zfs-nvme"] = &storagev1.StorageClass{} },
			map[string]string{v1alpha1.ConditionStorageReady: v1alpha1.ReasonStorageClassNotOwned},
			"StorageClass zfs-nvme exists and is not this profile's; delete it if nothing needs it, or create the profile under another name", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			facts := healthy()
			tc.facts(&facts)
			var built profile.Built
			if err := storage().Complete(&built, facts, storage().Judge(facts)); err != nil {
				t.Fatal(err)
			}
			said := false
			for _, o := range built.Outcomes {
				if want := tc.want[o.Condition]; want != "" && want != o.Reason {
					t.Errorf("%s is %s, want %s: %s", o.Condition, o.Reason, want, o.Message)
				}
				said = said || o.Message == tc.message
			}
			if tc.message != "" && !said {
				t.Errorf("no outcome says %q: %+v", tc.message, built.Outcomes)
			}
			if held := len(built.Plan.Gates) > 0; held != tc.held {
				t.Errorf("held %v, want %v: %+v", held, tc.held, built.Plan.Gates)
			}
		})
	}
}
