//go:build e2e

package e2e

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// pgbench runs pgbench in the primary of a database, and returns what it prints.
func pgbench(t *testing.T, cr *v1alpha1.PgStorageCluster, args ...string) string {
	t.Helper()
	return kubectl(t, append([]string{"-n", cr.Namespace, "exec", cr.Status.Database.Primary, "-c", "postgres", "--", "pgbench"}, append(args, "app")...)...)
}

var tpsLine = regexp.MustCompile(`(?m)^tps = ([0-9.]+)`)

// roundSeconds of a round of pgbench.
const roundSeconds = 15

// tps of a database for some seconds.
func tps(t *testing.T, cr *v1alpha1.PgStorageCluster, seconds int) float64 {
	t.Helper()
	out := pgbench(t, cr, "-N", "-c", "4", "-T", strconv.Itoa(seconds))
	found := tpsLine.FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("no TPS in %s", out)
	}
	value, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}
