// Package harnesstest checks what every benchmark owes the harness: its page, its results
// and its flags.
package harnesstest

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/test/bench/harness"
)

// Page saves an outcome twice into a page that people have written around, and checks that
// it replaces only its own text. It returns the folder and the text of the page.
func Page(t *testing.T, o harness.Outcome) (folder, text string) {
	t.Helper()
	folder = t.TempDir()
	path := filepath.Join(folder, o.Page)
	before, after := "# Title\n\n"+o.Place.Begin+"\n", o.Place.End+"\n\nWhy.\n"
	if err := os.WriteFile(path, []byte(before+"old\n"+after), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := o.Save(folder); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := before + o.Report + after; string(raw) != want {
		t.Errorf("the page is\n%s\nwant\n%s", raw, want)
	}
	if strings.Contains(o.Report, "%!") {
		t.Errorf("a format has the wrong arguments:\n%s", o.Report)
	}
	return folder, string(raw)
}

// Lines checks that a file has as many lines as runs were measured.
func Lines(t *testing.T, path string, want int) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := bytes.Count(raw, []byte("\n")); got != want {
		t.Errorf("%s has %d lines, want %d", filepath.Base(path), got, want)
	}
}

// Plots checks that the files of a folder are SVGs.
func Plots(t *testing.T, folder string, names ...string) {
	t.Helper()
	for _, name := range names {
		if text, err := os.ReadFile(filepath.Join(folder, name)); err != nil || !bytes.Contains(text, []byte("<svg")) {
			t.Errorf("%s is no SVG: %v", name, err)
		}
	}
}

// Contains checks that a text has each part.
func Contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

// Missed checks the error of a benchmark's marks. Empty: all of them are met.
func Missed(t *testing.T, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if got != want {
		t.Errorf("missed marks:\n%s\nwant\n%s", got, want)
	}
}

// resultLine is the format that benchstat reads.
var resultLine = regexp.MustCompile(`(?m)^Benchmark(\w+)/\S+\t\d+(\t[0-9.]+ \S+)+$`)

// Results checks that a text has want lines that benchstat reads, all of one benchmark.
func Results(t *testing.T, text, benchmark string, want int) {
	t.Helper()
	got := 0
	for _, line := range resultLine.FindAllStringSubmatch(text, -1) {
		if line[1] == benchmark {
			got++
		}
	}
	if got != want || strings.Count(text, "\n") != want {
		t.Errorf("%d lines of Benchmark%s, want %d and no others:\n%s", got, benchmark, want, text)
	}
}

// Rejected checks that a benchmark rejects each of these arguments.
func Rejected[O any](t *testing.T, parse func([]string) (O, error), all ...[]string) {
	t.Helper()
	for _, args := range all {
		if o, err := parse(args); err == nil {
			t.Errorf("parse(%q) = %+v, want an error", args, o)
		}
	}
}
