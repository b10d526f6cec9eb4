package pgnodestorage

import (
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/node/agent"
)

// What a node refuses is tried again after a minute. A cache that the pool does not need slows
// down nothing: a leg of the mirror may wait for the next pass.
func TestNext(t *testing.T) {
	refused := outcome.InvalidBecause(v1alpha1.ConditionPoolReady, v1alpha1.ReasonHostCommandFailed, "")
	informative := outcome.WaitFor(v1alpha1.ConditionDevicesHealthy, v1alpha1.ReasonHostCommandFailed, "")
	informative.Informative = true
	r := &Reconciler{Resync: 30 * time.Second}
	for name, c := range map[string]struct {
		result agent.PassResult
		want   time.Duration
	}{
		"at rest":                  {agent.PassResult{}, 30 * time.Second},
		"changed":                  {agent.PassResult{Changed: true}, again},
		"refused":                  {agent.PassResult{Changed: true, Outcomes: outcome.Set{refused}}, retry},
		"informative":              {agent.PassResult{Outcomes: outcome.Set{informative}}, 30 * time.Second},
		"informative, and a wait":  {agent.PassResult{Soon: true, Outcomes: outcome.Set{informative}}, soon},
		"informative, and refused": {agent.PassResult{Soon: true, Outcomes: outcome.Set{informative, refused}}, retry},
	} {
		if got := r.next(c.result); got != c.want {
			t.Errorf("%s: next in %s, want %s", name, got, c.want)
		}
	}
}
