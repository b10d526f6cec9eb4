package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/pgstorage/pgstorage/internal/bench/report"
	clireport "github.com/pgstorage/pgstorage/internal/cli/report"
	"github.com/pgstorage/pgstorage/internal/testing/benchmarks"
)

// older returns the path of a report that -o json wrote.
func older(t *testing.T) string {
	t.Helper()
	r, err := clireport.Assemble(benchmarks.Matrix(t, benchmarks.Tiers("bench"), benchmarks.Recorded(t)).Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.Write(&b, report.JSON, r, report.Options{}); err != nil {
		t.Fatal(err)
	}
	return file(t, "older.json", b.String())
}

func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// --output takes precedence over the extension.
func TestReportFormFollowsTheExtension(t *testing.T) {
	from := older(t)
	for begins, args := range map[string][]string{
		"Benchmark bench/tiers\n":      {},
		"# Benchmark bench/tiers\n":    {"-f", "x.MD"},
		"<!DOCTYPE html>":              {"-f", "x.html"},
		"<svg ":                        {"-f", "x.svg"},
		"benchmark,durability,kind":    {"-f", "x.csv"},
		`{"kind":"BenchmarkReport"`:    {"-f", "x.json"},
		"Benchmark bench/tiers\n! Dur": {"-f", "x.html", "-o", "text"},
	} {
		path := ""
		if len(args) > 0 {
			path = filepath.Join(t.TempDir(), args[1])
			args[1] = path
		}
		out, err := execute(t, append([]string{"report", "--from", from}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		if path != "" {
			if out != "" {
				t.Errorf("%v prints %q", args, out)
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			out = string(content)
		}
		if !strings.HasPrefix(out, begins) {
			t.Errorf("%v begins with %.60q", args, out)
		}
	}
}

func TestReportFromStandardInput(t *testing.T) {
	content, err := os.ReadFile(older(t))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := New(genericiooptions.IOStreams{In: bytes.NewReader(content), Out: &out, ErrOut: &out}, "v0.1.0")
	c.SetArgs([]string{"report", "--from", "-"})
	if err := c.ExecuteContext(t.Context()); err != nil || !strings.HasPrefix(out.String(), "Benchmark bench/tiers\n") {
		t.Errorf("%v %.60q", err, out.String())
	}
}

func TestReportRejectsWrongArguments(t *testing.T) {
	empty := file(t, "empty.json", "{}")
	edited := file(t, "edited.json", `{"kind":"BenchmarkReport","version":1,"groups":[{}]}`)
	for want, args := range map[string][]string{
		"either the NAME of a PgBenchmark or --from": {},
		"either the NAME of a PgBenchmark or":        {"tiers", "--from", empty},
		`--output: unknown form "pdf"; use one of`:   {"tiers", "-o", "pdf"},
		"not a report on a benchmark":                {"--from", empty},
		"--from: open /nowhere":                      {"--from", "/nowhere"},
		"edited.json: groups[0].variants is empty":   {"--from", edited},
		"no such file or directory":                  {"--from", older(t), "-f", "/nowhere/report.html"},
	} {
		if _, err := execute(t, append([]string{"report"}, args...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", args, err, want)
		}
	}
}

func TestReportKeepsHTMLFromATerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("SKIPPED: no pseudo terminal: %v", err)
	}
	defer func() { _ = terminal.Close() }()
	from := older(t)
	for _, form := range []string{"html", "svg"} {
		c := New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: terminal, ErrOut: terminal}, "v0.1.0")
		c.SetArgs([]string{"report", "--from", from, "-o", form})
		if err := c.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), form+" needs a browser; write it to a file with -f report."+form) {
			t.Errorf("%s: %v", form, err)
		}
	}
}
