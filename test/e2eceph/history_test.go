//go:build e2eceph

package e2eceph

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// change of a condition, as a user of kubectl get -w sees it.
type change struct {
	at        time.Time
	condition metav1.Condition
}

func (c change) String() string {
	return fmt.Sprintf("%s=%s %s: %s", c.condition.Type, c.condition.Status, c.condition.Reason, c.condition.Message)
}

// history of the conditions of one object, from its start on.
type history struct {
	mu      sync.Mutex
	changes []change
	last    map[string]metav1.Condition
}

// follow records the conditions that read returns until the test ends. It logs nothing: the
// test may have ended.
func follow(t *testing.T, read func(ctx context.Context) ([]metav1.Condition, error)) *history {
	t.Helper()
	h := &history{last: map[string]metav1.Condition{}}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go wait.UntilWithContext(ctx, func(ctx context.Context) {
		if conditions, err := read(ctx); err == nil {
			h.add(time.Now(), conditions)
		}
	}, 200*time.Millisecond)
	return h
}

func (h *history) add(at time.Time, conditions []metav1.Condition) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, now := range conditions {
		if was := h.last[now.Type]; was.Status == now.Status && was.Reason == now.Reason && was.Message == now.Message {
			continue
		}
		h.last[now.Type] = now
		h.changes = append(h.changes, change{at, now})
	}
}

// since returns the changes of a condition from a time on, the state at that time first.
func (h *history) since(begin time.Time, kind string) []change {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []change
	for _, c := range h.changes {
		if c.condition.Type != kind {
			continue
		}
		if c.at.Before(begin) {
			out = nil
		}
		out = append(out, c)
	}
	return out
}

// shows waits until the condition has one of the reasons, or has had it since a time, and
// returns that change.
func (h *history) shows(t *testing.T, begin time.Time, kind string, reasons ...string) change {
	t.Helper()
	var found change
	eventually(t, fmt.Sprintf("%s to be %s", kind, strings.Join(reasons, " or ")), func(context.Context) error {
		seen := h.since(begin, kind)
		for _, c := range seen {
			if slices.Contains(reasons, c.condition.Reason) {
				found = c
				return nil
			}
		}
		if len(seen) == 0 {
			return fmt.Errorf("%s is not set", kind)
		}
		return fmt.Errorf("%s", seen[len(seen)-1])
	})
	t.Logf("      %s", found)
	return found
}

// only fails the test for each reason that a condition has had since a time and that is not
// one of these.
func (h *history) only(t *testing.T, begin time.Time, kind string, reasons ...string) {
	t.Helper()
	for _, c := range h.since(begin, kind) {
		if !slices.Contains(reasons, c.condition.Reason) {
			t.Errorf("%s", c)
		}
	}
}

// log prints what a condition said since a time.
func (h *history) log(t *testing.T, begin time.Time, kind string) {
	t.Helper()
	for _, c := range h.since(begin, kind) {
		t.Logf("      %5.1fs %s", max(0, c.at.Sub(begin).Seconds()), c)
	}
}

// profileConditions reads those of the profile.
func profileConditions(ctx context.Context) ([]metav1.Condition, error) {
	p := &v1alpha1.PgStorageProfile{}
	err := c.Get(ctx, client.ObjectKey{Name: profileName}, p)
	return p.Status.Conditions, err
}

// databaseConditions reads those of the database.
func databaseConditions(ctx context.Context) ([]metav1.Condition, error) {
	p := &v1alpha1.PgStorageCluster{}
	err := c.Get(ctx, client.ObjectKeyFromObject(database()), p)
	return p.Status.Conditions, err
}
