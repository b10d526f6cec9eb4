//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/testing/faults"
)

const (
	// deadRounds is how often TPS is measured with the pool and without it.
	deadRounds = 6
	// leastTPS of the cluster without its pool, compared with TPS beside it.
	leastTPS = 0.95
)

// TestDeadPoolInMemory measures what a read pool in memory that is stopped costs its cluster:
// transactions, and WAL that is kept. It is not in make test, because it needs the machine.
func TestDeadPoolInMemory(t *testing.T) {
	if err := helm(forPools...); err != nil {
		t.Fatal(err)
	}
	profile(t)
	m := &inMemory{node: lastNode(t), namespace: namespace(t)}
	m.declare(t, "2Gi")
	m.withPool(t, "1536Mi")
	pgbench(t, m.shop, "-i", "-s", "5", "-q")
	beside, without := faults.Way{Name: "the pool follows"}, faults.Way{Name: "the pool has stopped", Mark: leastTPS}
	for range deadRounds {
		m.caughtUp(t)
		beside.TPS = append(beside.TPS, tps(t, m.shop, roundSeconds))
		annotated(t, m.pool, clusters.AnnotationCNPGFenced, fmt.Sprintf("[%q]", m.pool.Status.Database.Primary))
		eventually(t, "the pool to stop", func(ctx context.Context) error {
			if err := answered(ctx, m.pool, "SELECT 1", "1"); err == nil {
				return fmt.Errorf("it answers")
			}
			return nil
		})
		without.TPS = append(without.TPS, tps(t, m.shop, roundSeconds))
		m.keepsLittleWAL(t)
		annotated(t, m.pool, clusters.AnnotationCNPGFenced, "[]")
	}
	m.caughtUp(t)
	t.Logf("TPS beside the pool %.0f, without it %.0f", beside.TPS, without.TPS)
	if err := faults.WriteCost(os.Getenv("PGSTORAGE_FOLLOWERS_REPORT"), "a pool that stopped", time.Now().UTC().Format(time.DateOnly), beside, without); err != nil {
		t.Error(err)
	}
	for _, o := range []client.Object{m.shop, m.profile} {
		if err := c.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	m.gone(t)
}

// caughtUp waits until the pool has a row that is written now.
func (m *inMemory) caughtUp(t *testing.T) {
	t.Helper()
	psql(t, m.namespace, m.shop.Status.Database.Primary, "CREATE TABLE IF NOT EXISTS marks (id serial); INSERT INTO marks DEFAULT VALUES")
	marks := psql(t, m.namespace, m.shop.Status.Database.Primary, "SELECT count(*) FROM marks")
	eventually(t, marks+" marks in the pool", func(ctx context.Context) error {
		return answered(ctx, m.pool, "SELECT count(*) FROM marks", marks)
	})
}

// keepsLittleWAL: a pool that is away does not have its cluster keep WAL beyond its parameters.
func (m *inMemory) keepsLittleWAL(t *testing.T) {
	t.Helper()
	got := psql(t, m.namespace, m.shop.Status.Database.Primary, `CHECKPOINT; SELECT pg_size_pretty(sum(size)), pg_size_pretty(max(m.most)),
		sum(size) <= max(m.most) FROM pg_ls_waldir(), (SELECT pg_size_bytes(current_setting('max_wal_size')) + pg_size_bytes(current_setting('wal_keep_size')) AS most) m`)
	t.Logf("WAL that the cluster keeps without its pool, and its limit: %s", got)
	if !regexp.MustCompile(`\|t$`).MatchString(got) {
		t.Errorf("the cluster keeps more WAL than max_wal_size and wal_keep_size: %s", got)
	}
}
