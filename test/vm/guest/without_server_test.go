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
	"github.com/pgstorage/pgstorage/internal/node/agent"
	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// Only a restart of the machine releases the pools of these tests, so they are in the last
// file.

// A server ends uncleanly under an imported stripe. Its requests wait indefinitely, nothing
// that was not flushed is acknowledged, and no successor gets the devices. Where the profile
// says so, the agent restarts the node: once, a while after it reported that.
func TestNetworkLostServerFailsNoFlushAndKeepsItsDevices(t *testing.T) {
	p := serveNetwork(t, "netlost", 1)
	s := p.declared(v1alpha1.VdevStripe, nil)
	n, _ := networkAgent(nil)
	ready(t, n, s)
	at, before := p.mount(t), p.identifiers(t)
	w := newWriter(t, at, 1000)
	wait(t, "files are written", func() bool { return w.done(t) > 5 })
	p.lost = true
	p.servers[0].kill(t)
	lost := func() {
		t.Helper()
		for range 3 {
			pass(t, n, s)
		}
		text := says(t, s, v1alpha1.ConditionDevicesAttached, metav1.ConditionFalse, v1alpha1.ReasonServerLost)
		if !strings.Contains(text, "ended uncleanly") || !strings.Contains(text, "restart this node") {
			t.Errorf("says %q", text)
		}
		if got := p.identifiers(t); !slices.Equal(got, before) {
			t.Errorf("attached are %q, and were %q", got, before)
		}
	}
	w.waits(t, time.Second) // the one that was under way
	lost()
	done := w.done(t)
	p.servers[0].start(t)
	lost()
	late := newWriter(t, at, 1)
	late.waits(t, 15*time.Second) // longer than the kernel looks at what waits
	if w.done(t) != done || late.done(t) > 0 {
		t.Errorf("%d and %d files were acknowledged after the end of the server", w.done(t)-done, late.done(t))
	}
	select {
	case err := <-late.ended:
		t.Errorf("a write failed: %v", err)
	case err := <-w.ended:
		t.Errorf("a write failed: %v", err)
	default:
	}
	p.restarts(t, n, s)
}

func (p *networkPool) restarts(t *testing.T, n *agent.Node, s *v1alpha1.PgNodeStorage) {
	t.Helper()
	clock := clocktesting.NewFakePassiveClock(time.Now())
	n.Clock = clock
	restarts := 0
	n.Restart = func() error { restarts++; return nil }
	s.Spec.NetworkDevices.OnServerLost = v1alpha1.ServerLostRebootNode
	if r := pass(t, n, s); !r.Restarting || restarts != 0 {
		t.Errorf("restarting %v, %d restarts", r.Restarting, restarts)
	}
	clock.SetTime(clock.Now().Add(decide.RestartDelay / 2))
	if r := pass(t, n, s); r.Restarting || restarts != 0 {
		t.Errorf("restarting %v, %d restarts", r.Restarting, restarts)
	}
	clock.SetTime(clock.Now().Add(decide.RestartDelay))
	for range 3 {
		pass(t, n, s)
	}
	if restarts != 1 {
		t.Errorf("%d restarts", restarts)
	}
}
