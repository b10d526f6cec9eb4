//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
)

// faultRuns is how often each fault happens.
const faultRuns = 5

// TestSiteFaults has parts of two sites fail under load, five times each. The site that writes
// has a quorum of its own; the other one must neither delay it nor lose what it acknowledged.
// It is not in make test.
func TestSiteFaults(t *testing.T) {
	if err := helm("sites.enabled=true"); err != nil {
		t.Fatal(err)
	}
	s := &sites{profile: "site-faults"}
	s.declare(t)
	s.north.Spec.Instances, s.north.Spec.Durability = new(int32(2)), v1alpha1.DurabilityQuorum
	s.follows(t)
	tr := &trial{writer: s.north, follower: s.south}
	tr.begin(t, s.loader())
	for _, h := range []hardship{
		{"the instance of the site that follows is killed", func(t *testing.T) { killed(t, s.south); tr.caughtUp(t) }, 5 * time.Second, faultRuns},
		{"the site that follows is cut off while 100 MB are written", func(t *testing.T) { s.cutOff(t); tr.caughtUp(t) }, 10 * time.Second, faultRuns},
		{"the standby of the quorum is stopped for 15 s", func(t *testing.T) { s.standbyStopped(t); tr.caughtUp(t) }, 60 * time.Second, faultRuns},
		{"the primary of the site that writes is killed", func(t *testing.T) { killed(t, s.north); tr.caughtUp(t) }, 2 * time.Minute, faultRuns},
	} {
		t.Run(h.name, func(t *testing.T) { tr.suffers(t, h) })
	}
	tr.end(t)
}

// cutOff stops the site that follows, writes, and starts it again.
func (s *sites) cutOff(t *testing.T) {
	t.Helper()
	annotated(t, s.south, naming.AnnotationHibernation, "on")
	eventually(t, "the site that follows to stop", func(ctx context.Context) error { return gonePod(ctx, s.south) })
	psql(t, s.north.Namespace, s.north.Status.Database.Primary, "CREATE TABLE bulk AS SELECT g, repeat('x', 1000) AS text FROM generate_series(1, 100000) g; DROP TABLE bulk")
	annotated(t, s.south, naming.AnnotationHibernation, "off")
}

// standbyStopped fences the only standby that can confirm a commit.
func (s *sites) standbyStopped(t *testing.T) {
	t.Helper()
	ready(t, s.north)
	standby := "shop-1"
	if s.north.Status.Database.Primary == standby {
		standby = "shop-2"
	}
	annotated(t, s.north, clusters.AnnotationCNPGFenced, fmt.Sprintf("[%q]", standby))
	eventually(t, "the standby to stop", func(ctx context.Context) error {
		if _, err := command(ctx, "kubectl", "-n", s.north.Namespace, "exec", standby, "-c", "postgres", "--", "psql", "-XAtqc", "SELECT 1"); err == nil {
			return fmt.Errorf("it answers")
		}
		return nil
	})
	stopped, began := len(acknowledged(logs(t, s.north.Namespace, "loader"))), time.Now()
	eventually(t, "15 s without the standby", func(context.Context) error {
		if time.Since(began) < 15*time.Second {
			return fmt.Errorf("%s", time.Since(began).Round(time.Second))
		}
		return nil
	})
	// What was under way when the standby stopped may have been confirmed by it.
	if more := len(acknowledged(logs(t, s.north.Namespace, "loader"))) - stopped; more > 1 {
		t.Errorf("%d commits were acknowledged while no standby could confirm them", more)
	}
	annotated(t, s.north, clusters.AnnotationCNPGFenced, "[]")
}
