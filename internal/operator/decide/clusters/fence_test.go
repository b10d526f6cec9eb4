package clusters

import (
	"slices"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

func TestFence(t *testing.T) {
	whole, between := observed.Devices{Condition: observed.DevicesWhole, Message: "all attached"}, observed.Devices{Message: "attaching"}
	lost := observed.Devices{Condition: observed.DevicesLost, Reason: v1alpha1.ReasonServerLost, Message: "lost lake-0"}
	restarts, taken := lost, lost
	restarts.Restarts, taken.Reason, taken.Message = true, v1alpha1.ReasonFenced, "another writer"
	away := observed.Devices{Reason: v1alpha1.ReasonStoreUnavailable, Message: "503", Stalls: true}
	replaced := observed.Devices{Reason: v1alpha1.ReasonReconnecting, Message: "a new server", Stalls: true}
	for _, tc := range []struct {
		name         string
		primary      string
		n1, n2       observed.Devices
		fenced, ours string
		suspended    bool
		unreachable  string
		all, owned   []string
		changed      bool
		reason       string
		kind         outcome.Kind
		message      string
	}{
		{name: "whole", primary: "shop-1", n1: whole, n2: whole, reason: v1alpha1.ReasonDevicesAttached, message: msgAttached},
		{
			name: "a standby's devices are lost", primary: "shop-1", n1: whole, n2: lost, all: []string{"shop-2"}, owned: []string{"shop-2"}, changed: true,
			reason: v1alpha1.ReasonServerLost, kind: outcome.Invalid, message: "shop-2 " + msgBeingFenced + " (n2: lost lake-0)",
		},
		{
			name: "the agent restarts the node", primary: "shop-1", n1: whole, n2: restarts, all: []string{"shop-2"}, owned: []string{"shop-2"}, changed: true,
			reason: v1alpha1.ReasonServerLost, kind: outcome.Wait, message: "shop-2 " + msgBeingFenced + " (n2: lost lake-0)",
		},
		{
			name: "the primary's, and a standby can take over", primary: "shop-1", n1: lost, n2: whole,
			reason: v1alpha1.ReasonServerLost, kind: outcome.Invalid, message: "shop-1 " + msgPrimaryNotFenced + " (n1: lost lake-0)",
		},
		{
			name: "the former primary's", primary: "shop-2", n1: lost, n2: whole, all: []string{"shop-1"}, owned: []string{"shop-1"}, changed: true,
			reason: v1alpha1.ReasonServerLost, kind: outcome.Invalid, message: "shop-1 " + msgBeingFenced + " (n1: lost lake-0)",
		},
		{
			name: "all are lost", primary: "shop-1", n1: lost, n2: lost, all: []string{"shop-1", "shop-2"}, owned: []string{"shop-1", "shop-2"}, changed: true,
			reason: v1alpha1.ReasonServerLost, kind: outcome.Invalid, message: "shop-1 " + msgBeingFenced + " (n1: lost lake-0); shop-2 " + msgBeingFenced + " (n2: lost lake-0)",
		},
		{
			name: "all were lost, and a standby is back", primary: "shop-1", n1: lost, n2: whole, fenced: `["shop-1","shop-2"]`, ours: `["shop-1","shop-2"]`, changed: true,
			reason: v1alpha1.ReasonServerLost, kind: outcome.Invalid, message: "shop-1 " + msgPrimaryNotFenced + " (n1: lost lake-0)",
		},
		{
			name: "all were lost, and a standby is on its way back", primary: "shop-1", n1: lost, n2: between, fenced: `["shop-1","shop-2"]`, ours: `["shop-1","shop-2"]`, all: []string{"shop-1", "shop-2"}, owned: []string{"shop-1", "shop-2"},
			reason: v1alpha1.ReasonServerLost, kind: outcome.Invalid, message: "shop-1 " + msgFenced + " (n1: lost lake-0)",
		},
		{
			name: "still lost", primary: "shop-1", n1: whole, n2: lost, fenced: `["shop-2"]`, ours: `["shop-2"]`, all: []string{"shop-2"}, owned: []string{"shop-2"},
			reason: v1alpha1.ReasonServerLost, kind: outcome.Invalid, message: "shop-2 " + msgFenced + " (n2: lost lake-0)",
		},
		{
			name: "on its way back", primary: "shop-1", n1: whole, n2: between, fenced: `["shop-2"]`, ours: `["shop-2"]`, all: []string{"shop-2"}, owned: []string{"shop-2"},
			reason: v1alpha1.ReasonAttaching, kind: outcome.Wait, message: "shop-2 " + msgStaysFenced + " (n2: attaching)",
		},
		{
			name: "back", primary: "shop-1", n1: whole, n2: whole, fenced: `["shop-2"]`, ours: `["shop-2"]`, changed: true,
			reason: v1alpha1.ReasonDevicesAttached, message: msgAttached,
		},
		{
			name: "a fence of a person stays", primary: "shop-1", n1: whole, n2: whole, fenced: `["shop-2"]`, all: []string{"shop-2"},
			reason: v1alpha1.ReasonDevicesAttached, message: msgAttached,
		},
		{
			name: "a fence of a person is not taken for ours", primary: "shop-1", n1: whole, n2: lost, fenced: `["shop-2"]`, all: []string{"shop-2"},
			reason: v1alpha1.ReasonServerLost, kind: outcome.Invalid, message: "shop-2 " + msgFenced + " (n2: lost lake-0)",
		},
		{
			name: "beside a fence of a person", primary: "shop-1", n1: whole, n2: lost, fenced: `["shop-9"]`, all: []string{"shop-2", "shop-9"}, owned: []string{"shop-2"}, changed: true,
			reason: v1alpha1.ReasonServerLost, kind: outcome.Invalid, message: "shop-2 " + msgBeingFenced + " (n2: lost lake-0)",
		},
		{
			name: "a fence around all", primary: "shop-1", n1: whole, n2: lost, fenced: `["*"]`, all: []string{"*"},
			reason: v1alpha1.ReasonServerLost, kind: outcome.Invalid, message: "shop-2 " + msgFenced + " (n2: lost lake-0)",
		},
		{
			name: "an instance that is gone", primary: "shop-1", n1: whole, n2: whole, fenced: `["shop-3"]`, ours: `["shop-3"]`, changed: true,
			reason: v1alpha1.ReasonDevicesAttached, message: msgAttached,
		},
		{
			name: "a list that is none", primary: "shop-1", n1: whole, n2: lost, fenced: "shop-2",
			reason: v1alpha1.ReasonServerLost, kind: outcome.Invalid, message: "shop-2 " + msgCannotFence + "annotation cnpg.io/fencedInstances of the CloudNativePG Cluster is not a JSON list of names; correct or remove it (n2: lost lake-0)",
		},
		{
			name: "suspended", primary: "shop-1", n1: whole, n2: lost, suspended: true, all: []string{"shop-2"}, owned: []string{"shop-2"}, changed: true,
			reason: v1alpha1.ReasonServerLost, kind: outcome.Invalid, message: "shop-2 " + msgFencePending + " (n2: lost lake-0)",
		},
		{
			name: "another writer has the prefix", primary: "shop-1", n1: whole, n2: taken, all: []string{"shop-2"}, owned: []string{"shop-2"}, changed: true,
			reason: v1alpha1.ReasonFenced, kind: outcome.Invalid, message: "shop-2 " + msgBeingFenced + " (n2: another writer)",
		},
		{
			name: "the store is away", primary: "shop-1", n1: away, n2: whole,
			reason: v1alpha1.ReasonStoreUnavailable, kind: outcome.Wait, message: "shop-1 " + msgStalled + " (n1: 503)",
		},
		{
			name: "a server is replaced beneath one that was fenced", primary: "shop-1", n1: between, n2: replaced, fenced: `["shop-2"]`, ours: `["shop-2"]`, all: []string{"shop-2"}, owned: []string{"shop-2"},
			reason: v1alpha1.ReasonReconnecting, kind: outcome.Wait, message: "shop-2 " + msgStaysFenced + " (n2: a new server); shop-1 " + msgRunsOn + " (n1: attaching)",
		},
		{
			name: "a fence that was lifted by hand too early", primary: "shop-1", n1: whole, n2: between, ours: `["shop-2"]`, all: []string{"shop-2"}, owned: []string{"shop-2"}, changed: true,
			reason: v1alpha1.ReasonAttaching, kind: outcome.Wait, message: "shop-2 " + msgStaysFenced + " (n2: attaching)",
		},
		{
			name: "a standby that cannot be reached takes nothing over", primary: "shop-1", n1: lost, n2: whole, unreachable: "n2 is not Ready", all: []string{"shop-1"}, owned: []string{"shop-1"}, changed: true,
			reason: v1alpha1.ReasonServerLost, kind: outcome.Invalid, message: "shop-1 " + msgBeingFenced + " (n1: lost lake-0)",
		},
		{
			name: "the primary stays fenced while none can be reached", primary: "shop-1", n1: lost, n2: whole, unreachable: "n2 is not Ready", fenced: `["shop-1"]`, ours: `["shop-1"]`, all: []string{"shop-1"}, owned: []string{"shop-1"},
			reason: v1alpha1.ReasonServerLost, kind: outcome.Invalid, message: "shop-1 " + msgFenced + " (n1: lost lake-0)",
		},
		{
			name: "back while suspended", primary: "shop-1", n1: whole, n2: whole, fenced: `["shop-2"]`, ours: `["shop-2"]`, suspended: true, changed: true,
			reason: v1alpha1.ReasonAttaching, kind: outcome.Wait, message: "shop-2" + msgStaysFencedSuspended,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pg := &cnpgv1.Cluster{}
			pg.Status.CurrentPrimary = tc.primary
			pg.Annotations = map[string]string{AnnotationCNPGFenced: tc.fenced, naming.AnnotationFenced: tc.ours}
			facts := observed.Cluster{Cluster: pg, Devices: map[string]observed.Devices{"n1": tc.n1, "n2": tc.n2}, Claims: []observed.Claim{
				{Name: "shop-1", Instance: "shop-1", Home: "n1"},
				{Name: "shop-2", Instance: "shop-2", Home: "elsewhere", Node: "n2", Unreachable: tc.unreachable},
				{Name: "shop-2-wal", Instance: "shop-2", WAL: true, Home: "n2"},
			}}
			f := Fence(facts)
			if !slices.Equal(f.All, tc.all) || !slices.Equal(f.Ours, tc.owned) || f.Changed() != tc.changed {
				t.Errorf("%+v, want %v of which ours %v, changed %v", f, tc.all, tc.owned, tc.changed)
			}
			o := attachedOutcome(shop(func(s *v1alpha1.PgStorageClusterSpec) { s.Suspend = &tc.suspended }), facts)
			if o.Reason != tc.reason || o.Kind != tc.kind || o.Message != tc.message {
				t.Errorf("%+v\nwant %s %d: %q", *o, tc.reason, tc.kind, tc.message)
			}
		})
	}
}

