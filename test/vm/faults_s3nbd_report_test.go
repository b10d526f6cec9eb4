//go:build vm

package vm_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/document"
	"github.com/pgstorage/pgstorage/internal/testing/faults"
	"github.com/pgstorage/pgstorage/internal/testing/s3"
	"github.com/pgstorage/pgstorage/test/vm/s3nbd/effort"
)

// reportPlace is where the report goes in its file.
var reportPlace = document.Place{Begin: "<!-- faults -->", End: "<!-- end of faults -->"}

// s3nbdReport has the results of this level's faults, of all journeys. zfsReport has those of
// power cuts on disks.
var (
	s3nbdReport = &faultReport{page: "PGSTORAGE_VM_REPORT"}
	zfsReport   = &faultReport{page: "PGSTORAGE_VM_ZFS_REPORT"}
)

// toWrites is what the seconds of these faults measure.
const toWrites = "s to writes"

type faultReport struct {
	// page is the environment variable that names the page to add to.
	page string
	mu   sync.Mutex
	runs []*faults.Run
	file *faults.File
}

// journal of one journey's runs, which the report has too.
type journal struct {
	about  faults.Run
	runs   []*faults.Run
	report *faultReport
}

// newJournal of runs on a machine as this.
func newJournal(s *stack) *journal {
	s.Helper()
	took, err := time.ParseDuration(s.do("effort"))
	if err != nil {
		s.Fatal(err)
	}
	return &journal{report: s3nbdReport, about: faults.Run{
		Date: time.Now().UTC().Format(time.DateOnly), Versions: s.do("versions") + "; versitygw " + storeVersion(s.T),
		Accelerator: image.Accelerator, Slower: took.Seconds() / effort.Measure().Seconds(),
	}}
}

// ended records a run of a case, with the number of commits acknowledged in it.
func (j *journal) ended(name string, acknowledged int, back time.Duration) {
	run := j.about
	run.Case, run.Acknowledged, run.Seconds = name, acknowledged, back.Seconds()
	j.runs = append(j.runs, &run)
	j.report.add(&run)
}

// lost records the lost commits of cases, as of now. They count as those of the first run of
// the case, because the run that lost them is unknown. It writes what is known so far, whatever
// the journey does next.
func (j *journal) lost(t *testing.T, lost map[string]int) {
	t.Helper()
	for name, ids := range lost {
		if i := slices.IndexFunc(j.runs, func(r *faults.Run) bool { return r.Case == name }); i >= 0 {
			j.report.lost(j.runs[i], ids)
		}
	}
	if err := j.report.write(); err != nil {
		t.Error(err)
	}
}

func (r *faultReport) add(run *faults.Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs = append(r.runs, run)
}

func (r *faultReport) lost(run *faults.Run, ids int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	run.Lost = ids
}

// write writes the table of these runs and all former ones into the page that the environment
// names, if it does. The runs are beside it, a line each.
func (r *faultReport) write() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	path := os.Getenv(r.page)
	if path == "" {
		return nil
	}
	if r.file == nil {
		file, err := faults.Open(strings.TrimSuffix(path, ".md") + ".jsonl")
		if err != nil {
			return err
		}
		r.file = file
	}
	all, err := r.file.Write(r.runs)
	if err != nil {
		return err
	}
	return reportPlace.Write(path, faults.Circumstances(all)+"\n\n"+faults.Table(all, toWrites))
}

func (r *faultReport) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return faults.Table(r.runs, toWrites)
}

func storeVersion(t *testing.T) string {
	t.Helper()
	program, err := s3.Program(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "version", "-m", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 2 && f[0] == "mod" {
			return f[2]
		}
	}
	return ""
}
