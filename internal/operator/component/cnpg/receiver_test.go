package cnpg

import (
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

func TestReceiverOf(t *testing.T) {
	pool := &cnpgv1.ReplicaClusterConfiguration{Enabled: new(true), Source: "shop"}
	follows := &cnpgv1.ReplicaClusterConfiguration{Self: "south", Primary: "north", Source: "north"}
	writes := &cnpgv1.ReplicaClusterConfiguration{Self: "south", Primary: "south", Source: "north"}
	for name, tc := range map[string]struct {
		replica       *cnpgv1.ReplicaClusterConfiguration
		primary, want string
	}{
		"a database of its own":              {nil, "shop-2", ""},
		"a pool that is new":                 {pool, "", ""},
		"the first instance of a pool":       {pool, "shop-1", ""},
		"the second instance of a pool":      {pool, "shop-2", "shop-2"},
		"the second instance of a site":      {follows, "shop-2", "shop-2"},
		"the second instance, which writes":  {writes, "shop-2", ""},
		"an instance whose number has a one": {pool, "shop-11", "shop-11"},
	} {
		live := &cnpgv1.Cluster{}
		live.Name, live.Spec.ReplicaCluster, live.Status.CurrentPrimary = "shop", tc.replica, tc.primary
		if got := ReceiverOf(live); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	if got := ReceiverOf(nil); got != "" {
		t.Errorf("no Cluster: %q", got)
	}
}

// The parameter is beside those of a site, and a Cluster without it keeps its spec.
func TestReceiverIsAParameter(t *testing.T) {
	site := &Site{Topology: &v1alpha1.TopologySpec{Self: "south", Primary: "north"}}
	with := undeclared(Inputs{Site: site, Receiver: "shop-2"})
	if with[ParameterReceiver] != "shop-2" || with[ParameterPrimary] != "north" {
		t.Errorf("%v", with)
	}
	if got := undeclared(Inputs{Receiver: "shop-2"}); len(got) != 1 {
		t.Errorf("%v", got)
	}
	if got := undeclared(Inputs{}); len(got) != 0 {
		t.Errorf("%v", got)
	}
}
