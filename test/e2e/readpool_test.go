//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/long"
)

// poolOf a cluster, of which there is one.
func poolOf(cr *v1alpha1.PgStorageCluster) *v1alpha1.PgStorageCluster {
	return &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: cr.Namespace, Name: naming.ReadPool(cr.Name, cr.Spec.ReadPools[0].Name)}}
}

// has waits for a condition of a cluster.
func has(t *testing.T, cr *v1alpha1.PgStorageCluster, kind string, status metav1.ConditionStatus, reason string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s of %s to be %s, %s", kind, cr.Name, status, reason), func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(cr), cr); err != nil {
			return err
		}
		now := meta.FindStatusCondition(cr.Status.Conditions, kind)
		if now == nil || now.Status != status || now.Reason != reason || now.ObservedGeneration != cr.Generation {
			return fmt.Errorf("it is %+v", now)
		}
		return nil
	})
}

// served waits until so many instances are behind the pool's Service.
func served(t *testing.T, pool *v1alpha1.PgStorageCluster, want int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d instances behind the Service of %s", want, pool.Name), func(ctx context.Context) error {
		slices := &discoveryv1.EndpointSliceList{}
		if err := c.List(ctx, slices, client.InNamespace(pool.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: naming.ReadService(pool.Name)}); err != nil {
			return err
		}
		found := 0
		for _, s := range slices.Items {
			for _, e := range s.Endpoints {
				if e.Conditions.Ready != nil && *e.Conditions.Ready {
					found += len(e.Addresses)
				}
			}
		}
		if found != want {
			return fmt.Errorf("%d", found)
		}
		return nil
	})
}

// reads a statement as an application does: by the pool's Service, as the cluster's user.
func reads(t *testing.T, pool *v1alpha1.PgStorageCluster, name, sql string) string {
	t.Helper()
	return client1(t, pool, name, fmt.Sprintf("PGHOST=%s psql -XAtq -v ON_ERROR_STOP=1 -c %q", naming.ReadService(pool.Name), sql))
}

// replayed waits until the pool has as many rows as were written.
func replayed(t *testing.T, pool *v1alpha1.PgStorageCluster, rows string) {
	t.Helper()
	instance := pool.Status.Database.Primary
	eventually(t, rows+" rows in the pool", func(ctx context.Context) error {
		got, err := command(ctx, "kubectl", "-n", pool.Namespace, "exec", instance, "-c", "postgres", "--", "psql", "-XAtq", "-d", "app", "-c", "SELECT count(*) FROM sales")
		if err != nil || got != rows {
			return errors.Join(err, fmt.Errorf("%s rows", got))
		}
		return nil
	})
}

