package pgbench

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

// recorded are the files of one kind that pgbench of each version wrote.
func recorded(t testing.TB, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/v*/" + pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recorded output %s: %v", pattern, err)
	}
	return paths
}

func read(t testing.TB, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// asJSON is what golden files hold of a value.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	got, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(got) + "\n"
}

func TestParseRecorded(t *testing.T) {
	for _, path := range recorded(t, "*.out.txt") {
		name := strings.TrimSuffix(path, ".out.txt")
		t.Run(strings.TrimPrefix(name, "testdata/"), func(t *testing.T) {
			out := read(t, path)
			result, err := Parse(strings.NewReader(out))
			if !strings.Contains(out, "transaction type") {
				if !errors.Is(err, ErrNoReport) {
					t.Fatalf("want ErrNoReport, got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Unknown) > 0 {
				t.Errorf("unknown lines: %q", result.Unknown)
			}
			golden.Text(t, name+".golden.json", asJSON(t, result))
		})
	}
}

// The versions differ in what they measured, not in what they print, so each
// recorded run fills the same fields in all of them.
func TestVersionsAgree(t *testing.T) {
	for _, path := range recorded(t, "*.golden.json") {
		if strings.Contains(path, "half-broken") {
			continue // how many clients reach the broken script is chance
		}
		base := filepath.Join("testdata/v15", filepath.Base(path))
		if diff := cmp.Diff(shape(t, base), shape(t, path)); diff != "" {
			t.Errorf("%s differs from version 15 (-15 +this):\n%s", path, diff)
		}
	}
}

func shape(t *testing.T, path string) map[string]bool {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(read(t, path)), &fields); err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for k := range fields {
		keys[k] = k != "late" // chance too
	}
	delete(keys, "late")
	return keys
}

func TestParseWeighted(t *testing.T) {
	result, err := Parse(strings.NewReader(read(t, "testdata/v17/weighted.out.txt")))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var weights []int
	var total int64
	for _, s := range result.Scripts {
		names, weights, total = append(names, s.Name), append(weights, s.Weight), total+s.Transactions
	}
	if diff := cmp.Diff([]string{"<builtin: TPC-B (sort of)>", "<builtin: select only>", "lookup.sql"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{3, 1, 2}, weights); diff != "" {
		t.Error(diff)
	}
	if total != result.Transactions {
		t.Errorf("scripts did %d transactions, the run %d", total, result.Transactions)
	}
	if got := len(result.AllStatements()); got != 11+2+7 {
		t.Errorf("%d statements", got)
	}
}

func TestParseLines(t *testing.T) {
	const report = "transaction type: <builtin: select only>\n"
	for name, tc := range map[string]struct {
		text string
		want Result
	}{
		"server of another version": {
			"pgbench (17.10 (Debian 17.10-1), server 15.18 (Debian 15.18-0))\n" + report,
			Result{Version: "17.10", ServerVersion: "15.18", Script: "<builtin: select only>"},
		},
		"statements of PostgreSQL 14": {
			report + "statement latencies in milliseconds:\n         0.100  SELECT 1;\n",
			Result{Script: "<builtin: select only>", Statements: []Statement{{LatencyMs: 0.1, SQL: "SELECT 1;"}}},
		},
		"no limit of tries, no figure": {
			report + "latency average = -nan ms\ntps = inf (without initial connection time)\n",
			Result{Script: "<builtin: select only>"},
		},
		"lines of a later version, and CRLF": {
			"NOTICE: hello\r\n" + report + "number of meteorites: 3\r\n - orphan: 1\n",
			Result{Script: "<builtin: select only>", Unknown: []string{"NOTICE: hello", "number of meteorites: 3", " - orphan: 1"}},
		},
		"processed transactions on a line of their own": {
			report + "SQL script 1: a\n - weight: 1 (targets 50.0% of total)\n - 9 transactions (1.0% of total)\n" +
				" - number of transactions actually processed: 7 (tps = 3.5)\n - number of other failures: 2 (22.222%)\n",
			Result{Script: "<builtin: select only>", Scripts: []Script{{Name: "a", Weight: 1, TPS: 3.5, Counts: Counts{Transactions: 7, OtherFailures: 2}}}},
		},
		"duration": {report + "duration: 90 s\n", Result{Script: "<builtin: select only>", Duration: 90 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(strings.NewReader(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseNamesTheLine(t *testing.T) {
	for _, bad := range []string{
		"scaling factor: many",
		"number of clients: -1",
		"number of clients: 99999999999",
		"tps = fast (without initial connection time)",
		"tps = 1e999 (without initial connection time)",
		"duration: long",
		"number of transactions actually processed: 1/x",
		"number of transactions above the 1.0 s latency limit: 3",
		"rate limit schedule lag: avg 0.1",
		"SQL script one: a",
		"SQL script 1 a",
		"number of failed transactions: some",
		"pgbench ()",
	} {
		_, err := Parse(strings.NewReader("transaction type: x\n\n" + bad + "\n"))
		var line *LineError
		if !errors.As(err, &line) {
			t.Errorf("%q: want a LineError, got %v", bad, err)
			continue
		}
		if line.Line != 3 || line.Text != bad || !strings.Contains(err.Error(), "line 3") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestParseStatementThatCannotBeRead(t *testing.T) {
	_, err := Parse(strings.NewReader("transaction type: x\nstatement latencies in milliseconds and failures:\n         0.1   SELECT\n"))
	var line *LineError
	if !errors.As(err, &line) || line.Line != 3 {
		t.Fatalf("got %v", err)
	}
}

func TestParseRefusesEndlessLine(t *testing.T) {
	if _, err := Parse(strings.NewReader(strings.Repeat("x", maxLine+1))); err == nil {
		t.Fatal("want an error")
	}
}

func TestLineErrorIsShort(t *testing.T) {
	err := &LineError{Line: 1, Text: strings.Repeat("x", 10000), Err: errors.New("no")}
	if len(err.Error()) > 200 {
		t.Errorf("%d characters", len(err.Error()))
	}
}
