package faults

import (
	"strings"
	"testing"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/document"
)

// place of the table in a page of faults.
var place = document.Place{Begin: "<!-- faults -->", End: "<!-- end of faults -->"}

// Report has the runs of one test.
type Report struct {
	// Versions of what runs.
	Versions string
	// Accelerator of the virtual machine, as in a Run.
	Accelerator string
	// Seconds says what those of the runs measure.
	Seconds string
	runs    []*Run
}

// Ended records a run of a fault.
func (r *Report) Ended(name string, acknowledged, lost int, took time.Duration) {
	r.runs = append(r.runs, &Run{
		Date: time.Now().UTC().Format(time.DateOnly), Versions: r.Versions, Accelerator: r.Accelerator, Case: name,
		Acknowledged: acknowledged, Lost: lost, Seconds: took.Seconds(),
	})
}

// Table of the runs of this test.
func (r *Report) Table() string { return Table(r.runs, r.Seconds) }

// Write adds the runs to a page in Markdown, and to the file of runs beside it. Without a page or
// without runs, it does nothing.
func (r *Report) Write(page string) error {
	if page == "" || len(r.runs) == 0 {
		return nil
	}
	file, err := Open(strings.TrimSuffix(page, ".md") + ".jsonl")
	if err != nil {
		return err
	}
	all, err := file.Write(r.runs)
	if err != nil {
		return err
	}
	return place.Write(page, Circumstances(all)+"\n\n"+Table(all, r.Seconds))
}

// WhenDone has the table logged when the test ends, and the runs added to the page, as
// Write does.
func (r *Report) WhenDone(t testing.TB, page string) {
	t.Helper()
	t.Cleanup(func() {
		t.Log("\n" + r.Table())
		if err := r.Write(page); err != nil {
			t.Error(err)
		}
	})
}
