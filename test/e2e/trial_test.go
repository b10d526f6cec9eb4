//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/acks"
	"github.com/pgstorage/pgstorage/internal/testing/faults"
	"github.com/pgstorage/pgstorage/internal/testing/live"
)

// trial is a database under load and one that follows it, which suffer faults.
type trial struct {
	writer, follower *v1alpha1.PgStorageCluster
	report           faults.Report
}

// hardship is a fault that happens several times under load.
type hardship struct {
	name string
	// before prepares the databases; nil: they are as they should be.
	before func(t *testing.T)
	// strike makes it happen, and returns once only the follower has to catch up.
	strike func(t *testing.T)
	// most is how long no commit may be acknowledged.
	most time.Duration
	runs int
}

// begin the load, and find out what runs.
func (tr *trial) begin(t *testing.T, loader *corev1.Pod) {
	t.Helper()
	client1(t, tr.writer, "prepare", `psql -XAtq -v ON_ERROR_STOP=1 -c "CREATE TABLE acked (id int PRIMARY KEY)"`)
	create(t, loader)
	atLeast(t, tr.writer, 50)
	version, err := live.CNPGVersion(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tr.report.Versions = "CloudNativePG " + version + ", PostgreSQL " + serverVersion(t, tr.writer)
	tr.report.Seconds = "s without a commit"
	tr.report.WhenDone(t, os.Getenv("PGSTORAGE_FOLLOWERS_REPORT"))
}

// suffers a fault again and again. The follower catches up each time, and both databases must then
// have every row that was acknowledged.
func (tr *trial) suffers(t *testing.T, h hardship) {
	if h.before != nil {
		h.before(t)
	}
	for run := range h.runs {
		before := rows(t, tr.writer)
		began := time.Now()
		h.strike(t)
		tr.caughtUp(t)
		took := time.Since(began)
		atLeast(t, tr.writer, before+20)
		log := logs(t, tr.writer.Namespace, "loader")
		// The log may have rows that the follower has not yet.
		tr.caughtUp(t)
		rows, lost, longest := len(acks.Rows(log))-before, tr.lost(t, log), acks.Pause(log, began)
		t.Logf("%s, run %d: longest pause %s; over after %s; %d rows, %d lost", h.name, run+1, longest, took.Round(100*time.Millisecond), rows, lost)
		if longest > h.most {
			t.Errorf("%s, run %d: no commit for %s, want at most %s", h.name, run+1, longest, h.most)
		}
		tr.report.Ended(h.name, rows, lost, longest)
	}
}

// lost counts the rows that a log of the loader has, and one of the databases has not.
func (tr *trial) lost(t *testing.T, log string) int {
	t.Helper()
	most := 0
	for _, cr := range []*v1alpha1.PgStorageCluster{tr.writer, tr.follower} {
		lost := len(lacking(t, log, cr.Namespace, cr.Status.Database.Primary))
		if lost > 0 {
			t.Errorf("%s/%s lacks %d acknowledged rows", cr.Namespace, cr.Name, lost)
		}
		most = max(most, lost)
	}
	return most
}

// end the load.
func (tr *trial) end(t *testing.T) {
	t.Helper()
	ready(t, tr.writer)
	psql(t, tr.writer.Namespace, tr.writer.Status.Database.Primary, "CREATE TABLE stop ()")
	clientEnded(t, tr.writer.Namespace, "loader")
}

// caughtUp waits until the follower has a row that is written now.
func (tr *trial) caughtUp(t *testing.T) {
	t.Helper()
	row := fmt.Sprint(-time.Now().UnixMilli() % 1_000_000_000)
	eventually(t, "a row to be written", func(ctx context.Context) error {
		return answered(ctx, tr.writer, "INSERT INTO acked VALUES ("+row+") ON CONFLICT DO NOTHING; SELECT 1", "1")
	})
	eventually(t, "the row in "+tr.follower.Name, func(ctx context.Context) error {
		return answered(ctx, tr.follower, "SELECT count(*) FROM acked WHERE id = "+row, "1")
	})
}

// answered compares the answer of the primary instance, whichever it is now.
func answered(ctx context.Context, cr *v1alpha1.PgStorageCluster, sql, want string) error {
	if err := c.Get(ctx, client.ObjectKeyFromObject(cr), cr); err != nil {
		return err
	}
	if cr.Status.Database == nil {
		return fmt.Errorf("there is no database")
	}
	got, err := command(ctx, "kubectl", "-n", cr.Namespace, "exec", cr.Status.Database.Primary, "-c", "postgres", "--", "timeout", "10", "psql", "-XAtq", "-d", "app", "-c", sql)
	if err != nil || got != want {
		return fmt.Errorf("%q, %w", got, err)
	}
	return nil
}

// killed deletes the pod of the instance that writes, or that receives WAL.
func killed(t *testing.T, cr *v1alpha1.PgStorageCluster) {
	t.Helper()
	ready(t, cr)
	now := int64(0)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: cr.Namespace, Name: cr.Status.Database.Primary}}
	if err := c.Delete(t.Context(), pod, &client.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		t.Fatal(err)
	}
}