// CloudNativePG starts an instance again from its claims, which are not among the facts while
// no pod uses them: its devices can be lost still.
func TestInstanceWithoutAPodStaysFenced(t *testing.T) {
	pg := &cnpgv1.Cluster{}
	pg.Status.CurrentPrimary, pg.Status.InstanceNames = "shop-1", []string{"shop-1", "shop-2"}
	pg.Annotations = map[string]string{AnnotationCNPGFenced: `["shop-2"]`, naming.AnnotationFenced: `["shop-2"]`}
	facts := observed.Cluster{Cluster: pg, Devices: map[string]observed.Devices{"n1": {Condition: observed.DevicesWhole}}, Claims: []observed.Claim{{Name: "shop-1", Instance: "shop-1", Home: "n1"}}}
	if f := Fence(facts); f.Changed() || len(f.Lifted) > 0 {
		t.Errorf("without a pod: %+v", f)
	}
	pg.Status.InstanceNames = []string{"shop-1"}
	if f := Fence(facts); !slices.Equal(f.Lifted, []string{"shop-2"}) {
		t.Errorf("once it is gone: %+v", f)
	}
}

// A mirror without one of its devices serves on: the cluster stays Ready.
func TestDevicesOnTheirWayTakeNoPartInReady(t *testing.T) {
	facts := observed.Cluster{Cluster: &cnpgv1.Cluster{}, Devices: map[string]observed.Devices{"n1": {Message: "returning"}}, Claims: []observed.Claim{{Instance: "shop-1", Home: "n1"}}}
	if o := attachedOutcome(shop(nil), facts); !o.Informative || o.Kind != outcome.Wait || o.Message != "shop-1 "+msgRunsOn+" (n1: returning)" {
		t.Errorf("%+v", *o)
	}
	if f := Fence(facts); f.Changed() {
		t.Errorf("%+v", f)
	}
	facts.Devices["n1"] = observed.Devices{Reason: v1alpha1.ReasonStoreUnavailable, Message: "503", Stalls: true}
	if o := attachedOutcome(shop(nil), facts); o.Informative {
		t.Errorf("nothing is acknowledged, and the cluster is Ready: %+v", *o)
	}
	facts.Devices = nil
	if o := attachedOutcome(shop(nil), facts); o != nil {
		t.Errorf("a profile without network devices: %+v", *o)
	}
}
