//go:build e2e

package e2e

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// cloneRuns is how often a fault happens that takes minutes, because a pool is cloned again.
const cloneRuns = 3

// TestReadPoolFaults has a read pool, its cluster and the operator fail under load. The cluster
// has a quorum, which the pool must not delay; the pool must have what was acknowledged. It is
// not in make test.
func TestReadPoolFaults(t *testing.T) {
	if err := helm("readPools.enabled=true"); err != nil {
		t.Fatal(err)
	}
	profile(t)
	shop := cluster(namespace(t), "shop")
	shop.Spec.Instances, shop.Spec.Durability = new(int32(2)), v1alpha1.DurabilityQuorum
	shop.Spec.Storage.Size = resource.MustParse("2Gi")
	shop.Spec.Postgres.Parameters = map[string]string{"wal_keep_size": "32MB"}
	shop.Spec.ReadPools = []v1alpha1.ReadPool{{Name: "reports"}}
	create(t, shop)
	ready(t, shop)
	pool := poolOf(shop)
	ready(t, pool)
	tr := &trial{writer: shop, follower: pool}
	tr.begin(t, clientPod(shop, "loader", insertLoop))
	for _, h := range []hardship{
		{name: "the instance of a read pool is killed", strike: func(t *testing.T) { killed(t, pool) }, most: 5 * time.Second, runs: faultRuns},
		{name: "the primary of a read pool's cluster is killed", strike: func(t *testing.T) { killed(t, shop) }, most: 2 * time.Minute, runs: faultRuns},
		{name: "WAL that a read pool needs is removed", strike: func(t *testing.T) {
			again := clonedAgain(t, pool)
			starved(t, shop, pool)
			again()
			ready(t, pool)
		}, most: 10 * time.Second, runs: cloneRuns},
		{name: "the operator is killed while a read pool is cloned again", strike: func(t *testing.T) {
			again := clonedAgain(t, pool)
			starved(t, shop, pool)
			again()
			if out, err := command(t.Context(), "kubectl", "-n", operatorNamespace, "delete", "pod", "-l", "app.kubernetes.io/component=manager", "--grace-period=0", "--force"); err != nil {
				t.Fatal(out, err)
			}
			ready(t, pool)
		}, most: 10 * time.Second, runs: cloneRuns},
	} {
		t.Run(h.name, func(t *testing.T) { tr.suffers(t, h) })
	}
	tr.end(t)
}

// starved has a pool's receiver stand still while its primary removes WAL, as in a long
// partition.
func starved(t *testing.T, shop, pool *v1alpha1.PgStorageCluster) {
	t.Helper()
	ready(t, shop)
	ready(t, pool)
	primary, follower := shop.Status.Database.Primary, pool.Status.Database.Primary
	receiver := psql(t, shop.Namespace, follower, "SELECT pid FROM pg_stat_wal_receiver")
	signal := func(name string) {
		if out, err := command(t.Context(), "kubectl", "-n", shop.Namespace, "exec", follower, "-c", "postgres", "--", "bash", "-c", "kill -"+name+" "+receiver); err != nil {
			t.Fatal(out, err)
		}
	}
	signal("STOP")
	for range 12 {
		psql(t, shop.Namespace, primary, "SELECT pg_logical_emit_message(false, 'test', 'x'); SELECT pg_switch_wal()")
	}
	psql(t, shop.Namespace, primary, "CHECKPOINT")
	signal("CONT")
}