// TestReadPool follows one read pool from its clone to its deletion.
func TestReadPool(t *testing.T) {
	t.Parallel()
	if err := poolsOn(); err != nil {
		t.Fatal(err)
	}
	profile(t)
	ns := namespace(t)
	most := resource.MustParse("8Mi")
	shop := cluster(ns, "shop")
	shop.Spec.ReadPools = []v1alpha1.ReadPool{{
		Name: "reports", Workload: v1alpha1.WorkloadAnalytics, Parameters: map[string]string{"work_mem": "8MB"},
		MaxLag: &v1alpha1.MaxLag{Bytes: &most}, StaleReads: v1alpha1.StaleReadsRefuse,
	}}
	began := time.Now()
	create(t, shop)
	ready(t, shop)
	pool := poolOf(shop)
	ready(t, pool)
	t.Logf("cluster and pool were Ready %s after they were declared", time.Since(began).Round(time.Second))
	primary, follower := shop.Status.Database.Primary, pool.Status.Database.Primary
	// Fewer connections are computed for the pool's workload, and its primary has more.
	if want, got := psql(t, ns, primary, "SHOW max_connections"), psql(t, ns, follower, "SHOW max_connections"); want != got {
		t.Errorf("max_connections of the pool %s, of the primary %s", got, want)
	}
	if got := psql(t, ns, follower, "SHOW work_mem"); got != "8MB" {
		t.Errorf("work_mem of the pool is %s", got)
	}
	psql(t, ns, primary, "CREATE TABLE sales AS SELECT g AS id FROM generate_series(1, 1000) g; GRANT SELECT ON sales TO app")
	replayed(t, pool, "1000")
	if got := reads(t, pool, "reader", "SELECT count(*), pg_is_in_recovery() FROM sales"); got != "1000|t" {
		t.Errorf("the pool's Service answers %q", got)
	}
	has(t, shop, v1alpha1.ConditionFollowersCaughtUp, metav1.ConditionTrue, v1alpha1.ReasonCaughtUp)
	if s := shop.Status.ReadPools; len(s) != 1 || s[0].Read != naming.ServiceHost("shop-reports-r", ns) || s[0].Follower == nil || s[0].Follower.Streaming == nil || !*s[0].Follower.Streaming {
		t.Errorf("status.readPools is %+v", s)
	}
	if got := psql(t, ns, primary, "SHOW synchronous_standby_names"); got != "" {
		t.Errorf("commits wait for %q", got)
	}

	if !t.Run("a pool that is behind serves nothing", func(t *testing.T) { poolBehind(t, shop, pool) }) {
		t.FailNow()
	}
	if !t.Run("a parameter that a standby needs as high as its primary", func(t *testing.T) { parameterRaised(t, shop, pool) }) {
		t.FailNow()
	}
	if !t.Run("a pool whose WAL was removed is cloned again", func(t *testing.T) { poolLacksWAL(t, shop, pool) }) {
		t.FailNow()
	}
	if !t.Run("a pool is cloned again on another profile", func(t *testing.T) { poolMoves(t, shop, pool) }) {
		t.FailNow()
	}
	t.Run("a pool that is not declared is deleted", func(t *testing.T) { poolRemoved(t, shop, pool) })
}

// poolBehind pauses the replay, writes more than maxLag, and resumes it.
func poolBehind(t *testing.T, shop, pool *v1alpha1.PgStorageCluster) {
	primary, follower := shop.Status.Database.Primary, pool.Status.Database.Primary
	before := podUIDs(t, pool)
	psql(t, shop.Namespace, follower, "SELECT pg_wal_replay_pause()")
	psql(t, shop.Namespace, primary, "CREATE TABLE filler AS SELECT g, repeat('x', 900) AS text FROM generate_series(1, 20000) g; INSERT INTO sales SELECT generate_series(1001, 2000)")
	has(t, shop, v1alpha1.ConditionFollowersCaughtUp, metav1.ConditionFalse, v1alpha1.ReasonLagging)
	served(t, pool, 0)
	has(t, shop, v1alpha1.ConditionReadPoolsReady, metav1.ConditionFalse, v1alpha1.ReasonReadPoolNotReady)
	if got := shop.Status.ReadPools[0].Follower; got == nil || got.Lag == nil || got.Lag.Bytes == nil || *got.Lag.Bytes < 16<<20 {
		t.Errorf("the lag is %+v", got)
	}
	psql(t, shop.Namespace, follower, "SELECT pg_wal_replay_resume()")
	replayed(t, pool, "2000")
	has(t, shop, v1alpha1.ConditionFollowersCaughtUp, metav1.ConditionTrue, v1alpha1.ReasonCaughtUp)
	served(t, pool, 1)
	ready(t, shop)
	if now := podUIDs(t, pool); len(now) != len(before) || now[follower] != before[follower] {
		t.Errorf("the pool's pods were %v and are %v", before, now)
	}
}

// parameterRaised of the primary alone: the operator raises it on the pool too.
func parameterRaised(t *testing.T, shop, pool *v1alpha1.PgStorageCluster) {
	patch(t, shop, func(s *v1alpha1.PgStorageClusterSpec) {
		s.Postgres.Parameters = map[string]string{"max_wal_senders": "14", "wal_keep_size": "32MB"}
	})
	ready(t, shop)
	ready(t, pool)
	for _, instance := range []string{shop.Status.Database.Primary, pool.Status.Database.Primary} {
		if got := psql(t, shop.Namespace, instance, "SHOW max_wal_senders"); got != "14" {
			t.Errorf("max_wal_senders of %s is %s", instance, got)
		}
	}
	psql(t, shop.Namespace, shop.Status.Database.Primary, "INSERT INTO sales SELECT generate_series(2001, 2500)")
	replayed(t, pool, "2500")
}

