//go:build e2eceph

package e2eceph

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/document"
	"github.com/pgstorage/pgstorage/internal/testing/faults"
)

// reportPlace is where the report goes in its page.
var reportPlace = document.Place{Begin: "<!-- faults -->", End: "<!-- end of faults -->"}

// stalls is what the seconds of these faults measure.
const stalls = "s without a commit"

// report has the results of the faults of this run.
type report struct {
	versions string
	runs     []*faults.Run
}

// ended records a fault.
func (r *report) ended(name string, acknowledged, lost int, stall time.Duration) {
	r.runs = append(r.runs, &faults.Run{
		Date: time.Now().UTC().Format(time.DateOnly), Versions: r.versions, Case: name,
		Acknowledged: acknowledged, Lost: lost, Seconds: stall.Seconds(),
	})
}

// print logs the table of this run, and adds the runs to the page that PGSTORAGE_CEPH_REPORT
// names, if set.
func (r *report) print(t *testing.T) {
	t.Helper()
	if len(r.runs) == 0 {
		return
	}
	for line := range strings.Lines(faults.Table(r.runs, stalls)) {
		t.Log(strings.TrimSpace(line))
	}
	path := os.Getenv("PGSTORAGE_CEPH_REPORT")
	if path == "" {
		return
	}
	file, err := faults.Open(strings.TrimSuffix(path, ".md") + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	all, err := file.Write(r.runs)
	if err != nil {
		t.Fatal(err)
	}
	if err := reportPlace.Write(path, faults.Circumstances(all)+"\n\n"+faults.Table(all, stalls)); err != nil {
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
