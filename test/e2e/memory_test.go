//go:build e2e

package e2e

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// allConnections has pgbench read over as many connections as the defaults of 512Mi
// allow at once. The container must survive, and its instance manager must take no
// more than it is counted with (docs/parameters.md).
func allConnections(t *testing.T, shop *v1alpha1.PgStorageCluster) {
	const counted = 64 << 10 // kB
	before := podUIDs(t, shop)
	primary := shop.Status.Database.Primary
	most, err := strconv.Atoi(psql(t, shop.Namespace, primary, "SHOW max_connections"))
	if err != nil {
		t.Fatal(err)
	}
	clients := most - 10 // reserved ones, and those of CloudNativePG
	out := client1(t, shop, "all-connections", fmt.Sprintf(
		"set -e; pgbench -i -q -s 8 >&2; psql -XAtqc 'SELECT sum(abalance) FROM pgbench_accounts' >&2; pgbench -n -S -c %d -j 2 -T 20 >&2; pgbench -i -I d >&2; echo survived", clients))
	if !regexp.MustCompile(`(?m)^survived$`).MatchString(out) {
		t.Errorf("%d connections: %s", clients, out)
	}
	if diff := cmp.Diff(before, podUIDs(t, shop)); diff != "" {
		t.Errorf("%d connections of %d: pods changed: %s", clients, most, diff)
	}
	rollup, err := command(t.Context(), "kubectl", "-n", shop.Namespace, "exec", primary, "-c", "postgres", "--", "cat", "/proc/1/smaps_rollup")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^Anonymous:\s+(\d+) kB`).FindStringSubmatch(rollup)
	if m == nil {
		t.Fatalf("no Anonymous in %s", rollup)
	}
	t.Logf("%d of %d connections served; the instance manager has %s kB of anonymous memory", clients, most, m[1])
	if kB, err := strconv.Atoi(m[1]); err != nil || kB > counted {
		t.Errorf("the instance manager has %s kB, and is counted with %d kB", m[1], counted)
	}
}
