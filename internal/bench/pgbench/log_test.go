package pgbench

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

// formats of the recorded logs, by name.
var formats = map[string]LogFormat{
	"select": {}, "weighted": {}, "failures": {}, "rate": {Lag: true}, "retries": {Retries: true},
}

func TestReadRecordedLogs(t *testing.T) {
	for _, path := range recorded(t, "*.log.txt") {
		name := strings.TrimSuffix(filepath.Base(path), ".log.txt")
		log := NewLog(formats[name])
		err := log.Read(strings.NewReader(read(t, path)))
		if name == "aggregate" {
			var line *LineError
			if !errors.As(err, &line) || line.Line != 1 {
				t.Errorf("%s: aggregates are not transactions: %v", path, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		golden.Text(t, strings.TrimSuffix(path, ".txt")+".golden.json", asJSON(t, log.Summary()))
	}
}

// The log of a run has a line for each transaction that its report counts.
func TestLogAgreesWithReport(t *testing.T) {
	for _, name := range []string{"select", "weighted", "retries"} {
		for _, path := range recorded(t, name+".out.txt") {
			result, err := Parse(strings.NewReader(read(t, path)))
			if err != nil {
				t.Fatal(err)
			}
			log := NewLog(formats[name])
			if err := log.Read(strings.NewReader(read(t, strings.Replace(path, ".out.", ".log.", 1)))); err != nil {
				t.Fatal(err)
			}
			s := log.Summary()
			want := LogSummary{Processed: result.Transactions, Failed: result.Failed, SerializationFailures: result.SerializationFailures, Retries: result.Retries}
			got := LogSummary{Processed: s.Processed, Failed: s.Failed, SerializationFailures: s.SerializationFailures, Retries: s.Retries}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-report +log):\n%s", path, diff)
			}
		}
	}
}

func TestPercentilesOverManyFiles(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "run")
	var files [3]strings.Builder
	for i := range 30000 {
		fmt.Fprintf(&files[i%3], "0 %d %d 0 1795232622 224176\n", i, i+1)
	}
	for i, suffix := range []string{".77", ".77.1", ".77.2"} {
		if err := os.WriteFile(prefix+suffix, []byte(files[i].String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log := NewLog(LogFormat{})
	if err := log.ReadFiles(prefix); err != nil {
		t.Fatal(err)
	}
	s := log.Summary()
	for want, got := range map[float64]float64{15: s.P50, 28.5: s.P95, 29.7: s.P99, 30: s.Max} {
		if math.Abs(got-want)/want > 0.002 {
			t.Errorf("want %v ms, got %v", want, got)
		}
	}
	if s.Processed != 30000 {
		t.Errorf("%d processed", s.Processed)
	}
}

func TestLogOutcomes(t *testing.T) {
	log := NewLog(LogFormat{Lag: true, Retries: true})
	text := "0 1 failed 0 1 2 0 0\n0 2 skipped 0 1 2 0 0\n0 3 serialization 0 1 2 0 2\n0 4 deadlock 0 1 2 0 1\n0 5 999999999999999 0 1 2 7 0\n0 6 12"
	if err := log.Read(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	got := log.Summary()
	got.P50, got.P95, got.P99, got.Max = 0, 0, 0, 0
	want := LogSummary{Processed: 1, Failed: 3, SerializationFailures: 1, DeadlockFailures: 1, Skipped: 1, Retries: 3}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLogNamesTheLine(t *testing.T) {
	for _, bad := range []string{"", "0 1 2", "0 1 soon 0 1 2", "0 1 -4 0 1 2", "0 1 2 3 4 5 6 7 8"} {
		err := NewLog(LogFormat{}).Read(strings.NewReader("0 1 10 0 1 2\n" + bad + "\n"))
		var line *LineError
		if !errors.As(err, &line) || line.Line != 2 {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := NewLog(LogFormat{Retries: true}).Read(strings.NewReader("0 1 10 0 1 2 many\n")); err == nil {
		t.Error("want an error")
	}
}

func TestReadFilesNamesTheFile(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "run")
	if err := os.WriteFile(prefix+".1", []byte("nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := NewLog(LogFormat{}).ReadFiles(prefix); err == nil || !strings.Contains(err.Error(), "run.1") {
		t.Errorf("got %v", err)
	}
	if err := os.Mkdir(prefix+".0", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := NewLog(LogFormat{}).ReadFiles(prefix); err == nil {
		t.Error("want an error of a folder")
	}
}
