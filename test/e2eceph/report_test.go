//go:build e2eceph

package e2eceph

import (
	"regexp"
	"testing"
)

// stalls is what the seconds of these faults measure.
const stalls = "s without a commit"

var number = regexp.MustCompile(`[0-9]+\.[0-9]+(\.[0-9]+)?`)

// versions of what runs, as its programs print them.
func versions(t *testing.T, postgres string) string {
	t.Helper()
	rook := kubectl(t, "-n", rookNamespace, "exec", "deployment/rook-ceph-operator", "--", "rook", "version")
	kernel := kubectl(t, "get", "node", home, "-o", "jsonpath={.status.nodeInfo.kernelVersion}")
	return "Rook " + number.FindString(rook) + ", Ceph " + number.FindString(mustCeph(t, "ceph", "--version")) +
		", Linux " + number.FindString(kernel) + ", PostgreSQL " + number.FindString(postgres)
}
