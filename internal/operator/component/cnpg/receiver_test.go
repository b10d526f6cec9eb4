package cnpg

import (
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

func TestReceiverOf(t *testing.T) {
	for name, tc := range map[string]struct {
		follows            bool
		primary, has, want string
	}{
		"a database of its own":              {false, "shop-2", "", ""},
		"a follower that is new":             {true, "", "", ""},
		"the first instance":                 {true, "shop-1", "shop-2", ""},
		"the second instance":                {true, "shop-2", "", "shop-2"},
		"an instance whose number has a one": {true, "shop-11", "shop-2", "shop-11"},
		"a site that is demoted":             {false, "shop-2", "", ""},
		"a site that is promoted":            {false, "shop-3", "shop-2", "shop-2"},
	} {
		live := &cnpgv1.Cluster{}
		live.Name, live.Status.CurrentPrimary = "shop", tc.primary
		live.Spec.PostgresConfiguration.Parameters = map[string]string{ParameterReceiver: tc.has}
		if got := ReceiverOf(live, tc.follows); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	if got := ReceiverOf(nil, true); got != "" {
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