// clonedAgain returns a wait until the pool is another PgStorageCluster than now.
func clonedAgain(t *testing.T, pool *v1alpha1.PgStorageCluster) func() {
	t.Helper()
	uid := pool.UID
	return func() {
		eventually(t, "another PgStorageCluster of the pool", func(ctx context.Context) error {
			if err := c.Get(ctx, client.ObjectKeyFromObject(pool), pool); err != nil || pool.UID == uid {
				return errors.Join(err, errors.New("not yet"))
			}
			return nil
		})
	}
}

// poolLacksWAL has the pool's cluster remove WAL that the pool needs next.
func poolLacksWAL(t *testing.T, shop, pool *v1alpha1.PgStorageCluster) {
	long.Skip(t, "make test-e2e")
	again := clonedAgain(t, pool)
	starved(t, shop, pool)
	psql(t, shop.Namespace, shop.Status.Database.Primary, "INSERT INTO sales SELECT generate_series(2501, 2600)")
	began := time.Now()
	again()
	t.Logf("the pool was deleted to be cloned again %s after WAL that it needs was removed", time.Since(began).Round(time.Second))
	ready(t, shop)
	ready(t, pool)
	replayed(t, pool, "2600")
	if got := psql(t, shop.Namespace, shop.Status.Database.Primary, "SELECT count(*) FROM sales"); got != "2600" {
		t.Errorf("the cluster has %s rows", got)
	}
}

// poolMoves sets another profile: volumes and instances are new ones.
func poolMoves(t *testing.T, shop, pool *v1alpha1.PgStorageCluster) {
	other := &v1alpha1.PgStorageProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "e2e-pool"},
		Spec:       v1alpha1.PgStorageProfileSpec{Type: v1alpha1.ProfileTypeExternal, External: &v1alpha1.ExternalProfile{StorageClassName: "standard"}},
	}
	create(t, other)
	primary, pods := podUIDs(t, shop), podUIDs(t, pool)
	again := clonedAgain(t, pool)
	patch(t, shop, func(s *v1alpha1.PgStorageClusterSpec) { s.ReadPools[0].Profile = other.Name })
	again()
	ready(t, shop)
	ready(t, pool)
	replayed(t, pool, psql(t, shop.Namespace, shop.Status.Database.Primary, "SELECT count(*) FROM sales"))
	for name, id := range podUIDs(t, pool) {
		if pods[name] == id {
			t.Errorf("pod %s is still the one of the former clone", name)
		}
	}
	if now := podUIDs(t, shop); len(now) != len(primary) || now[shop.Status.Database.Primary] != primary[shop.Status.Database.Primary] {
		t.Errorf("the cluster's pods were %v and are %v", primary, now)
	}
	has(t, shop, v1alpha1.ConditionFollowersCaughtUp, metav1.ConditionTrue, v1alpha1.ReasonCaughtUp)
}

func poolRemoved(t *testing.T, shop, pool *v1alpha1.PgStorageCluster) {
	patch(t, shop, func(s *v1alpha1.PgStorageClusterSpec) { s.ReadPools = nil })
	eventually(t, "the pool to be gone", func(ctx context.Context) error {
		err := c.Get(ctx, client.ObjectKeyFromObject(pool), pool)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it is there"), err)
	})
	ready(t, shop)
	if pods := podUIDs(t, pool); len(pods) != 0 {
		eventually(t, "the pool's pods to be gone", func(context.Context) error {
			if pods := podUIDs(t, pool); len(pods) != 0 {
				return fmt.Errorf("%v", pods)
			}
			return nil
		})
	}
}
