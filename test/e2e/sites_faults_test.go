//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
)

// faultRuns is how often each fault happens.
const faultRuns = 5

// siteFault is something that fails, and how it comes back.
type siteFault struct {
	name string
	// strike makes it happen, and returns once it is over.
	strike func(t *testing.T)
	// most is how long no commit may be acknowledged.
	most time.Duration
}

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
	client1(t, s.north, "prepare", `psql -XAtq -v ON_ERROR_STOP=1 -c "CREATE TABLE acked (id int PRIMARY KEY)"`)
	create(t, s.loader())
	atLeast(t, s.north, 50)
	for _, f := range []siteFault{
		{"the instance of the site that follows is killed", func(t *testing.T) { s.killed(t, s.south); s.caughtUp(t) }, 5 * time.Second},
		{"the site that follows is cut off while 100 MB are written", s.cutOff, 10 * time.Second},
		{"the standby of the quorum is stopped for 15 s", s.standbyStopped, 60 * time.Second},
		{"the primary of the site that writes is killed", func(t *testing.T) { s.killed(t, s.north); s.caughtUp(t) }, 2 * time.Minute},
	} {
		t.Run(f.name, func(t *testing.T) { s.strikes(t, f) })
	}
	s.nothingLost(t)
}

// strikes has a fault happen again and again.
func (s *sites) strikes(t *testing.T, f siteFault) {
	for run := range faultRuns {
		before := len(acknowledged(logs(t, s.north.Namespace, "loader")))
		began := time.Now()
		f.strike(t)
		took := time.Since(began)
		atLeast(t, s.north, before+20)
		longest := pauseSince(logs(t, s.north.Namespace, "loader"), began)
		t.Logf("FAULT %s, run %d: longest pause %s; over after %s", f.name, run+1, longest, took.Round(100*time.Millisecond))
		if longest > f.most {
			t.Errorf("%s, run %d: no commit for %s, want at most %s", f.name, run+1, longest, f.most)
		}
	}
}

// nothingLost ends the loader, and looks for every row in both sites.
func (s *sites) nothingLost(t *testing.T) {
	t.Helper()
	ready(t, s.north)
	psql(t, s.north.Namespace, s.north.Status.Database.Primary, "CREATE TABLE stop ()")
	clientEnded(t, s.north.Namespace, "loader")
	s.caughtUp(t)
	for _, cr := range []*v1alpha1.PgStorageCluster{s.north, s.south} {
		told := acknowledged(logs(t, s.north.Namespace, "loader"))
		rows := len(told)
		for id := range strings.SplitSeq(psql(t, cr.Namespace, cr.Status.Database.Primary, "SELECT id FROM acked"), "\n") {
			delete(told, id)
		}
		if len(told) > 0 {
			t.Errorf("site %s lacks %d of %d acknowledged rows", cr.Spec.Topology.Self, len(told), rows)
		}
		t.Logf("FAULT site %s has all of %d acknowledged rows", cr.Spec.Topology.Self, rows)
	}
}

// killed deletes the pod of the instance that writes, or that receives WAL for its site.
func (s *sites) killed(t *testing.T, cr *v1alpha1.PgStorageCluster) {
	t.Helper()
	ready(t, cr)
	now := int64(0)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: cr.Namespace, Name: cr.Status.Database.Primary}}
	if err := c.Delete(t.Context(), pod, &client.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		t.Fatal(err)
	}
}

// caughtUp waits until the site that follows has a row that is written now.
func (s *sites) caughtUp(t *testing.T) {
	t.Helper()
	row := fmt.Sprint(-time.Now().UnixMilli() % 1_000_000_000)
	eventually(t, "a row to be written", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(s.north), s.north); err != nil {
			return err
		}
		return s.query(ctx, s.north, "INSERT INTO acked VALUES ("+row+") ON CONFLICT DO NOTHING; SELECT 1", "1")
	})
	eventually(t, "the row in the site that follows", func(ctx context.Context) error {
		return s.query(ctx, s.south, "SELECT count(*) FROM acked WHERE id = "+row, "1")
	})
}

func (s *sites) query(ctx context.Context, cr *v1alpha1.PgStorageCluster, sql, want string) error {
	got, err := command(ctx, "kubectl", "-n", cr.Namespace, "exec", cr.Status.Database.Primary, "-c", "postgres", "--", "timeout", "10", "psql", "-XAtq", "-d", "app", "-c", sql)
	if err != nil || got != want {
		return fmt.Errorf("%q, %w", got, err)
	}
	return nil
}

// cutOff stops the site that follows, writes, and starts it again.
func (s *sites) cutOff(t *testing.T) {
	t.Helper()
	annotated(t, s.south, naming.AnnotationHibernation, "on")
	eventually(t, "the site that follows to stop", func(ctx context.Context) error { return gonePod(ctx, s.south) })
	psql(t, s.north.Namespace, s.north.Status.Database.Primary, "CREATE TABLE bulk AS SELECT g, repeat('x', 1000) AS text FROM generate_series(1, 100000) g; DROP TABLE bulk")
	annotated(t, s.south, naming.AnnotationHibernation, "off")
	s.caughtUp(t)
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
	s.caughtUp(t)
}

// pauseSince is the longest time between two acknowledged rows, of those after a time.
func pauseSince(log string, since time.Time) time.Duration {
	var recent []string
	for line := range strings.SplitSeq(log, "\n") {
		var at float64
		if _, err := fmt.Sscanf(line, "at %g", &at); err == nil && at >= float64(since.UnixMilli())/1000-1 {
			recent = append(recent, line)
		}
	}
	return pause(strings.Join(recent, "\n"))
}
