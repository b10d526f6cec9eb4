//go:build guest

package guest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/node"
	"github.com/pgstorage/pgstorage/internal/nodestorage"
)

// These tests leave pools that nothing but a restart of the machine lets go of, so they
// are in the last file.

// A server that was replaced beneath an imported pool, whether it ended in order or
// not, is not connected to it. Where the profile says so, the node is restarted: once,
// a while after that was told.
func TestNetworkServerLost(t *testing.T) {
	for name, end := range map[string]func(*server, *testing.T){"killed": (*server).kill, "stopped": (*server).stop} {
		t.Run(name, func(t *testing.T) {
			p := serveNetwork(t, "netlost"+name, 1)
			s := p.declared(v1alpha1.VdevStripe, nil)
			n, _ := networkAgent(nil)
			ready(t, n, s)
			before := p.identifiers(t)
			p.lost = true
			end(p.servers[0], t)
			p.servers[0].start(t)
			for range 3 {
				pass(t, n, s)
			}
			text := says(t, s, v1alpha1.ConditionDevicesAttached, metav1.ConditionFalse, v1alpha1.ReasonServerLost)
			want := map[string]string{"killed": "ended uncleanly", "stopped": "was stopped in order"}[name]
			if !strings.Contains(text, want) || !strings.Contains(text, "restart this node") {
				t.Errorf("says %q, want %q", text, want)
			}
			if got := p.identifiers(t); !slices.Equal(got, before) {
				t.Errorf("attached are %q, and were %q", got, before)
			}
			if name == "killed" {
				p.restarts(t, n, s)
			}
		})
	}
}

func (p *networkPool) restarts(t *testing.T, n *node.Node, s *v1alpha1.PgNodeStorage) {
	t.Helper()
	clock := clocktesting.NewFakePassiveClock(time.Now())
	n.Clock = clock
	restarts := 0
	n.Restart = func() error { restarts++; return nil }
	s.Spec.NetworkDevices.OnServerLost = v1alpha1.ServerLostRebootNode
	if r := pass(t, n, s); !r.Restarting || restarts != 0 {
		t.Errorf("restarting %v, %d restarts", r.Restarting, restarts)
	}
	clock.SetTime(clock.Now().Add(nodestorage.RestartDelay / 2))
	if r := pass(t, n, s); r.Restarting || restarts != 0 {
		t.Errorf("restarting %v, %d restarts", r.Restarting, restarts)
	}
	clock.SetTime(clock.Now().Add(nodestorage.RestartDelay))
	for range 3 {
		pass(t, n, s)
	}
	if restarts != 1 {
		t.Errorf("%d restarts", restarts)
	}
}
