package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/pgstorage/pgstorage/internal/testing/document"
)

// Outcome is what a benchmark found, ready to be printed, written and judged.
type Outcome struct {
	// Report is printed, and replaces the text at Place of Page.
	Report string
	// Page is the name of a file below docs/benchmarks. Empty: no page is written.
	Page  string
	Place document.Place
	// Results has lines in Go's benchmark format, for benchstat.
	Results string
	// Files writes runs and plots beside the page. Optional.
	Files func(folder string) error
	// Judge returns an error for each mark that was missed. Optional.
	Judge func() error
}

// Publish prints the outcome, writes it into a folder unless that is empty, and judges it.
func (o Outcome) Publish(folder string) error {
	fmt.Println(o.Report)
	fmt.Print(o.Results)
	if folder != "" {
		if err := o.Save(folder); err != nil {
			return err
		}
	}
	if o.Judge == nil {
		return nil
	}
	return o.Judge()
}

// Save writes the page and the files beside it. It leaves the rest of the page as it is.
func (o Outcome) Save(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	err := o.Place.Write(filepath.Join(folder, o.Page), o.Report)
	if o.Files == nil {
		return err
	}
	return errors.Join(err, o.Files(folder))
}

// Place is what a make target writes in its page. People write the rest of the page.
func Place(target string) document.Place {
	return document.Place{Begin: "<!-- written by make " + target + " -->", End: "<!-- end of what make " + target + " writes -->"}
}

// Results puts the header that benchstat reads before the lines of a benchmark.
func Results(benchmark, lines string) string {
	return fmt.Sprintf("goos: %s\ngoarch: %s\npkg: github.com/pgstorage/pgstorage/test/bench/%s\n%s", runtime.GOOS, runtime.GOARCH, benchmark, lines)
}

// Verdict on a mark.
func Verdict(met bool) string {
	if met {
		return "PASS"
	}
	return "MISS"
}
