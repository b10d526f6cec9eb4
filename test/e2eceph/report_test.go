//go:build e2eceph

package e2eceph

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/testing/faults"
)

// stalls is what the seconds of these faults measure.
const stalls = "s without a commit"

// printed logs the table of this run, and adds the runs to the page that PGSTORAGE_CEPH_REPORT
// names, if set.
func printed(t *testing.T, r *faults.Report) {
	t.Helper()
	for line := range strings.Lines(r.Table()) {
		t.Log(strings.TrimSpace(line))
	}
	if err := r.Write(os.Getenv("PGSTORAGE_CEPH_REPORT")); err != nil {
		t.Fatal(err)
	}
}

var number = regexp.MustCompile(`[0-9]+\.[0-9]+(\.[0-9]+)?`)

// versions of what runs, as its programs print them.
func versions(t *testing.T, postgres string) string {
	t.Helper()
	rook := kubectl(t, "-n", rookNamespace, "exec", "deployment/rook-ceph-operator", "--", "rook", "version")
	kernel := kubectl(t, "get", "node", home, "-o", "jsonpath={.status.nodeInfo.kernelVersion}")
	return "Rook " + number.FindString(rook) + ", Ceph " + number.FindString(mustCeph(t, "ceph", "--version")) +
		", Linux " + number.FindString(kernel) + ", PostgreSQL " + number.FindString(postgres)
}
